"""Parallel machines: passive joints, torque and tension limits, a grip that closes and opens."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

C = sr.control


def test_three_rrr_with_torque_limits() -> None:
    mech = sr.library.three_rrr(gravity=0.0)
    out = ["platform.x", "platform.y", "platform.angle"]
    goal = np.array([0.08, 0.05, 0.7])
    way = C.MinimumJerk([0.0, 0.0, 0.5], goal, 0.6)
    free = C.ProjectedInverseDynamics(mech, out, way, kp=400.0)
    most = 0.97 * np.abs(sr.simulate(mech, (0.0, 1.0), control=free, dt=4e-3, control_dt=4e-3).u).max()
    law = C.ForceLimits(mech, out, way, C.TorqueBounds((-most, most)), kp=400.0, gives="motion")
    run = sr.simulate(mech, (0.0, 1.0), control=law, dt=4e-3, control_dt=4e-3)
    assert run.success and np.abs(run.u).max() <= most + 1e-6
    np.testing.assert_allclose(run.q[-1, 6:], goal, atol=2e-4)
    assert any(status == C.Status.PARTIAL for _, status, _ in law.events)
    passive = [mech.names.index(name) for name in mech.passive]
    assert np.all(run.tau[:, passive] == 0.0)


def test_delta_follows_a_circle_with_twelve_passive_angles() -> None:
    mech = sr.library.delta()
    z = mech.pose(mech.default.q, "platform").xyz[2]

    def circle(t: float) -> tuple[np.ndarray, ...]:
        w, r = 4.0, 0.05
        c, s = np.cos(w * t), np.sin(w * t)
        return (
            np.array([r * (1 - c), r * s, z]),
            np.array([r * w * s, r * w * c, 0.0]),
            np.array([r * w**2 * c, -r * w**2 * s, 0.0]),
        )

    limits = C.TorqueBounds({f"arm{i}": (-20.0, 20.0) for i in (1, 2, 3)})
    law = C.ForceLimits(mech, C.Position("platform"), circle, limits, kp=900.0)
    v0 = mech.consistent_velocity(
        mech.default.q, fixed={"platform.vx": 0.0, "platform.vy": 0.2, "platform.vz": 0.0}
    )
    run = sr.simulate(mech, (0.0, 0.5), mech.default.q, v0, control=law, dt=2e-3)
    places = np.array([mech.pose(q, "platform").xyz for q in run.q])
    assert np.abs(places - np.array([circle(t)[0] for t in run.t])).max() < 1e-7
    assert np.count_nonzero(run.tau[0]) == 3 and law.events == []


def test_cable_robot_keeps_every_cable_taut() -> None:
    mech = sr.library.cable_robot()
    out = ["body.x", "body.y", "body.angle"]
    way = C.MinimumJerk([0.0, 0.0, 0.0], [0.4, 0.25, 0.1], 0.5)
    cables = C.CableTension([f"cable{i}" for i in range(1, 5)], 2.0, 200.0)
    law = C.ForceLimits(mech, out, way, cables, kp=400.0)
    run = sr.simulate(mech, (0.0, 0.7), control=law, dt=4e-3, control_dt=4e-3)
    assert run.success and run.u.max() <= -2.0 + 1e-6 and run.u.min() >= -200.0
    np.testing.assert_allclose(run.q[-1, :3], [0.4, 0.25, 0.1], atol=1e-3)
    slack = C.ProjectedInverseDynamics(mech, out, way, kp=400.0)
    loose = sr.simulate(mech, (0.0, 0.7), control=slack, dt=4e-3, control_dt=4e-3)
    assert loose.u.max() == 0.0  # cables pull only, by the description; least torque lets some of them hang


def test_pantograph_leg_tracks_with_passive_joints_and_a_spring() -> None:
    """Case U7: a loop, passive joints and a spring."""
    mech = sr.library.pantograph_leg()
    foot = C.Position("shank", (0.22, 0.0, 0.0), "xy")
    x0 = mech.pose(mech.default.q, "shank").apply((0.22, 0.0, 0.0))[:2]
    there = x0 + np.array([0.05, 0.03])
    law = C.ProjectedInverseDynamics(mech, foot, C.MinimumJerk(x0, there, 0.3), kp=900.0)
    run = sr.simulate(mech, (0.0, 0.4), control=law, dt=2e-3)
    passive = [mech.names.index(name) for name in ("shank", "rod")]
    assert np.all(run.tau[:, passive] == 0.0)
    end = mech.pose(run.q[-1], "shank").apply((0.22, 0.0, 0.0))[:2]
    np.testing.assert_allclose(end, there, atol=1e-7)


def gripper(closed: tuple[str, ...]) -> sr.Mechanism:
    """Two 2R arms and a beam on a guide; each hand can be pinned to an end of the beam."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="gripper")
    for side, x in (("left", -0.6), ("right", 0.6)):
        link = {"mass": 2.0, "com": (0.25, 0.0, 0.0), "inertia": (0.01, 0.05, 0.05)}
        spec.body(f"{side}1", joint=sr.Revolute("z"), at=sr.Pose((x, 0.0, 0.0)), **link)
        spec.body(f"{side}2", parent=f"{side}1", joint=sr.Revolute("z"), at=sr.Pose((0.5, 0.0, 0.0)), **link)
        spec.actuate(f"{side}1", f"{side}2")
    spec.body("beam", joint=sr.Prismatic("y"), at=sr.Pose((0.0, 0.6, 0.0)), mass=3.0, inertia=(0.1, 0.1, 0.1))
    spec.actuate("beam")
    for side, x in (("left", -0.25), ("right", 0.25)):
        if side in closed:
            ends = {"p_a": (x, 0.0, 0.0), "p_b": (0.5, 0.0, 0.0)}
            spec.constrain(
                side, sr.PointOnLine("beam", ends["p_a"], f"{side}2", ends["p_b"], (0.0, 0.0, 1.0))
            )
    return spec.compile()


