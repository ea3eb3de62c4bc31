"""One step in a chart: stages at q = Psi(y), accelerations from the kernel or any formulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...projection.decomposition import count_above, full_svd
from ...projection.system_kinematics import dimensionless
from ..run.callbacks import FIRST_STAGE, Inputs
from ..run.options import Options
from ..run.system import Plant
from ..run.tableaus import TABLEAUS
from .chart_selector import LocalChart

Array = npt.NDArray[np.float64]

STOPPED, SINGULAR_INERTIA, NOT_FINITE, NOT_CLOSED, STEP_COLLAPSED = range(1, 6)


class StopError(Exception):
    """A step cannot be taken; carries the status of the run."""


@dataclass(frozen=True)
class Point:
    """One state with all that is recorded of it, and its Jacobian."""

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
    """Steps of one run from point to point."""

    def __init__(
        self,
        plant: Plant,
        options: Options,
        inputs: Inputs,
        acceleration: Callable[..., Array | None] | None,
    ) -> None:
        """
        Args:
            plant: the system.
            options: of the run.
            inputs: all that comes from outside.
            acceleration: acceleration(t, q, v) after the inputs of that state; None: the kernel's.
        """
        self._plant, self._options, self._inputs, self._formulated = plant, options, inputs, acceleration
        self.evaluations = 0

    def trial(self, chart: LocalChart, here: Point, h: float, t_end: float) -> tuple[Point, float]:
        """The point a step of size h after `here`, and its error in units of the tolerance."""
        tab = TABLEAUS[self._options.method]
        y = chart.coordinates(here.q, here.v, here.J)
        chart.begin(here.q)
        rates = [chart.rates(here.t, here.q, here.v, here.a, here.J)]
        if self._options.method == "semi_implicit_euler":
            return self._semi_implicit(chart, here.t, y, rates[0], h, t_end), 0.0
        stages = len(tab.b) - (tab.e is not None)  # the last stage of dopri5 is the first of the next step
        for i in range(1, stages):
            t = here.t + tab.c[i] * h
            y_i = y + h * (tab.A[i, :i] @ np.array(rates))
            q, v, J = chart.state(y_i, t)
            a, _ = self._acceleration(t, q, v, i)
            rates.append(chart.rates(t, q, v, a, J))
        y_end = y + h * (tab.b[:stages] @ np.array(rates))
        point = self._arrive(chart, y_end, t_end)
        if tab.e is None:
            return point, 0.0
        rates.append(chart.rates(t_end, point.q, point.v, point.a, point.J))
        return point, self._error(h * (tab.e @ np.array(rates)), y_end, chart.size[0])

    def _error(self, error: Array, y: Array, positions: int) -> float:
        """Root mean square in units of the tolerance; positions weigh as one radian."""
        size = np.abs(y)
        size[:positions] = 1.0
        scaled = error / (self._options.atol + self._options.rtol * size)
        return float(np.linalg.norm(scaled)) / math.sqrt(max(len(y), 1))

    def _semi_implicit(
        self, chart: LocalChart, t: float, y: Array, rate: Array, h: float, t_end: float
    ) -> Point:
        """Velocities first, positions with the new ones."""
        y, n = y.copy(), chart.size[0]
        y[n:] += h * rate[n:]
        q, v, J = chart.state(y, t)
        y[:n] += h * chart.rates(t, q, v, np.zeros_like(v), J)[:n]
        return self._arrive(chart, y, t_end)

    def _arrive(self, chart: LocalChart, y: Array, t: float) -> Point:
        q, v, _ = chart.state(y, t)
        a, tau = self._acceleration(t, q, v, FIRST_STAGE)
        return self.point(t, q, v, a, tau)

    def _acceleration(self, t: float, q: Array, v: Array, stage: int) -> tuple[Array, Array]:
        """a (nv,) and the applied force (nv,)."""
        self.evaluations += 1
        plant, tau = self._plant, np.zeros(self._plant.nv)
        if self._inputs.needed or self._formulated is not None:
            answer = self._inputs(t, q, v, stage)
            if answer is None:
                raise StopError(STOPPED)
            tau = answer[0]
        if self._formulated is not None:
            a = self._formulated(t, q, v)
            if a is None:
                raise StopError(STOPPED)
        else:
            drive, user = plant.evaluator.drive(t, 1), plant.evaluator.user(q[None], v[None], t)
            found = plant.kernel.forward(q[None], v[None], tau[None], drive, user)
            if found[5][0]:
                raise StopError(SINGULAR_INERTIA)
            a = found[0][0]
        if not np.all(np.isfinite(a)):
            raise StopError(NOT_FINITE)
        return a, tau

    def point(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> Point:
        """A state with its residuals, rank and distance from singular poses."""
        system = self._plant.evaluator
        phi, J, b, _ = system.constraints(q, v, t)
        s = full_svd(dimensionless(system, J))[1]
        rank = count_above(s, system.rank_tol, absolute=True)
        pivot = float(s[rank - 1]) if rank else 1e300
        gap, slip = (float(np.max(np.abs(x) / system.row_unit, initial=0.0)) for x in (phi, J @ v - b))
        return Point(t, q, v, a, tau, J, gap, slip, pivot, rank)
