"""One step in a chart: stages at q = Psi(y), accelerations from the kernel or any formulation.

The methods of kernels/integrate/methods.hpp, applied to the local coordinates y = (y_q, y_v) of a chart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._kernel import KICK_FOUND, MOST_KICKS, StepStatus
from ...arrays import Array
from ..stepping.callbacks import FIRST_STAGE
from ..stepping.formulated_system import FormulatedSystem
from ..stepping.options import ATOL
from ..stepping.step_setup import StepSetup
from .chart_selector import LocalChart


class StopError(Exception):
    """A step failed; its argument is the StepStatus of the run."""


@dataclass(frozen=True)
class Point:
    """One state with the fields of `Steps`, and its Jacobian J (nc, nv)."""

    t: float
    q: Array
    v: Array
    a: Array
    tau: Array
    J: Array
    drift: float
    velocity_drift: float
    pivot: float
    rank: int


class ChartStep:
    """Takes steps of one method in a chart."""

    def __init__(self, setup: StepSetup) -> None:
        self._setup, self._system, self._options = setup, setup.system, setup.options
        self._formulated = setup.formulated
        if self._formulated is None and self._system.supplies_inertia:  # the kernel has no M and h
            self._formulated = FormulatedSystem(self._system, self._options, "svd", setup.inputs)
        method = self._method = self._options.integrator
        self._A, self._b, self._c, self._e = method.A, method.b, method.c, method.e
        self._kicks = list(zip(method.kick, method.drift, method.ahead, strict=True))
        self._last_is_first = bool(self._kicks) or np.array_equal(self._A[-1], self._b)  # of the next step
        self.evaluations = 0

    def trial(self, chart: LocalChart, here: Point, h: float, t_end: float) -> tuple[Point, float]:
        """The point a step of size h after `here`, and its error in units of the tolerance."""
        y = chart.coordinates(here.q, here.v, here.J)
        chart.begin(here.q)
        rates = [chart.rates(here.t, here.q, here.v, here.a, here.J)]
        if self._kicks:
            return self._accept(chart, self._split(chart, here.t, y, rates[0], h), t_end), 0.0
        stages = len(self._b) - self._last_is_first
        for i in range(1, stages):
            y_i = y + h * (self._A[i, :i] @ np.array(rates))
            rates.append(self._rates(chart, y_i, here.t + self._c[i] * h, i))
        y_end = y + h * (self._b[:stages] @ np.array(rates))
        point = self._accept(chart, y_end, t_end)
        if not self._method.adaptive:
            return point, 0.0
        if self._last_is_first:
            rates.append(chart.rates(t_end, point.q, point.v, point.a, point.J))
        return point, self._error(h * (self._e @ np.array(rates)), y_end, chart.size[0])

    def point(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> Point:
        """A state with its residuals, rank and distance from singular poses."""
        return Point(**self._system.record(t, q, v, a, tau))

    # ------------------------------------------------------------------ kicks and drifts

    def _split(self, chart: LocalChart, t: float, y: Array, rate: Array, h: float) -> Array:
        """y after a step of alternating kicks of y_v and drifts of y_q; `rate` is y' at its beginning."""
        y, n = y.copy(), chart.size[0]
        for i, (kick, drift, ahead) in enumerate(self._kicks):
            if i > 0:
                rate = self._kick_rate(chart, y, t, rate, (i, h * kick * ahead))
            y[n:] += h * kick * rate[n:]
            if drift:
                y[:n] = self._drifted(chart, y, t, h * drift)
                t += h * drift
        return y

    def _kick_rate(
        self, chart: LocalChart, y: Array, t: float, rate: Array, kick: tuple[int, float]
    ) -> Array:
        """y' at the velocity that part of the kick leads to, by fixed-point iteration from `rate`.

        Args:
            chart: the coordinates.
            y: those before the kick.
            t: time [s].
            rate: rates of the kick before.
            kick: its stage, and the part of the kick as a time [s].
        """
        n, (stage, ahead) = chart.size[0], kick
        for _ in range(MOST_KICKS):
            y_i = y.copy()
            y_i[n:] += ahead * rate[n:]
            before, rate = rate, self._rates(chart, y_i, t, stage)
            change = ahead * np.max(np.abs(rate - before)[n:], initial=0.0)
            if change <= KICK_FOUND * np.max(np.abs(y_i[n:]), initial=0.0):
                break
        return rate

    def _drifted(self, chart: LocalChart, y: Array, t: float, h: float) -> Array:
        """y_q after a drift of duration h at constant y_v; above order 1 with the rates at midpoint."""
        n, part = chart.size[0], 0.0 if self._method.order == 1 else 0.5
        moved = y[:n]
        for _ in range(MOST_KICKS):
            middle, before = y.copy(), moved
            middle[:n] += part * (moved - y[:n])
            q, v, J = chart.state(middle, t + part * h)
            moved = y[:n] + h * chart.rates(t + part * h, q, v, np.zeros_like(v), J)[:n]
            if part == 0.0 or np.max(np.abs(moved - before), initial=0.0) <= KICK_FOUND:
                break
        return moved

    # ------------------------------------------------------------------ stages

    def _error(self, error: Array, y: Array, positions: int) -> float:
        """Root mean square of the error over the tolerance; rtol is relative to 1 rad for positions."""
        size = np.abs(y)
        size[:positions] = 1.0
        scaled = error / ((self._options.atol or ATOL) + self._options.rtol * size)
        return float(np.linalg.norm(scaled)) / math.sqrt(max(len(y), 1))

    def _rates(self, chart: LocalChart, y: Array, t: float, stage: int) -> Array:
        """y' at a stage."""
        q, v, J = chart.state(y, t)
        return chart.rates(t, q, v, self._acceleration(t, q, v, stage)[0], J)

    def _accept(self, chart: LocalChart, y: Array, t: float) -> Point:
        q, v, _ = chart.state(y, t)
        a, tau = self._acceleration(t, q, v, FIRST_STAGE)
        return self.point(t, q, v, a, tau)

    def _acceleration(self, t: float, q: Array, v: Array, stage: int) -> tuple[Array, Array]:
        """a (nv,) and the applied force (nv,)."""
        self.evaluations += 1
        system, tau = self._system, np.zeros(self._system.nv)
        if self._setup.calls_inputs:
            supplied = self._setup.inputs(t, q, v, stage)
            if supplied is None:
                raise StopError(StepStatus.STOPPED)
            tau = supplied.tau
        if self._formulated is not None:
            a = self._formulated(t, q, v)
            if a is None:
                raise StopError(StepStatus.STOPPED)
        else:
            drive, user = system.evaluator.drive(t, 1), system.evaluator.user(q[None], v[None], t)
            a, *_, status = (x[0] for x in system.kernel.forward(q[None], v[None], tau[None], drive, user))
            if status:
                raise StopError(StepStatus.SINGULAR_INERTIA)
        if not np.all(np.isfinite(a)):
            raise StopError(StepStatus.NOT_FINITE)
        return a, tau
