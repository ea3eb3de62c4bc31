"""The loop of one run: pieces of compiled steps; between them Ctrl-C, events and the progress bar."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..._kernel import StepStatus
from ...arrays import Array
from ...dynamics.bearing_friction import no_force
from ...errors import InputError
from ..events.events import Event, UserWatch
from ..events.interpolation import Hermite, Manifold
from ..stepping.callbacks import Failure, Inputs
from ..stepping.options import Options
from ..system.step_records import Steps
from ..system.system import System
from .checkpoint import Checkpoint
from .compiled_run import CompiledRun
from .interrupts import Interrupts
from .outcome import Outcome, Status
from .progress import Progress
from .run_record import RunRecord
from .stretch import joined
from .trouble import stand_still, trouble

PIECE = 0.05  # [s] of computing between two checks for Ctrl-C and events
MOST_STEPS = 4_000  # in one piece


class Simulation:
    """One run: the compiled steps, the search for events in them, and the records."""

    def __init__(
        self,
        system: System,
        options: Options,
        users: UserWatch,
        q: Array,
        v: Array,
        *,
        modes: Any = None,
        checkpoint: Checkpoint | None = None,
        before: Steps | None = None,
    ) -> None:
        """
        Args:
            system: the system, with all of its rows.
            options: of the run.
            users: the user events.
            q, v: where it starts (nq,), (nv,).
            modes: what can change during the run, a ModeRun; None: nothing.
            checkpoint: where a resumed run continues; None: it starts at q, v.
            before: the steps before a checkpoint, as far as they are known.
        """
        self._system, self._options, self._users, self._modes = system, options, users, modes
        self._given = Steps.undefined(options.t0, q, v)
        self._checkpoint, self._before = checkpoint, before
        self._inputs = Inputs(system, options)
        self._compiled = CompiledRun(system, options, self._inputs, (q, v), modes, checkpoint)
        self._run = self._compiled.run
        self._manifold = Manifold(system.kernel, system.model)
        self._record = RunRecord(system, options, self._inputs, self._compiled, users, modes)
        self._failure: Failure | None = None
        self._interrupts, self._ended = Interrupts(), False
        self._still = False  # steps have become too short to move anything

    # ------------------------------------------------------------------ steps

    def run(self) -> Outcome:
        """Start, step to the end, and return the outcome."""
        with self._interrupts:
            return self._run_to_the_end()

    def _run_to_the_end(self) -> Outcome:
        try:
            first = self._record.taken() if self._compiled.begin() else None
        except KeyboardInterrupt:
            self._interrupts.pending, first = True, None
        if first is None:
            return self._unstarted()
        bar = Progress(self._options.progress, self._options.t0, self._options.t1)
        try:
            self._start(first)
            self._advance(bar)
        except KeyboardInterrupt:
            self._interrupts.pending = True
            self._absorb()
        finally:
            bar.close()
        self._record.end_stretch()
        if self._modes is not None and self._status != StepStatus.FINE:
            self._record.note_mode_without_motion()
        return self._outcome()

    def _unstarted(self) -> Outcome:
        """The outcome of a run without a first step."""
        if self._run.status == StepStatus.UNSETTLED:
            raise InputError(no_force(self._system.model))
        self._record.keep_unstarted(self._given)
        return self._outcome()

    def _start(self, first: list[tuple[int, Steps]]) -> None:
        if self._checkpoint is None:
            self._record.start(first, self._given, self._before)
        else:
            self._record.resume(first, self._checkpoint, self._before)
        self._end_where_no_motion_starts()

    def _end_where_no_motion_starts(self) -> None:
        """A stretch that begins at a velocity along no branch is the last one."""
        self._ended = self._record.stretch.watch.start != ""

    def require_fitting_checkpoint(self) -> None:
        """Refuse a checkpoint of another system or method, by its size."""
        assert self._checkpoint is not None
        found = len(self._checkpoint.numbers), len(self._checkpoint.u)
        wanted = len(np.asarray(self._run.checkpoint())), self._system.nu
        if found != wanted:
            raise ValueError(f"{found} numbers of state and inputs, not {wanted}")

    def _advance(self, bar: Progress) -> None:
        """Pieces of the run, of about equal computing time."""
        o, record = self._options, self._record
        assert record.last is not None
        # step by step: controllers must not be called after a terminal event
        one_by_one = self._users.terminal and self._inputs.needed
        count = 1 if one_by_one else 16
        while not self._ended and not self._interrupts.pending and record.last.t[-1] < o.t1:
            before, began = record.last, time.perf_counter()
            done = self._run.advance(o.t0, o.first_step if o.integrator.adaptive else o.dt, o.t1, count, 1)
            taken = time.perf_counter() - began
            self._absorb()
            self._still = o.integrator.adaptive and stand_still(before, record.last, done, self._system)
            # fewer steps than asked for may also mean the end, from which an event has gone back
            if self._still or self._run.status != StepStatus.FINE or not done:
                break
            if not one_by_one:
                count = int(np.clip(count * PIECE / max(taken, 1e-6), 1, min(4 * count, MOST_STEPS)))
            bar.show(float(record.last.t[-1]))

    def _absorb(self) -> None:
        """Record the new steps, mode by mode, and look for events in them."""
        for mode, steps in self._record.taken():
            if self._ended:
                return
            if mode != self._record.stretch.mode:
                self._enter(mode, steps[:1])
                steps = steps[1:]
            if len(steps) and not self._ended and self._look(steps):
                return  # what comes after is not taken

    def _look(self, new: Steps) -> bool:
        """The next steps of the present mode; whether an event has changed it within them."""
        before = self._record.last
        assert before is not None
        self._record.keep(new)
        self._record.stretch.watch.look(new)
        return bool(self._options.events) and self._user_events(Steps.joined([before, new]))

    def _enter(self, mode: int, first: Steps) -> None:
        self._record.enter(mode, first)
        self._end_where_no_motion_starts()

    # ------------------------------------------------------------------ events of the user

    def _user_events(self, steps: Steps) -> bool:
        """Crossings between these steps; a terminal one ends the run where it happens.

        Returns whether one of them has changed the mode: the steps behind it are not taken.
        """
        for i in range(1, len(steps)):
            pair = steps[i - 1 : i + 1]
            path = Hermite(self._manifold, pair, self._options.control_dt is not None)
            t0, t1 = float(pair.t[0]), float(pair.t[1])
            try:
                found = self._users.between(path, t0, t1, pair.q[1], pair.v[1])
            except Exception as error:
                self._failure = Failure.of(error, "an event", t1, True)
                self._ended = True
                return False
            if found and self._happened(found, pair):
                return True
            if self._ended:
                return False
        return False

    def _happened(self, found: list[tuple[float, str, bool]], pair: Steps) -> bool:
        """Record events within a step; a terminal one ends the run, or the mode: then true."""
        switching = () if self._modes is None else self._modes.switching
        for t, name, terminal in found:
            if name not in switching:
                at = self._state_at(pair, t)
                rank = int(at.rank[0])
                self._record.events.append(Event(name, "user", t, at.q[0], at.v[0], rank, terminal=terminal))
        ends = [(t, name) for t, name, terminal in found if terminal]
        if not ends:
            return False
        at = self._state_at(pair, ends[0][0])
        self._record.cut(at)
        if all(name in switching for _, name in ends):
            self._switch([name for _, name in ends], at)
            return True
        self._ended = True
        return False

    def _switch(self, names: list[str], at: Steps) -> None:
        """Close and open what events of these names say, at a state within the last step."""
        assert self._modes is not None
        self._inputs.forget_after(float(at.t[0]))
        changes = self._modes.changes(names)
        here = self._record.stretch.mode, float(at.t[0]), at.q[0], at.v[0]
        if not self._run.change_mode(*here, changes):
            self._ended = True
            self._run.take()
            return
        for mode, steps in self._record.taken():
            self._enter(mode, steps[:1])

    def _state_at(self, pair: Steps, t: float) -> Steps:
        """The state at time t within a step, projected onto the constraints."""
        for end in (0, 1):
            if t == pair.t[end]:
                return pair[end : end + 1]
        return self._record.stretch.projector(pair, np.array([t]))

    # ------------------------------------------------------------------ how it went

    def _outcome(self) -> Outcome:
        record = self._record
        end = self._options.t0 if record.last is None else float(record.last.t[-1])
        status, message = self._verdict(end)
        message = record.checks.added_to(message, end)
        if status == Status.END:
            assert record.last is not None
            message += record.checks.doubts(record.stretch, record.last)
        seen = [*record.events, *getattr(self._run, "changes", ()), *record.checks.passed_limits]
        return Outcome(
            **joined(record.kept),
            events=tuple(sorted((event for event in seen if event.t <= end), key=lambda event: event.t)),
            nfev=int(self._run.evaluations),
            status=status,
            message=message,
            options=self._options,
            checkpoint=None if status == Status.EVENT else record.checkpoint(),
            active_names=() if self._modes is None else self._modes.names,
            stretches=() if self._modes is None else tuple(record.kept),
        )

    @property
    def _status(self) -> StepStatus:
        """Of the last step."""
        return StepStatus.STEP_COLLAPSED if self._still else self._run.status

    def _verdict(self, end: float) -> tuple[Status, str]:
        failure = self._failure or self._inputs.failure
        terminal = [event for event in self._record.events if event.terminal]
        if terminal:
            return Status.EVENT, f"Ended by event {terminal[-1].name!r} at t = {end:.9g} s."
        if self._interrupts.pending or (failure is not None and failure.interrupted):
            return Status.INTERRUPTED, f"Interrupted at t = {end:.9g} s; everything up to there is kept."
        if failure is not None:
            return Status.STOPPED, failure.message
        if self._status != StepStatus.FINE:
            return Status.FAILED, self._trouble()
        if self._record.last is not None and (why := self._record.stretch.watch.start):
            return Status.FAILED, f"Stopped at t = {end:.9g} s. {why}"
        if why := self._record.checks.why_wrong():
            return Status.FAILED, f"Reached t = {end:.9g} s, but the states are wrong. {why}"
        return Status.END, f"Reached the end, t = {end:.9g} s."

    def _trouble(self) -> str:
        """Why the last step failed."""
        last = self._record.last
        system = self._system if last is None else self._record.stretch.system
        why: str = "" if self._modes is None else self._modes.trouble(self._run, self._status, last)
        return why or trouble(self._status, system, self._given, last)
