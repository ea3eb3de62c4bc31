"""A run in minimal coordinates: y' = f(t, y) with q = Psi(y), [Spencer2004] eq. (2.16).

Stands in for the compiled run: the same calls, the same records. States lie on the constraints by
construction. Next to a singular pose, where no chart exists, steps are taken in full coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..projection.charts import ChartError
from ..projection.decomposition import count_above, full_svd
from ..projection.kinematics import dimensionless
from ..projection.mobility import loses_rank_here
from .atlas import Atlas, LocalChart
from .events import Event
from .inputs import FIRST_STAGE, SLACK, Failure, Inputs
from .options import Options
from .plant import Plant
from .tableaus import TABLEAUS

Array = npt.NDArray[np.float64]

FULL = "full coordinates (next to a singular pose)"
NEAR_SINGULAR, STEPS_AROUND = 1e-2, 10.0  # as in kernels/project.hpp
STOPPED, SINGULAR_INERTIA, NOT_FINITE, NOT_CLOSED, STEP_COLLAPSED = range(1, 6)
GROW, SHRINK, SAFETY = 5.0, 0.2, 0.9


class _StopError(Exception):
    """A step cannot be taken; carries the status of the run."""


@dataclass(frozen=True)
class _Point:
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


class ChartRun:
    """Steps in charts; see `sarrus._kernel.Run` for the calls."""

    def __init__(
        self,
        plant: Plant,
        options: Options,
        inputs: Inputs,
        acceleration: Callable[..., Array | None] | None,
        full: Callable[[], Any],
    ) -> None:
        """
        Args:
            plant: the system.
            options: of the run.
            inputs: all that comes from outside.
            acceleration: acceleration(t, q, v) after the inputs of that state; None: the kernel's.
            full: makes a compiled run for steps in full coordinates.
        """
        self._plant, self._options, self._inputs = plant, options, inputs
        self._formulated, self._make_full = acceleration, full
        self._full: Any = None
        self._atlas = Atlas(plant, options.coordinates)
        self._chart: LocalChart | None = None
        self._records: list[_Point] = []
        self._most, self._next = 0, options.dt
        self.changes: list[Event] = []
        self.status, self.evaluations, self.steps = 0, 0, 0

    def start(self, t: float, q: Array, v: Array) -> bool:
        """Begin at a state, projected as in full coordinates."""
        self._atlas.require(q, t)
        self._t0 = t
        self._full = self._make_full()
        if not self._full.start(t, q, v):
            self.status = int(self._full.status)
            return False
        here = self._adopt()
        U, _, Vt = full_svd(dimensionless(self._plant.evaluator, here.J))
        lost = loses_rank_here(self._plant.evaluator, here.q, t, U[:, here.rank :], Vt[here.rank :])
        if not lost and not self._near(here, here):
            self._full, self._chart = None, self._atlas.at(here.q, here.v, here.J)
        self._here = here
        self._records.append(here)
        return True

    def advance(self, t0: float, dt: float, t_end: float, count: int, every: int = 1) -> int:
        """At most `count` steps towards t_end; returns how many were taken."""
        done = 0
        try:
            while done < count and self._here.t < t_end:
                before = self._here
                target = self._target(t0, dt, t_end)
                if self._full is not None:
                    self._here = self._full_step(target)
                else:
                    self._here = self._step(target)
                self.steps, done = self.steps + 1, done + 1
                self._records.append(self._here)
                self._choose(before)
        except _StopError as stop:
            self.status = stop.args[0]
        except Exception as error:  # of a user's chart
            self._inputs.failure = Failure.of(error, "coordinates", self._here.t, True)
            self.status = STOPPED
        return done

    def take(self) -> tuple[Any, ...]:
        """Records since the last call, as the compiled run hands them over."""
        kept, self._records = self._records, []
        plant = self._plant
        widths = {"t": 1, "q": plant.nq, "v": plant.nv, "a": plant.nv, "tau": plant.nv}
        widths |= {"drift": 1, "velocity_drift": 1, "pivot": 1}
        columns = [np.array([getattr(p, n) for p in kept]).reshape(-1, w) for n, w in widths.items()]
        return (*columns, np.array([p.rank for p in kept], dtype=np.int64))

    # ------------------------------------------------------------------ steps

    def _target(self, t0: float, dt: float, t_end: float) -> float:
        """Where the next step ends at the latest."""
        if self._options.adaptive:
            sample = self._options.control_dt or math.inf
            number = math.floor((self._here.t - self._t0) / sample + SLACK) + 1
            return min(t_end, self._t0 + number * sample)
        target = t0 + (self.steps + 1) * dt
        return t_end if target > t_end - 1e-9 * dt else target

    def _step(self, target: float) -> _Point:
        """One step; where its chart fails, again in a fresh one, then in full coordinates."""
        here = self._here
        for fresh in (False, True):
            if fresh:
                self._switch(self._atlas.at(here.q, here.v, here.J))
            try:
                return self._adaptive(target) if self._options.adaptive else self._fixed(target)
            except (ChartError, np.linalg.LinAlgError):
                continue
        self._enter_full()
        return self._full_step(target)

    def _fixed(self, target: float) -> _Point:
        return self._trial(target - self._here.t, target)[0]

    def _adaptive(self, target: float) -> _Point:
        """Steps of varying size: smaller until the error estimate is within tolerance."""
        grow = GROW
        while True:
            left = target - self._here.t
            last = self._next >= left * (1.0 - 1e-12)
            h = left if last else self._next
            try:
                point, error = self._trial(h, target if last else self._here.t + h)
            except ChartError:
                if h < 1e-6 * self._options.dt:
                    raise
                self._next, grow = 0.25 * h, 1.0
                continue
            factor = min(grow, max(SHRINK, SAFETY * error ** (-0.2) if error > 0.0 else grow))
            if error <= 1.0:
                self._next = max(self._next, h * factor) if last else h * factor
                return point
            if h <= 1e-14 * max(abs(self._here.t), abs(target)):
                raise _StopError(STEP_COLLAPSED)
            self._next, grow = h * min(factor, 1.0), 1.0

    def _trial(self, h: float, t_end: float) -> tuple[_Point, float]:
        """The state after a step of size h, and its error in units of the tolerance."""
        tab, here, chart = TABLEAUS[self._options.method], self._here, self._chart
        assert chart is not None
        y = chart.coordinates(here.q, here.v, here.J)
        chart.begin(here.q)
        rates = [chart.rates(here.t, here.q, here.v, here.a, here.J)]
        if self._options.method == "semi_implicit_euler":
            return self._semi_implicit(chart, y, rates[0], h, t_end), 0.0
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

    def _semi_implicit(self, chart: LocalChart, y: Array, rate: Array, h: float, t_end: float) -> _Point:
        """Velocities first, positions with the new ones."""
        y, n = y.copy(), chart.size[0]
        y[n:] += h * rate[n:]
        q, v, J = chart.state(y, self._here.t)
        y[:n] += h * chart.rates(self._here.t, q, v, np.zeros_like(v), J)[:n]
        return self._arrive(chart, y, t_end)

    def _arrive(self, chart: LocalChart, y: Array, t: float) -> _Point:
        q, v, _ = chart.state(y, t)
        a, tau = self._acceleration(t, q, v, FIRST_STAGE)
        return self._point(t, q, v, a, tau)

    def _acceleration(self, t: float, q: Array, v: Array, stage: int) -> tuple[Array, Array]:
        """a (nv,) and the applied force (nv,)."""
        self.evaluations += 1
        plant, tau = self._plant, np.zeros(self._plant.nv)
        if self._inputs.needed or self._formulated is not None:
            answer = self._inputs(t, q, v, stage)
            if answer is None:
                raise _StopError(STOPPED)
            tau = answer[0]
        if self._formulated is not None:
            a = self._formulated(t, q, v)
            if a is None:
                raise _StopError(STOPPED)
        else:
            drive, user = plant.evaluator.drive(t, 1), plant.evaluator.user(q[None], v[None], t)
            found = plant.kernel.forward(q[None], v[None], tau[None], drive, user)
            if found[5][0]:
                raise _StopError(SINGULAR_INERTIA)
            a = found[0][0]
        if not np.all(np.isfinite(a)):
            raise _StopError(NOT_FINITE)
        return a, tau

    def _point(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> _Point:
        """A state with its residuals, rank and distance from singular poses."""
        system = self._plant.evaluator
        phi, J, b, _ = system.constraints(q, v, t)
        s = full_svd(dimensionless(system, J))[1]
        rank = count_above(s, system.rank_tol, absolute=True)
        pivot = float(s[rank - 1]) if rank else 1e300
        gap, slip = (float(np.max(np.abs(x) / system.row_unit, initial=0.0)) for x in (phi, J @ v - b))
        return _Point(t, q, v, a, tau, J, gap, slip, pivot, rank)

    # ------------------------------------------------------------------ which coordinates

    def _near(self, here: _Point, before: _Point) -> bool:
        """Whether a singular pose is within a few steps."""
        change = abs(here.pivot - before.pivot)
        return here.rank < self._most or here.pivot < max(NEAR_SINGULAR, STEPS_AROUND * change)

    def _choose(self, before: _Point) -> None:
        """Go on with the chart, with another one, or in full coordinates."""
        here = self._here
        near = self._near(here, before)
        self._most = max(self._most, here.rank)
        if near and self._full is None:
            self._enter_full()
        elif self._full is not None and not near:
            self._full = None
            self._switch(self._atlas.at(here.q, here.v, here.J))
        elif self._full is None:
            assert self._chart is not None
            chart = self._atlas.kept(self._chart, here.q, here.v, here.J)
            if chart is not self._chart:
                self._switch(chart)

    def _switch(self, chart: LocalChart) -> None:
        self._chart = chart
        self._report(chart.note)

    def _report(self, note: str) -> None:
        here = self._here
        self.changes.append(Event("chart change", "chart", here.t, here.q, here.v, here.rank, note=note))

    def _enter_full(self) -> None:
        self._full = self._make_full()
        if not self._full.start(self._here.t, self._here.q, self._here.v):
            raise _StopError(int(self._full.status))
        self._full.take()
        self._report(FULL)

    def _full_step(self, target: float) -> _Point:
        """One compiled step."""
        h = self._next if self._options.adaptive else target - self._here.t
        self.evaluations -= int(self._full.evaluations)
        taken = self._full.advance(self._here.t, h, target, 1, 1)
        self.evaluations += int(self._full.evaluations)
        if not taken:
            raise _StopError(int(self._full.status))
        return self._adopt()

    def _adopt(self) -> _Point:
        """The last state of the compiled run."""
        t, q, v, a, tau = (np.asarray(x)[-1] for x in self._full.take()[:5])
        return self._point(float(t[0]), q, v, a, tau)
