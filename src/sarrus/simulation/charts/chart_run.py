"""A run in minimal coordinates: y' = f(t, y) with q = Psi(y), [Spencer2004] eq. (2.16).

ChartRun has the methods and records of the compiled run. States satisfy the constraints by construction.
Near a singular pose, where no chart exists, steps are taken in full coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._kernel import MOST_CUT, MOST_GROWTH, MOST_TURN, NEAR_SINGULAR, SAFETY, STEPS_AROUND, StepStatus
from ...arrays import Array
from ...models.twists import twist_slices
from ...projection.charts import ChartError
from ..events.events import Event
from ..stepping.callbacks import TIME_ROUNDING, Failure
from ..stepping.step_setup import StepSetup
from ..system.step_records import Steps
from .chart_selector import ChartSelector, LocalChart
from .chart_step import ChartStep, Point, StopError

FULL = "full coordinates (next to a singular pose)"


class ChartRun:
    """Steps in charts, with the methods of `sarrus._kernel.Run`."""

    def __init__(self, setup: StepSetup) -> None:
        options = setup.options
        self._setup, self._system, self._options = setup, setup.system, options
        self._stepper = ChartStep(setup)
        self._full: Any = None  # the compiled run, while steps are taken in full coordinates
        self._adaptive, self._most_step = options.integrator.adaptive, setup.longest_step
        self._twists = twist_slices(setup.system.model)
        self._charts = ChartSelector(setup.system, options.coordinates, options.chart_rule)
        self._chart: Any = None  # a LocalChart where steps are taken in one
        self._records: list[Point] = []
        self._most, self._next = 0, options.dt
        self.changes: list[Event] = []
        self.status, self.steps, self._compiled = StepStatus.FINE, 0, 0

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the acceleration."""
        return self._stepper.evaluations + self._compiled

    def start(self, t: float, q: Array, v: Array, later: bool = False) -> bool:
        """Begin at a state, projected as in full coordinates.

        Args:
            t: time [s].
            q, v: the state.
            later: in a mode after the first one: where the user's charts cannot be used, the library's are.
        """
        if not later:
            self._charts.require(q, t)
        self._t0 = t
        self._full = self._setup.compiled_run()
        if not self._full.start(t, q, v):
            self.status = self._full.status
            return False
        self._here = here = self._last_full()
        if not self._system.loses_rank(t, here.q, here.rank) and not self._near(here, here):
            self._full, self._chart = None, self._charts.at(here.q, here.v, here.J)
            if self._charts.instead(self._chart):
                self._report(self._chart.note)
        self._records.append(here)
        return True

    def advance(self, t0: float, dt: float, t_end: float, count: int, every: int = 1) -> int:
        """At most `count` steps towards t_end; returns how many were taken."""
        first = self.steps

        def steps() -> None:
            while self.steps < first + count and self._here.t < t_end:
                self._one_step(self._target(t0, dt, t_end))
                self._records.append(self._here)

        self._guarded(steps)
        return self.steps - first

    def _guarded(self, steps: Callable[[], None]) -> bool:
        """Whether steps could be taken; else the status says why."""
        try:
            steps()
        except StopError as stop:
            self.status = stop.args[0]
        except Exception as error:  # of a user's chart
            self._setup.inputs.failure = Failure.of(error, "coordinates", self._here.t, True)
            self.status = StepStatus.STOPPED
        else:
            return True
        return False

    def _one_step(self, target: float) -> None:
        """One step towards the target, and the coordinates of the next one."""
        before = self._here
        self._here = self._step(target) if self._full is None else self._full_step(target)
        self.steps += 1
        self._choose(before)

    @property
    def here(self) -> Point:
        """The present state."""
        return self._here

    @property
    def step_size(self) -> float:
        """What to try next [s]."""
        return self._next

    def step_to(self, h: float, t_end: float) -> bool:
        """One step of at most h, where that is not 0, never past t_end."""
        if h > 0.0:
            self._next = h
        target = min(t_end, self._longest()) if self._adaptive else min(t_end, self._here.t + self._next)
        return self._guarded(lambda: self._one_step(target))

    def mark(self) -> tuple[Any, ...]:
        """What `back` needs to take the step that follows again."""
        return self._here, self._chart, self._full is not None, self._next, self._most, len(self.changes)

    def back(self, marked: tuple[Any, ...]) -> None:
        """To the beginning of a step; a run in full coordinates there starts anew."""
        self._here, self._chart, full, self._next, self._most, count = marked
        del self.changes[count:]
        self.status, self._full = StepStatus.FINE, None
        if full:
            self._full = self._setup.compiled_run()
            self._full.start(self._here.t, self._here.q, self._here.v)
            self._full.take()

    def take(self) -> dict[str, Any]:
        """Records since the last call, in the form of `Run.take`."""
        kept, self._records = self._records, []
        return vars(Steps.of([vars(point) for point in kept], self._system.nq, self._system.nv))

    # ------------------------------------------------------------------ steps

    def _target(self, t0: float, dt: float, t_end: float) -> float:
        """Latest end of the next step: t_end, the next sample of the control, or the next multiple of dt."""
        if self._adaptive:
            here, sample = self._here, self._options.control_dt or math.inf
            number = math.floor((here.t - self._t0 + TIME_ROUNDING * abs(here.t)) / sample) + 1
            return min(t_end, self._t0 + number * sample, self._longest())
        target = t0 + (self.steps + 1) * dt
        return t_end if target > t_end - 1e-9 * dt else target

    def _longest(self) -> float:
        """Time up to which an adaptive step may go: until some free body has turned by MOST_TURN."""
        here = self._here
        turning = max((float(np.linalg.norm(here.v[g][-3:])) for g in self._twists), default=0.0)
        return here.t + min(MOST_TURN / turning if turning else math.inf, self._most_step)

    def _step(self, target: float) -> Point:
        """One step in the chart; where it fails, in a new chart at this state, then in full coordinates."""
        here = self._here
        for fresh in (False, True):
            if fresh:
                self._switch(self._charts.at(here.q, here.v, here.J))
            try:
                if self._adaptive:
                    return self._adaptive_step(target)
                return self._stepper.trial(self._chart, here, target - here.t, target)[0]
            except (ChartError, np.linalg.LinAlgError):
                continue
        self._enter_full()
        return self._full_step(target)

    def _adaptive_step(self, target: float) -> Point:
        """One step of an adaptive method: reduced until the error estimate is within the tolerance."""
        grow, exponent = MOST_GROWTH, -1.0 / self._options.integrator.order
        while True:
            left = target - self._here.t
            last = self._next >= left * (1.0 - 1e-12)
            h = left if last else self._next
            try:
                t_end = target if last else self._here.t + h
                point, error = self._stepper.trial(self._chart, self._here, h, t_end)
            except ChartError:
                if h < 1e-6 * self._options.dt:
                    raise
                self._next, grow = 0.25 * h, 1.0
                continue
            factor = min(grow, max(MOST_CUT, SAFETY * error**exponent if error > 0.0 else grow))
            if error <= 1.0:
                self._next = max(self._next, h * factor) if last else h * factor
                return point
            if h <= 1e-14 * max(abs(self._here.t), abs(target)):
                raise StopError(StepStatus.STEP_COLLAPSED)
            self._next, grow = h * min(factor, 1.0), 1.0

    # ------------------------------------------------------------------ which coordinates

    def _near(self, here: Point, before: Point) -> bool:
        """Whether a singular pose may lie within the next STEPS_AROUND steps."""
        change = abs(here.pivot - before.pivot)
        return here.rank < self._most or here.pivot < max(NEAR_SINGULAR, STEPS_AROUND * change)

    def _choose(self, before: Point) -> None:
        """Continue in this chart, in another chart, or in full coordinates."""
        here = self._here
        near = self._near(here, before)
        self._most = max(self._most, here.rank)
        if near and self._full is None:
            self._enter_full()
        elif self._full is not None and not near:
            self._full = None
            self._switch(self._charts.at(here.q, here.v, here.J))
        elif self._full is None:
            chart = self._charts.kept(self._chart, here.q, here.v, here.J)
            if chart is not self._chart:
                self._switch(chart)

    def _switch(self, chart: LocalChart) -> None:
        self._chart = chart
        self._report(chart.note)

    def _report(self, note: str) -> None:
        here = self._here
        self.changes.append(Event("chart change", "chart", here.t, here.q, here.v, here.rank, note=note))

    def _enter_full(self) -> None:
        self._full = self._setup.compiled_run()
        if not self._full.start(self._here.t, self._here.q, self._here.v):
            raise StopError(self._full.status)
        self._full.take()
        self._report(FULL)

    def _full_step(self, target: float) -> Point:
        """One step in full coordinates."""
        h = self._next if self._adaptive else target - self._here.t
        before = int(self._full.evaluations)
        taken = self._full.advance(self._here.t, h, target, 1, 1)
        self._compiled += int(self._full.evaluations) - before
        if not taken:
            raise StopError(self._full.status)
        return self._last_full()

    def _last_full(self) -> Point:
        """The last state of the compiled run."""
        last = Steps.taken(self._full)[-1:]
        return self._stepper.point(float(last.t[0]), last.q[0], last.v[0], last.a[0], last.tau[0])
