"""Law: what all controllers share. One step from a measured state to inputs.

    terms -> response (affine in u) -> outputs -> least inputs -> choice of what is open -> Solution

[Aghili2005] VII-A: of all inputs that give the outputs their error dynamics, the shortest. The form used
here, u = (J_task B)^+ (wanted - J_task a0), is eq. (43)-(46) where outputs use up all freedoms and every
joint is actuated, eq. (60) with passive joints, and [Aghili2011] eq. (13) (corrected) with the free
tangential part optimised where outputs leave freedoms over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import nonnegative
from ...dynamics.forward import limit_of
from ...dynamics.input_response import Response, respond
from ...errors import InputError, SarrusError
from ..limits.limit_table import LimitTable
from ..motion.force_release import Names, Release
from .active_constraints import ActiveRows
from .force_metric import Factor, ForceMetric
from .history import History, replay
from .input_selection import Choice, Wish, choose
from .least_norm_inputs import Least, least_inputs
from .measured_state import Measured, check_system, measured
from .solution import QPInfo, Solution, Status
from .task import Task, Tracking
from .transition import Transition

Array = npt.NDArray[np.float64]

MISSED = 1e-8  # accelerations missed by less than this, relative to the wanted ones, are met
MOST_EVENTS = 1000
NO_FORCES = np.zeros(0)
Active = Sequence[str] | Callable[[float, Array, Array], Sequence[str]] | None


class Law:
    """A controller: controller(t, q, v) -> u, and solve(t, q, v) -> Solution with every part of the law.

    Attributes:
        system: the mechanism that it was built for.
        last: the latest Solution, or None.
        events: changes of status: (t, status, message).
    """

    def __init__(
        self,
        system: Any,
        outputs: Any,
        reference: Any,
        kp: Any,
        kd: Any,
        metric: Any,
        actuated: Sequence[str] | None,
        active: Active,
        leftover_damping: float,
        least_feel: float,
        transition: float,
        releasing: Names | None,
        limits: Sequence[Any],
        solver: str,
        gives: str,
    ) -> None:
        from ..limits.quadratic_program import check_solver

        self.system = check_system(system, type(self).__name__)
        self._used = _used_actuators(system, actuated)
        self._columns = np.array([system.model.actuators[i].index for i in self._used], dtype=int)
        self._task = Task(system, outputs, reference, kp, kd)
        self._metric = ForceMetric(metric, system, self._columns)
        self._active = ActiveRows(system, active)
        self._leftover_damping = nonnegative(leftover_damping, "leftover_damping")
        self._least_feel = nonnegative(least_feel, "least_feel")
        self._transition = Transition(nonnegative(transition, "transition"))
        self._release = Release(system, releasing, transition)
        if gives not in ("limits", "motion"):
            raise InputError(f'gives must be "limits" or "motion", got {gives!r}.')
        self._gives = gives
        self._limits = LimitTable(limits, system, self._used) if len(limits) else None
        cones = self._limits is not None and self._limits.has_cones
        self._solver = check_solver(solver, cones) if self._limits is not None else ""
        self._unsure: dict[Any, str] = {}
        self.last: Solution | None = None
        self._start, self._latest = np.inf, -np.inf
        self.events: list[tuple[float, Status, str]] = []

    def __call__(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Inputs u (nu,) [N m, N] at time t [s] for positions q (nq,) and velocities v (nv,)."""
        return self.solve(t, q, v).u

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Solution:
        """One step with all its parts. Never raises: what went wrong is in `status` and `message`."""
        began = time.perf_counter()
        try:
            now = measured(self.system, t, q, v)
            self._notice_new_run(now.t)
            found = self._step(now, began)
        except (SarrusError, np.linalg.LinAlgError) as error:
            found = self._failed(t, f"held the last input: {error}", began)
        before = Status.OK if self.last is None else self.last.status
        if found.status != before and len(self.events) < MOST_EVENTS:
            self.events.append((found.t, found.status, found.message))
        self.last = found
        return found

    def _notice_new_run(self, t: float) -> None:
        """A controller that is taken into another run, from its first time or earlier, starts afresh."""
        if t <= self._start and t < self._latest:
            self.reset()
        if self._latest == -np.inf:
            self._start = t
        self._latest = max(t, self._latest)

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events."""
        self.last, self.events = None, []
        self._start, self._latest = np.inf, -np.inf
        self._transition.reset()
        self._release.reset()

    def history(self, trajectory: Any, every: int = 1) -> History:
        """The law again at the states of a trajectory, as arrays to look at; resets the controller."""
        return replay(self, trajectory, every)

    # ------------------------------------------------------------------ one step

    def _step(self, now: Measured, began: float) -> Solution:
        rows, terms, units, gap = self._active.at(now)
        lost = limit_of(self.system.evaluator, now.q, now.v, now.t) if rows is None else None
        response = respond(terms, self._columns, units, lost, gap)
        task = self._task.track(now)
        factor = self._metric.factor(terms)
        least = self._least(now, response, task, factor)
        released = self._release.rows(now, rows)
        limits = None if self._limits is None else self._limits.at(now, response, rows, released)
        wish = self._release.wish(now, response, rows, released) or self._wish(now, response, rows)

        def chosen(offset: Array | None) -> Choice:
            return choose(least, factor, wish, offset, limits, self._solver, self._gives)

        choice = self._transition.smoothed(now.t, (rows, response.rank), chosen)
        inputs = choice.u
        force_error = self._settled(wish, inputs)
        status, message = self._verdict(response, least, choice)
        if response.rank < len(terms.J):
            message = "; ".join(filter(None, (message, self._undetermined(response, rows))))
        u, tau = self._spread(inputs)
        solution = self._result(
            now.t,
            u,
            tau,
            response.a0 + response.B @ inputs,
            status,
            message,
            self._task.names,
            choice.active,
            choice.violations,
            choice.qp,
            time.perf_counter() - began,
            force_error,
            task,
            response,
            self._metric.weights(terms),
            inputs,
            rows,
            choice.rows,
        )
        self._release.remember(lambda: solution.lam)
        return solution

    def _spread(self, inputs: Array) -> tuple[Array, Array]:
        """Inputs of the actuators in use as u (nu,) and tau (nv,), zero elsewhere."""
        tau = np.zeros(self.system.nv)
        tau[self._columns] = inputs
        if len(inputs) == self.system.nu:
            return inputs.copy(), tau
        u = np.zeros(self.system.nu)
        u[self._used] = inputs
        return u, tau

    def _least(self, now: Measured, response: Response, task: Tracking, metric: Factor) -> Least:
        """What the outputs ask of the inputs."""
        damping, threshold = self._leftover_damping, self._least_feel
        return least_inputs(task.J, task.wanted, self._task.unit, response, now.v, metric, damping, threshold)

    # ------------------------------------------------------------------ what laws add

    def _wish(self, now: Measured, response: Response, rows: Any) -> Wish | None:
        """Forces that the law wants; none here."""
        return None

    def _settled(self, wish: Wish | None, inputs: Array) -> Array:
        """Called with the inputs that were chosen; returns the error of the forces."""
        return NO_FORCES

    def _result(self, *parts: Any) -> Solution:
        """The result of a step, from its parts in the order of `Solution`."""
        return Solution(*parts)

    # ------------------------------------------------------------------ how it went

    def _verdict(self, response: Response, least: Least, choice: Choice) -> tuple[Status, str]:
        G, g = least.G, least.g
        met = least.rank == len(g) and not least.damped and not least.unfelt
        if met and choice.status in (Status.OK, Status.LIMITED):
            return (Status.LIMITED if choice.active else choice.status), ""
        said = [choice.message] if choice.message else []
        status = choice.status
        missed = float(np.max(np.abs(g - G @ choice.x), initial=0.0))
        if missed > MISSED * (1.0 + float(np.max(np.abs(g), initial=0.0))):
            status = min(status, Status.PARTIAL) if status < 0 else Status.PARTIAL
            if choice.status != Status.PARTIAL:
                said.append(f"outputs met as far as possible, {least.rank} of {len(g)} independent here")
        if least.damped and status >= 0:
            status = Status.SINGULAR
            said.append("near a pose where a motion is lost: torques are damped")
        if least.unfelt:
            unfelt = "; ".join(", ".join(names) for names in response.uncontrollable[:3])
            reached = response.dof - len(response.uncontrollable)
            said.append(f"{reached} of {response.dof} freedoms are controllable; no actuator feels: {unfelt}")
        if status == Status.OK and choice.active:
            status = Status.LIMITED
        return status, "; ".join(said)

    def _undetermined(self, response: Response, rows: Any) -> str:
        """Which multipliers the law limits or regulates although redundant rows leave them undetermined."""
        used = self._multipliers_used()
        if used is None:
            return ""
        key = (None if rows is None else rows.tobytes(), response.rank)
        if key not in self._unsure:
            mask = used if rows is None else used[rows]
            doubtful = mask & ~response.lam_unique
            names = [name for name, is_one in zip(response.units.row_names, doubtful, strict=True) if is_one]
            said = "redundant rows leave these multipliers undetermined, the least ones are meant: "
            self._unsure[key] = said + ", ".join(names) if names else ""
        return self._unsure[key]

    def _multipliers_used(self) -> npt.NDArray[np.bool_] | None:
        """Multipliers (nc,) that the law depends on."""
        return None if self._limits is None else self._limits.on_lam

    def _failed(self, t: Any, message: str, began: float) -> Solution:
        system = self.system
        u = np.zeros(system.nu) if self.last is None else self.last.u
        tau = np.zeros(system.nv) if self.last is None else self.last.tau
        when = float(t) if isinstance(t, (int, float)) else float("nan")
        nothing = np.full(system.nv, np.nan)
        spent = time.perf_counter() - began
        return self._result(
            when, u, tau, nothing, Status.FAILED, message, self._task.names, (), {}, QPInfo(), spent
        )


def _used_actuators(system: Any, actuated: Sequence[str] | None) -> npt.NDArray[np.int_]:
    """Indices into u of the actuators to use."""
    if actuated is None:
        return np.arange(system.nu)
    names = [actuated] if isinstance(actuated, str) else list(actuated)
    if not names:
        raise InputError("actuated must name at least one actuator: without one nothing can be controlled.")
    from ..limits.limit_rows import actuator_index

    return np.array(sorted({actuator_index(system, name, "actuated") for name in names}), dtype=int)
