"""Rolling: a thin disc that rolls on a plane of the ground without slipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import positive, text, triple
from ..errors import InputError
from ..models.axes import Axis, canonical_axis, direction
from ..models.drawing import Disc, Drawing
from ..models.tree import Tree
from .rows import Constraint, RowName, Rows


@dataclass(frozen=True)
class Rolling(Constraint):
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

    undefined: ClassVar[str] = "a rolling disc lies flat"
    body: str
    radius: float
    axis: Axis = "z"
    normal: Axis = "z"
    centre: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        text(self.body, "body of Rolling")
        object.__setattr__(self, "radius", positive(self.radius, "radius of Rolling"))
        object.__setattr__(self, "axis", canonical_axis(self.axis, "axis of Rolling"))
        object.__setattr__(self, "normal", canonical_axis(self.normal, "normal of Rolling"))
        object.__setattr__(self, "centre", triple(self.centre, "centre of Rolling"))
        object.__setattr__(self, "point", triple(self.point, "point of Rolling"))

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def drawing(self) -> Drawing:
        disc = Disc((self.body, np.array(self.centre)), direction(self.axis), self.radius)
        return Drawing(discs=(disc,))

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        node, centre = tree.point(self.body, self.centre, f"constraint {name!r}")
        if node == 0:
            raise InputError(
                f"constraint {name!r}: body {self.body!r} is fixed to the ground, it cannot roll."
            )
        R_NB = tree.places[tree.body_index(self.body)].X_NB.rotation
        height = RowName(f"{name}.normal", None)
        slips = [RowName(f"{name}.{suffix}", None, holonomic=False) for suffix in ("t1", "t2")]
        here = rows.add(name, "Rolling", [height, *slips], "ground", self.body)
        rows.append(ro_node=node, ro_row=here.start, ro_centre=centre, ro_axis=R_NB @ direction(self.axis))
        rows.append(ro_normal=direction(self.normal), ro_point=self.point, ro_radius=self.radius)
        rows.anchors.append((node, centre))
