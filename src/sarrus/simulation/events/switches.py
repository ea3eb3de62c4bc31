"""Switches: constraints that close and open during a run, by the clock, by an event, or by contact."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import takes
from ...constraints.couplings import Coupling
from ...errors import InputError, unknown_name
from ...mechanism.core.access import known_default
from ...mechanism.core.modes import Modes, Switched
from ...mechanism.mechanism import Mechanism
from .events import UserEvent, user_events

When = float | Sequence[float] | Callable[..., Any] | None


@dataclass(frozen=True)
class Switch:
    """A loop or constraint that closes and opens at given times or events.

    Closing is an inelastic impact in the mass metric, see `Impact`.

    Args:
        constraint: its name in the description.
        on: when it closes: a time [s], several times, or a function g(t, q, v) of whose zeros one in the
            function's `direction` closes it, as in events.
        off: when it opens; likewise.
        closed: whether it is closed at the start; default: open, unless `on` is not given, or later
            than `off`.
        latch: close at the present pose, whatever the gap: frame A of a loop moves onto frame B.
            Without it a gap at closing stops the run.
    """

    constraint: str
    on: When = None
    off: When = None
    closed: bool | None = None
    latch: bool = False

    def __post_init__(self) -> None:
        if self.on is None and self.off is None and self.closed is None:
            raise InputError(
                f"Switch({self.constraint!r}) never switches: give on=, off=, or closed= to fix its state."
            )
        times = {what: _times(getattr(self, what), f"{what} of Switch({self.constraint!r})") for what in WHAT}
        if self.closed is None:
            first_on, first_off = (min(times[what], default=math.inf) for what in WHAT)
            opens_first = not callable(self.on) and first_off < first_on
            object.__setattr__(self, "closed", self.on is None or opens_first)


@dataclass(frozen=True)
class Contact:
    """A loop or constraint that can push but not pull: it closes when it touches and opens when it pulls.

    Touching is an inelastic impact. The first row of the constraint (or `row`) is its normal: it is open
    where side * phi > 0 and pushes with side * lam >= 0. A point over a plane is `PointOnPlane` with side 1;
    a cable is a `Distance` with side -1; a disc on the floor is `Rolling`.

    Args:
        constraint: its name in the description.
        side: 1 or -1: the sign of phi where it is open.
        row: name of the normal row; default the first one.
        latch: the other rows hold the point where it touches: a foot that sticks where it lands.
        closed: whether it is closed at the start; default: if it touches there, does not separate and
            is pressed.
    """

    constraint: str
    side: float = 1.0
    row: str | None = None
    latch: bool = False
    closed: bool | None = None

    def __post_init__(self) -> None:
        if self.side not in (1.0, -1.0):
            raise InputError(f"side of Contact({self.constraint!r}) must be 1 or -1, got {self.side!r}.")


WHAT = ("on", "off")


def _times(value: When, what: str) -> list[float]:
    """Times of a schedule; none for a function."""
    if value is None:
        return []
    if callable(value):
        takes(value, "t, q, v", what)
        return []
    try:
        times = [float(t) for t in np.atleast_1d(np.asarray(value, dtype=float))]
    except (TypeError, ValueError, OverflowError):
        times = [math.nan]
    if not all(math.isfinite(t) for t in times):
        raise InputError(
            f"{what} must be a time [s], several times, or a function g(t, q, v); got {value!r}."
        )
    return times


@dataclass(frozen=True)
class Plan:
    """All that can switch in a run.

    Attributes:
        mech: the mechanism with every constraint, stops included.
        switches: by the name of their constraint.
        contacts: likewise.
        schedule: (time, constraint, closes), in the order of time.
        events: (event function, constraint, closes).
    """

    mech: Mechanism
    switches: dict[str, Switch]
    contacts: dict[str, Contact]
    schedule: tuple[tuple[float, str, bool], ...]
    events: tuple[tuple[UserEvent, str, bool], ...]

    def normal_row(self, name: str) -> int:
        """Index of the normal row of a contact among the rows of `mech`."""
        contact, group = self.contacts[name], self.mech.model.group(name)
        if contact.row is None:
            return int(group.rows.start)
        names = self.mech.row_names[group.rows]
        if contact.row not in names:
            raise unknown_name("row", contact.row, names, f"Contact({name!r})")
        return int(group.rows.start) + names.index(contact.row)

    def modes(self, mech: Mechanism, dt: float) -> Modes:
        """All rows, and which of them can change, of the mechanism without stops; dt: step of the run [s]."""
        declared = dict(mech.model.constraints)
        switched = {name: Switched(bool(one.closed), one.latch) for name, one in self.switches.items()}
        for name, one in self.contacts.items():
            switched[name] = Switched(bool(one.closed), one.latch, self.normal_row(name), float(one.side))
        for name, given in switched.items():
            if given.latch:
                declared[name].check_latch(name)
        added: Any = {name: one for name, one in self.mech.model.constraints if name not in declared}
        return Modes(mech.model, switched, added, self.schedule, dt)


def make_plan(system: Any, switches: Any, stops: bool) -> Plan:
    """The plan of a run, its switches checked against the mechanism."""
    if not isinstance(system, Mechanism):
        raise InputError(
            f"switches and stops need a Mechanism, got {type(system).__name__}: a CustomSystem cannot change"
            " its constraints."
        )
    given = [switches] if isinstance(switches, (Switch, Contact)) else _listed(switches)
    mech, hard = _with_stops(system) if stops else (system, [])
    by_name: dict[str, Switch | Contact] = {}
    for one in [*given, *hard]:
        if not isinstance(one, (Switch, Contact)):
            raise InputError(f"switches must be Switch or Contact objects, got {one!r}.")
        mech.model.group(one.constraint)
        if one.constraint in by_name:
            raise InputError(f"constraint {one.constraint!r} has two switches; give it one.")
        by_name[one.constraint] = one
    toggles = {name: one for name, one in by_name.items() if isinstance(one, Switch)}
    contacts = {name: one for name, one in by_name.items() if isinstance(one, Contact)}
    plan = Plan(mech, toggles, contacts, _schedule(toggles), _events(toggles))
    for name in contacts:
        if not mech.model.holonomic[plan.normal_row(name)]:
            raise InputError(f"the normal row of Contact({name!r}) must restrict positions, not velocities.")
    return plan


def _listed(switches: Any) -> Iterable[Any]:
    try:
        return list(switches)
    except TypeError:
        raise InputError(f"switches must be Switch or Contact objects, got {switches!r}.") from None


def _schedule(toggles: dict[str, Switch]) -> tuple[tuple[float, str, bool], ...]:
    found = [
        (t, name, what == "on")
        for name, one in toggles.items()
        for what in WHAT
        for t in _times(getattr(one, what), what)
    ]
    return tuple(sorted(found, key=lambda one: one[0]))


def _events(toggles: dict[str, Switch]) -> tuple[tuple[UserEvent, str, bool], ...]:
    found = []
    for name, one in toggles.items():
        for what in WHAT:
            function = getattr(one, what)
            if callable(function):
                event = dataclasses.replace(user_events(function)[0], name=f"{what} of {name!r}", terminal=1)
                found.append((event, name, what == "on"))
    return tuple(found)


def _with_stops(mech: Mechanism) -> tuple[Mechanism, list[Contact]]:
    """Hard stops at the limits of all coordinates: rows "name.lower", "name.upper" that push only."""
    extra: dict[str, Coupling] = {}
    contacts = []
    for name, limits in zip(mech.names, mech.model.limits, strict=True):
        for end, limit, side in (("lower", limits[0], 1.0), ("upper", limits[1], -1.0)):
            if math.isfinite(limit):
                extra[f"{name}.{end}"] = Coupling({name: 1.0}, offset=float(limit))
                contacts.append(Contact(f"{name}.{end}", side))
    if not contacts:
        raise InputError(
            f"stops=True, but no coordinate of {mech.name!r} has limits; give some: limits=(lower, upper) in"
            " MechanismSpec.body."
        )
    return Mechanism(mech.with_constraints(replaced=extra).model, known_default(mech)), contacts
