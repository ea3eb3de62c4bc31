"""Mesh: a solid bounded by the triangles of a file, and what it weighs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ...arrays import Array, positive
from ...errors import InputError, warn
from ..base.kind import Checks
from .kernel_shape import KernelShape, hull, polyhedron
from .mesh_files import read_triangles
from .shapes import MATERIAL, Shape

__all__ = ["Mesh"]

MERGE = 1e-5  # of the extent: corners that files round differently
FLAT = 1e-9  # of the cube of the extent: a smaller volume is none


def _path(value: object, what: str) -> str:
    if not isinstance(value, (str, os.PathLike)) or not str(value):
        raise InputError(f"{what} must be the path of an STL or OBJ file, got {value!r:.80}.")
    return os.path.abspath(value)


@dataclass(frozen=True)
class Mesh(Shape):
    """A solid bounded by the triangles of an STL or OBJ file. They must close, all turned alike.

    The file is read when the shape is made, and where a parameter of it changes.

    Args:
        path: The file; the ending .obj says OBJ, all others are STL (binary or text).
        scale: Metres per unit of the file: 0.001 for millimetres.
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"path": _path, "scale": positive, **MATERIAL}
    path: str | os.PathLike[str]
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.solid()

    def solid(self) -> tuple[float, Array, Array]:
        path = str(self.path)
        try:
            status = os.stat(path)
            key = (status.st_mtime_ns, status.st_size)
        except (OSError, ValueError):
            key = (0, 0)  # refused below
        volume, com, inertia = _read_solid(path, key)
        return self.scale**3 * volume, self.scale * com, self.scale**2 * inertia

    def sizes(self) -> tuple[float, ...]:
        return (self.scale,) * 3

    def in_kernel(self) -> KernelShape:
        warn(
            f"mesh {str(self.path)!r:.200} as a surface: its convex hull touches; ConvexMesh says so itself."
        )
        corners, faces = hull(read_triangles(str(self.path)).reshape(-1, 3), "corners of Mesh")
        return polyhedron(self.scale * corners, faces)


@lru_cache(maxsize=64)
def _read_solid(path: str, _: tuple[int, int]) -> tuple[float, Array, Array]:
    triangles = read_triangles(path)
    _check_closed(triangles, f"mesh {path!r:.200}")
    return enclosed(triangles, f"mesh {path!r:.200}")


def enclosed(triangles: Array, what: str) -> tuple[float, Array, Array]:
    """Volume, centroid and inertia about it for unit mass, of signed tetrahedra to the middle.

    Over a tetrahedron 0, a, b, c of volume V: int x = V/4 s and int x x^T = V/20 (s s^T + a a^T + b b^T +
    c c^T), s = a + b + c.
    """
    middle = triangles.reshape(-1, 3).mean(axis=0)
    corners = triangles - middle
    volumes = np.linalg.det(corners) / 6.0
    volume = float(np.sum(volumes))
    if abs(volume) <= FLAT * float(np.max(np.ptp(triangles.reshape(-1, 3), axis=0))) ** 3:
        raise InputError(f"{what} encloses no volume.")
    share, sums = volumes / volume, corners.sum(axis=1)
    centre = share @ sums / 4.0
    second = np.einsum("n,ni,nj->ij", share, sums, sums) + np.einsum("n,nki,nkj->ij", share, corners, corners)
    second = second / 20.0 - np.outer(centre, centre)
    return abs(volume), middle + centre, np.trace(second) * np.eye(3) - second


def _check_closed(triangles: Array, what: str) -> None:
    """Every edge must be walked as often in one direction as in the other."""
    corners = triangles.reshape(-1, 3)
    extent = float(np.max(np.ptp(corners, axis=0)))
    single, other = _edges(corners)
    if single and extent > 0.0:
        single, other = _edges(np.round(corners / (MERGE * extent)))
    if single:
        raise InputError(
            f"{what} is open: {single} of its edges have one triangle. Mass needs a closed surface; close it,"
            " or give the part mass, com and inertia."
        )
    if other:
        raise InputError(
            f"{what}: the two triangles at {other} of its edges are turned against each other; orient all"
            " outwards."
        )


def _edges(corners: Array) -> tuple[int, int]:
    """Number of edges with an odd number of triangles, and of others walked unevenly often each way."""
    number = np.unique(corners, axis=0, return_inverse=True)[1].reshape(-1, 3)
    start, end = number.ravel(), number[:, [1, 2, 0]].ravel()
    real = start != end
    start, end = start[real], end[real]
    pair = np.minimum(start, end) * (int(number.max()) + 1) + np.maximum(start, end)
    _, which, count = np.unique(pair, return_inverse=True, return_counts=True)
    walked = np.bincount(which.ravel(), weights=np.where(start < end, 1.0, -1.0))
    odd = count % 2 == 1
    return int(np.sum(odd)), int(np.sum(~odd & (walked != 0.0)))
