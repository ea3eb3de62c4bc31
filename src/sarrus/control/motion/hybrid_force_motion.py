"""HybridForceMotion: track outputs and bring constraint forces to desired values, [Aghili2005] eq. (49)-(52).

Motion has priority over forces, and forces over least torque: forces are regulated in the null space of the
motion. Motion and force errors obey decoupled equations, even if the mechanism couples motion and force.
Forces that cannot be had beside the motion are met in the least-squares sense, and said to be missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, BoolArray, state
from ...errors import InputError, answer_of, unknown_name
from ...mechanism.mechanism import Mechanism
from ..core.compiled_step import CompiledStep, FoundStep, RegulatedForces
from ..core.exporting import refuse_functions, written_law
from ..core.input_selection import LOST, DesiredForces, SelectedInputs
from ..core.law import Law
from ..core.solution import Solution, Status
from ..core.task import Task
from ..exported.written_law import WrittenLaw, refuse
from ..limits.limits import as_limits
from ..state.measured_state import MeasuredState
from .force_feedback import ForceFeedback

FORCE_MISSED = 1e-6  # forces missed by less than this, relative to the commanded ones, are met
Sensor = Callable[[float, Array, Array, Array], npt.ArrayLike]


@dataclass(eq=False, repr=False)
class HybridForceMotion(Law):
    """Track outputs with desired constraint forces; [Aghili2005] eq. (49)-(52), signs of docs/notation.md.

    Args:
        mech, outputs, reference, kp, kd, metric, actuated, active, leftover_damping, least_feel,
            transition, measurement: as in `ProjectedInverseDynamics`.
        force: desired multipliers, {row or constraint: value}, or the desired constraint force (nv,);
            values are numbers, arrays or functions of t.
        kf: proportional gain of the force error [1].
        ki: integral gain [1/s].
        measured: source of measured forces: a function (t, q, v, u) -> lam (nc,) of the state and of the
            input applied until now, or a Mechanism that replaces the real one. Default: none, the predicted
            force is regulated.
        filter_time: time constant [s] of the filter on the disturbance, measured less predicted force.
        integral_limit: largest contribution of the integral [N, N m].
        limits, gives, solver: as in `ForceLimits`.
    """

    outputs: Any
    reference: Any
    force: Any
    kp: Any = 100.0
    kd: Any = None
    kf: Any = 1.0
    ki: Any = 0.0
    _: KW_ONLY
    measured: Sensor | Mechanism | None = None
    filter_time: float = 0.0
    integral_limit: float = math.inf
    actuated: Sequence[str] | None = None
    limits: Sequence[Any] = ()
    gives: Any = "limits"
    solver: str = "auto"

    def __post_init__(self) -> None:
        self._prepare(as_limits(self.limits), self.actuated, gives=self.gives, solver=self.solver)
        self._task = Task(self.mech, self.outputs, self.reference, self.kp, self.kd)
        self._desired = _ForceReference(self.force, self.mech)
        size, filter_time = self._desired.size, self.filter_time
        self._feedback = ForceFeedback(size, self.kf, self.ki, filter_time, self.integral_limit)
        self._sensor = _sensor(self.measured, self.mech)

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events."""
        super().reset()
        self._feedback.reset()

    @property
    def force_integral(self) -> Array:
        """Integral of the force errors (p,) [N s, N m s], as large as `integral_limit` allows."""
        return np.asarray(self._feedback.integral)

    # ------------------------------------------------------------------ one step

    @cached_property
    def _compiled(self) -> CompiledStep:
        desired, sensor = self._desired, None if self._sensor is None else self._measured
        forces = RegulatedForces(desired.rows, desired.weight, self._feedback, sensor)
        return self._compile([self._task], forces=forces)

    def _run(self, now: MeasuredState, offset: Array | None) -> FoundStep:
        applied = None if self.last is None else self.last.u[self._used]
        forces = self._desired.at(now.t), applied
        rows, targets = self._active.rows(now), self._task.targets(now.t)
        return self._compiled.run(now, rows, targets, self._selects, offset=offset, forces=forces)

    def _written(self) -> WrittenLaw:
        refuse_functions(self)
        if self._sensor is not None:
            way = "Leave it away: the predicted forces are then regulated."
            refuse("measured", "is a function of Python", way)
        if self._desired.has_functions:
            way = "Give numbers; the program changes them with NAME_forces()."
            refuse("force", "has a function of Python in it", way)
        forces = {"desired": self._desired.at(0.0), **self._feedback.tables()}
        names = self._desired.names
        return written_law(self, self._task.targets(0.0), forces=forces, force_names=names)

    def _measured(self, now: MeasuredState) -> Array:
        """The regulated forces (p,) as the sensor has them."""
        assert self._sensor is not None and self.last is not None
        lam = state(self._sensor(now.t, now.q, now.v, self.last.u), "measured lam", self.system.nc)
        return self._desired.of(lam, now)

    def _desired_forces(self, step: FoundStep) -> DesiredForces | None:
        Y, y0, _, commanded = step.found.forces()
        return DesiredForces(Y, y0, commanded, self._desired.weight)

    def _force_error(self, step: FoundStep, selected: SelectedInputs) -> Array:
        if selected.by_kernel:
            return np.asarray(step.found.force_error)
        return np.asarray(self._compiled.kernel.settle(step.found, selected.u))

    def _completed(self, fields: dict[str, Any]) -> Solution:
        """With the forces that are missed, in status and message."""
        if "_step" not in fields:
            return super()._completed(fields)
        missed = self._forces_missed(fields["_step"], fields["_selected"].u)
        if missed:
            worst = ", ".join(f"{name} by {by:.4g}" for name, by in missed.items())
            said = f"forces are met as far as possible, missed: {worst}"
            if fields["status"] == Status.OK:
                fields["status"] = Status.PARTIAL
            elif fields["status"] == Status.LIMITED:
                said += f"; in their way: {', '.join(fields['active_limits'])}"
            fields["message"] = "; ".join(filter(None, (fields["message"], said)))
        return super()._completed(fields | {"forces_missed": missed})

    def _forces_missed(self, step: FoundStep, u: Array) -> dict[str, float]:
        """Commanded less predicted forces, those beyond rounding. Of a constraint force only what constraints
        can bear counts."""
        Y, y0, _, commanded = step.found.forces()
        lacks = commanded - y0 - Y @ u
        small = FORCE_MISSED * (1.0 + float(np.abs(commanded).max()))
        if float(np.abs(lacks).max()) <= small:
            return {}
        if self._desired.rows is None:
            J = step.terms.J
            lacks = J.T @ np.linalg.lstsq(J.T, lacks, rcond=LOST)[0]
        pairs = zip(self._desired.names, lacks.tolist(), strict=True)
        return {name: by for name, by in pairs if abs(by) > small}

    def _multipliers_used(self) -> list[tuple[BoolArray, str]]:
        return [*super()._multipliers_used(), (self._desired.on_lam, "the least ones are meant")]


