"""EndStop: an elastic, damped stop of a coordinate or of the stroke of a cylinder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array, nonnegative, positive, text
from ...errors import InputError
from ..base.kind import Checks
from ..tree.bodies import UNLIMITED, check_limits
from ..tree.tree import Tree
from .forces import Force, ForceTable

__all__ = ["EndStop"]


@dataclass(frozen=True)
class EndStop(Force):
    """Elastic, damped stops at the ends of the range of one coordinate. They push, they never pull.

    Beyond an end by x they resist with stiffness x + damping x', and with nothing where that would pull. The
    spring stores energy, the damper takes it away; energy never grows. As limits, stop_stiffness and
    stop_damping of a joint, for a coordinate that has limits of its own, or stops of two kinds.

    Args:
        coordinate: Name of an angle or displacement, such as the stroke of a cylinder.
        limits: Where the stops are: (lower, upper) [rad, m]; None leaves a side open.
        stiffness: [N m/rad] or [N/m], positive.
        damping: [N m s/rad] or [N s/m], not negative.
    """

    checks: ClassVar[Checks] = {
        "coordinate": text, "limits": check_limits, "stiffness": positive, "damping": nonnegative
    }  # fmt: skip
    coordinate: str
    limits: Sequence[float | None]
    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if tuple(self.limits) == UNLIMITED:
            raise InputError(
                "an EndStop needs a place: limits=(lower, upper), one of them None for one side."
            )

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        iq, iv = tree.scalar(self.coordinate, where)
        table.add_stop(iq, iv, self.limits, self.stiffness, self.damping)

    def work(self) -> str:
        return "joints have damping" if self.damping else ""

    def tension(self, states: Any) -> Array:
        """Its force (B,) [N m, N] in states that measures see, positive at the upper stop."""
        x, rate = states.coordinate(self.coordinate)
        low, high = self.limits
        over = np.where(x < low, x - low, np.where(x > high, x - high, 0.0))
        push = self.stiffness * over + self.damping * rate
        return np.where(over * push > 0.0, push, 0.0)
