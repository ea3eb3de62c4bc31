"""The registered tasks; legs are in legged_tasks.py, a gripper in grasp_task.py. Rewards are at most 1."""

from __future__ import annotations

import math

import numpy as np

from .. import library
from ..arrays import Array
from .grasp_task import grasp
from .legged_tasks import hop, leg_with_four_bar_knee, walk
from .states import closeness, origins
from .task import Task


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
        return closeness(0.7 * off, 0.05 * v)

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
        return closeness(5.0 * off(q), 0.3 * v[:, :6])

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
    start = origins(mech, home[None], "platform")[0]
    radius = 0.15 * mech.length

    def target(t: Array) -> Array:
        angle = math.pi * t
        circle = np.stack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * t], axis=1)
        return np.asarray(start + radius * circle)

    def off(t: Array, q: Array) -> Array:
        return np.asarray((origins(mech, q, "platform") - target(t)) / radius)

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return closeness(off(t, q))

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
    goal = origins(mech, home[None], "box")[0] + np.array([0.0, 0.1, 0.1])

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(home, (count, 1))
        return q, mech.consistent_velocity(q, rng.normal(scale=0.05, size=(count, mech.nv)))

    def off(q: Array) -> Array:
        return np.asarray(origins(mech, q, "box") - goal)

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return closeness(6.0 * off(q), 0.2 * v[:, -6:])

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray(np.abs(v).max(axis=1) > 50.0)

    def observe(t: Array, q: Array, v: Array) -> Array:
        return np.concatenate([q, v, off(q)], axis=1)

    return Task(mech, reward, reset, observe, terminated, horizon=150)


TASKS = {
    "FiveBarThroughSingular": five_bar_through_singular,
    "StewartBalance": stewart_balance,
    "DeltaTracking": delta_tracking,
    "TwoArmsBox": two_arms_and_a_box,
    "FourBarLeg": leg_with_four_bar_knee,
    "Hop": hop,
    "Walk": walk,
    "Grasp": grasp,
}
