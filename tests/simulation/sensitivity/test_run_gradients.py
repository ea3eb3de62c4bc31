"""Gradients along runs with freedoms left: closed forms, laws of scaling, differences of accurate runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import sarrus as sr
from sarrus.arrays import Array
from sarrus.design import Run
from sarrus.differences import slope_terms

from ...mechanism.test_exact_derivatives import bennett

pytestmark = pytest.mark.filterwarnings("ignore:.*redundant:sarrus.SarrusWarning")
GRAVITY = 9.81


def slopes(mech: sr.Mechanism, over: Run, *names: str) -> Any:
    """Of all measures; all of them exact."""
    found = over.slopes(mech, names)
    assert found is not None and not found.differences
    return found.slopes


def by_closed_form(f: Callable[..., Any], times: Array, values: tuple[float, ...]) -> Array:
    """Derivatives (n, P) of f(t, *values) by the values, in 40 digits."""
    mp.dps = 40
    exact = [mp.mpf(repr(x)) for x in values]
    orders = np.eye(len(values) + 1, dtype=int)[1:].tolist()
    rows = [[mp.diff(f, (mp.mpf(t), *exact), tuple(order)) for order in orders] for t in times.tolist()]
    return np.array(rows, dtype=float)


def by_runs(mech: sr.Mechanism, over: Run, name: str, step: float = 2e-3, at: float | None = None) -> Any:
    """Derivatives of all measures by a parameter: differences of order six of accurate runs."""
    accurate = replace(over, options={**over.options, "rtol": 1e-13, "atol": 1e-15})
    value = mech.parameters[name] if at is None else at
    h = step * abs(value)
    terms = [(w / h, accurate.measures(mech.with_(**{name: value + k * h}))) for k, w in slope_terms(6)]
    return {key: sum(w * measures[key] for w, measures in terms) for key in terms[0][1]}


def assert_same(found: Any, expected: Any, part: float) -> None:
    """Equal to a part of the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=part * np.max(np.abs(expected)))


def oscillator(k: float, m: float, c: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="oscillator")
    stiffness, mass, damping = (spec.parameter(name, x) for name, x in (("k", k), ("m", m), ("c", c)))
    spec.body("b", joint=sr.Prismatic("x"), mass=mass, damping=damping)
    spec.force("spring", sr.JointSpring("b", stiffness=stiffness))
    return spec.measure("x", sr.Coordinate("b")).compile()


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


def test_starts_that_are_assembled() -> None:
    """A crank begins at 0.3 rad with 20 rad/s, whatever its length; a counterweight may be zero."""
    spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0), name="engine")
    r, l, m = spec.parameter("r", 0.1), spec.parameter("l", 0.4), spec.parameter("m", 0.0)
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.03, 0, 0), inertia=(0.01,) * 3)
    spec.body("weight", "crank", joint=sr.Fixed(), at=sr.Pose((-0.1, 0, 0)), mass=m, inertia=(1e-3,) * 3)
    at, inertia = sr.Pose((r, 0, 0)), (0.01, 0.01, 0.01)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=at, mass=0.5, com=(0.1, 0, 0), inertia=inertia)
    spec.body("piston", joint=sr.Prismatic("x"), mass=0.3)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((l, 0, 0)))
    mech = spec.measure("x", sr.Coordinate("piston")).measure("F", sr.Reaction("crank")).compile()
    mech = mech.with_default(mech.assemble([0.3, -0.4, 0.45]).q)
    over = Run(np.linspace(0.0, 0.5, 6), fixed={"crank": 0.3}, speeds={"crank": 20.0})
    assert slopes(mech, over, "m")["F"].shape == (6, 6, 1)
    mech = mech.with_(m=0.2)
    found = slopes(mech, over, "r", "l", "m")
    for i, name in enumerate(("r", "l", "m")):
        expected = by_runs(mech, over, name)
        for key in ("x", "F"):
            assert_same(found[key][..., i], expected[key], 1e-7)


def test_starts_are_said_once() -> None:
    with pytest.raises(sr.InputError, match=r"either at fixed and speeds, .* or at q0 and v0 .*; got both"):
        Run([0.0, 1.0], {"v0": [1.0]}, speeds={"b": 1.0})
    moving = oscillator(40.0, 1.5, 0.7).with_default([0.0], [2.0])
    with pytest.raises(sr.InputError, match=r"'oscillator' has a default velocity.*speeds="):
        sr.optimize(moving, {"k": (10.0, 90.0)}, "x", over=Run([0.0, 1.0]))


