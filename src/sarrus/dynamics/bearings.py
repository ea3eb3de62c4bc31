"""Wrenches that the joints of the tree transmit, from the balance of everything that a joint carries.

Cut the joint of body i. What it carries, the bodies k of its subtree, is in balance under the wrench W_i of
the joint, gravity g and the loads on bodies (Newton and Euler; moments about the origin of body frame i):

    W_i + sum of loads = sum_k [ m_k (c_k'' - g) ; I_k w_k' + w_k x I_k w_k + r_k x m_k (c_k'' - g) ]     (1)

Loads act on bodies: external and constant wrenches, point springs, loops and rolling contacts. What acts
along a coordinate goes through its joint and is part of W_i: actuators, `tau`, springs, dampers, friction and
stops of joints, couplings, drives and rows of the user, less the inertia of the armature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..constraints.rolling import Rolling
from ..errors import InputError
from ..models.axes import direction
from ..models.forces import ConstantWrench, PointSpring
from ..models.model import Model
from .reactions import FRAMES, closure_origin, reaction

Array = npt.NDArray[np.float64]
External = tuple[int, Array, Array]  # body, wrench (..., 6) in world axes, point in the body frame (3,)
Load = tuple[int, Array, Array, Array]  # body, force, moment, where the force acts; all in the world

SPRING_APART = 1e-12  # [m]: a shorter spring has no direction (kernels/tree/forces.hpp)


@dataclass(frozen=True)
class BodyMotion:
    """Poses R (nb, 3, 3), p (nb, 3), twists V and accelerations A (nb, 6) of all bodies, in the world."""

    R: Array
    p: Array
    V: Array
    A: Array

    def point(self, body: int, p_BP: npt.ArrayLike) -> Array:
        """A point of a body."""
        return np.asarray(self.p[body] + self.R[body] @ np.asarray(p_BP))

    def velocity(self, body: int, at: Array) -> Array:
        """Velocity of a body's material at a point."""
        return np.asarray(self.V[body, :3] + np.cross(self.V[body, 3:], at - self.p[body]))


def bearing(
    model: Model, bodies: BodyMotion, lam: Array, external: tuple[External, ...], name: str, frame: str
) -> Array:
    """Wrench [force; moment] (6,) that the joint of a body transmits to it, at the body's origin.

    Args:
        model: whose joint.
        bodies: how its bodies move.
        lam: multipliers (nc,).
        external: wrenches on bodies.
        name: of the body.
        frame: axes to express it in: "A" (joint frame on the parent), "B" or "b" (the body), "a" (the parent)
            or "world".
    """
    if frame not in FRAMES:
        raise InputError(f"`frame` must be one of {', '.join(map(repr, FRAMES))}, got {frame!r}.")
    i = model.body_index(name)
    carried = _carried(model, i)
    force, moment = np.zeros(3), np.zeros(3)
    for k in carried:
        f, n, at = _inertial(model, bodies, k)
        force, moment = force + f, moment + n + np.cross(at - bodies.p[i], f)
    for k, f, n, at in _loads(model, bodies, lam, external):
        if k in carried:
            force, moment = force - f, moment - n - np.cross(at - bodies.p[i], f)
    parent = model.body_index(model.bodies[i].parent)
    axes = {
        "A": bodies.R[parent] @ model.bodies[i].at.rotation,
        "B": bodies.R[i],
        "a": bodies.R[parent],
        "b": bodies.R[i],
        "world": np.eye(3),
    }[frame]
    return np.concatenate([axes.T @ force, axes.T @ moment])


def _carried(model: Model, i: int) -> set[int]:
    """Indices of a body and of all bodies that hang on it."""
    parent = [model.body_index(body.parent) for body in model.bodies]
    found = set()
    for k in range(1, len(parent)):
        up = k
        while up not in (0, i):
            up = parent[up]
        if up == i:
            found.add(k)
    return found


def _inertial(model: Model, bodies: BodyMotion, k: int) -> tuple[Array, Array, Array]:
    """m (c'' - g), I w' + w x I w and the centre of mass c: the right side of (1)."""
    body = model.bodies[k]
    at = bodies.point(k, body.com)
    r, w, w_dot = at - bodies.p[k], bodies.V[k, 3:], bodies.A[k, 3:]
    acceleration = bodies.A[k, :3] + np.cross(w_dot, r) + np.cross(w, np.cross(w, r))
    I = bodies.R[k] @ body.inertia_matrix @ bodies.R[k].T
    return body.mass * (acceleration - model.gravity), I @ w_dot + np.cross(w, I @ w), at


def _loads(model: Model, bodies: BodyMotion, lam: Array, external: tuple[External, ...]) -> Iterator[Load]:
    """Everything that acts on bodies from outside their joints, gravity apart."""
    for k, wrench, p_BP in external:
        yield k, wrench[:3], wrench[3:], bodies.point(k, p_BP)
    for _, force in model.forces:
        if isinstance(force, ConstantWrench):
            k = model.body_index(force.body)
            turned = np.eye(3) if force.frame == "world" else bodies.R[k]
            wrench = np.asarray(force.wrench)
            yield k, turned @ wrench[:3], turned @ wrench[3:], bodies.point(k, force.point)
        elif isinstance(force, PointSpring):
            yield from _spring(model, bodies, force)
    constraints = dict(model.constraints)
    for group in model.groups:
        declared = constraints[group.name]
        if isinstance(declared, Rolling):
            k = model.body_index(declared.body)
            yield k, *_rolling(bodies, k, declared, lam[group.rows])
        elif group.closure >= 0:
            wrench = reaction(model, bodies.R, bodies.p, lam, group.name, "world")
            at = closure_origin(model, bodies.R, bodies.p, group.closure)
            yield model.body_index(group.b), wrench[:3], wrench[3:], at
            yield model.body_index(group.a), -wrench[:3], -wrench[3:], at


def _spring(model: Model, bodies: BodyMotion, spring: PointSpring) -> Iterator[Load]:
    """The two ends of a spring; one of no length has no direction and pulls nothing."""
    a, b = model.body_index(spring.a), model.body_index(spring.b)
    p_a, p_b = bodies.point(a, spring.p_a), bodies.point(b, spring.p_b)
    length = float(np.linalg.norm(p_b - p_a))
    if length < SPRING_APART:
        return
    along = (p_b - p_a) / length
    rate = along @ (bodies.velocity(b, p_b) - bodies.velocity(a, p_a))
    pull = (spring.stiffness * (length - spring.rest) + spring.damping * rate) * along
    yield a, pull, np.zeros(3), p_a
    yield b, -pull, np.zeros(3), p_b


def _rolling(bodies: BodyMotion, k: int, disc: Rolling, lam: Array) -> tuple[Array, Array, Array]:
    """Force, no moment, and the lowest point of the rim; directions as the rows have them."""
    n, axis = np.asarray(direction(disc.normal)), bodies.R[k] @ direction(disc.axis)
    down = (n @ axis) * axis - n
    at = bodies.point(k, disc.centre) + disc.radius * down / np.linalg.norm(down)
    start = np.array([0.0, 1.0, 0.0]) if n[0] ** 2 > 0.5 else np.array([1.0, 0.0, 0.0])
    first = start - n * (start @ n)
    first /= np.linalg.norm(first)
    return lam[0] * n + lam[1] * first + lam[2] * np.cross(n, first), np.zeros(3), at
