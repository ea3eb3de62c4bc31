"""Gradients along runs with freedoms left: closed forms, laws of scaling, differences of accurate runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import sarrus as sr
from sarrus.design import Run

from ...mechanism.variants.test_exact_derivatives import bennett
from .oracles import GRAVITY, assert_same, by_closed_form, by_runs, oscillator, slopes

pytestmark = pytest.mark.filterwarnings("ignore:.*redundant:sarrus.SarrusWarning")


@pytest.mark.parametrize(("rtol", "part"), [(1e-6, 2e-6), (1e-8, 2e-8), (1e-12, 1e-11)])
def test_oscillator_by_its_closed_form(rtol: float, part: float) -> None:
    """The error follows the tolerance of the run."""
    t, values = np.linspace(0.0, 3.0, 16), (40.0, 1.5, 0.7)

    def x(t: Any, k: Any, m: Any, c: Any) -> Any:
        w = mp.sqrt(k / m - (c / (2 * m)) ** 2)
        return 2 / w * mp.exp(-c * t / (2 * m)) * mp.sin(w * t)

    over = Run(t, {"v0": [2.0], "rtol": rtol, "atol": 1e-2 * rtol})
    found, expected = slopes(oscillator(*values), over, "k", "m", "c")["x"], by_closed_form(x, t, values)
    for i in range(3):
        assert_same(found[:, i], expected[:, i], part)


@pytest.mark.parametrize("method", ["rk4", "verlet", "radau", "dopri5"])
def test_every_kind_of_method(method: str) -> None:
    """Also those with fixed steps and implicit ones; verlet is of order 2."""
    mech, over = oscillator(40.0, 1.5, 0.7), Run(np.linspace(0, 1, 6), {"v0": [2.0], "method": method})
    expected = by_runs(mech, Run(over.t, {"v0": [2.0]}), "m")["x"]
    assert_same(slopes(mech, over, "m")["x"][:, 0], expected, 2e-5 if method == "verlet" else 3e-8)


def test_stiff_motion() -> None:
    """A damper that forgets within a millisecond; steps are implicit and longer than that."""
    t, values = np.linspace(0.0, 2.0, 9), (30.0, 1.0, 2000.0)

    def x(t: Any, k: Any, m: Any, c: Any) -> Any:
        root = mp.sqrt((c / (2 * m)) ** 2 - k / m)
        slow, fast = -c / (2 * m) + root, -c / (2 * m) - root
        return 2 / (slow - fast) * (mp.exp(slow * t) - mp.exp(fast * t))

    over, mech = Run(t, {"v0": [2.0]}), oscillator(*values)
    assert np.max(np.diff(sr.simulate(mech, (0, 2), v0=[2.0]).t)) > 0.01
    found, expected = slopes(mech, over, "k", "m", "c")["x"], by_closed_form(x, t, values)
    for i in range(3):
        assert_same(found[:, i], expected[:, i], 1e-6)


def test_a_run_at_rest_says_nothing_about_its_neighbours() -> None:
    """Seven steps are enough for a body that stays where it is; its neighbours turn through 126 radians."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    place = spec.parameter("place", 0.02)
    spec.body("b", joint=sr.Prismatic("x"), mass=1.0)
    spec.force("spring", sr.JointSpring("b", stiffness=4000.0, rest=place))
    mech = spec.measure("x", sr.Coordinate("b")).compile().with_default([0.02])
    t = np.linspace(0.0, 2.0, 9)
    assert len(sr.simulate(mech, (0, 2)).t) < 10
    assert_same(slopes(mech, Run(t), "place")["x"][:, 0], 1.0 - np.cos(np.sqrt(4000.0) * t), 1e-7)


