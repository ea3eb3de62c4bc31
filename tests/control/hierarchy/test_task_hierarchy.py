"""TaskHierarchy against [DeSapio2010] as printed, against operational-space formulas, and its laws."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from tests.oracles.states import relative

from .stacks import CLOSED, case, printed, sizes, stack, task

C = sr.control
SEEDS = range(6)


def solved(mech, q, v, tasks, **options):
    found = C.TaskHierarchy(mech, [task(J, b, i) for i, (J, b) in enumerate(tasks)], **options).solve(
        0.0, q, v
    )
    assert found.status != C.Status.FAILED, found.message
    return found


@pytest.mark.parametrize("family", CLOSED)
@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_2_as_printed(family, seed):
    """The recursion of the paper gives the same total torque, with redundant constraints too."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, sizes(mech, q, seed))
    null = np.random.default_rng(seed).normal(size=mech.nv)
    found = solved(mech, q, v, tasks, null_torque=null)
    terms = mech.terms(q, v)
    eta = terms.M @ found.a + terms.h
    assert relative(eta, printed(mech, q, v, tasks).total(null)) < 1e-9
    assert relative(found.tau + found.constraint_force, eta) < 1e-9
    assert relative(mech.forward_dynamics(q, v, u=found.u).a, found.a) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_dense_solution_of_one_task(seed):
    """[DeSapio2010] eq. (A20), and eq. (104) solved densely, for one task under constraints."""
    mech, q, v = case("loops", seed)
    J, wanted = stack(mech, seed, (min(2, mech.mobility(q).dof),))[0]
    found = solved(mech, q, v, [(J, wanted)])
    terms = mech.terms(q, v)
    W, Phi = np.linalg.inv(terms.M), terms.J
    both = np.concatenate([Phi, J])
    # (104): rows of constraints and task against forces along both
    right = np.concatenate([terms.gamma, wanted]) + both @ W @ terms.h
    forces = np.linalg.lstsq(both @ W @ both.T, right, rcond=1e-12)[0]
    eta = both.T @ forces
    assert relative(terms.M @ found.a + terms.h, eta) < 1e-9
    # (A20)
    H = np.linalg.pinv(Phi @ W @ Phi.T, rcond=1e-11)
    alpha_rho = H @ (Phi @ W @ terms.h + terms.gamma)
    Theta_T = np.eye(mech.nv) - Phi.T @ H @ Phi @ W
    inner = wanted + J @ W @ (terms.h - Phi.T @ alpha_rho)
    a20 = Phi.T @ alpha_rho + Theta_T @ J.T @ np.linalg.solve(J @ W @ Theta_T @ J.T, inner)
    assert relative(terms.M @ found.a + terms.h, a20) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_operational_space_of_one_task(seed):
    """Without constraints: f = Lambda x'' + mu + p, tau = J.T f + N.T tau_null; eq. (8), (78)."""
    mech, q, v = case("tree", seed)
    J, wanted = stack(mech, seed, (min(3, mech.nu),))[0]
    null = np.random.default_rng(seed).normal(size=mech.nv)
    found = solved(mech, q, v, [(J, wanted)], null_torque=null)
    terms = mech.terms(q, v)
    W = np.linalg.inv(terms.M)
    Lambda = np.linalg.inv(J @ W @ J.T)
    f = Lambda @ (wanted + J @ W @ terms.h)
    N_T = np.eye(mech.nv) - J.T @ Lambda @ J @ W
    assert relative(found.tau, J.T @ f + N_T @ null) < 1e-9


