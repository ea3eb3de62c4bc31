"""Where the points of a skeleton are, and the plane in which a planar mechanism is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from ...models.shapes.drawing import Anchor
from ...models.tree.joint import NodeKind

PARALLEL = 1e-6  # on sines and cosines
AXES = "xyz"


@dataclass(frozen=True)
class Plane:
    """The plane of a planar mechanism, as seen from its positive side.

    Attributes:
        right: Unit vector to the right, in world axes, (3,).
        up: Unit vector upwards, against gravity where gravity lies in the plane, (3,).
    """

    right: Array
    up: Array

    @property
    def normal(self) -> Array:
        """Unit vector towards the eye, (3,)."""
        return np.cross(self.right, self.up)

    def project(self, points: Array) -> Array:
        """World points (..., 3) as points of the picture (..., 2)."""
        return points @ np.stack([self.right, self.up], axis=-1)

    def labels(self) -> tuple[str, str]:
        """What to write on the axes of the picture."""
        return _axis_label(self.right, "along"), _axis_label(self.up, "up")


def find_plane(mech: Mechanism, q: npt.ArrayLike) -> Plane | None:
    """The plane in which a mechanism moves, or None if it moves in space.

    Every hinge must be perpendicular to it and every slide must lie in it; loops and forces are not asked.

    Args:
        mech: The mechanism.
        q: A pose (nq,).
    """
    at = np.asarray(q, dtype=float)
    nodes = [
        (node.kind, np.array(mech.pose(at, body.name).rotation) @ node.axis)
        for body in mech.model.shown_bodies
        for node in body.joint.primitives()
    ]
    turns = [axis for kind, axis in nodes if kind == NodeKind.HINGE]
    slides = [axis for kind, axis in nodes if kind == NodeKind.SLIDE]
    normal = _normal(turns, slides)
    if normal is None or len(turns) + len(slides) < len(nodes):
        return None
    off = [np.linalg.norm(np.cross(normal, turn)) for turn in turns] + [
        abs(normal @ slide) for slide in slides
    ]
    return _oriented(normal, np.array(mech.model.gravity)) if max(off, default=0.0) <= PARALLEL else None


def _normal(turns: Sequence[Array], slides: Sequence[Array]) -> Array | None:
    """The hinges' axis; without hinges the world axis that is most perpendicular to the slides."""
    if turns:
        return turns[0]
    if not slides:
        return None
    across = np.linalg.norm(np.array(slides), axis=0)  # of each world axis with all slides
    for k in (2, 1, 0):
        if across[k] <= PARALLEL:
            return np.asarray(np.eye(3)[k])
    least = np.linalg.svd(np.array(slides))[2][-1]
    return np.asarray(least) if len(slides) > 1 else None


def _oriented(normal: Array, gravity: Array) -> Plane:
    """Up is against gravity or, where gravity does not act in the plane, along a world axis."""
    normal = normal / np.linalg.norm(normal)
    fall = gravity - (gravity @ normal) * normal
    if np.linalg.norm(fall) > PARALLEL * max(1.0, float(np.linalg.norm(gravity))):
        up = -fall / np.linalg.norm(fall)
    else:
        upright = np.eye(3)[1 if abs(normal[2]) > 0.5 else 2]
        up = upright - (upright @ normal) * normal
        up /= np.linalg.norm(up)
    right = np.cross(up, normal)
    return Plane(right if right[np.argmax(np.abs(right))] > 0.0 else -right, up)


def _axis_label(axis: Array, otherwise: str) -> str:
    k = int(np.argmax(np.abs(axis)))
    if abs(abs(axis[k]) - 1.0) > PARALLEL:
        return f"{otherwise} [m]"
    return f"{'-' if axis[k] < 0.0 else ''}{AXES[k]} [m]"


class Placed:
    """Poses of all bodies at one or several q, for points fixed on them.

    Args:
        mech: The mechanism.
        q: Poses, (nq,) or (n, nq).

    Attributes:
        R, p: R_WB (n, nb, 3, 3) and p_WB (n, nb, 3) of all bodies, in the order of `mech.body_names`.
    """

    def __init__(self, mech: Mechanism, q: npt.ArrayLike) -> None:
        many = np.atleast_2d(np.asarray(q, dtype=float))
        self._index = {name: i for i, name in enumerate(mech.body_names)}
        poses = [np.atleast_1d(mech.pose(many, name)) for name in mech.body_names]
        self.R = np.array([[X_WB.rotation for X_WB in each] for each in zip(*poses, strict=True)])
        self.p = np.array([[X_WB.xyz for X_WB in each] for each in zip(*poses, strict=True)])

    def points(self, anchors: Iterable[Anchor]) -> Array:
        """Where anchors are in the world [m], (n, number of anchors, 3)."""
        places = [(self._index[body], point) for body, point in anchors]
        each = [self.p[:, i] + self.R[:, i] @ point for i, point in places]
        return np.array(each).reshape(-1, len(self.p), 3).swapaxes(0, 1)

    def along(self, body: str, vector: Array) -> Array:
        """A direction given in the frame of a body, in world axes, (n, 3)."""
        return np.asarray(self.R[:, self._index[body]] @ vector)

    def local(self, body: str, vectors: Array) -> Array:
        """Directions in world axes (n, 3), in the frame of a body."""
        return np.asarray(np.einsum("nij,ni->nj", self.R[:, self._index[body]], vectors))

    def rotation(self, body: str) -> Array:
        """R_WB of a body at the first pose, (3, 3)."""
        return np.asarray(self.R[0, self._index[body]])

    def local_point(self, body: str, point: Array) -> Array:
        """A world point (3,) at the first pose, in the frame of a body [m]."""
        i = self._index[body]
        return np.asarray(self.R[0, i].T @ (point - self.p[0, i]))
