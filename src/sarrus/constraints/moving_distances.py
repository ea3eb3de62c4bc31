"""Distances that change: by a function of time, or with a coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, number, text
from ..errors import ModelError
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.shapes.drawing import Drawing, Line
from ..models.tree.tree import Tree
from .points import PointsApart
from .prescribed import Prescribed
from .rows import Constraint, RowName, Rows

__all__ = ["DrivenDistance", "Span"]


@dataclass(frozen=True)
class _MovingDistance(PointsApart, base=True):
    """Base of both."""

    kernel: ClassVar[str] = "MovingDistance"
    pulls: ClassVar[bool] = True
    undefined: ClassVar[str] = "two points of a distance coincide"

    def rows(self) -> tuple[RowName, ...]:
        return (RowName("distance"),)

    latched = Constraint.latched  # type: ignore[assignment]  # its length is prescribed

    def drawing(self) -> Drawing:
        ends = self.anchors()
        return Drawing(ends, ends, ends, (Line("rod", ends),))


@dataclass(frozen=True)
class DrivenDistance(Prescribed, _MovingDistance):
    """Two points at a distance that is a function of time: a linear drive by length. Row "name.distance" [m].

    As `Drive` is for a coordinate, with the same demands on its function.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        length: f(t), t in s, in m, positive and twice differentiable.
        rate: f'(t) [m/s]; by differences if not given.
        acceleration: f''(t) [m/s^2]; likewise.
    """

    holds_functions: ClassVar[bool] = True
    constant: ClassVar[str] = "Distance"
    length: Callable[[float], float]
    rate: Callable[[float], float] | None = None
    acceleration: Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_functions("length")

    @property
    def function(self) -> Callable[[float], float]:  # type: ignore[override]
        """The length as a function of time."""
        return self.length

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return {"length": 0.0, "drive": -1, "entry": -1, "at": -1}

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        self.lower_with(name, tree, rows, {"drive": len(rows.drives)})
        rows.drives.append(self)


@dataclass(frozen=True)
class Span(_MovingDistance):
    """A coordinate that is the distance of two points, less an offset. Row "name.distance" [m].

    The multiplier is the force along the line, positive where it pushes the points apart. What acts on the
    coordinate acts along the line: actuators, drives, friction, stops. The coordinate belongs to a slide of
    its own, see `MechanismSpec.actuator`.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        coordinate: Name of a displacement [m] that moves neither body.
        offset: Distance where the coordinate is zero [m].
    """

    checks: ClassVar[Checks] = {**PointsApart.checks, "coordinate": text, "offset": number}
    coordinate: str
    offset: float = 0.0

    def coordinates(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return {"length": self.offset, "drive": -1, "entry": -1, "at": -1}

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Span:
        ends = pose(self.b).apply(self.p_b) - pose(self.a).apply(self.p_a)
        return replace(self, offset=float(np.linalg.norm(ends)) - position(self.coordinate))

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        iq, iv = tree.scalar(self.coordinate, f"constraint {name!r}")
        above = {n for body in self.bodies() for n in tree.path(tree.point(body, (0.0, 0.0, 0.0))[0])}
        if tree.coordinate_is_angle[iv] or any(iv in tree.nodes[n].columns for n in above):
            raise ModelError(
                f"constraint {name!r}: the coordinate {self.coordinate!r} of a Span must be a displacement"
                f" that moves neither {self.a!r} nor {self.b!r}; give it a slide of its own, as"
                " spec.actuator does."
            )
        self.lower_with(name, tree, rows, {"entry": iq, "at": iv}, iv)
