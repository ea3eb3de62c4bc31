"""Derivatives by parameters, against closed forms differentiated by hand or by complex steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.dual_numbers import Dual

pytestmark = pytest.mark.filterwarnings("ignore:.*redundant:sarrus.SarrusWarning")


def slider_crank(r: float = 0.2, l: float = 0.5) -> sr.Mechanism:
    """Hinges in space: rows are redundant."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    crank, rod = spec.parameter("r", r), spec.parameter("l", l)
    spec.parameter("tilt", 0.0)
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(crank / 2, 0, 0), inertia=(0.01, 0.01, 0.01))
    spec.body(
        "rod",
        "crank",
        joint=sr.Revolute("z"),
        at=sr.Pose((crank, 0, 0)),
        mass=0.5,
        com=(rod / 2, 0, 0),
        inertia=(0.01, 0.01, 0.01),
    )
    spec.body("piston", joint=sr.Prismatic("x"), mass=0.3)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((rod, 0, 0)))
    spec.measure("push", sr.Reaction("pin", frame="world"))
    spec.measure("x", sr.Position("piston")).measure(
        "stroke", sr.Length("ground", (0, 0, 0), "piston", (0, 0, 0))
    )
    return spec.compile()


def position(theta: Any, r: Any, l: Any) -> Any:
    return r * np.cos(theta) + np.sqrt(l**2 - (r * np.sin(theta)) ** 2)


def test_pose_velocity_and_measures_by_hand() -> None:
    """1e-9, relative to the size of each: x = r cos + sqrt(l^2 - r^2 sin^2), by complex steps."""
    mech, theta, omega = slider_crank(), 0.7, 3.0
    q = mech.assemble([theta, -0.5, 0.6], fixed={"crank": theta}).q
    v = mech.consistent_velocity(q, fixed={"crank": omega})
    found = mech.parameter_derivatives(q, v, fixed=["crank"])
    step = 1e-30
    for name, r, l in (("r", 0.2 + 1j * step, 0.5), ("l", 0.2, 0.5 + 1j * step)):
        slope = position(theta, r, l).imag / step
        assert found.q[name][0] == pytest.approx(0.0, abs=1e-9)
        assert found.q[name][2] == pytest.approx(slope, rel=1e-9)
        assert found.measures[name]["stroke"] == pytest.approx(slope, rel=1e-9)
        np.testing.assert_allclose(found.measures[name]["x"], [slope, 0, 0], atol=1e-9)
        s, c = np.sin(theta), np.cos(theta)
        rate = (-r * s - r**2 * s * c / np.sqrt(l**2 - (r * s) ** 2)) * omega
        assert found.v[name][2] == pytest.approx(rate.imag / step, rel=1e-9)
    assert np.abs(found.a["tilt"]).max() < 1e-9 and np.abs(found.q["tilt"]).max() < 1e-9


def two_points_of_a_crank(theta: float, r: Any, l: Any) -> list[tuple[Any, Any, Any]]:
    """Coordinates with masses and inertias, their slopes and curvatures by theta, by hand; (m, x', x'')."""
    s_, c, s = np.sin(theta), np.cos(theta), np.sqrt(l * l - (r * np.sin(theta)) ** 2)
    turn, turned = -r * c / s, r * s_ * (l * l - r * r) / (s * s * s)  # of the rod
    slide, slid = (
        -r * s_ - r * r * s_ * c / s,
        -r * c - r * r * ((c * c - s_ * s_) / s + (r * s_ * c) ** 2 / s**3),
    )
    sine, cosine = -r * s_ / l, s / l  # of the rod's angle
    x, xx = -r * s_ - l / 2 * sine * turn, -r * c - l / 2 * (cosine * turn**2 + sine * turned)
    y, yy = r * c + l / 2 * cosine * turn, -r * s_ + l / 2 * (-sine * turn**2 + cosine * turned)
    own = (0.01 + 1.0 * (r / 2) ** 2, 1.0 + 0.0 * r, 0.0 * r)
    return [own, (0.01, turn, turned), (0.5, x, xx), (0.5, y, yy), (0.3, slide, slid)]


@pytest.mark.parametrize(("r", "theta"), [(0.2, 0.7), (0.499, np.pi / 2)], ids=["usual", "near its end"])
def test_accelerations_and_reactions_by_dual_numbers(r: float, theta: float) -> None:
    """Equation of the one freedom: sum m x'^2 a + sum m x' x'' w^2 = 0. The rows are redundant.

    Near its end the crank is as long as the rod to 0.2 percent: a longer one cannot be closed at that angle.
    """
    mech, l, omega = slider_crank(r), 0.5, 3.0
    start = [theta, -np.arcsin(r * np.sin(theta) / l) - theta, position(theta, r, l)]
    q = mech.assemble(start, fixed={"crank": theta}).q
    v = mech.consistent_velocity(q, fixed={"crank": omega})
    found = mech.parameter_derivatives(q, v, fixed=["crank"], parameters=["r", "l"])
    for k, name in enumerate(("r", "l")):
        given = [Dual(x, np.array([float(i == k)])) for i, x in enumerate((r, l))]
        parts = two_points_of_a_crank(theta, *given)
        inertia = sum((m * x * x for m, x, _ in parts), start=Dual(0.0, np.zeros(1)))
        a = -sum((m * x * xx for m, x, xx in parts), start=Dual(0.0, np.zeros(1))) * omega**2 / inertia
        _, slide, slid = parts[-1]
        force = 0.3 * (slide * a + slid * omega**2)  # on the piston, along its rail
        dx = position(theta, *given).slope[0]
        size = 1.0 + abs(a.slope[0])
        assert found.q[name][2] == pytest.approx(dx, rel=1e-9)
        assert found.v[name][2] == pytest.approx((slide * omega).slope[0], rel=1e-9)
        assert found.a[name][0] == pytest.approx(a.slope[0], rel=1e-9, abs=1e-9 * size)
        assert found.measures[name]["push"][0] == pytest.approx(force.slope[0], rel=2e-9)