class _ForceReference:
    """Desired forces of a controller: selected multipliers, or the whole constraint force J.T lam (nv,).

    Attributes:
        rows: which multipliers (p,); None for the constraint force.
        names: of the forces (p,).
    """

    def __init__(self, force: Any, system: Any) -> None:
        self._parts: list[tuple[int, Any]] = []
        if system.nc == 0:
            raise InputError(
                f"HybridForceMotion: {system.name!r} has no constraints, so no forces to regulate."
            )
        if not isinstance(force, Mapping):
            self.size, self.weight = system.nv, np.array(system.units.unit)
            self._parts = [(self.size, force)]
            self.rows: list[int] | None = None
            self.names = tuple(system.units.coordinate_names)
        else:
            rows: list[int] = []
            for name, value in force.items():
                found = _rows_of(name, system)
                rows += found
                self._parts.append((len(found), value))
            if not rows:
                raise InputError("force names no constraint: {row or constraint: desired value}.")
            self.rows = rows
            self.names = tuple(system.row_names[i] for i in rows)
            self.size, self.weight = len(rows), np.array(system.units.row_unit[rows])
        self.on_lam = np.zeros(system.nc, dtype=bool)
        if self.rows is not None:
            self.on_lam[self.rows] = True
        self.at(0.0)

    @property
    def has_functions(self) -> bool:
        """Whether some of them are functions of time."""
        return any(callable(value) for _, value in self._parts)

    def at(self, t: float) -> Array:
        """Desired forces (p,) at time t [s]."""
        values, what = [], f"desired force at t = {t:g} s"
        for size, value in self._parts:
            found = answer_of(f"{what}: it", value, t) if callable(value) else value
            found = found[0] if isinstance(found, tuple) else found
            array = np.broadcast_to(np.asarray(found, dtype=float), (size,)) if np.size(found) == 1 else found
            values.append(state(array, what, size))
        return np.concatenate(values)

    def of(self, lam: Array, now: MeasuredState) -> Array:
        """The regulated forces (p,) from all multipliers."""
        return np.asarray(now.terms.J.T @ lam) if self.rows is None else lam[self.rows]


def _rows_of(name: str, system: Any) -> list[int]:
    """Indices into lam of a row or of all rows of a constraint."""
    if name in system.row_names:
        return [list(system.row_names).index(name)]
    groups = system.evaluator.constraint_rows
    if name in groups:
        return list(np.arange(system.nc)[groups[name]].tolist())
    raise unknown_name("row or constraint", name, [*groups, *system.row_names], "force")


def _sensor(measured: Any, system: Any) -> Sensor | None:
    """The source of measured multipliers as a function; a Mechanism is simulated at the measured state."""
    if measured is None:
        return None
    if isinstance(measured, Mechanism):
        if measured.nc != system.nc or measured.nu != system.nu:
            raise InputError("measured must have the constraints and actuators of the controlled mechanism.")
        return lambda t, q, v, u: measured.forward_dynamics(q, v, u=u, t=t).lam
    if callable(measured):
        return measured  # type: ignore[no-any-return]
    raise InputError(f"measured must be a function (t, q, v, u) -> lam, or a Mechanism; got {measured!r}.")
