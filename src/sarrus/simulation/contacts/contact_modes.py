"""ContactModes: the part of a run that knows which contact points are open, stick or slide."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from itertools import pairwise
from typing import Any

import numpy as np

from ..._kernel import ContactWay, StepStatus
from ...arrays import Array, BoolArray
from ...errors import InputError
from ...mechanism.core.slot_modes import REST_USED, STATE, of_slots
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.contact_steps import DEEP
from ..events.events import Event, UserEvent
from ..stepping.options import Options
from ..stepping.step_setup import StepSetup
from ..system.step_records import Steps
from ..system.system import System

KERNEL_WAY = {"events": ContactWay.EVENTS, "steps": ContactWay.STEPS}
INSIDE = 1e-6  # of L: largest penetration at the start


class SlotEvent(IntFlag):
    """SlotEvent of kernels/integrate/contacts/settle_contacts.hpp."""

    TOUCH = 1
    IMPACT = 2
    STICK = 4
    SLIP = 8
    LIFT = 16


@dataclass(frozen=True)
class EnteredContacts:
    """A mode that a run has come to: its numbers, and what happened to each slot (slots,)."""

    numbers: Array
    happened: Array


@dataclass(frozen=True)
class ContactPart:
    """What belongs to the steps of one mode: the numbers of its slots (slots, k)."""

    slots: Array
    friction: Array | None = None
    unique: BoolArray | None = None
    closed: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def __getitem__(self, which: slice) -> ContactPart:
        return self


class ContactModes:
    """What the loop of one run asks about its contacts.

    Attributes:
        whole, system: the system, which has the same rows in all modes.
        switching: events that change the mode: none.
        names: constraints that can switch: none.
    """

    def __init__(self, mech: Mechanism, options: Options) -> None:
        self.start_mechanism = mech
        self.whole = self.system = System(mech)
        self.switching: dict[str, tuple[str, bool]] = {}
        self.names: tuple[str, ...] = ()
        self._options, self._slots = options, len(mech.model.structure.slots)
        self._run: Any = None

    def require_outside(self, q: Array) -> None:
        """Refuse a start pose (nq,) in which surfaces are inside each other."""
        found = self.start_mechanism.contacts(q)
        k = int(np.argmin(found.gap)) if len(found.gap) else 0
        if len(found.gap) and found.gap[k] < -INSIDE * self.start_mechanism.length:
            where = ", ".join(f"{x:.4g}" for x in found.point_a[k])
            raise InputError(
                f"contact {found.names[k]!r} starts inside by {-found.gap[k]:.3g} m, at ({where}): start at"
                " another pose; mech.separate(q) is the nearest without."
            )

    def events(self) -> tuple[UserEvent, ...]:
        """Functions of the user's that switch contacts: none."""
        return ()

    # ------------------------------------------------------------------ the compiled run

    def prepare(self, system: System, formulation: str) -> None:
        """Nothing: the forces of contacts are the kernel's."""

    def run(self, setup: StepSetup) -> Any:
        """The run whose mode changes."""
        self._run = setup.compiled_run(KERNEL_WAY[self._options.contacts])
        return self._run

    def taken(self, run: Any) -> list[tuple[int, Steps]]:
        """The new steps, mode by mode."""
        record = run.take()
        which, steps = record["mode"].astype(np.int64), Steps.of_record(record)
        begins = [0, *(np.flatnonzero(np.diff(which)) + 1), len(which)]
        return [(int(which[a]), steps[a:b]) for a, b in pairwise(begins) if b > a]

    # ------------------------------------------------------------------ changes

    def go_on(self, part: ContactPart) -> None:
        """Nothing: a checkpoint holds the mode."""

    def resumed_in(self, mode: int) -> None:
        """Nothing: all modes have the same system."""

    def entered(self, run: Any, mode: int) -> EnteredContacts:
        """How the run came to its mode of this number."""
        return EnteredContacts(run.mode(mode), run.touched(mode))

    def changed(
        self, before: EnteredContacts | None, now: EnteredContacts, last: Steps, first: Steps
    ) -> list[Event]:
        """What happened at the contact points where a mode begins; at the start of a run impacts alone."""
        found = []
        part = float(now.numbers[REST_USED])
        for k in np.flatnonzero(now.happened):
            happened = SlotEvent(int(now.happened[k]))
            for one in SlotEvent:
                if one in happened and (before is not None or one == SlotEvent.IMPACT):
                    found.append(self._event(int(k), one, part, first))
        return found

    def _event(self, slot: int, one: SlotEvent, part: float, at: Steps) -> Event:
        note = f"restitution times {part:.6g}, so that no energy is added" if part < 1.0 else ""
        name, kind = self.start_mechanism.model.structure.slots[slot], str(one.name).lower()
        note = note if one == SlotEvent.IMPACT else ""
        return Event(name, kind, float(at.t[0]), at.q[0], at.v[0], note=note)

    def changes(self, names: Sequence[str]) -> Any:
        """Nothing switches."""
        raise InputError(f"nothing switches contacts of surfaces: {', '.join(names)}.")

    def options_from(self, options: Options, t: float, later: bool) -> Options:
        """Options of what is recorded from time t [s] on; `later`: after other stretches, with its state."""
        if options.t_eval is None or not later:
            return options
        return dataclasses.replace(options, t_eval=options.t_eval[options.t_eval > t])

    # ------------------------------------------------------------------ results

    def recorded(self, mode: int, system: System, steps: Steps) -> tuple[Steps, ContactPart]:
        """Steps of a mode, and what belongs to it."""
        return steps, ContactPart(of_slots(self._run.mode(mode), self._slots))

    def unstarted(self, steps: Steps) -> ContactPart:
        """What belongs to the state of a run that could not start."""
        return ContactPart(np.zeros((self._slots, 1)))

    def trouble(self, run: Any, status: StepStatus, last: Steps | None) -> str:
        """Why the mode could not change, in words; empty where the step failed for another reason."""
        if last is None or status not in (StepStatus.CHATTER, StepStatus.OPEN_GAP):
            return ""
        if status == StepStatus.OPEN_GAP:
            return f"Stopped at t = {last.t[-1]:.9g} s: {DEEP}."
        modes = of_slots(np.asarray(run.mode(run.mode_count - 1)), self._slots)
        closed = [self.start_mechanism.model.structure.slots[k] for k in np.flatnonzero(modes[:, STATE])]
        return (
            f"Stopped at t = {last.t[-1]:.9g} s: contacts change 500 times within a microsecond; last closed:"
            f" {', '.join(closed) or 'none'}. Less restitution, or torsion and rolling of zero, may end it."
        )
