"""UserForce: against the compiled forces it can imitate, its power and reactions, and functions that fail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
K, REST, C = 40.0, 0.2, 1.5
P_A, P_B = (0.1, 0.0, -0.5), (0.3, 0.05, 0.1)


def line(t: float, r: Array, rate: Array) -> Array:
    """A spring and damper, as PointSpring(K, REST, C)."""
    length = np.sqrt(r @ r)
    return -(K * (length - REST) + C * (r @ rate) / length) * r / length


def float_line(t: float, r: Array, rate: Array) -> Array:
    """The same without dual numbers."""
    return line(t, np.array([float(x) for x in r]), np.array([float(x) for x in rate]))


def described() -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="arm")
    spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02))
    at = sr.Pose((0.6, 0, 0))
    spec.body(
        "b", "a", joint=sr.Revolute("x"), at=at, mass=0.7, com=(0.2, 0, 0.1), inertia=(0.01, 0.02, 0.02)
    )
    return spec


def pair(between: str = "ground", function: Any = line) -> tuple[sr.Mechanism, sr.Mechanism]:
    """The arm with user forces, and with the compiled forces that they imitate."""
    mine, theirs = described(), described()
    mine.force("joint", sr.UserForce(lambda t, x, rate: -12.0 * (x - 0.1) - 0.3 * rate, "b"))
    mine.force("line", sr.UserForce(function, a=between, p_a=P_A, b="b", p_b=P_B))
    theirs.force("spring", sr.JointSpring("b", 12.0, 0.1)).force("damper", sr.JointDamper("b", 0.3))
    theirs.force("line", sr.PointSpring(between, P_A, "b", P_B, K, REST, C))
    return mine.compile(), theirs.compile()


Q, V = np.array([0.3, -0.5]), np.array([1.0, -2.0])


@pytest.mark.parametrize("between", ["ground", "a"])
@pytest.mark.parametrize("function", [line, float_line])
def test_it_is_the_force_that_it_imitates(between: str, function: Any) -> None:
    mine, theirs = pair(between, function)
    zero = np.zeros(2)
    np.testing.assert_allclose(mine.acceleration(Q, V, zero), theirs.acceleration(Q, V, zero), rtol=1e-12)
    np.testing.assert_allclose(mine.bias(Q, V), theirs.bias(Q, V), rtol=1e-12)
    np.testing.assert_allclose(mine.rnea(Q, V, V), theirs.rnea(Q, V, V), rtol=1e-12)
    np.testing.assert_allclose(mine.terms(Q, V).h, theirs.terms(Q, V).h, rtol=1e-12)
    np.testing.assert_allclose(
        mine.inverse_dynamics(Q, V, V).u, theirs.inverse_dynamics(Q, V, V).u, rtol=1e-12
    )
    one, other = mine.forward_dynamics(Q, V), theirs.forward_dynamics(Q, V)
    for name in ("a", "b"):
        np.testing.assert_allclose(one.reaction(name), other.reaction(name), atol=1e-12)
    np.testing.assert_allclose(mine.derivatives(Q, V).a, theirs.derivatives(Q, V).a, atol=1e-9)
    for method in ("analytic", "dual", "finite_difference"):
        A = sr.linearize(mine, Q, V, method=method).A
        np.testing.assert_allclose(A, sr.linearize(theirs, Q, V).A, atol=1e-8)
    step = mine.step(Q, V, dt=1e-2)
    np.testing.assert_allclose(step.q, theirs.step(Q, V, dt=1e-2).q, rtol=1e-12)


@pytest.mark.parametrize("method", ["auto", "rk4", "radau"])
def test_runs(method: str) -> None:
    mine, theirs = pair()
    runs = [sr.simulate(mech, (0, 1), Q, V, method=method) for mech in (mine, theirs)]
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-8)
    np.testing.assert_allclose(runs[0].reaction("a")[-1], runs[1].reaction("a")[-1], atol=1e-6)


def test_equilibrium() -> None:
    mine, theirs = (sr.equilibrium(mech, [0.3, 0.2]) for mech in pair())
    np.testing.assert_allclose(mine.q, theirs.q, atol=1e-9)
    assert mine.stable and mine.message == theirs.message


def test_power_is_force_times_rate() -> None:
    """Also across the line: no free moment, so that a rigid motion of both bodies does no work."""
    spec = described()
    spec.body("free", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    seen = []

    def across(t: float, r: Array, rate: Array) -> Array:
        force = np.array([1.0, 2.0 * r[0], -0.5])
        seen.append(force @ rate)
        return force

    plain = spec.compile()
    mech = spec.force("f", sr.UserForce(across, a="b", p_a=P_A, b="free", p_b=P_B)).compile()
    rng = np.random.default_rng(3)
    q = mech.integrate(mech.neutral(), rng.normal(size=mech.nv))
    v = rng.normal(size=mech.nv)
    power = v @ (plain.bias(q, v) - mech.bias(q, v))
    assert power == pytest.approx(seen[-1], rel=1e-12)


def test_it_depends_on_time() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0)).body("car", joint=sr.Prismatic("x"), mass=2.0)
    mech = spec.force("pull", sr.UserForce(lambda t, x, rate: 6.0 * t, "car")).compile()
    assert mech.bias([0.0], [0.0], 2.0) == pytest.approx([-12.0])
    assert sr.simulate(mech, (0, 3)).q[-1] == pytest.approx([27.0 / 2], rel=1e-9)
    assert not sr.simulate(mech, (0, 1)).system.energy([0.0], [0.0]).potential


def test_with_a_loop() -> None:
    """Lagrange multipliers and constraint forces of a run include it."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="pair")
    for name in ("a", "b"):
        spec.body(name, joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("tie", sr.Coupling({"a": 1.0, "b": -1.0}))
    mech = spec.force("push", sr.UserForce(lambda t, x, rate: 4.0, "a")).compile()
    run = sr.simulate(mech, (0, 1))
    np.testing.assert_allclose(run.constraint_force[-1], [-2.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(np.abs(run.lam[-1]), [2.0], atol=1e-9)


def test_what_has_no_python_says_so(tmp_path: Any) -> None:
    mech, _ = pair()
    asked = (
        lambda: sr.rollout(mech, Q[None], dt=1e-3, steps=2),
        lambda: mech.export_code(tmp_path / "code"),
        lambda: mech.studio(tmp_path / "page.html"),
        lambda: mech.step_derivatives(Q, V),
        lambda: sr.save(mech, tmp_path / "arm.json"),
    )
    for ask in asked:
        with pytest.raises(sr.InputError, match=r"'joint'.*"):
            ask()


def bad(function: Any) -> sr.Mechanism:
    return described().force("bad", sr.UserForce(function, "b")).compile()


def test_functions_that_fail() -> None:
    for function, said in (
        (
            lambda t, x, rate: [1.0, 2.0],
            r"force 'bad' must return an array of shape \(1,\), got shape \(2,\)",
        ),
        (lambda t, x, rate: math.nan, "force 'bad' must return finite numbers"),
        (lambda t, x, rate: "much", r"force 'bad' must return an array of shape \(1,\), got 'much'"),
        (lambda t, x, rate: None, "force 'bad' must return an array"),
    ):
        with pytest.raises(sr.InputError, match=said):
            bad(function).forward_dynamics(Q, V)
        with pytest.raises(sr.InputError, match="force 'bad'"):
            sr.simulate(bad(function), (0, 1), Q, V)
    with pytest.raises(ZeroDivisionError):
        bad(lambda t, x, rate: 1 / 0).forward_dynamics(Q, V)
    run = sr.simulate(bad(lambda t, x, rate: math.nan if t > 0.1 else 0.0), (0, 1), Q, V)
    assert not run.success and "force 'bad' must return finite numbers" in run.message


def test_bad_declarations() -> None:
    for given in ({}, {"coordinate": "b", "a": "a"}, {"a": "a", "b": "b"}):
        with pytest.raises(sr.InputError, match="acts on coordinates or between two points"):
            sr.UserForce(line, **given)
    with pytest.raises(sr.InputError, match=r"function of UserForce must be a function of \(t, x, rate\)"):
        sr.UserForce(lambda x: x, "b")
    with pytest.raises(sr.InputError, match="must be different names"):
        sr.UserForce(line, ("b", "b"))
    with pytest.raises(sr.SarrusError, match="nowhere"):
        described().force("f", sr.UserForce(line, "nowhere")).compile()
    with pytest.raises(sr.InputError, match="two different bodies"):
        sr.UserForce(line, a="a", p_a=P_A, b="a", p_b=P_B)
