"""The quantities of [DeSapio2010] on the result of a hierarchy, against its formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .stacks import CLOSED, case, sizes, stack, task

SEEDS = range(4)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b), initial=0.0) / (1.0 + np.max(np.abs(b), initial=0.0)))


@pytest.mark.parametrize("family", CLOSED)
@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_2_line_by_line(family: str, seed: int) -> None:
    """Every line with inverses as printed; pseudoinverses where constraint rows depend on each other."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, sizes(mech, q, seed))
    law = sr.control.TaskHierarchy(mech, [task(J, w, 1.0 + i) for i, (J, w) in enumerate(tasks)])
    found = law.solve(0.0, q, v)
    o, terms, rest = found.operational, mech.terms(q, v), mech.terms(q, 0.0 * v)
    W, Phi, g, b = np.linalg.inv(terms.M), terms.J, rest.h, terms.h - rest.h
    H = np.linalg.pinv(Phi @ W @ Phi.T, rcond=1e-11) if len(Phi) else np.zeros((0, 0))
    N_T = np.eye(mech.nv) - Phi.T @ H @ Phi @ W
    alpha, rho = H @ (Phi @ W @ b + terms.gamma), H @ Phi @ W @ g
    for ours, theirs in ((o.H, H), (o.alpha, alpha), (o.rho, rho), (o.Theta, N_T.T)):
        assert relative(ours, theirs) < 1e-8  # condition numbers of Phi M^-1 Phi.T are up to 1e6
    eta = Phi.T @ (alpha + rho)
    for i, (J, wanted) in enumerate(tasks):
        Q_T = N_T @ J.T
        z = np.linalg.solve(J @ W @ Q_T, wanted + J @ W @ (terms.h - eta))
        bar_T = np.linalg.solve(Q_T.T @ W @ Q_T, Q_T.T @ W)
        N_T = N_T @ (np.eye(mech.nv) - Q_T @ bar_T)
        eta = eta + Q_T @ z
        for ours, theirs in ((o.Q[i], Q_T.T), (o.z[i + 1], z), (o.N[i + 1], N_T), (o.eta[i + 1], eta)):
            assert relative(ours, theirs) < 1e-8
        assert np.array_equal(o.jacobians[i], J)
    assert relative(found.tau + found.constraint_force, eta) < 1e-8  # eq. (96)


@pytest.mark.parametrize("turn", [0.4, 1.2])
def test_single_task_of_the_platform(turn: float) -> None:
    """(113): tau + Phi.T lam = Theta.T J.T (Lambda_c x'' + mu_c + p_c) + Phi.T (alpha + rho), 3-RRR."""
    mech = sr.library.three_rrr(turn=turn)
    q = mech.default.q
    v = mech.consistent_velocity(q, np.linspace(-1.0, 1.0, mech.nv))
    output = sr.control.Position("platform", axes="xy")
    law = sr.control.TaskHierarchy(mech, [sr.control.PriorityTask(output, [0.1, -0.05], kp=100.0, kd=20.0)])
    found = law.solve(0.0, q, v)
    o, terms = found.operational, mech.terms(q, v)
    J = mech.jacobian(q, "platform")[:2]
    W = np.linalg.inv(terms.M)
    assert relative(o.J, J) < 1e-12
    assert relative(o.Lambda_c, np.linalg.inv(J @ W @ o.Theta.T @ J.T)) < 1e-9
    x, rate = mech.pose(q, "platform").xyz[:2], J @ v
    wanted = 100.0 * (np.array([0.1, -0.05]) - x) - 20.0 * rate  # (115)
    f = o.Lambda_c @ wanted + o.mu_c + o.p_c
    total = o.Theta.T @ J.T @ f + terms.J.T @ (o.alpha + o.rho)
    assert relative(found.tau + found.constraint_force, total) < 1e-8


def test_rate_of_a_jacobian_by_differences() -> None:
    """J' v of a point is its acceleration at a = 0."""
    mech = sr.library.double_pendulum()
    q, v = np.array([0.3, -0.7]), np.array([2.0, -3.0])
    body = mech.body_names[-1]
    output = sr.control.Position(body, (0.4, 0.0, 0.0))
    law = sr.control.TaskHierarchy(mech, [sr.control.PriorityTask(output, [0.0, 0.0, 0.0])])
    rate = law.solve(0.0, q, v).operational.J_rate
    exact = mech.body_acceleration(q, v, np.zeros(2), body, (0.4, 0.0, 0.0))[:3]
    assert relative(rate, exact) < 1e-9


def test_tasks_that_are_off_have_no_rows() -> None:
    mech = sr.library.double_pendulum()
    tasks = [
        sr.control.PriorityTask(mech.names[0], 0.0, when=lambda t, q, v: False),
        sr.control.PriorityTask(mech.names[1], 0.0, priority=2),
    ]
    o = sr.control.TaskHierarchy(mech, tasks).solve(0.0, [0.1, 0.2], [0.0, 0.0]).operational
    assert [len(J) for J in o.jacobians] == [0, 1] and o.Lambda_c.shape == (1, 1)
