"""Whole runs: [DeSapio2010] figures 5 and 6, legs that are arms, an arm on a closed chain, a humanoid."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

C = sr.control
FEET = ("front_left", "front_right", "rear_left", "rear_right")
TOE = (0.0, 0.0, -0.2)


def test_position_of_the_3_rrr():
    """Critically damped place, lossless swing of what is left free, passive torques exactly zero."""
    mech = sr.library.three_rrr()
    goal = np.array([0.1, 0.05])
    law = C.TaskHierarchy(mech, C.PriorityTask(C.Coordinates("platform.x", "platform.y"), goal, 100.0, 20.0))
    run = sr.simulate(mech, (0.0, 2.2), control=law, dt=4e-3)
    designed = goal * ((1.0 + 10.0 * run.t) * np.exp(-10.0 * run.t))[:, None]
    assert np.abs(goal - run.q[:, 6:8] - designed).max() < 1e-7
    late = run.t > 1.6
    assert np.ptp(run.q[late, 8]) > 0.1
    # at rest at its goal, the tasks' forces do no work: what swings keeps its energy
    assert np.ptp(run.energy[late]) < 1e-4
    found = law.solve(1.0, run.q[250], run.v[250])
    passive = [i for i, name in enumerate(mech.names) if name in mech.passive]
    assert not np.any(found.tau[passive]) and np.abs(found.missed).max() < 1e-9


PAIRS = (("front_left", "rear_right"), ("front_right", "rear_left"))
ONE_BY_ONE = (("rear_left",), ("front_left",), ("rear_right",), ("front_right",))


def trotting(mech, distance, duration, groups=PAIRS, **options):
    trunk = mech.pose(mech.default.q, "trunk")
    way = C.MinimumJerk(trunk.xyz[:2], trunk.xyz[:2] + np.array([distance, 0.0]), duration, t0=0.1)
    feet = {foot: (f"{foot}_shank", TOE) for foot in FEET}
    gait = C.Gait(mech, feet, groups, way, start=0.1, end=0.1 + duration, swing=0.16, support=0.08)
    upright = C.BodyPose("trunk", axes=("z", "rx", "ry", "rz"))
    tasks = [
        *gait.tasks(priority=1),
        C.PriorityTask(upright, trunk, kp=200.0, priority=2, name="upright"),
        C.PriorityTask(C.Position("trunk", axes="xy"), way, kp=60.0, priority=3, name="way"),
    ]
    limits = [C.Friction(foot, 0.6, least=4.0) for foot in FEET]
    return gait, C.TaskHierarchy(mech, tasks, active=gait.active, limits=limits, **options)


def walk(mech, gait, law, end):
    times = {foot: gait.switching(foot, end) for foot in FEET}
    switches = [sr.Switch(foot, on, off, closed=True, latch=True) for foot, (on, off) in times.items()]
    return sr.simulate(mech, (0.0, end), control=law, control_dt=8e-3, dt=4e-3, switches=switches)


@pytest.mark.parametrize("distance", [0.0, 0.12])
def test_trot_in_place_and_ahead(distance):
    """A few steps: it arrives, level, no limit is broken, feet land on the ground."""
    mech = sr.library.quadruped()
    gait, law = trotting(mech, distance, 0.6)
    run = walk(mech, gait, law, 1.4)
    assert run.success, run.message
    assert run.q[-1, 0] - run.q[0, 0] == pytest.approx(distance, abs=2e-3)
    assert 2.0 * np.arcsin(np.linalg.norm(run.q[:, 3:6], axis=1)).max() < 2e-3
    assert all(status >= 0 for _, status, _ in law.events)
    assert len(run.segments) >= 5
    for foot in FEET:
        x = mech.pose(run.q[-1], f"{foot}_shank").apply(np.array(TOE))
        assert x[2] == pytest.approx(0.0, abs=4e-3)
    on_two = next(one for one in law.history(run, every=7).solutions if one.rank == 6)
    assert on_two.levels[0].rank == 6 and on_two.levels[1].rank == 4 and on_two.levels[2].rank == 1
    assert "11 of 12 freedoms" in on_two.message


def test_walking_one_foot_at_a_time():
    """The weight is at the edge of the three feet's triangle: feet must push, so the way gives in."""
    mech = sr.library.quadruped()
    gait, law = trotting(mech, 0.05, 0.9, ONE_BY_ONE, transition=0.03)
    run = walk(mech, gait, law, 1.9)
    assert run.success, run.message
    assert run.q[-1, 0] - run.q[0, 0] == pytest.approx(0.05, abs=2e-3)
    assert 2e-3 < np.abs(run.q[:, 1]).max() < 0.05
    assert 2.0 * np.arcsin(np.linalg.norm(run.q[:, 3:6], axis=1)).max() < 2e-3
    assert all(status >= 0 for _, status, _ in law.events)


