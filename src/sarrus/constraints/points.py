"""Constraints on a point of one body relative to another: distance, line, plane, cylinder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array, positive
from ..models.base.axes import Axis, canonical_axis, direction
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.kinds.point_pair import PointPair
from ..models.shapes.drawing import Disc, Drawing, Frame, Line, Rail
from ..models.tree.closure_rows import ClosureRows, axis_rows
from .closures import closure_row_names
from .element import Element
from .rows import RowName

__all__ = ["Distance", "PointOnCylinder", "PointOnLine", "PointOnPlane"]


@dataclass(frozen=True)
class PointsApart(PointPair, Element, base=True):
    """Base of the constraints between a point of one body and a point of another."""

    def ends(self) -> tuple[Frame, Frame]:
        return Frame(self.a, Pose(self.p_a)), Frame(self.b, Pose(self.p_b))

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Self:
        return replace(self, p_a=pose(self.a).inverse().apply(pose(self.b).apply(self.p_b)))


@dataclass(frozen=True)
class _PointOnFlat(PointsApart, base=True):
    """A line or a plane: displacements of the point across the line, or along the normal, are zero."""

    kernel: ClassVar[str] = "Closure"
    is_plane: ClassVar[bool]

    def _axis(self) -> Array:
        """Direction of the line, or normal of the plane, in the axes of body a, (3,)."""
        return direction(getattr(self, "normal" if self.is_plane else "direction"))

    def kept(self) -> ClosureRows:
        """Which displacements are zero, in the axes of body a."""
        rows = axis_rows(self._axis(), along=self.is_plane, across=not self.is_plane)
        return ClosureRows(rows.linear, directions=rows.directions)

    def rows(self) -> tuple[RowName, ...]:
        return closure_row_names(self.kept())

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return self.kept().parameters(R_aA, R_bB)

    @property
    def is_point_contact(self) -> bool:
        return True

    def drawing(self) -> Drawing:
        a, b = self.anchors()
        return Drawing((a, b), (b,), rails=(Rail(a, b, self._axis(), is_plane=self.is_plane),))


@dataclass(frozen=True)
class Distance(PointsApart):
    """Massless rod: a point of b stays at a distance from a point of a. Row "name.distance" [m].

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        length: Distance [m], positive; for zero close the loop with Spherical().
    """

    kernel: ClassVar[str] = "Distance"
    pulls: ClassVar[bool] = True
    undefined: ClassVar[str] = "two points of a Distance coincide"
    lengths: ClassVar[tuple[str, ...]] = ("length",)
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "length of Distance (to make the points coincide, close the loop with Spherical())"
        object.__setattr__(self, "length", positive(self.length, what))

    def rows(self) -> tuple[RowName, ...]:
        return (RowName("distance"),)

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return {"length": self.length}

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Distance:
        ends = pose(self.b).apply(self.p_b) - pose(self.a).apply(self.p_a)
        return replace(self, length=float(np.linalg.norm(ends)))

    def drawing(self) -> Drawing:
        ends = self.anchors()
        return Drawing(ends, ends, ends, (Line("rod", ends),))


@dataclass(frozen=True)
class PointOnLine(_PointOnFlat):
    """A point of b stays on a line fixed in a. Two rows [m], named after the axes of a across the line.

    Args:
        a: Body that carries the line.
        p_a: Point of the line in the frame of a [m], (3,).
        b: Body whose point follows it.
        p_b: Point in the frame of b [m], (3,).
        direction: Direction of the line in the frame of a: "x", "y", "z" or a vector (3,); normalised here.
    """

    is_plane: ClassVar[bool] = False
    checks: ClassVar[Checks] = PointsApart.checks | {"direction": canonical_axis}
    direction: Axis


@dataclass(frozen=True)
class PointOnPlane(_PointOnFlat):
    """A point of b stays in a plane fixed in a. One row [m], named after the axis of a nearest to the normal.

    Args:
        a: Body that carries the plane.
        p_a: Point of the plane in the frame of a [m], (3,).
        b: Body whose point stays in it.
        p_b: Point in the frame of b [m], (3,).
        normal: Normal of the plane in the frame of a: "x", "y", "z" or a vector (3,); normalised here.
    """

    is_plane: ClassVar[bool] = True
    checks: ClassVar[Checks] = PointsApart.checks | {"normal": canonical_axis}
    normal: Axis


@dataclass(frozen=True)
class PointOnCylinder(PointsApart):
    """A point of b stays on a cylinder fixed in a. Row "name.radial" [m]: its distance from the axis.

    Args:
        a: Body that carries the cylinder.
        p_a: Point of its axis in the frame of a [m], (3,).
        b: Body whose point stays on it.
        p_b: Point in the frame of b [m], (3,).
        axis: Axis of the cylinder in the frame of a: "x", "y", "z" or a vector (3,); normalised here.
        radius: Radius [m], positive; for zero use PointOnLine.
    """

    kernel: ClassVar[str] = "PointOnCylinder"
    undefined: ClassVar[str] = "the point of a PointOnCylinder lies on its axis"
    lengths: ClassVar[tuple[str, ...]] = ("radius",)
    checks: ClassVar[Checks] = PointsApart.checks | {"axis": canonical_axis}
    axis: Axis
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        what = "radius of PointOnCylinder (to keep the point on the axis, use PointOnLine)"
        object.__setattr__(self, "radius", positive(self.radius, what))

    def rows(self) -> tuple[RowName, ...]:
        return (RowName("radial"),)

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return {"axis": R_aA @ direction(self.axis), "radius": self.radius}

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Self:
        r = pose(self.a).inverse().apply(pose(self.b).apply(self.p_b)) - np.array(self.p_a)
        return replace(self, radius=float(np.linalg.norm(np.cross(direction(self.axis), r))))

    def drawing(self) -> Drawing:
        a, b = self.anchors()
        return Drawing((a, b), (b,), discs=(Disc(a, direction(self.axis), self.radius),))
