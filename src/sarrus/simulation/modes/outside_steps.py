"""Steps in minimal coordinates within the modes of a run: a run in charts for each of them."""

from __future__ import annotations

from typing import Any

from ..._kernel import StepStatus
from ...arrays import Array
from ..charts.chart_run import ChartRun
from ..charts.chart_step import Point
from ..events.events import Event
from ..stepping.step_setup import StepSetup
from ..system.system import System


class ChartsInModes:
    """What a compiled run asks of steps that it does not take itself (bindings/runs/python_steps.hpp).

    Attributes:
        point: the present state.
        status: why the last call failed.
        step_size: of the next step [s].
    """

    def __init__(self, setup: StepSetup) -> None:
        self._setup = setup
        self._run: ChartRun | None = None
        self._marked: Any = None
        self._spent = 0
        self._changes: list[Event] = []
        self.system: System = setup.system  # of the mode that has been chosen
        self.point: Point | None = None
        self.status, self.step_size = StepStatus.FINE, 0.0

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the acceleration."""
        return self._spent + (0 if self._run is None else self._run.evaluations)

    @property
    def changes(self) -> list[Event]:
        """Events of new charts."""
        return self._changes + ([] if self._run is None else self._run.changes)

    def start(self, t: float, q: Array, v: Array) -> bool:
        """Begin in the mode that has been chosen."""
        self._spent, self._changes = self.evaluations, self.changes
        later = self._run is not None
        self._run = ChartRun(self._setup.of(self.system))
        return self._told(self._run.start(t, q, v, later))

    def step(self, h: float, t_end: float) -> bool:
        """One step of at most h, never past t_end."""
        assert self._run is not None
        self._marked = self._run.mark()
        return self._told(self._run.step_to(h, t_end))

    def back(self) -> bool:
        """To the beginning of the last step."""
        assert self._run is not None
        self._run.back(self._marked)
        return self._told(True)

    def _told(self, fine: bool) -> bool:
        assert self._run is not None
        self.status, self.step_size = self._run.status, self._run.step_size
        if fine:
            self.point = self._run.here
        return fine
