"""What this room needs to know of a system: its constraints as functions of (q, v, t), and its manifold.

Anything with these attributes can be split, assembled and swept: a mechanism of bodies and loops, or a
system that somebody wrote as a handful of functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import Array


class Kinematics(Protocol):
    """Constraints and manifold of a system.

    Attributes:
        nq, nv, nc: numbers of positions, velocities and constraint rows.
        coordinate_names: one name per velocity coordinate (nv).
        row_names: one name per row (nc).
        constraint_rows: rows of each constraint by its name, in the order of declaration.
        holonomic: which rows restrict positions (nc,); rolling rows restrict velocities only.
        unit: 1 for an angle, L for a length, per coordinate (nv,).
        row_unit: the same per row (nc,).
        row_kind: "m", "rad" or "" (a user's own unit) per row (nc).
        driven: whether motions are prescribed as functions of time.
        length: characteristic length L [m].
        rank_tol: absolute tolerance on singular values of the dimensionless J.
    """

    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def nc(self) -> int: ...
    @property
    def coordinate_names(self) -> tuple[str, ...]: ...
    @property
    def row_names(self) -> tuple[str, ...]: ...
    @property
    def constraint_rows(self) -> Mapping[str, slice]: ...
    @property
    def holonomic(self) -> npt.NDArray[np.bool_]: ...
    @property
    def unit(self) -> Array: ...
    @property
    def row_unit(self) -> Array: ...
    @property
    def row_kind(self) -> tuple[str, ...]: ...
    @property
    def driven(self) -> bool: ...
    @property
    def length(self) -> float: ...
    @property
    def rank_tol(self) -> float: ...

    def constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array, Array, Array]:
        """phi (nc,), J (nc, nv), b (nc,), gamma (nc,) at one state."""
        ...

    def whole_angles(self, q: Array, phi: Array, J: Array) -> tuple[Array, Array]:
        """phi and J with the rows of one-axis joints replaced by the whole angle between the two axes.

        The rows of such a joint vanish for anti-parallel axes too; these do not.
        """
        ...

    def integrate(self, q: Array, dv: Array) -> Array:
        """q moved by the tangent vector dv (nv,)."""
        ...

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent vector (nv,) that leads from q0 to q1."""
        ...


def dimensionless(system: Kinematics, J: Array) -> Array:
    """J with lengths divided by L: rows by their unit, columns times theirs."""
    return J * system.unit / system.row_unit[:, None]


def drift(system: Kinematics, phi: Array) -> float:
    """Largest |phi| [m], angles multiplied by the length L."""
    return float(np.max(np.abs(phi) / system.row_unit, initial=0.0)) * system.length
