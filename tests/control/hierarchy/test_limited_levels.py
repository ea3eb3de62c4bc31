"""Limits and passive joints in a hierarchy. Oracle: the levels as programs of a generic convex solver."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from scipy.sparse import csc_matrix

import sarrus as sr
from tests.oracles.states import relative

from .stacks import case, printed, stack, task

C = sr.control
Array = np.ndarray
FEET = ("front_left", "front_right", "rear_left", "rear_right")


def generic(P: Array, f: Array, equal: tuple[Array, Array], less: tuple[Array, Array]) -> Array:
    """min x'Px/2 + f'x with equal[0] x = equal[1], less[0] x <= less[1], by an interior-point method."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    rows = np.concatenate([equal[0], less[0]])
    right = np.concatenate([equal[1], less[1]])
    kinds = [clarabel.ZeroConeT(len(equal[1])), clarabel.NonnegativeConeT(len(less[1]))]
    found = clarabel.DefaultSolver(
        csc_matrix(np.triu(P)), f, csc_matrix(rows), right, kinds, settings
    ).solve()
    return np.asarray(found.x)


def hierarchical_program(mech, q, v, tasks, bound):
    """Accelerations (nv,) of the levels one after the other, |u| <= bound, then nearest to free motion."""
    terms, n = mech.terms(q, v), mech.nu
    free = mech.acceleration(q, v, np.zeros(mech.nv))
    B = np.stack([mech.acceleration(q, v, column) - free for column in np.eye(mech.nv)], axis=1)
    root = np.linalg.cholesky(terms.M).T
    levels = [(J @ B, wanted - J @ free) for J, wanted in tasks] + [(root @ B, np.zeros(mech.nv))]
    less = np.concatenate([np.eye(n), -np.eye(n)]), np.full(2 * n, bound)
    # variables u = o + Z y; what is decided is taken out through its null space
    o, Z = np.zeros(n), np.eye(n)
    for A, b in levels:
        G = A @ Z
        P, f = G.T @ G, -G.T @ (b - A @ o)
        nothing = np.zeros((0, Z.shape[1])), np.zeros(0)
        y = generic(P, f, nothing, (less[0] @ Z, less[1] - less[0] @ o))
        o = o + Z @ y
        _, s, Vt = np.linalg.svd(G)
        Z = Z @ Vt[int(np.sum(s > 1e-9 * max(s[0], 1e-300))) :].T
        if Z.shape[1] == 0:
            break
    return free + B @ o


