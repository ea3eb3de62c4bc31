"""Gradients of designs: measures over sweeps by closed forms in dual numbers; what is exact is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import sarrus as sr
from sarrus.design import Poses, Run, Sweep
from sarrus.dual_numbers import Dual

from .test_optimize import HALF_TURN, hoeken

pytestmark = pytest.mark.filterwarnings("ignore:.*redundant:sarrus.SarrusWarning")
ROUNDING = 1e-12


def path(ground: Any, coupler: Any, angles: Any) -> Any:
    """Hoeken's coupler point (n, 2) by its loop equation; half the coupler and the rocker are equal."""
    found = []
    for angle in angles:
        x, y = -1.0 * np.cos(angle), -1.0 * np.sin(angle)  # of B
        dx, dy = ground - x, -1.0 * y
        apart = np.sqrt(dx * dx + dy * dy)
        up = np.sqrt(coupler * coupler - apart * apart / 4.0)
        found.append([x + dx - 2.0 * up * dy / apart, y + dy + 2.0 * up * dx / apart])
    return np.array(found)


def test_slopes_over_a_sweep_by_dual_numbers() -> None:
    """Rows of the hinges in space are redundant; 25 poses, two parameters."""
    found = HALF_TURN.slopes(hoeken(2.1, 2.65), ("ground", "coupler"))
    assert found is not None and not found.differences
    g, c = Dual(2.1, np.array([1.0, 0.0])), Dual(2.65, np.array([0.0, 1.0]))
    expected = path(g, c, np.asarray(HALF_TURN.values))
    values = np.array([[x.value for x in row] for row in expected])
    slopes = np.array([[x.slope for x in row] for row in expected])
    np.testing.assert_allclose(found.measures["P"][:, :2], values, atol=ROUNDING)
    np.testing.assert_allclose(found.slopes["P"][:, :2], slopes, rtol=0, atol=10 * ROUNDING)


def waviness(measures: Any) -> Any:
    x, y = measures["P"][:, 0], measures["P"][:, 1]
    return np.mean((y - y.mean()) ** 8) ** (1 / 8) / np.ptp(x)


def test_gradient_of_an_objective() -> None:
    """Height over length of an almost straight line: differences over 0.3 percent are wrong by 3e-4.

    With float() the function is differentiated by differences: eighth powers of 1e-3, which leave 2e-9.
    """
    found = HALF_TURN.slopes(hoeken(2.1, 2.65), ("ground", "coupler"))
    assert found is not None
    gradient, exact = found.of(waviness, np.ones(2))
    g, c = Dual(2.1, np.array([1.0, 0.0])), Dual(2.65, np.array([0.0, 1.0]))
    expected = waviness({"P": path(g, c, np.asarray(HALF_TURN.values))})
    assert exact
    np.testing.assert_allclose(gradient[0], expected.slope, rtol=1e-11)
    rough, by_differences = found.of(lambda m: float(waviness(m)), np.ones(2))
    assert not by_differences
    np.testing.assert_allclose(rough[0], expected.slope, rtol=1e-8)


def test_what_was_exact_is_said() -> None:
    ranges, options = {"ground": (1.8, 2.6)}, {"over": HALF_TURN, "tol": 1e-3}
    limits = {
        "reach": (lambda m: np.ptp(m["P"][:, 0]), 1.0, None),
        "high": (lambda m: m["P"].max(), None, 9.0),
    }
    best = sr.optimize(hoeken(2.1, 2.65), ranges, waviness, limits=limits, **options)
    assert best.gradient == {"objective": "exact", "reach": "exact", "high": "exact"} and best.success
    limits["reach"] = (lambda m: float(np.ptp(m["P"][:, 0])), 1.0, None)
    again = sr.optimize(hoeken(2.1, 2.65), ranges, lambda m: float(waviness(m)), limits=limits, **options)
    assert again.gradient == {"objective": "differences", "reach": "differences", "high": "exact"}
    assert again.parameters["ground"] == pytest.approx(best.parameters["ground"], rel=1e-6)