def test_gait_clock():
    """Feet that stand and swing at any time, references that join, times of switches."""
    mech = sr.library.quadruped()
    gait, _ = trotting(mech, 0.3, 1.2)
    assert gait.active(0.0) == FEET
    assert gait.active(0.1) == ("front_right", "rear_left") and gait.active(0.26) == FEET
    on, off = gait.switching("front_left", 0.7)
    assert off == pytest.approx([0.1, 0.58]) and on == pytest.approx([0.26])
    follow = gait.reference("front_left")
    for t in np.linspace(0.0, 2.0, 41):
        before, here, after = follow(t - 1e-5), follow(t), follow(t + 1e-5)
        assert np.abs((after.x - before.x) / 2e-5 - here.v).max() < 1e-3 * (1.0 + np.abs(here.a).max())
        assert np.abs((after.v - before.v) / 2e-5 - here.a).max() < 0.1 + 1e-2 * np.abs(here.a).max()
    with pytest.raises(sr.SarrusError, match="unknown constraint 'tail'"):
        C.Gait(mech, {"tail": ("trunk", TOE)}, [["tail"]])
    with pytest.raises(sr.SarrusError, match="at most once"):
        C.Gait(mech, {"front_left": ("front_left_shank", TOE)}, [["front_left"], ["front_left"]])
    with pytest.raises(sr.SarrusError, match=r"shape \(2,\)"):
        C.Gait(mech, {"front_left": ("front_left_shank", TOE)}, [["front_left"]], way=(0.0, 0.0, 0.0))


