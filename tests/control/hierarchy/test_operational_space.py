"""The quantities of [DeSapio2010] on the result of a hierarchy, against its formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from tests.oracles.printed import rounded

from .stacks import CLOSED, case, printed, sizes, stack, task

SEEDS = range(4)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b), initial=0.0) / (1.0 + np.max(np.abs(b), initial=0.0)))


@pytest.mark.parametrize("family", CLOSED)
@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_2_line_by_line(family: str, seed: int) -> None:
    """Every line of the paper, constraint rows depending on each other or not."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, sizes(mech, q, seed))
    law = sr.control.TaskHierarchy(mech, [task(J, w, 1.0 + i) for i, (J, w) in enumerate(tasks)])
    found = law.solve(0.0, q, v)
    o, paper, rest = found.operational, printed(mech, q, v, tasks), mech.terms(q, 0.0 * v)
    W, Phi = np.linalg.inv(rest.M), rest.J
    rho = rounded(paper.H) @ Phi @ W @ rest.h
    first = (
        (o.H, paper.H),
        (o.Theta, paper.Theta_T.T),
        (o.rho, rho),
        (Phi.T @ (o.alpha + o.rho), paper.eta[0]),
    )
    for ours, theirs in first:
        assert relative(ours, rounded(theirs)) < 1e-9
    for i, (J, _) in enumerate(tasks):
        level = (
            (o.Q, paper.Q[i], 0),
            (o.z, paper.z[i], 1),
            (o.N, paper.N_T[i + 1], 1),
            (o.eta, paper.eta[i + 1], 1),
        )
        for ours, theirs, offset in level:
            assert relative(ours[i + offset], rounded(theirs)) < 1e-9
        assert np.array_equal(o.jacobians[i], J)
    assert relative(found.tau + found.constraint_force, paper.total()) < 1e-9  # eq. (96)


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
    assert relative(found.tau + found.constraint_force, total) < 1e-9


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


def test_task_inertia_is_that_of_all_freedoms() -> None:
    """(110), (113) where motors control two of three freedoms of a planar chain of two arms."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for side, x in (("L", 0.0), ("R", 1.0)):
        parent = "ground"
        for k, turn in enumerate((0.9, -0.7, 0.4) if side == "L" else (2.0, 0.8, 0.3)):
            bar = {"mass": 1.0 + 0.2 * k, "com": (0.25, 0, 0), "inertia": (0.1, 0.1, 0.1)}
            at = sr.Pose((x if k == 0 else 0.5, 0, 0), rpy=(0, 0, turn))
            spec.body(f"{side}{k}", parent, joint=sr.Revolute("z"), at=at, **bar)
            parent = f"{side}{k}"
    start = spec.compile()
    tips = [start.pose(np.zeros(6), name).apply((0.5, 0, 0)) for name in ("L2", "R2")]
    ends = {"a": "L2", "b": "R2", "at_a": sr.Pose((0.5, 0, 0)), "at_b": sr.Pose((0.5, 0, 0))}
    spec.close("tip", joint=sr.Revolute("z"), **ends)
    mech = spec.actuate("L0", "R0").compile(loop_tolerance=float(np.linalg.norm(tips[0] - tips[1])) + 1.0)
    q = mech.assemble(np.zeros(6)).q
    v = mech.consistent_velocity(q, np.linspace(-0.5, 0.5, 6))
    law = sr.control.TaskHierarchy(
        mech, [sr.control.PriorityTask("L0", 0.3), sr.control.PriorityTask("L1", 0.1)]
    )
    found = law.solve(0.0, q, v)
    assert not found.controllable
    o, W = found.operational, np.linalg.inv(mech.mass_matrix(q))
    assert relative(o.Lambda_c, np.linalg.inv(o.J @ W @ o.Theta.T @ o.J.T)) < 1e-9
    wanted = np.array([1.0, -2.0])
    eta = o.Theta.T @ o.J.T @ (o.Lambda_c @ wanted + o.mu_c + o.p_c) + mech.terms(q, v).J.T @ (
        o.alpha + o.rho
    )
    a = W @ (eta - mech.terms(q, v).h)  # (113) gives the accelerations that were asked for
    assert relative(o.J @ a + o.J_rate, wanted) < 1e-8


def test_a_failed_step_has_the_same_type() -> None:
    mech = sr.library.double_pendulum()
    law = sr.control.TaskHierarchy(mech, [sr.control.PriorityTask(mech.names[0], 0.0)])
    found = law.solve(0.0, [np.nan, 0.0], [0.0, 0.0])
    assert found.status == sr.control.Status.FAILED
    assert found.operational is None and found.levels == () and found.tasks == {} and found.ranks == ()
    assert found.orthogonalized == () and "FAILED" in found.summary()
