"""What the kernel knows of a shape that can touch others, and convex polyhedra."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array, is_finite, numeric
from ...errors import InputError
from ...varied import hypot, is_varied, largest
from ..base.pose import Pose

FLAT = 1e-9  # of the extent: points nearer to a face lie in it, a hull thinner than that is flat
Face = tuple[int, ...]


class KernelShape(NamedTuple):
    """A shape as the kernel stores it.

    Attributes:
        kind: Its name in kernels/contacts/shapes/kinds.hpp.
        parameters: By the names of that kind.
        data: Further numbers behind them.
        centre, radius: Of a ball around it, in its frame [m]; a negative radius: there is none, of a profile
            without end that of a cylinder.
        at: The frame of the kind in that of the shape.
    """

    kind: str
    parameters: Mapping[str, Any]
    data: Sequence[Any] = ()
    centre: Any = (0.0, 0.0, 0.0)
    radius: Any = -1.0
    at: Pose = Pose()


def polyhedron(corners: Array, faces: Sequence[Face]) -> KernelShape:
    """A convex polyhedron of corners (n, 3) and its faces: corners in order, seen from outside."""
    planes: list[Any] = []
    sides: dict[tuple[int, int], int] = {}
    for k, face in enumerate(faces):
        a, b, c = (corners[i] for i in face[:3])
        normal = np.cross(b - a, c - b)
        normal = normal / hypot(*normal.tolist())
        planes += [*normal.tolist(), normal @ a]
        sides |= {(face[i - 1], face[i]): k for i in range(len(face))}
    edges = [(*ends, k, sides[ends[::-1]]) for ends, k in sides.items() if ends[0] < ends[1]]
    begins = [0, *itertools.accumulate(map(len, faces))]
    centre = np.sum(corners, axis=0) / len(corners)
    reach = [hypot(*(corner - centre).tolist()) for corner in corners]
    counts = {"corners": len(corners), "faces": len(faces), "edges": len(edges)}
    parts = (corners.ravel().tolist(), planes, itertools.chain(*edges), begins, itertools.chain(*faces))
    return KernelShape("Polyhedron", counts, [x for part in parts for x in part], centre, largest(reach))


def prism(outline: Array, half: Any) -> KernelShape:
    """A polygon (n, 2), convex and counterclockwise, `half` to either side of z = 0."""
    n = len(outline)
    corners = np.array([[x, y, z] for z in (-half, half) for x, y in outline.tolist()])
    sides = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    return polyhedron(corners, [tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n)), *sides])


def points_of(value: object, what: str) -> Array:
    """Points (n, 3) that span a volume."""
    points = numeric(value, what, "points (n, 3) [m]")
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not is_finite(points):
        raise InputError(f"{what} must be at least four points (n, 3) [m], got {value!r:.80}.")
    if is_varied(points):
        raise TypeError(f"which points of {what} are corners depends on parameters")
    return points


def hull(points: Array, what: str) -> tuple[Array, list[Face]]:
    """Corners (n, 3) and faces of the convex hull of points."""
    extent = float(np.max(np.ptp(points, axis=0)))
    found = _triangulated(points, extent, what)
    faces = [_around(points, sorted(members), plane[:3]) for plane, members in _in_planes(found, extent)]
    if not _closed(faces):  # corners that rounding puts on one side of an edge only
        faces = _triangles(points, found)
    used = sorted({i for face in faces for i in face})
    number = {i: k for k, i in enumerate(used)}
    return points[used], [tuple(number[i] for i in face) for face in faces]


def _triangulated(points: Array, extent: float, what: str) -> Any:
    """The hull of triangles with their planes; points that lie in a plane are refused."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(points)
    except QhullError:
        raise InputError(f"{what} lie in a plane: their hull has no volume.") from None
    if found.volume <= FLAT * extent**3:
        raise InputError(f"{what} lie in a plane: their hull has no volume.")
    return found


def _triangles(points: Array, found: Any) -> list[Face]:
    """Every triangle of a hull as a face of its own."""
    return [
        _outwards(points, tuple(triangle), plane[:3])
        for plane, triangle in zip(found.equations, found.simplices.tolist(), strict=True)
    ]


def _in_planes(found: Any, extent: float) -> list[tuple[Array, set[int]]]:
    """Planes of a hull, each with the corners of all triangles that lie in it."""
    planes, members = np.empty((len(found.equations), 4)), list[set[int]]()
    tolerance = np.array([FLAT, FLAT, FLAT, FLAT * extent])
    for plane, triangle in zip(found.equations, found.simplices.tolist(), strict=True):
        same = np.flatnonzero(np.all(np.abs(planes[: len(members)] - plane) <= tolerance, axis=1))
        if len(same):
            members[same[0]].update(triangle)
        else:
            planes[len(members)] = plane
            members.append(set(triangle))
    return list(zip(planes[: len(members)], members, strict=True))


def _closed(faces: list[Face]) -> bool:
    """Whether every edge has a face on either side."""
    sides = {(face[i - 1], face[i]) for face in faces for i in range(len(face))}
    return all(side[::-1] in sides for side in sides)


def _outwards(points: Array, triangle: Face, normal: Array) -> Face:
    a, b, c = points[list(triangle)]
    return triangle if np.cross(b - a, c - a) @ normal > 0.0 else triangle[::-1]


def _around(points: Array, members: list[int], normal: Array) -> Face:
    """Corners of a face in order around its normal; those inside of its sides are none."""
    from scipy.spatial import ConvexHull

    corners = points[members]
    across = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(across, normal)
    x /= np.linalg.norm(x)
    flat = (corners - corners[0]) @ np.array([x, np.cross(normal, x)]).T
    return tuple(members[i] for i in ConvexHull(flat).vertices.tolist())
