"""Forces by formulas against Python functions of the same law, and functions of formulas against math."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError

FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[float, float], float]]] = {
    "sums": (lambda x, y: 2.0 + x - y * 3.0 - (1.0 - x), lambda x, y: 2.0 + x - y * 3.0 - (1.0 - x)),
    "quotient": (lambda x, y: x / (2.0 + y), lambda x, y: x / (2.0 + y)),
    "powers": (lambda x, y: x**3 - y**-2 + (x * x) ** 0.5, lambda x, y: x**3 - y**-2 + abs(x)),
    "no power": (lambda x, y: x**0 + y, lambda x, y: 1.0 + y),
    "root of a cube": (lambda x, y: (x * x + 1.0) ** 1.5, lambda x, y: (x * x + 1.0) ** 1.5),
    "circles": (
        lambda x, y: np.sin(x) * np.cos(y) + np.tan(x),
        lambda x, y: math.sin(x) * math.cos(y) + math.tan(x),
    ),
    "arcs": (
        lambda x, y: np.arcsin(x / 4.0) + np.arccos(y / 4.0) + np.arctan(x),
        lambda x, y: math.asin(x / 4.0) + math.acos(y / 4.0) + math.atan(x),
    ),
    "two": (lambda x, y: np.arctan2(x, y) + np.hypot(x, y), lambda x, y: math.atan2(x, y) + math.hypot(x, y)),
    "tanh": (lambda x, y: np.tanh(x) * abs(y), lambda x, y: math.tanh(x) * abs(y)),
    "ends": (
        lambda x, y: np.maximum(x, y) - 2.0 * np.minimum(x, 0.1),
        lambda x, y: max(x, y) - 2.0 * min(x, 0.1),
    ),
    "signs": (
        lambda x, y: np.sign(x) + 10.0 * np.heaviside(y, 0.5),
        lambda x, y: math.copysign(1.0, x) + 10.0 * (y > 0),
    ),
    "units": (lambda x, y: np.degrees(x) + np.radians(y), lambda x, y: math.degrees(x) + math.radians(y)),
    "turned around": (lambda x, y: -(+x) + 3.0 / y, lambda x, y: -x + 3.0 / y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_formulas(name: str) -> None:
    """The kernel against math at random states; derivatives against differences."""
    formula, plain = FUNCTIONS[name]
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=sr.Prismatic("x"), mass=1.0)
    spec.force("f", sr.FormulaForce([formula(spec.coordinate("a"), spec.speed("a"))], coordinate="a"))
    mech = spec.measure("f", sr.ForceIn("f")).compile()
    for x, y in np.random.default_rng(1).uniform(-1.3, 1.3, (20, 2)).tolist():
        wanted = plain(x, y)
        assert -mech.bias([x], [y])[0] == pytest.approx(wanted, rel=1e-14, abs=1e-13)
        assert mech.forward_dynamics([x], [y]).a[0] == pytest.approx(wanted, rel=1e-14, abs=1e-13)
        found = sr.linearize(mech, [x], [y]).A[1]
        h = 1e-5
        slopes = [
            (plain(x + h, y) - plain(x - h, y)) / (2 * h),
            (plain(x, y + h) - plain(x, y - h)) / (2 * h),
        ]
        np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-6)


def arm(force: Any) -> sr.Mechanism:
    """A tilted double pendulum with a force on its second body."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("upper", joint=sr.Spherical(), mass=2.0, com=(0.2, 0, 0.1), inertia=(0.1, 0.2, 0.15))
    spec.body("lower", "upper", joint=sr.Revolute("y"), at=sr.Pose((0.4, 0, 0)), mass=1.0, com=(0.1, 0.02, 0),
              inertia=(0.02, 0.03, 0.03))  # fmt: skip
    return spec.force("load", force).measure("load", sr.ForceIn("load")).actuate().compile()


