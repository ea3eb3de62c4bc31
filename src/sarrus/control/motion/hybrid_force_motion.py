"""HybridForceMotion: track outputs and bring constraint forces to desired values, [Aghili2005] eq. (49)-(52).

Motion has priority over forces, and forces over least torque: forces are regulated in the null space of the
motion. Motion and force errors obey decoupled equations, even if the mechanism couples motion and force.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...arrays import Array, state
from ...dynamics.input_response import Response
from ...errors import InputError, answer_of, unknown_name
from ...mechanism.mechanism import Mechanism
from ..core.input_selection import DesiredForces
from ..core.law import Law
from ..core.task import Task
from ..limits.limits import as_limits
from ..state.measured_state import MeasuredState
from .force_feedback import ForceFeedback

Sensor = Callable[[float, Array, Array, Array], npt.ArrayLike]


@dataclass(eq=False, repr=False)
class HybridForceMotion(Law):
    """Track outputs with desired constraint forces; [Aghili2005] eq. (49)-(52), signs of docs/notation.md.

    Args:
        mech, outputs, reference, kp, kd, metric, actuated, active, leftover_damping, least_feel,
            transition: as in `ProjectedInverseDynamics`.
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
    gives: str = "limits"
    solver: str = "auto"
    _regulates_forces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._prepare(as_limits(self.limits), self.actuated, gives=self.gives, solver=self.solver)
        self._task = Task(self.mech, self.outputs, self.reference, self.kp, self.kd)
        self._desired = _ForceReference(self.force, self.mech)
        size, filter_time = self._desired.size, self.filter_time
        self._feedback = ForceFeedback(size, self.kf, self.ki, filter_time, self.integral_limit)
        self._sensor = _sensor(self.measured, self.mech)
        self._commanded: tuple[Array, Array] | None = None

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events."""
        super().reset()
        self._feedback.reset()

    def _desired_forces(self, now: MeasuredState, response: Response, rows: Any) -> DesiredForces | None:
        Y, y0 = self._desired.map(response, rows)
        desired = self._desired.at(now.t)
        disturbance = None
        if self._sensor is not None and self.last is not None:
            lam = state(self._sensor(now.t, now.q, now.v, self.last.u), "measured lam", self.system.nc)
            disturbance = self._desired.of(lam, now) - (y0 + Y @ self.last.u[self._used])
        commanded = self._feedback.command(now.t, desired, disturbance)
        self._commanded = desired, commanded
        return DesiredForces(Y, y0, commanded, self._desired.weight)

    def _multipliers_used(self) -> npt.NDArray[np.bool_] | None:
        limited = super()._multipliers_used()
        wanted = self._desired.on_lam
        return wanted if limited is None else limited | wanted

    def _settled(self, desired: DesiredForces | None, inputs: Array) -> Array:
        assert desired is not None and self._commanded is not None
        return self._feedback.settle(*self._commanded, desired.y0 + desired.Y @ inputs)


class _ForceReference:
    """Desired forces of a controller: selected multipliers, or the whole constraint force J.T lam (nv,)."""

    def __init__(self, force: Any, system: Any) -> None:
        self._system, self._of_lam = system, isinstance(force, Mapping)
        self._parts: list[tuple[int, Any]] = []
        if system.nc == 0:
            raise InputError(
                f"HybridForceMotion: {system.name!r} has no constraints, so no forces to regulate."
            )
        if not self._of_lam:
            self.size, self.weight = system.nv, np.array(system.units.unit)
            self._parts = [(self.size, force)]
            self._rows = np.arange(system.nv)
        else:
            rows: list[int] = []
            for name, value in force.items():
                found = _rows_of(name, system)
                rows += found
                self._parts.append((len(found), value))
            if not rows:
                raise InputError("force names no constraint: {row or constraint: desired value}.")
            self._rows = np.array(rows)
            self.size, self.weight = len(rows), np.array(system.units.row_unit[rows])
        self.on_lam = np.zeros(system.nc, dtype=bool)
        if self._of_lam:
            self.on_lam[self._rows] = True
        self.at(0.0)

    def at(self, t: float) -> Array:
        """Desired forces (p,) at time t [s]."""
        values, what = [], f"desired force at t = {t:g} s"
        for size, value in self._parts:
            found = answer_of(f"{what}: it", value, t) if callable(value) else value
            found = found[0] if isinstance(found, tuple) else found
            array = np.broadcast_to(np.asarray(found, dtype=float), (size,)) if np.size(found) == 1 else found
            values.append(state(array, what, size))
        return np.concatenate(values)

    def map(self, response: Response, rows: npt.NDArray[np.bool_] | None) -> tuple[Array, Array]:
        """Y (p, nu), y0 (p,): the regulated forces y = Y u + y0; zero rows for inactive constraints."""
        if not self._of_lam:
            return response.Phi, response.F0
        lam0, Lam = response.lam0, response.Lam
        if rows is not None:
            all0, all_ = np.zeros(len(rows)), np.zeros((len(rows), Lam.shape[1]))
            all0[rows], all_[rows] = lam0, Lam
            lam0, Lam = all0, all_
        return Lam[self._rows], lam0[self._rows]

    def of(self, lam: Array, now: MeasuredState) -> Array:
        """The regulated forces (p,) from all multipliers."""
        return lam[self._rows] if self._of_lam else np.asarray(now.terms.J.T @ lam)


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
