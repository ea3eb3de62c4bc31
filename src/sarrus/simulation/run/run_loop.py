"""The loop of one run: pieces of compiled steps; between them Ctrl-C, events and the progress bar.

A run whose mode changes is the same loop: the kernel changes the mode within its steps, and each change
begins a new stretch of what is recorded.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from ..._kernel import StepStatus
from ...arrays import Array
from ...dynamics.bearing_friction import no_force
from ...errors import InputError, SarrusWarning
from ..charts.chart_run import ChartRun
from ..events.events import Event, UserWatch
from ..events.interpolation import Hermite, Manifold
from ..events.limit_crossings import LimitWatch
from ..events.singular_start import rank_nearby
from ..stepping.callbacks import Failure, Inputs
from ..stepping.formulated_system import FormulatedSystem
from ..stepping.options import Options
from ..stepping.step_setup import StepSetup
from ..system.step_records import Steps
from ..system.system import System
from .accuracy import FixedStepError, drives_too_fast, many_steps, speed_at_rest
from .checkpoint import Checkpoint
from .interrupts import Interrupts
from .outcome import Outcome, Status
from .progress import Progress
from .stretch import Kept, Stretch, joined
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
            modes: what can change during the run, a ModeRun or ContactModes; None: nothing.
            checkpoint: where a resumed run continues; None: it starts at q, v.
            before: the steps before a checkpoint, as far as they are known.
        """
        self._system, self._options, self._users, self._modes = system, options, users, modes
        self._q, self._v = q, v
        self._checkpoint, self._before = checkpoint, before
        self.inputs = Inputs(system, options)
        self._energy = self._kept_energy()
        self._run = self._make_run()
        self._manifold = Manifold(system.kernel, system.model)
        self._error = FixedStepError(
            self._manifold, system.units.unit, options, speed_at_rest(system, options)
        )
        self._limits = LimitWatch(system, self._manifold, options.control is not None)
        self._stretch: Stretch  # the present one
        self._kept: list[Kept] = []  # of the stretches before
        self._notes: list[str] = []  # about near misses of the stretches before
        self._wrong = ""  # why states are wrong
        self._recent: list[tuple[Array, Array]] = []  # times and inputs of the last pieces
        self._events: list[Event] = []
        self._failure: Failure | None = None
        self._interrupts, self._ended = Interrupts(), False
        self.last: Steps | None = None  # the last state; None where the run could not start
        self._still = False  # steps have become too short to move anything
        self._fastest = 0.0  # largest speed without units [1/s]
        self._driven_at: list[Array] = []  # times of the steps of a system with drives [s]

    # ------------------------------------------------------------------ the compiled run

    def _kept_energy(self) -> float:
        """The energy to keep [J]; 0 where the options do not ask for it."""
        if self._checkpoint is not None:
            return self._checkpoint.energy
        if not self._options.energy:
            return 0.0
        return float(self._system.energy(np.array([self._options.t0]), self._q[None], self._v[None])[0])

    def _make_run(self) -> Any:
        """A compiled run, or a run in charts with the same methods."""
        system, o, inputs = self._system, self._options, self.inputs
        formulation = self._formulation()
        if self._modes is not None:
            self._modes.prepare(system, formulation)
        formulated = None if formulation == "nullspace" else FormulatedSystem(system, o, formulation, inputs)
        self._formulated = formulated
        setup = StepSetup(system, o, inputs, formulated, self._energy)
        inputs.asked_at_samples = setup.asks_at_samples
        if self._modes is not None:
            return self._modes.run(setup)
        return setup.compiled_run() if o.coordinates == "full" else ChartRun(setup)

    def _formulation(self) -> str:
        """The formulation to use: "svd" for soft constraints, and user terms that start at a singular pose.

        At a singular pose the kernel does not compute the limits of rows from Python functions; NumPy does.
        """
        system, o = self._system, self._options
        if o.correction == "soft" and o.formulation == "nullspace":
            return "svd"
        if o.formulation != "nullspace" or not system.has_user_terms or not np.any(self._v):
            return o.formulation
        original = system.original if self._modes is None else self._modes.start_mechanism
        singular = original.nc and original.mobility(self._q, o.t0).is_singular
        return "svd" if singular else "nullspace"

    # ------------------------------------------------------------------ steps

    def run(self) -> Outcome:
        """Start, step to the end, and return the outcome."""
        with self._interrupts:
            return self._run_to_the_end()

    def _run_to_the_end(self) -> Outcome:
        try:
            first = self._taken() if self._begin() else None
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
        self._end_stretch()
        self._note_mode_without_motion()
        return self._outcome()

    def _begin(self) -> bool:
        """Start at the first state, or at the checkpoint."""
        if self._checkpoint is None:
            nearby = self._rank_nearby()
            known = {} if nearby < 0 else {"rank": nearby}
            return bool(self._run.start(self._options.t0, self._q, self._v, **known))
        self.inputs.restore(self._checkpoint.t, self._checkpoint.u)
        return bool(self._run.resume(self._options.t0, self._checkpoint.numbers))

    def _rank_nearby(self) -> int:
        """Rank of J near a singular start of a run without projection; -1: it need not be known."""
        o = self._options
        if o.correction == "project" or self._modes is not None:
            return -1
        nearby = rank_nearby(self._system, o.t0, self._q)
        if self._formulated is not None:
            self._formulated.nearby = nearby
        return nearby

    def _taken(self) -> list[tuple[int, Steps]]:
        """The new steps, mode by mode."""
        if self._modes is None:
            return [(0, Steps.taken(self._run))]
        taken: list[tuple[int, Steps]] = self._modes.taken(self._run)
        return taken

    def _unstarted(self) -> Outcome:
        """The outcome of a run without a first step."""
        if self._run.status == StepStatus.UNSETTLED:
            raise InputError(no_force(self._system.model))
        undefined = Steps.undefined(self._options.t0, self._q, self._v)
        part = None if self._modes is None else self._modes.unstarted(undefined)
        self._kept.append(Kept(undefined, np.zeros((1, self._system.nu)), part))
        return self._outcome()

    def _start(self, first: list[tuple[int, Steps]]) -> None:
        """The first state, and the first mode."""
        mode, steps = first[-1]
        if self._modes is not None and self._checkpoint is None:
            given = Steps.undefined(self._options.t0, self._q, self._v)
            self._events += self._modes.changed(None, self._modes.entered(self._run, mode), given, steps)
            self._users.restart(float(steps.t[0]), steps.q[0], steps.v[0])
        elif self._modes is not None:
            self._modes.resumed_in(mode)
        self._begin_stretch(mode, steps, self._before)
        if self._checkpoint is not None:
            self._stretch.recorder.skip(self._checkpoint.steps)

    def require_fitting_checkpoint(self) -> None:
        """Refuse a checkpoint of another system or method, by its size."""
        assert self._checkpoint is not None
        found = len(self._checkpoint.numbers), len(self._checkpoint.u)
        wanted = len(np.asarray(self._run.checkpoint())), self._system.nu
        if found != wanted:
            raise ValueError(f"{found} numbers of state and inputs, not {wanted}")

    def _advance(self, bar: Progress) -> None:
        """Pieces of the run, of about equal computing time."""
        assert self.last is not None
        o = self._options
        # step by step: controllers must not be called after a terminal event
        one_by_one = self._users.terminal and self.inputs.needed
        count = 1 if one_by_one else 16
        while not self._ended and not self._interrupts.pending and self.last.t[-1] < o.t1:
            before, began = self.last, time.perf_counter()
            done = self._run.advance(o.t0, o.first_step if o.integrator.adaptive else o.dt, o.t1, count, 1)
            taken = time.perf_counter() - began
            self._absorb()
            self._still = o.integrator.adaptive and stand_still(before, self.last, done, self._system)
            # fewer steps than asked for may also mean the end, from which an event has gone back
            if self._still or self._run.status != StepStatus.FINE or not done:
                break
            if not one_by_one:
                count = int(np.clip(count * PIECE / max(taken, 1e-6), 1, min(4 * count, MOST_STEPS)))
            bar.show(float(self.last.t[-1]))

    def _absorb(self) -> None:
        """Record the new steps, mode by mode, and look for events in them."""
        for mode, steps in self._taken():
            if self._ended:
                return
            if mode != self._stretch.mode:
                self._enter(mode, steps[:1])
                steps = steps[1:]
            if len(steps) and not self._ended and self._look(steps):
                return  # what comes after is not taken

    def _look(self, new: Steps) -> bool:
        """The next steps of the present mode; whether an event has changed it within them."""
        assert self.last is not None
        self._keep(new)
        before, self.last = self.last, new[-1:]
        self._stretch.watch.look(new)
        return bool(self._options.events) and self._user_events(Steps.joined([before, new]))

    def _keep(self, steps: Steps) -> None:
        u = self.inputs.inputs_at(steps.t, self._stretch.mode)
        self._stretch.recorder.add(steps, u)
        self._note(steps, u)

    def _note(self, steps: Steps, u: Array) -> None:
        """What the end of the run asks about all steps."""
        if (
            isinstance(self._run, ChartRun) or not self._run.is_cut_short
        ):  # else the checkpoint lies in these pieces
            self._recent = self._recent[-1:]
        self._recent.append((steps.t, u))
        speed = float(np.max(np.abs(steps.v / self._system.units.unit), initial=0.0))
        self._fastest = max(self._fastest, speed)
        if self._system.has_drives:
            self._driven_at.append(steps.t)
        if not self._options.integrator.adaptive:
            self._error.look(steps)
        if self._modes is None:
            self._limits.look(steps, u)

    # ------------------------------------------------------------------ modes

    def _begin_stretch(self, mode: int, first: Steps, before: Steps | None = None) -> None:
        """Record from the first state of a mode on."""
        u = self.inputs.inputs_at(first.t, mode)
        system, options = self._system, self._options
        if self._modes is not None:
            system = self._modes.system
            options = self._modes.options_from(options, float(first.t[0]), bool(self._kept))
        self._stretch = Stretch(system, options, mode, first, u, before)
        self._error.begin()
        self._note(first, u)
        self.last = first
        self._ended = self._stretch.watch.start != ""

    def _end_stretch(self) -> None:
        """Keep what was recorded in the present mode."""
        assert self.last is not None
        stretch, watch, end = self._stretch, self._stretch.watch, float(self.last.t[-1])
        watch.finish()
        if watch.untested is not None:
            self._error.look_beside_singular(watch.untested.losses, end)
        self._events += stretch.events(end)
        self._wrong = self._wrong or watch.energy.sentence()
        if miss := watch.sentence(self._accumulated_error()):
            self._notes.append(miss)
        if rest := watch.rest(self._accumulated_error()):
            self._notes.append(rest)
        steps, u = stretch.recorder.finish()
        part = None
        if self._modes is not None:
            steps, part = self._modes.recorded(stretch.mode, stretch.system, steps)
            self._limits.look(steps, u)
        self._kept.append(Kept(steps, u, part))

    def _enter(self, mode: int, first: Steps) -> None:
        """The mode has changed to the one with this number, which begins at the state `first`."""
        assert self._modes is not None and self.last is not None
        self._end_stretch()
        before, now = self._modes.entered(self._run, self._stretch.mode), self._modes.entered(self._run, mode)
        self._events += self._modes.changed(before, now, self.last, first)
        self._begin_stretch(mode, first)
        self._users.restart(float(first.t[0]), first.q[0], first.v[0])

    def _switch(self, names: list[str], at: Steps) -> bool:
        """Close and open what events of these names say, at a state within the last step."""
        assert self._modes is not None
        self.inputs.forget_after(float(at.t[0]))
        changes = self._modes.changes(names)
        here = self._stretch.mode, float(at.t[0]), at.q[0], at.v[0]
        if not self._run.change_mode(*here, changes):
            self._ended = True
            self._run.take()
            return True
        for mode, steps in self._taken():
            self._enter(mode, steps[:1])
        return True

    def _note_mode_without_motion(self) -> None:
        """Report the change to a mode that was found, but in which the run could not go on."""
        if self._modes is None or self._status == StepStatus.FINE:
            return
        known, latest = self._stretch.mode, self._run.mode_count - 1
        if latest > known:
            before, now = (self._modes.entered(self._run, mode) for mode in (known, latest))
            assert self.last is not None
            self._events += self._modes.changed(before, now, self.last, self.last)

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
                self._events.append(Event(name, "user", t, at.q[0], at.v[0], rank, terminal=terminal))
        ends = [(t, name) for t, name, terminal in found if terminal]
        if not ends:
            return False
        at = self._state_at(pair, ends[0][0])
        self._stretch.recorder.cut(at)
        self.last = at
        if all(name in switching for _, name in ends):
            return self._switch([name for _, name in ends], at)
        self._ended = True
        return False

    def _state_at(self, pair: Steps, t: float) -> Steps:
        """The state at time t within a step, projected onto the constraints."""
        for end in (0, 1):
            if t == pair.t[end]:
                return pair[end : end + 1]
        return self._stretch.projector(pair, np.array([t]))

    # ------------------------------------------------------------------ how it went

    def _outcome(self) -> Outcome:
        end = self._options.t0 if self.last is None else float(self.last.t[-1])
        status, message = self._verdict(end)
        message = self._limits.added_to(message, end)
        message += "".join(f" {note}" for note in self._notes[:1])
        if status == Status.END:
            message += self._doubts()
        seen = [*self._events, *getattr(self._run, "changes", ()), *self._limits.found]
        return Outcome(
            **joined(self._kept),
            events=tuple(sorted((event for event in seen if event.t <= end), key=lambda event: event.t)),
            nfev=int(self._run.evaluations),
            status=status,
            message=message,
            options=self._options,
            checkpoint=self._next_checkpoint(status),
            active_names=() if self._modes is None else self._modes.names,
            stretches=() if self._modes is None else tuple(self._kept),
        )

    def _doubts(self) -> str:
        """What the message of a run that reached its end says about its accuracy."""
        doubts = [self._error.sentence(), drives_too_fast(self._system, self._driven_at)]
        for inaccurate in filter(None, doubts):
            warnings.warn(inaccurate, SarrusWarning, stacklevel=5)
        assert self.last is not None
        o, system = self._options, self._stretch.system
        if o.integrator.adaptive:
            doubts.append(self._stretch.watch.energy.doubt(o.rtol))
        doubts.append(many_steps(o, int(self._run.steps), system, self.last, self._fastest))
        return "".join(" " + sentence for sentence in doubts if sentence)

    def _accumulated_error(self) -> float:
        """Error of the run, relative to one radian or L, as far as it is known: the sum over its steps."""
        o = self._options
        return o.rtol * int(self._run.steps) if o.integrator.adaptive else self._error.total

    def _next_checkpoint(self, status: Status) -> Checkpoint | None:
        """The checkpoint of this run; None where the inputs there are no longer known."""
        if status == Status.EVENT or not self._recent or not hasattr(self._run, "checkpoint"):
            return None
        numbers = np.asarray(self._run.checkpoint())
        for times, u in self._recent:
            for i in np.flatnonzero(times == numbers[0]):
                return Checkpoint(numbers, u[i], self._energy)
        return None

    @property
    def _status(self) -> StepStatus:
        """Of the last step."""
        return StepStatus.STEP_COLLAPSED if self._still else self._run.status

    def _verdict(self, end: float) -> tuple[Status, str]:
        failure = self._failure or self.inputs.failure
        terminal = [event for event in self._events if event.terminal]
        if terminal:
            return Status.EVENT, f"Ended by event {terminal[-1].name!r} at t = {end:.9g} s."
        if self._interrupts.pending or (failure is not None and failure.interrupted):
            return Status.INTERRUPTED, f"Interrupted at t = {end:.9g} s; everything up to there is kept."
        if failure is not None:
            return Status.STOPPED, failure.message
        if self._status != StepStatus.FINE:
            return Status.FAILED, self._trouble()
        if self.last is not None and self._stretch.watch.start:
            return Status.FAILED, f"Stopped at t = {end:.9g} s. {self._stretch.watch.start}"
        if self._error.lost or self._wrong:
            why = self._wrong or self._error.sentence()
            return Status.FAILED, f"Reached t = {end:.9g} s, but the states are wrong. {why}"
        return Status.END, f"Reached the end, t = {end:.9g} s."

    def _trouble(self) -> str:
        """Why the last step failed."""
        start = Steps.undefined(self._options.t0, self._q, self._v)
        system = self._system if self.last is None else self._stretch.system
        why: str = "" if self._modes is None else self._modes.trouble(self._run, self._status, self.last)
        if why:
            return why
        return trouble(self._status, system, start, self.last)
