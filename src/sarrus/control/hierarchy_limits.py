"""Limits in a hierarchy: every level gives way to the limits, the lowest first.

Limits come before all tasks: each level is a quadratic program in the directions that the levels above leave
open, with the same limits in all of them, so a limit never costs a higher level what a lower one can pay.
Where no inputs satisfy the limits at all, the least violation comes first and is then held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from .choice import Choice, _active, _info, _program
from .hierarchy_levels import Reach, Rows, Taken, split
from .limit_table import InputRows
from .metric import Factor, applied
from .qp import Answer, Program, solve, solve_softly
from .result import QPInfo, Status

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
        program = _program(limits, self._factor, np.zeros_like(c), self._K, c, None)
        found = self._solved(program)
        if found.feasible:
            return found.z, True
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
        u = applied(self._factor, self._K @ (c + Z @ centre))
        if self._limits.inside(self._limits.R @ u, u):
            return centre
        curvature = found.values**2 + found.damped
        flat = FLAT * float(curvature[0])
        H = (found.used * curvature) @ found.used.T + flat * (found.left @ found.left.T)
        y = np.zeros(len(centre))
        goal = centre
        for _ in range(ROUNDS if found.left.shape[1] else 1):
            program = _program(self._limits, self._factor, self._K @ c, self._K @ Z, goal, H)
            answer = self._solved(program)
            if not answer.feasible:
                break
            moved = float(np.max(np.abs(answer.z - y), initial=0.0))
            y = answer.z
            if moved <= 1e-12 * (1.0 + float(np.max(np.abs(y), initial=0.0))):
                break
            goal = centre + found.left @ (found.left.T @ y)
        return y

    def _solved(self, program: Program) -> Answer:
        found = solve(program, self._solver)
        self._iterations += found.iterations
        self._time += found.time
        info = _info(found, program)
        self._largest = info if info.variables >= self._largest.variables else self._largest
        return found

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