@pytest.mark.parametrize("family", ["tree", "loops", "five-bar in space"])
@pytest.mark.parametrize("seed", range(4))
def test_against_a_generic_hierarchical_program(family, seed):
    """Torque limits that bite: the same accelerations as level after level by a generic solver."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, (2, 2, 2))
    levels = [task(J, b, i) for i, (J, b) in enumerate(tasks)]
    free = C.TaskHierarchy(mech, levels).solve(0.0, q, v)
    bound = 0.6 * float(np.abs(free.u).max())
    law = C.TaskHierarchy(mech, levels, limits=C.TorqueBounds((-bound, bound)))
    found = law.solve(0.0, q, v)
    assert found.success and np.abs(found.u).max() <= bound * (1.0 + 1e-7)
    a = hierarchical_program(mech, q, v, tasks, bound)
    for J, wanted in tasks:
        assert relative(J @ found.a, J @ a, 1.0 + np.abs(wanted).max()) < 1e-7
    assert relative(found.a, a, 1.0 + np.abs(a).max()) < 2e-6  # the last level is flat in the oracle


@pytest.mark.parametrize("family", ["tree", "every loop twice"])
@pytest.mark.parametrize("seed", range(3))
def test_lower_tasks_never_change_higher_ones_under_limits(family, seed):
    """The first levels under limits are the same with and without levels below them."""
    mech, q, v = case(family, seed)
    tasks = stack(mech, seed, (2, 2, 3))
    free = C.TaskHierarchy(mech, [task(J, b, i) for i, (J, b) in enumerate(tasks)]).solve(0.0, q, v)
    bound = 0.5 * float(np.abs(free.u).max())
    found = []
    for n in range(1, 4):
        levels = [task(J, b, i) for i, (J, b) in enumerate(tasks[:n])]
        law = C.TaskHierarchy(mech, levels, limits=C.TorqueBounds((-bound, bound)))
        found.append(law.solve(0.0, q, v).a)
    for n in range(1, 4):
        for J, wanted in tasks[:n]:
            assert relative(J @ found[2], J @ found[n - 1], 1.0 + np.abs(wanted).max()) < 1e-7


def planar_arm():
    mech = sr.library.dual_arm()
    return mech, *mech.default


def test_the_lowest_level_pays_first():
    """A bound that the posture can pay leaves the hand alone; a tighter one reaches the hand."""
    mech, q, v = planar_arm()
    hand = C.PriorityTask(
        C.Position("left7"), mech.pose(q, "left7").xyz + np.array([0.03, 0, 0]), priority=1, name="hand"
    )
    pose = C.PriorityTask(C.Posture(), np.array(q) + 0.5, kp=400.0, priority=2, name="pose")
    plain = C.TaskHierarchy(mech, [hand, pose]).solve(0.0, q, v)
    alone = C.TaskHierarchy(mech, [hand]).solve(0.0, q, v)
    assert np.abs(plain.u).max() > 2.0 * np.abs(alone.u).max()
    bound = 1.2 * np.abs(alone.u).max()
    loose = C.TaskHierarchy(mech, [hand, pose], limits=C.TorqueBounds((-bound, bound))).solve(0.0, q, v)
    assert loose.limited_level == 2 and loose.levels[0].limit_cost == 0.0
    assert np.abs(loose.tasks["hand"].lost).max() < 1e-7
    assert np.abs(loose.tasks["pose"].lost_to_limits).max() > 1.0
    assert any("torque" in name for name in loose.active_limits) and loose.qp.variables == 14
    tight = 0.2 * np.abs(alone.u).max()
    hard = C.TaskHierarchy(mech, [hand, pose], limits=C.TorqueBounds((-tight, tight))).solve(0.0, q, v)
    assert hard.limited_level == 1 and "level 1" in hard.message and hard.status == C.Status.PARTIAL
    assert np.abs(hard.u).max() <= tight * (1.0 + 1e-7)


def test_limits_that_do_not_bite_cost_nothing():
    """The same bits as without limits, and no program is solved."""
    mech, q, v = planar_arm()
    made = C.PriorityTask(C.Posture(), np.array(q))
    wide = C.TaskHierarchy(mech, made, limits=C.TorqueBounds((-1e4, 1e4))).solve(0.0, q, v)
    assert np.array_equal(wide.u, C.TaskHierarchy(mech, made).solve(0.0, q, v).u)
    assert wide.qp.solver == "" and wide.status == C.TaskHierarchy(mech, made).solve(0.0, q, v).status


def test_limits_that_cannot_hold():
    """A table that must push, and a leg that cannot: least violation, bounded, and named."""
    mech = sr.library.quadruped()
    q, v = mech.default
    limits = [C.Friction(foot, 0.6) for foot in FEET]
    limits.append(C.Unilateral("front_left.tz", least=500.0))
    limits.append(C.TorqueBounds((-1.0, 1.0)))
    trunk = C.PriorityTask(C.BodyPose("trunk"), mech.pose(q, "trunk"))
    found = C.TaskHierarchy(mech, trunk, limits=limits).solve(0.0, q, v)
    assert found.status == C.Status.INFEASIBLE and found.violations
    assert np.isfinite(found.u).all() and "cannot all hold" in found.message


def test_standing_within_friction_cones():
    """A push that would need a pull at a foot: the trunk gives way, feet keep pushing inside their cones."""
    mech = sr.library.quadruped()
    q, v = mech.default
    cones = [C.Friction(foot, 0.5) for foot in FEET]
    trunk = C.PriorityTask(C.BodyPose("trunk"), acceleration=[12.0, 0, 0, 0, 0, 0])
    free = C.TaskHierarchy(mech, trunk).solve(0.0, q, v)
    held = C.TaskHierarchy(mech, trunk, limits=cones).solve(0.0, q, v)
    assert free.tasks["BodyPose trunk"].lost == pytest.approx(np.zeros(6), abs=1e-8)
    assert held.limited_level == 1 and held.status == C.Status.PARTIAL
    lam = held.lam.reshape(4, 3)
    assert np.all(lam[:, 2] > -1e-7)
    assert np.all(np.hypot(lam[:, 0], lam[:, 1]) <= 0.5 * lam[:, 2] + 1e-6)
    assert min(held.margins.values()) > -1e-6


@pytest.mark.parametrize("edges", [8, None])
def test_pyramids_and_cones(edges):
    """The exact cone carries a little more than the pyramid inside it."""
    mech = sr.library.quadruped()
    q, v = mech.default
    cones = [
        C.Friction(foot, 0.5, edges=edges)
        for foot in ("front_left", "front_right", "rear_left", "rear_right")
    ]
    trunk = C.PriorityTask(C.BodyPose("trunk"), acceleration=[12.0, 3.0, 0, 0, 0, 0])
    held = C.TaskHierarchy(mech, trunk, limits=cones).solve(0.0, q, v)
    assert held.success
    lam = held.lam.reshape(4, 3)
    assert np.all(np.hypot(lam[:, 0], lam[:, 1]) <= 0.5 * lam[:, 2] + 1e-5)


def test_passive_joints_get_exactly_zero():
    """[DeSapio2010] eq. (98): driven elbows only; the task is met and tau is zero, not nearly, elsewhere."""
    mech = sr.library.three_rrr()
    q, v = mech.default
    made = C.PriorityTask(C.Coordinates("platform.x", "platform.y"), np.array([0.1, 0.05]), kp=100.0, kd=20.0)
    found = C.TaskHierarchy(mech, made).solve(0.0, q, v)
    passive = [i for i, name in enumerate(mech.names) if name in mech.passive]
    assert len(passive) == 6 and not np.any(found.tau[passive])
    assert found.status == C.Status.OK and found.controllable
    terms = mech.terms(q, v)
    J = np.zeros((2, 9))
    J[0, 6] = J[1, 7] = 1.0
    eta = printed(mech, q, v, [(J, 100.0 * np.array([0.1, 0.05]))]).total()
    assert relative(terms.M @ found.a + terms.h, eta) < 1e-9
    assert relative(found.tau + found.constraint_force, eta) < 1e-9


def test_what_no_actuator_feels_is_said():
    """A quadruped in the air: the centre of mass falls whatever the motors do; the legs still obey."""
    mech = sr.library.quadruped(standing=())
    q, v = mech.default
    com = C.PriorityTask(C.CenterOfMass(), acceleration=np.zeros(3), priority=1, name="com")
    legs = C.PriorityTask(C.Posture(), np.array(q[7:]) + 0.1, priority=2, name="legs")
    found = C.TaskHierarchy(mech, [com, legs]).solve(0.0, q, v)
    assert found.ranks == (0, 12)
    assert found.tasks["com"].lost == pytest.approx([0.0, 0.0, 9.81], abs=1e-9)
    assert np.abs(found.tasks["legs"].lost).max() < 1e-8
    assert "12 of 18 freedoms are controllable" in found.message
    assert len(found.uncontrollable) == 6 and not found.controllable
    assert not np.any(found.tau[:6])


def test_no_jump_when_a_foot_touches_down():
    """With a transition the torques go on from where they were; the motion is the same with and without."""
    mech = sr.library.quadruped()
    q, v = mech.default
    toe = mech.pose(q, "front_left_shank").apply(np.array([0.0, 0.0, -0.2]))

    def law(transition):
        trunk = C.PriorityTask(C.BodyPose("trunk"), mech.pose(q, "trunk"), priority=1)
        foot = C.Position("front_left_shank", (0.0, 0.0, -0.2))
        held = C.PriorityTask(foot, toe, priority=2, when=lambda t, q, v: t < 1.0)
        return C.TaskHierarchy(
            mech, [trunk, held], active=lambda t, q, v: FEET[1:] if t < 1.0 else FEET, transition=transition
        )

    plain, smooth = law(0.0), law(0.2)
    before, after = [[one.solve(t, q, v) for t in (0.99, 1.0, 1.1, 1.3)] for one in (plain, smooth)]
    assert np.abs(before[1].u - before[0].u).max() > 0.5
    assert np.abs(after[1].u - after[0].u).max() < 1e-9
    assert np.allclose(after[3].u, before[3].u, atol=1e-9)
    for one, two in zip(before, after, strict=True):
        assert np.allclose(one.a, two.a, atol=1e-9)
