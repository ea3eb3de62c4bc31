"""Laws whose steps are several kernel calls, ordered by Python."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray
from ...dynamics.input_response import Response, respond
from ...dynamics.terms import Units
from ..state.active_constraints import ActiveTerms
from ..state.measured_state import MeasuredState
from .force_metric import Factor
from .input_selection import SelectedInputs
from .law import Law
from .least_norm_inputs import LeastNormInputs, least_norm_inputs
from .solution import Solution, Status
from .task import TaskTracking


@dataclass(eq=False)
class StagedStep:
    """As `FoundStep`."""

    response: Response
    rows: BoolArray | None
    units: Units
    weights: Array | None
    limits: Any = None

    @property
    def found(self) -> Response:
        """What was found."""
        return self.response


class StagedLaw(Law):
    """A law that calls the kernel stage by stage."""

    def _step(self, now: MeasuredState, began: float) -> Solution:
        active, response = self._respond(now)
        rows, now = active.rows, active.now
        task = self._task.track(now)
        metric = self._metric.factor(active.terms)
        least = self._least_norm(now, response, task, metric)
        released = self._release.rows(now, rows)
        limits = None if self._limits is None else self._limits.at(now, response, rows, released)
        desired = self._release.desired(now, response, rows, released) or self._desired_forces(
            now, response, rows
        )

        def select(offset: Array | None) -> SelectedInputs:
            return self._selector.select(least, metric, limits, desired, offset)

        selected = self._transition.smoothed(now.t, (rows, response.rank), select)
        force_error = self._settled(desired, selected.u)
        status, message = self._judge(response, least, selected)
        if response.rank < len(active.terms.J):
            staged = StagedStep(response, rows, response.units, None)
            message = "; ".join(filter(None, (message, self._undetermined(staged))))
        a = response.a0 + response.B @ selected.u
        shared = self._staged_fields(now.t, began, active, response, selected)
        solution = self._completed(
            Solution(**shared, a=a, status=status, message=message, force_error=force_error, _task=task)
        )
        self._release.remember(lambda: solution.lam)
        return solution

    def _staged_fields(
        self, t: float, began: float, active: ActiveTerms, response: Response, selected: SelectedInputs
    ) -> dict[str, Any]:
        """The fields of a Solution that follow from the selected inputs in the same way for all laws."""
        u, tau = np.zeros(self.system.nu), np.zeros(self.system.nv)
        u[self._used] = tau[self._columns] = selected.u
        weights = self._metric.weights(active.terms)
        return {
            "t": t,
            "u": u,
            "tau": tau,
            "task_names": self._task.names,
            "active_limits": selected.active,
            "violations": selected.violations,
            "qp": selected.qp,
            "elapsed": time.perf_counter() - began,
            "gap": active.gap * self.system.length,
            "_step": StagedStep(response, active.rows, response.units, weights),
            "_selected": selected,
        }

    def _respond(self, now: MeasuredState) -> tuple[ActiveTerms, Response]:
        """Active constraints and response to inputs; at singular poses its limit, if all rows are active."""
        active = self._active.at(now)
        moving = active.now if active.rows is None else None
        return active, respond(active.terms, self._columns, active.units, moving)

    def _least_norm(
        self, now: MeasuredState, response: Response, task: TaskTracking, metric: Factor
    ) -> LeastNormInputs:
        """Inputs of least norm for the desired accelerations of the outputs."""
        unit = self._task.unit
        return least_norm_inputs(response, task.J, task.wanted, unit, now.v, metric, **self._damping)

    def _judge(
        self, response: Response, least: LeastNormInputs, selected: SelectedInputs
    ) -> tuple[Status, str]:
        met = least.rank == len(least.g) and not least.damped and not least.uncontrollable
        if met and selected.status in (Status.OK, Status.LIMITED):
            return (Status.LIMITED if selected.active else selected.status), ""
        staged = StagedStep(response, None, response.units, None)
        return self._doubtful(staged, least, selected)
