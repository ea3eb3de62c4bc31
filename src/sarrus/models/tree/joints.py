"""Joints: what a child may do relative to its parent, and what a closed loop leaves free.

In the tree a joint becomes a chain of primitive nodes (hinge, slide, screw, ball, free); in a loop the same
classes say which relative freedoms of frame B in frame A remain (`sarrus.constraints.closures`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array, number
from ...errors import InputError
from ..base.axes import Axis, axis_label, canonical_axis, direction, turn_z_to
from ..base.kind import Checks
from ..shapes.drawing import Bearing, Drawing, Frame, Rail
from .closure_rows import EVERY, ClosureRows, axis_rows
from .joint import Joint, NodeKind, Primitive

__all__ = [
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]

PERPENDICULAR, ROUNDING = 1e-6, 1e-15  # cosines: refused beyond the one, kept as given within the other


@dataclass(frozen=True)
class _OneAxis(Joint, base=True):
    """Nodes of the kinds `nodes`, all about or along one axis."""

    nodes: ClassVar[tuple[NodeKind, ...]]
    suffixes: ClassVar[tuple[str, ...]] = ("",)
    checks: ClassVar[Checks] = {"axis": canonical_axis}
    axis: Axis = "z"

    @property
    def direction(self) -> Array:
        """Unit vector of the axis in the joint frame, (3,)."""
        return direction(self.axis)

    def primitives(self) -> tuple[Primitive, ...]:
        return tuple(Primitive.along(kind, self.direction) for kind in self.nodes)

    def turned_around(self, name: str) -> tuple[tuple[str, Joint], ...]:
        return ((name, dataclasses.replace(self, axis=0.0 - self.direction)),)

    def label(self) -> str:
        return f"{type(self).__name__} {axis_label(self.axis)}"

    def _slider(self, a: Frame, b: Frame) -> Drawing:
        """A block on a rail."""
        rail = Rail(a.origin, b.origin, a.at.rotation @ self.direction, is_block=True)
        return Drawing((a.origin, b.origin), rails=(rail,))


@dataclass(frozen=True)
class Revolute(_OneAxis):
    """Turns about one axis. Coordinate: angle [rad].

    Args:
        axis: "x", "y", "z" or a vector (3,) in the joint frame; normalised here.
    """

    nodes = (NodeKind.HINGE,)

    def closure_rows(self) -> ClosureRows:
        return dataclasses.replace(axis_rows(self.direction, True, True), directions=np.eye(3))


@dataclass(frozen=True)
class Prismatic(_OneAxis):
    """Slides along one axis. Coordinate: displacement [m].

    Args:
        axis: "x", "y", "z" or a vector (3,) in the joint frame; normalised here.
    """

    nodes = (NodeKind.SLIDE,)

    def closure_rows(self) -> ClosureRows:
        across = axis_rows(self.direction, False, True)
        return ClosureRows(across.linear, "ROTATION", EVERY, across.directions)

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        return self._slider(a, b)


@dataclass(frozen=True)
class Helical(_OneAxis):
    """Screw: turns about an axis and moves along it by pitch * angle. Coordinate: angle [rad].

    Args:
        axis: "x", "y", "z" or a vector (3,) in the joint frame; normalised here.
        pitch: Advance along the axis [m/rad]; positive is a right-handed thread.
    """

    checks: ClassVar[Checks] = {"axis": canonical_axis, "pitch": number}
    pitch: float = 0.0

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive.along(NodeKind.SCREW, self.direction, self.pitch),)

    def closure_rows(self) -> ClosureRows:
        if self.pitch == 0.0:
            return Revolute(self.axis).closure_rows()
        rows = axis_rows(self.direction, True, True)
        # the kernel measures the angle about across[0] x across[1], which may be the opposite of the axis
        about = float(np.cross(rows.across[:, 0], rows.across[:, 1]) @ self.direction)
        (along,) = set(EVERY) - set(rows.turned)
        return dataclasses.replace(rows, pitch=self.pitch if about > 0.0 else -self.pitch, pitch_row=along)

    def label(self) -> str:
        return f"{super().label()}, pitch {self.pitch:g} m/rad"


@dataclass(frozen=True)
class Cylindrical(_OneAxis):
    """Slides along an axis and turns about it. Coordinates: slide [m], angle [rad].

    Args:
        axis: "x", "y", "z" or a vector (3,) in the joint frame; normalised here.
    """

    nodes = (NodeKind.SLIDE, NodeKind.HINGE)
    suffixes: ClassVar[tuple[str, ...]] = ("slide", "angle")

    def closure_rows(self) -> ClosureRows:
        return axis_rows(self.direction, False, True)

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        return self._slider(a, b)


@dataclass(frozen=True)
class Universal(Joint):
    """Two crossing hinges (Cardan). Coordinates: angle1 about axis_a, angle2 about axis_b [rad].

    Args:
        axis_a: First axis, in the joint frame.
        axis_b: Second axis, in the once-turned frame; perpendicular to axis_a.
    """

    checks: ClassVar[Checks] = {"axis_a": canonical_axis, "axis_b": canonical_axis}
    axis_a: Axis = "x"
    axis_b: Axis = "y"
    suffixes: ClassVar[tuple[str, ...]] = ("angle1", "angle2")

    def __post_init__(self) -> None:
        super().__post_init__()
        first, second = self.directions
        cosine = float(first @ second)
        if abs(cosine) > PERPENDICULAR:
            raise InputError(
                f"axis_a and axis_b of Universal must be perpendicular, got {self.axis_a!r} and "
                f"{self.axis_b!r} with cosine {cosine:.3g}; for other angles chain two Revolute joints."
            )
        if abs(cosine) > ROUNDING:  # else copies would differ from what they are copies of
            object.__setattr__(self, "axis_b", canonical_axis(second - cosine * first, "axis_b of Universal"))

    @property
    def directions(self) -> tuple[Array, Array]:
        """Unit vectors of both axes, (3,) each."""
        return direction(self.axis_a), direction(self.axis_b)

    def primitives(self) -> tuple[Primitive, ...]:
        first, second = self.directions
        return (Primitive.along(NodeKind.HINGE, first), Primitive.along(NodeKind.HINGE, second))

    def closure_rows(self) -> ClosureRows:
        first, second = self.directions
        k = int(np.argmax(np.abs(np.cross(first, second))))
        across = np.column_stack([first, np.zeros(3)])
        return ClosureRows(EVERY, "COSINE", (k,), across=across, axis=second)

    def turned_around(self, name: str) -> tuple[tuple[str, Joint], ...]:
        first, second = self.directions
        return (f"{name}.angle2", Revolute(0.0 - second)), (f"{name}.angle1", Revolute(0.0 - first))

    def label(self) -> str:
        return f"Universal {axis_label(self.axis_a)} {axis_label(self.axis_b)}"

    @property
    def moment_axis(self) -> Array:
        return np.cross(*self.directions)

    def bearings(self, frame: Frame) -> tuple[Bearing, ...]:
        return (Bearing(frame.origin),)


@dataclass(frozen=True)
class Spherical(Joint):
    """Turns about a point. q: quaternion xyzw (4,); v: body angular velocity [rad/s], (3,)."""

    suffixes: ClassVar[tuple[str, ...]] = ("wx", "wy", "wz")

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive(NodeKind.BALL),)

    def closure_rows(self) -> ClosureRows:
        return ClosureRows(EVERY)

    def bearings(self, frame: Frame) -> tuple[Bearing, ...]:
        return (Bearing(frame.origin),)


@dataclass(frozen=True)
class Planar(Joint):
    """Moves in a plane. Coordinates: x [m], y [m] along the two other axes in cyclic order, angle [rad].

    Where the normal is a vector, x and y are the axes of the joint frame turned with z onto the normal.

    Args:
        normal: Normal of the plane, "x", "y", "z" or a vector (3,) in the joint frame; normalised here.
    """

    checks: ClassVar[Checks] = {"normal": canonical_axis}
    normal: Axis = "z"
    suffixes: ClassVar[tuple[str, ...]] = ("x", "y", "angle")

    @property
    def direction(self) -> Array:
        """Unit normal in the joint frame, (3,)."""
        return direction(self.normal)

    def primitives(self) -> tuple[Primitive, ...]:
        columns = turn_z_to(self.direction)
        return (
            Primitive.along(NodeKind.SLIDE, columns[:, 0]),
            Primitive.along(NodeKind.SLIDE, columns[:, 1]),
            Primitive.along(NodeKind.HINGE, columns[:, 2]),
        )

    def closure_rows(self) -> ClosureRows:
        return axis_rows(self.direction, True, False)

    def turned_around(self, name: str) -> tuple[tuple[str, Joint], ...]:
        x, y, normal = 0.0 - turn_z_to(self.direction).T
        return (
            (f"{name}.angle", Revolute(normal)),
            (f"{name}.x", Prismatic(x)),
            (f"{name}.y", Prismatic(y)),
        )

    def label(self) -> str:
        return f"Planar {axis_label(self.normal)}"

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        if in_tree:
            return Drawing((b.origin,))
        rail = Rail(a.origin, b.origin, a.at.rotation @ self.direction, is_plane=True)
        return Drawing((a.origin, b.origin), rails=(rail,))


@dataclass(frozen=True)
class Free(Joint):
    """Moves freely. q: position [m], quaternion xyzw (7,); v: twist in the body frame [m/s, rad/s], (6,)."""

    suffixes: ClassVar[tuple[str, ...]] = ("vx", "vy", "vz", "wx", "wy", "wz")
    has_drive = False

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive(NodeKind.FREE),)

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        return Drawing()


@dataclass(frozen=True)
class Fixed(Joint):
    """Welded: no coordinate. In the tree the body is merged into its parent, in a loop six rows hold it."""

    def primitives(self) -> tuple[Primitive, ...]:
        return ()

    def closure_rows(self) -> ClosureRows:
        return ClosureRows(EVERY, "ROTATION", EVERY)

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        return Drawing() if in_tree else super().drawing(a, b, in_tree)