@pytest.mark.parametrize("family", CLOSED)
@pytest.mark.parametrize("seed", SEEDS)
def test_properties_1_and_2(family, seed):
    """Q_l M^-1 Q_m.T = 0, l != m, and J_l M^-1 Q_i.T = 0, l < i, constraints being level 0."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, (2, 3, 2, 3))  # more than there is room for
    found = solved(mech, q, v, tasks)
    terms = mech.terms(q, v)
    Q = [terms.J, *found.orthogonalized]
    J = [terms.J, *(J for J, _ in tasks)]
    assert len(Q) == 5
    for i in range(1, 5):
        size = 1.0 + np.abs(Q[i]).max(initial=0.0)
        toward = np.linalg.solve(terms.M, Q[i].T)
        scale = size * (1.0 + np.abs(toward).max(initial=0.0))
        for before in range(i):
            rows = max(1.0, np.abs(J[before]).max(initial=0.0))
            assert np.abs(Q[before] @ toward).max(initial=0.0) < 1e-9 * scale * rows  # property 1
            assert np.abs(J[before] @ toward).max(initial=0.0) < 1e-9 * scale * rows  # property 2


@pytest.mark.parametrize("family", CLOSED)
def test_null_space(family):
    """N.T is a projector of forces that no task and no constraint feels; eq. (54), (94)."""
    mech, q, v = case(family, 1)
    tasks = stack(mech, 1, (2, 1))
    found = solved(mech, q, v, tasks)
    N_T, terms = found.null_space, mech.terms(q, v)
    assert relative(N_T @ N_T, N_T) < 1e-9
    for J in (terms.J, *(J for J, _ in tasks)):
        assert np.abs(J @ np.linalg.solve(terms.M, N_T)).max(initial=0.0) < 1e-8
    null = np.random.default_rng(1).normal(size=mech.nv)
    moved = solved(mech, q, v, tasks, null_torque=null).a - found.a
    assert relative(terms.M @ moved, N_T @ null) < 1e-9


@pytest.mark.parametrize("family", CLOSED)
@pytest.mark.parametrize("seed", SEEDS)
def test_lower_tasks_never_change_higher_ones(family, seed):
    """The same accelerations of the first levels with and without conflicting tasks below them."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, (2, 3, 3, 2))
    alone = [solved(mech, q, v, tasks[:n]).a for n in range(1, 5)]
    full = solved(mech, q, v, tasks).a
    for n in range(1, 5):
        for J, _ in tasks[:n]:
            assert relative(J @ full, J @ alone[n - 1], 5.0) < 1e-9
    terms = mech.terms(q, v)
    if len(terms.J):
        assert relative(terms.J @ full, terms.J @ alone[0]) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_level_is_met_in_the_least_squares_sense(seed):
    """What is lost on a level is orthogonal to everything that the levels above leave open."""
    mech, q, v = case("every loop twice", seed)
    tasks = stack(mech, seed, (2, 4, 4))
    found = solved(mech, q, v, tasks)
    E, Z = found._parts.basis.E, np.eye(found._parts.basis.E.shape[1])
    for level, (J, wanted), split in zip(found.levels, tasks, found._parts.splits, strict=True):
        reachable = J @ E @ Z
        lost = wanted - J @ found.a
        assert level.rank == np.linalg.matrix_rank(reachable, tol=1e-7) if reachable.size else level.rank == 0
        assert np.abs(reachable.T @ lost).max(initial=0.0) < 1e-8 * (1.0 + np.abs(lost).max())
        Z = Z @ split.left


def test_task_duplicated_at_two_levels():
    """The second copy has rank zero, loses nothing and changes nothing."""
    mech = sr.library.dual_arm()
    q, v = mech.default
    x = mech.pose(q, "left7").xyz + 0.05
    first = C.PriorityTask(C.Position("left7"), x, priority=1)
    alone = C.TaskHierarchy(mech, first).solve(0.0, q, v)
    twice = C.TaskHierarchy(
        mech, [first, C.PriorityTask(C.Position("left7"), x, priority=2, name="again")]
    ).solve(0.0, q, v)
    assert twice.ranks == (3, 0)
    assert twice.status == C.Status.OK
    assert relative(twice.u, alone.u) < 1e-10
    assert np.abs(twice.tasks["again"].lost).max() < 1e-10


def test_conflict_is_said_and_bounded():
    """Opposite wishes for one joint: the first wins, the second loses all of it, torques stay small."""
    mech = sr.library.double_pendulum()
    q, v = mech.default
    name = mech.names[0]
    up = C.PriorityTask(name, acceleration=3.0, priority=1, name="up")
    down = C.PriorityTask(name, acceleration=-3.0, priority=2, name="down")
    found = C.TaskHierarchy(mech, [down, up]).solve(0.0, q, v)
    assert found.status == C.Status.PARTIAL
    assert "level 2" in found.message and "0 of 1" in found.message
    assert found.tasks["up"].lost == pytest.approx([0.0], abs=1e-12)
    assert found.tasks["down"].lost == pytest.approx([-6.0])
    assert np.array_equal(found.u, C.TaskHierarchy(mech, up).solve(0.0, q, v).u)


