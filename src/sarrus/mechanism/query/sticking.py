"""Surfaces that touch and stick as joints: what linear models and derivatives of steps are made of.

A corner that sticks on a face, or on a half space, is a ball joint at its place; without friction it is a
point on a plane. Rows that depend on others (a box on four corners) are no trouble. What slides, rolls or
changes its mode at the state has no such joint, and the reason is said.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...constraints.closures import Closure
from ...constraints.points import PointOnPlane
from ...errors import InputError
from ...models.base.pose import Pose
from ...models.model import Model
from ...models.shapes.convex_shapes import HalfSpace
from ...models.shapes.shapes import Sphere
from ...models.tree.joints import Spherical
from ...models.tree.layout import TABLE, shaped
from ..core.contact_refusals import TOUCHES, has_contacts
from ..core.core import State

if TYPE_CHECKING:
    from ..mechanism import Mechanism

STILL = 1e-9  # of the speeds: slower is at rest
AT_LIMIT = 1e-6  # of the limit: friction so near to it may slide
CARRIES = 1e-9  # of the largest push: less is none
GROUND = "ground"


class Slot(NamedTuple):
    """A contact point: its number, name, and that of its pair."""

    number: int
    name: str
    pair: int


class Touching(NamedTuple):
    """Closed contact points of a state: their normals, points, velocities and the forces there (n, 3)."""

    slots: tuple[Slot, ...]
    normal: Array
    point_a: Array
    point_b: Array
    speed: Array
    force: Array


def without_surfaces(model: Model) -> Model:
    """A copy of a model whose surfaces may not touch."""
    changed: dict[str, Any] = {
        name: shaped(name, []) for name in TABLE if name.startswith(("sf_", "pair_", "slot_"))
    }
    return dataclasses.replace(model, surfaces=(), contacts=(), **changed)


def held_by_contacts(mech: Mechanism, at: State, force: Any, t: float, what: str) -> Mechanism | None:
    """The mechanism in which contacts that stick at a state are joints; None where nothing touches.

    Args:
        mech: the mechanism.
        at: q and v.
        force: applied generalized force (nv,).
        t: time [s].
        what: who asks.

    Raises:
        InputError: what touches has no such joint: it slides, rolls, or is at a change of its mode.
    """
    if not has_contacts(mech.model):
        return None
    found = touching(mech, at, force, t, what)
    if found is None:
        return None
    joints = {}
    for i, slot in enumerate(found.slots):
        joints[f"contact {slot.name}"] = _joint(mech, np.asarray(at.q), found, i, what)
    bare = type(mech)(without_surfaces(mech.model), mech.default)
    return bare.with_constraints(replaced=joints)


def touching(mech: Mechanism, at: State, force: Any, t: float, what: str) -> Touching | None:
    """Contact points that are closed at a state and stay so; None: there are none."""
    q, v = (np.asarray(x, dtype=float) for x in at)
    found = mech.contacts(q, v)
    still = STILL * mech.length * float(np.max(np.abs(v) / mech.units.unit, initial=0.0))
    closing = np.nan_to_num(np.sum(found.speed * found.normal, axis=-1))
    near = found.gap <= TOUCHES * mech.length
    for k in np.flatnonzero(near & (closing < -still)):
        raise _refusal(what, found.names[k], "closes there with a speed: an impact has no derivatives")
    closed = np.flatnonzero(near & (closing <= still))
    if not len(closed):
        return None
    motion = mech.forward_dynamics(q, v, force, t=t)
    if motion.contact_status != "SOLVED":
        raise InputError(f"{what}: {motion.contact_status} at this state.")
    pairs = np.repeat(np.arange(len(mech.model.pair_slots)), mech.model.pair_slots)
    slots = tuple(Slot(int(k), found.names[k], int(pairs[k])) for k in closed)
    normal, a, b, speed = (x[closed] for x in (found.normal, found.point_a, found.point_b, found.speed))
    here = Touching(slots, normal, a, b, speed, motion.contact_force[closed])
    _require_sticking(mech, here, still, what)
    return here


def _require_sticking(mech: Mechanism, here: Touching, still: float, what: str) -> None:
    """Refuse contact points that slide, or are at a change of their mode."""
    push = np.sum(here.force * here.normal, axis=-1)
    across = np.linalg.norm(here.force - push[:, None] * here.normal, axis=-1)
    sliding = here.speed - np.sum(here.speed * here.normal, axis=-1)[:, None] * here.normal
    for i, slot in enumerate(here.slots):
        friction = float(mech.model.pair_law[slot.pair, 0])
        if not push[i] > CARRIES * np.max(push):
            raise _refusal(what, slot.name, "carries nothing there: it is at a change of its mode")
        if friction == 0.0:
            continue
        if np.linalg.norm(sliding[i]) > still:
            raise _refusal(what, slot.name, "slides there")
        if across[i] >= (1.0 - AT_LIMIT) * friction * push[i]:
            raise _refusal(what, slot.name, "is at the limit of its friction there: at a change of its mode")


def _refusal(what: str, name: str, why: str) -> InputError:
    return InputError(f"{what}: contact {name!r} {why}. Contacts that stick or are open have derivatives.")


def _joint(mech: Mechanism, q: Array, here: Touching, i: int, what: str) -> Closure | PointOnPlane:
    """The joint that stands for a contact point."""
    structure, slot = mech.model.structure, here.slots[i]
    pair = structure.contacts[slot.pair]
    surfaces = {one.name: one for one in structure.surfaces}
    a, b = surfaces[pair.a], surfaces[pair.b]
    middle = (here.point_a[i] + here.point_b[i]) / 2.0  # gaps are rounding
    at_a, at_b = (_in_body(mech, q, one.body, middle) for one in (a, b))
    corner = _has_corner(b, at_b), _has_corner(a, at_a)
    law = mech.model.pair_law[slot.pair]
    if law[2] > 0.0 or law[3] > 0.0:
        raise _refusal(what, slot.name, "has torsion or rolling friction, which no joint stands for")
    if float(law[0]) == 0.0:
        return _slider(mech, q, here, i, (a, b), what)
    if not any(corner):
        kinds = type(a.shape).__name__, type(b.shape).__name__
        raise _refusal(what, slot.name, f"may roll ({kinds[0]} on {kinds[1]}): only corners stick as joints")
    return Closure(a.body, b.body, Spherical(), Pose(at_a), Pose(at_b))


def _slider(
    mech: Mechanism, q: Array, here: Touching, i: int, surfaces: tuple[Any, Any], what: str
) -> PointOnPlane:
    """A contact without friction on a plane: a corner or the centre of a sphere keeps its height."""
    a, b = surfaces
    sides = (a, b, here.point_a[i], 1.0), (b, a, here.point_b[i], -1.0)
    for flat, other, point, sign in sides:
        normal = sign * here.normal[i]
        in_flat = _turned_into(mech, q, flat.body, normal)
        if isinstance(other.shape, Sphere):
            centre = point + normal * other.shape.radius
            ends = (_in_body(mech, q, one.body, centre) for one in (flat, other))
            if isinstance(flat.shape, HalfSpace):
                return PointOnPlane(flat.body, *(next(ends), other.body, next(ends)), normal=in_flat)
        elif _has_corner(other, _in_body(mech, q, other.body, point)):
            ends = (_in_body(mech, q, one.body, point) for one in (flat, other))
            return PointOnPlane(flat.body, *(next(ends), other.body, next(ends)), normal=in_flat)
    raise _refusal(what, here.slots[i].name, "rolls or slides over a curved surface there")


def _has_corner(surface: Any, point: Array) -> bool:
    """Whether a point of a body (3,) is a corner of a surface on it."""
    shape = surface.in_kernel()
    if shape.kind != "Polyhedron":
        return False
    count = int(shape.parameters["corners"])
    corners = np.array(shape.data[: 3 * count], dtype=float).reshape(-1, 3)
    corners = shape.at.xyz + corners @ shape.at.rotation.T
    reach = float(np.max(np.abs(corners - corners[0])))
    return bool(np.min(np.linalg.norm(corners - point, axis=1)) <= 1e-6 * reach)


def _in_body(mech: Mechanism, q: Array, body: str, point: Array) -> Array:
    return np.array(point) if body == GROUND else np.asarray(mech.pose(q, body).inverse().apply(point))


def _turned_into(mech: Mechanism, q: Array, body: str, way: Array) -> Array:
    return np.array(way) if body == GROUND else np.asarray(mech.pose(q, body).rotation.T @ way)
