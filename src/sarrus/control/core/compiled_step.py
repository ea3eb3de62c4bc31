"""The compiled step of a law: its setup in the kernel, and what a step found, as arrays made on access.

One call takes a measured state to inputs (kernels/control/control_step.hpp). References are evaluated before.
Rows, inertias and outputs that are Python functions are asked for at the projected state: `Asked`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _kernel
from ...arrays import Array, BoolArray
from ...dynamics.forward import without_inertia
from ...dynamics.input_response import Response
from ...dynamics.terms import Terms, Units
from ...projection.nearest_state import TROUBLE
from ...simulation.system.custom_system import CustomSystem
from ..limits.limit_table import InputRows, LimitTable
from ..limits.quadratic_program import FEASIBLE
from ..outputs.output import OutputTracking
from ..state.active_constraints import ActiveConstraints
from ..state.measured_state import MeasuredState, MeasurementError
from .force_metric import Factor, ForceMetric
from .least_norm_inputs import Damping, LeastNormInputs
from .task import Task

STEPPED, OFF_CONSTRAINTS, WITHOUT_INERTIA = 0, 1, 2
TOUCHES = 1e-7  # a limit is active within this, relative to the forces involved
PROGRAM = ("optimal", "infeasible", "not converged", "inside")
GIVEN = 4  # kind of an output that Python evaluates


class Asked:
    """What the kernel asks for during a step, at the state that it works at.

    Attributes:
        has_terms: whether equations of motion or rows are functions of the user's.
    """

    def __init__(self, tasks: Sequence[Task], system: Any, t: float, targets: Sequence[Any]) -> None:
        self.has_terms = isinstance(system, CustomSystem) or system.evaluator.has_user_rows
        self._system, self._t, self._targets = system, t, targets
        self._outputs = [(task, i) for task in tasks for i in range(task.count)]
        self._now: MeasuredState | None = None

    def _at(self, q: Array, v: Array) -> MeasuredState:
        return MeasuredState(self._system, self._t, q, v)

    def terms(self, q: Array, v: Array) -> tuple[Array, ...]:
        """M, h, phi, J, b, gamma."""
        found = self._at(q, v).terms
        return found.M, found.h, found.phi, found.J, found.b, found.gamma

    def rates(self, q: Array, v: Array) -> tuple[Array, Array]:
        """J' and gamma'."""
        return self._at(q, v).row_rates()

    def project(self, part: npt.NDArray[np.int8], q: Array, v: Array) -> tuple[Array, Array, int]:
        """The nearest state on the rows of `part`, and a PROJECTION status."""
        metric = self._at(q, v).terms.M if isinstance(self._system, CustomSystem) else None
        q, v, _, status = self._system.evaluator.project(q, v, self._t, part, metric)
        return q, v, int(status)

    def given(self, number: int, q: Array, v: Array) -> tuple[Array, ...]:
        """x, desired, e, rate, c, J, T of an output."""
        if self._now is None:
            self._now = self._at(q, v)
        task, i = self._outputs[number]
        found: OutputTracking = task.output_error(i, self._now, self._targets[number])
        T = np.eye(len(found.e)) if found.T is None else found.T
        return found.x, found.desired, found.e, found.rate, found.c, found.J, T


class CompiledStep:
    """One law in the kernel."""

    def __init__(
        self,
        system: Any,
        tasks: Sequence[Task],
        *,
        columns: npt.NDArray[np.int_],
        used: npt.NDArray[np.int_],
        active: ActiveConstraints,
        metric: ForceMetric,
        damping: Damping,
        limits: LimitTable | None,
    ) -> None:
        self._system, self._tasks, self.columns, self.metric = system, tasks, columns, metric
        self.limits = limits
        outputs = [one for task in tasks for one in task.compiled()]
        self._asks = any(one[0] == GIVEN for one in outputs)
        self._asks = self._asks or isinstance(system, CustomSystem) or system.evaluator.has_user_rows
        self._drive = system.evaluator.drive if system.evaluator.driven else None
        firsts = np.cumsum([0] + [task.count for task in tasks]).tolist()
        setup = {
            **active.setup(),
            "columns": columns.tolist(),
            "used": used.tolist(),
            "nu": system.nu,
            "outputs": outputs,
            "tasks": [
                (first, task.count, None, task.kp, task.kd)
                for first, task in zip(firsts, tasks, strict=False)
            ],
            "row_unit": np.concatenate([task.unit for task in tasks]),
            "metric": metric.fixed,
            "mass_metric": metric.by_mass,
            "limits": None if limits is None else limits.fixed(),
            "touch": TOUCHES,
            "tol": FEASIBLE,
            **damping,
        }
        self.kernel = _kernel.ControlStep(system.evaluator.kernel, setup)

    def run(
        self, now: MeasuredState, rows: BoolArray | None, units: Units, targets: Sequence[Any], select: bool
    ) -> FoundStep:
        """One step, its inputs selected within fixed limits if `select`."""
        asked = Asked(self._tasks, self._system, now.t, targets) if self._asks else None
        drive = None if self._drive is None else self._drive(now.t, 1)
        found = self.kernel(now.q, now.v, targets, drive=drive, rows=rows, select=select, owner=asked)
        if found.status != STEPPED:
            self._explain(found, now.t)
        return FoundStep(self, found, now.t, rows, units)

    def _explain(self, found: _kernel.StepResult, t: float) -> None:
        """Raise what went wrong."""
        if found.status == OFF_CONSTRAINTS:
            raise MeasurementError(
                f"the measured state of {self._system.name!r} is off its constraints by"
                f" {found.gap * self._system.length:.2g} m at t = {t:g} s and cannot be projected:"
                f" {TROUBLE[found.projection]}."
            )
        if found.status == WITHOUT_INERTIA:
            raise without_inertia()
        raise np.linalg.LinAlgError("the singular values of the task matrix did not converge.")


class FoundStep:
    """What one step found; parts are made when they are first read.

    Attributes:
        found: of the kernel: inputs, and the outputs as in `TaskTracking`.
        t: time [s].
        rows: active constraint rows (nc,); None is all.
        units: of the active rows.
    """

    def __init__(
        self, step: CompiledStep, found: Any, t: float, rows: BoolArray | None, units: Units
    ) -> None:
        self._step, self.found, self.t, self.rows, self.units = step, found, t, rows, units

    @cached_property
    def now(self) -> MeasuredState:
        """The state on the constraints."""
        return MeasuredState(self._step._system, self.t, self.found.q, self.found.v)

    @cached_property
    def terms(self) -> Terms:
        """Of the active rows."""
        return Terms(*self.found.terms())

    @cached_property
    def response(self) -> Response:
        """To the inputs."""
        return Response(
            **self.found.response(), terms=self.terms, units=self.units, columns=self._step.columns
        )

    @cached_property
    def least(self) -> LeastNormInputs:
        """Inputs of least norm."""
        return LeastNormInputs(**self.found.least())

    @property
    def factor(self) -> Factor:
        """C with u = C x."""
        metric = self._step.metric
        return self.found.metric if metric.by_mass else metric.fixed

    @property
    def weights(self) -> Array | None:
        """The metric W (nv, nv) of velocities; None is the Euclidean one."""
        return self._step.metric.weights(self.terms)

    @cached_property
    def limits(self) -> InputRows | None:
        """Fixed limits as rows on the inputs, as the kernel used them."""
        table = self._step.limits
        return None if table is None else table.rows_found(*self.found.limits())
