"""Closing constraints: rows brought to zero by moving coordinates (kernels/solve/search/closing.hpp)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._kernel import CLOSED_TOL
from ..arrays import Array
from .system_kinematics import Kinematics

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Closing:
    """Where the iteration ended: pose q (nq,), dimensionless residual r, iterations used."""

    q: Array
    r: Array
    iterations: int

    @property
    def closed(self) -> bool:
        """Whether every row is closed."""
        return bool(np.max(np.abs(self.r), initial=0.0) <= CLOSED_TOL)


def close(
    system: Kinematics, q: Array, t: float, rows: Indices | None = None, columns: Indices | None = None
) -> Closing:
    """Move coordinates until rows close, near q (nq,).

    Args:
        system: whose constraints.
        q: where to start (nq,).
        t: time of the drives [s].
        rows: indices of the rows to close; default all that restrict positions.
        columns: indices of the coordinates to move; default all.
    """
    rows = np.flatnonzero(system.holonomic) if rows is None else rows
    columns = np.arange(system.nv) if columns is None else columns
    found, r, iterations = system.close(q, t, rows, columns)
    return Closing(found, np.where(np.isfinite(r), r, np.inf), iterations)
