"""Forces given by tables: springs and dampers whose force is measured or designed, and motors.

Tables become smooth curves, see `Curve`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from ...arrays import Array, text
from ...errors import InputError
from ..base.kind import Checks
from ..shapes.drawing import Drawing
from ..tree.tree import Tree
from .curve import Curve, check_curve
from .forces import Force, ForceTable, PointForce

AT_REST = 1e-9  # of the largest force of a damper: less is none

__all__ = ["JointDamperTable", "JointSpringTable", "Motor", "PointDamperTable", "PointSpringTable"]


@dataclass(frozen=True)
class _Table(Force, base=True):
    """Base of the forces with a table.

    Attributes:
        table: names of the fields of its abscissas and of its forces.
        of_rate: whether the abscissas are speeds.
        damps: whether it takes energy out.
    """

    table: ClassVar[tuple[str, str]]
    of_rate: ClassVar[bool] = False
    damps: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        x, y = (getattr(self, name) for name in self.table)
        curve = check_curve(x, y, type(self).__name__, self.table)
        for name, values in zip(self.table, (curve.x, curve.y), strict=True):
            object.__setattr__(self, name, values)

    @property
    def curve(self) -> Curve:
        """The table as a function."""
        return Curve(*(getattr(self, name) for name in self.table))

    def work(self) -> str:
        return "joints have damping" if self.of_rate else ""

    def doubt(self, length: float) -> str:
        if not self.damps:
            return ""
        curve = self.curve
        for x, y in zip(curve.x, curve.y, strict=True):
            if x * y < 0.0:
                return (
                    f"at the speed {x:g} its force {y:g} drives; that of a damper has the sign of the speed"
                )
        rest, most = float(curve(0.0)), max(map(abs, curve.y))
        if curve.x[0] <= 0.0 <= curve.x[-1] and abs(rest) > AT_REST * most:
            return f"at rest it has the force {rest:g}, with which it drives; a damper has none"
        return ""


@dataclass(frozen=True)
class _PointTable(_Table, PointForce, base=True):
    """Along the line between a point of body a and a point of body b."""

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        self.add(
            "PointTable", {**self.curve.parameters(), "of_rate": float(self.of_rate)}, where, tree, table
        )

    def tension(self, states: Any) -> Array:
        """Its force (B,) [N] in states that measures see, positive in tension."""
        return self.curve(self.length_and_rate(states)[int(self.of_rate)])

    def drawing(self) -> Drawing:
        return self.drawn_spring()


@dataclass(frozen=True)
class PointSpringTable(_PointTable):
    """Spring between two points by a table: air spring, rope, bump stop, leaf spring.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        distances: Of the points [m], not negative, increasing, (n,), 2 to 32 of them.
        forces: Tension at these distances [N], (n,); negative pushes.
    """

    table: ClassVar[tuple[str, str]] = ("distances", "forces")
    distances: ArrayLike
    forces: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        first = self.curve.x[0]
        if first < 0.0:
            raise InputError(
                f"distances of PointSpringTable must not be negative, got {first:g} m: they are distances of"
                " the points, not extensions; add the rest length."
            )


@dataclass(frozen=True)
class PointDamperTable(_PointTable):
    """Damper between two points by a table: shock absorber.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        speeds: Rates of the distance of the points [m/s], positive in extension, increasing, (n,).
        forces: Tension at these speeds [N], (n,).
    """

    table: ClassVar[tuple[str, str]] = ("speeds", "forces")
    of_rate: ClassVar[bool] = True
    damps: ClassVar[bool] = True
    speeds: ArrayLike
    forces: ArrayLike


@dataclass(frozen=True)
class _JointTable(_Table, base=True):
    """On one coordinate.

    Attributes:
        sign: 1 where the table says what is resisted with, -1 where it says what is driven with.
    """

    sign: ClassVar[float] = 1.0
    checks: ClassVar[Checks] = {"coordinate": text}
    coordinate: str

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        iq, iv = tree.scalar(self.coordinate, where)
        values = {**self.curve.parameters(self.sign), "of_rate": float(self.of_rate)}
        table.coordinates.add("CoordinateTable", values, q=iq, v=iv)

    def tension(self, states: Any) -> Array:
        """Its force (B,) [N m, N] in states that measures see, as in the table."""
        return self.curve(states.coordinate(self.coordinate)[int(self.of_rate)])


@dataclass(frozen=True)
class JointSpringTable(_JointTable):
    """Spring on one coordinate by a table: end stops with a gap, clutch springs, cams on springs.

    Args:
        coordinate: Name of an angle or displacement.
        positions: Of the coordinate [rad] or [m], increasing, (n,), 2 to 32 of them.
        forces: What it resists with there [N m] or [N], (n,): positive pulls back.
    """

    table: ClassVar[tuple[str, str]] = ("positions", "forces")
    positions: ArrayLike
    forces: ArrayLike


@dataclass(frozen=True)
class JointDamperTable(_JointTable):
    """Damper on one coordinate by a table.

    Args:
        coordinate: Name of an angle or displacement.
        speeds: Rates of the coordinate [rad/s] or [m/s], increasing, (n,).
        forces: What it resists with there [N m] or [N], (n,).
    """

    table: ClassVar[tuple[str, str]] = ("speeds", "forces")
    of_rate: ClassVar[bool] = True
    damps: ClassVar[bool] = True
    speeds: ArrayLike
    forces: ArrayLike


@dataclass(frozen=True)
class Motor(_JointTable):
    """A motor that drives a coordinate by its torque-speed curve.

    Args:
        coordinate: Name of an angle or displacement.
        speeds: Rates of the coordinate [rad/s] or [m/s], increasing, (n,).
        torques: What it drives with there [N m] or [N], (n,). Two points, (0, stall torque) and (no-load
            speed, 0), are a direct-current motor at constant voltage.
    """

    table: ClassVar[tuple[str, str]] = ("speeds", "torques")
    of_rate: ClassVar[bool] = True
    sign: ClassVar[float] = -1.0
    speeds: ArrayLike
    torques: ArrayLike

    def work(self) -> str:
        return "motors do work"
