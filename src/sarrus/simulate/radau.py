"""Radau IIA of order 5 on the constraint manifold, for stiff systems.

Three stages are solved together by a simplified Newton method, in local coordinates of the manifold about the
beginning of each step (`stage_chart.py`): as many unknowns as there are freedoms, every stage on the
constraints. The iteration matrix is exact, from the derivatives of the dynamics ([Spencer2004] chapter 4),
anew in every step; derivatives of a controller that is asked at every stage are finite differences.

    Z = h (A x 1) F(Z),   (1 - h A x G) dZ = h (A x 1) F(Z) - Z              [Hairer1996] section IV.8     (1)
    err = (1 - h g G)^-1 (g h f0 + e1 z1 + e2 z2 + e3 z3)                                                  (2)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dgetrf, dgetrs

from .interpolate import Manifold
from .options import Options
from .plant import Plant
from .stage_chart import NotClosedError, StageChart
from .stages import Stages, StoppedError
from .steps import Steps

Array = npt.NDArray[np.float64]

ROOT = np.sqrt(6.0)
NODES = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])
POWERS = np.arange(1, 4)
# stage weights: integrals from 0 to c_i of the polynomials that are 1 at one node and 0 at the others
WEIGHTS = (NODES[:, None] ** POWERS / POWERS) @ np.linalg.inv(NODES[:, None] ** (POWERS - 1))
REAL = float(min(1.0 / np.linalg.eigvals(np.linalg.inv(WEIGHTS)), key=lambda x: abs(x.imag)).real)
POLYNOMIAL = np.linalg.inv(np.vander(np.append(0.0, NODES), increasing=True))  # values to coefficients
ERROR = REAL / 3.0 * np.array([-13.0 - 7.0 * ROOT, -13.0 + 7.0 * ROOT, -1.0])

NEWTON_STEPS = 7
NEWTON_TOL = 0.03  # of the tolerance: error left by the iteration
SHORTER, LONGER, SAFETY = 0.2, 8.0, 0.9
CLOSED = 1e-9  # a step whose end cannot be closed so far is taken again, shorter

FINE, STOPPED, SINGULAR_INERTIA, NOT_FINITE, NOT_CLOSED, STEP_COLLAPSED = range(6)


class Radau:
    """A run like the compiled one: start, advance, take; status and evaluations."""

    def __init__(self, plant: Plant, options: Options, stages: Stages, manifold: Manifold) -> None:
        self._plant, self._options, self._stages, self._manifold = plant, options, stages, manifold
        self._new: list[Steps] = []
        self._now: Steps | None = None
        self._next = options.dt
        self._before: tuple[float, float] | None = None  # last step and its error
        self._past: tuple[Array, float] | None = (
            None  # last step as a polynomial of full coordinates, its length
        )
        self.status = FINE

    @property
    def evaluations(self) -> int:
        """Accelerations computed; derivatives of the dynamics do not count."""
        return self._stages.evaluations

    def start(self, t: float, q: Array, v: Array) -> bool:
        """The first state, on the constraints."""
        try:
            self._now = self._stages.arrive(t, q, v)
        except StoppedError as stop:
            self.status = stop.status
            return False
        self._new.append(self._now)
        return True

    def take(self) -> tuple[npt.NDArray[Any], ...]:
        """What was recorded since the last call, as the compiled run hands it over."""
        steps = Steps.joined(self._new) if self._new else self._empty()
        self._new = []
        columns = (x[:, None] for x in (steps.drift, steps.velocity_drift, steps.pivot))
        return (steps.t[:, None], steps.q, steps.v, steps.a, steps.tau, *columns, steps.rank)

    def advance(self, t0: float, dt: float, t1: float, count: int, every: int) -> int:
        """At most `count` steps towards t1; how many were made."""
        for done in range(count):
            assert self._now is not None
            if self._now.t[-1] >= t1:
                return done
            try:
                self._step(self._end_of_step(t1))
            except StoppedError as stop:
                self.status = stop.status
                return done
            self._new.append(self._now)
        return count

    def _empty(self) -> Steps:
        assert self._now is not None
        return self._now[:0]

    def _end_of_step(self, t1: float) -> float:
        """Where the next step must end at the latest: the end of the run, or the next sample."""
        o, t = self._options, float(self._now.t[-1])  # type: ignore[union-attr]
        if o.control_dt is None:
            return t1
        number = math.floor((t - o.t0) / o.control_dt + 1e-9) + 1
        return min(t1, o.t0 + number * o.control_dt)

    # ------------------------------------------------------------------ one step

    def _step(self, limit: float) -> None:
        """The next accepted step, no further than the time `limit`."""
        now = self._now
        assert now is not None
        t = float(now.t[0])
        chart = StageChart(self._plant, self._manifold, t, now.q[0], now.v[0], int(now.rank[0]))
        G = self._stages.slope(chart, now)
        f0 = np.concatenate([chart.R_q @ now.v[0], chart.R_v @ now.a[0]])
        measure = chart.lift / self._tolerances()[:, None]
        h, rejected, least = self._next, False, max(1e-14 * max(abs(t), abs(limit)), 1e-300)
        while True:
            last = t + 1.01 * h >= limit
            h = limit - t if last else h
            if h <= least:
                raise StoppedError(STEP_COLLAPSED)
            found = self._try(chart, G, f0, measure, t, h, rejected)
            arrived = None
            if found is not None and found.error < 1.0:
                arrived = self._arrive(chart, limit if last else t + h, found.Z[-1])
            if arrived is None:
                rejected = True
                h *= 0.5 if found is None else float(np.clip(found.factor, SHORTER, 0.9))
                continue
            self._accept(chart, found, h, arrived, rejected, last)  # type: ignore[arg-type]
            return

    def _try(
        self, chart: StageChart, G: Array, f0: Array, measure: Array, t: float, h: float, again: bool
    ) -> _Trial | None:
        """Stages of one step and the error of its end; None where the iteration fails."""
        if not np.isfinite(G).all():
            raise StoppedError(NOT_FINITE)
        try:
            Z, count = self._newton(chart, G, measure, t, h)
            shift = _Solver(h * REAL * G)
            estimate = shift(REAL * h * f0 + ERROR @ Z)
            error = _size(measure, estimate)
            if error >= 1.0 and (again or self._before is None):
                moved = self._stages.rates(chart, np.array([t]), (chart.start + estimate)[None])[0]
                estimate = shift(REAL * h * moved + ERROR @ Z)
                error = _size(measure, estimate)
        except NotClosedError:
            return None
        safety = SAFETY * (2 * NEWTON_STEPS + 1) / (2 * NEWTON_STEPS + count)
        factor = safety * max(error, 1e-10) ** -0.25
        return _Trial(Z, error, factor)

    def _newton(self, chart: StageChart, G: Array, measure: Array, t: float, h: float) -> tuple[Array, int]:
        """Stages (3, n) that satisfy (1), and the number of iterations."""
        solve, Z = _Solver(_product(h * WEIGHTS, G)), self._guess(chart, h)
        times, mu = t + NODES * h, None
        before, rate = 0.0, 0.0
        for k in range(1, NEWTON_STEPS + 1):
            rates, mu = self._stages.all_rates(chart, times, chart.start + Z, mu)
            right = h * WEIGHTS @ rates - Z
            dZ = solve(right.ravel()).reshape(Z.shape)
            size = _size(measure, dZ)
            if not np.isfinite(size):
                break
            if k > 1:
                rate = size / before if before else 0.0
                if rate >= 1.0 or rate ** (NEWTON_STEPS - k) / (1.0 - rate) * size > NEWTON_TOL:
                    break
            Z = Z + dZ
            if size <= 1e-6 * NEWTON_TOL or (k > 1 and rate / (1.0 - rate) * size <= NEWTON_TOL):
                return Z, k
            before = size
        raise NotClosedError

    def _guess(self, chart: StageChart, h: float) -> Array:
        """The polynomial of the last step, continued."""
        if self._past is None:
            return np.zeros((3, chart.size))
        coefficients, length = self._past
        s = np.append(1.0, 1.0 + NODES * h / length)
        ahead = np.vander(s, 4, increasing=True) @ coefficients
        return chart.reduced(ahead[1:] - ahead[0])

    def _arrive(self, chart: StageChart, t: float, y: Array) -> Steps | None:
        """The end of a step; None where it cannot be closed."""
        at = chart.states(np.array([t]), (chart.start + y)[None])
        end = self._stages.arrive(t, at.q[0], at.v[0])
        return end if float(end.drift[0]) <= CLOSED else None

    def _accept(
        self, chart: StageChart, found: _Trial, h: float, end: Steps, rejected: bool, last: bool
    ) -> None:
        factor = found.factor
        if self._before is not None:  # Gustafsson's predictive controller
            h_before, e_before = self._before
            ahead = h / h_before * (e_before / max(found.error, 1e-2)) ** 0.25
            factor = min(factor, factor * ahead)
        self._before = (h, max(found.error, 1e-2))
        factor = float(np.clip(factor, SHORTER, LONGER))
        wanted = h * (min(factor, 1.0) if rejected else factor)
        self._next = max(wanted, self._next) if last and not rejected else wanted
        self._past = (POLYNOMIAL[:, 1:] @ (found.Z @ chart.lift.T), h)
        self._now = end

    def _tolerances(self) -> Array:
        """Allowed error of [q; v] (2 nv,): as the compiled adaptive method has it."""
        now, o = self._now, self._options
        assert now is not None
        size = np.concatenate([self._stages.size(now.q[0]), np.abs(now.v[0])])
        return np.asarray(o.atol + o.rtol * size)


class _Trial:
    """Stages, error in units of the tolerance, factor for the next step."""

    def __init__(self, Z: Array, error: float, factor: float) -> None:
        self.Z, self.error, self.factor = Z, error, factor


class _Solver:
    """x with (1 - A) x = b, for many b."""

    def __init__(self, A: Array) -> None:
        self._factor = dgetrf(np.eye(len(A)) - A, overwrite_a=True)[:2]

    def __call__(self, b: Array) -> Array:
        return np.asarray(dgetrs(*self._factor, b)[0])


def _product(A: Array, G: Array) -> Array:
    """A x G, the Kronecker product."""
    return np.asarray((A[:, None, :, None] * G[:, None]).reshape(len(A) * len(G), -1))


def _size(measure: Array, y: Array) -> float:
    """Root mean square of increments y (n,) or (k, n) in units of the tolerance."""
    x = y @ measure.T
    return float(np.sqrt(np.vdot(x, x) / max(x.size, 1)))