def gripping_pose() -> np.ndarray:
    found = gripper(("left", "right")).assemble([1.4, -0.9, 1.7, 0.9, 0.0], fixed={"beam": 0.0})
    assert found.success
    return found.q


@pytest.mark.parametrize("transition", [0.0, 0.1])
def test_a_grip_that_closes_and_opens_with_one_controller(transition: float) -> None:
    """Free, held by one hand, held by two, free again: the same object throughout, no special case."""
    q = gripping_pose()
    phases = [(), ("left",), ("left", "right"), ("left", "right"), ()]
    times = [0.0, 0.1, 0.2, 0.3, 0.5, 0.6]

    def active(t: float, q: np.ndarray, v: np.ndarray) -> tuple[str, ...]:
        return phases[int(np.searchsorted(times[1:-1], t + 1e-9))]

    def releasing(t: float, q: np.ndarray, v: np.ndarray) -> tuple[str, ...]:
        return ("left", "right") if t >= 0.3 else ()

    law = C.ProjectedInverseDynamics(
        gripper(("left", "right")),
        ["left1", "left2", "right1", "right2", "beam"],
        q,
        kp=400.0,
        active=active,
        transition=transition,
        releasing=releasing if transition else None,
    )
    inputs, now, v = [], q, np.zeros(5)
    for closed, begin, end in zip(phases, times[:-1], times[1:], strict=True):
        mech = gripper(closed)
        v = mech.consistent_velocity(now, v)
        run = sr.simulate(mech, (begin, end), now, v, control=law, dt=2e-3, control_dt=2e-3)
        assert run.success
        now, v = run.q[-1], run.v[-1]
        inputs.append(run.u[:-1])
    u = np.concatenate(inputs)
    jumps = np.abs(np.diff(u, axis=0)).max()
    np.testing.assert_allclose(now, q, atol=2e-4)
    # least torque shares the load while hands hold the beam; without a transition it jumps
    assert (jumps < 0.06 * np.abs(u).max()) == (transition > 0.0)
    assert np.linalg.norm(u[149]) < 0.9 * np.linalg.norm(u[0])


def test_limits_of_open_contacts_do_not_count() -> None:
    q = gripping_pose()
    mech = gripper(("left", "right"))
    limits = [C.Unilateral("left.tx", -1, 3.0), C.Unilateral("right.tx", 1, 3.0)]
    outputs = ["left1", "left2", "right1", "right2", "beam"]
    for closed, count in (((), 0), (("left",), 1), (("left", "right"), 2)):
        law = C.ForceLimits(mech, outputs, q, limits, active=closed)
        now = law.solve(0.0, q, np.zeros(5))
        assert now.success and len(now.margins) == count and len(now.lam) == 4
        for row, sign in ((0, -1), (2, 1))[:count]:
            assert sign * now.lam[row] >= 3.0 - 1e-8
    with pytest.raises(
        sr.UnknownNameError, match="active: unknown constraint 'middle'; existing names: 'left', 'right'"
    ):
        C.ForceLimits(mech, outputs, q, limits, active=["middle"])
    with pytest.raises(
        sr.InputError, match="active must be a list of constraint names, or return one; got 'left'"
    ):
        C.ForceLimits(mech, outputs, q, limits, active="left")
