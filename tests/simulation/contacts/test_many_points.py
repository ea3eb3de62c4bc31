"""Robots in contact: many points, of which few touch; light feet that motors press down; loops that land."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def disc(corners: int) -> sr.Mechanism:
    """A prism above a floor, with that many corners at its bottom."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = [(*xy, z) for z in (0.0, 1.0) for xy in ring]
    spec = sr.MechanismSpec(name="prism")
    spec.body("prism", joint=sr.Free(), mass=1.0, com=(0, 0, 0.5), inertia=(0.3, 0.3, 0.3))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("prism", "prism", sr.ConvexMesh(points)).contact("floor", "prism")
    return spec.compile()


def test_more_points_than_may_touch_at_one_time() -> None:
    """600 rows: said by name where 250 corners touch; on its edge it has many slots and two contacts."""
    mech = disc(250)
    flat = mech.neutral()
    with pytest.raises(sr.SarrusError, match="CONTACT_TOO_MANY: more than 200 points"):
        mech.step(flat, np.zeros(6), dt=1e-3)
    run = sr.simulate(mech, (0.0, 0.1), flat, contacts="steps", dt=1e-3)
    assert not run.success and "CONTACT_TOO_MANY" in run.message
    tilted = np.array(flat)
    tilted[2], tilted[3:] = 1.0, (0.0, np.sin(0.4), 0.0, np.cos(0.4))
    tilted[2] -= float(np.nanmin(mech.contacts(tilted).gap))
    assert sr.simulate(mech, (0.0, 0.1), tilted, contacts="steps", dt=1e-3).success


def test_legs_with_loops_land() -> None:
    """Loops stay closed where contacts are moved apart; all copies ended at their landing before."""
    pytest.importorskip("gymnasium")
    from sarrus.gym.tasks import TASKS

    task = TASKS["Walk"]()
    q, v = task.start(np.random.default_rng(0), 4)
    many = sr.rollout(task.mech, q, v, dt=2e-3, steps=150)
    assert many.success, many.message
    for one in many.q[:, -1]:
        assert np.abs(task.mech.terms(one, np.zeros(task.mech.nv)).phi).max() < 1e-12
        assert np.nanmin(task.mech.contacts(one).gap) > -1e-9


def test_feet_that_motors_press_down_do_not_chatter() -> None:
    """A trot of 0.4 s touches down with two feet and takes off with two: 69 lifts and 251 impacts before."""
    C = sr.control
    mech, plant = sr.library.quadruped(), sr.library.quadruped(floor=0.7)
    trunk = mech.pose(mech.default.q, "trunk")
    names = ("front_left", "front_right", "rear_left", "rear_right")
    way = C.MinimumJerk(trunk.xyz[:2], trunk.xyz[:2] + np.array([0.1, 0.0]), 0.5, t0=0.1)
    feet = {name: (f"{name}_shank", (0.0, 0.0, -0.2)) for name in names}
    gait = C.Gait(mech, feet, (names[::3], names[1:3]), way, start=0.1, end=0.6)
    level = C.PriorityTask(C.BodyPose("trunk", axes=("z", "rx", "ry", "rz")), trunk, kp=200.0, priority=2)
    ahead = C.PriorityTask(C.Position("trunk", axes="xy"), way, kp=60.0, priority=3)
    cones = [C.Friction(name, 0.6, least=5.0) for name in names]
    law = C.TaskHierarchy(mech, [*gait.tasks(), level, ahead], active=gait.active, limits=cones)
    run = sr.simulate(plant, (0.0, 0.4), control=law, control_dt=4e-3, dt=1e-3, contacts="steps")
    assert run.success
    kinds = [event.kind for event in run.events]
    assert kinds.count("lift") <= 6 and kinds.count("impact") <= 40
    assert np.nanmax(run.contacts.force[:, :, 2]) < 300.0
    assert np.sum(run.contacts.work) < 0.0
