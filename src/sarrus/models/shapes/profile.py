"""Profile: an outline of lines and arcs, extruded: cams, Geneva wheels, ratchets, pawls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array, number, positive
from ...errors import InputError
from ..base.kind import Checks
from .kernel_shape import KernelShape
from .outline import Element, chains_of, crossing, elements_of, features_of, length_of
from .shapes import MATERIAL, Shape
from .visual import Visual

__all__ = ["Profile"]

ARC_STEP = math.pi / 24  # of pictures [rad]
NODES = 12  # of Gauss's rule on a quarter of a circle


def _corners(value: object, what: str) -> tuple[tuple[float, ...], ...]:
    rule = f"{what} must be two or more corners (x, y) or (x, y, bulge)"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        raise InputError(f"{rule}, got {value!r:.80}.")
    return tuple(_corner(corner, what, rule) for corner in value)


def _circle_around(elements: Sequence[Element]) -> tuple[Array, Any]:
    """Centre (2,) and radius [m] of a circle around an outline."""
    points = np.array([p for one in elements for p in one.points(ARC_STEP)])
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return centre, length_of(points - centre) / math.cos(0.5 * ARC_STEP)


def _data_of(entries: Iterable[Any]) -> list[Any]:
    """Numbers of elements or features, one after the other."""
    return [x for one in entries for x in one.data()]


def _corner(value: object, what: str, rule: str) -> tuple[float, ...]:
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) not in (2, 3):
        raise InputError(f"{rule}, got the corner {value!r:.80}.")
    return tuple(number(x, f"a corner of {what}") for x in value)


def _width(value: object, what: str) -> float | None:
    return None if value is None else positive(value, what)


@dataclass(frozen=True)
class Profile(Shape):
    """An outline of lines and arcs in the plane z = 0 of its frame, extruded half its width to either side.

    Args:
        outline: Corners in order, either way round: (x, y), or (x, y, bulge) where an arc leads to the next
            corner [m]. The bulge is the tangent of a quarter of the arc's angle, positive counterclockwise: 1
            is a half circle, sqrt(2) - 1 a quarter. It closes by itself.
        width: Along z [m]; None: without end, for plane machines (as a mass it needs one).
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"outline": _corners, "width": _width, **MATERIAL}
    outline: Sequence[Sequence[float]]
    width: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.elements()

    def elements(self) -> list[Element]:
        """Lines and arcs, counterclockwise."""
        found = elements_of(self.outline)
        at = crossing(found)
        if at is not None:
            raise InputError(f"outline of Profile crosses itself at ({at[0]:.6g}, {at[1]:.6g}) m.")
        return found

    def solid(self) -> tuple[float, Array, Array]:
        """Area and moments by integrals along the outline (Green's theorem), by Gauss's rule."""
        if self.width is None:
            raise InputError("a Profile without a width has no mass; give it one, or the part mass data.")
        area, (sx, sy), (xx, yy, xy) = _moments(self.elements(), np.zeros(2))
        centre = np.array([sx, sy]) / area
        xx, yy, xy = (x / area for x in _moments(self.elements(), centre)[2])
        thick = self.width**2 / 12.0
        inertia = np.array([[yy + thick, -xy, 0.0], [-xy, xx + thick, 0.0], [0.0, 0.0, xx + yy]])
        return area * self.width, np.array([*centre, 0.0]), inertia

    def sizes(self) -> tuple[float, ...]:
        points = self.polygon()
        width = self.width or 0.1 * float(np.max(np.ptp(points, axis=0)))
        return width, *points.ravel().tolist()

    def polygon(self) -> Array:
        """The outline with arcs as short lines (n, 2) [m]."""
        return np.array([p for one in self.elements() for p in one.points(ARC_STEP)])

    def visual(self, body: str, extent: float = 1.0) -> Visual:
        return Visual(body, "plate", self.sizes(), self.at)

    def in_kernel(self) -> KernelShape:
        elements = chains_of(self.elements())
        features = features_of(self.elements())
        half = -1.0 if self.width is None else 0.5 * self.width
        count = 1 + max(one.chain for one in elements)
        sizes = {"half": half, "elements": len(elements), "features": len(features), "chains": count}
        data = _data_of(elements) + _data_of(features)
        centre, reach = _circle_around(elements)
        # negative: of a cylinder without end
        around = -reach if self.width is None else math.hypot(reach, half)
        return KernelShape("Profile", sizes, data, [*centre.tolist(), 0.0], around)


def _moments(
    elements: Iterable[Element], origin: Array
) -> tuple[float, tuple[Any, Any], tuple[Any, Any, Any]]:
    """Integrals of 1, of (x, y) and of (x^2, y^2, x y) about a point."""
    sums = np.zeros(6)
    for one in elements:
        for (x, y), (dx, dy) in one.gauss(NODES):
            x, y = x - origin[0], y - origin[1]
            sums += [0.5 * (x * dy - y * dx), 0.5 * x * x * dy, -0.5 * y * y * dx,
                     x**3 * dy / 3.0, -(y**3) * dx / 3.0, 0.5 * x * x * y * dy]  # fmt: skip
    return sums[0], (sums[1], sums[2]), (sums[3], sums[4], sums[5])
