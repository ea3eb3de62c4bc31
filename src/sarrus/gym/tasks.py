"""Six tasks with closed loops. Rewards are at most 1 for each action."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import library
from ..arrays import Array
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.shapes.convex_shapes import HalfSpace
from ..models.shapes.shapes import Sphere
from ..models.tree.joints import Prismatic, Revolute
from .task import Task


def _closeness(*errors: Array) -> Array:
    """1 where all errors (B, k) are zero, falling with their squares."""
    return np.asarray(np.exp(-sum(np.sum(e * e, axis=1) for e in errors)))


def _origins(mech: Mechanism, q: Array, body: str) -> Array:
    """Origins of a body (B, 3) in the world."""
    places: Array = mech.evaluator.kernel.poses(np.ascontiguousarray(q))[1]
    return places[:, mech.body_names.index(body)]


def five_bar_through_singular() -> Task:
    """A hanging five-bar is swung up to the pose in which its bars lie in one line, and through it.

    Its two joints at the ground are driven. At the goal the loop loses rank.
    """
    mech = library.five_bar()
    goal = np.array(mech.default.q)
    low = np.array([math.pi / 2, 0.0, math.pi, 0.0])

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        found = mech.assemble(low + 0.0)
        start = np.tile(np.array(found.q), (count, 1))
        return start + rng.normal(scale=1e-3, size=start.shape), np.zeros((count, mech.nv))

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        off = mech.difference(np.tile(goal, (len(q), 1)), q)
        off = (off + math.pi) % (2 * math.pi) - math.pi
        return _closeness(0.7 * off, 0.05 * v)

    def observe(t: Array, q: Array, v: Array) -> Array:
        return np.concatenate([np.sin(q), np.cos(q), v], axis=1)

    return Task(mech, reward, reset, observe, actuators=("link1", "link4"), limits=20.0, horizon=200)


def stewart_balance() -> Task:
    """A Stewart platform is brought to rest at its middle pose after a push."""
    mech = library.stewart()
    home = np.array(mech.default.q)

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        v = rng.normal(scale=0.2, size=(count, mech.nv))
        return np.tile(home, (count, 1)), mech.consistent_velocity(np.tile(home, (count, 1)), v)

    def off(q: Array) -> Array:
        return mech.difference(np.tile(home, (len(q), 1)), q)[:, :6]

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return _closeness(5.0 * off(q), 0.3 * v[:, :6])

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray(np.abs(off(q)).max(axis=1) > 0.5)

    def observe(t: Array, q: Array, v: Array) -> Array:
        return np.concatenate([off(q), v[:, :6]], axis=1)

    weight = 9.81 * float(sum(mech.model.mass))
    return Task(mech, reward, reset, observe, terminated, dt=0.01, substeps=5, limits=weight)


def delta_tracking() -> Task:
    """The platform of a delta robot follows a point on a circle, once around in two seconds."""
    mech = library.delta()
    home = np.array(mech.default.q)
    start = _origins(mech, home[None], "platform")[0]
    radius = 0.15 * mech.length

    def target(t: Array) -> Array:
        angle = math.pi * t
        circle = np.stack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * t], axis=1)
        return np.asarray(start + radius * circle)

    def off(t: Array, q: Array) -> Array:
        return np.asarray((_origins(mech, q, "platform") - target(t)) / radius)

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return _closeness(off(t, q))

    def observe(t: Array, q: Array, v: Array) -> Array:
        arms = [mech.names.index(f"arm{i}") for i in (1, 2, 3)]
        phase = np.stack([np.cos(math.pi * t), np.sin(math.pi * t)], axis=1)
        return np.concatenate([off(t, q), v[:, :3], v[:, arms], phase], axis=1)

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray(np.abs(off(t, q)).max(axis=1) > 6.0)

    weight = 9.81 * float(sum(mech.model.mass)) * mech.length
    return Task(mech, reward, None, observe, terminated, dt=0.01, substeps=5, horizon=200, limits=weight)


def two_arms_and_a_box() -> Task:
    """Two arms carry a box to a place 10 cm above and beside where they hold it."""
    mech = library.dual_arm_box()
    home = np.array(mech.default.q)
    goal = _origins(mech, home[None], "box")[0] + np.array([0.0, 0.1, 0.1])

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(home, (count, 1))
        return q, mech.consistent_velocity(q, rng.normal(scale=0.05, size=(count, mech.nv)))

    def off(q: Array) -> Array:
        return np.asarray(_origins(mech, q, "box") - goal)

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return _closeness(6.0 * off(q), 0.2 * v[:, -6:])

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray(np.abs(v).max(axis=1) > 50.0)

    def observe(t: Array, q: Array, v: Array) -> Array:
        return np.concatenate([q, v, off(q)], axis=1)

    return Task(mech, reward, reset, observe, terminated, horizon=150)


SQUAT, UPRIGHT = 0.62, 0.80  # heights of the hip [m]
FOOT = 0.03  # radius of the round foot [m]


def leg_with_four_bar_knee() -> Task:
    """A leg whose knee is a four-bar stands up from a squat: hip on a rail, foot hinged to the ground."""
    mech = four_bar_leg()
    squat = np.array(mech.default.q)
    rail = mech.index("hip").q

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(squat, (count, 1))
        return q, mech.consistent_velocity(q, rng.normal(scale=0.05, size=(count, mech.nv)))

    def height(q: Array) -> Array:
        return np.asarray(q[:, rail])

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return _closeness(8.0 * (height(q) - UPRIGHT), 0.2 * v[:, :1])

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray(height(q)[:, 0] < 0.4)

    return Task(mech, reward, reset, None, terminated, limits=(60.0, 60.0), horizon=150)


def hop() -> Task:
    """The same leg with a round foot on a floor hops: the higher its hip, the better."""
    mech, hinged = four_bar_leg(hinged=False), four_bar_leg()
    squat = np.array(hinged.default.q)
    rail = mech.index("hip").q

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(squat, (count, 1))
        return q, hinged.consistent_velocity(q, rng.normal(scale=0.05, size=(count, mech.nv)))

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return np.asarray(np.clip((q[:, rail][:, 0] - SQUAT) / 0.5, 0.0, 1.0))

    def terminated(t: Array, q: Array, v: Array) -> Array:
        low, turned = q[:, rail][:, 0] < 0.4, np.abs(q[:, 1:]).max(axis=1) > math.pi
        return np.asarray(low | turned)

    return Task(mech, reward, reset, None, terminated, limits=(150.0, 150.0), horizon=150)


def four_bar_leg(hinged: bool = True) -> Mechanism:
    """Hip on a vertical rail, thigh, and a shank on two links: a four-bar. Its foot is hinged or round."""
    thigh, shank, gap = 0.4, 0.42, 0.05
    spec = MechanismSpec(gravity=(0.0, 0.0, -9.81), name="four_bar_leg")
    y = Revolute("y")
    spec.body("hip", joint=Prismatic("z"), mass=10.0, inertia=(0.1, 0.1, 0.1))
    spec.body("thigh", parent="hip", joint=y, mass=3.0, com=(0, 0, -thigh / 2), inertia=(0.04, 0.04, 0.004))
    for name, x, length in (("front", gap, 0.08), ("back", -gap, 0.09)):
        at = Pose((x, 0, -thigh))
        link: dict[str, Any] = {"mass": 0.2, "com": (0, 0, -length / 2), "inertia": (1e-3, 1e-3, 1e-4)}
        spec.body(name, parent="thigh", joint=y, at=at, **link)
    at, inertia = Pose((0, 0, -0.08)), (0.03, 0.03, 0.003)
    spec.body("shank", parent="front", joint=y, at=at, mass=2.0, com=(-0.02, 0, -shank / 2), inertia=inertia)
    spec.close("knee", "back", "shank", y, at_a=Pose((0, 0, -0.09)), at_b=Pose((-0.06, 0, 0.0)))
    foot = Pose((-0.03, 0, -shank))
    if hinged:
        spec.close("foot", "ground", "shank", y, at_b=foot)
    else:
        spec.surface("floor", "ground", HalfSpace(), at=Pose((0, 0, -FOOT)), friction=1.0)
        spec.surface("foot", "shank", Sphere(FOOT), at=foot)
        spec.contact("floor", "foot")
    spec.actuate("thigh")
    spec.actuate("front")
    mech = spec.compile()
    guess = {"hip": 0.75, "thigh": 0.45, "front": 1.1, "back": 0.0, "shank": -2.1}
    q = np.array([guess[name] for name in mech.names])
    return mech.with_default(mech.assemble(q, fixed={"hip": SQUAT}).q) if hinged else mech


TASKS = {
    "FiveBarThroughSingular": five_bar_through_singular,
    "StewartBalance": stewart_balance,
    "DeltaTracking": delta_tracking,
    "TwoArmsBox": two_arms_and_a_box,
    "FourBarLeg": leg_with_four_bar_knee,
    "Hop": hop,
}
