"""CopiesRun: the compiled copies, advanced in pieces; between them Ctrl-C, policy and progress bar."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..._kernel import Copies, StepStatus
from ...arrays import Array, require_memory
from ...dynamics.bearing_friction import no_force
from ...errors import InputError
from ...mechanism.core.access import actuated_columns
from ...mechanism.core.modes import Mode
from ...mechanism.core.slot_modes import ContactMode
from ...mechanism.query.contact_steps import DEEP
from ...mechanism.query.time_steps import METHODS, TROUBLE, step_options
from ..events.events import Event
from ..run.accuracy import LOST, errors_of_copies, speed_of_rest, too_long
from ..run.interrupts import Interrupts
from ..run.outcome import Status
from ..run.progress import Progress
from ..stepping.callbacks import Failure
from .arguments import CONSISTENT, RolloutArguments
from .device_copies import DeviceCopies
from .limits import limit_events
from .passes import passes
from .result import Rollout, summary

PIECE = 0.1  # [s] of computing between two checks for Ctrl-C
FIRST, MOST = 8, 100_000  # steps of the first piece, and of any


class CopiesRun:
    """One rollout on this machine."""

    def __init__(self, given: RolloutArguments) -> None:
        a = self._given = given
        mech = a.mech
        models = [one.model for one in a.variants or (mech,)]
        plan = None
        if a.modes is not None:
            models, plan = [a.modes.complete(one) for one in models], a.modes.plan
        drives = mech.evaluator.drive if mech.model.drives else None
        if drives is not None:
            mech.evaluator.check_drives(a.t0, a.end)
        options = step_options(a.method, max(abs(a.t0), abs(a.end)))
        self._copies: Copies | DeviceCopies
        if a.device == "cpu":
            kernels, time = [one.kernel for one in models], (a.t0, a.dt)
            columns = actuated_columns(mech)
            self._copies = Copies(kernels, options, time, columns, drives, plan, contacts=a.touches)
        else:
            self._copies = DeviceCopies(mech, a.variants, a.dt, a.dtype)
        rows = 1 + a.steps // a.every
        numbers = float(a.count * rows) * (mech.nq + mech.nv + mech.nu)
        what = f"a rollout of {a.count} copies that keeps {rows} states"
        require_memory(8.0 * numbers, what, "Keep fewer: every=.")
        self._q = np.full((a.count, rows, mech.nq), np.nan)
        self._v = np.full((a.count, rows, mech.nv), np.nan)
        self._u = np.full((a.count, rows, mech.nu), np.nan)
        self._bad_answer = np.zeros(a.count, dtype=bool)
        self._done = 0
        self._failure: Failure | None = None
        self._interrupts = Interrupts()

    def run(self, *, interrupted: bool = False) -> Rollout:
        """All steps, as far as they get; none where the user has interrupted them before."""
        a = self._given
        self._interrupts.pending = interrupted
        with self._interrupts:
            if isinstance(self._copies, DeviceCopies):
                self._copies.start(a.q, a.v, None, 0, a.threads)
            else:
                first = self._first_inputs()
                self._copies.start(a.q, a.v, None, 0, a.threads, modes=a.mode, inputs=first)
            fine = self._copies.status == StepStatus.FINE.value
            self._q[fine, 0], self._v[fine, 0] = self._copies.q[fine], self._copies.v[fine]
            bar = Progress(a.progress, a.t0, a.end)
            try:
                self._advance(bar)
            finally:
                bar.close()
        return self._result()

    def _first_inputs(self) -> Array | None:
        """Inputs of the first step (B, nu), which contacts are settled under; None: not known yet."""
        a = self._given
        if a.u is None or not a.touches:
            return None
        return np.ascontiguousarray(np.broadcast_to(np.nan_to_num(a.u[:, 0]), (a.count, a.mech.nu)))

    def _advance(self, bar: Progress) -> None:
        a = self._given
        count = 1 if a.policy is not None else FIRST
        while self._done < a.steps and not self._interrupts.pending:
            last = min(self._done + count, a.steps)
            inputs = self._inputs(self._done, last)
            if inputs is None:
                return
            began = time.perf_counter()
            out = self._q, self._v, self._u, a.every
            self._copies.advance(self._done, last, inputs, out, a.threads)
            taken = max(time.perf_counter() - began, 1e-6)
            self._done = last
            if a.policy is None:
                count = int(np.clip(count * PIECE / taken, 1, min(4 * count, MOST)))
            bar.show(a.t0 + last * a.dt)
            if not np.any(self._copies.status == StepStatus.FINE.value):
                return

    def _inputs(self, first: int, last: int) -> tuple[Any, Any, Any, Any] | None:
        """u, K, q, v of these steps; None where the policy failed."""
        a = self._given
        if a.feedback is not None:
            u_ref, K, q, v = (_part(x, first, last, a.steps) for x in a.feedback)
            return u_ref, K, q, v
        if a.policy is None:
            return None if a.u is None else _part(a.u, first, last, a.steps), None, None, None
        t = a.t0 + first * a.dt
        try:
            u = self._answer(a.policy(t, self._copies.q, self._copies.v))
        except (Exception, KeyboardInterrupt) as error:
            self._failure = Failure.of(error, "policy", t, isinstance(error, InputError))
            if self._failure.interrupted:
                self._interrupts.pending = True
            elif first == 0:
                raise InputError(self._failure.message) from None
            return None
        going = self._copies.status == StepStatus.FINE.value
        self._bad_answer |= going & ~np.isfinite(u).all(axis=1)
        return u[:, None], None, None, None

    def _answer(self, u: Any) -> Array:
        """What the policy returned, as an array (B, nu)."""
        shape = self._given.count, self._given.mech.nu
        try:
            array = np.asarray(np.nan if u is None else u, dtype=float)
        except (TypeError, ValueError):
            array = np.zeros(())
        if array.shape != shape:
            got = f"shape {array.shape}" if array.ndim else type(u).__name__
            raise InputError(
                f"policy(t, q, v) must return u with shape {shape} = (copies, actuators), got {got}."
            )
        return np.ascontiguousarray(array)

    # ------------------------------------------------------------------ how it went

    def _result(self) -> Rollout:
        a, mech = self._given, self._given.mech
        steps, code = self._copies.steps, self._copies.status
        started = np.isfinite(self._q[:, 0]).all(axis=1)
        length = np.where(started, 1 + steps // a.every, 0)
        self._hold_last_inputs(length)
        fine = code == StepStatus.FINE.value
        status = np.where(fine, np.where(steps == a.steps, Status.END, Status.INTERRUPTED), Status.FAILED)
        if self._failure is not None and not self._failure.interrupted:
            status[fine & (steps < a.steps)] = Status.STOPPED
        messages = [self._message(i, int(steps[i]), int(code[i]), int(status[i])) for i in range(a.count)]
        mechs = a.variants or (mech,)
        seen = self._copies.passes()
        found, wrong = passes(mechs, seen[:0] if a.modes is not None or a.touches else seen, a.t0, a.dt)
        step_error = self._step_error(wrong)
        for i, why in wrong.items():
            if status[i] == Status.END:
                status[i] = Status.FAILED
                messages[i] = f"Reached t = {a.t0 + steps[i] * a.dt:.9g} s, but the states are wrong. {why}"
        t = a.t0 + a.dt * a.every * np.arange(1.0 + a.steps // a.every)
        for i, (events, said) in limit_events(mechs, t, (self._q, self._v, self._u), length).items():
            found[i] = sorted([*found.get(i, ()), *events], key=lambda event: event.t)
            messages[i] += said
        none: tuple[Event, ...] = ()
        together: dict[str, Any] = {
            "t": t,
            "q": self._q,
            "v": self._v,
            "u": self._u,
            "status": status,
            "drift": self._copies.drift * mech.length,
            "velocity_drift": self._copies.velocity_drift * mech.length,
            "length": length,
            "general_steps": self._copies.single.astype(np.int64),
            "step_error": step_error,
            "events": tuple(tuple(found[i]) if i in found else none for i in range(a.count)),
            "messages": tuple(messages),
            "mode": self._mode(),
        }
        return Rollout(**together, message=summary(together, (a.dt, a.end)), _mechs=mechs)

    def _mode(self) -> Mode | ContactMode | None:
        """In which the copies are at their end."""
        a = self._given
        if isinstance(self._copies, DeviceCopies):
            return None
        if a.touches:
            return ContactMode(a.mech.model.structure.slots, np.asarray(self._copies.modes))
        if a.modes is None:
            return None
        return Mode(a.modes, np.asarray(self._copies.modes))

    def _step_error(self, wrong: dict[int, str]) -> Array:
        """What the steps of each copy have lost (B,); copies that do not follow their motion are wrong."""
        a, steps = self._given, self._copies.steps
        if METHODS[a.method].adaptive:
            return np.full(a.count, np.nan)
        if isinstance(self._copies, DeviceCopies):
            error = self._copies.step_error
        else:
            rest = speed_of_rest(a.mech) if a.touches else 0.0
            error = errors_of_copies(self._copies.step_errors, METHODS[a.method].order, rest)
        for i in np.flatnonzero(~(error <= LOST * np.maximum(steps, 1))).tolist():
            wrong.setdefault(i, too_long(a.dt, "this motion", error[i], "Take a shorter dt."))
        return error

    def _hold_last_inputs(self, length: Array) -> None:
        """The row after the last step that began at a stored state has no inputs of its own yet."""
        for i in range(1, self._u.shape[1]):
            missing = (length > i) & np.isnan(self._u[:, i]).all(axis=1)
            self._u[missing, i] = self._u[missing, i - 1]

    def _message(self, i: int, steps: int, code: int, status: int) -> str:
        a = self._given
        t = a.t0 + steps * a.dt
        if status == Status.END:
            return f"Reached the end, t = {t:.9g} s."
        if status == Status.INTERRUPTED:
            return f"Interrupted at t = {t:.9g} s; everything up to there is kept."
        if status == Status.STOPPED and self._failure is not None:
            return self._failure.message
        if not np.isfinite(self._q[i, 0]).all():
            return f"Did not start: {self._why_not_started(i)}."
        if a.u is not None and not np.isfinite(a.u[min(i, len(a.u) - 1), steps]).all():
            return f"Stopped after t = {t:.9g} s: its input u is not finite at step {steps}."
        if self._bad_answer[i]:
            return f"Stopped after t = {t:.9g} s: the policy gave it an input that is not finite."
        return f"Stopped after t = {t:.9g} s: {self._why(StepStatus(code))}."

    def _why_not_started(self, i: int) -> str:
        a = self._given
        if a.open_by[i] > CONSISTENT * a.mech.length:
            return (
                f"q0 does not satisfy the constraints, |phi| is {a.open_by[i]:.3g} m (angles times L),"
                f" allowed {CONSISTENT * a.mech.length:.1g}; start from mech.project(q0, v0)"
            )
        if a.off[i] > CONSISTENT:
            return (
                f"v0 does not satisfy the constraints, |J v - b| is {a.off[i]:.3g} of the speed, allowed"
                f" {CONSISTENT:g}; start from mech.consistent_velocity(q0, v0)"
            )
        if a.inside[i] > CONSISTENT * a.mech.length:
            return (
                f"surfaces are inside each other by {a.inside[i]:.3g} m at q0; start from mech.separate(q0)"
            )
        return "q0 or v0 is not finite, or a quaternion is zero"

    def _why(self, status: StepStatus) -> str:
        """Why a step failed."""
        a = self._given
        if status == StepStatus.OPEN_GAP and a.touches:
            return DEEP
        return TROUBLE[status] if status != StepStatus.UNSETTLED else no_force(a.mech.model).rstrip(".")


def _part(x: Array, first: int, last: int, steps: int) -> Array:
    """Rows (B or 1, steps or 1, width) of these steps, and of the one that begins in their last state."""
    return x if x.shape[1] == 1 else np.ascontiguousarray(x[:, first : min(last + 1, steps)])