def test_parameters_that_change_nothing() -> None:
    """Where a counterweight stands does not matter to a rotor without gravity: what is left is rounding."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="rotor")
    angle = spec.parameter("angle", 2.5)
    spec.body("rotor", joint=sr.Revolute("z"), mass=3.0, com=(0.02, 0, 0), inertia=(0.1,) * 3)
    place = sr.Pose((0.1 * np.cos(angle), 0.1 * np.sin(angle), 0))
    spec.body("weight", "rotor", joint=sr.Fixed(), at=place, mass=0.6, inertia=(1e-4,) * 3)
    spec.body("arm", "rotor", joint=sr.Revolute("z"), at=sr.Pose((0.1, 0, 0)), mass=1.0, com=(0.2, 0, 0))
    mech = spec.measure("turned", sr.Coordinate("rotor")).compile()
    found = slopes(mech, Run(np.linspace(0.0, 1.0, 6), {"v0": [20.0, 3.0]}), "angle")["turned"]
    assert np.max(np.abs(found)) < 1e-11


def test_feedback() -> None:
    """A control law of (t, q, v) in dual numbers: a spring and a damper by a motor."""
    t, values = np.linspace(0.0, 2.0, 6), (1.5,)
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    mass = spec.parameter("m", 1.5)
    spec.body("b", joint=sr.Prismatic("x"), mass=mass)
    mech = spec.measure("x", sr.Coordinate("b")).compile()

    def x(t: Any, m: Any) -> Any:
        w = mp.sqrt(40 / m - (mp.mpf("0.7") / (2 * m)) ** 2)
        return 2 / w * mp.exp(-mp.mpf("0.7") * t / (2 * m)) * mp.sin(w * t)

    for option in ("control", "tau"):
        over = Run(t, {"v0": [2.0], option: lambda t, q, v: -40.0 * q - 0.7 * v})
        assert_same(slopes(mech, over, "m")["x"], by_closed_form(x, t, values), 1e-7)
    rough = Run(t, {"v0": [2.0], "control": lambda t, q, v: [-40.0 * float(q[0]) - 0.7 * float(v[0])]})
    found = rough.slopes(mech, ("m",))
    assert found is not None and found.differences == {"x"}
    assert_same(found.slopes["x"], by_closed_form(x, t, values), 1e-7)


def falling(damping: float) -> sr.Mechanism:
    """A body that falls on an elastic stop."""
    spec = sr.MechanismSpec(gravity=(0, 0, -GRAVITY), name="falling")
    m, k, depth = spec.parameter("m", 1.0), spec.parameter("k", 1e4), spec.parameter("depth", 0.1)
    spec.body("b", joint=sr.Prismatic("z"), mass=m)
    spec.force("stop", sr.EndStop("b", (-depth, None), stiffness=k, damping=damping))
    return spec.measure("z", sr.Coordinate("b")).compile()


def test_elastic_stop_by_its_closed_form() -> None:
    """Falls for t1, touches for t2, flies back."""
    t = np.linspace(0.2, 0.4, 5)
    mech, over = falling(0.0), Run(np.concatenate([[0.0], t]))

    def z(t: Any, m: Any, k: Any, depth: Any) -> Any:
        g, w = mp.mpf("9.81"), mp.sqrt(k / m)
        speed = mp.sqrt(2 * g * depth)
        left = t - speed / g - 2 * (mp.pi - mp.atan(speed * w / g)) / w
        return speed * left - g * left**2 / 2 - depth

    found, expected = slopes(mech, over, "m", "k", "depth")["z"][1:], by_closed_form(z, t, (1.0, 1e4, 0.1))
    for i in range(3):
        assert_same(found[:, i], expected[:, i], 2e-6)


def test_damped_stop() -> None:
    """Its force jumps where it is met, at a time that depends on the parameters."""
    mech, over = falling(5.0), Run(np.linspace(0.0, 0.4, 9), {"rtol": 1e-13, "atol": 1e-15})
    for name in ("m", "k", "depth"):
        assert_same(slopes(mech, over, name)["z"][:, 0], by_runs(mech, over, name, 1e-3)["z"], 1e-7)


def test_forces_that_jump_are_taken_by_differences() -> None:
    """A motor that turns round where a body passes a place; one that is limited has corners only."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    mass = spec.parameter("m", 1.0)
    spec.body("b", joint=sr.Prismatic("x"), mass=mass)
    mech, t = spec.measure("x", sr.Coordinate("b")).compile(), np.linspace(0.0, 3.0, 7)
    switched = Run(t, {"control": lambda t, q, v: np.array([1.0 if q[0] < 0.5 else -1.0])})
    assert switched.slopes(mech, ("m",)) is None
    best = sr.optimize(mech, {"m": (0.5, 2.0)}, lambda x: (x["x"][-1] - 0.3) ** 2, over=switched)
    assert best.gradient == {"objective": "differences"}
    limited = Run(t, {"v0": [2.0], "control": lambda t, q, v: np.clip(-4.0 * q, -1.0, 1.0)})
    assert_same(slopes(mech, limited, "m")["x"][:, 0], by_runs(mech, limited, "m", 1e-4)["x"], 1e-6)


def test_what_keeps_differences() -> None:
    """Samples of a control, wrenches on bodies, other corrections."""
    mech, t = oscillator(40.0, 1.5, 0.7), np.linspace(0.0, 0.5, 3)
    sampled = {"control": lambda t, q, v: -q, "control_dt": 0.05}
    external: dict[str, Any] = {"external": {"b": np.ones(6)}}
    for options in (sampled, external, {"correction": "none"}):
        assert Run(t, {"v0": [2.0], **options}).slopes(mech, ("m",)) is None, options


def test_singular_poses_on_the_way_keep_differences() -> None:
    """A parallelogram passes the pose in which all bars lie on one line, where it could change its branch."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="parallelogram")
    bar = spec.parameter("bar", 1.0)
    spec.point("A", (0, 0, 0)).point("B", (0, 0.3, 0)).point("C", (0.5, 0.3, 0)).point("D", (0.5, 0, 0))
    spec.link("left", "A", "B", mass=1.0).link("top", "B", "C", mass=bar).link("right", "D", "C", mass=1.0)
    ends = {"A": ("ground", "left"), "B": ("left", "top"), "C": ("top", "right"), "D": ("ground", "right")}
    for name, (a, b) in ends.items():
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    mech = spec.measure("angle", sr.Coordinate("A")).compile()
    slow, fast = (Run(np.linspace(0.0, 1.0, 3), speeds={"A": speed}) for speed in (1.0, -2.0))
    assert slow.slopes(mech, ("bar",)) is not None
    assert fast.slopes(mech, ("bar",)) is None
