"""Deflection: how a node of a flexible body moves relative to the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array, whole
from ...errors import InputError
from ..base.axes import Axis, axis_label, canonical_axis, direction
from ..base.kind import Checks
from ..shapes.drawing import Drawing, Frame
from .joint import Joint, NodeKind, Primitive
from .joints import PERPENDICULAR, Prismatic, Revolute

__all__ = ["Deflection"]

AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Deflection(Joint):
    """Moves in all six directions. Coordinates: x, y, z [m] along the axes, then rx, ry, rz [rad] about them,
    in this order; before them the amplitudes of modes, which move no frame.

    `MechanismSpec.flexible` makes these joints between nodes of flexible bodies. On its own it is a joint
    whose six freedoms are numbers; at ry = a quarter of a turn two of its axes coincide.

    Args:
        axis_x: First axis, "x", "y", "z" or a vector (3,) in the joint frame.
        axis_y: Second axis, perpendicular to it.
        modes: Number of amplitudes.
    """

    checks: ClassVar[Checks] = {"axis_x": canonical_axis, "axis_y": canonical_axis, "modes": whole}
    suffixes: ClassVar[tuple[str, ...]] = AXES
    has_drive = False
    deflects = True
    axis_x: Axis = "x"
    axis_y: Axis = "y"
    modes: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        cosine = float(direction(self.axis_x) @ direction(self.axis_y))
        if abs(cosine) > PERPENDICULAR:
            raise InputError(
                f"axis_x and axis_y of Deflection must be perpendicular, got {self.axis_x!r} and"
                f" {self.axis_y!r} with cosine {cosine:.3g}."
            )

    @property
    def rotation(self) -> Array:
        """Its axes in the joint frame, as columns (3, 3)."""
        x, y = direction(self.axis_x), direction(self.axis_y)
        z = np.cross(x, y)
        return np.column_stack([x, np.cross(z, x), z])

    def coordinate_names(self, name: str) -> tuple[str, ...]:
        modes = (f"{name}.mode{k + 1}" for k in range(self.modes))
        return (*modes, *super().coordinate_names(name))

    def primitives(self) -> tuple[Primitive, ...]:
        kinds = (NodeKind.SLIDE, NodeKind.HINGE)
        moves = (Primitive.along(kind, axis) for kind in kinds for axis in self.rotation.T)
        return (*(Primitive(NodeKind.AMPLITUDE) for _ in range(self.modes)), *moves)

    def turned_around(self, name: str) -> tuple[tuple[str, Joint], ...]:
        x, y, z = 0.0 - self.rotation.T
        turns = tuple((f"{name}.r{c}", Revolute(axis)) for c, axis in zip("zyx", (z, y, x), strict=True))
        return turns + tuple(
            (f"{name}.{c}", Prismatic(axis)) for c, axis in zip("zyx", (z, y, x), strict=True)
        )

    def label(self) -> str:
        modes = f", {self.modes} modes" if self.modes else ""
        return f"Deflection {axis_label(self.axis_x)} {axis_label(self.axis_y)}{modes}"

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        return Drawing((a.origin, b.origin))
