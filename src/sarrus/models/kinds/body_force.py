"""BodyForce: a wrench on a body that depends on how it lies and moves: tyres, air, thrusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, one_of, point, takes, text
from ..base.kind import Checks
from ..tree.tree import Tree
from .forces import Force, ForceTable

__all__ = ["BodyForce"]

AXES = ("body", "world")


def _axes(value: object, what: str) -> str:
    return one_of(value, what, AXES)


@dataclass(frozen=True)
class BodyForce(Force):
    """A wrench on a body, given by a function of time, of the body's pose and of its twist.

    It acts where it is declared: reactions, bearing friction, energies of runs, equilibria and linear models
    see it. Derivatives by speeds are exact where the function is arithmetic of Python and NumPy; those by the
    pose are differences of sixth order.

    Args:
        body: Body on which it acts.
        function: f(t, pose, twist) -> wrench (6,) [force; moment] [N, N m] about the point. t [s]; pose:
            where the point is and how the body lies in the world, a `Pose`; twist (6,): velocity of the
            point [m/s], angular velocity [rad/s].
        point: Where it acts, in the body frame [m], (3,), or the name of a point of the drawing.
        axes: Of twist and wrench: "body" (those of the body) or "world".
    """

    holds_functions: ClassVar[bool] = True
    of_body: ClassVar[bool] = True
    count: ClassVar[int] = 6
    checks: ClassVar[Checks] = {"body": text, "point": point, "axes": _axes}
    body: str
    function: Callable[[float, Any, Any], Any]
    point: ArrayLike = (0.0, 0.0, 0.0)
    axes: str = "body"

    def __post_init__(self) -> None:
        super().__post_init__()
        takes(self.function, "t, pose, twist", "function of BodyForce")

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        tree.body_index(self.body, where)

    def work(self) -> str:
        return "body forces do work"

    def tension(self, states: Any) -> Array:
        """Its wrench (B, 6) [N, N m] in its axes, about its point."""
        return np.asarray(states.force_of_user(self))
