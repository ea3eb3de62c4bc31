"""ModeRun: the part of a run that knows its modes. The loop of the run asks it where a mode changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..._kernel import Run, StepStatus
from ...arrays import Array, BoolArray
from ...constraints.rows import Constraint
from ...mechanism.mechanism import Mechanism
from ..contacts.contact_record import Touching, stretch_contacts
from ..contacts.slot_changes import KERNEL_WAY, SlotChanges, touches
from ..events.events import Event, UserEvent
from ..events.switches import Plan
from ..stepping.options import Options
from ..stepping.step_setup import StepSetup
from ..system.step_records import Steps
from ..system.system import System
from .mode_changes import Entered, ModeChanges
from .mode_friction import ModeFriction
from .mode_messages import chatter, open_gap, refuse_unknown
from .outside_steps import ChartsInModes
from .run_modes import RunModes

NAMED = (StepStatus.OPEN_GAP, StepStatus.CHATTER, StepStatus.CONTACT_PRESSED)  # whose cause is known


class ModeRun:
    """What the loop of one run asks about its modes.

    Attributes:
        whole: the system with all rows.
        system: that of the present mode.
        switching: {name of an event: (constraint, whether it closes)}.
    """

    def __init__(self, mech: Mechanism, plan: Plan, options: Options) -> None:
        refuse_unknown(mech, options)
        self._plan, self._options = plan, options
        self._modes = RunModes(mech, plan, options)
        self._changes = ModeChanges(self._modes)
        self._friction = ModeFriction(self._modes)
        self._numbers = self._modes.begun.numbers  # of the mode whose steps are looked at
        self._chosen = self._numbers  # of the steps that are being taken, which may be ahead
        self._run: Any = None
        self._slots = SlotChanges(mech) if touches(options) else None
        self.whole = System(self._modes.mech)
        self.switching = {event.name: (name, closes) for event, name, closes in plan.events}

    @property
    def start_mechanism(self) -> Mechanism:
        """The mechanism with the constraints that are closed at the start."""
        return self._modes.mechanism(self._modes.closed(self._modes.begun.numbers))

    @property
    def system(self) -> System:
        """That of the mode whose steps are looked at."""
        return self._modes.system(self._numbers)

    def require_outside(self, q: Array) -> None:
        """Refuse a start pose (nq,) in which an open contact penetrates."""
        self._modes.require_outside(self._options.t0, q)
        if self._slots is not None:
            self._slots.require_outside(q)

    def events(self) -> tuple[UserEvent, ...]:
        """The user's functions that switch constraints, each evaluated only while it can do so."""
        return tuple(self._switch_event(*one) for one in self._plan.events)

    def _switch_event(self, event: UserEvent, name: str, closes: bool) -> UserEvent:
        at = self._modes.modes.names.index(name)

        def value(t: float, q: Array, v: Array) -> float:
            return 1.0 if (self._numbers[at] != 0.0) == closes else event.value(t, q, v)

        return UserEvent(value, event.name, 1, event.direction)

    # ------------------------------------------------------------------ the compiled run

    def prepare(self, system: System, formulation: str) -> None:
        """Add the friction by load of what slides to the forces on a system whose steps do not know it."""
        asks = self._friction.asks_python or formulation != "nullspace"
        if self._modes.modes.friction.by_load and asks:
            system.further_force = self._sliding

    def run(self, setup: StepSetup) -> Any:
        """The run whose mode changes."""
        charts = None if self._options.coordinates == "full" else ChartsInModes(setup)

        def chosen(numbers: Array) -> None:
            self._chosen = numbers
            setup.inputs.next_mode()
            if setup.formulated is not None:
                setup.formulated.enter(self._modes.system(numbers))
            if charts is not None:
                charts.system = self._modes.system(numbers)

        compiled: Run = setup.compiled_run(
            KERNEL_WAY[self._options.contacts if self._slots is not None else "ignore"],
            plan=self._modes.modes.plan,
            begun=self._modes.begun.numbers,
            wrenches=self._friction.wrenches if self._friction.asks_python else None,
            chosen=chosen,
            steps_of_python=charts,
        )
        self._run = compiled
        return compiled if charts is None else RunInCharts(compiled, charts)

    def _sliding(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        directions, system = self._modes.directions(self._chosen), self._modes.system(self._chosen)
        return self._friction.of_sliding(directions, system, (t, q, v, tau))

    def taken(self, run: Any) -> list[tuple[int, Steps]]:
        """The new steps, mode by mode."""
        record = run.take()
        which, steps = record["mode"].astype(np.int64), Steps.of_record(record)
        begins = [0, *(np.flatnonzero(np.diff(which)) + 1), len(which)]
        return [(int(which[a]), steps[a:b]) for a, b in pairwise(begins) if b > a]

    # ------------------------------------------------------------------ changes

    def go_on(self, part: ModePart) -> None:
        """Latches hold what they held at the end of a run that is resumed."""
        self._changes.replaced = part.replaced

    def resumed_in(self, mode: int) -> None:
        """The mode of the first state of a run that is resumed."""
        self._numbers = self._run.mode(mode)

    def entered(self, run: Any, mode: int) -> Entered:
        """How the run came to its mode of this number."""
        touched, groups = run.touched(mode), len(self._modes.modes.names)
        return Entered(run.mode(mode), touched[:groups] != 0, touched[groups:])

    def changed(self, before: Entered | None, now: Entered, last: Steps, first: Steps) -> list[Event]:
        """What happened between two modes, from the state `last` to the state `first`."""
        self._numbers = now.numbers
        found = self._changes.events(before, now, last, first)
        if self._slots is None:
            return found
        return found + self._slots.events(before is None, now.numbers, now.happened, first)

    def changes(self, names: Sequence[str]) -> Any:
        """The argument of `Run.change_mode` for events of these names."""
        return self._modes.changes(dict(self.switching[name] for name in names))

    def options_from(self, options: Options, t: float, later: bool) -> Options:
        """Options of what is recorded from time t [s] on; `later`: after other stretches, with its state."""
        if options.t_eval is None or not later:
            return options
        return dataclasses.replace(options, t_eval=options.t_eval[options.t_eval > t])

    # ------------------------------------------------------------------ results

    def recorded(self, mode: int, system: System, steps: Steps) -> tuple[Steps, ModePart]:
        """Steps of a mode as users see them, and what belongs to it.

        Rows of friction do not count as rank, and friction by load is no applied force.
        """
        friction = unique = None
        numbers = self._run.mode(mode)
        steps = dataclasses.replace(steps, rank=steps.rank - self._run.held_rank(mode))
        touching = self._touching(numbers)
        if len(self._modes.modes.friction.coordinates):
            loaded = steps if touching is None else _with_contacts(touching, steps)
            friction, unique, inside = self._friction.along(numbers, system, loaded)
            steps = dataclasses.replace(steps, tau=steps.tau - inside)
        return steps, ModePart(
            friction, unique, self._modes.closed(numbers), self._changes.replaced, touching
        )

    def _touching(self, numbers: Array) -> Touching | None:
        """The contacts in a mode of the run; None where nothing touches."""
        if self._slots is None:
            return None
        rows = self._modes.of_rows(numbers)
        return Touching(self._modes.mech, self._modes.modes, rows, self._slots.of(numbers))

    def unstarted(self, steps: Steps) -> ModePart:
        """What belongs to the state of a run that could not start."""
        stick = len(self._modes.modes.friction.coordinates) > 0
        force = np.zeros_like(steps.v) if stick else None
        unique = np.ones(steps.v.shape, dtype=bool) if stick else None
        begun, touching = self._modes.begun.numbers, None
        if self._slots is not None:
            none = np.zeros((len(self._slots.names), 1))
            touching = Touching(self._modes.mech, self._modes.modes, begun, none)
        return ModePart(force, unique, self._modes.closed(begun), {}, touching)

    @property
    def plan(self) -> Plan:
        """Switches and contacts."""
        return self._plan

    @property
    def names(self) -> tuple[str, ...]:
        """Constraints that can switch."""
        return self._modes.names

    def mechanism(self, part: ModePart) -> Mechanism:
        """The mechanism with the constraints that were closed in a part of the run."""
        return self._modes.mechanism(part.closed, part.replaced)

    def normals(self) -> dict[str, float]:
        """Sides of the normal rows of contacts, by the names of these rows."""
        names = self._plan.mech.row_names
        return {names[self._plan.normal_row(name)]: one.side for name, one in self._plan.contacts.items()}

    def trouble(self, run: Any, status: StepStatus, last: Steps | None) -> str:
        """Why the mode could not change, in words; empty where the step failed for another reason."""
        if last is None or status not in NAMED:
            return ""
        if status == StepStatus.CONTACT_PRESSED:
            pressed = "" if self._slots is None else self._slots.pressed(last.q[-1])
            return f"Stopped at t = {last.t[-1]:.9g} s: {pressed}"
        why = ""
        if self._slots is not None and not (status == StepStatus.OPEN_GAP and run.open_group >= 0):
            why = self._slots.trouble(status, run.mode(run.mode_count - 1))
        if not why and status == StepStatus.OPEN_GAP:
            why = open_gap(self._modes, run.open_group, last)
        return f"Stopped at t = {last.t[-1]:.9g} s: {why or chatter(self._modes)}"


@dataclass(frozen=True)
class ModePart:
    """What belongs to the steps of one mode.

    Attributes:
        friction, unique: force of dry friction (n, nv), and which of it the motion determines; None without.
        closed: which of the constraints that can switch are closed (k,).
        replaced: those of latches, as they hold what they found.
        touching: contacts of surfaces; None where nothing can touch.
    """

    friction: Array | None
    unique: BoolArray | None
    closed: BoolArray
    replaced: dict[str, Constraint]
    touching: Touching | None = None

    def __getitem__(self, which: slice) -> ModePart:
        force = None if self.friction is None else self.friction[which]
        unique = None if self.unique is None else self.unique[which]
        return dataclasses.replace(self, friction=force, unique=unique)

    def same_rows(self, other: ModePart) -> bool:
        """Whether the same constraints are closed, at the same places."""
        return bool(np.array_equal(self.closed, other.closed)) and self.replaced is other.replaced


def _with_contacts(touching: Touching, steps: Steps) -> Steps:
    """The same steps, with what contacts do among the applied forces."""
    return dataclasses.replace(steps, tau=steps.tau + stretch_contacts(touching, steps)[4])


class RunInCharts:
    """A compiled run whose steps are taken in charts: with the events of these."""

    def __init__(self, run: Run, charts: ChartsInModes) -> None:
        self._run, self._charts = run, charts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    @property
    def changes(self) -> list[Event]:
        """Events of new charts."""
        return self._charts.changes

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the acceleration."""
        return self._charts.evaluations
