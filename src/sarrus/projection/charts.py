"""Charts: minimal coordinates of the constraint manifold, chosen by the library.

With x the increment from the chart's origin, q = integrate(origin, x), all quantities without units,

    y_q = R_q x,   x = R_q.T y_q + S_q w,   phi(q, t) = 0 for w     [Spencer2004] eq. (2.33), (2.35)   (1)
    y_v = R_v v,   v = R_v.T y_v + S_v z,   J v = b for z                                              (2)
    y_q' = R_q T(x)^-1 v,   y_v' = R_v a                            [Spencer2004] 2.3.3.1, remark 3    (3)

where the rows of R and the columns of S together are orthonormal: rows of the identity (generalized
coordinate partitioning) or the tangent space at the origin and its complement (tangent-space method). J S has
full column rank where the chart is regular; rows of J may depend on each other. T is the derivative of the
exponential for coordinates of quaternions, 1 elsewhere. Rows that restrict velocities only are in (2) alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._kernel import CLOSED, CLOSED_ENOUGH, NEWTON_STEPS
from ..arrays import Array
from ..models.twists import dexp
from .decomposition import full_svd, ranked_svd
from .local_coordinates import choose
from .system_kinematics import Kinematics, dimensionless

LARGEST_TURN = 1.5  # of a quaternion from the origin of a chart [rad]


class ChartError(Exception):
    """No state has the coordinates that a chart was given."""


@dataclass(frozen=True)
class NullSpaces:
    """Tangent directions, orthonormal columns without units: N_q of positions, N_v of velocities."""

    N_q: Array
    N_v: Array

    @staticmethod
    def of(system: Kinematics, J: Array) -> NullSpaces:
        """From the Jacobian J (nc, nv)."""
        bare = dimensionless(system, J)
        N = ranked_svd(bare, system.rank_tol).N
        holonomic = np.asarray(system.holonomic)
        return NullSpaces(N if holonomic.all() else ranked_svd(bare[holonomic], system.rank_tol).N, N)


class LinearChart:
    """The chart (1)-(3) around one pose; see `partition_chart` and `tangent_chart`."""

    def __init__(
        self, system: Kinematics, twists: Sequence[slice], note: str, q: Array, split: tuple[Array, ...]
    ) -> None:
        """
        Args:
            system: whose constraints.
            twists: where rotation vectors and twists stand in v.
            note: what the chart is, in words.
            q: its origin (nq,).
            split: R_q, S_q, R_v, S_v as rows, columns, rows, columns.
        """
        self.note, self.size = note, (len(split[0]), len(split[2]))
        self._system, self._twists, self._origin = system, twists, q
        self._R_q, self._S_q, self._R_v, self._S_v = split
        self._x = np.zeros(system.nv)
        self._holonomic = np.flatnonzero(system.holonomic)
        self._scale = system.row_unit[self._holonomic]

    def coordinates(self, q: Array, v: Array, J: Array) -> Array:
        """y = (y_q, y_v) of a state on the manifold, J its Jacobian."""
        x = self._system.difference(self._origin, q) / self._system.unit
        return np.concatenate([self._R_q @ x, self._velocity_coordinates(v / self._system.unit, J)])

    def begin(self, q: Array) -> None:
        """Start Newton's method for the next states at q."""
        self._x = self._system.difference(self._origin, q) / self._system.unit

    def state(self, y: Array, t: float) -> tuple[Array, Array, Array]:
        """q, v and J at the coordinates y, by Newton from the state found last.

        Raises:
            ChartError: no state there.
        """
        y_q, y_v = y[: self.size[0]], y[self.size[0] :]
        q, J, b = self._position(y_q, t)
        return q, self._system.unit * self._velocity(y_v, J, b), J

    def rates(self, t: float, q: Array, v: Array, a: Array, J: Array) -> Array:
        """y' at the state that `state` found last."""
        y_v = self._R_v @ (a / self._system.unit)
        return np.concatenate([self._R_q @ self._increment_rate(v), y_v])

    def quality(self, J: Array) -> float:
        """Smallest singular value of R N: 1 at best, 0 where the chart is singular."""
        at = NullSpaces.of(self._system, J)
        turns = [float(np.linalg.norm(self._x[where][-3:])) for where in self._twists]
        if max(turns, default=0.0) > LARGEST_TURN or (at.N_q.shape[1], at.N_v.shape[1]) != self.size:
            return 0.0
        values = [
            np.linalg.svd(R @ N, compute_uv=False) for R, N in ((self._R_q, at.N_q), (self._R_v, at.N_v))
        ]
        return min((float(s[-1]) for s in values if len(s)), default=1.0)

    def condition(self, J: Array) -> float:
        """Condition number of [R; J], lengths divided by L, [Spencer2004] 2.3.3.1, remark 1."""
        return condition(np.vstack([self._R_v, dimensionless(self._system, J)]))

    def _position(self, y_q: Array, t: float) -> tuple[Array, Array, Array]:
        """Newton for w in (1); q, J, b at the end."""
        system, w, last = self._system, self._S_q.T @ self._x, np.inf
        for _ in range(NEWTON_STEPS):
            x = self._R_q.T @ y_q + self._S_q @ w
            q = system.integrate(self._origin, system.unit * x)
            phi, J, b, _ = system.constraints(q, np.zeros(system.nv), t)
            r = phi[self._holonomic] / self._scale
            size = float(np.max(np.abs(r), initial=0.0))
            if size <= CLOSED or (size <= CLOSED_ENOUGH and size > 0.5 * last):
                self._x = x
                return q, J, b
            if not size < 1e3:
                break
            columns = dimensionless(system, J)[self._holonomic] @ self._twisted(x, self._S_q)
            w, last = w - least_squares(columns, r), size
        raise ChartError

    def _velocity(self, y_v: Array, J: Array, b: Array) -> Array:
        """v / unit from (2)."""
        bare = dimensionless(self._system, J)
        known = self._R_v.T @ y_v
        z = least_squares(bare @ self._S_v, b / self._system.row_unit - bare @ known)
        return np.asarray(known + self._S_v @ z)

    def _velocity_coordinates(self, x: Array, J: Array) -> Array:
        return np.asarray(self._R_v @ x)

    def _twisted(self, x: Array, directions: Array) -> Array:
        """T(x) applied to increments (nv, k) without units: the velocities they give."""
        out, unit = directions.copy(), self._system.unit
        for g in self._twists:
            scale = unit[g, None]
            out[g] = dexp((unit * x)[None, g])[0] @ (scale * directions[g]) / scale
        return out

    def _increment_rate(self, v: Array) -> Array:
        """x' = T(x)^-1 v at the increment found last, without units."""
        rate, unit = v / self._system.unit, self._system.unit
        for g in self._twists:
            rate[g] = np.linalg.solve(dexp((unit * self._x)[None, g])[0], v[g]) / unit[g]
        return np.asarray(rate)


