"""Outcome: the data of a run from which a Trajectory is made."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from ...arrays import Array, BoolArray
from ..events.events import Event
from ..stepping.options import Options
from ..system.step_records import Steps
from .checkpoint import Checkpoint


class Status(enum.IntEnum):
    """How a run ended: 0 and 1 as in SciPy."""

    END = 0
    EVENT = 1
    FAILED = -1
    INTERRUPTED = -2
    STOPPED = -3


@dataclass(frozen=True)
class Outcome:
    """Recorded states of a run, and how it ended.

    Attributes:
        steps: the states.
        u: inputs of the actuators (n, nu).
        events: what happened, in the order of time.
        nfev: number of evaluations of the acceleration.
        status: how the run ended.
        message: the same in words.
        options: of the run; None where they are not known.
        checkpoint: where it can be resumed; None where it cannot.
        active: which constraints were closed (n, k), of a run with switches.
        active_names: names of these (k).
        missing: names of the options that a file could not keep.
        friction: generalized force of dry friction (n, nv); None without.
        friction_unique: which of it the motion determines (n, nv).
        stretches: what was recorded, mode by mode, of a run whose mode changes.
    """

    steps: Steps
    u: Array
    events: tuple[Event, ...]
    nfev: int
    status: Status
    message: str
    options: Options | None
    checkpoint: Checkpoint | None = None
    active: BoolArray | None = None
    active_names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    friction: Array | None = None
    friction_unique: BoolArray | None = None
    stretches: tuple[Any, ...] = ()
