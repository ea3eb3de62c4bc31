"""The compiled step of a law: its setup in the kernel, and what a step found, as arrays made on access.

One call takes a measured state to inputs (kernels/control/control_step.hpp). References are evaluated before.
Rows, inertias and outputs that are Python functions are asked for at the projected state: `Asked`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ... import _kernel
from ...arrays import Array, BoolArray
from ...dynamics.forward import without_inertia
from ...dynamics.input_response import Response
from ...dynamics.terms import Terms, Units
from ...projection.nearest_state import TROUBLE
from ...simulation.system.custom_system import CustomSystem
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import FEASIBLE
from ..outputs.output import OutputTracking
from ..state.active_constraints import ActiveConstraints
from ..state.measured_state import MeasuredState, MeasurementError
from .force_metric import Factor, ForceMetric
from .least_norm_inputs import Damping, LeastNormInputs
from .task import CompiledTask

STEPPED, OFF_CONSTRAINTS, WITHOUT_INERTIA = 0, 1, 2
TOUCHES = 1e-7  # a limit is active within this, relative to the forces involved
PROGRAM = ("optimal", "infeasible", "not converged", "inside")
GIVEN = 4  # kind of an output that Python evaluates


class FixedLimits(Protocol):
    """Limits as the kernel takes them: `LimitTable`, or one with a reserve."""

    def fixed(self) -> tuple[Array | None, ...] | None:
        """Rows, bounds and cones; None where they are not fixed."""
        ...

    def rows_found(self, rows: tuple[Any, ...], cones: tuple[Any, ...]) -> InputRows:
        """Rows and cones on inputs that the kernel made."""
        ...


class CompilableTask(Protocol):
    """What a law asks of its outputs."""

    count: int

    def compiled(self) -> CompiledTask:
        """The task for the kernel."""
        ...

    def output_error(self, i: int, now: MeasuredState, target: Any) -> OutputTracking:
        """The i-th output against a target, for outputs that are evaluated in Python."""
        ...


class Questions(Protocol):
    """What a law is asked at the state that a step works at."""

    def __call__(self, now: MeasuredState) -> tuple[Sequence[Any], BoolArray | None, Array | None]:
        """Targets of all outputs, active tasks (None: all), and force in their null space (nv,) or None."""
        ...


class Asked:
    """What the kernel asks for during a step, at the state that it works at.

    Attributes:
        has_terms: whether equations of motion or rows are functions of the user's.
        has_tasks: whether targets or active tasks depend on the state.
    """

    def __init__(self, step: CompiledStep, t: float, targets: Sequence[Any]) -> None:
        self.has_terms, self.has_tasks = step.has_terms, step.questions is not None
        self._step, self._t, self._targets = step, t, targets
        self._now: MeasuredState | None = None

    def _at(self, q: Array, v: Array) -> MeasuredState:
        return MeasuredState(self._step.system, self._t, q, v)

    def terms(self, q: Array, v: Array) -> tuple[Array, ...]:
        """M, h, phi, J, b, gamma."""
        found = self._at(q, v).terms
        return found.M, found.h, found.phi, found.J, found.b, found.gamma

    def rates(self, q: Array, v: Array) -> tuple[Array, Array]:
        """J' and gamma'."""
        return self._at(q, v).row_rates()

    def project(self, part: npt.NDArray[np.int8], q: Array, v: Array) -> tuple[Array, Array, int]:
        """The nearest state on the rows of `part`, and a PROJECTION status."""
        system = self._step.system
        metric = self._at(q, v).terms.M if isinstance(system, CustomSystem) else None
        q, v, _, status = system.evaluator.project(q, v, self._t, part, metric)
        return q, v, int(status)

    def tasks(self, q: Array, v: Array) -> tuple[Sequence[Any], BoolArray | None, Array | None]:
        """As `Questions`."""
        assert self._step.questions is not None
        self._now = self._at(q, v)
        found = self._step.questions(self._now)
        self._targets = found[0]
        return found

    def given(self, number: int, q: Array, v: Array) -> tuple[Array, ...]:
        """x, desired, e, rate, c, J, T of an output."""
        if self._now is None:
            self._now = self._at(q, v)
        task, i = self._step.outputs[number]
        found = task.output_error(i, self._now, self._targets[number])
        T = np.eye(len(found.e)) if found.T is None else found.T
        return found.x, found.desired, found.e, found.rate, found.c, found.J, T


@dataclass(eq=False)
class CompiledStep:
    """One law in the kernel.

    Attributes:
        system: whose law.
        tasks: its outputs.
        columns, used: coordinates (n,) of the actuators, and their indices into u.
        active: which constraints hold.
        metric: of the inputs.
        damping: of least-norm inputs; of a hierarchy, the null-space damping and the least controllability.
        limits: None is none.
        levels: number of levels of priority; 0 for a law without.
        rank_tol: of levels.
        questions: what depends on the state that the step works at; None: targets are given before.
        held: an object held by the mechanism, as the kernel takes it; None is none.
    """

    system: Any
    tasks: Sequence[CompilableTask]
    _: KW_ONLY
    columns: npt.NDArray[np.int_]
    used: npt.NDArray[np.int_]
    active: ActiveConstraints
    metric: ForceMetric
    damping: Damping
    limits: FixedLimits | None
    levels: int = 0
    rank_tol: float = 0.0
    questions: Questions | None = None
    held: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        system, compiled = self.system, [task.compiled() for task in self.tasks]
        self.outputs = [(task, i) for task in self.tasks for i in range(task.count)]
        self.has_terms = isinstance(system, CustomSystem) or system.evaluator.calls_functions
        asks_outputs = any(one[0] == GIVEN for task in compiled for one in task.outputs)
        self._asks = asks_outputs or self.has_terms or self.questions is not None
        self._drive = system.evaluator.drive if system.evaluator.driven else None
        firsts = np.cumsum([0] + [task.count for task in self.tasks]).tolist()
        limits = self.limits
        setup = {
            **self.active.setup(),
            "columns": self.columns.tolist(),
            "used": self.used.tolist(),
            "nu": system.nu,
            "outputs": [one for task in compiled for one in task.outputs],
            "tasks": [
                (first, len(one.outputs), one.keep, one.kp, one.kd, one.level, one.damping)
                for first, one in zip(firsts, compiled, strict=False)
            ],
            "row_unit": np.concatenate([np.zeros(0), *(task.unit for task in compiled)]),
            "metric": self.metric.fixed,
            "mass_metric": self.metric.by_mass,
            "limits": None if limits is None else limits.fixed(),
            "touch": TOUCHES,
            "tol": FEASIBLE,
            "levels": self.levels,
            "rank_tol": self.rank_tol,
            "object": self.held,
            **self.damping,
        }
        self.kernel = _kernel.ControlStep(system.evaluator.kernel, setup)

    def run(
        self,
        now: MeasuredState,
        rows: tuple[BoolArray | None, Units],
        targets: Sequence[Any],
        select: bool,
        *,
        null_force: Array | None = None,
        load: tuple[Array | None, Array | None] | None = None,
    ) -> FoundStep:
        """One step, its inputs selected within fixed limits if `select`.

        Args:
            now: the measured state.
            rows: which constraint rows are active (nc,), None for all, and their units.
            targets: of all outputs, where they do not depend on the state.
            select: whether to choose inputs within limits.
            null_force: force (nv,) in the null space of all levels.
            load: on the held object: wrench (6,) at its centre of mass, payload (10,); None is none.
        """
        asked = Asked(self, now.t, targets) if self._asks else None
        drive = None if self._drive is None else self._drive(now.t, 1)
        found = self.kernel(
            now.q,
            now.v,
            targets,
            null_force=null_force,
            load=load,
            drive=drive,
            rows=rows[0],
            select=select,
            owner=asked,
        )
        if found.status != STEPPED:
            self._explain(found, now.t)
        return FoundStep(self, found, now.t, *rows)

    def _explain(self, found: _kernel.StepResult, t: float) -> None:
        """Raise what went wrong."""
        if found.status == OFF_CONSTRAINTS:
            raise MeasurementError(
                f"the measured state of {self.system.name!r} is off its constraints by"
                f" {found.gap * self.system.length:.2g} m at t = {t:g} s and cannot be projected:"
                f" {TROUBLE[found.projection]}."
            )
        if found.status == WITHOUT_INERTIA:
            raise without_inertia()
        raise np.linalg.LinAlgError("the singular values of a task did not converge.")


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
        return MeasuredState(self._step.system, self.t, self.found.q, self.found.v)

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
        if table is None:
            return None
        found = table.rows_found(self.found.limits(), self.found.cones())
        held = self._step.held
        return found if held is None or held[-1] is None else replace(found, reserve=self.found.reserve())
