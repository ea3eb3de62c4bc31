"""Floor: the plane that pictures show below a mechanism. It carries nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, number
from ..base.axes import Axis, canonical_axis, direction
from ..base.restore import Restored


@dataclass(frozen=True)
class Floor(Restored):
    """A plane in the world.

    Args:
        height: Of the plane above the origin, along the normal [m].
        normal: "x", "y", "z" or a vector (3,) in the world, upwards.
    """

    height: float
    normal: Axis = "z"

    def __post_init__(self) -> None:
        object.__setattr__(self, "height", number(self.height, "height of the floor"))
        object.__setattr__(self, "normal", canonical_axis(self.normal, "normal of the floor"))

    @property
    def up(self) -> Array:
        """The normal as a unit vector (3,)."""
        return np.array(direction(self.normal))
