"""What is recorded of a run: its stretches, one for each mode, and what happened between them.

A run whose mode changes is the same loop as any other: the kernel changes the mode within its steps, and each
change begins a new stretch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ..charts.chart_run import ChartRun
from ..events.events import Event, UserWatch
from ..stepping.callbacks import Inputs
from ..stepping.options import Options
from ..system.step_records import Steps
from ..system.system import System
from .checkpoint import Checkpoint
from .compiled_run import CompiledRun
from .run_checks import RunChecks
from .stretch import Kept, Stretch


class RunRecord:
    """The stretches of a run.

    Attributes:
        stretch: the present one.
        kept: what is kept of those before.
        events: what happened in and between them.
        last: the last state; None where the run could not start.
        checks: of all steps.
    """

    def __init__(
        self,
        system: System,
        options: Options,
        inputs: Inputs,
        compiled: CompiledRun,
        users: UserWatch,
        modes: Any,
    ) -> None:
        """
        Args:
            system: the system, with all of its rows.
            options: of the run.
            inputs: what its steps ask for.
            compiled: the compiled run.
            users: the user events.
            modes: what can change during the run; None: nothing.
        """
        self._system, self._options, self._inputs = system, options, inputs
        self._compiled, self._run = compiled, compiled.run
        self._users, self._modes = users, modes
        self.checks = RunChecks(system, options, compiled.run)
        self.stretch: Stretch
        self.kept: list[Kept] = []
        self.events: list[Event] = []
        self.last: Steps | None = None
        self._recent: list[tuple[Array, Array]] = []  # times and inputs of the last pieces

    def taken(self) -> list[tuple[int, Steps]]:
        """The new steps of the run, mode by mode."""
        if self._modes is None:
            return [(0, Steps.taken(self._run))]
        taken: list[tuple[int, Steps]] = self._modes.taken(self._run)
        return taken

    def keep_unstarted(self, undefined: Steps) -> None:
        """The only state of a run without a first step."""
        part = None if self._modes is None else self._modes.unstarted(undefined)
        self.kept.append(Kept(undefined, np.zeros((1, self._system.nu)), part))

    def start(self, first: list[tuple[int, Steps]], given: Steps, before: Steps | None) -> None:
        """The first state, and the first mode.

        Args:
            first: the first steps, mode by mode.
            given: the state that the user gave.
            before: the steps before a checkpoint, as far as they are known.
        """
        mode, steps = first[-1]
        if self._modes is not None:
            self.events += self._modes.changed(None, self._modes.entered(self._run, mode), given, steps)
            self._users.restart(float(steps.t[0]), steps.q[0], steps.v[0])
        self._begin_stretch(mode, steps, before)

    def resume(self, first: list[tuple[int, Steps]], checkpoint: Checkpoint, before: Steps | None) -> None:
        """The state and mode of a checkpoint; arguments as of `start`."""
        mode, steps = first[-1]
        if self._modes is not None:
            self._modes.resumed_in(mode)
        self._begin_stretch(mode, steps, before)
        self.stretch.recorder.skip(checkpoint.steps)

    def keep(self, steps: Steps) -> None:
        """The next steps of the present mode."""
        u = self._inputs.inputs_at(steps.t, self.stretch.mode)
        self.stretch.recorder.add(steps, u)
        self._note(steps, u)
        self.last = steps[-1:]

    def cut(self, at: Steps) -> None:
        """Steps after a state within the last one did not happen."""
        self.stretch.recorder.cut(at)
        self.last = at

    def enter(self, mode: int, first: Steps) -> None:
        """The mode has changed to the one with this number, which begins at the state `first`."""
        assert self._modes is not None and self.last is not None
        self.end_stretch()
        before, now = self._modes.entered(self._run, self.stretch.mode), self._modes.entered(self._run, mode)
        self.events += self._modes.changed(before, now, self.last, first)
        self._begin_stretch(mode, first)
        self._users.restart(float(first.t[0]), first.q[0], first.v[0])

    def end_stretch(self) -> None:
        """Keep what was recorded in the present mode."""
        assert self.last is not None
        stretch, end = self.stretch, float(self.last.t[-1])
        self.checks.end_stretch(stretch, end)
        self.events += stretch.events(end)
        steps, u = stretch.recorder.finish()
        part = None
        if self._modes is not None:
            steps, part = self._modes.recorded(stretch.mode, stretch.system, steps)
            self.checks.look_at_limits(steps, u)
        self.kept.append(Kept(steps, u, part))

    def note_mode_without_motion(self) -> None:
        """Report the change to a mode that was found, but in which the run could not go on."""
        assert self._modes is not None and self.last is not None
        known, latest = self.stretch.mode, self._run.mode_count - 1
        if latest > known:
            before, now = (self._modes.entered(self._run, mode) for mode in (known, latest))
            self.events += self._modes.changed(before, now, self.last, self.last)

    def checkpoint(self) -> Checkpoint | None:
        """Where the run stands; None where the inputs there are no longer known."""
        if not self._recent or not hasattr(self._run, "checkpoint"):
            return None
        numbers = np.asarray(self._run.checkpoint())
        for times, u in self._recent:
            for i in np.flatnonzero(times == numbers[0]):
                return Checkpoint(numbers, u[i], self._compiled.energy)
        return None

    def _begin_stretch(self, mode: int, first: Steps, before: Steps | None = None) -> None:
        """Record from the first state of a mode on."""
        u = self._inputs.inputs_at(first.t, mode)
        system, options = self._system, self._options
        if self._modes is not None:
            system = self._modes.system
            options = self._modes.options_from(options, float(first.t[0]), bool(self.kept))
        self.stretch = Stretch(system, options, mode, first, u, before)
        self.checks.begin_stretch()
        self._note(first, u)
        self.last = first

    def _note(self, steps: Steps, u: Array) -> None:
        """What the end of the run asks about all steps."""
        goes_back = not isinstance(self._run, ChartRun) and self._run.is_cut_short
        if not goes_back:  # else the checkpoint may lie in earlier pieces
            self._recent = self._recent[-1:]
        self._recent.append((steps.t, u))
        self.checks.look(steps)
        if self._modes is None:
            self.checks.look_at_limits(steps, u)
