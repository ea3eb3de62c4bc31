"""Rolling: a thin disc that rolls on a plane of the ground without slipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, positive, text, triple
from ..errors import InputError
from ..models.base.axes import Axis, canonical_axis, direction
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.shapes.drawing import Disc, Drawing, Frame
from ..models.tree.bodies import GROUND
from ..models.tree.tree import Tree
from .element import Element
from .rows import RowName, Rows

__all__ = ["Rolling"]


@dataclass(frozen=True)
class Rolling(Element):
    """A disc of a body rolls on a plane fixed in the ground.

    Rows: "name.normal", the height of the lowest point of the rim over the plane [m] (holonomic), and
    "name.t1", "name.t2", the velocity [m/s] of the disc's material there along two directions of the plane
    (nonholonomic).

    Args:
        body: Body that carries the disc.
        radius: Radius of the disc [m].
        axis: Axis of the disc in the body frame: "x", "y", "z" or a vector (3,); normalised here.
        normal: Normal of the plane in world axes, pointing to the disc's side; normalised here.
        centre: Centre of the disc in the body frame [m], (3,).
        point: A point of the plane in the world [m], (3,).
    """

    kernel: ClassVar[str] = "Rolling"
    measured: ClassVar[slice] = slice(1, 2)  # the plane has no place
    undefined: ClassVar[str] = "a rolling disc lies flat"
    lengths: ClassVar[tuple[str, ...]] = ("radius",)
    checks: ClassVar[Checks] = {
        "body": text, "radius": positive, "axis": canonical_axis, "normal": canonical_axis, "centre": triple,
        "point": triple,
    }  # fmt: skip
    body: str
    radius: float
    axis: Axis = "z"
    normal: Axis = "z"
    centre: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def ends(self) -> tuple[Frame, Frame]:
        return Frame(GROUND, Pose(self.point)), Frame(self.body, Pose(self.centre))

    def rows(self) -> tuple[RowName, ...]:
        return RowName("normal"), RowName("t1", holonomic=False), RowName("t2", holonomic=False)

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        axis, normal = R_bB @ direction(self.axis), direction(self.normal)
        return {"axis": axis, "normal": normal, "radius": self.radius}

    def drawing(self) -> Drawing:
        disc = Disc((self.body, np.array(self.centre)), direction(self.axis), self.radius)
        return Drawing(discs=(disc,))

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        if tree.point(self.body, self.centre, f"constraint {name!r}")[0] == 0:
            raise InputError(
                f"constraint {name!r}: body {self.body!r} is fixed to the ground, it cannot roll."
            )
        super().lower(name, tree, rows)
