"""What the end of a run asks about all of its steps: how accurate they are, which limits they passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import warn
from ..events.events import Event
from ..events.interpolation import Manifold
from ..events.limit_crossings import LimitWatch
from ..stepping.options import Options
from ..system.step_records import Steps
from ..system.system import System
from .accuracy import FixedStepError, drives_too_fast, many_steps, speed_at_rest
from .stretch import Stretch


class RunChecks:
    """Checks of the steps of a run, stretch by stretch."""

    def __init__(self, system: System, options: Options, run: Any) -> None:
        """
        Args:
            system: the system, with all of its rows.
            options: of the run.
            run: the compiled run, which counts its steps.
        """
        self._system, self._options, self._run = system, options, run
        manifold = Manifold(system.kernel, system.model)
        self._error = FixedStepError(manifold, system.units.unit, options, speed_at_rest(system, options))
        self._limits = LimitWatch(system, manifold, options.control is not None)
        self._notes: list[str] = []  # about near misses of the stretches before
        self._wrong = ""  # why states are wrong
        self._fastest = 0.0  # largest speed without units [1/s]
        self._driven_at: list[Array] = []  # times of the steps of a system with drives [s]

    def begin_stretch(self) -> None:
        """The next steps begin a stretch."""
        self._error.begin()

    def look(self, steps: Steps) -> None:
        """The next steps of the present stretch."""
        speed = float(np.max(np.abs(steps.v / self._system.units.unit), initial=0.0))
        self._fastest = max(self._fastest, speed)
        if self._system.has_drives:
            self._driven_at.append(steps.t)
        if not self._options.integrator.adaptive:
            self._error.look(steps)

    def look_at_limits(self, steps: Steps, u: Array) -> None:
        """Limits of coordinates and inputs u (n, nu) of steps."""
        self._limits.look(steps, u)

    def end_stretch(self, stretch: Stretch, end: float) -> None:
        """What the search for singular poses in a stretch says, at its end [s]."""
        watch = stretch.watch
        watch.finish()
        if watch.untested is not None:
            self._error.look_beside_singular(watch.untested.losses, end)
        self._wrong = self._wrong or watch.energy.sentence()
        said = watch.sentence(self._accumulated_error()), watch.rest(self._accumulated_error())
        self._notes += filter(None, said)

    def _accumulated_error(self) -> float:
        """Error of the run, relative to one radian or L, as far as it is known: the sum over its steps."""
        o = self._options
        return o.rtol * int(self._run.steps) if o.integrator.adaptive else self._error.total

    @property
    def passed_limits(self) -> list[Event]:
        """Events: limits that were passed."""
        return self._limits.found

    def why_wrong(self) -> str:
        """Why the states that were reached are wrong; "" where nothing says so."""
        if not self._error.lost and not self._wrong:
            return ""
        return self._wrong or self._error.sentence()

    def added_to(self, message: str, end: float) -> str:
        """A message about the run up to `end` [s], with limits that were passed and the first near miss."""
        message = self._limits.added_to(message, end)
        return message + "".join(f" {note}" for note in self._notes[:1])

    def doubts(self, stretch: Stretch, last: Steps) -> str:
        """What the message of a run that reached its end says about its accuracy; some of it warns."""
        doubts = [self._error.sentence(), drives_too_fast(self._system, self._driven_at)]
        for inaccurate in filter(None, doubts):
            warn(inaccurate)
        o = self._options
        if o.integrator.adaptive:
            doubts.append(stretch.watch.energy.doubt(o.rtol))
        doubts.append(many_steps(o, int(self._run.steps), stretch.system, last, self._fastest))
        return "".join(" " + sentence for sentence in doubts if sentence)