def scaled_four_bar() -> sr.Mechanism:
    """All lengths times `size`; rows of the hinges in space are redundant."""
    spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0), name="four_bar")
    s, bar = spec.parameter("size", 0.3), spec.parameter("bar", 2.0)
    spec.point("A", (0, 0, 0)).point("B", (0, s, 0)).point("C", (3.5 * s, 3 * s, 0)).point("D", (4 * s, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=bar).link(
        "rocker", "D", "C", mass=1.0
    )
    ends = {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker")}
    for name, pair in {**ends, "D": ("ground", "rocker")}.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
    spec.measure("C", sr.Position("coupler", "C")).measure("load", sr.Reaction("C", "world"))
    return spec.measure("angle", sr.Coordinate("A")).compile()


def test_free_four_bar_scales() -> None:
    """Lengths times s: the same motion, slower by sqrt(s); forces stay, so df/ds = -t f' / 2s."""
    mech, t = scaled_four_bar(), np.linspace(0.0, 1.2, 13)
    over, size = Run(t), mech.parameters["size"]
    run = sr.simulate(mech, (0, 1.2), t_eval=t)
    found = slopes(mech, over, "size", "bar")
    slower = -t / (2 * size)
    assert_same(found["angle"][:, 0], slower * run.v[:, mech.index("A").v][:, 0], 3e-8)
    expected = by_runs(mech, over, "bar")
    for key in ("C", "load", "angle"):
        assert_same(found[key][..., 1], expected[key], 1e-7)


@pytest.mark.parametrize("name", ["size", "twist"])
def test_bennett_falls(name: str) -> None:
    """Redundant rows in space, and a default pose that is assembled anew for each value."""
    mech = bennett()
    mech = mech.with_default(mech.assemble([1.0, 2.7, -1.0, -2.7], fixed={"one": 1.0}).q)
    over = Run(np.linspace(0.0, 1.0, 6))
    for value in (mech.parameters[name], 1.05 * mech.parameters[name]):
        found = slopes(mech.with_(**{name: value}), over, name)["P"][..., 0]
        assert_same(found, by_runs(mech, over, name, at=value)["P"], 2e-7)


def test_symmetric_top() -> None:
    """Quaternions: w_1 + i w_2 turns with (I_3 - I_1) w_3 / I_1 in the body."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="top")
    I1, I3 = spec.parameter("I1", 0.05), spec.parameter("I3", 0.08)
    spec.body("top", joint=sr.Free(), mass=2.0, inertia=(I1, I1, I3))
    spec.measure("w", lambda q, v, t: v[3:5]).measure("P", sr.Position("top", (0.1, 0.2, 0.3)))
    mech, t, values = spec.compile(), np.linspace(0.0, 2.0, 9), (0.05, 0.08)
    over = Run(t, {"v0": [0.3, 0.0, 0.1, 1.0, 0.0, 6.0]})
    found = slopes(mech, over, "I1", "I3")

    def w(t: Any, I1: Any, I3: Any) -> Any:
        return mp.cos((I3 - I1) / I1 * 6 * t)

    assert_same(found["w"][:, 0], by_closed_form(w, t, values), 1e-7)
    assert_same(found["P"][..., 1], by_runs(mech, over, "I3")["P"], 1e-7)


def test_a_floating_body_on_a_rod() -> None:
    """Quaternions and a loop; the rod holds a corner of a plate that tumbles."""
    spec = sr.MechanismSpec(gravity=(0, 0, -GRAVITY), name="plate")
    rod, m = spec.parameter("rod", 0.5), spec.parameter("m", 2.0)
    spec.body("plate", joint=sr.Free(), mass=m, inertia=(0.02, 0.05, 0.06))
    spec.constrain("rod", sr.Distance("ground", (0.4, 0, 0.3), "plate", (0, 0, 0), length=rod))
    spec.force("wind", sr.ConstantWrench("plate", (1.0, 0.5, 0.0, 0.0, 0.0, 0.0), (0.1, 0.2, 0.0)))
    mech = spec.measure("P", sr.Position("plate", (0.1, 0.2, 0))).measure("S", sr.ForceIn("rod")).compile()
    over = Run(np.linspace(0.0, 1.0, 6))
    found = slopes(mech, over, "rod", "m")
    for i, name in enumerate(("rod", "m")):
        expected = by_runs(mech, over, name)
        for key in ("P", "S"):
            assert_same(found[key][..., i], expected[key], 1e-7)


def test_rolling_disc() -> None:
    """Rows that restrict velocities only: more coordinates than speeds are free."""
    spec = sr.MechanismSpec(gravity=(0, 0, -GRAVITY), name="disc")
    c, inertia = spec.parameter("c", 0.05), spec.parameter("I", 0.02)
    spec.body("disc", joint=sr.Free(), mass=1.5, com=(c, 0, 0.02), inertia=(0.03, inertia, 0.03))
    spec.constrain("floor", sr.Rolling("disc", radius=0.3, axis="y"))
    mech = spec.measure("P", sr.Position("disc", (0.1, 0, 0.1))).measure("V", sr.Speed("disc")).compile()
    q = mech.assemble([0, 0, 0.3, 0.1, 0, 0, 1]).q
    over = Run(np.linspace(0.0, 0.5, 6), {"q0": q, "v0": mech.consistent_velocity(q, [1, 0, 0, 0.2, 3, 1])})
    found = slopes(mech, over, "c", "I")
    for i, name in enumerate(("c", "I")):
        expected = by_runs(mech, over, name)
        for key in ("P", "V"):
            assert_same(found[key][..., i], expected[key], 1e-7)


def test_partly_driven() -> None:
    """A motor shakes the first arm; with which speed the second one starts depends on both parameters."""
    spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0), name="shaken")
    l, m = spec.parameter("l", 0.5), spec.parameter("m", 1.0)
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01,) * 3)
    at = sr.Pose((l, 0, 0))
    spec.body("b", "a", joint=sr.Revolute("z"), at=at, mass=m, com=(0.2, 0, 0), inertia=(0.01,) * 3)
    parts = (lambda t: 0.3 * np.sin(7 * t), lambda t: 2.1 * np.cos(7 * t), lambda t: -14.7 * np.sin(7 * t))
    spec.constrain("motor", sr.Drive("a", *parts))
    mech, over = spec.measure("torque", sr.ForceIn("motor")).compile(), Run(np.linspace(0.0, 1.0, 6))
    found = slopes(mech, over, "l", "m")["torque"]
    for i, name in enumerate(("l", "m")):
        assert_same(found[:, i], by_runs(mech, over, name)["torque"], 1e-7)
