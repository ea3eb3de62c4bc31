"""Bodies that look like boxes: of the edges that somebody gives, or that their inertia tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrays import Array, state
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ...models.tree.bodies import Body
from .shown_parts import shown_names

ALMOST = 1.05  # anchors may lie this much outside of a box that stands for its body
EYE = np.eye(3)
ROUND = (0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4)  # a line along all edges, by corners


@dataclass(frozen=True)
class Box:
    """A cuboid on a body.

    Attributes:
        body: Name of the body.
        middle: In its frame [m], (3,).
        half: Half edges [m], (3,).
        turn: Rotation in its frame, (3, 3).
    """

    body: str
    middle: Array
    half: Array
    turn: Array

    def corners(self) -> Array:
        """In the frame of the body [m], (8, 3); number 4 i + 2 j + k lies at +x if i, +y if j, +z if k."""
        signs = 2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0
        return np.asarray(self.middle + (signs * self.half) @ self.turn.T)

    def edges(self) -> tuple[tuple[str, Array], ...]:
        """A line along all twelve edges, as points (3,) on the body."""
        return tuple((self.body, corner) for corner in self.corners()[list(ROUND)])


def body_boxes(mech: Mechanism, shapes: Mapping[str, npt.ArrayLike] | None = None) -> dict[str, Box]:
    """Boxes of those bodies that are shown as such: Free ones without surfaces that contain their joints.

    Args:
        mech: The mechanism.
        shapes: Edges (3,) [m] of cuboids around the centre of mass, in body axes, for bodies by name.
    """
    places: dict[str, list[Array]] = {}
    for _, constraint in mech.model.constraints:
        for frame in constraint.frames():
            places.setdefault(frame.body, []).append(frame.at.xyz)
    for body in mech.model.shown_bodies:
        places.setdefault(body.parent, []).append(body.at.xyz)
    boxes: dict[str, Box] = {}
    for name, edges in (shapes or {}).items():
        body = mech.model.bodies[mech.model.body_index(name, "shapes")]
        half = 0.5 * state(edges, f"edges of {name!r}", 3)
        if np.any(half <= 0.0):
            raise InputError(f"edges of {name!r} must be positive, got {np.asarray(edges).tolist()}.")
        boxes[name] = Box(name, np.array(body.com), half, EYE)
    names, surfaced = shown_names(mech), {one.body for one in mech.model.surfaces}
    for carrier in mech.model.shown_bodies:
        body = mech.model.bodies[mech.model.body_index(names[carrier.name])]
        if carrier.joint.is_free and body.name not in boxes and body.name not in surfaced:
            found = _of_inertia(body, places.get(body.name, []))
            if found is not None:
                boxes[body.name] = found
    return boxes


def _of_inertia(body: Body, places: list[Array]) -> Box | None:
    """The uniform cuboid with the body's inertia, unless there is none or something holds on outside of it.

    Edges a, b, c have the moments m (b^2 + c^2) / 12, ...; so a^2 = 6 (I_b + I_c - I_a) / m.
    """
    inertia = np.asarray(body.inertia, dtype=float)
    moments, axes = (inertia, EYE) if inertia.ndim == 1 else np.linalg.eigh(inertia)
    if body.mass <= 0.0:
        return None
    squares = 6.0 * (moments.sum() - 2.0 * moments) / body.mass
    if np.any(squares <= 1e-12):
        return None
    half, axes = 0.5 * np.sqrt(squares), axes * np.linalg.det(axes)
    if any(np.any(np.abs(axes.T @ (place - body.com)) > ALMOST * half) for place in places):
        return None
    return Box(body.name, np.array(body.com), half, axes)
