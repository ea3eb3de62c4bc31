"""ClosureRows: the relative motions of frame B in frame A that a closed joint does not allow."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._kernel import CLOSURE_ANGULAR
from ...arrays import Array
from ..base.axes import nearest_frame

EVERY = (0, 1, 2)


@dataclass(frozen=True)
class ClosureRows:
    """Rows by index of axis, and the axes themselves as columns, in frame A (and B).

    Attributes:
        linear: Indices of the directions whose displacement is zero.
        angular: "ANY" (no angular rows), "ACROSS", "ROTATION" or "COSINE": kernels/constraints/closure.hpp.
        turned: Indices that name the angular rows.
        directions: Orthonormal columns, of which the linear rows take theirs.
        across: The two axes of A (columns, (3, 2)) that B's axis must be perpendicular to.
        axis: B's axis.
        pitch: Advance along the axis [m/rad], measured about across[0] x across[1].
        pitch_row: Index of the linear row that follows the thread, or -1.
    """

    linear: tuple[int, ...]
    angular: str = "ANY"
    turned: tuple[int, ...] = ()
    directions: Array = field(default_factory=lambda: np.eye(3))
    across: Array = field(default_factory=lambda: np.zeros((3, 2)))
    axis: Array = field(default_factory=lambda: np.zeros(3))
    pitch: float = 0.0
    pitch_row: int = -1

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, object]:
        """As the kernel takes them, for frames with these rotations on their nodes; without their origins."""
        return {
            "R_aA": R_aA,
            "R_bB": R_bB,
            "directions": (R_aA @ self.directions).T,
            "across_a": (R_aA @ self.across).T,
            "across_b": (R_bB @ self.across).T,
            "axis_b": R_bB @ self.axis,
            "pitch": self.pitch,
            "pitch_row": self.pitch_row,
            "linear": sum(1 << i for i in self.linear),
            "angular": CLOSURE_ANGULAR[self.angular],
        }


def axis_rows(axis: Array, along: bool, across: bool) -> ClosureRows:
    """B's axis stays parallel to A's; no displacement along the axis, across it, or both.

    Rows are named after the axes of A: the one nearest to `axis` for what is along it.
    """
    k, columns = nearest_frame(axis)
    others = tuple(i for i in EVERY if i != k)
    linear = tuple(i for i in EVERY if (along if i == k else across))
    return ClosureRows(linear, "ACROSS", others, columns, columns[:, others], axis)
