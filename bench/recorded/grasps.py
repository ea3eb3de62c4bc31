"""Cases of `recorded_runs`: task hierarchies, gaits, grasps and estimators. Public names only."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import sarrus as sr

from .cases import SEED, L, state_of
from .control import GRIPS, law_of

Keep = Callable[..., Any]
C = sr.control
FEET = ("front_left", "front_right", "rear_left", "rear_right")


def hierarchies(keep: Keep) -> None:
    """TaskHierarchy: priorities, every output, limits, damping, null torque; a gait."""
    arm, dog, T = L.dual_arm(), L.quadruped(), C.PriorityTask
    hand = arm.pose(arm.default.q, "left7")
    tasks = [
        T(C.Position("left7"), hand.xyz - [0, 0, 0.05], kp=100, priority=1),
        T(C.Orientation("left7"), hand, priority=2),
        T(C.Posture(), np.array(arm.default.q), kp=25, priority=3),
    ]
    for n in (1, 2, 3):
        law_of(keep, f"{n} levels", lambda n=n: C.TaskHierarchy(arm, tasks[:n]), arm)
    for metric in ("mass", "length"):
        law_of(keep, f"metric {metric}", partial(C.TaskHierarchy, arm, tasks[:2], metric=metric), arm)
    null = {"null_torque": lambda t, q, v: -2.0 * v, "leftover_damping": 1.0}
    law_of(keep, "null torque", lambda: C.TaskHierarchy(arm, tasks[:1], **null), arm)
    law_of(keep, "limited", lambda: C.TaskHierarchy(arm, tasks, limits=C.TorqueBounds((-25.0, 25.0))), arm)
    near = arm.pose(arm.default.q, "right3").inverse() @ arm.pose(arm.default.q, "left5")
    odd = [
        T(C.Position("left7"), hand.xyz + 0.05, mask=(True, False, True), weight=2.0, name="masked"),
        T(C.Position("right4"), arm.pose(arm.default.q, "right4").xyz - 0.02, weight=0.5, damping=0.1),
        T(C.RelativePose("left5", "right3"), near, kp=20.0, priority=2),
        T(
            C.Function(lambda q: [q[0] + q[1]]),
            [float(arm.default.q[:2].sum())],
            priority=3,
            when=lambda t, q, v: t > 0.03,
        ),
        T(C.Coordinates(arm.names[2]), C.Sinusoid(arm.default.q[2], 0.05, 3.0), priority=4),
    ]
    law_of(keep, "odd ones", lambda: C.TaskHierarchy(arm, odd), arm, 30)
    trunk = dog.pose(dog.default.q, "trunk")
    cones = [C.Friction(foot, 0.5) for foot in FEET]
    for ahead in (0.0, 12.0):
        wish = T(C.BodyPose("trunk"), acceleration=[ahead, 0, 0, 0, 0, 0])
        law_of(
            keep, f"standing, {ahead}", lambda wish=wish: C.TaskHierarchy(dog, wish, limits=cones), dog, 25
        )
    balance = [T(C.CenterOfMass("xy"), [0.0, 0.0], name="balance"), T(C.BodyPose("trunk"), trunk, priority=2)]
    law_of(keep, "balance", lambda: C.TaskHierarchy(dog, balance, active=FEET[1:], transition=0.02), dog)
    way = C.MinimumJerk(trunk.xyz[:2], trunk.xyz[:2] + np.array([0.05, 0.0]), 0.4, t0=0.02)
    feet = {foot: (f"{foot}_shank", (0.0, 0.0, -0.2)) for foot in FEET}
    pairs = ((FEET[0], FEET[3]), (FEET[1], FEET[2]))
    gait = C.Gait(dog, feet, pairs, way, start=0.02, end=0.5, swing=0.1, support=0.05)
    level = T(C.BodyPose("trunk", axes=("z", "rx", "ry", "rz")), trunk, kp=200.0, priority=2)
    stack = [*gait.tasks(priority=1), level, T(C.Position("trunk", axes="xy"), way, kp=60.0, priority=3)]
    law = C.TaskHierarchy(
        dog, stack, active=gait.active, limits=[C.Friction(f, 0.6, least=4.0) for f in FEET]
    )
    times = {foot: gait.switching(foot, 0.4) for foot in FEET}
    keep("gait, times", times)
    for t in (0.0, 0.05, 0.1, 0.2):
        keep(f"gait at {t}", [gait.active(t), *(gait.swinging(foot, t) for foot in FEET)])
        keep(f"gait, reference at {t}", gait.reference(FEET[0]), t)
    steps = [sr.Switch(foot, on, off, closed=True, latch=True) for foot, (on, off) in times.items()]
    keep("gait, walk", sr.simulate, dog, (0.0, 0.4), control=law, control_dt=8e-3, dt=4e-3, switches=steps)
    keep("gait, changes", law.events)


def grasps(keep: Keep) -> None:
    """Grasp, ObjectImpedance, WrenchEstimator, payloads."""
    mech, more = L.dual_arm_box(), L.arms_around_box(3)
    hand: dict[str, Any] = {"mu": 0.5, "torsion": 0.03, "half": (0.05, 0.05), "least": 10}

    def grasp(edges: int | None = 8) -> Any:
        return C.Grasp(mech, "box", [C.Patch(grip, edges=edges, **hand) for grip in GRIPS])

    push = {"box": [0, 0, -30, 1.0, 0, 0.5]}
    rng = np.random.default_rng(SEED)
    q, f = np.array(mech.default.q), rng.normal(size=12)
    for edges in (8, None):
        one = grasp(edges)
        keep(f"map, {edges}", one.map, q)
        keep(f"internal, {edges}", one.internal_jacobian, q)
        keep(f"split, {edges}", one.split, f)
        keep(f"margins, {edges}", one.margins, f)
        keep(f"closure, {edges}", one.force_closure)
        keep(f"distribute, {edges}", one.distribute, [1, 2, -20, 0.1, 0.2, 0.3])
    heavier: dict[str, Any] = {
        "inertia": (2.0, 0.05),
        "external": lambda t, q, v: np.array(push["box"], float),
    }
    variants: dict[str, dict[str, Any]] = {
        "default": {},
        "split": {"error": "split", "frame": "body"},
        "displacement": {"external": "displacement"},
        "nothing known": {"external": None, "reserve": (0.0, 0.0)},
        "massless": {"massless": True},
        "own inertia": heavier,
        "bounds": {"limits": [C.TorqueBounds((-60.0, 60.0))], "gives": "motion"},
    }
    for label, options in variants.items():
        make = partial(lambda o: C.ObjectImpedance(mech, grasp(), stiffness=(500, 50), **o), options)
        law_of(keep, label, make, mech, 100, external=push)
    law_of(keep, "cones", lambda: C.ObjectImpedance(mech, grasp(None)), mech, 20)
    goal = sr.Pose((0.02, 0.0, 0.03), rpy=(0.0, 0.1, 0.0)) @ mech.pose(q, "box")
    law_of(keep, "elsewhere", lambda: C.ObjectImpedance(mech, grasp(), goal), mech)

    def carrying() -> Any:
        estimator = C.WrenchEstimator(mech, "box", payload=True)
        return C.ObjectImpedance(mech, grasp(), external=estimator, compensate=True)

    law_of(keep, "payload", carrying, mech, 100, external=push)
    loops = dict.fromkeys(row.rsplit(".", 1)[0] for row in more.row_names)
    three = C.Grasp(more, "box", [C.Patch(loop, **hand) for loop in loops])
    law_of(keep, "three arms", lambda: C.ObjectImpedance(more, three), more, 30)
    alone = C.WrenchEstimator(mech, "left4", (0.0, 0.0, 0.1), bandwidth=50.0)
    run = sr.simulate(mech, (0.0, 0.02), *state_of(mech, 0.0), tau=0.1 * np.ones(mech.nv))
    for i in (0, 5, 10, 20):
        keep(f"estimate {i}", alone.update, float(run.t[i]), run.q[i], run.v[i], np.zeros(mech.nu))
    keep("payload, numbers", C.Payload(1.5, (0.03, -0.05, 0.2), (0.004, 0.003, 0.002)).parameters)
    soft = partial(C.SoftFinger, torsion=0.02)
    for label, joint, kind in (
        ("points", sr.Spherical(), C.PointContact),
        ("soft", sr.Universal("x", "y"), soft),
    ):
        held = fingers(joint)
        tips = C.Grasp(held, "box", [kind(f"tip{k}", 0.6) for k in range(4)])
        keep(f"{label}, closure", tips.force_closure)
        keep(f"{label}, distribute", tips.distribute, [0, 0, -10, 0, 0, 0])
        law_of(keep, label, partial(C.ObjectImpedance, held, tips, reserve=(1.0, 0.05)), held, 50)


def fingers(joint: Any) -> sr.Mechanism:
    """A box between four free-flying fingers; the z axis of each contact frame points into the box."""
    spec = sr.MechanismSpec(name="fingers")
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    for k in range(4):
        face = sr.Pose(rpy=(0.0, 0.0, k * math.pi / 2)) @ sr.Pose((0.1, 0, 0), rpy=(0.0, -math.pi / 2, 0.0))
        spec.body(f"finger{k}", joint=sr.Free(), at=face, mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
        spec.close(f"tip{k}", "box", f"finger{k}", joint=joint, at_a=face)
        spec.actuate(*(f"finger{k}.{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")))
    return spec.compile()


CASES: dict[str, Callable[[Keep], None]] = {"control, hierarchies": hierarchies, "control, grasps": grasps}
