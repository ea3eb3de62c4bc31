"""One run: the compiled steps in pieces short enough that Ctrl-C, events and a progress bar work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..charts.chart_run import ChartRun
from ..trajectory.events import Event, UserWatch
from ..trajectory.interpolation import Hermite, Manifold
from ..trajectory.limit_crossings import LimitWatch
from ..trajectory.recorder import Keeper
from ..trajectory.singular_poses import SingularWatch
from ..trajectory.trajectory import Status, Trajectory
from .callbacks import Failure, Inputs
from .checkpoint import Checkpoint
from .formulated_system import Formulated
from .options import Options
from .progress import Progress
from .state_projector import Projector
from .step_records import Steps
from .system import Plant

Array = npt.NDArray[np.float64]

PIECE = 0.05  # [s] of computing between two looks at the keyboard
MOST_STEPS = 10_000  # in one piece
# what the compiled run says (kernels/integrate/stepper.hpp, enum Status)
STOPPED, SINGULAR_INERTIA, NOT_FINITE, NOT_CLOSED, STEP_COLLAPSED = range(1, 6)
TROUBLE = {
    SINGULAR_INERTIA: "the mass matrix is not positive definite along the directions that the constraints"
    " leave free; give what moves there mass or inertia",
    NOT_FINITE: "numbers grew beyond all bounds; the step is too long for this motion, or the system is"
    ' unstable: take a smaller dt, or method="dopri5"',
    NOT_CLOSED: "the constraints could not be closed at the end of a step; it is too long for this motion, or"
    " drives ask for what the mechanism cannot do: take a smaller dt",
    STEP_COLLAPSED: "the step size fell below the resolution of time; the solution is not smooth there, or"
    " the tolerances rtol, atol cannot be met",
}


class Simulation:
    """One run: the compiled steps and everybody who looks at them."""

    def __init__(
        self,
        plant: Plant,
        options: Options,
        users: UserWatch,
        q: Array,
        v: Array,
        checkpoint: Checkpoint | None = None,
        before: Steps | None = None,
        limits: bool = False,
    ) -> None:
        """
        Args:
            plant: the system.
            options: of the run.
            users: the events that are watched.
            q, v: where it starts (nq,), (nv,).
            checkpoint: where it goes on, instead of starting.
            before: the steps before a checkpoint, as far as they are known.
            limits: whether to report where limits of joints and actuators are passed.
        """
        from ..._kernel import Run

        self._plant, self._options, self._users = plant, options, users
        self._q, self._v = q, v
        self._inputs = Inputs(plant, options)
        formulation = self._formulation()
        numpy = formulation != "nullspace"
        sampled = self._inputs.sampled and not numpy
        total = float(plant.energy(np.array([options.t0]), q[None], v[None])[0]) if options.energy else 0.0
        self._checkpoint, self._before = checkpoint, before
        self._total = total = total if checkpoint is None else checkpoint.energy
        self._recent: list[tuple[Array, Array]] = []  # times and inputs of the last two pieces
        self._manifold = Manifold(plant.kernel, plant.model)
        self._projector = Projector(plant, options)
        self._limits = LimitWatch(plant, self._manifold, options) if limits else None
        formulated = Formulated(plant, options, formulation, self._inputs) if numpy else None
        asked = self._inputs if self._inputs.needed or numpy else None
        known = not (plant.supplies_inertia or plant.has_user_rows)

        def compiled() -> Any:
            numbers = options.compiled(total, sampled, known)
            return Run(plant.kernel, numbers, asked, formulated, plant.supplies_inertia)

        full = options.coordinates == "full"
        self._run: Any = compiled() if full else self._charts(formulated, compiled)
        self._keeper = Keeper(options, self._manifold, self._projector)
        if checkpoint is not None:
            self._keeper.skip(checkpoint.steps)
        self._events: list[Event] = []
        self._failure: Failure | None = None
        self._interrupted = self._ended = False

    def _charts(self, formulated: Formulated | None, compiled: Callable[[], Any]) -> ChartRun:
        """Steps in minimal coordinates; the kernel has no accelerations of systems that supply inertia."""
        plant, o = self._plant, self._options
        if formulated is None and plant.supplies_inertia:
            formulated = Formulated(plant, o, "svd", self._inputs)
        return ChartRun(plant, o, self._inputs, formulated, compiled)

    def _formulation(self) -> str:
        """The formulation to use: the kernel has no limits of rows that are computed outside, NumPy has."""
        plant, o = self._plant, self._options
        outside = plant.supplies_inertia or plant.has_user_rows
        if o.formulation != "nullspace" or not outside or not np.any(self._v):
            return o.formulation
        return "svd" if plant.nc and plant.system.mobility(self._q, o.t0).is_singular else "nullspace"

    def run(self) -> Trajectory:
        """Start, step to the end, and say how it went."""
        first = self._start()
        if first is None:
            self._keeper.add(
                Steps.undefined(self._options.t0, self._q, self._v), np.zeros((1, self._plant.nu))
            )
            return self._result([])
        self._keep(first)
        self._last = first
        watch = SingularWatch(self._plant, self._manifold, first)
        watch.recall(self._before if self._before is not None else first[:0])
        bar = Progress(self._options.progress, self._options.t0, self._options.t1)
        try:
            self._advance(watch, bar)
        except KeyboardInterrupt:
            self._interrupted = True
            self._absorb(watch)
        finally:
            bar.close()
        watch.finish()
        return self._result(watch.found)

    @property
    def last(self) -> Steps | None:
        """The last state of the run; None where it could not start."""
        return getattr(self, "_last", None)

    def _start(self) -> Steps | None:
        """The first state with its acceleration; None where there is none."""
        try:
            if self._begin():
                return Steps.of_record(self._run.take())
        except KeyboardInterrupt:
            self._interrupted = True
        return None

    def _begin(self) -> bool:
        """Start at the first state, or at the checkpoint."""
        if self._checkpoint is None:
            return bool(self._run.start(self._options.t0, self._q, self._v))
        self._inputs.restore(self._checkpoint.t, self._checkpoint.u)
        return bool(self._run.resume(self._options.t0, self._checkpoint.numbers))

    def _advance(self, watch: SingularWatch, bar: Progress) -> None:
        """Pieces of the run, of about equal computing time."""
        o = self._options
        # controllers never see what comes after the end
        one_by_one = self._users.terminal and self._inputs.needed
        count = 1 if one_by_one else 16
        while not self._ended and self._last.t[-1] < o.t1:
            began = time.perf_counter()
            done = self._run.advance(o.t0, o.dt, o.t1, count, 1)
            taken = time.perf_counter() - began
            self._absorb(watch)
            if done < count:
                break
            if not one_by_one:
                count = int(np.clip(count * PIECE / max(taken, 1e-6), 1, min(4 * count, MOST_STEPS)))
            bar.show(float(self._last.t[-1]))

    def _absorb(self, watch: SingularWatch) -> None:
        """Keep the steps that are new, look for events in them."""
        new = Steps.of_record(self._run.take())
        if len(new) == 0:
            return
        self._keep(new)
        before, self._last = self._last, new[-1:]
        watch.look(new)
        if self._options.events:
            self._user_events(Steps.joined([before, new]))

    def _keep(self, steps: Steps) -> None:
        u = self._inputs.inputs_at(steps.t)
        self._recent = [*self._recent[-1:], (steps.t, u)]
        self._keeper.add(steps, u)
        if self._limits is not None:
            self._limits.look(steps, u)

    def _user_events(self, steps: Steps) -> None:
        """Crossings between these steps; a terminal one ends the run where it happens."""
        for i in range(1, len(steps)):
            pair = steps[i - 1 : i + 1]
            path = Hermite(self._manifold, pair)
            t0, t1 = float(pair.t[0]), float(pair.t[1])
            try:
                found = self._users.between(path, t0, t1, pair.q[1], pair.v[1])
            except Exception as error:
                self._failure = Failure.of(error, "an event", t1, True)
                self._ended = True
                return
            for t, name, terminal in found:
                at = self._state_at(path, pair, t)
                self._events.append(
                    Event(name, "user", t, at.q[0], at.v[0], int(at.rank[0]), terminal=terminal)
                )
                if terminal:
                    self._keeper.cut(at)
                    self._last, self._ended = at, True
                    return

    def _state_at(self, path: Hermite, pair: Steps, t: float) -> Steps:
        """The state at time t within a step, back on the constraints."""
        for end in (0, 1):
            if t == pair.t[end]:
                return pair[end : end + 1]
        q, v, a = path(t)
        part = (t - pair.t[0]) / (pair.t[1] - pair.t[0])
        return self._projector(t, q[0], v[0], a[0], (1.0 - part) * pair.tau[0] + part * pair.tau[1])

    # ------------------------------------------------------------------ how it went

    def _result(self, singular: list[Event]) -> Trajectory:
        steps, u = self._keeper.finish()
        end = float(self._last.t[-1]) if hasattr(self, "_last") else self._options.t0
        seen = [*singular, *getattr(self._run, "changes", ())]
        said = ""
        if self._limits is not None:
            seen += self._limits.found
            said = self._limits.sentence(end)
        events = [*self._events, *(event for event in seen if event.t <= end)]
        status, message = self._verdict(end)
        if said:
            message += ("\n" if "\n" in message else " ") + said
        out = Trajectory(
            self._plant.system,
            steps,
            u,
            tuple(sorted(events, key=lambda event: event.t)),
            int(self._run.evaluations),
            status,
            message,
            self._options,
        )
        if status != Status.EVENT and self._recent and hasattr(self._run, "checkpoint"):
            out._checkpoint = self._next_checkpoint()
        return out

    def _next_checkpoint(self) -> Checkpoint | None:
        """Where this run can go on; None where the inputs there are not known any more."""
        numbers = np.asarray(self._run.checkpoint())
        for times, u in self._recent:
            for i in np.flatnonzero(times == numbers[0]):
                return Checkpoint(numbers, u[i], self._total)
        return None

    def _verdict(self, end: float) -> tuple[Status, str]:
        failure = self._failure or self._inputs.failure
        terminal = [event for event in self._events if event.terminal]
        if terminal:
            return Status.EVENT, f"Ended by event {terminal[-1].name!r} at t = {end:.9g} s."
        if self._interrupted or (failure is not None and failure.interrupted):
            return Status.INTERRUPTED, f"Interrupted at t = {end:.9g} s; everything up to there is kept."
        if failure is not None:
            return Status.STOPPED, failure.message
        code = int(self._run.status)
        if code:
            return Status.FAILED, f"Stopped after t = {end:.9g} s: {TROUBLE[code]}."
        return Status.END, f"Reached the end, t = {end:.9g} s."