def test_accelerations_of_a_pendulum() -> None:
    """a = -m g l sin / (I + m l^2), differentiated by l and m."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    l, m = spec.parameter("l", 0.4), spec.parameter("m", 2.0)
    spec.body("bob", joint=sr.Revolute("z"), mass=m, com=(0, -1.0 * l, 0), inertia=(0.05, 0.05, 0.05))
    found = spec.compile().parameter_derivatives([0.6])
    step = 1e-30
    for name, length, mass in (("l", 0.4 + 1j * step, 2.0), ("m", 0.4, 2.0 + 1j * step)):
        a = -mass * 9.81 * length * np.sin(0.6) / (0.05 + mass * length**2)
        assert found.a[name][0] == pytest.approx(a.imag / step, rel=1e-9)


def test_without_fixed_coordinates_the_state_moves_as_little_as_it_can() -> None:
    mech = slider_crank()
    q = mech.assemble([0.7, -0.5, 0.6], fixed={"crank": 0.7}).q
    found = mech.parameter_derivatives(q)
    near = mech.with_(r=0.2 + 1e-6).project(q)
    np.testing.assert_allclose(found.q["r"], mech.difference(q, near.q) / 1e-6, rtol=1e-4, atol=1e-6)


def test_a_parameter_that_opens_an_overconstrained_loop_is_named() -> None:
    """A parallelogram with a third crank moves only while all cranks are equally long."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    long = spec.parameter("long", 0.3)
    spec.point("A", (0, 0, 0)).point("B", (0, 0.3, 0)).point("C", (0.5, 0.3, 0)).point("D", (0.5, 0, 0))
    spec.link("left", "A", "B", mass=1.0).link("top", "B", "C", mass=1.0).link("right", "D", "C", mass=1.0)
    for name, a, b in (
        ("A", "ground", "left"),
        ("B", "left", "top"),
        ("C", "top", "right"),
        ("D", "ground", "right"),
    ):
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    third = sr.Distance("ground", (0.25, 0, 0), "top", (0.25, 0, 0), length=long)
    spec.constrain("third", third, frame="body")
    mech = spec.compile()
    assert mech.mobility(mech.default.q).dof == 1
    with pytest.raises(
        sr.AssemblyError,
        match=r"no derivative by parameter 'long': no motion keeps the rows .*'third.distance' closed",
    ):
        mech.parameter_derivatives(mech.default.q, fixed=["A"])


def test_bad_input() -> None:
    mech = slider_crank()
    q = mech.default.q
    with pytest.raises(sr.UnknownNameError, match="'wide'"):
        mech.parameter_derivatives(q, parameters=["wide"])
    with pytest.raises(sr.SarrusError, match="'nobody'"):
        mech.parameter_derivatives(q, fixed=["nobody"])
    assert sr.library.four_bar().parameter_derivatives(sr.library.four_bar().default.q).q == {}


def test_redundant_loops_that_a_parameter_keeps_closed() -> None:
    """Three parallel cranks of one length: rows are redundant, and the coupler stays level."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    long, angle = spec.parameter("long", 0.3), 0.9
    spec.body("left", joint=sr.Revolute("z"), mass=1.0, com=(long / 2, 0, 0), inertia=(0.01,) * 3)
    spec.body("top", "left", joint=sr.Revolute("z"), at=sr.Pose((long, 0, 0)), mass=2.0, inertia=(0.01,) * 3)
    for name, x in (("middle", 0.2), ("right", 0.5)):
        own = {"mass": 1.0, "com": (long / 2, 0, 0), "inertia": (0.01,) * 3}
        spec.body(name, joint=sr.Revolute("z"), at=sr.Pose((x, 0, 0)), **own)
        ends = {"at_a": sr.Pose((x, 0, 0)), "at_b": sr.Pose((long, 0, 0))}
        spec.close(f"{name}_pin", "top", name, sr.Revolute("z"), **ends)
    spec.measure("tip", sr.Position("top"))
    mech, omega = spec.compile(), 2.0
    q = mech.assemble(angle * np.array([1, -1, 1, 1]), fixed={"left": angle}).q
    assert mech.mobility(q).dof == 1 and mech.mobility(q).redundant
    v = mech.consistent_velocity(q, fixed={"left": omega})
    found = mech.parameter_derivatives(q, v, fixed=["left"])
    np.testing.assert_allclose(found.q["long"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.v["long"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.measures["long"]["tip"], [np.cos(angle), np.sin(angle), 0], atol=1e-9)
    long_ = Dual(0.3, np.array([1.0]))
    weight = 3 * 1.0 * 9.81 * long_ / 2 + 2.0 * 9.81 * long_
    a = -1.0 * np.cos(angle) * weight / (3 * (0.01 + (long_ / 2) ** 2) + 2.0 * long_ * long_)
    np.testing.assert_allclose(found.a["long"][[0, 2, 3]], a.slope[0], rtol=1e-9)
