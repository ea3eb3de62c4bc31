"""Convex hulls of collision meshes with few corners: every corner is a contact point of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sarrus.arrays import Array
from sarrus.errors import InputError

CORNERS = 32
EXACT = 1e-9  # of the extent: nearer than that to a face a point lies in it


def corners_wanted(value: object) -> int | None:
    """The option hull_corners: at least four, or None for all."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 4):
        raise InputError(f"hull_corners must be an integer of at least 4, or None for all, got {value!r}.")
    return value


def collision_hull(points: ArrayLike, most: int | None = CORNERS) -> tuple[Array, float]:
    """Corners (n, 3) of the hull of points, at most `most`, and how far the others are outside of it [m].

    Begins with the points that are farthest along the diagonals of space and adds, one at a time, the point
    that is farthest outside.

    Raises:
        InputError: Where the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    given = np.unique(np.asarray(points, dtype=np.float64), axis=0)
    try:
        given = given[ConvexHull(given).vertices]
        extent = float(np.max(np.ptp(given, axis=0)))
        if most is None or len(given) <= most:
            return given, 0.0
        chosen = _first(given)
        while True:
            planes = ConvexHull(given[chosen]).equations
            outside = np.max(given @ planes[:, :3].T + planes[:, 3], axis=1)
            farthest = int(np.argmax(outside))
            if len(chosen) >= most or outside[farthest] <= EXACT * extent:
                return given[chosen], max(float(outside[farthest]), 0.0)
            chosen.append(farthest)
    except (QhullError, ValueError):
        raise InputError("the points of a mesh lie in a plane: their hull has no volume.") from None


def _first(points: Array) -> list[int]:
    """Four points or more that span a volume."""
    directions = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.float64)
    chosen = dict.fromkeys(int(np.argmax(points @ one)) for one in (*directions, *-directions))
    return list(chosen)
