"""SlotChanges: what happens at the contact points of a run, as events and in words."""

from __future__ import annotations

from enum import IntFlag
from typing import Any

import numpy as np

from ..._kernel import ContactWay, StepStatus
from ...arrays import Array
from ...errors import InputError
from ...mechanism.core.slot_modes import REST_USED, STATE, of_slots
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.contact_steps import DEEP, require_room
from ..events.events import Event
from ..system.step_records import Steps

KERNEL_WAY = {"events": ContactWay.EVENTS, "steps": ContactWay.STEPS, "ignore": ContactWay.IGNORED}
INSIDE = 1e-6  # of L: largest penetration at the start


class SlotEvent(IntFlag):
    """SlotEvent of kernels/integrate/contacts/contact_impact.hpp."""

    TOUCH = 1
    IMPACT = 2
    STICK = 4
    SLIP = 8
    LIFT = 16
    TURNING_STICKS = 32
    TURNING_SLIPS = 64


TURNING = {SlotEvent.TURNING_STICKS: "stick", SlotEvent.TURNING_SLIPS: "slip"}


class SlotChanges:
    """The contact points of surfaces in a run.

    Attributes:
        names: of the slots.
    """

    def __init__(self, mech: Mechanism) -> None:
        require_room(mech.model, "simulate")
        self._mech, self.names = mech, mech.model.structure.slots

    def of(self, numbers: Array) -> Array:
        """The numbers of the slots (slots, k) in a mode of the run."""
        return of_slots(numbers, len(self.names))

    def require_outside(self, q: Array) -> None:
        """Refuse a start pose (nq,) in which surfaces are inside each other."""
        found = self._mech.contacts(q)
        k = int(np.argmin(found.gap)) if len(found.gap) else 0
        if len(found.gap) and found.gap[k] < -INSIDE * self._mech.length:
            where = ", ".join(f"{x:.4g}" for x in found.point_a[k])
            raise InputError(
                f"contact {found.names[k]!r} starts inside by {-found.gap[k]:.3g} m, at ({where}): start at"
                " another pose; mech.separate(q) is the nearest without."
            )

    def events(self, starts: bool, numbers: Array, happened: Array, first: Steps) -> list[Event]:
        """What happened to the slots where a mode begins; at the start of a run impacts alone.

        Args:
            starts: whether the run starts there.
            numbers: of the mode.
            happened: flags of each slot (slots,).
            first: its first state.
        """
        found = []
        part = float(numbers[REST_USED])
        for k in np.flatnonzero(happened):
            flags = SlotEvent(int(happened[k]))
            for one in SlotEvent:
                if one in flags and (one == SlotEvent.IMPACT or not starts):
                    found.append(self._event(int(k), one, part, first))
        return found

    def _event(self, slot: int, one: SlotEvent, part: float, at: Steps) -> Event:
        note = f"restitution times {part:.6g}, so that no energy is added" if part < 1.0 else ""
        note = note if one == SlotEvent.IMPACT else "turning" if one in TURNING else ""
        kind = TURNING.get(one, str(one.name).lower())
        return Event(self.names[slot], kind, float(at.t[0]), at.q[0], at.v[0], note=note)

    def pressed(self, q: Array) -> str:
        """What presses what where a contact closes whose parts cannot give way, in words.

        Args:
            q: the last pose (nq,).
        """
        found, model = self._mech.contacts(q), self._mech.model
        near = [n for n, gap in zip(found.names, found.gap, strict=True) if gap < INSIDE * self._mech.length]
        drives = [name for name, one in model.constraints if one in model.drives]
        driven = f" {', '.join(map(repr, drives))} drives them into each other." if drives else ""
        return f"CONTACT_PRESSED: the parts of {', '.join(map(repr, near))} cannot give way.{driven}"

    def trouble(self, status: StepStatus, numbers: Array) -> str:
        """Why contacts could not go on, in words; empty where the step failed for another reason."""
        if status == StepStatus.OPEN_GAP:
            return f"{DEEP}."
        modes = self.of(np.asarray(numbers))
        closed = [self.names[k] for k in np.flatnonzero(modes[:, STATE])]
        if status != StepStatus.CHATTER or not closed:
            return ""
        return (
            f"contacts change 500 times within a nanosecond; last closed: {', '.join(closed)}. Less"
            ' restitution, or torsion and rolling of zero, may end it; contacts="steps" takes them together.'
        )


def touches(options: Any) -> bool:
    """Whether surfaces touch in a run with these options."""
    return bool(options.contacts != "ignore")
