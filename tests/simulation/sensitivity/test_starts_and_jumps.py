"""Gradients along runs: how they start, control laws, stops and other forces that jump, what has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import sarrus as sr
from sarrus.design import Run

from .oracles import GRAVITY, assert_same, by_closed_form, by_runs, oscillator, slopes

pytestmark = pytest.mark.filterwarnings("ignore:.*redundant:sarrus.SarrusWarning")


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
        assert_same(found["x"][..., i], expected["x"], 1e-8)
        # between steps, forces come from states of the polynomial of the run: themselves good to 5e-9
        assert_same(found["F"][..., i], expected["F"], 3e-7)


def test_starts_are_said_once() -> None:
    with pytest.raises(sr.InputError, match=r"either at fixed and speeds, .* or at q0 and v0 .*; got both"):
        Run([0.0, 1.0], {"v0": [1.0]}, speeds={"b": 1.0})
    moving = oscillator(40.0, 1.5, 0.7).with_default([0.0], [2.0])
    with pytest.raises(sr.InputError, match=r"'oscillator' has a default velocity.*speeds="):
        sr.optimize(moving, {"k": (10.0, 90.0)}, "x", over=Run([0.0, 1.0]))


def test_options_that_do_not_exist() -> None:
    with pytest.raises(sr.UnknownNameError, match=r"option of simulate 'contrl'.*'control'"):
        Run([0.0, 1.0], {"contrl": lambda t, q, v: -q})
    with pytest.raises(sr.UnknownNameError, match="'t_eval'"):
        Run([0.0, 1.0], {"t_eval": [0.0, 1.0]})


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


def damped(t: Any, m: Any) -> Any:
    """The oscillator with k = 40 and c = 0.7."""
    w, c = mp.sqrt(40 / m - (mp.mpf("0.7") / (2 * m)) ** 2), mp.mpf("0.7")
    return 2 / w * mp.exp(-c * t / (2 * m)) * mp.sin(w * t)


def test_feedback() -> None:
    """A control law of (t, q, v) in dual numbers: a spring and a damper by a motor."""
    t, values = np.linspace(0.0, 2.0, 6), (1.5,)
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    mass = spec.parameter("m", 1.5)
    spec.body("b", joint=sr.Prismatic("x"), mass=mass)
    mech = spec.measure("x", sr.Coordinate("b")).compile()

    for option in ("control", "tau"):
        over = Run(t, {"v0": [2.0], option: lambda t, q, v: -40.0 * q - 0.7 * v})
        assert_same(slopes(mech, over, "m")["x"], by_closed_form(damped, t, values), 1e-7)


def test_laws_without_dual_numbers() -> None:
    """Differentiated by differences where parameters are many, and named; a law that remembers is not."""
    mech, t = oscillator(40.0, 1.5, 0.7), np.linspace(0.0, 1.0, 3)
    rough = Run(t, {"v0": [2.0], "control": lambda t, q, v: [-5.0 * float(q[0])]})
    found = rough.slopes(mech, ("k", "m", "c"))
    assert found is not None and found.differences == {"x"}
    assert_same(found.slopes["x"][:, 1], by_runs(mech, rough, "m")["x"], 1e-7)
    assert rough.slopes(mech, ("k",)) is None
    calls: list[float] = []

    def counts(t: float, q: Any, v: Any) -> Any:
        calls.append(t)
        return -5.0 * q + 1e-3 * len(calls)

    assert Run(t, {"v0": [2.0], "control": counts, "method": "rk4"}).slopes(mech, ("k", "m", "c")) is None


def test_forces_of_functions_on_coordinates() -> None:
    """Spring and damper of the oscillator as a function."""
    t, values = np.linspace(0.0, 2.0, 6), (1.5,)
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    mass = spec.parameter("m", 1.5)
    spec.body("b", joint=sr.Prismatic("x"), mass=mass)
    spec.force("spring", sr.UserForce(lambda t, x, rate: -40.0 * x - 0.7 * rate, "b"))
    mech, over = spec.measure("x", sr.Coordinate("b")).compile(), Run(t, {"v0": [2.0]})
    assert_same(slopes(mech, over, "m")["x"], by_closed_form(damped, t, values), 1e-7)


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


def test_steps_that_are_not_stored() -> None:
    """Options that thin the records do not make gradients worse."""
    mech, t = oscillator(40.0, 1.5, 0.7), np.linspace(0.0, 1.0, 3)
    every, some = (Run(t, {"v0": [2.0], "store_every": n}) for n in (1, 7))
    np.testing.assert_array_equal(slopes(mech, some, "m")["x"], slopes(mech, every, "m")["x"])