def arm_on_five_bar():
    """Three more links on the tip of a five-bar: a redundant arm on a closed-chain base, in a plane."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    z = sr.Revolute("z")

    def link(name, parent, at, length, mass):
        slender = mass * length**2 / 12.0
        body = {"mass": mass, "com": (length / 2, 0, 0), "inertia": (1e-3, slender, slender)}
        spec.body(name, parent=parent, joint=z, at=sr.Pose(at), **body)

    link("left", "ground", (0, 0, 0), 0.5, 2.0)
    link("left_rod", "left", (0.5, 0, 0), 0.7, 1.0)
    link("right", "ground", (0.6, 0, 0), 0.5, 2.0)
    link("right_rod", "right", (0.5, 0, 0), 0.7, 1.0)
    link("arm1", "left_rod", (0.7, 0, 0), 0.4, 1.0)
    link("arm2", "arm1", (0.4, 0, 0), 0.4, 0.7)
    link("arm3", "arm2", (0.4, 0, 0), 0.3, 0.4)
    spec.close("tip", "left_rod", "right_rod", z, at_a=sr.Pose((0.7, 0, 0)), at_b=sr.Pose((0.7, 0, 0)))
    spec.actuate("left", "right", "arm1", "arm2", "arm3")
    mech = spec.compile()
    q = mech.assemble([1.9, -1.0, 1.2, 0.9, -0.5, -0.6, -0.5]).q
    return mech.with_default(q)


def test_redundant_arm_on_a_closed_chain():
    """The closure has redundant rows, rods are passive; the hand follows, the base stays as far as it can."""
    mech = arm_on_five_bar()
    q, v = mech.default
    hand, base = C.Position("arm3", (0.3, 0, 0), "xy"), C.Position("left_rod", (0.7, 0, 0), "xy")
    start = mech.pose(q, "arm3").apply(np.array([0.3, 0, 0]))[:2]
    still = mech.pose(q, "left_rod").apply(np.array([0.7, 0, 0]))[:2]
    tasks = [
        C.PriorityTask(hand, C.Sinusoid(start, [0.1, 0.0], 3.0), priority=1, name="hand"),
        C.PriorityTask(base, still, priority=2, name="base"),
        C.PriorityTask(C.Posture(["arm1", "arm2", "arm3"]), q[4:], priority=3, name="posture"),
    ]
    law = C.TaskHierarchy(mech, tasks)
    first = law.solve(0.0, q, v)
    assert first.ranks == (2, 2, 1) and mech.mobility(q).rank < mech.nc and first.controllable
    # start on the way: the sinusoid moves at once
    J = mech.jacobian(q, "arm3", (0.3, 0, 0))[:2]
    both = np.concatenate([J, mech.terms(q, v).J])
    v0 = np.linalg.lstsq(both, np.concatenate([[0.3, 0.0], np.zeros(mech.nc)]), rcond=1e-10)[0]
    run = sr.simulate(mech, (0.0, 0.6), q, v0, control=law, dt=4e-3)
    last = law.solve(0.6, run.q[-1], run.v[-1])
    assert np.abs(last.tasks["hand"].error).max() < 1e-6
    assert np.abs(last.tasks["base"].error).max() < 2e-2 and run.drift.max() < 1e-11


def humanoid() -> sr.Mechanism:
    """The humanoid of example-robot-data with both feet welded to the ground and its knees bent."""
    pin = pytest.importorskip("pinocchio")
    folders = [p / "share" / "example-robot-data" / "robots" for p in Path(pin.__file__).resolve().parents]
    robots = next((folder for folder in folders if folder.is_dir()), None)
    if robots is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        path = robots / "simple_humanoid_description/urdf/simple_humanoid.urdf"
        spec = sr.load_spec(path, root="free")
        loose = spec.compile()
        q = loose.neutral()
        bend = {"HIP_P": -0.4, "KNEE": 0.8, "ANKLE_P": -0.4}
        for side in ("R", "L"):
            for joint, angle in bend.items():
                q[loose.names.index(f"{side}LEG_{joint}") + 1] = angle
            q[loose.names.index(f"{side}ARM_ELBOW") + 1] = -1.2
        for foot in ("r_ankle", "l_ankle"):
            spec.close(foot, "ground", foot, sr.Fixed(), at_a=loose.pose(q, foot))
        return spec.compile().with_default(q)


def test_humanoid_holds_its_torso_while_reaching():
    """Balance and torso first, then the hand, then posture: the hand arrives, the torso does not notice."""
    mech = humanoid()
    q, v = mech.default
    balance = C.PriorityTask(C.CenterOfMass("xy"), com(mech, q), priority=1, name="balance")
    torso = C.PriorityTask(C.Orientation("torso"), mech.pose(q, "torso"), priority=2, name="torso")
    x = mech.pose(q, "r_wrist").xyz
    goal = x + np.array([0.15, 0.05, 0.1])
    hand = C.PriorityTask(C.Position("r_wrist"), C.MinimumJerk(x, goal, 0.4), priority=3, name="hand")
    pose = C.PriorityTask(C.Posture(), q[7:], kp=25.0, priority=4, name="posture")
    law = C.TaskHierarchy(mech, [balance, torso, hand, pose])
    assert law.solve(0.0, q, v).ranks == (2, 3, 3, 15)
    run = sr.simulate(mech, (0.0, 0.5), control=law, control_dt=5e-3, dt=5e-3)
    assert run.success, run.message
    last = law.solve(0.5, run.q[-1], run.v[-1])
    assert np.abs(last.tasks["balance"].error).max() < 2e-4
    assert np.abs(last.tasks["torso"].error).max() < 2e-3
    assert np.abs(last.tasks["hand"].error).max() < 1e-2
    assert not np.any(last.tau[:6])


def com(mech, q):
    """Centre of mass over the ground (2,)."""
    from sarrus.control.outputs.references import Target
    from sarrus.control.state.measured_state import measured_state

    zero, now = np.zeros(2), measured_state(mech, 0.0, q, np.zeros(mech.nv))
    return C.CenterOfMass("xy").bind(mech).track(now, Target(zero, zero, zero)).x