def test_equal_priorities_share_by_weight():
    """Two wishes for one joint at one level: the weighted mean."""
    mech = sr.library.double_pendulum()
    q, v = mech.default
    tasks = [C.PriorityTask(mech.names[0], acceleration=a, weight=w) for a, w in ((3.0, 2.0), (-1.0, 1.0))]
    found = C.TaskHierarchy(mech, tasks).solve(0.0, q, v)
    assert found.a[0] == pytest.approx((4.0 * 3.0 - 1.0) / 5.0)
    assert found.levels[0].rank == 1 and found.levels[0].size == 2


def arm(q):
    """Three links in a plane and a task on the tip."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    parent = "ground"
    for i in range(3):
        at = sr.Pose((0.5 if i else 0.0, 0, 0))
        body = {"mass": 1.0, "com": (0.25, 0, 0), "inertia": (0.1, 0.1, 0.1)}
        spec.body(f"link{i}", parent=parent, joint=sr.Revolute("z"), at=at, **body)
        parent = f"link{i}"
    return spec.compile(), np.array(q)


def test_singular_pose_bounds_torques():
    """Stretched out, the radial direction is lost: met sideways, and the torque is that of a one-row task."""
    mech, q = arm([0.3, 0.0, 0.0])
    tip = C.Position("link2", (0.5, 0, 0), "xy")
    for radial in (0.0, 10.0):
        out = radial * np.array([np.cos(0.3), np.sin(0.3)])
        found = C.TaskHierarchy(mech, C.PriorityTask(tip, acceleration=out)).solve(0.0, q, np.zeros(3))
        assert found.ranks == (1,)
        assert np.abs(found.u).max() < 20.0
        assert found.status == (C.Status.PARTIAL if radial else C.Status.OK)
        assert np.linalg.norm(found.tasks["Position link2"].lost) == pytest.approx(radial, abs=1e-9)


def test_damping_only_where_chosen():
    """Close to the singular pose: without damping the task is met at any price, with it at a small one. A
    state that is measured to 1e-5 rad does not tell that the task can be met."""
    mech, q = arm([0.3, 1e-5, -1e-5])
    tip = C.Position("link2", (0.5, 0, 0), "xy")
    wish = np.array([np.cos(0.3), np.sin(0.3)])

    def at(damping, measurement=(0.0, 0.0)):
        made = C.PriorityTask(tip, acceleration=wish, damping=damping)
        return C.TaskHierarchy(mech, made, measurement=measurement).solve(0.0, q, np.zeros(3))

    exact, damped, measured = at(0.0), at(0.02), at(0.0, (1e-5, 1e-3))
    assert exact.status == C.Status.OK and np.abs(exact.u).max() > 1e3
    assert damped.status == C.Status.SINGULAR and np.abs(damped.u).max() < 50.0
    assert measured.status == C.Status.PARTIAL and np.abs(measured.u).max() < 50.0


def test_empty_hierarchy():
    """No tasks: nothing is asked for, u = 0, all freedoms open; a null torque acts as it is."""
    mech = sr.library.dual_arm()
    q, v = mech.default
    found = C.TaskHierarchy(mech, []).solve(0.0, q, v)
    assert found.status == C.Status.OK and found.levels == () and not np.any(found.u)
    null = np.random.default_rng(0).normal(size=mech.nv)
    pushed = C.TaskHierarchy(mech, [], null_torque=null).solve(0.0, q, v)
    assert relative(pushed.a, mech.acceleration(q, v, null)) < 1e-10
    still = C.TaskHierarchy(mech, [], leftover_damping=3.0).solve(0.0, q, v)
    assert relative(still.a, mech.acceleration(q, v, -3.0 * mech.mass_matrix(q) @ v)) < 1e-10


def test_task_on_what_constraints_forbid():
    """A task along a constraint has rank zero, whatever it asks for."""
    mech = sr.library.sarrus()
    q, v = mech.default
    ground = C.PriorityTask(C.BodyPose("ground"), acceleration=np.ones(6), priority=1)
    found = C.TaskHierarchy(mech, ground, actuated=None).solve(0.0, q, v)
    assert found.ranks == (0,) and found.status == C.Status.PARTIAL
    assert not np.any(found.u)
