"""UserForce: a force that a function of the user's computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, names, point, takes
from ...errors import InputError
from ..shapes.drawing import Drawing, Line
from ..tree.tree import Tree
from .forces import Force, ForceTable
from .point_pair import check_pair

__all__ = ["UserForce"]

ENDS = ("a", "p_a", "b", "p_b")


@dataclass(frozen=True)
class UserForce(Force):
    """A force given by a function: on coordinates, or between a point of body a and a point of body b.

    On coordinates: function(t, x, rate) -> forces (k,) [N m, N] along them; x (k,) [rad, m] are their values,
    rate (k,) [rad/s, m/s] their rates. Between points: function(t, r, rate) -> force (3,) [N] on b at p_b,
    and its opposite on a at the same place; r (3,) [m] leads from p_a to p_b, rate (3,) [m/s] is its rate,
    all in the axes of a. Its power is force · rate: positive where it drives.

    Args:
        function: Of time [s], places and rates, and of nothing else. Derivatives are exact where it is
            arithmetic of Python and NumPy, and differences of sixth order otherwise.
        coordinate: Name of an angle or displacement, or several names; or the four arguments that follow.
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
    """

    holds_functions: ClassVar[bool] = True
    function: Callable[[float, Any, Any], Any]
    coordinate: str | Sequence[str] | None = None
    a: str | None = None
    p_a: ArrayLike | None = None
    b: str | None = None
    p_b: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        takes(self.function, "t, x, rate", "function of UserForce")
        given = [name for name in ENDS if getattr(self, name) is not None]
        between = len(given) == len(ENDS)
        if between == (self.coordinate is not None) or (given and not between):
            raise InputError(
                "UserForce acts on coordinates or between two points: give coordinate=, or a=, p_a=, b= and"
                f" p_b=; got {', '.join(given) or 'no points'} and coordinate={self.coordinate!r}."
            )
        if between:
            check_pair(self.a, self.b, "a UserForce")
            for name in ("p_a", "p_b"):
                object.__setattr__(self, name, point(getattr(self, name), f"{name} of UserForce"))
        else:
            object.__setattr__(self, "coordinate", _coordinates(self.coordinate))

    @property
    def count(self) -> int:
        """Number of forces that its function returns."""
        return len(self.coordinates()) or 3

    def bodies(self) -> tuple[str, ...]:
        return () if self.a is None or self.b is None else (self.a, self.b)

    def coordinates(self) -> tuple[str, ...]:
        return () if self.coordinate is None else tuple(self.coordinate)

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        for name in self.coordinates():
            tree.scalar(name, where)
        for body in self.bodies():
            tree.body_index(body, where)

    def tension(self, states: Any) -> Array:
        """What its function returns, (B,) of one coordinate [N m, N], else (B, k); of points on b [N]."""
        found = np.asarray(states.force_of_user(self))
        return found[:, 0] if len(self.coordinates()) == 1 else found

    def work(self) -> str:
        return "user forces do work"

    def drawing(self) -> Drawing:
        if self.a is None or self.b is None:
            return Drawing()
        ends = ((self.a, np.array(self.p_a)), (self.b, np.array(self.p_b)))
        return Drawing(ends, lines=(Line("spring", ends),))


def _coordinates(given: Any) -> tuple[str, ...]:
    """Different names, at least one."""
    found = tuple(names((given,) if isinstance(given, str) else given, "coordinate of UserForce"))
    if not found or len(set(found)) < len(found):
        raise InputError(f"coordinate of UserForce must be different names, at least one, got {found}.")
    return found
