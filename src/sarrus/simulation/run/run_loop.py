"""The loop of one run: pieces of compiled steps; between them Ctrl-C, events and the progress bar."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._kernel import StepStatus
from ...arrays import Array
from ...errors import SarrusWarning
from ..charts.chart_run import ChartRun
from ..events.events import Event, UserWatch
from ..events.interpolation import Hermite, Manifold
from ..events.limit_crossings import LimitWatch
from ..events.singular_poses import SingularWatch
from ..stepping.callbacks import Failure, Inputs
from ..stepping.formulated_system import FormulatedSystem
from ..stepping.options import Options
from ..stepping.state_projector import Projector
from ..stepping.step_setup import StepSetup
from ..system.step_records import Steps
from ..system.system import System
from .accuracy import FixedStepError, drives_too_fast, many_steps
from .checkpoint import Checkpoint
from .interrupts import Interrupts
from .outcome import Outcome, Status
from .progress import Progress
from .recorder import TrajectoryRecorder
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
        checkpoint: Checkpoint | None = None,
        before: Steps | None = None,
        limits: bool = False,
        interrupts: Interrupts | None = None,
    ) -> None:
        """
        Args:
            system: the system.
            options: of the run.
            users: the user events.
            q, v: where it starts (nq,), (nv,).
            checkpoint: where a resumed run continues; None: it starts at q, v.
            before: the steps before a checkpoint, as far as they are known.
            limits: whether to report where limits of joints and actuators are passed.
            interrupts: of a run that this one is a part of; None: of its own.
        """
        self._system, self._options, self._users = system, options, users
        self._q, self._v = q, v
        self._checkpoint, self._before = checkpoint, before
        self.inputs = Inputs(system, options)
        self._energy = self._kept_energy()
        self._run = self._make_run()
        self._manifold = Manifold(system.kernel, system.model)
        self._projector = Projector(system, options, self._manifold)
        self._error = FixedStepError(self._manifold, system.units.unit, options)
        self._limits = LimitWatch(system, self._manifold, options.control is not None) if limits else None
        self._recorder = TrajectoryRecorder(options, self._projector)
        if checkpoint is not None:
            self._recorder.skip(checkpoint.steps)
        self._recent: list[tuple[Array, Array]] = []  # times and inputs of the last two pieces
        self._events: list[Event] = []
        self._failure: Failure | None = None
        self._interrupts, self._ended = interrupts or Interrupts(), False
        self.last: Steps | None = None  # the last state; None where the run could not start
        self._still = False  # steps have become too short to move anything
        self._fastest = 0.0  # largest speed without units [1/s]
        self._driven_at: list[Array] = []  # times of the steps of a system with drives [s]
        self._until: Callable[[Steps], Any] | None = None
        self.hit: Any = None  # what `until` found

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
        formulated = None if formulation == "nullspace" else FormulatedSystem(system, o, formulation, inputs)
        setup = StepSetup(system, o, inputs, formulated, self._energy)
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
        singular = system.nc and system.original.mobility(self._q, o.t0).is_singular
        return "svd" if singular else "nullspace"

    # ------------------------------------------------------------------ steps

    def run(self, until: Callable[[Steps], Any] | None = None) -> Outcome:
        """Start, step to the end, and return the outcome.

        Args:
            until: looks at new steps, the last one before them first: an object with the index `step` of
                the step within which the run ends and the time `t` where, or None.
        """
        self._until = until
        with self._interrupts:
            return self._run_to_the_end()

    def _run_to_the_end(self) -> Outcome:
        try:
            first = Steps.taken(self._run) if self._begin() else None
        except KeyboardInterrupt:
            self._interrupts.pending, first = True, None
        if first is None:
            undefined = Steps.undefined(self._options.t0, self._q, self._v)
            self._recorder.add(undefined, np.zeros((1, self._system.nu)))
            return self._outcome(None)
        self._keep(first)
        self.last = first
        watch = SingularWatch(self._system, self._manifold, first, self._options.integrator.adaptive)
        watch.recall(self._before if self._before is not None else first[:0])
        bar = Progress(self._options.progress, self._options.t0, self._options.t1)
        self._ended = watch.start != ""
        try:
            self._advance(watch, bar)
        except KeyboardInterrupt:
            self._interrupts.pending = True
            self._absorb(watch)
        finally:
            bar.close()
        watch.finish()
        if watch.untested is not None:
            self._error.look_beside_singular(watch.untested.losses, float(self.last.t[-1]))
        return self._outcome(watch)

    def _begin(self) -> bool:
        """Start at the first state, or at the checkpoint."""
        if self._checkpoint is None:
            return bool(self._run.start(self._options.t0, self._q, self._v))
        self.inputs.restore(self._checkpoint.t, self._checkpoint.u)
        return bool(self._run.resume(self._options.t0, self._checkpoint.numbers))

    def require_fitting_checkpoint(self) -> None:
        """Refuse a checkpoint of another system or method, by its size."""
        assert self._checkpoint is not None
        found = len(self._checkpoint.numbers), len(self._checkpoint.u)
        wanted = len(np.asarray(self._run.checkpoint())), self._system.nu
        if found != wanted:
            raise ValueError(f"{found} numbers of state and inputs, not {wanted}")

    def _advance(self, watch: SingularWatch, bar: Progress) -> None:
        """Pieces of the run, of about equal computing time."""
        assert self.last is not None
        o = self._options
        # step by step: controllers must not be called after a terminal event
        one_by_one = self._users.terminal and self.inputs.needed
        one_by_one |= self._until is not None and o.control is not None
        count = 1 if one_by_one else 16
        while not self._ended and not self._interrupts.pending and self.last.t[-1] < o.t1:
            before, began = self.last, time.perf_counter()
            done = self._run.advance(o.t0, o.first_step if o.integrator.adaptive else o.dt, o.t1, count, 1)
            taken = time.perf_counter() - began
            self._absorb(watch)
            self._still = o.integrator.adaptive and stand_still(before, self.last, done, self._system)
            if done < count or self._still:
                break
            if not one_by_one:
                count = int(np.clip(count * PIECE / max(taken, 1e-6), 1, min(4 * count, MOST_STEPS)))
            bar.show(float(self.last.t[-1]))

    def _absorb(self, watch: SingularWatch) -> None:
        """Record the new steps and look for events in them."""
        new = Steps.taken(self._run)
        if len(new) == 0:
            return
        assert self.last is not None
        if self._until is not None:
            new = self._up_to_hit(Steps.joined([self.last, new]))
        self._keep(new)
        before, self.last = self.last, new[-1:]
        watch.look(new)
        if self._options.events:
            self._user_events(Steps.joined([before, new]))

    def _up_to_hit(self, steps: Steps) -> Steps:
        """The new steps, of which the first one is known, up to where `until` ends the run."""
        assert self._until is not None
        self.hit = self._until(steps)
        if self.hit is None:
            return steps[1:]
        self._ended, i = True, max(self.hit.step, 1)
        pair = steps[i - 1 : i + 1]
        at = self._state_at(pair, float(np.clip(self.hit.t, *pair.t)))
        return Steps.joined([steps[1:i], at])

    def _keep(self, steps: Steps) -> None:
        u = self.inputs.inputs_at(steps.t)
        self._recent = [*self._recent[-1:], (steps.t, u)]
        self._recorder.add(steps, u)
        self._fastest = max(
            self._fastest, float(np.max(np.abs(steps.v / self._system.units.unit), initial=0.0))
        )
        if self._system.has_drives:
            self._driven_at.append(steps.t)
        if not self._options.integrator.adaptive:
            self._error.look(steps)
        if self._limits is not None:
            self._limits.look(steps, u)

    def _user_events(self, steps: Steps) -> None:
        """Crossings between these steps; a terminal one ends the run where it happens."""
        for i in range(1, len(steps)):
            pair = steps[i - 1 : i + 1]
            path = Hermite(self._manifold, pair, self._options.control_dt is not None)
            t0, t1 = float(pair.t[0]), float(pair.t[1])
            try:
                found = self._users.between(path, t0, t1, pair.q[1], pair.v[1])
            except Exception as error:
                self._failure = Failure.of(error, "an event", t1, True)
                self._ended = True
                return
            for t, name, terminal in found:
                at = self._state_at(pair, t)
                self._events.append(
                    Event(name, "user", t, at.q[0], at.v[0], int(at.rank[0]), terminal=terminal)
                )
            if ends := [t for t, _, terminal in found if terminal]:
                at = self._state_at(pair, ends[0])
                self._recorder.cut(at)
                self.last, self._ended, self.hit = at, True, None
                return

    def _state_at(self, pair: Steps, t: float) -> Steps:
        """The state at time t within a step, projected onto the constraints."""
        for end in (0, 1):
            if t == pair.t[end]:
                return pair[end : end + 1]
        return self._projector(pair, np.array([t]))

    # ------------------------------------------------------------------ how it went

    def _outcome(self, watch: SingularWatch | None) -> Outcome:
        steps, u = self._recorder.finish()
        end = self._options.t0 if self.last is None else float(self.last.t[-1])
        seen = [*(watch.found if watch is not None else ()), *getattr(self._run, "changes", ())]
        status, message = self._verdict(end)
        if watch is not None and watch.start:
            status, message = Status.FAILED, f"Stopped at t = {end:.9g} s. {watch.start}"
        elif watch is not None and status == Status.END and (wrong := watch.energy.sentence()):
            status, message = Status.FAILED, f"Reached t = {end:.9g} s, but the states are wrong. {wrong}"
        if self._limits is not None:
            seen += self._limits.found
            message = self._limits.added_to(message, end)
        if watch is not None and (miss := watch.sentence(self._accumulated_error())):
            message += " " + miss
        if status == Status.END:
            message += self._doubts(watch)
        events = [*self._events, *(event for event in seen if event.t <= end)]
        resumable = status != Status.EVENT and self._recent and hasattr(self._run, "checkpoint")
        return Outcome(
            steps=steps,
            u=u,
            events=tuple(sorted(events, key=lambda event: event.t)),
            nfev=int(self._run.evaluations),
            status=status,
            message=message,
            options=self._options,
            checkpoint=self._next_checkpoint() if resumable else None,
        )

    def _doubts(self, watch: SingularWatch | None) -> str:
        """What the message of a run that reached its end says about its accuracy."""
        doubts = [self._error.sentence(), drives_too_fast(self._system, self._driven_at)]
        for inaccurate in filter(None, doubts):
            warnings.warn(inaccurate, SarrusWarning, stacklevel=5)
        if watch is not None and self._options.integrator.adaptive:
            doubts.append(watch.energy.doubt(self._options.rtol))
        if self.last is not None:
            doubts.append(
                many_steps(self._options, int(self._run.steps), self._system, self.last, self._fastest)
            )
        return "".join(" " + sentence for sentence in doubts if sentence)

    def _accumulated_error(self) -> float:
        """Error of the run, relative to one radian or L, as far as it is known: the sum over its steps."""
        o = self._options
        return o.rtol * int(self._run.steps) if o.integrator.adaptive else self._error.total

    def _next_checkpoint(self) -> Checkpoint | None:
        """The checkpoint of this run; None where the inputs there are no longer known."""
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
        if self.hit is None and self._status != StepStatus.FINE:
            start = Steps.undefined(self._options.t0, self._q, self._v)
            return Status.FAILED, trouble(self._status, self._system, start, self.last)
        if self._error.lost:
            return (
                Status.FAILED,
                f"Reached t = {end:.9g} s, but the states are wrong. {self._error.sentence()}",
            )
        return Status.END, f"Reached the end, t = {end:.9g} s."
