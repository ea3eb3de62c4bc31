"""sr.bridge.casadi: callbacks with Jacobians beside dual numbers, and an optimization through them."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.bridge.functions import Functions, Stepping
from tests.bridge.checks import MACHINES, moving, with_python_function

casadi = pytest.importorskip("casadi", reason="CasADi is an extra: pip install sarrus[casadi]")


@pytest.mark.parametrize("name", MACHINES)
def test_jacobians_are_those_of_dual_numbers(name: str) -> None:
    mech, q, v, u = moving(name)
    b = sr.bridge.casadi(mech)
    Q, V, U = (casadi.MX.sym(x, n) for x, n in (("q", mech.nq), ("v", mech.nv), ("u", mech.nu)))
    q1, v1 = b.step(Q, V, U, 2e-3)
    f = casadi.Function("f", [Q, V, U], [q1, v1, casadi.jacobian(v1, Q), casadi.jacobian(q1, U)])
    found = [np.array(x) for x in f(q, v, u)]
    expected = (
        Functions(mech, "steps").step(Stepping(2e-3, 0.0, "rk4", 1)).jacobian((q[None], v[None], u[None]))
    )
    assert found[0].ravel() == pytest.approx(mech.step(*mech.project(q, v), u, 2e-3).q, abs=1e-15)
    assert np.array_equal(found[2], expected[1][0][0]) and np.array_equal(found[3], expected[0][2][0])


def test_gradients_go_back_through_callbacks() -> None:
    mech, q, v, u = moving("four_bar")
    b, U = sr.bridge.casadi(mech), casadi.MX.sym("u", 1)
    cost = casadi.sumsqr(b.step(q, v, U, 1e-2)[1])
    found = casadi.Function("g", [U], [casadi.gradient(cost, U)])(u)
    after = mech.step(*mech.project(q, v), u, 1e-2)
    expected = mech.step_vjp(q, v, u, 1e-2, cotangent=(np.zeros(mech.nq), 2.0 * after.v))[2]
    assert np.array(found).ravel() == pytest.approx(expected, rel=1e-9)


def test_an_optimum_through_a_rollout() -> None:
    """Two inputs bring a crank to rest at a given speed: ipopt with gradients of the steps."""
    mech, q, v, _ = moving("four_bar")
    b, U = sr.bridge.casadi(mech), casadi.MX.sym("u", 4, 1)
    _, speeds = b.rollout(q, v, U, dt=5e-3)
    problem = {"x": U, "f": casadi.sumsqr(U) * 1e-6 + (speeds[-1, 0] - 1.0) ** 2}
    options = {"ipopt.hessian_approximation": "limited-memory", "ipopt.print_level": 0, "print_time": 0}
    solver = casadi.nlpsol("solver", "ipopt", problem, options)
    found = solver(x0=np.zeros(4))
    assert solver.stats()["success"] and float(found["f"]) < 0.01


def test_other_functions() -> None:
    mech, q, v, u = moving("four_bar")
    b, X = sr.bridge.casadi(mech), casadi.MX.sym("x")
    pose = b.assemble(fixed={"crank": X})
    slope = casadi.Function("f", [X], [casadi.jacobian(pose, X)])(0.4)
    ends = [mech.assemble(mech.default.q, {"crank": 0.4 + e}).q for e in (1e-4, -1e-4)]
    assert np.array(slope).ravel() == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=1e-6)
    a = b.acceleration(casadi.DM(q), casadi.DM(v))
    assert np.array(a).ravel() == pytest.approx(mech.acceleration(q, v, np.zeros(mech.nv)), rel=1e-9)
    assert b.function("inverse_dynamics")(q, v, a).shape == (1, 1)
    assert b.function("step", dt=1e-2)(q, v, u)[0].shape == (3, 1)
    with pytest.raises(sr.InputError, match="rollout and assemble are called directly"):
        b.function("rollout")
    with pytest.raises(sr.InputError, match=r"rollout: u must have shape \(n, 1\)"):
        b.rollout(q, v, casadi.MX.zeros(3, 2))
    with pytest.raises(sr.InputError, match=r"sr.bridge.casadi cannot differentiate .*'equal'"):
        sr.bridge.casadi(with_python_function())
