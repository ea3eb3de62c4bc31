"""SwitchedTrajectory: the result of a run whose constraints changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, frozen
from ...dynamics.impact import Impact
from ...errors import InputError
from ..modes.mode_run import ModeRun
from ..run.outcome import Outcome
from ..run.resume import resume
from ..run.stretch import joined
from .pushing_rows import PushingRows
from .trajectory import Sample, Trajectory


class SwitchedTrajectory(Trajectory):
    """A trajectory with a state before and a state after each switch, at the same time.

    Attributes:
        active: which constraints are closed (n, k) bool, by `active_names`.
        active_names: names of the constraints that can switch (k).
        system: the mechanism with all constraints, stops included.
    """

    def __init__(self, system: Any, outcome: Outcome, modes: ModeRun) -> None:
        """
        Args:
            system: the mechanism with all constraints, stops included.
            outcome: of the whole run.
            modes: what knows the modes of the run.
        """
        super().__init__(system, outcome)
        self._modes = modes

    @cached_property
    def segments(self) -> tuple[Trajectory, ...]:
        """The runs between switches, each with the constraints that were closed."""
        return tuple(self._segment(parts) for parts in self._between_switches())

    def _between_switches(self) -> list[list[Any]]:
        """The stretches of the run, those between two switches together."""
        found: list[list[Any]] = []
        for one in self._outcome.stretches:
            if found and found[-1][-1].part.same_rows(one.part):
                found[-1].append(one)
            else:
                found.append([one])
        return found

    def _segment(self, parts: list[Any]) -> Trajectory:
        fields = joined(parts)
        t = fields["steps"].t
        inside = [e for e in self.events if len(t) and t[0] <= e.t <= t[-1] and e.kind != "switch"]
        changed = {"active": None, "active_names": (), "checkpoint": None, "stretches": ()}
        piece = replace(self._outcome, **fields | changed, events=tuple(inside))
        return Trajectory(self._modes.mechanism(parts[0].part), piece)

    def _resumed(self, t_end: float, given: Mapping[str, Any]) -> SwitchedTrajectory:
        outcome, modes = resume(self.system, self._outcome, t_end, given, self._modes.plan)
        assert modes is not None
        return SwitchedTrajectory(self.system, outcome, modes)

    @property
    def impacts(self) -> tuple[Impact, ...]:
        """The impacts of the run, in the order of time; see `Impact` for momentum and energy."""
        return tuple(event.impact for event in self.events if event.impact is not None)

    @property
    def energy_lost(self) -> float:
        """Kinetic energy lost in all impacts together [J]."""
        return float(sum(impact.energy_lost for impact in self.impacts))

    @cached_property
    def lam(self) -> Array:
        """Multipliers (n, nc) [N, N m] of all rows; zero while their constraint is open.

        Where rows depend on each other they are of least norm, those of contacts push.
        """
        rows, sides = self.system.row_names, self._modes.normals()
        parts = [np.zeros((0, len(rows)))]
        for segment in self.segments:
            parts.append(np.zeros((len(segment), len(rows))))
            names, state = segment.system.row_names, (segment.t, segment.q, segment.v)
            normals = {name: (i, sides[name]) for i, name in enumerate(names) if name in sides}
            lam = PushingRows(segment.system, normals).distributed(*state, segment.lam)
            parts[-1][:, [rows.index(name) for name in names]] = lam
        return frozen(np.concatenate(parts))

    @cached_property
    def singular_values(self) -> Array:
        """Singular values of the dimensionless J of the rows closed then (n, most of them), descending; NaN
        where there are fewer."""
        tables = [np.zeros((0, 0)), *(segment.singular_values for segment in self.segments)]
        most = max(table.shape[1] for table in tables)
        padded = [np.pad(x, ((0, 0), (0, most - x.shape[1])), constant_values=np.nan) for x in tables]
        return frozen(np.concatenate(padded))

    def at(self, t: npt.ArrayLike, project: bool = False) -> Sample:
        """States at other times, as `Trajectory.at`; at a switch, the one after it."""
        if not project:
            return super().at(t)
        raise InputError("the rows of J changed during this run; project within trajectory.segments instead.")