def test_measures_by_differences_make_objectives_differences() -> None:
    """Only those objectives that read them."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    length = spec.parameter("length", 0.4)
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(length, 0, 0), inertia=(0.1,) * 3)
    spec.constrain("hold", sr.Coupling({"arm": 1.0}, offset=length))
    spec.measure("rough", lambda q, v, t: float(q[0])).measure("exact", sr.ForceIn("hold"))
    mech, over = spec.compile(), Poses([{}])
    for name, how in (("rough", "differences"), ("exact", "exact")):
        best = sr.optimize(
            mech, {"length": (0.1, 2.0)}, lambda m, key=name: (m[key][0] - 0.5) ** 2, over=over
        )
        assert best.gradient == {"objective": how}


def test_poses_that_are_not_determined_are_differences() -> None:
    """The second arm is held by nothing: where it stands depends on the way there."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    length = spec.parameter("length", 0.4)
    for name, parent in (("one", "ground"), ("two", "one")):
        at = sr.Pose((0 if parent == "ground" else length, 0, 0))
        spec.body(name, parent, joint=sr.Revolute("z"), at=at, mass=1.0, inertia=(0.1,) * 3)
    mech = spec.measure("P", sr.Position("two", (0.1, 0, 0))).compile()

    def far(m: Any) -> Any:
        return (m["P"][0, 0] - 0.6) ** 2

    for fixed, how in (({"one": 0.1}, "differences"), ({"one": 0.1, "two": 0.2}, "exact")):
        assert (
            sr.optimize(mech, {"length": (0.1, 2.0)}, far, over=Poses([fixed])).gradient["objective"] == how
        )


def arm(k: float) -> sr.Mechanism:
    """A spring balances it; a coupling to a wheel that is held bears what is left."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="arm")
    stiffness = spec.parameter("k", k)
    spec.parameter("idle", 1.0)
    spec.body("arm", joint=sr.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    spec.force("spring", sr.PointSpring("ground", (0, 0, 0.4), "arm", (0.25, 0, 0), stiffness=stiffness))
    spec.body("wheel", joint=sr.Revolute("y"), mass=1e9, inertia=(1e9, 1e9, 1e9))
    spec.constrain("gear", sr.Coupling({"arm": 1.0, "wheel": -1.0}))
    return spec.measure("load", sr.Reaction("arm")).compile()


def test_a_start_at_the_optimum_is_no_lack_of_freedom() -> None:
    """The gradient is zero there, and neighbours differ all the same. What nothing depends on is named."""
    over, best = Sweep("arm", [0.1, 0.4, 0.9]), 2.0 * 9.81 * 0.5 / (0.4 * 0.25)

    def turned(m: Any) -> Any:
        return np.sum(m["load"][:, 4] ** 2)

    found = sr.optimize(arm(best), {"k": (10.0, 1000.0)}, turned, over=over)
    assert found.gradient == {"objective": "exact"} and found.success
    assert found.parameters["k"] == pytest.approx(best, rel=1e-9)
    with pytest.raises(
        sr.InputError, match="no freedom: neither the objective nor a limit depends on 'idle'"
    ):
        sr.optimize(arm(best), {"idle": (0.5, 2.0)}, turned, over=over)


@pytest.mark.parametrize("driven", [True, False])
def test_runs_are_exact(driven: bool) -> None:
    """A counterweight of zero, the least there is, is a place to start from."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="rotor")
    m = spec.parameter("m", 0.0)
    spec.body("rotor", joint=sr.Revolute("z"), mass=3.0, com=(0.02, 0, 0), inertia=(0.1, 0.1, 0.1))
    at = sr.Pose((-0.1, 0, 0))
    spec.body("weight", "rotor", joint=sr.Fixed(), at=at, mass=m, inertia=(1e-4, 1e-4, 1e-4))
    if driven:
        spec.constrain("motor", sr.Drive("rotor", lambda t: 20 * t, lambda t: 20.0, lambda t: 0.0))
    mech = spec.measure("bearing", sr.Reaction("rotor")).compile()
    over = Run(np.linspace(0, 0.1, 3), {} if driven else {"v0": [20.0]})
    best = sr.optimize(mech, {"m": (0, 2)}, lambda x: np.sum(x["bearing"][:, :2] ** 2), over=over)
    assert best.gradient == {"objective": "exact"}
    assert best.parameters["m"] == pytest.approx(0.6, rel=1e-5)