def law(t: float, pose: Any, twist: Any) -> Any:
    """A wrench that sees places, attitudes, speeds."""
    R, p = pose.rotation, pose.xyz
    slip = np.arctan2(twist[1], twist[0] ** 2 + 3.0)
    side = -5.0 * np.sin(1.3 * np.arctan(4.0 * slip))
    drag = -(1.0 + p[2] ** 2) * twist[2]
    return [side * R[0, 1], side, drag, -0.1 * twist[3], R[2, 2] * p[0], -0.2 * np.tanh(twist[5])]


@pytest.mark.parametrize("axes", ["body", "world"])
def test_recorded_functions_are_the_same_force(axes: str) -> None:
    """Bias, reactions, measures, derivatives and runs of a recorded function and of the function itself."""
    one, other = (arm(sr.BodyForce("lower", f, (0.2, 0.1, -0.1), axes)) for f in (law, sr.recorded(law)))
    assert one.model.functions and not other.model.functions
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = one.integrate(one.neutral(), rng.uniform(-1, 1, 4))
        v = rng.uniform(-1, 1, 4)
        np.testing.assert_allclose(other.bias(q, v), one.bias(q, v), rtol=1e-13, atol=1e-13)
        moved = [mech.forward_dynamics(q, v) for mech in (one, other)]
        for joint in ("upper", "lower"):
            np.testing.assert_allclose(
                moved[1].reaction(joint), moved[0].reaction(joint), rtol=1e-11, atol=1e-11
            )
        loads = [mech.measure(q, v)["load"] for mech in (one, other)]
        np.testing.assert_allclose(loads[1], loads[0], rtol=1e-13, atol=1e-13)
        models = [sr.linearize(mech, q, v) for mech in (one, other)]
        np.testing.assert_allclose(models[1].A, models[0].A, rtol=1e-8, atol=1e-8)
        dual = sr.linearize(other, q, v, method="dual")
        np.testing.assert_allclose(models[1].A, dual.A, rtol=1e-11, atol=1e-11)
    runs = [sr.simulate(mech, (0, 0.5), v0=[1, 0.5, -0.3, 2.0], rtol=1e-10) for mech in (one, other)]
    np.testing.assert_allclose(runs[1].v[-1], runs[0].v[-1], rtol=1e-8)


def test_formulas_go_where_functions_do_not(tmp_path: Any) -> None:
    """Rollouts, recorded C, pickles and files against the run."""
    mech = arm(sr.BodyForce("lower", sr.recorded(law), (0.2, 0.1, -0.1)))
    v0 = np.array([1, 0.5, -0.3, 2.0])
    run = sr.simulate(mech, (0, 0.2), v0=v0, dt=1e-3, method="rk4")
    q0 = np.tile(mech.default.q, (5, 1))
    out = sr.rollout(mech, q0, np.tile(v0, (5, 1)), dt=1e-3, steps=200)
    np.testing.assert_allclose(out.v[:, -1], np.tile(run.v[-1], (5, 1)), rtol=1e-12)
    header = mech.export_code(tmp_path)[1].read_text()
    assert "acceleration" in header
    sr.save(mech, tmp_path / "m.json")
    for again in (sr.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(mech))):
        np.testing.assert_array_equal(again.bias(q0[0], v0), mech.bias(q0[0], v0))


def test_formulas_follow_parameters() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    k = spec.parameter("k", 3.0)
    spec.body("a", joint=sr.Prismatic("x"), mass=2.0)
    force = sr.UserForce(sr.recorded(lambda t, x, rate: -k * x[0] ** 3), "a")
    mech = spec.force("f", force).compile()
    assert mech.bias([0.5], [0.0])[0] == 3.0 / 8
    assert mech.with_(k=5.0).bias([0.5], [0.0])[0] == 5.0 / 8
    many = sr.rollout(mech, [[0.5]] * 3, dt=1e-3, steps=1, parameters={"k": [1.0, 2.0, 4.0]})
    np.testing.assert_allclose(many.v[:, -1, 0], -np.array([1.0, 2.0, 4.0]) / 16 * 1e-3, rtol=1e-5)


