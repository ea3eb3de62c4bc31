"""A gripper whose fingers are parallelograms takes a ball from the floor and lifts it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.shapes.convex_shapes import HalfSpace
from ..models.shapes.shapes import Box, Sphere
from ..models.tree.joints import Free, Prismatic, Revolute
from .states import closeness, origins
from .task import Task

RADIUS, BALL = 0.04, 0.3  # of the ball [m], [kg]
FINGER, APART, OPEN = 0.1, 0.03, 0.06  # length of a finger, of its short sides, half opening of the pads [m]
GRIP, LIFT = 4.0, 40.0  # largest inputs [N m], [N]
GOAL, CLOSING = 0.2, 0.4  # height of the ball [m], time in which fingers may close [s]
SIDES = {"left": -1.0, "right": 1.0}


def gripper() -> Mechanism:
    """A palm on a vertical rail, two fingers of four bars each, a free ball on the floor below."""
    spec = MechanismSpec(gravity=(0.0, 0.0, -9.81), name="gripper")
    above = Pose((0.0, 0.0, RADIUS + FINGER))
    spec.body("palm", joint=Prismatic("z"), at=above, mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.actuate("palm", limits=(-LIFT, LIFT))
    for side, sign in SIDES.items():
        _add_finger(spec, side, sign)
    inertia = 0.4 * BALL * RADIUS**2
    spec.body("ball", joint=Free(), at=Pose((0.0, 0.0, RADIUS)), mass=BALL, inertia=(inertia,) * 3)
    spec.surface("floor", "ground", HalfSpace(), friction=0.8)
    spec.surface("ball", "ball", Sphere(RADIUS), friction=0.8, torsion=0.005, rolling=1e-3)
    for name in ("floor", *SIDES):
        spec.contact(name, "ball")
    return spec.compile()


def _add_finger(spec: MechanismSpec, side: str, sign: float) -> None:
    """Two bars on the palm, and the pad between their ends: it stays upright."""
    y, near = Revolute("y"), OPEN + 0.02
    down: dict[str, Any] = {
        "mass": 0.05,
        "com": (0.0, 0.0, -0.5 * FINGER),
        "inertia": (1e-4, 1e-4, 1e-5),
        "damping": 0.1,
    }
    for bar, x in ((f"{side}_in", near), (f"{side}_out", near + APART)):
        spec.body(bar, parent="palm", joint=y, at=Pose((sign * x, 0.0, 0.0)), armature=5e-3, **down)
    end = Pose((0.0, 0.0, -FINGER))
    pad: dict[str, Any] = {"mass": 0.05, "inertia": (1e-4, 1e-4, 1e-4)}
    spec.body(f"{side}_pad", parent=f"{side}_in", joint=y, at=end, **pad)
    out = Pose((sign * APART, 0.0, 0.0))
    spec.close(f"{side}_pin", f"{side}_out", f"{side}_pad", y, at_a=end, at_b=out)
    spec.surface(
        side, f"{side}_pad", Box((0.02, 0.04, 0.06)), at=Pose((-0.01 * sign, 0.0, 0.0)), friction=0.8
    )
    spec.actuate(f"{side}_in", limits=(-GRIP, GRIP))


def grasp() -> Task:
    """The gripper closes on the ball and lifts it by 20 cm."""
    mech = gripper()
    ball = mech.index("ball").q.start

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(mech.default.q, (count, 1))
        q[:, ball : ball + 2] += rng.uniform(-0.01, 0.01, size=(count, 2))
        return q, np.zeros((count, mech.nv))

    def height(q: Array) -> Array:
        return np.asarray(q[:, ball + 2 : ball + 3])

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        near = origins(mech, q, "ball") - origins(mech, q, "palm") + np.array([0.0, 0.0, FINGER])
        held = 1.0 - np.minimum(np.abs(height(q)[:, 0] - GOAL) / GOAL, 1.0)
        return np.asarray(0.1 * closeness(10.0 * near) + 0.9 * held)

    def observe(t: Array, q: Array, v: Array) -> Array:
        clock = np.clip(t / CLOSING, 0.0, 1.0)[:, None]
        near = origins(mech, q, "ball") - origins(mech, q, "palm")
        joints = [mech.index(name) for name in ("palm", "left_in", "right_in")]
        angles = np.concatenate([q[:, one.q] for one in joints], axis=1)
        rates = np.concatenate([v[:, one.v] for one in joints], axis=1)
        return np.concatenate([clock, 10.0 * near, angles, 0.1 * rates, v[:, -6:-3]], axis=1)

    def terminated(t: Array, q: Array, v: Array) -> Array:
        away = np.abs(origins(mech, q, "ball") - origins(mech, q, "palm")).max(axis=1)
        turned = np.abs(q[:, [mech.index(f"{side}_in").q.start for side in SIDES]]).max(axis=1)
        return np.asarray((away > 0.4) | (turned > 1.0))

    return Task(mech, reward, reset, observe, terminated, dt=0.02, substeps=10, horizon=100)
