"""All coordinates of a closed robot as a function of some of them, on the branch of its default state.

Newton's method on the rows of each block (`partition`), along the straight line from the reference to the
given coordinates. A step along it is taken only if its correction is small and the determinant of no block
changes by more than a factor: where it vanishes branches meet, and steps come to an end before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .charts import Chart
from .partition import Partition

LOOSE = 1e-8  # residual that is accepted on the way
CORRECTION = 0.15  # largest Newton step on the way [rad], lengths divided by L
STEPS = 8  # Newton steps at one point of the way
SHORTEST = 1e-6  # of the way: shorter steps give up
FACTOR = 2.0  # by which a determinant may change in one step
FLAT = 1e-7  # singular value of a block at which coordinates no longer follow
LOST, SINGULAR = 1, 2
TROUBLE = {
    LOST: "the loops do not close on the way there from the default pose, on its branch",
    SINGULAR: "the loops are singular there: coordinates no longer follow from the given ones",
}


@dataclass(frozen=True)
class Follow:
    """Poses and what moves with the given coordinates.

    Attributes:
        q: Poses (B, nq); NaN where there is none.
        N: v = N v_given (B, nv, n).
        status: 0 or a key of TROUBLE (B,).
    """

    q: Array
    N: Array
    status: npt.NDArray[np.int_]


class LoopMap:
    """q as a function of the given coordinates.

    Args:
        mech: The closed robot.
        split: Its coordinates.
        q0: The reference pose (nq,), closed.
    """

    def __init__(self, mech: Any, split: Partition, q0: Array) -> None:
        self.mech, self.split = mech, split
        self.chart = Chart(mech, q0)
        self._rows = np.array([i for one in split.blocks for i in one.rows], dtype=int)

    # ------------------------------------------------------------------ evaluation

    def _terms(self, q: Array, v: Array | None = None) -> Any:
        return self.mech.terms(q, np.zeros((len(q), self.mech.nv)) if v is None else v)

    def _scaled(self, J: Array) -> Array:
        return np.asarray(J / self.mech.units.row_unit[:, None] * self.mech.units.unit)

    def _jacobian(self, q: Array) -> Array:
        return self._scaled(self._terms(q).J)

    def _matrix(self, block: Any, J: Array, slopes: Array) -> Array:
        """Rows of a block by the coordinates that follow, with those that keep spins."""
        own = J[:, block.rows[:, None], block.columns]
        if not len(block.kept):
            return own
        return np.concatenate([own, block.kept @ slopes[:, block.columns[:, None], block.columns]], axis=1)

    def _square(self, block: Any, J: Array, slopes: Array) -> Array:
        """The same with as many rows as columns."""
        own = np.swapaxes(block.basis, 0, 1) @ J[:, block.rows[:, None], block.columns]
        kept = block.kept @ slopes[:, block.columns[:, None], block.columns]
        return np.concatenate([own, kept], axis=1)

    def _slopes(self, q: Array) -> Array:
        """Derivative of the chart, without units."""
        unit = self.mech.units.unit
        return np.asarray(self.chart.slopes(q) / unit[:, None] * unit)

    def _determinants(self, q: Array) -> tuple[Array, Array]:
        """Sign and logarithm of the determinant of each block (B, blocks)."""
        J, slopes = self._jacobian(q), self._slopes(q)
        found = [np.linalg.slogdet(self._square(one, J, slopes)) for one in self.split.blocks]
        signs, logs = (np.array([one[k] for one in found]).reshape(len(found), len(q)).T for k in (0, 1))
        return signs, logs

    def _same_branch(self, q: Array, ahead: Array) -> npt.NDArray[np.bool_]:
        """Whether no block has turned over, or nearly, between two poses (B,)."""
        (sign, log), (sign_ahead, log_ahead) = self._determinants(q), self._determinants(ahead)
        with np.errstate(invalid="ignore"):
            near = np.abs(log_ahead - log) <= np.log(FACTOR)
        return np.asarray(np.all((sign == sign_ahead) & near, axis=1))

    def _newton(self, q: Array) -> tuple[Array, Array, Array]:
        """Newton step (B, nv) at poses, residual (B,) and smallest singular value of the blocks (B,)."""
        terms, slopes = self._terms(q), self._slopes(q)
        phi, J = terms.phi / self.mech.units.row_unit, self._scaled(terms.J)
        step, least = np.zeros((len(q), self.mech.nv)), np.full(len(q), np.inf)
        x = self.chart.of(q) / self.mech.units.unit
        for block in self.split.blocks:
            rest = [phi[:, block.rows], x[:, block.columns] @ block.kept.T]
            solved, smallest = _solve(
                self._matrix(block, J, slopes), -np.concatenate(rest, axis=1)[..., None]
            )
            step[:, block.columns] = solved[..., 0]
            least = np.minimum(least, smallest)
        residual = np.max(np.abs(phi[:, self._rows]), axis=1, initial=0.0)
        return step, residual, least

    # ------------------------------------------------------------------ solution

    def solve(self, given_q: Array) -> Follow:
        """Follow the loops to given coordinates (B, n)."""
        goal = np.repeat(self.chart.q0[None], len(given_q), axis=0)
        goal[:, self.split.given_q] = given_q
        way = np.zeros((len(goal), self.mech.nv))
        way[:, self.split.given] = self.mech.difference(
            np.repeat(self.chart.q0[None], len(goal), axis=0), goal
        )[:, self.split.given]
        q, status = self._walk(goal, way)
        q, N, flat = self._finish(q, status)
        return Follow(q, N, np.where(status == 0, flat, status))

    def _walk(self, goal: Array, way: Array) -> tuple[Array, npt.NDArray[np.int_]]:
        """Along the way from the reference, each copy with steps of its own."""
        n = len(goal)
        q, done, step = np.repeat(self.chart.q0[None], n, axis=0), np.zeros(n), np.ones(n)
        status = np.zeros(n, dtype=int)
        while np.any(open_ := (done < 1.0) & (status == 0)):
            some = np.flatnonzero(open_)
            size = np.minimum(step[some], 1.0 - done[some])
            tried, fine = self._step(q[some], goal[some], way[some], (done[some], size))
            moved = some[fine]
            q[moved], done[moved] = tried[fine], done[moved] + size[fine]
            done[moved[done[moved] > 1.0 - 1e-12]] = 1.0
            step[moved] = 2.0 * size[fine]
            step[some[~fine]] = 0.5 * size[~fine]
            status[some[~fine & (0.5 * size < SHORTEST)]] = LOST
        return q, status

    def _step(
        self, q: Array, goal: Array, way: Array, along: tuple[Array, Array]
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Poses further along the way, and whether they are on the same branch."""
        done, size = along
        there = self.mech.integrate(
            np.repeat(self.chart.q0[None], len(q), axis=0), (done + size)[:, None] * way
        )
        N = self._tangent(q)[0]
        ahead = self.mech.integrate(q, np.einsum("bij,bj->bi", N, size[:, None] * way[:, self.split.given]))
        ahead[:, self.split.given_q] = there[:, self.split.given_q]
        last = done + size > 1.0 - 1e-12
        ahead[np.ix_(last, self.split.given_q)] = goal[np.ix_(last, self.split.given_q)]
        total, unit = np.zeros(len(q)), self.mech.units.unit
        residual = np.zeros(len(q))
        for _ in range(STEPS):
            move, residual, _ = self._newton(ahead)
            bad = ~np.isfinite(move).all(axis=1) | (np.max(np.abs(move), axis=1, initial=0.0) > 1.0)
            move[bad] = 0.0
            total += np.where(bad, np.inf, np.max(np.abs(move), axis=1, initial=0.0))
            ahead = self.mech.integrate(ahead, move * unit)
            if np.all((residual < LOOSE) | (total > CORRECTION)):
                break
        same = self._same_branch(q, ahead)
        return ahead, np.asarray((residual < LOOSE) & (total <= CORRECTION) & same)

    def _finish(self, q: Array, status: npt.NDArray[np.int_]) -> tuple[Array, Array, npt.NDArray[np.int_]]:
        """Newton steps to rounding; tangents; where blocks are singular."""
        for _ in range(3):
            move = self._newton(q)[0]
            q = self.mech.integrate(q, np.where(np.isfinite(move), move, 0.0) * self.mech.units.unit)
        N, least = self._tangent(q)
        flat = np.where(least < FLAT, SINGULAR, 0)
        bad = (status != 0) | (flat != 0)
        q[bad], N[bad] = np.nan, np.nan
        return q, N, flat

    def _tangent(self, q: Array) -> tuple[Array, Array]:
        """N (B, nv, n) with v = N v_given, and the smallest singular value of the blocks (B,)."""
        J, slopes, given = self._jacobian(q), self._slopes(q), self.split.given
        N, least = np.zeros((len(q), self.mech.nv, len(given))), np.full(len(q), np.inf)
        N[:, given, np.arange(len(given))] = 1.0
        unit = self.mech.units.unit
        for block in self.split.blocks:
            right = np.zeros((len(q), len(block.rows) + len(block.kept), len(given)))
            right[:, : len(block.rows)] = -J[:, block.rows[:, None], given] / unit[given]
            solved, smallest = _solve(self._matrix(block, J, slopes), right)
            N[:, block.columns] = solved * unit[block.columns, None]
            least = np.minimum(least, smallest)
        return N, least

    def drift(self, q: Array, v: Array) -> Array:
        """Accelerations (B, nv) at velocities v (B, nv) while the given coordinates keep theirs."""
        terms, slopes = self._terms(q, v), self._slopes(q)
        gamma, J = terms.gamma / self.mech.units.row_unit, self._scaled(terms.J)
        a = np.zeros((len(q), self.mech.nv))
        for block in self.split.blocks:
            right = np.concatenate([gamma[:, block.rows], np.zeros((len(q), len(block.kept)))], axis=1)
            solved, _ = _solve(self._matrix(block, J, slopes), right[..., None])
            a[:, block.columns] = solved[..., 0] * self.mech.units.unit[block.columns]
        return a


def _solve(A: Array, b: Array) -> tuple[Array, Array]:
    """Least squares of full column rank (B, m, n), (B, m, k), and the smallest singular values (B,)."""
    finite = np.asarray(np.isfinite(A).all(axis=(1, 2)))
    U, sizes, Vt = np.linalg.svd(np.where(finite[:, None, None], A, 0.0), full_matrices=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.swapaxes(Vt, 1, 2) @ ((np.swapaxes(U, 1, 2) @ b) / sizes[..., None])
    least = np.where(finite, sizes.min(axis=1, initial=np.inf), 0.0)
    return x, least
