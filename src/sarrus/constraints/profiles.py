"""Cam: a follower rides on a cam whose profile is a periodic spline.

    follower = lift(cam),   lift: cubic spline through the profile with continuous second derivative

Its rows are computed in Python, as those of a CustomConstraint, with J and gamma in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, numbers, text
from ..errors import InputError
from ..models.kinds import Checks
from ..models.model import RowGroup, UserRows
from ..models.tree import Tree
from .custom import CustomConstraint
from .rows import Constraint, RowName, Rows

__all__ = ["Cam"]

LEAST = 4  # points of a profile


@dataclass(frozen=True)
class Cam(Constraint):
    """A follower rides on a cam: one coordinate is a periodic function of the angle of another.

    The follower is held on the cam in both directions, as in a groove. The multiplier is the force of the cam
    on the follower [N], of an oscillating follower its moment [N m].

    Args:
        follower: Name of the coordinate that follows, a displacement [m] or an angle [rad].
        cam: Name of the angle of the cam.
        angles: Of the profile [rad], increasing, within one turn, (n,), at least four.
        lifts: Position of the follower at these angles [m] or [rad], (n,).
    """

    checks: ClassVar[Checks] = {"follower": text, "cam": text}
    follower: str
    cam: str
    angles: ArrayLike
    lifts: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        x, y = numbers(self.angles, "angles of Cam", 1), numbers(self.lifts, "lifts of Cam", 1)
        if len(x) != len(y) or len(x) < LEAST:
            raise InputError(
                f"angles and lifts of Cam must have the same length, at least {LEAST}: with fewer points a"
                f" cam has no curvature; got {len(x)} and {len(y)}."
            )
        if np.any(np.diff(x) <= 0.0) or x[-1] - x[0] >= 2 * math.pi:
            raise InputError(
                "angles of Cam must increase and lie within one turn, the first one not repeated; got"
                f" {x[0]:g} to {x[-1]:g} rad, smallest step {np.min(np.diff(x)):g}."
            )
        if self.follower == self.cam:
            raise InputError(f"a Cam must relate two coordinates, got {self.cam!r} twice.")
        object.__setattr__(self, "angles", tuple(x.tolist()))
        object.__setattr__(self, "lifts", tuple(y.tolist()))

    def coordinates(self) -> tuple[str, ...]:
        return (self.follower, self.cam)

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        where = f"constraint {name!r}"
        follower, cam = tree.scalar(self.follower, where), tree.scalar(self.cam, where)
        kind = "rad" if tree.coordinate_is_angle[follower[1]] else "m"
        here = rows.add(RowGroup(name, "Cam"), [RowName(name, kind)]).rows
        first = rows.count("u_row")
        rows.append(u_row=here.start)
        functions = Profile(np.array(self.angles), np.array(self.lifts), follower, cam, tree.nv)
        given = CustomConstraint(functions.phi, 1, functions.J, functions.gamma, functions.b)
        rows.customs.append(UserRows(name, slice(first, first + 1), here, given))


@dataclass(frozen=True, eq=False)
class Profile:
    """phi, J, gamma and b of a cam; the coordinates as (entry of q, entry of v)."""

    angles: Array
    lifts: Array
    follower: tuple[int, int]
    cam: tuple[int, int]
    nv: int

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        turn = self.angles[0] + 2 * math.pi
        closed = np.append(self.angles, turn), np.append(self.lifts, self.lifts[0])
        return CubicSpline(*closed, bc_type="periodic")

    def lift(self, angle: float, order: int = 0) -> float:
        """Lift at an angle [rad], or its derivative of this order."""
        return float(self._spline(angle, order))

    def phi(self, q: Array, t: float) -> float:
        return float(q[self.follower[0]]) - self.lift(float(q[self.cam[0]]))

    def J(self, q: Array, t: float) -> Array:
        row = np.zeros((1, self.nv))
        row[0, self.follower[1]] = 1.0
        row[0, self.cam[1]] -= self.lift(float(q[self.cam[0]]), 1)
        return row

    def gamma(self, q: Array, v: Array, t: float) -> float:
        return self.lift(float(q[self.cam[0]]), 2) * float(v[self.cam[1]]) ** 2

    def b(self, q: Array, t: float) -> float:
        return 0.0
