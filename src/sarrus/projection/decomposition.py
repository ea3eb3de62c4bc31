"""The split of every vector at the constraint manifold, from a singular value decomposition of J.

With a metric W = L L.T the decomposition is taken of J_W = J W^(-1/2), here with the Cholesky factor in place
of the square root ([Aghili2005] II-A.1, corrected, and VII-B):

    J L^-T = U diag(s) V.T        V = [V1 V2], the first `rank` columns and the others          (1)
    N      = L^-T V2              N.T W N = 1, J N = 0                       [Aghili2005] eq. (4)
    P      = N N.T W              onto the tangent directions, P P = P                          (2)
    J^+    = L^-T V1 diag(1/s) U1.T                                          [Aghili2005] eq. (15), (16)

Velocities split with P, forces with P.T. Nothing here needs the rows of J to be independent, or to exist. The
kernel computes (1) (kernels/solve/factor/metric_split.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, numbers, numeric
from ..errors import InputError

Kind = Literal["velocity", "force"]


@dataclass(frozen=True)
class Decomposition:
    """Tangent and normal parts of vectors for one constraint Jacobian, in one metric.

    Attributes:
        rank: number of independent rows of J.
        singular_values: of J in the metric, descending, (min(nc, nv),).
        metric: the metric W (nv, nv), or None for the Euclidean one.
    """

    rank: int
    singular_values: Array
    metric: Array | None
    _V: Array = field(repr=False)  # L^-T V (nv, nv), orthonormal in the metric
    _R: Array = field(repr=False)  # U diag(1/s) (nc, min(nc, nv))

    @property
    def dof(self) -> int:
        """nv - rank, the dimension of the tangent directions."""
        return len(self._V) - self.rank

    @property
    def N(self) -> Array:
        """Null-space basis (nv, dof), orthonormal in the metric, J N = 0."""
        return self._V[:, self.rank :]

    @property
    def normal_basis(self) -> Array:
        """Basis (nv, rank) of the directions normal to N, orthonormal in the metric."""
        return self._V[:, : self.rank]

    @property
    def _rows(self) -> Array:
        return self._R[:, : self.rank]

    @property
    def P(self) -> Array:
        """Projector onto the tangent directions (nv, nv): P = N N.T W."""
        return self.N @ self._dual(self.N).T

    @property
    def pinv(self) -> Array:
        """Pseudoinverse of J in the metric (nv, nc). Prefer `solve`, which applies it."""
        return self.normal_basis @ self._rows.T

    def tangent(self, x: npt.ArrayLike, kind: Kind = "velocity") -> Array:
        """Part of x along the tangent directions, (nv,) or (nv, k).

        Args:
            x: a vector, or vectors as columns, in the units of velocities or of forces.
            kind: "velocity" applies P, "force" applies P.T; they agree in the Euclidean metric.
        """
        return self._split(self.N, x, kind)

    def normal(self, x: npt.ArrayLike, kind: Kind = "velocity") -> Array:
        """Part of x across the tangent directions, x = tangent(x) + normal(x). Arguments as in `tangent`."""
        return self._split(self.normal_basis, x, kind)

    def solve(self, b: npt.ArrayLike) -> Array:
        """The smallest x (nv,) in the metric with J x = b, or nearest to it where rows of b conflict.

        Args:
            b: right side (nc,), or several as columns (nc, k).
        """
        b = numbers(b, "b")
        if b.ndim not in (1, 2) or b.shape[0] != self._rows.shape[0]:
            raise InputError(
                f"`b` must have one entry per row of J, {self._rows.shape[0]}; got shape {b.shape}."
            )
        return np.asarray(self.normal_basis @ (self._rows.T @ b))

    def _dual(self, basis: Array) -> Array:
        """W basis: the forces that go with a basis of velocities."""
        return basis if self.metric is None else self.metric @ basis

    def _split(self, basis: Array, x: npt.ArrayLike, kind: Kind) -> Array:
        x = numbers(x, "x")
        if x.ndim not in (1, 2) or x.shape[0] != basis.shape[0]:
            raise InputError(
                f"`x` must have {basis.shape[0]} entries, one per coordinate; got shape {x.shape}."
            )
        if not isinstance(kind, str) or kind not in ("velocity", "force"):
            raise InputError(f'`kind` must be "velocity" or "force", got {kind!r}.')
        if kind == "velocity":
            return np.asarray(basis @ (self._dual(basis).T @ x))
        return np.asarray(self._dual(basis) @ (basis.T @ x))


def full_svd(J: Array) -> tuple[Array, Array, Array]:
    """U (nc, nc), s (min(nc, nv),), V.T (nv, nv) with J = U[:, :k] diag(s) V.T[:k]; empty J allowed."""
    nc, nv = J.shape
    if nc == 0 or nv == 0:
        return np.eye(nc), np.zeros(0), np.eye(nv)
    U, s, Vt = np.linalg.svd(J)
    return U, s, Vt


class RankedSVD(NamedTuple):
    """J = U[:, :k] diag(s) Vt[:k], k = min(nc, nv), of which `rank` singular values count as nonzero."""

    U: Array
    s: Array
    Vt: Array
    rank: int

    @property
    def N(self) -> Array:
        """Orthonormal basis (nv, nv - rank) of the null space of J."""
        return self.Vt[self.rank :].T

    @property
    def lost(self) -> Array:
        """Orthonormal basis (nc, nc - rank) of the left null space, w.T J = 0."""
        return self.U[:, self.rank :]


def ranked_svd(J: Array, tol: float, rank: int | None = None) -> RankedSVD:
    """SVD of a dimensionless J; singular values above `tol` count as nonzero, or the first `rank`."""
    U, s, Vt = full_svd(J)
    return RankedSVD(U, s, Vt, count_above(s, tol, absolute=True) if rank is None else rank)


def rank_of(J: Array, tol: float) -> int:
    """How many singular values of a dimensionless J exceed `tol`."""
    return ranked_svd(J, tol).rank


def count_above(singular_values: Array, tol: float, absolute: bool) -> int:
    """How many singular values exceed `tol`, or `tol` times the largest."""
    if singular_values.size == 0:
        return 0
    return int(np.sum(singular_values > (tol if absolute else tol * singular_values[0])))


def as_matrix(value: npt.ArrayLike, name: str) -> Array:
    """An argument as a finite float64 matrix; `name` is its name in messages."""
    matrix = numeric(value, f"`{name}`", "a matrix of finite numbers")
    if matrix.ndim != 2:
        raise InputError(f"`{name}` must be a matrix, got an array of shape {matrix.shape}.")
    if not np.all(np.isfinite(matrix)):
        raise InputError(
            f"`{name}` has entries that are NaN or infinite; every entry must be a finite number."
        )
    return matrix


def metric_factor(metric: npt.ArrayLike, nv: int) -> Array:
    """Lower Cholesky factor of a metric, or the reason why it is none."""
    W = as_matrix(metric, "metric")
    if W.shape != (nv, nv):
        raise InputError(f"`metric` must have shape ({nv}, {nv}), one row per coordinate; got {W.shape}.")
    if np.max(np.abs(W - W.T), initial=0.0) > 1e-9 * np.max(np.abs(W), initial=0.0):
        worst = np.max(np.abs(W - W.T))
        raise InputError(f"`metric` must be symmetric; it differs from its transpose by {worst:.3g}.")
    try:
        return np.asarray(np.linalg.cholesky((W + W.T) / 2))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh((W + W.T) / 2)[0])
        raise InputError(
            f"`metric` must be positive definite; its smallest eigenvalue is {least:.3g}. "
            "Use None for the Euclidean metric."
        ) from None


def check_rank_tol(rank_tol: float) -> None:
    """Refuse a tolerance that is no number in [0, 1)."""
    if not isinstance(rank_tol, (int, float)) or not 0.0 <= rank_tol < 1.0:
        raise InputError(f"`rank_tol` must be at least 0 and below 1, got {rank_tol}.")
