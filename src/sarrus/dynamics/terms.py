"""Terms: the equations of motion of one state. What is computed from them does not depend on the system.

M a + h = tau + J.T lam        phi = 0        J v = b        J a = gamma
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array


@dataclass(frozen=True)
class Terms:
    """The equations of motion of one state (or of a batch: every shape then has the batch axes in front).

    Attributes:
        M: mass matrix (nv, nv).
        h: Coriolis and gravity terms less declared forces (nv,).
        phi: residual of the constraints (nc,) [m, rad].
        J: constraint Jacobian (nc, nv).
        b: right side of J v = b (nc,).
        gamma: right side of J a = gamma (nc,).
    """

    M: Array
    h: Array
    phi: Array
    J: Array
    b: Array
    gamma: Array


@dataclass(frozen=True)
class Units:
    """Units that make metres and radians comparable, the tolerance on ranks, and names for messages.

    Attributes:
        unit: L for a length, 1 for an angle, per coordinate (nv,).
        row_unit: the same per constraint row (nc,).
        rank_tol: absolute tolerance on the singular values of the dimensionless J.
        coordinate_names: (nv).
        row_names: (nc).
    """

    unit: Array
    row_unit: Array
    rank_tol: float
    coordinate_names: tuple[str, ...]
    row_names: tuple[str, ...]

    @cached_property
    def per_row(self) -> Array:
        """1 / row_unit (nc,)."""
        return np.asarray(1.0 / self.row_unit)


@dataclass(frozen=True)
class Energy:
    """Energy [J] of one state: three numbers; of a batch: three arrays of its shape.

    Attributes:
        kinetic: of all bodies and reflected inertias.
        potential: in gravity (zero at the world's origin) and declared springs.
        total: their sum.
    """

    kinetic: float | Any
    potential: float | Any

    @property
    def total(self) -> float | Any:
        """Kinetic plus potential energy [J]."""
        return self.kinetic + self.potential
