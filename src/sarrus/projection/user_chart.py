"""Charts defined by the user: minimal coordinates y with R(q, y) = 0.

Where |D2 R| != 0 and [D1 R; J] has full rank, phi(q, t) = 0 and R(q, y) = 0 determine q from y and back
([Spencer2004] theorem 2.3.1 with (2.27), (2.28)):

    [D1 R; J] v = [-D2 R y'; b]                                             eq. (2.26), (2.44)         (1)
    D2 R y'' = -D1 R a - d2R(q + s v, y + s y')/ds2                         (2.26) once more           (2)

Derivatives that are not given are central differences of sixth order. Rows of J may depend on each other.
Rows that restrict velocities only are not supported: (1) determines positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernel import CLOSED, CLOSED_ENOUGH, NEWTON_STEPS
from ..arrays import Array, positive_whole, state
from ..differences import curvature_terms, slope_of_terms, slope_terms
from ..errors import InputError
from .charts import ChartError, condition, least_squares
from .decomposition import rank_of, ranked_svd
from .system_kinematics import Kinematics, dimensionless

STEP = 0.02  # of differences [rad], or times L [m]


@dataclass(frozen=True)
class Chart:
    """Minimal coordinates for `simulate(coordinates=...)`, given by an equation between q and y.

    Args:
        R: R(q, y) -> (n,), zero where y (n,) are the coordinates of the pose q (nq,). For coordinates that
            are functions c(q) of the pose write R = c(q) - y.
        n: number of coordinates: the degrees of freedom of the mechanism.
        D1: derivative of R with respect to tangent increments of q, D1(q, y) -> (n, nv); by differences if
            not given.
        D2: derivative with respect to y, D2(q, y) -> (n, n); likewise.
        y0: initial guess for the coordinates of the first pose (n,); default zero.
        name: what to call it in reports; where several charts of a run have the same name they are counted.
    """

    R: Callable[..., Any]
    n: int
    D1: Callable[..., Any] | None = None
    D2: Callable[..., Any] | None = None
    y0: npt.ArrayLike | None = None
    name: str = "chart"

    def __post_init__(self) -> None:
        positive_whole(self.n, "n of a Chart")
        for what in ("R", "D1", "D2"):
            value = getattr(self, what)
            if not callable(value) and not (value is None and what != "R"):
                raise InputError(f"{what} of a Chart must be a function of (q, y), got {value!r}.")
        if self.y0 is not None:
            state(self.y0, "y0 of a Chart", self.n)


class UserChart:
    """A `Chart` applied to one system."""

    def __init__(self, system: Kinematics, chart: Chart) -> None:
        self.note, self.size = chart.name, (chart.n, chart.n)
        self._system, self._chart = system, chart
        self._q = np.zeros(system.nq)
        self._y = np.zeros(chart.n) if chart.y0 is None else np.array(chart.y0, dtype=float)
        self._rate = np.zeros(chart.n)

    def coordinates(self, q: Array, v: Array, J: Array) -> Array:
        """y = (y, y') of a state on the manifold."""
        y = self._y
        for _ in range(NEWTON_STEPS):
            r = self.residual(q, y)
            if np.max(np.abs(r)) <= CLOSED:
                break
            y = y - least_squares(self.D2(q, y), r)
        if not np.max(np.abs(self.residual(q, y))) <= 1e-9:
            raise ChartError
        self._q, self._y, self._rate = q, y, -least_squares(self.D2(q, y), self.D1(q, y) @ v)
        return np.concatenate([y, self._rate])

    def begin(self, q: Array) -> None:
        """Start Newton's method for the next states at q."""
        self._q = q

    def state(self, y: Array, t: float) -> tuple[Array, Array, Array]:
        """q, v and J at the coordinates y; see `LinearChart.state`."""
        n, system = self.size[0], self._system
        q, last = self._q, np.inf
        for _ in range(NEWTON_STEPS):
            phi, J, b, _ = system.constraints(q, np.zeros(system.nv), t)
            r = np.concatenate([self.residual(q, y[:n]), phi / system.row_unit])
            rows = np.vstack([self.D1(q, y[:n]) * system.unit, dimensionless(system, J)])
            size = float(np.max(np.abs(r)))
            if size <= CLOSED or (size <= CLOSED_ENOUGH and size > 0.5 * last):
                break
            if not size < 1e3:
                raise ChartError
            q, last = system.integrate(q, -system.unit * least_squares(rows, r)), size
        else:
            raise ChartError
        right = np.concatenate([-self.D2(q, y[:n]) @ y[n:], b / system.row_unit])
        self._q, self._y, self._rate = q, y[:n], y[n:]
        return q, system.unit * least_squares(rows, right), J

    def rates(self, t: float, q: Array, v: Array, a: Array, J: Array) -> Array:
        """(y', y'') at the state that `state` found last."""
        y, rate = self._y, self._rate
        bend = self._second(q, y, v, rate)
        return np.concatenate([rate, -least_squares(self.D2(q, y), self.D1(q, y) @ a + bend)])

    def quality(self, J: Array) -> float:
        """Smallest singular value in the two conditions of theorem 2.3.1: 1 at best, 0 where one fails."""
        system = self._system
        N = ranked_svd(dimensionless(system, J), system.rank_tol).N
        if N.shape[1] != self.size[0]:
            return 0.0
        rows = self.D1(self._q, self._y) * system.unit
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        D2 = self.D2(self._q, self._y)
        D2 = D2 / np.maximum(np.linalg.norm(D2, axis=1, keepdims=True), 1e-300)
        return min(float(np.linalg.svd(x, compute_uv=False)[-1]) for x in (rows @ N, D2))

    def condition(self, J: Array) -> float:
        """Condition number of [D1 R; J], lengths divided by L, [Spencer2004] eq. (2.22)."""
        rows = self.D1(self._q, self._y) * self._system.unit
        return condition(np.vstack([rows, dimensionless(self._system, J)]))

    # ------------------------------------------------------------------ R and its derivatives

    def residual(self, q: Array, y: Array) -> Array:
        """R(q, y), checked."""
        return self._call("R", self._chart.R, q, y, (self.size[0],))

    def D1(self, q: Array, y: Array) -> Array:
        """Derivative with respect to increments of q (n, nv)."""
        if self._chart.D1 is not None:
            return self._call("D1", self._chart.D1, q, y, (self.size[0], self._system.nv))
        none = np.zeros(self.size[0])
        columns = [self._first(q, y, e, none) for e in np.diag(self._system.unit)]
        return np.array(columns).T / self._system.unit

    def D2(self, q: Array, y: Array) -> Array:
        """Derivative with respect to y (n, n)."""
        n = self.size[0]
        if self._chart.D2 is not None:
            return self._call("D2", self._chart.D2, q, y, (n, n))
        return np.array([self._first(q, y, np.zeros(self._system.nv), e) for e in np.eye(n)]).T

    def _first(self, q: Array, y: Array, v: Array, rate: Array) -> Array:
        """dR/ds along (v, y')."""
        return slope_of_terms(self._along(q, y, v, rate), STEP, slope_terms(6))

    def _second(self, q: Array, y: Array, v: Array, rate: Array) -> Array:
        """d2R/ds2 along (v, y')."""
        size = max(float(np.linalg.norm(v / self._system.unit)), float(np.linalg.norm(rate)))
        if size == 0.0:
            return np.zeros(self.size[0])
        ds, along = STEP / size, self._along(q, y, v, rate)
        return np.asarray(sum(weight * along(k * ds) for k, weight in curvature_terms(6)) / ds**2)

    def _along(self, q: Array, y: Array, v: Array, rate: Array) -> Callable[[float], Array]:
        """R at (q, y) moved by s (v, y'), as a function of s."""
        return lambda s: self.residual(self._system.integrate(q, s * v) if s else q, y + s * rate)

    def _call(
        self, what: str, function: Callable[..., Any], q: Array, y: Array, shape: tuple[int, ...]
    ) -> Array:
        given = function(q.copy(), y.copy())
        try:
            out = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            out = np.full(1, np.nan)
        if out.shape == () and shape == (1,):
            out = out.reshape(1)
        if out.shape != shape or not np.all(np.isfinite(out)):
            raise InputError(
                f"{what} of chart {self.note!r} must return finite numbers of shape {shape} for (q, y), got"
                f" {given!r}."
            )
        return out


def check_chart(system: Kinematics, chart: UserChart, q: Array, J: Array) -> str:
    """Why a chart cannot be used at the pose q (nq,), in words; empty if it can."""
    bare = dimensionless(system, J)
    dof = system.nv - rank_of(bare, system.rank_tol)
    if not np.all(system.holonomic):
        return (
            "the mechanism has rows that restrict velocities only (rolling), for which R(q, y) has no place"
        )
    if dof != chart.size[0]:
        return f"it has {chart.size[0]} coordinates, and the mechanism {dof} degrees of freedom at this pose"
    try:
        y = chart.coordinates(q, np.zeros(system.nv), J)[: chart.size[0]]
    except (ChartError, np.linalg.LinAlgError):
        return "no y with R(q, y) = 0 was found for this pose; give y0 near it"
    tests = {
        "D2 R is singular there, eq. (2.27)": chart.D2(q, y),
        "[D1 R; J] loses rank there, eq. (2.28): y does not determine the pose": np.vstack(
            [chart.D1(q, y) * system.unit, bare]
        ),
    }
    for said, matrix in tests.items():
        if np.linalg.svd(matrix, compute_uv=False)[-1] <= 1e-7:
            return said
    return ""


def named_coordinates(system: Kinematics, positions: Sequence[int], indices: Sequence[int]) -> Chart:
    """The chart of chosen coordinates of the mechanism: entries of q, and of v."""
    D1 = np.eye(system.nv)[np.asarray(indices, dtype=int)]
    D2 = -np.eye(len(indices))
    name = ", ".join(system.coordinate_names[i] for i in indices)
    where = np.asarray(positions, dtype=int)
    return Chart(lambda q, y: q[where] - y, len(indices), lambda q, y: D1, lambda q, y: D2, name=name)
