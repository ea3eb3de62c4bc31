"""The compiled step of a law: its setup in the kernel, and what a step found, as arrays made on access.

One call takes a measured state to inputs (kernels/control/control_step.hpp). References are evaluated before.
Rows, inertias and outputs that are Python functions are asked for at the projected state: `Asked`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from ..limits.limit_table import InputRows, LimitTable
from ..limits.quadratic_program import FEASIBLE
from ..outputs.output import OutputTracking
from ..outputs.references import Reference
from ..state.active_constraints import ActiveConstraints
from ..state.footing import Footing
from ..state.measured_state import MeasuredState, MeasurementError
from .fading import ENCODERS
from .force_metric import Factor, ForceMetric
from .least_norm_inputs import Damping, LeastNormInputs

STEPPED, OFF_CONSTRAINTS, WITHOUT_INERTIA, LIMITS_CHANGED = 0, 1, 2, 4
TOUCHES = 1e-7  # a limit is active within this, relative to the forces involved
PROGRAM = ("optimal", "infeasible", "not converged", "inside")


class CompilableTask(Protocol):
    """What a law asks of its outputs."""

    count: int

    def compiled(self) -> _kernel.TaskSetup:
        """The task for the kernel."""
        ...

    def output_error(self, i: int, now: MeasuredState, target: Any) -> OutputTracking:
        """The i-th output against a target, for outputs that are evaluated in Python."""
        ...

    def output_names(self, i: int) -> tuple[str, ...]:
        """Names of the components of the i-th output."""
        ...

    def output_reference(self, i: int) -> Reference | None:
        """The reference of the i-th output; None where it has a constant acceleration."""
        ...


class Questions(Protocol):
    """What a law is asked at the state that a step works at."""

    def __call__(self, now: MeasuredState) -> tuple[Sequence[Any], BoolArray | None, Array | None]:
        """Targets of all outputs, active tasks (None: all), and force in their null space (nv,) or None."""
        ...


class Asked:
    """What the kernel asks for during a step, at the state that it works at."""

    def __init__(self, step: CompiledStep, t: float, targets: Sequence[Any]) -> None:
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

    def limits(self, q: Array, v: Array) -> _kernel.LimitRows:
        """As `LimitTable.renewed`."""
        assert self._step.limits is not None
        return self._step.limits.renewed(self._t, q, v)

    def measured(self, q: Array, v: Array) -> Array:
        """The regulated forces (p,) as they are measured."""
        assert self._step.forces is not None and self._step.forces.sensor is not None
        return self._step.forces.sensor(self._at(q, v))


@dataclass(eq=False)
class RegulatedForces:
    """Constraint forces of a law, as the kernel takes them.

    Attributes:
        rows: which multipliers (p,); None is the constraint force (nv,).
        weight: makes newtons and newton metres comparable (p,).
        feedback: of the kernel.
        sensor: measured values (p,) at a state; None without a measurement.
    """

    rows: list[int] | None
    weight: Array
    feedback: _kernel.ForceFeedback
    sensor: Callable[[MeasuredState], Array] | None

    def setup(self) -> _kernel.ForceSetup:
        """For the kernel."""
        return _kernel.ForceSetup(
            rows=self.rows,
            weight=self.weight,
            feedback=self.feedback,
            has_sensor=self.sensor is not None,
        )


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
        forces: that are regulated; None is none.
        drops_lost_rows: whether rows lost at a singular pose are left out instead of replaced by their limit.
        resistance: added to h in every step (nv,) [N m, N]; None is nothing.
        measurement: accuracy of measured states [rad], [rad/s]; times L for lengths.
        footing: where constraints hold that can be put down elsewhere than declared; None: as declared.
    """

    system: Any
    tasks: Sequence[CompilableTask]
    _: KW_ONLY
    columns: npt.NDArray[np.int_]
    used: npt.NDArray[np.int_]
    active: ActiveConstraints
    metric: ForceMetric
    damping: Damping
    limits: LimitTable | None
    levels: int = 0
    rank_tol: float = 0.0
    questions: Questions | None = None
    held: _kernel.ObjectSetup | None = None
    forces: RegulatedForces | None = None
    drops_lost_rows: bool = False
    resistance: Array | None = None
    measurement: tuple[float, float] = ENCODERS
    footing: Footing | None = None

    def __post_init__(self) -> None:
        self._declared = self.system
        self._build()

    def reset(self) -> None:
        """Everything is where it was declared."""
        if self.footing is not None:
            self.footing.reset()
        if self.system is not self._declared:
            self.system = self._declared
            self._build()

    def _build(self) -> None:
        """The law in the kernel."""
        system, limits, forces = self.system, self.limits, self.forces
        self.outputs = [(task, i) for task in self.tasks for i in range(task.count)]
        self._drive = system.evaluator.drive if system.evaluator.driven else None
        setup = _kernel.LawSetup(
            columns=self.columns.tolist(),
            used=self.used.tolist(),
            nu=system.nu,
            active=self.active.setup(),
            tasks=[task.compiled() for task in self.tasks],
            metric=self.metric.fixed,
            mass_metric=self.metric.by_mass,
            levels=self.levels,
            rank_tol=self.rank_tol,
            touch=TOUCHES,
            tol=FEASIBLE,
            drops_lost_rows=self.drops_lost_rows,
            angle=self.measurement[0],
            speed=self.measurement[1],
            limits=None if limits is None else limits.setup(),
            object=self.held,
            forces=None if forces is None else forces.setup(),
            has_terms=isinstance(system, CustomSystem) or system.evaluator.calls_functions,
            has_tasks=self.questions is not None,
            **self.damping,
        )
        self.kernel = _kernel.ControlStep(system.evaluator.kernel, setup)

    def run(
        self,
        now: MeasuredState,
        rows: tuple[BoolArray | None, Units],
        targets: Sequence[Any],
        select: bool,
        *,
        null_force: Array | None = None,
        offset: Array | None = None,
        load: tuple[Any, ...] | None = None,
        forces: tuple[Array, Array | None] | None = None,
    ) -> FoundStep:
        """One step, its inputs selected within limits if `select`.

        Args:
            now: the measured state.
            rows: which constraint rows are active (nc,), None for all, and their units.
            targets: of all outputs, where they do not depend on the state.
            select: whether to choose inputs within limits.
            null_force: force (nv,) in the null space of all levels.
            offset: inputs x (n,) that are added in the null space of the outputs.
            load: on the held object: wrench (6,) at its centre of mass or None, payload of the model (10,) or
                None, whether the wrench is read off the displacement, and None or an observer: a kernel's
                Observer, what it is asked (`WrenchEstimator.question`), whether its payload is compensated.
            forces: desired ones (p,), and the inputs (n,) since the last step or None.
        """
        given = {"null_force": null_force, "offset": offset, "load": load, "forces": forces}
        found = self._call(now, rows[0], targets, select, given)
        if self.footing is not None:
            moved = self.footing.follow(found, now.t, now.q, rows[0])
            if moved is not None:
                self.system = moved
                self._build()
                found = self._call(now, rows[0], targets, select, given)
        if found.status != STEPPED:
            self.explain(found, now.t)
        return FoundStep(self, found, now.t, *rows)

    def _call(
        self,
        now: MeasuredState,
        rows: BoolArray | None,
        targets: Sequence[Any],
        select: bool,
        given: dict[str, Any],
    ) -> _kernel.StepResult:
        """The kernel's call; again where limits that are functions have changed in number."""
        asked = Asked(self, now.t, targets) if self.kernel.asks_owner else None
        drive = None if self._drive is None else self._drive(now.t, 1)
        how: dict[str, Any] = {"drive": drive, "rows": rows, "select": select, "owner": asked}
        how["settling"] = None if self.footing is None else self.footing.settling
        found = self.kernel(now.q, now.v, now.t, targets, resistance=self.resistance, **how, **given)
        if found.status != LIMITS_CHANGED:
            return found
        self._build()
        return self._call(now, rows, targets, select, given)

    def question(self, now: MeasuredState) -> tuple[Asked | None, Array | None]:
        """What a kernel call at this state may ask, and the drives."""
        asked = Asked(self, now.t, ()) if self.kernel.asks_owner else None
        return asked, None if self._drive is None else self._drive(now.t, 1)

    def explain(self, found: _kernel.StepResult, t: float) -> None:
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
    def others(self) -> list[FoundStep]:
        """The same step with other ranks, where the measured state leaves them in doubt."""
        return [FoundStep(self._step, one, self.t, self.rows, self.units) for one in self.found.others]

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
        """Limits as rows on the inputs, as the kernel used them."""
        table = self._step.limits
        if table is None:
            return None
        found = table.rows_found(self.found.limits(), self.found.cones())
        held = self._step.held
        return found if held is None or held.reserve is None else replace(found, reserve=self.found.reserve())

    def limits_without(self, released: BoolArray | None) -> InputRows | None:
        """The same without those on constraint rows (nc,) that are about to open."""
        table = self._step.limits
        if released is None or table is None or self.limits is None:
            return self.limits
        which, cones = self.found.limits()[-1], self.found.cones()[-1]
        return self.limits.without(table.speaks_of(released, which, cones))