def condition(A: Array) -> float:
    """Condition number of a matrix of full column rank; 1 where there is none."""
    s = np.linalg.svd(A, compute_uv=False)[: A.shape[1]] if A.size else np.ones(1)
    return float(s[0] / s[-1]) if s[-1] > 0.0 else np.inf


def least_squares(A: Array, b: Array) -> Array:
    """The least-squares solution of A x = b; the columns of A are independent where the chart is regular."""
    if A.shape[1] == 0:
        return np.zeros(0)
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(b))):
        raise ChartError
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0])


def partition_chart(system: Kinematics, twists: Sequence[slice], q: Array, J: Array) -> LinearChart:
    """Generalized coordinate partitioning in the coordinates that determine the others best.

    [Spencer2004] 2.3.3.1, remark 2. Where rows restrict velocities only, more positions than velocities are
    independent.
    """
    at, one = NullSpaces.of(system, J), np.eye(system.nv)
    chosen_q, chosen_v = choose(at.N_q), choose(at.N_v)
    split = []
    for chosen in (chosen_q, chosen_v):
        rest = np.setdiff1d(np.arange(system.nv), chosen)
        split += [one[chosen], one[:, rest]]
    names, rates = (", ".join(system.coordinate_names[i] for i in chosen) for chosen in (chosen_q, chosen_v))
    note = f"partition in {names}" + (f", velocities {rates}" if rates != names else "")
    return LinearChart(system, twists, note, q, tuple(split))


def tangent_chart(system: Kinematics, twists: Sequence[slice], q: Array, J: Array) -> LinearChart:
    """Tangent-space method: coordinates along the tangent space at the origin, [Spencer2004] 2.3.3."""
    return LinearChart(system, twists, "tangent space", q, tangent_split(NullSpaces.of(system, J)))


def tangent_split(at: NullSpaces) -> tuple[Array, ...]:
    """R_q, S_q, R_v, S_v of the tangent space and its complement."""
    out: list[Array] = []
    for N in (at.N_q, at.N_v):
        complement = full_svd(N.T)[2][N.shape[1] :].T
        out += [N.T, complement]
    return tuple(out)
