"""Limits in a task hierarchy: a cascade of quadratic programs, one per level.

Limits have priority over all tasks. Each level minimizes the error of its rows over the null space of the
levels above, subject to all limits. A limit therefore changes a higher level only where the lower levels
cannot satisfy it. If no inputs satisfy all limits, their weighted violation is minimized first, group by
group in the order in which they give way, and all levels keep that minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ..core.force_metric import Factor
from ..core.giving_way import GivingWay, Order
from ..core.input_selection import SelectedInputs
from ..core.nearest_inputs import (
    Motors,
    OpenInputs,
    block_diagonal,
    nearest_inputs,
    touched_limits,
    violated_limits,
    widened_metric,
    within_motors,
)
from ..core.solution import QPInfo, Status
from ..limits.limit_table import InputRows
from .levels import ControllableBasis, LevelDirections, LevelRows, level_directions

SLACK = 1e-9  # relaxation of all bounds against rounding from level to level, relative to the largest bound
FLAT = 1e-7  # regularization of the Hessian in the null space of a level, relative to its largest eigenvalue
ROUNDS = 3  # iterations that recentre the regularization at the solution, so that it does not bias it


@dataclass(eq=False)
class HierarchyInputs(SelectedInputs):
    """Inputs of a hierarchy: `SelectedInputs`, and

    Attributes:
        s: coordinates of the acceleration a0 + E s (r,).
        limited: whether limits changed the solution.
    """

    s: Array = field(default_factory=lambda: np.zeros(0))
    limited: bool = False


class LimitedLevels:
    """Solves the levels under limits in order of priority, in variables c = (s, z) with inputs x = K c."""

    def __init__(
        self,
        basis: ControllableBasis,
        metric: Factor,
        limits: InputRows,
        *,
        solver: str,
        rank_tol: float,
        order: Order,
        motors: Motors,
    ) -> None:
        K = np.concatenate([basis.to_x, basis.internal], axis=1)
        self._n, self._r = basis.to_x.shape
        shares = limits.R.shape[1] - self._n
        self._K = block_diagonal(K, np.eye(shares)) if shares else K
        self._metric, self._given = widened_metric(metric, shares), limits
        self._solver, self._rank_tol, self._order, self._motors = solver, rank_tol, order, motors
        self._iterations, self._time, self._largest = 0, 0.0, QPInfo()

    def run(self, levels: Sequence[LevelRows], start: Array, rest: Array, near: Array) -> HierarchyInputs:
        """All levels, then in the remaining null space s nearest to `rest` (r,) and x nearest to `near` (n,).

        Args:
            levels: highest priority first.
            start: solution s (r,) without limits.
            rest: desired s (r,) in the null space of all levels.
            near: desired x (n,) of inputs that cause no acceleration; zero gives the least torque.
        """
        n, wide_n = self._n, len(self._K)
        near = np.append(near, np.zeros(wide_n - n))
        c, feasible = self._begin(np.concatenate([start, self._K[:, self._r :].T @ near]))
        Z = np.eye(wide_n)
        wide = [LevelRows(self._widened(rows.A), rows.b, rows.zero, rows.damping) for rows in levels]
        wide.append(LevelRows(self._widened(np.eye(self._r)), rest, 1.0, 0.0))
        wide.append(LevelRows(self._K[:n], near[:n], float(np.linalg.norm(self._K[:n])), 0.0))
        if wide_n > n:
            wide.append(LevelRows(self._K[n:], near[n:], 1.0, 0.0))  # the smallest shares
        for rows in wide:
            found = level_directions(rows, c, Z, self._rank_tol)
            c = c + Z @ self._step(found, c, Z)
            Z = Z @ found.left
        return self._result(c, feasible)

    def _widened(self, A: Array) -> Array:
        """Rows on s as rows on c = (s, z)."""
        return np.concatenate([A, np.zeros((len(A), len(self._K) - self._r))], axis=1)

    def _begin(self, c: Array) -> tuple[Array, bool]:
        """A feasible start c and True, or one of least violation and False; sets the bounds of all levels."""
        limits = self._given
        size = 1.0 + max(_largest(limits.lower), _largest(limits.upper))
        slack = SLACK * size
        self._limits = replace(limits, lower=limits.lower - slack, upper=limits.upper + slack)
        inputs = OpenInputs(np.zeros_like(c), self._K, self._metric)
        start = self._nearest(inputs, limits, c, None)
        if start is not None:
            return start, True
        given = GivingWay(inputs, limits, self._order, self._solver)
        given.run(None)
        self._limits = given.limits.let_out(np.ones(limits.count, dtype=bool), inputs.at(given.z)[1], slack)
        return given.z, False

    def _step(self, found: LevelDirections, c: Array, Z: Array) -> Array:
        """The y that minimizes the error of this level, with c + Z y within the limits."""
        centre = found.y
        if len(found.values) == 0:
            return centre
        curvature = found.values**2 + found.damped
        flat = FLAT * float(curvature[0])
        H = (found.used * curvature) @ found.used.T + flat * (found.left @ found.left.T)
        inputs = OpenInputs(self._K @ c, self._K @ Z, self._metric)
        y, goal = np.zeros(len(centre)), centre
        for _ in range(ROUNDS if found.left.shape[1] else 1):
            best = self._nearest(inputs, self._limits, goal, H)
            if best is None or best is centre:
                return y if best is None else centre
            moved = float(np.abs(best - y).max())
            y = best
            if moved <= 1e-12 * (1.0 + float(np.abs(y).max())):
                break
            goal = centre + found.left @ (found.left.T @ y)
        return y

    def _nearest(self, inputs: OpenInputs, limits: InputRows, goal: Array, H: Array | None) -> Array | None:
        """The z nearest to the goal within the limits: the goal itself if feasible, None if no z is."""
        found = nearest_inputs(inputs, limits, goal, H, self._solver)
        if found.status == "inside":
            return goal
        self._iterations += found.qp.iterations
        self._time += found.qp.time
        if found.qp.variables >= self._largest.variables:
            self._largest = found.qp
        return found.z if found.status == "optimal" else None

    def _result(self, c: Array, feasible: bool) -> HierarchyInputs:
        n = self._n
        x, u = within_motors(OpenInputs(np.zeros_like(c), self._K, self._metric), c, self._motors)
        if not np.array_equal(x, self._K @ c):
            c = np.linalg.lstsq(self._K, x, rcond=None)[0]
        return HierarchyInputs(
            x[:n],
            u[:n],
            Status.LIMITED if feasible else Status.INFEASIBLE,
            active=touched_limits(self._given, u),
            violations={} if feasible else violated_limits(self._given, u),
            rows=self._given,
            qp=replace(self._largest, iterations=self._iterations, time=self._time),
            s=c[: self._r],
            limited=True,
            shares=u[n:],
        )


def _largest(bounds: Array) -> float:
    """Largest size of a finite bound."""
    finite = np.abs(bounds[np.isfinite(bounds)])
    return float(finite.max(initial=0.0))
