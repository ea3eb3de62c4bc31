"""Interface to the constraints of a system: phi, J, b, gamma as functions of (q, v, t), and its manifold.

A compiled mechanism implements it (`constraints.evaluate.Evaluator`), and so does a CustomSystem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import Array

UNDETERMINED = 1e-7  # singular values below this belong to freedoms


class Scales(Protocol):
    """Units of coordinates (nv,) and of rows (nc,), which make metres and radians comparable."""

    @property
    def unit(self) -> Array: ...
    @property
    def row_unit(self) -> Array: ...


class Kinematics(Scales, Protocol):
    """Constraints and configuration manifold of a system.

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

    def close(
        self, q: Array, t: float, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
    ) -> tuple[Array, Array, int]:
        """Pose (nq,) near q at which these rows close, moving these coordinates; see `closing.close`.

        Also what is left of the rows, without units, and the number of iterations.
        """
        ...

    def loses_rank(self, q: Array, t: float, rank: int = -1) -> bool:
        """Whether J, of this rank or (-1) by `rank_tol`, loses rank at the pose q (nq,) only: rows that are
        independent nearby are dependent there (kernels/solve/search/rank_loss.hpp)."""
        ...

    def integrate(self, q: Array, dv: Array) -> Array:
        """q moved by the tangent vector dv (nv,)."""
        ...

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent vector (nv,) that leads from q0 to q1."""
        ...


def dimensionless(scales: Scales, J: Array) -> Array:
    """J with lengths divided by L: columns times their unit, rows divided by theirs."""
    return J * scales.unit / scales.row_unit[:, None]


def undetermined(
    system: Kinematics, J: Array, rows: npt.NDArray[np.intp], held: Sequence[int]
) -> tuple[str, ...]:
    """A coordinate for each freedom that J (of these rows) and the held coordinates leave, by pivoting."""
    from scipy.linalg import qr

    free = np.setdiff1d(np.arange(system.nv), np.asarray(held, dtype=int))
    values, Vt = np.linalg.svd((J * system.unit / system.row_unit[rows, None])[:, free])[1:]
    N = Vt[int(np.sum(values > UNDETERMINED)) :]
    known = N.size and np.all(np.isfinite(N))  # rows of 1e300 have no singular vectors
    picked = qr(N, pivoting=True, mode="r")[1][: len(N)] if known else []
    return tuple(system.coordinate_names[free[k]] for k in sorted(picked))


def even_gamma(system: Kinematics, q: Array, t: float) -> Callable[[Array], Array]:
    """The part of gamma / row_unit (nc,) that is quadratic in v (nv,), -J'(v) v, as a function of v.

    Averaging gamma(v) and gamma(-v) removes the part linear in v that drives add, the value at rest theirs.
    """
    at_rest = system.constraints(q, np.zeros(system.nv), t)[3]

    def quadratic(v: Array) -> Array:
        forth, back = (system.constraints(q, sign * v, t)[3] for sign in (1.0, -1.0))
        return np.asarray(((forth + back) / 2.0 - at_rest) / system.row_unit)

    return quadratic


def drift(system: Kinematics, phi: Array) -> float:
    """Largest |phi| [m], angles multiplied by the length L."""
    return float(np.max(np.abs(phi) / system.row_unit, initial=0.0)) * system.length
