"""Idle freedoms: motions that displace no place where something holds on to a body.

A rod between two ball joints can spin about its own axis, a wheel about its axle, and nothing else notices.
Poses that differ by such motions only are one assembly mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array
from ...models.tree.bodies import GROUND
from ..describe.measure import points_on_bodies

IDLE = 1e-7  # displacement of a place by a unit motion, over L
RANK = 1e-9  # smaller singular values of the dimensionless J count as zero
ON_LINE = 1e-6  # share of the extent, or of the largest moment, that counts as rounding of a file
NOTICED = 1e-3  # share of the largest motion with which a coordinate may be held


def places_of(mech: Any) -> list[tuple[str, Array]]:
    """Points (body, point in its frame) where joints, constraints, forces and measures hold on to bodies."""
    model = mech.model
    found: list[tuple[str, Any]] = []
    for body in model.bodies[1:]:
        found += [(body.name, np.zeros(3)), (body.parent, body.at.xyz)]
    for _, constraint in model.constraints:
        found += [(end.body, end.at.xyz) for end in getattr(constraint, "ends", tuple)()]
    for _, entry in (*model.forces, *model.measures):
        found += points_on_bodies(entry)
    return [(body, np.array(point, dtype=np.float64)) for body, point in found if body != GROUND]


def places_seen(mech: Any) -> list[tuple[str, Array]]:
    """Points of bodies that are where they are exactly where all bodies look the same.

    Three points off the origin of every body, but of bodies that look the same however they are turned about
    the line on which everything holds on to them, as the legs of a hexapod.
    """
    found = places_of(mech)
    by_body: dict[str, list[Array]] = {}
    for body, point in found:
        by_body.setdefault(body, []).append(point)
    corners = mech.length * np.eye(3)
    for body in mech.model.bodies[1:]:
        if body.name in mech.frames or not _is_rod(body, by_body.get(body.name, [])):
            found += [(body.name, corner) for corner in corners]
    return found


def _is_rod(body: Any, places: list[Array]) -> bool:
    """Whether places and masses of a body do not change where it turns about a line."""
    moments = np.array(body.inertia_rows, dtype=np.float64)
    com = [np.array(body.com, dtype=np.float64)] if body.mass else []
    points = np.array([*places, *com]) - (places[0] if places else 0.0)
    _, sizes, directions = np.linalg.svd(points)
    extent = float(sizes[0]) if len(sizes) else 0.0
    if extent == 0.0 or np.any(sizes[1:] > ON_LINE * extent):
        return False
    along = directions[0]
    across = moments - along @ moments @ along * np.outer(along, along)
    rest = across - 0.5 * np.trace(across) * (np.eye(3) - np.outer(along, along))
    return bool(np.abs(rest).max() <= ON_LINE * np.abs(moments).max(initial=0.0))


def motions_left(mech: Any, q: Array, held: Sequence[int], t: float) -> Array:
    """Motions (nv, k) that constraints and held coordinates leave at the pose q (nq,)."""
    rows, unit = np.flatnonzero(mech.evaluator.holonomic), mech.model.unit
    J = mech.evaluator.constraints(q, np.zeros(mech.nv), t)[1][rows]
    scaled = J / mech.model.row_unit[rows, None] * unit
    return np.asarray(unit[:, None] * null_space(np.vstack([scaled, np.eye(mech.nv)[list(held)]])))


def spins_only(mech: Any, q: Array, held: Sequence[int], t: float) -> bool:
    """Whether what they leave displaces nothing, as the spin of a rod between two ball joints."""
    return is_idle(mech, q, motions_left(mech, q, held, t), places_of(mech))


def null_space(J: Array) -> Array:
    """Orthonormal columns that J maps to zero."""
    values, Vt = np.linalg.svd(J)[1:]
    return np.asarray(Vt[int(np.sum(values > RANK)) :].T)


def is_idle(mech: Any, q: Array, motions: Array, places: list[tuple[str, Array]]) -> bool:
    """Whether motions (nv, k) of the pose q displace none of the places."""
    return all(
        np.max(np.abs(mech.jacobian(q, body, point)[:3] @ motions), initial=0.0) <= IDLE * mech.length
        for body, point in places
    )


def noticed(mech: Any, q: Array, motions: Array, places: list[tuple[str, Array]]) -> list[str]:
    """A coordinate to hold for each motion that displaces places; those that are entries of q first."""
    seen = np.vstack([mech.jacobian(q, body, point)[:3] for body, point in places]) @ motions
    values, Vt = np.linalg.svd(seen)[1:]
    left = motions @ Vt[: int(np.sum(values > IDLE * mech.length))].T / mech.model.unit[:, None]
    single = np.array(mech.model.coordinate_q) >= 0
    found: list[str] = []
    for _ in range(left.shape[1]):
        size = np.linalg.norm(left, axis=1)
        k = int(np.argmax(np.where(single & (size > NOTICED * size.max()), 1.0, 1e-6) * size))
        found.append(mech.names[k])
        along = left[k] / size[k]
        left = left - np.outer(left @ along, along)
    return found


def positions_of(mech: Any, q: Array, places: list[tuple[str, Array]]) -> Array:
    """The places in the world [m], (B, n, 3), at poses (B, nq)."""
    found = [mech.position(q, body, point) for body, point in places]
    return np.stack(found, axis=1) if found else np.zeros((len(q), 0, 3))


def first_of_each(positions: Array, length: float, same: float) -> list[int]:
    """Poses of which no earlier one has all places where it has them."""
    kept: list[int] = []
    for i, here in enumerate(positions):
        apart = [np.max(np.abs(here - positions[k]), initial=0.0) for k in kept]
        if all(d > same * length for d in apart):
            kept.append(i)
    return kept
