"""Events where the mode of a run changes: constraints that switch, with their impact, and friction."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, BoolArray
from ...constraints.rows import Constraint
from ...dynamics.impact import Impact
from ...errors import SarrusError
from ..events.events import Event
from ..system.step_records import Steps
from .run_modes import RunModes

WITHOUT_FRICTION = "impact without friction of bearings, mu times their impulsive load"  # note of an event
MOVED = 1e-14  # of the kinetic energy: a smaller loss is not reported as an impact
WAYS = {0: "sticks", 1: "slides forwards", -1: "slides backwards"}


@dataclass(frozen=True)
class Entered:
    """A mode that a run has come to.

    Attributes:
        numbers: of the mode.
        touched: which groups of rows closed, even if they opened again at once.
        happened: what happened to each contact point of surfaces, as flags (slots,).
    """

    numbers: Array
    touched: BoolArray
    happened: Array


class ModeChanges:
    """Turns changes of the mode into events; knows what latches hold.

    Attributes:
        replaced: latched constraints that are closed now.
    """

    def __init__(self, modes: RunModes) -> None:
        self._modes = modes
        self.replaced: dict[str, Constraint] = {}

    def events(self, before: Entered | None, now: Entered, last: Steps, first: Steps) -> list[Event]:
        """What happened from the state `last` of a mode to the state `first` of the next one.

        At the start of a run there is no mode before, and both states have the same pose.
        """
        closed = self._modes.closed(now.numbers)
        was = self._modes.closed((self._modes.begun if before is None else before).numbers)
        touched = self._touched(now)
        self._latch(touched & closed, ~closed, first.q[0])
        found = self._switches((was, touched, closed), last, first, before is None)
        return found if before is None else [*found, *self._frictions(before, now, first)]

    def _touched(self, now: Entered) -> BoolArray:
        names = self._modes.modes.names
        return np.array([now.touched[names.index(name)] for name in self._modes.names], dtype=bool)

    def _latch(self, closing: BoolArray, opened: BoolArray, q: Array) -> None:
        for name, closes, opens in zip(self._modes.names, closing, opened, strict=True):
            if closes and self._modes.modes.switched[name].latch:
                self.replaced = {**self.replaced, name: self._modes.plan.mech.latched(name, q)}
            elif opens and name in self.replaced:
                self.replaced = {key: one for key, one in self.replaced.items() if key != name}

    def _switches(
        self, flags: tuple[BoolArray, BoolArray, BoolArray], last: Steps, first: Steps, starts: bool
    ) -> list[Event]:
        """The event of the constraints that close and open, if any do.

        Args:
            flags: which were closed before, have closed, and are closed now.
            last, first: states before and after.
            starts: whether the run starts there; then it is an event if an impact changes the velocity.
        """
        was, touched, now = flags
        names = self._modes.names
        closed = tuple(name for name, yes in zip(names, touched & ~was, strict=True) if yes)
        opened = tuple(name for name, yes in zip(names, ~now & (was | touched), strict=True) if yes)
        hit = self._impact(touched, now, last, first) if closed else None
        if not (closed or opened) or (starts and hit is None):
            return []
        said = [f"{name!r} closes" for name in closed] + [f"{name!r} opens" for name in opened]
        note = WITHOUT_FRICTION if hit is not None and self._modes.modes.friction.by_load else ""
        rank = -1 if hit is None else int(hit.rank)
        here = Event(", ".join(said), "switch", float(first.t[0]), first.q[0], first.v[0], rank, note=note)
        return [dataclasses.replace(here, closed=closed, opened=opened, impact=hit)]

    def _impact(self, touched: BoolArray, now: BoolArray, last: Steps, first: Steps) -> Impact | None:
        """The impact that led from one velocity to the other; None where nothing moved.

        Contacts that touched and opened at once took part, unless the impact itself separated them.
        """
        q, before, after, t = last.q[0], last.v[0], first.v[0], float(first.t[0])
        unit, best = self._modes.mech.units.unit, None
        for closed in (touched | now, now):
            try:
                hit = self._modes.mechanism(closed, self.replaced).impact(q, before, t)
            except SarrusError:
                continue
            miss = float(np.max(np.abs((np.asarray(hit.v) - after) / unit), initial=0.0))
            if best is None or miss < best[0]:
                best = miss, hit
        if best is None or not best[1].dissipated > MOVED * max(best[1].energy_before, best[1].energy):
            return None
        return best[1]

    def _frictions(self, before: Entered, now: Entered, first: Steps) -> list[Event]:
        was, after = (self._modes.directions(one.numbers) for one in (before, now))
        found = []
        for k in np.flatnonzero(was != after):
            kind, way = "slip" if after[k] else "stick", WAYS[int(after[k])]
            name = self._modes.modes.friction.names[k]
            found.append(Event(name, kind, float(first.t[0]), first.q[0], first.v[0], note=way))
        return found
