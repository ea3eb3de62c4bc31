"""Levels: strict priorities by mass-weighted orthogonalization; [DeSapio2010] algorithms 1 and 2.

With X a basis of the tangent directions of the constraints, orthonormal in the mass metric, X.T M X = 1,

    a = a0 + X w,   w = X.T S.T u                                                                   (1)

is the response to the actuators (`dynamics.response`), and [DeSapio2010]'s products <A, B> = A.T M^-1 B of
orthogonalized Jacobians become plain ones. Of w, the actuators reach the span of U, w = U s; with task rows
A_i = J_i X U and Z_i an orthonormal basis of what the levels up to i leave open, Z_0 = 1,

    Q_i.T = N_(i-1).T J_i.T = M X U Z Z.T A_i.T        (Z = Z_(i-1))                   eq. (91)      (2)
    s_i = s_(i-1) + Z (A_i Z)^+ (wanted_i - J_i a0 - A_i s_(i-1))                      eq. (92), (95) (3)
    Z_i = Z null(A_i Z)                                                                eq. (94)      (4)

The pseudoinverse in (3) replaces the inverse of J_i M^-1 Q_i.T: what conflicts with higher levels or with the
constraints is met as far as possible, in the least-squares sense, and torques stay bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

from ...dynamics.control_kernel import descend_levels, mass_reach
from ...dynamics.forward import without_inertia
from ...dynamics.input_response import Response
from ..core.force_metric import Factor, into

Array = npt.NDArray[np.float64]


class Reach(NamedTuple):
    """What the actuators reach: a = a0 + E s, and the inputs x = to_x s + open z in the force metric.

    Attributes:
        E: X U (nv, r), columns orthonormal in the mass metric.
        to_x: least inputs for s (n, r).
        open: inputs that load the constraints only (n, n - r).
        size: |X| without units, against which zero is measured.
        dof: number of tangent directions; r < dof where some are not controllable.
    """

    E: Array
    to_x: Array
    open: Array
    size: float
    dof: int


class Rows(NamedTuple):
    """One level: A s = b without units, the size of what counts as zero in A, and its damping."""

    A: Array
    b: Array
    zero: float
    damping: float


class Split(NamedTuple):
    """What a level does with the directions open to it: how many it uses, those it leaves, its damping."""

    rank: int
    left: Array
    damped: float = 0.0


class Taken(NamedTuple):
    """A Z taken apart: directions that a level uses and leaves, singular values, what they are damped by."""

    U: Array
    values: Array
    used: Array
    left: Array
    damped: float

    @property
    def rank(self) -> int:
        """Number of directions that the level uses."""
        return len(self.values)

    def solve(self, right: Array) -> Array:
        """The least y with A Z y = right, damped where chosen."""
        gains = self.values / (self.values * self.values + self.damped)
        return np.asarray(self.used @ (gains * (right @ self.U)))


def reach(response: Response, factor: Factor, least_feel: float) -> Reach:
    """The reach (1) of the actuators.

    Args:
        response: of the state.
        factor: of the force metric, u = factor x.
        least_feel: motions of which the actuators feel less than this share count as out of reach.
    """
    N, M, columns, unit = response.N, response.terms.M, response.columns, response.units.unit
    n, dof = len(columns), response.dof
    if dof == 0:
        return Reach(np.zeros((len(M), 0)), np.zeros((n, 0)), np.eye(n), 0.0, 0)
    found = mass_reach(N, M, unit, columns, factor, least_feel)
    if isinstance(found, bool):
        raise without_inertia()
    if found is not None:
        E, to_x, open_, size = found
        return Reach(E, to_x, open_, size, dof)
    L, info = lapack.dpotrf(N.T @ (M @ N), lower=1)
    if info:
        raise without_inertia()
    X = blas.dtrsm(1.0, L, N.T, lower=1).T  # dtrtrs would start threads
    size = float(np.linalg.norm(X / unit[:, None]))
    felt = np.abs(np.diagonal(lapack.dgeqp3(N[columns] / unit[columns, None])[0]))
    r = int(np.count_nonzero(felt > least_feel))
    U, values, Vt, info = lapack.dgesdd(into(X[columns].T, factor))
    if info:
        raise np.linalg.LinAlgError("the singular values of the actuators' reach did not converge.")
    return Reach(X @ U[:, :r], Vt[:r].T / values[:r], Vt[r:].T, size, dof)


class Level(NamedTuple):
    """Task rows J a = wanted of one level (k, nv), (k,), their units (k,), and its damping."""

    J: Array
    wanted: Array
    unit: Array
    damping: float


def split(rows: Rows, Z: Array, rank_tol: float) -> Taken:
    """What a level does with the directions Z that are open to it."""
    m = Z.shape[1]
    if len(rows.b) == 0 or m == 0:
        return Taken(np.zeros((len(rows.b), 0)), np.zeros(0), np.zeros((m, 0)), np.eye(m), 0.0)
    # Vt must be square: all rows of V are needed, not all columns of U
    U, values, Vt, info = lapack.dgesdd(rows.A @ Z, full_matrices=int(len(rows.b) < m))
    if info:
        raise np.linalg.LinAlgError("the singular values of a task did not converge.")
    rank = int(np.count_nonzero(values > rank_tol * rows.zero))
    damped = 0.0
    if rows.damping and rank:
        # d^2 grows smoothly from zero where the weakest direction falls below the threshold
        threshold = rows.damping * float(np.linalg.norm(rows.A, 2))
        weakest = float(values[rank - 1])
        damped = max(threshold * threshold - weakest * weakest, 0.0)
    return Taken(U[:, :rank], values[:rank], Vt[:rank].T, Vt[rank:].T, damped)


class Descent(NamedTuple):
    """All levels: their rows, s (r,), what stays open Z (r, m), and how each level went; (3), (4)."""

    rows: list[Rows]
    s: Array
    Z: Array
    splits: list[Split]


def descend(levels: Sequence[Level], space: Reach, response: Response, rank_tol: float) -> Descent:
    """Level by level, in one call of kernels/control/priority_levels.hpp where every rank is beyond doubt."""
    nv, unit = len(response.a0), response.units.unit
    J, wanted, units = np.zeros((0, nv)), np.zeros(0), np.zeros(0)
    if len(levels) == 1:
        J, wanted, units = levels[0][:3]
    elif levels:
        J = np.concatenate([level.J for level in levels])
        wanted = np.concatenate([level.wanted for level in levels])
        units = np.concatenate([level.unit for level in levels])
    ends = list(accumulate(len(level.wanted) for level in levels))
    at = np.array(ends, dtype=np.int64)
    A, b, zero, s, Z, left = descend_levels(J, wanted, units, at, space.E, response.a0, unit, space.size)
    rows, begin = [], 0
    for level, end, size in zip(levels, ends, zero.tolist(), strict=True):
        rows.append(Rows(A[begin:end], b[begin:end], size, level.damping))
        begin = end
    splits = [Split(one.shape[0] - one.shape[1], one) for one in left]
    if any(level.damping for level in levels):
        r = space.E.shape[1]
        return _go_on(Descent(rows, np.zeros(r), np.eye(r), []), rank_tol)
    return _go_on(Descent(rows, s, Z, splits), rank_tol)


def _go_on(down: Descent, rank_tol: float) -> Descent:
    """The levels that are still missing, through singular values."""
    _, s, Z, splits = down
    for rows in down.rows[len(splits) :]:
        found = split(rows, Z, rank_tol)
        s = s + Z @ found.solve(rows.b - rows.A @ s)
        Z = Z @ found.left
        splits.append(Split(found.rank, found.left, found.damped))
    return Descent(down.rows, s, Z, splits)