def test_friction_by_load_feels_formulas() -> None:
    """A disc pressed down by a formula: its journal has the friction mu r F."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("disc", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    wrench = [50.0 + 0.0 * spec.speed("disc"), 0, 0, 0, 0, 0]
    spec.force("load", sr.FormulaForce(wrench, body="disc", axes="world"))
    spec.force("journal", sr.BearingFriction("disc", 0.2, 0.03)).actuate()
    a = spec.compile().forward_dynamics([0.0], [5.0]).a[0]
    assert a == pytest.approx(-0.2 * 0.03 * 50.0 / 0.1, rel=1e-12)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, pose, twist: [np.sin(t), 0, 0, 0, 0, 0], "formulas know no time"),
        (lambda t, pose, twist: [t * 2.0, 0, 0, 0, 0, 0], "formulas know no time"),
        (
            lambda t, pose, twist: [np.exp(twist[0]), 0, 0, 0, 0, 0],
            "'exp' is not among the functions of formulas",
        ),
        (lambda t, pose, twist: [twist[0] ** 1.3, 0, 0, 0, 0, 0], "the exponent of a formula"),
        (lambda t, pose, twist: [math.sin(twist[0]), 0, 0, 0, 0, 0], "stands for a number that may change"),
        (lambda t, pose, twist: [1.0 if twist[0] > 0 else 0.0] * 6, "stands for a number that may change"),
        (lambda t, pose, twist: [twist[0]] * 5, "needs 6 formulas here, got 5"),
        (lambda t, pose, twist: "pull", "its function must return numbers"),
        (lambda t, pose, twist: twist[7], "no arithmetic that can be recorded"),
    ],
)
def test_what_formulas_do_not_know(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        arm(sr.BodyForce("lower", sr.recorded(function)))


def test_other_refusals() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Prismatic("x"), mass=1.0)
    p = spec.state("p", 1.0)
    with pytest.raises(InputError, match="acts on coordinates or on a body"):
        sr.FormulaForce([p])
    with pytest.raises(InputError, match="must be a list of expressions"):
        sr.FormulaForce("p", coordinate="a")
    with pytest.raises(InputError, match="recorded takes a function"):
        sr.recorded(3.0)
    between = sr.UserForce(
        sr.recorded(lambda t, x, rate: -x), a="ground", p_a=(0, 0, 0), b="a", p_b=(0, 0, 0)
    )
    with pytest.raises(InputError, match="not between two points"):
        spec.force("f", between)
    for formula, message in ((spec.speed("p"), "is a state"), (spec.coordinate("b"), "unknown coordinate")):
        other = sr.MechanismSpec()
        other.body("a", joint=sr.Prismatic("x"), mass=1.0)
        other.state("p", 1.0)
        other.force("f", sr.FormulaForce([formula], coordinate="a"))
        with pytest.raises(sr.errors.SarrusError, match=message):
            other.compile()
    other = sr.MechanismSpec()
    other.body("a", joint=sr.Prismatic("x"), mass=1.0)
    other.force("f", sr.FormulaForce([{"twist": 2}], coordinate="a"))
    with pytest.raises(InputError, match="belongs to a force on a body"):
        other.compile()
    with pytest.raises(InputError, match="has no value yet"):
        float(p.value)


def test_reactions_beside_formulas_have_no_derivatives_by_parameters() -> None:
    spec = sr.MechanismSpec()
    length = spec.parameter("length", 0.4)
    spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(length, 0, 0))
    spec.force("f", sr.BodyForce("a", sr.recorded(lambda t, pose, twist: -twist)))
    mech = spec.measure("pin", sr.Reaction("a")).actuate("a").compile()
    with pytest.raises(InputError, match="no exact derivatives by parameters"):
        mech.parameter_derivatives(mech.default.q, mech.default.v)