def test_slopes_along_a_driven_run() -> None:
    """Slider-crank at constant speed: x = r cos + sqrt(l^2 - r^2 sin^2), differentiated in 40 digits.

    The rod has 1e-9 kg, which does up to 1e-7 N/m to the slopes of the force.
    """
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="engine")
    r, l, omega = spec.parameter("r", 0.05), spec.parameter("l", 0.2), 100.0
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, inertia=(0.01,) * 3)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((r, 0, 0)), mass=1e-9, inertia=(1e-12,) * 3)
    spec.body("piston", joint=sr.Prismatic("x"), mass=0.3)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((l, 0, 0)))
    spec.constrain("motor", sr.Drive("crank", lambda t: omega * t, lambda t: omega, lambda t: 0.0))
    mech = spec.measure("push", sr.Reaction("pin", "world")).measure("v", sr.Speed("piston")).compile()
    mech = mech.with_default(mech.assemble([0.0, 0.0, 0.25]).q)
    t = np.linspace(0.0, 0.06, 7)
    found = Run(t).slopes(mech, ("r", "l"))
    assert found is not None and not found.differences
    mp.dps = 40

    def x(time: Any, r: Any, l: Any) -> Any:
        return r * mp.cos(omega * time) + mp.sqrt(l**2 - (r * mp.sin(omega * time)) ** 2)

    for i, time in enumerate(t):
        for k, order in enumerate(((1, 0), (0, 1))):
            speed = mp.diff(x, (mp.mpf(time), mp.mpf(0.05), mp.mpf(0.2)), (1, *order))
            push = 0.3 * mp.diff(x, (mp.mpf(time), mp.mpf(0.05), mp.mpf(0.2)), (2, *order))
            assert found.slopes["v"][i, 0, k] == pytest.approx(float(speed), rel=1e-11, abs=1e-11 * omega)
            assert found.slopes["push"][i, 0, k] == pytest.approx(float(push), rel=1e-11, abs=1e-7)


def test_a_parameter_that_opens_a_loop_is_named() -> None:
    """A parallelogram with a third crank moves only while all cranks are equally long."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    long = spec.parameter("long", 0.3)
    spec.point("A", (0, 0, 0)).point("B", (0, 0.3, 0)).point("C", (0.5, 0.3, 0)).point("D", (0.5, 0, 0))
    spec.link("left", "A", "B", mass=1.0).link("top", "B", "C", mass=1.0).link("right", "D", "C", mass=1.0)
    ends = {"A": ("ground", "left"), "B": ("left", "top"), "C": ("top", "right"), "D": ("ground", "right")}
    for name, (a, b) in ends.items():
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    third = sr.Distance("ground", (0.25, 0, 0), "top", (0.25, 0, 0), length=long)
    spec.constrain("third", third, frame="body")
    mech, over = spec.measure("f", sr.ForceIn("third")).compile(), Poses([{"A": 0.1}])
    with pytest.raises(
        sr.InputError, match=r"value of 'long' around 0\.3 .*keeps the rows .*'third.distance'"
    ):
        sr.optimize(mech, {"long": (0.2, 0.4)}, "f", over=over)
    with pytest.raises(sr.InputError, match=r"6 of 6 mechanisms .*keeps the rows .*'third.distance'"):
        sr.tolerances(mech, {"long": 1e-3}, over=over)


def test_sensitivities_of_tolerances_are_exact() -> None:
    """dP/dcoupler over a sweep, against differences of the closed form; the wide step does not matter."""
    found = sr.tolerances(hoeken(2.1, 2.65), {"coupler": 0.05}, over=HALF_TURN, samples=2)
    c = Dual(2.65, np.ones(1))
    slopes = np.array([[x.slope[0] for x in row] for row in path(2.1, c, np.asarray(HALF_TURN.values))])
    assert found.differences == ()
    np.testing.assert_allclose(found.sensitivity["P"][:, :2, 0], slopes, rtol=0, atol=10 * ROUNDING)
