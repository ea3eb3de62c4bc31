"""Plate: a flat polygon with a thickness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, is_finite, numeric, positive
from ...errors import InputError, warn
from ...varied import largest
from ..base.kind import Checks
from .kernel_shape import KernelShape, hull, points_of, polyhedron, prism
from .shapes import MATERIAL, Shape

__all__ = ["Plate"]


def _outline(value: object, what: str) -> tuple[tuple[float, float], ...]:
    corners = numeric(value, what, "corners (n, 2) of a polygon")
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not is_finite(corners):
        raise InputError(f"{what} must be at least three corners (n, 2) [m], got {value!r:.80}.")
    return tuple((x, y) for x, y in corners.tolist())


@dataclass(frozen=True)
class Plate(Shape):
    """A flat plate: a polygon in the plane z = 0 of its frame, half its thickness to either side.

    Args:
        outline: Corners in order, either way round (n, 2) [m]; sides must not cross.
        thickness: [m].
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"outline": _outline, "thickness": positive, **MATERIAL}
    outline: ArrayLike
    thickness: float

    def __post_init__(self) -> None:
        super().__post_init__()
        corners = np.asarray(self.outline)
        extent = largest(map(abs, (corners - corners[0]).ravel().tolist()))
        if abs(self._area()) < 1e-12 * extent**2:
            raise InputError("outline of Plate encloses no area; give its corners in order.")

    def _area(self) -> float:
        x, y = np.asarray(self.outline).T
        area: float = 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)
        return area

    def solid(self) -> tuple[float, Array, Array]:
        """Centroid and second moments of a polygon, by its sides (Green's theorem)."""
        area = self._area()
        centre = _moments(np.asarray(self.outline))[0] / area
        second = _moments(np.asarray(self.outline) - centre)[1] / area
        xx, yy, xy = second
        thick = self.thickness**2 / 12.0
        inertia = np.array([[yy + thick, -xy, 0.0], [-xy, xx + thick, 0.0], [0.0, 0.0, xx + yy]])
        return abs(area) * self.thickness, np.array([*centre, 0.0]), inertia

    def sizes(self) -> tuple[float, ...]:
        return self.thickness, *np.asarray(self.outline).ravel().tolist()

    def in_kernel(self) -> KernelShape:
        corners, half = np.asarray(self.outline), 0.5 * self.thickness
        if self._area() < 0.0:
            corners = corners[::-1]
        if _turns_left(corners):
            return prism(corners, half)
        warn(
            "Plate as a surface: its outline is not convex and its hull touches;"
            " use several convex ones to keep it."
        )
        both = [[*corner, z] for corner in corners.tolist() for z in (-half, half)]
        return polyhedron(*hull(points_of(both, "outline of Plate"), "outline of Plate"))


def _turns_left(corners: Array) -> bool:
    """Whether a counterclockwise polygon is convex, with no corner that is none."""
    ahead = np.roll(corners, -1, axis=0) - corners
    (x, y), (x2, y2) = ahead.T, np.roll(ahead, -1, axis=0).T
    return all(turn > 0.0 for turn in (x * y2 - x2 * y).tolist())


def _moments(corners: Array) -> tuple[Array, Array]:
    """Integrals of (x, y) and of (x^2, y^2, x y) over a polygon, with the sign of its area."""
    (x, y), (x2, y2) = corners.T, np.roll(corners, -1, axis=0).T
    w = x * y2 - x2 * y
    first = np.array([np.sum(w * (x + x2)), np.sum(w * (y + y2))]) / 6.0
    squares = [np.sum(w * (x * x + x * x2 + x2 * x2)), np.sum(w * (y * y + y * y2 + y2 * y2))]
    mixed = np.sum(w * (x * y2 + 2.0 * x * y + 2.0 * x2 * y2 + x2 * y)) / 24.0
    return first, np.array([squares[0] / 12.0, squares[1] / 12.0, mixed])
