"""Shapes of bodies that touch others: capsules, ellipsoids, half spaces and hulls of points."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, positive, triple
from ...errors import InputError
from ...varied import largest
from ..base.axes import Axis, canonical_axis, direction, turn_z_to
from ..base.kind import Checks
from ..base.pose import Pose, known_pose
from .kernel_shape import Face, KernelShape, hull, points_of, polyhedron
from .mesh_files import read_triangles
from .shapes import MATERIAL, Shape
from .surface_mesh import enclosed
from .visual import Visual

__all__ = ["Capsule", "ConvexMesh", "Ellipsoid", "HalfSpace"]


@dataclass(frozen=True)
class Capsule(Shape):
    """A round bar along z with half balls as its ends, centred on its frame.

    Args:
        radius: [m].
        length: Of its straight part, without the half balls [m].
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"radius": positive, "length": positive, **MATERIAL}
    radius: float
    length: float

    def solid(self) -> tuple[float, Array, Array]:
        """The bar, and a ball of two halves, each displaced: second moments about the axis and across it."""
        r, h = self.radius, self.length
        bar, ball = math.pi * r**2 * h, 4.0 / 3.0 * math.pi * r**3
        along = bar * r**2 / 2.0 + ball * 0.4 * r**2
        across = bar * (r**2 / 4.0 + h**2 / 12.0) + ball * (0.4 * r**2 + h**2 / 4.0 + 0.375 * h * r)
        volume = bar + ball
        return volume, np.zeros(3), np.diag([across / volume, across / volume, along / volume])

    def sizes(self) -> tuple[float, ...]:
        return self.radius, self.length

    def in_kernel(self) -> KernelShape:
        half = 0.5 * self.length
        sizes = {"radius": self.radius, "half": half}
        return KernelShape("Capsule", sizes, radius=half + self.radius)


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """An ellipsoid, centred on its frame.

    Args:
        radii: Along x, y, z [m], (3,).
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"radii": triple, **MATERIAL}
    radii: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        for radius in np.asarray(self.radii).tolist():
            positive(radius, "a radius of Ellipsoid")

    def solid(self) -> tuple[float, Array, Array]:
        x, y, z = np.asarray(self.radii).tolist()
        squares = np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
        return 4.0 / 3.0 * math.pi * x * y * z, np.zeros(3), squares / 5.0

    def sizes(self) -> tuple[float, ...]:
        x, y, z = np.asarray(self.radii).tolist()
        return x, y, z

    def in_kernel(self) -> KernelShape:
        return KernelShape("Ellipsoid", {"radii": self.radii}, radius=largest(self.sizes()))


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All that is below a plane through the origin of its frame: a floor, a wall. It is no mass of a part.

    Args:
        normal: "x", "y", "z" or a vector (3,) in its frame, out of the solid.
        at: By name: its frame on the body.
    """

    checks: ClassVar[Checks] = {"normal": canonical_axis, **MATERIAL}
    normal: Axis = "z"

    def solid(self) -> tuple[float, Array, Array]:
        raise InputError("a HalfSpace has no mass: give the part a Box, or mass, com and inertia.")

    def sizes(self) -> tuple[float, ...]:
        raise InputError("a HalfSpace has no size.")

    def visual(self, body: str, extent: float = 1.0) -> Visual:
        at = self.at @ self.in_kernel().at @ Pose((0.0, 0.0, -0.01 * extent))
        return Visual(body, "box", (2.0 * extent, 2.0 * extent, 0.02 * extent), at)

    def in_kernel(self) -> KernelShape:
        turned = turn_z_to(direction(self.normal))
        return KernelShape("HalfSpace", {"depth": 0.0}, at=known_pose(np.zeros(3), turned))


def _spanned(value: object, what: str) -> object:
    if isinstance(value, (str, os.PathLike)):
        if not str(value):
            raise InputError(f"{what} must be points (n, 3) or the path of an STL or OBJ file, got ''.")
        return os.path.abspath(value)
    return tuple(map(tuple, points_of(value, what).tolist()))


@dataclass(frozen=True)
class ConvexMesh(Shape):
    """The convex hull of points.

    Args:
        points: (n, 3) [m], or the path of an STL or OBJ file with such points.
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"points": _spanned, **MATERIAL}
    points: ArrayLike | str | os.PathLike[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.hull()

    def hull(self) -> tuple[Array, list[Face]]:
        """Corners (n, 3) [m], and faces: corners in order, seen from outside."""
        given = self.points
        points = read_triangles(given).reshape(-1, 3) if isinstance(given, str) else np.asarray(given)
        return hull(points, "points of ConvexMesh")

    def solid(self) -> tuple[float, Array, Array]:
        corners, faces = self.hull()
        fans = [(face[0], face[i], face[i + 1]) for face in faces for i in range(1, len(face) - 1)]
        return enclosed(corners[np.array(fans)], "the hull of ConvexMesh")

    def sizes(self) -> tuple[float, ...]:
        return tuple(self.hull()[0].ravel().tolist())

    def visual(self, body: str, extent: float = 1.0) -> Visual:
        return Visual(body, "hull", self.sizes(), self.at)

    def in_kernel(self) -> KernelShape:
        return polyhedron(*self.hull())
