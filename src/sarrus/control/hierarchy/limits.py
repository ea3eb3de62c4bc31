"""Limits in a hierarchy: every level gives way to the limits, the lowest first.

Limits come before all tasks: each level is a quadratic program in the directions that the levels above leave
open, with the same limits in all of them, so a limit never costs a higher level what a lower one can pay.
Where no inputs satisfy the limits at all, the least violation comes first and is then held.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...dynamics.control_kernel import inputs_within
from ..core.force_metric import Factor, applied
from ..core.input_selection import INFEASIBLE, INSIDE, OPTIMAL, TOUCHES, Choice, _active, _program
from ..core.solution import QPInfo, Status
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import FEASIBLE, solve, solve_softly
from .levels import Reach, Rows, Taken, split

Array = npt.NDArray[np.float64]

SLACK = 1e-9  # of the largest bound: what rounding may take from one level to the next
FLAT = 1e-7  # curvature along directions that a level does not see, relative to its largest
ROUNDS = 3  # of moving the centre of that curvature along, until it does not matter


@dataclass(frozen=True)
class Inputs(Choice):
    """Inputs of a hierarchy: all of `Choice`, and the motion s (r,) that they make."""

    s: Array = field(default_factory=lambda: np.zeros(0))
    limited: bool = False


class Cascade:
    """Levels under limits, one after the other, in the variables c = (s, z) with x = K c."""

    def __init__(self, space: Reach, factor: Factor, limits: InputRows, solver: str, rank_tol: float) -> None:
        self._K = np.concatenate([space.to_x, space.open], axis=1)
        self._r = space.to_x.shape[1]
        self._factor, self._given, self._solver, self._rank_tol = factor, limits, solver, rank_tol
        self._iterations, self._time, self._largest = 0, 0.0, QPInfo()

    def run(self, levels: Sequence[Rows], start: Array, rest: Array, near: Array) -> Inputs:
        """All levels, then the rest of the motion nearest to `rest` (r,), then inputs nearest to `near` (n,).

        Args:
            levels: highest priority first.
            start: s (r,) that the levels would choose without limits.
            rest: s (r,) that the directions left open shall have.
            near: x (n,) that inputs shall have where no motion sees them; zero is least torque.
        """
        n = len(self._K)
        c, feasible = self._begin(np.concatenate([start, self._K[:, self._r :].T @ near]))
        Z = np.eye(n)
        wide = [Rows(self._widened(rows.A), rows.b, rows.zero, rows.damping) for rows in levels]
        wide.append(Rows(self._widened(np.eye(self._r)), rest, 1.0, 0.0))
        wide.append(Rows(self._K, near, float(np.linalg.norm(self._K)), 0.0))
        for rows in wide:
            found = split(rows, Z, self._rank_tol)
            c = c + Z @ self._step(found, rows, c, Z)
            Z = Z @ found.left
        return self._result(c, feasible)

    def _widened(self, A: Array) -> Array:
        return np.concatenate([A, np.zeros((len(A), len(self._K) - self._r))], axis=1)

    def _begin(self, c: Array) -> tuple[Array, bool]:
        """Inputs within the limits, or of least violation; sets the bounds that all levels keep."""
        limits = self._given
        size = 1.0 + max(_largest(limits.lower), _largest(limits.upper))
        slack = SLACK * size
        self._limits = replace(limits, lower=limits.lower - slack, upper=limits.upper + slack)
        start = self._nearest(limits, np.zeros_like(c), self._K, c, None)
        if start is not None:
            return start, True
        program = _program(limits, self._factor, np.zeros_like(c), self._K, c, None)
        soft = solve_softly(program, limits.weights, self._solver)
        u = applied(self._factor, self._K @ soft.z)
        y = limits.R @ u
        cones = [replace(one, e=one.e + max(one.excess(u), 0.0) + slack) for one in limits.cones]
        self._limits = replace(
            limits,
            lower=np.minimum(limits.lower, y) - slack,
            upper=np.maximum(limits.upper, y) + slack,
            cones=tuple(cones),
        )
        return soft.z, False

    def _step(self, found: Taken, rows: Rows, c: Array, Z: Array) -> Array:
        """The y that is best for this level, c + Z y within the limits."""
        centre = found.solve(rows.b - rows.A @ c)
        if found.rank == 0:
            return centre
        curvature = found.values**2 + found.damped
        flat = FLAT * float(curvature[0])
        H = (found.used * curvature) @ found.used.T + flat * (found.left @ found.left.T)
        at, reach = self._K @ c, self._K @ Z
        y, goal = np.zeros(len(centre)), centre
        for _ in range(ROUNDS if found.left.shape[1] else 1):
            best = self._nearest(self._limits, at, reach, goal, H)
            if best is None or best is centre:
                return y if best is None else centre
            moved = float(np.abs(best - y).max())
            y = best
            if moved <= 1e-12 * (1.0 + float(np.abs(y).max())):
                break
            goal = centre + found.left @ (found.left.T @ y)
        return y

    def _nearest(self, rows: InputRows, x: Array, Z: Array, goal: Array, H: Array | None) -> Array | None:
        """The z nearest to the goal with x + Z z within the rows: the goal if that is, None without one."""
        began = time.perf_counter()
        if self._solver == "kernel":
            R, lower, upper = rows.R, rows.lower, rows.upper
            how, _, _, _, iterations, z = inputs_within(
                x, Z, goal, self._factor, R, lower, upper, H, TOUCHES, FEASIBLE
            )
            if how == INSIDE:
                return goal
            if how in (OPTIMAL, INFEASIBLE):
                self._count(len(goal), len(R), 0, iterations, time.perf_counter() - began)
                return np.asarray(z) if how == OPTIMAL else None
        u = applied(self._factor, x + Z @ goal)
        if rows.inside(rows.R @ u, u):
            return goal
        program = _program(rows, self._factor, x, Z, goal, H)
        found = solve(program, self._solver)
        self._count(len(goal), len(program.A), len(program.cones), found.iterations, found.time)
        return found.z if found.feasible else None

    def _count(self, variables: int, rows: int, cones: int, iterations: int, spent: float) -> None:
        self._iterations += iterations
        self._time += spent
        if variables >= self._largest.variables:
            self._largest = QPInfo(self._solver, variables, rows, cones)

    def _result(self, c: Array, feasible: bool) -> Inputs:
        x = self._K @ c
        u = applied(self._factor, x)
        rows = self._given
        active = _active(rows, rows.R @ u, u)
        violations: dict[str, float] = {}
        if not feasible:
            size = 1e-6 * (1.0 + float(np.abs(u).max(initial=0.0)))
            violations = {name: -left for name, left in rows.margins(u).items() if left < -size}
        qp = replace(self._largest, iterations=self._iterations, time=self._time)
        status = Status.LIMITED if feasible else Status.INFEASIBLE
        return Inputs(x, u, status, "", active, violations, rows, qp, c[: self._r], True)


def _largest(bounds: Array) -> float:
    finite = np.abs(bounds[np.isfinite(bounds)])
    return float(finite.max(initial=0.0))
