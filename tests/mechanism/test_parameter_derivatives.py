"""Derivatives by parameters, against closed forms differentiated by hand or by complex steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


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
    spec.constrain("third", sr.Distance("ground", (0.25, 0, 0), "top", (0.25, 0, 0), length=long))
    mech = spec.compile()
    assert mech.mobility(mech.default.q).dof == 1
    with pytest.raises(sr.AssemblyError, match="no derivative by parameter 'long'"):
        mech.parameter_derivatives(mech.default.q, fixed=["A"])


def test_bad_input() -> None:
    mech = slider_crank()
    q = mech.default.q
    with pytest.raises(sr.UnknownNameError, match="'wide'"):
        mech.parameter_derivatives(q, parameters=["wide"])
    with pytest.raises(sr.SarrusError, match="'nobody'"):
        mech.parameter_derivatives(q, fixed=["nobody"])
    assert sr.library.four_bar().parameter_derivatives(sr.library.four_bar().default.q).q == {}
