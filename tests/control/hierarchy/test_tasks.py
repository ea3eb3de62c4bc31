"""Outputs of task hierarchies against finite differences, masks, switching, and bad input."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.outputs.references import Target
from sarrus.control.state.measured_state import measured_state

C = sr.control
Array = np.ndarray


def moving_quadruped():
    mech = sr.library.quadruped(standing=())
    rng = np.random.default_rng(3)
    q = mech.integrate(mech.default.q, 0.3 * rng.normal(size=mech.nv))
    return mech, q, rng.normal(size=mech.nv), rng.normal(size=mech.nv)


def along(mech, q, v, a, t):
    """The state after a short time t at constant acceleration a of the coordinates."""
    return mech.integrate(q, t * v + 0.5 * t * t * a), v + t * a


OUTPUTS = {
    "centre of mass": (C.CenterOfMass(), np.zeros(3)),
    "centre of mass of a leg": (C.CenterOfMass("z", ["rear_left_thigh", "rear_left_shank"]), np.zeros(1)),
    "orientation": (C.Orientation("rear_left_shank"), sr.Pose(rpy=(0.4, -0.2, 0.9))),
    "relative pose": (
        C.RelativePose("front_left_shank", "rear_right_shank", (0.0, 0.1, -0.2)),
        sr.Pose((0.1, 0.2, 0.3), rpy=(0.4, -0.2, 0.9)),
    ),
    "posture": (C.Posture(), np.zeros(12)),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_against_differences(name):
    """e' and e'' = -kp e - kd e' when J a = wanted, along a motion on the manifold."""
    mech, q, v, _ = moving_quadruped()
    output, goal = OUTPUTS[name]
    bound = output.bind(mech)
    n = 6 if isinstance(goal, sr.Pose) else bound.size
    target = Target(goal, np.zeros(n), np.zeros(n))
    here = bound.track(measured_state(mech, 0.0, q, v), target)
    wish = np.random.default_rng(5).normal(size=bound.size)  # wanted e''
    right = here.c - (wish if here.T is None else here.T @ wish)
    a = np.linalg.lstsq(here.J, right, rcond=None)[0]
    assert np.allclose(here.J @ a, right)

    h = 1e-4
    tracks = [bound.track(measured_state(mech, 0.0, *along(mech, q, v, a, s * h)), target) for s in (-1, 1)]
    e_rate = (tracks[1].e - tracks[0].e) / (2 * h)
    assert np.abs(e_rate - here.rate).max() < 1e-6
    second = (tracks[1].rate - tracks[0].rate) / (2 * h)
    assert np.abs(second - wish).max() < 1e-5 * (1.0 + np.abs(a).max())


@pytest.mark.parametrize(
    "output", [C.BodyPose("left7"), C.Orientation("left7"), C.RelativePose("left7", "ground")]
)
def test_desired_acceleration_of_poses(output):
    """A desired acceleration in place of a reference: that acceleration, without any correction."""
    mech = sr.library.dual_arm()
    q, v = mech.default
    size = 3 if isinstance(output, C.Orientation) else 6
    wish = np.arange(1.0, size + 1)
    found = C.TaskHierarchy(mech, C.PriorityTask(output, acceleration=wish)).solve(0.0, q, v)
    A = np.asarray(mech.body_acceleration(q, v, found.a, "left7"))
    assert found.status == C.Status.OK
    assert np.allclose(A[-size:], wish, atol=1e-8)


def test_mask_and_axes_agree():
    """A mask and the axes of the output say the same."""
    mech = sr.library.dual_arm()
    q, v = mech.default
    x = mech.pose(q, "left7").xyz + 0.1
    masked = C.PriorityTask(C.Position("left7"), x, mask=(True, False, True))
    chosen = C.PriorityTask(C.Position("left7", axes="xz"), x[[0, 2]])
    one, two = (C.TaskHierarchy(mech, made).solve(0.0, q, v) for made in (masked, chosen))
    assert one.task_names == two.task_names == ("left7.x", "left7.z")
    assert np.allclose(one.u, two.u, atol=1e-10)


def test_tasks_that_come_and_go():
    """`when` switches a task; while it is off its numbers are NaN and its level is empty."""
    mech = sr.library.double_pendulum()
    q, v = mech.default
    late = C.PriorityTask(mech.names[1], 0.0, priority=2, when=lambda t, q, v: t > 1.0, name="late")
    law = C.TaskHierarchy(mech, [C.PriorityTask(mech.names[0], 0.0), late])
    before, after = law.solve(0.5, q, v), law.solve(1.5, q, v)
    assert before.ranks == (1, 0) and after.ranks == (1, 1)
    assert not before.tasks["late"].on and np.isnan(before.tasks["late"].error).all()
    assert np.isfinite(after.errors).all() and before.status == C.Status.OK
    trajectory = sr.simulate(mech, (0.0, 2.0), control=law, control_dt=0.01, dt=0.01)
    history = law.history(trajectory, every=20)
    assert np.isnan(history.errors[0, 1]) and np.isfinite(history.errors[-1]).all()


def test_constraints_and_references_reach_their_goal():
    """Three levels on the welded arms: the first two arrive, the third as far as they let it."""
    mech = sr.library.dual_arm()
    q = mech.default.q
    start = mech.pose(q, "left7")
    goal = sr.Pose(start.xyz + np.array([0.05, 0.0, -0.05]), matrix=start.rotation)
    law = C.TaskHierarchy(
        mech,
        [
            C.PriorityTask(C.BodyPose("left7"), C.MinimumJerk(start, goal, 0.8), priority=1),
            C.PriorityTask(C.Posture(), np.array(q), kp=25.0, priority=2),
        ],
    )
    done = sr.simulate(mech, (0.0, 1.0), control=law, control_dt=0.005, dt=0.005)
    assert done.success
    last = law.solve(1.0, done.q[-1], done.v[-1])
    assert np.abs(last.tasks["BodyPose left7"].error).max() < 1e-4
    assert last.ranks == (6, 2)


def test_a_goal_out_of_reach():
    """One arm is nearly stretched; a goal beyond its reach, with damping chosen: bounded, and said."""
    mech = sr.library.dual_arm()
    hand = mech.pose(mech.default.q, "left7")
    goal = hand.xyz + np.array([0.05, 0.0, 0.0])
    law = C.TaskHierarchy(
        mech,
        [
            C.PriorityTask(C.Position("left7"), C.MinimumJerk(hand.xyz, goal, 0.4), damping=0.1, priority=1),
            C.PriorityTask(C.Orientation("left7"), hand, damping=0.1, priority=2),
            C.PriorityTask(C.Posture(), np.array(mech.default.q), kp=25.0, priority=3),
        ],
    )
    done = sr.simulate(mech, (0.0, 0.6), control=law, control_dt=4e-3, dt=4e-3)
    assert done.success and np.abs(done.u).max() < 30.0 and np.abs(done.v).max() < 10.0
    assert any(status == C.Status.SINGULAR for _, status, _ in law.events)


def test_custom_system():
    """A system of functions: tasks are functions of q."""
    system = sr.CustomSystem(
        2, 2, M=lambda q, v, t: np.diag([2.0, 1.0]), h=lambda q, v, t: np.array([0.0, 9.81])
    )
    total = C.PriorityTask(C.Function(lambda q: [q[0] + q[1]]), [1.0], priority=1)
    first = C.PriorityTask(C.Function(lambda q: [q[0]]), [0.0], priority=2)
    found = C.TaskHierarchy(system, [total, first]).solve(0.0, np.zeros(2), np.zeros(2))
    assert found.status == C.Status.OK and found.ranks == (1, 1)
    assert found.u == pytest.approx([0.0, 109.81], abs=1e-6)


def test_exactly_at_a_singular_pose_of_the_constraints():
    """The five-bar stretched out: its lost row is not inverted, torques are bounded, the task is met."""
    mech = sr.library.five_bar()
    q, v = mech.default
    found = C.TaskHierarchy(mech, C.PriorityTask(mech.names[0], q[0] + 0.1)).solve(0.0, q, v)
    assert found.status == C.Status.OK and found.rank == 1 and np.abs(found.u).max() < 20.0


BAD = {
    "unknown body": (lambda m: C.PriorityTask(C.Position("hand"), np.zeros(3)), "unknown body 'hand'.*left1"),
    "unknown coordinate": (lambda m: C.PriorityTask("elbow", 0.0), "'elbow'"),
    "mask": (lambda m: C.PriorityTask(C.Position("left7"), np.zeros(3), mask=(1, 0)), "mask.*must be 3.*got"),
    "reference": (lambda m: C.PriorityTask(C.Position("left7"), np.zeros(2)), r"shape \(3,\).*\(2,\)"),
    "pose": (lambda m: C.PriorityTask(C.BodyPose("left7"), np.zeros(3)), "must be a Pose"),
    "orientation": (lambda m: C.PriorityTask(C.Orientation("left7"), np.zeros(3)), "must be a Pose"),
    "NaN": (lambda m: C.PriorityTask(C.Position("left7"), np.array([0, np.nan, 0])), "finite"),
    "priority text": (lambda m: C.PriorityTask("left1", 0.0, priority="high"), "priority.*number.*'high'"),
    "priority NaN": (lambda m: C.PriorityTask("left1", 0.0, priority=np.nan), "priority.*finite"),
    "neither": (lambda m: C.PriorityTask("left1"), "either a reference or an acceleration"),
    "both": (
        lambda m: C.PriorityTask("left1", 0.0, acceleration=0.0),
        "either a reference or an acceleration",
    ),
    "acceleration": (
        lambda m: C.PriorityTask(C.Position("left7"), acceleration=[1.0]),
        "acceleration.*must be 3 finite numbers",
    ),
    "gain": (lambda m: C.PriorityTask("left1", 0.0, kp=-1.0), "kp must be positive definite"),
    "weight": (lambda m: C.PriorityTask("left1", 0.0, weight=0.0), "weight.*positive"),
    "damping": (lambda m: C.PriorityTask("left1", 0.0, damping=-1.0), "damping.*negative"),
    "when": (lambda m: C.PriorityTask("left1", 0.0, when=3.0), "when.*function"),
    "no task": (lambda m: "left1", "list of sr.control.PriorityTask"),
    "axes": (lambda m: C.PriorityTask(C.CenterOfMass("q"), [0.0]), "unknown axis 'q'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    """One clear error each, when the controller is made."""
    make, message = BAD[name]
    mech = sr.library.dual_arm()
    with pytest.raises(sr.SarrusError) as caught:
        C.TaskHierarchy(mech, make(mech))
    assert re.search(message, str(caught.value), re.S), str(caught.value)


def test_bad_options():
    """Null torque of the wrong length, tolerances that are none, a mechanism that is none."""
    mech = sr.library.dual_arm()
    with pytest.raises(sr.SarrusError, match=r"null_torque.*\(14,\)"):
        C.TaskHierarchy(mech, [], null_torque=np.zeros(3))
    with pytest.raises(sr.SarrusError, match="rank_tol"):
        C.TaskHierarchy(mech, [], rank_tol=0.0)
    with pytest.raises(sr.SarrusError, match="Mechanism"):
        C.TaskHierarchy("robot", [])


def test_trouble_in_the_loop_is_a_status():
    """A NaN from a sensor: status FAILED, the last input held. A user's function that fails raises."""
    mech = sr.library.double_pendulum()
    q, v = mech.default

    def wish(t, q, v):
        if t > 1.0:
            raise RuntimeError("sensor lost")
        return 1.0

    law = C.TaskHierarchy(mech, C.PriorityTask(mech.names[0], acceleration=wish))
    first = law.solve(0.0, q, v)
    with pytest.raises(sr.InputError, match="raised RuntimeError: sensor lost"):
        law.solve(2.0, q, v)
    lost = law.solve(0.0, q * np.nan, v)
    assert lost.status == C.Status.FAILED and np.array_equal(lost.u, first.u)
