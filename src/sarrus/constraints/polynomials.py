"""PolynomialCoupling: one coordinate is a polynomial of another, as in cams and joint equalities of MJCF.

    y = sum_k c_k (x - x_0)^k

Its rows are computed in Python, as those of a CustomConstraint, with J and gamma in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import Array, is_finite, number, numbers, text
from ..errors import InputError
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.model import RowGroup, UserRows
from ..models.tree.tree import Tree
from .custom import CustomConstraint
from .rows import Constraint, RowName, Rows

__all__ = ["PolynomialCoupling"]


@dataclass(frozen=True)
class PolynomialCoupling(Constraint):
    """A coordinate follows a polynomial of another one: follower = sum of c_k (leader - origin)^k.

    Args:
        follower: Name of the coordinate that follows, an angle [rad] or a displacement [m].
        leader: Name of the other one.
        coefficients: c_0, c_1, ..., at least two of them.
        origin: Value of the leader from which the polynomial counts [rad] or [m].
    """

    checks: ClassVar[Checks] = {"follower": text, "leader": text, "origin": number}
    follower: str
    leader: str
    coefficients: tuple[float, ...]
    origin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        values = numbers(self.coefficients, "coefficients of PolynomialCoupling", 1)
        if len(values) < 2 or not is_finite(values):
            raise InputError(
                "coefficients of PolynomialCoupling must be two or more finite numbers, got"
                f" {values.tolist()}; for a constant use Coupling({{coordinate: 1.0}}, offset=value)."
            )
        if self.follower == self.leader:
            raise InputError(f"PolynomialCoupling must relate two coordinates, got {self.leader!r} twice.")
        object.__setattr__(self, "coefficients", tuple(values.tolist()))

    def coordinates(self) -> tuple[str, ...]:
        return (self.follower, self.leader)

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        where = f"constraint {name!r}"
        follower, leader = tree.scalar(self.follower, where), tree.scalar(self.leader, where)
        lengths = not any(tree.coordinate_is_angle[iv] for _, iv in (follower, leader))
        here = rows.add(RowGroup(name, "PolynomialCoupling"), [RowName(name, "m" if lengths else "rad")]).rows
        first = rows.count("u_row")
        rows.append(u_row=here.start)
        functions = _Polynomial(self.coefficients, self.origin, follower, leader, tree.nv)
        given = CustomConstraint(functions.phi, 1, functions.J, functions.gamma, functions.b)
        rows.customs.append(UserRows(name, slice(first, first + 1), here, given))

    def latched(
        self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]
    ) -> PolynomialCoupling:
        value = float(np.polynomial.Polynomial(self.coefficients)(position(self.leader) - self.origin))
        first = self.coefficients[0] + position(self.follower) - value
        return replace(self, coefficients=(first, *self.coefficients[1:]))


@dataclass(frozen=True)
class _Polynomial:
    """phi, J, gamma and b; the coordinates as (entry of q, entry of v)."""

    coefficients: tuple[float, ...]
    origin: float
    follower: tuple[int, int]
    leader: tuple[int, int]
    nv: int

    def _slopes(self, q: Array) -> tuple[float, float, float]:
        """Value, first and second derivative."""
        x = float(q[self.leader[0]]) - self.origin
        p = np.polynomial.Polynomial(self.coefficients)
        return float(p(x)), float(p.deriv(1)(x)), float(p.deriv(2)(x))

    def phi(self, q: Array, t: float) -> float:
        return float(q[self.follower[0]]) - self._slopes(q)[0]

    def J(self, q: Array, t: float) -> Array:
        row = np.zeros((1, self.nv))
        row[0, self.follower[1]] = 1.0
        row[0, self.leader[1]] -= self._slopes(q)[1]
        return row

    def gamma(self, q: Array, v: Array, t: float) -> float:
        return self._slopes(q)[2] * float(v[self.leader[1]]) ** 2

    def b(self, q: Array, t: float) -> float:
        return 0.0
