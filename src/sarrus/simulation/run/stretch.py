"""A stretch of a run: its steps in one mode, what is recorded of them, and what looks for singular poses.

A run without modes is one stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ..events.events import Event
from ..events.interpolation import Manifold
from ..events.singular_poses import SingularWatch
from ..modes.mode_run import ModePart
from ..stepping.options import Options
from ..stepping.state_projector import Projector
from ..system.step_records import Steps
from ..system.system import System
from .recorder import TrajectoryRecorder


@dataclass(frozen=True)
class Kept:
    """What is kept of a stretch.

    Attributes:
        steps, u: states and inputs (n, nu).
        part: what belongs to its mode; None in a run without modes.
    """

    steps: Steps
    u: Array
    part: ModePart | None = None

    def up_to(self, t: float) -> Kept:
        """The states before time t [s]."""
        n = int(np.searchsorted(self.steps.t, t))
        return Kept(self.steps[:n], self.u[:n], None if self.part is None else self.part[:n])


class Stretch:
    """The present stretch of a run.

    Attributes:
        system: the mechanism with the rows that act.
        mode: number of the mode in the run.
        projector: of its states between steps.
        recorder: of its steps.
        watch: for singular poses.
    """

    def __init__(
        self, system: System, options: Options, mode: int, first: Steps, u: Array, before: Steps | None = None
    ) -> None:
        """
        Args:
            system: what moves.
            options: of the run from here on.
            mode: number of the mode in the run.
            first: its first state.
            u: inputs there (1, nu).
            before: the steps before it, of a run that is resumed.
        """
        self.system, self.mode = system, mode
        manifold = Manifold(system.kernel, system.model)
        self.projector = Projector(system, options, manifold)
        self.recorder = TrajectoryRecorder(options, self.projector)
        self.recorder.add(first, u)
        self.watch = SingularWatch(system, manifold, first, options.integrator.adaptive)
        self.watch.recall(first[:0] if before is None else before)

    def events(self, end: float) -> list[Event]:
        """Singular poses up to the end [s]."""
        return [event for event in self.watch.found if event.t <= end]


def joined(kept: list[Kept]) -> dict[str, Any]:
    """Fields of an Outcome that hold what is kept of all stretches; those of a single one as they are."""
    parts = [one.part for one in kept if one.part is not None]
    fields: dict[str, Any] = {"steps": kept[0].steps, "u": kept[0].u}
    if len(kept) > 1:
        fields["steps"] = Steps.joined([one.steps for one in kept])
        fields["u"] = np.concatenate([one.u for one in kept])
    if parts and len(parts[0].closed):
        tiled = [np.tile(part.closed, (len(one.steps), 1)) for one, part in zip(kept, parts, strict=True)]
        fields["active"] = np.concatenate(tiled)
    if parts and parts[0].friction is not None:
        fields["friction"] = np.concatenate([part.friction for part in parts])
        fields["friction_unique"] = np.concatenate([part.unique for part in parts])
    return fields
