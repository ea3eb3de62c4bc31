"""PointPair: a point of one body and a point of another, which springs, rods and measures lie between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, point, text
from ...errors import InputError
from ...stepped_numbers import size
from ..base.kind import Checks
from ..shapes.drawing import Anchor


def check_pair(a: object, b: object, what: str) -> None:
    """Two names of different bodies."""
    text(a, f"body a of {what}")
    text(b, f"body b of {what}")
    if a == b:
        raise InputError(f"{what} must join two different bodies, got {a!r} twice.")


@dataclass(frozen=True)
class PointPair:
    """Two points of different bodies: what kinds between points share, beside the base of their family.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
    """

    checks: ClassVar[Checks] = {"p_a": point, "p_b": point}
    a: str
    p_a: ArrayLike
    b: str
    p_b: ArrayLike

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, f"a {type(self).__name__}")
        super().__post_init__()  # type: ignore[misc]

    def anchors(self) -> tuple[Anchor, Anchor]:
        """The two points."""
        return (self.a, np.array(self.p_a)), (self.b, np.array(self.p_b))

    def length_and_rate(self, states: Any) -> tuple[Array, Array]:
        """Their distance [m] and its rate [m/s], (B,), in states that measures see."""
        apart = states.place(self.b, self.p_b) - states.place(self.a, self.p_a)
        rate = states.speed(self.b, self.p_b) - states.speed(self.a, self.p_a)
        length = size(apart)
        along = np.sum(apart * rate, axis=-1) / np.where(length > 0.0, length, 1.0)
        return length, np.asarray(along)
