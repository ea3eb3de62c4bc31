"""CoulombFriction: dry friction of drives, brakes and seals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array, nonnegative, positive, text
from ..base.kind import Checks
from ..tree.bodies import FRICTION_SPEED, check_breakaway
from ..tree.tree import Tree
from .forces import Force, ForceTable

__all__ = ["CoulombFriction"]


@dataclass(frozen=True)
class CoulombFriction(Force):
    """Dry friction on one velocity coordinate that sticks: of a drive, a seal, a brake. Adds to the joint's.

    Sliding it resists with friction + (breakaway - friction) exp(-(v / friction_speed)^2), at rest with what
    holds the coordinate, up to breakaway; as friction_model="coulomb" of a joint.

    Args:
        coordinate: Name of a velocity coordinate.
        friction: Coulomb friction [N m] or [N], not negative.
        breakaway: Friction at rest [N m] or [N]; 0: the same as `friction`.
        friction_speed: Stribeck speed [rad/s] or [m/s].
    """

    needs_position: ClassVar[bool] = False
    sticks: ClassVar[bool] = True
    checks: ClassVar[Checks] = {
        "coordinate": text, "friction": nonnegative, "breakaway": nonnegative, "friction_speed": positive
    }  # fmt: skip
    coordinate: str
    friction: float
    breakaway: float = 0.0
    friction_speed: float = FRICTION_SPEED

    def __post_init__(self) -> None:
        super().__post_init__()
        check_breakaway(self.friction, self.breakaway, "CoulombFriction")

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        k = tree.coordinate(self.coordinate, where)
        table.add_dry_friction(k, self.friction, self.breakaway, self.friction_speed)

    def tension(self, states: Any) -> Array:
        """Its part (B,) [N m, N] of the dry friction of the coordinate, positive against positive speed."""
        levels = (self.friction, max(self.breakaway, self.friction), self.friction_speed)
        return np.asarray(states.dry_friction(self.coordinate, levels))

    def work(self) -> str:
        return "joints have friction" if self.friction or self.breakaway else ""
