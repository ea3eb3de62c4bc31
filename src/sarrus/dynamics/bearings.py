"""Wrenches that the joints of the tree transmit, from the balance of everything that a joint carries.

Cut the joint of body i. What it carries, the bodies k of its subtree, is in balance under the wrench W_i of
the joint, gravity g and the loads on bodies (Newton and Euler; moments about the origin of body frame i):

    W_i + sum of loads = sum_k [ m_k (c_k'' - g) ; I_k w_k' + w_k x I_k w_k + r_k x m_k (c_k'' - g) ]     (1)

Loads act on bodies: external wrenches, forces between bodies, constraints between bodies. What acts
along a coordinate goes through its joint and is part of W_i: actuators, `tau`, springs, dampers, friction and
stops of joints, couplings, drives and rows of the user, less the inertia of the armature. Gears and belts
couple coordinates, but load the bodies where teeth and strands touch them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..constraints.cam_contact import turned
from ..models.base.pose import Pose, known_pose
from ..models.model import Model, RowGroup
from ..models.shapes.drawing import Frame
from ..models.tree.bodies import GROUND
from .reactions import RowWrenches, in_axes

External = tuple[int, Array, Array]  # body, wrench (..., 6) in world axes, point in the body frame (3,)
Load = tuple[int, Array, Array]  # body, wrench [force; moment], where the force acts; all in the world


@dataclass(frozen=True)
class BodyMotion:
    """Poses R (nb, 3, 3), p (nb, 3), twists V and accelerations A (nb, 6) of all bodies, in the world.

    Batch axes in front, as of the loads.
    """

    R: Array
    p: Array
    V: Array
    A: Array

    def place(self, model: Model, state: tuple[int, ...]) -> Callable[[str], Pose]:
        """Poses of bodies by name, at one state of a batch."""

        def pose(name: str) -> Pose:
            i = model.body_index(name)
            return known_pose(self.p[state][i], self.R[state][i])

        return pose

    def point(self, body: int, p_BP: npt.ArrayLike) -> Array:
        """A point of a body."""
        return np.asarray(self.p[..., body, :] + self.R[..., body, :, :] @ np.asarray(p_BP))


@dataclass(frozen=True)
class Loads:
    """What acts on bodies from outside their joints, gravity apart.

    Attributes:
        external: Wrenches given by the user.
        lam: Multipliers (nc,).
        rows: Wrenches of the rows.
        forces: Wrenches of the forces between bodies on b at B, (nf, 6), world axes.
        at: Their points B, (nf, 3).
        friction: Generalized force of dry friction (nv,).
        formulas: Wrenches of formulas on bodies and their points, (nfm, 6), (nfm, 3), world axes.
        deflections: Wrenches that flexible bodies need beside those of rigid ones, about the origin of the
            world, (nfl, 6), world axes.
    """

    external: tuple[External, ...]
    lam: Array
    rows: RowWrenches
    friction: Array
    forces: Array
    at: Array
    formulas: tuple[Array, Array]
    deflections: Array

    def each(self, model: Model, bodies: BodyMotion) -> Iterator[Load]:
        """The wrench on each body."""
        for k, wrench, p_BP in self.external:
            yield k, wrench, bodies.point(k, p_BP)
        for i, (a, b) in enumerate(_ends_of_forces(model)):
            yield from _both(model, a, b, self.forces[..., i, :], self.at[..., i, :])
        W, at = self.formulas
        for i, force in enumerate(one for _, one in model.forces if one.by_formula):
            for body in force.bodies():
                yield model.body_index(body), W[..., i, :], at[..., i, :]
        for i, force in enumerate(one for _, one in model.forces if one.deflects):
            needed = self.deflections[..., i, :]
            yield model.body_index(force.bodies()[0]), -needed, np.zeros_like(needed[..., :3])
        for group in model.groups:
            if group.element >= 0:
                assert group.a is not None and group.b is not None
                wrench = self.rows.of_rows(group.rows, self.lam)
                yield from _both(model, group.a, group.b, wrench, self.rows.at[..., group.element, :])
        yield from coupling_loads(model, bodies, self.lam)
        yield from tooth_friction_loads(model, bodies, self.lam, self.friction)


def _ends_of_forces(model: Model) -> list[tuple[str, str]]:
    """First and second body of each force between bodies that the kernel knows."""
    between = (force for _, force in model.forces if not (force.holds_functions or force.deflects))
    ends = [force.bodies() for force in between if not force.by_formula]
    return [(pair[0] if len(pair) > 1 else GROUND, pair[-1]) for pair in ends if pair]


def loading_couplings(model: Model) -> list[tuple[RowGroup, Any]]:
    """Relations between coordinates that load bodies where they touch them: gears and belts."""
    pairs = zip(model.groups, model.constraints, strict=True)
    return [(group, given) for group, (_, given) in pairs if given.loads_bodies]


def hinge_angles(model: Model, place: Callable[[str], Pose]) -> Callable[[str], Any]:
    """Angles of hinges by the names of their bodies, from poses of bodies; between -pi and pi."""

    def angle(name: str) -> Any:
        body = model.bodies[model.body_index(name)]
        return turned(body.at, place(body.parent), place(name), body.joint)

    return angle


def coupling_loads(model: Model, bodies: BodyMotion, lam: Array) -> Iterator[Load]:
    """Loads of gears and belts with multipliers lam (*batch, nc), state by state."""
    batch = lam.shape[:-1]
    for group, constraint in loading_couplings(model):
        each = [
            _loads_at(model, constraint, bodies.place(model, i), lam[i][group.rows])
            for i in np.ndindex(batch)
        ]
        for same in zip(*each, strict=True):
            force, at = (np.array([one[k] for one in same]).reshape(*batch, 3) for k in (1, 2))
            yield model.body_index(same[0][0]), np.concatenate([force, np.zeros_like(force)], axis=-1), at


def tooth_friction_loads(model: Model, bodies: BodyMotion, lam: Array, friction: Array) -> Iterator[Load]:
    """Loads of the friction (*batch, nv) of worms with multipliers lam (*batch, nc), state by state."""
    rows = {group.name: group.rows.start for group in model.groups}
    gears = dict(model.constraints)
    friction_of_worms: list[Any] = [force for _, force in model.forces if force.of_worm]
    for given in friction_of_worms:
        gear, k = gears[given.gear], model.tree.coordinate(given.loaded_coordinate(gears), "")
        for body in (gear.a, gear.b):
            out = np.zeros((*lam.shape[:-1], 2, 3))
            for i in np.ndindex(lam.shape[:-1]):
                numbers = float(lam[i][rows[given.gear]]), float(friction[i][k])
                for owner, force, at in given.loads(gear, bodies.place(model, i), model.joint_of, *numbers):
                    out[i] = (force, at) if owner == body else out[i]
            force, at = out[..., 0, :], out[..., 1, :]
            yield model.body_index(body), np.concatenate([force, np.zeros_like(force)], axis=-1), at


def _loads_at(model: Model, coupling: Any, place: Callable[[str], Pose], lam: Array) -> list[Any]:
    """Loads of a gear or belt at one state: body, force and where it acts, of each."""
    return list(coupling.loads(place, model.joint_of, lam, hinge_angles(model, place)))


def _both(model: Model, a: str, b: str, wrench: Array, at: Array) -> Iterator[Load]:
    """A wrench on b and its opposite on a."""
    yield model.body_index(b), wrench, at
    yield model.body_index(a), -wrench, at


def bearing(model: Model, bodies: BodyMotion, loads: Loads, name: str, frame: str) -> Array:
    """Wrench [force; moment] (6,) that the joint of a body transmits to it, at the body's origin.

    Of a joint that was declared backwards: to its parent, at the same place.

    Args:
        model: whose joint.
        bodies: how its bodies move.
        loads: what else acts on them.
        name: of the body.
        frame: axes to express it in: "A" (joint frame on the parent), "B" or "b" (the body), "a" (the parent)
            or "world".
    """
    i = model.body_index(name)
    carried, origin = carried_bodies(model, i), bodies.p[..., i, :]
    force: Array = np.zeros((*bodies.p.shape[:-2], 3))
    moment = force
    for k in carried:
        f, n, at = _inertial(model, bodies, k)
        force, moment = force + f, moment + n + np.cross(at - origin, f)
    for k, wrench, at in loads.each(model, bodies):
        if k in carried:
            f, n = wrench[..., :3], wrench[..., 3:]
            force, moment = force - f, moment - n - np.cross(at - origin, f)
    ends = Frame(model.bodies[i].parent, model.bodies[i].at), Frame(name)
    wrench = np.concatenate([force, moment], axis=-1)
    if model.bodies[i].backwards:
        return in_axes(model, bodies.R, (ends[1], ends[0]), frame, -wrench)
    return in_axes(model, bodies.R, ends, frame, wrench)


def carried_bodies(model: Model, i: int) -> set[int]:
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
    R, V, A = bodies.R[..., k, :, :], bodies.V[..., k, :], bodies.A[..., k, :]
    r, w, w_dot = at - bodies.p[..., k, :], V[..., 3:], A[..., 3:]
    acceleration = A[..., :3] + np.cross(w_dot, r) + np.cross(w, np.cross(w, r))
    I = R @ body.inertia_matrix @ np.swapaxes(R, -1, -2)
    turning, spin = (np.einsum("...ij,...j->...i", I, x) for x in (w_dot, w))
    return body.mass * (acceleration - model.gravity), turning + np.cross(w, spin), at
