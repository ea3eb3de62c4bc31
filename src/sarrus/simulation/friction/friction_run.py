"""Runs with dry friction: stretches of compiled steps, in which each coordinate sticks or slides one way.

At the end of a stretch the friction forces are solved anew (dynamics/dry_friction.py). Nothing is smoothed:
coordinates that stick are constraint rows, those that slide have the friction of their direction.

Closed contacts are constraint rows too. At the end of a stretch they are solved together with the friction;
where one of them opens the run ends there, and the run with switches of which it is a part goes on.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray
from ...dynamics.bearing_friction import BearingLoads, UnsettledError
from ...dynamics.dry_friction import Directions
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ..events.events import Event, UserWatch
from ..events.interpolation import Manifold
from ..events.limit_crossings import LimitWatch
from ..run.interrupts import Interrupts
from ..run.outcome import Outcome, Status
from ..run.run_loop import Simulation
from ..stepping.callbacks import FIRST_STAGE, Inputs
from ..stepping.options import Options
from ..system.contact_friction import ContactFriction
from ..system.initial_state import initial_state
from ..system.step_records import Steps
from ..system.system import System
from ..trajectory.trajectory import Trajectory
from .friction_segment import Segment, refuse_unknown
from .friction_watch import SLACK, FrictionWatch, Hit
from .stuck_rows import StuckRows

BREAKING = 1e-6  # of the bounds: what is left out of them to find which coordinates begin to slide
HESITANT = 1e-5  # of the bounds: slack after a coordinate that began to slide did not
NEAR_REST = 1e-5  # of its largest speed in a stretch: a slower coordinate rests at its end
MOST_EVENTS = 60  # within one step; more are chatter
SAMPLE_SLACK = 1e-9  # of a sample time


class FrictionRun:
    """One run; `run` gives its trajectory.

    Attributes:
        opens: names of contacts that open at its end.
        directions: 1, -1 for coordinates that slide, 0 for those that stick (k,), at its end.
    """

    def __init__(
        self, mech: Mechanism, options: Options, q0: Any, v0: Any, part: Segment | None = None
    ) -> None:
        refuse_unknown(mech, options)
        self._mech, self._options, self._part = mech, options, part
        self._contacts = ContactFriction(mech, {}) if part is None else part.contacts
        self._friction = self._contacts.friction
        self._system = System(mech)
        self._t = options.t0
        start: tuple[Array, Array] = (q0, v0)
        self._q, self._v = start if part else initial_state(self._system, q0, v0, options.t0)
        self.opens: tuple[str, ...] = ()
        self.directions = np.zeros(len(self._friction.coordinates), dtype=np.int64)
        self._known: dict[tuple[int, ...], StuckRows] = {}
        self._by_kernel = (
            options.formulation == "nullspace"
            and options.coordinates == "full"
            and options.correction != "soft"
            and BearingLoads(self._friction, mech.model).by_kernel
        )
        self._manifold = Manifold(self._system.kernel, mech.model)
        self._outcomes: list[Outcome] = []
        self._forces: list[tuple[Array, Any]] = []
        self._events: list[Event] = []
        self._recent: list[float] = []
        self._held_input = np.zeros(mech.nu)
        self._fastest = np.zeros(len(self._friction.coordinates))
        self._interrupts = Interrupts() if part is None else part.interrupts

    @property
    def state(self) -> tuple[float, Array, Array]:
        """Time and state at its end; what sticks has the velocity zero."""
        v = self._v.copy()
        v[self._friction.coordinates[self.directions == 0]] = 0.0
        return self._t, self._q, v

    def run(self) -> Trajectory:
        """All stretches, one after the other."""
        with self._interrupts:
            return self._run_stretches()

    def _run_stretches(self) -> Trajectory:
        users, slack = self._start(), SLACK
        while True:
            rows = self._rows(self.directions)
            simulation = self._stretch(rows, users, slack)
            hit, outcome = simulation.hit, self._outcomes[-1]
            if hit is None and outcome.status == Status.END and self._t < self._options.t1:
                continue  # a sample of the controller is due
            if hit is None:
                return self._result(outcome.status, outcome.message)
            if self._chatters():
                return self._result(Status.FAILED, self._chatter())
            before, slack = self.directions, SLACK
            if len(hit.backwards):
                self.directions, slack = np.where(hit.backwards, 0, before), HESITANT
            else:
                try:
                    after = self._after(simulation, hit)
                except UnsettledError as error:
                    return self._result(Status.FAILED, f"Stopped at t = {self._t:.9g} s: {error}")
                if self.opens:
                    return self._result(Status.END, "")
                self.directions = after
            self._report(before, self.directions)
            users.restart(self._t, self._q, self._v)

    def _start(self) -> UserWatch:
        """The directions at the start, and the events of the user."""
        part, nothing = self._part, np.zeros(0, dtype=bool)
        self.directions = self._solved(self._applied_at_start(), nothing, part is not None and part.breaks)
        if part is None:
            return UserWatch(self._options.events, self._t, self._q, self._v)
        if part.before is not None:
            self._report(part.before, self.directions)
        return part.users

    # ------------------------------------------------------------------ stretches

    def _rows(self, directions: Directions) -> StuckRows:
        key = tuple(directions.tolist())
        if key not in self._known:
            self._known[key] = StuckRows(self._contacts, directions, self._by_kernel)
        return self._known[key]

    def _stretch(self, rows: StuckRows, users: UserWatch, slack: float) -> Simulation:
        """Run until friction changes, and move the state to there."""
        start, options = (self._t, self._q, self._v), self._segment_options()
        simulation = Simulation(rows.system, options, users, self._q, self._v, interrupts=self._interrupts)

        def applied(t: float, q: Array, v: Array) -> Array:
            return simulation.inputs.force(t, q, v, FIRST_STAGE + 1)

        watch = FrictionWatch(rows, self._manifold, applied, slack)
        outcome = simulation.run(watch.first)
        if simulation.last is not None:
            last = simulation.last
            self._t, self._q, self._v = float(last.t[-1]), last.q[-1], last.v[-1]
        if simulation.hit is not None and len(simulation.hit.backwards):
            self._t, self._q, self._v = start  # as if it had not been tried
            return self._dropped(simulation, outcome)
        self._fastest = watch.fastest
        self._keep(rows, outcome)
        self._held_input = simulation.inputs.held
        return simulation

    def _dropped(self, simulation: Simulation, outcome: Outcome) -> Simulation:
        """A stretch that is taken back: only its cost is kept."""
        self._outcomes.append(
            dataclasses.replace(outcome, steps=outcome.steps[:0], u=outcome.u[:0], events=())
        )
        self._forces.append((np.zeros((0, self._mech.nv)), np.zeros((0, self._mech.nv), dtype=bool)))
        return simulation

    def _segment_options(self) -> Options:
        """Options of the stretch from here on. A sampled controller keeps its times: until the next one the
        last input is held."""
        o, start = self._options, self._t
        changed: dict[str, Any] = {"t0": start}
        if o.t_eval is not None:
            changed["t_eval"] = o.t_eval[o.t_eval > start if self._outcomes else o.t_eval >= start]
        if o.control is not None and o.control_dt is not None:
            samples = (start - o.t0) / o.control_dt
            due = o.t0 + math.ceil(samples - SAMPLE_SLACK) * o.control_dt
            if due > start and samples - round(samples) and abs(samples - round(samples)) > SAMPLE_SLACK:
                held = self._held_input
                changed |= {"control": lambda t, q, v: held, "t1": min(due, o.t1)}
        if "t1" in changed and o.t_eval is not None:
            changed["t_eval"] = changed["t_eval"][changed["t_eval"] <= changed["t1"]]
        return dataclasses.replace(o, **changed)

    def _keep(self, rows: StuckRows, outcome: Outcome) -> None:
        steps = outcome.steps
        force, unique, inside = rows.friction_along(steps)
        steps = dataclasses.replace(steps, tau=steps.tau - inside)
        extra = len(rows.stuck) and len(steps) and int(steps.rank[0]) - self._rank(steps)
        outcome = dataclasses.replace(outcome, steps=dataclasses.replace(steps, rank=steps.rank - extra))
        self._forces.append((force, unique))
        self._outcomes.append(outcome)
        self._events += outcome.events

    def _rank(self, steps: Steps) -> int:
        """Rank of J at the first of some steps, without rows of friction."""
        return int(self._mech.mobility(steps.q[0], float(steps.t[0])).rank) if self._mech.nc else 0

    # ------------------------------------------------------------------ what happens between them

    def _after(self, simulation: Simulation, hit: Hit) -> Directions:
        """Directions after the end of a stretch; `opens` tells which contacts open there."""
        applied = simulation.inputs.force(self._t, self._q, self._v, FIRST_STAGE + 1)
        if self._contacts.rows:
            options = self._resting(hit.stops, hit.breaks) | {"least": BREAKING * hit.breaks}
            opening = self._contacts.solve((self._t, self._q, self._v, applied), **options)[0].opening
            self.opens = tuple(name for name, x in zip(self._contacts.rows, opening, strict=True) if x > 0.0)
        after = self._solved(applied, hit.stops, hit.breaks)
        if hit.breaks and not self.opens and np.array_equal(after, self.directions):
            state = np.array([self._t]), self._q[None], self._v[None], applied[None]
            self.opens = self._rows(after).pulling(*state)  # too little to show beside other accelerations
        return after

    def _solved(self, tau: Array, stops: BoolArray, breaks: bool) -> Directions:
        """Directions in the present state under the applied force tau (nv,).

        Args:
            tau: applied force.
            stops: rows that are at rest whatever their velocity (k,); empty at the start of the run.
            breaks: whether a load just exceeds its bounds.
        """
        options = self._resting(stops, breaks)
        if not np.any(options["resting"]):
            sliding = np.sign(self._v[self._friction.coordinates]).astype(np.int64)
            self._rows(sliding).sliding_by_load(self._t, self._q, self._v, tau)  # finds one, or raises
            return sliding
        return self._mech._solve_friction((self._q, self._v, tau), self._t, **options).directions

    def _resting(self, stops: BoolArray, breaks: bool) -> dict[str, Any]:
        """Options of the problem: which rows are at rest, and their share of the bounds."""
        rows, v = self._friction.coordinates, self._v
        resting = self._friction.resting(v)
        if len(stops):
            resting |= stops | (np.abs(v[rows]) <= NEAR_REST * self._fastest)
        return {"resting": resting, "share": 1.0 - BREAKING * breaks}

    def _applied_at_start(self) -> Array:
        inputs = Inputs(self._system, self._options)
        try:
            return inputs.force(self._t, self._q, self._v, FIRST_STAGE)
        except RuntimeError as failure:
            raise InputError(str(failure)) from None

    def _report(self, before: Directions, after: Directions) -> None:
        for k in np.flatnonzero(before != after):
            kind = "slip" if after[k] else "stick"
            way = {0: "sticks", 1: "slides forwards", -1: "slides backwards"}[int(after[k])]
            name = self._friction.names[k]
            self._events.append(Event(name, kind, self._t, self._q, self._v, note=way))

    def _chatters(self) -> bool:
        self._recent = [t for t in self._recent if t > self._t - self._options.dt] + [self._t]
        return len(self._recent) > MOST_EVENTS

    def _chatter(self) -> str:
        names = ", ".join(self._friction.names)
        return (
            f"Stopped at t = {self._t:.9g} s: friction of {names} changed {MOST_EVENTS} times in one step;"
            " no motion sticks or slides there for any length of time, or dt is too long for the load: leave"
            " it out, or take a shorter one."
        )

    # ------------------------------------------------------------------ result

    def _result(self, status: Status, message: str) -> Trajectory:
        mech, system = self._mech, self._system
        steps = Steps.joined([Steps.of([], mech.nq, mech.nv), *(one.steps for one in self._outcomes)])
        u = np.concatenate([np.zeros((0, mech.nu)), *(one.u for one in self._outcomes)])
        limits = LimitWatch(system, self._manifold, self._options.control is not None)
        for one in self._outcomes if self._part is None else ():
            limits.look(one.steps, one.u)
        force, unique = (np.concatenate(part) for part in zip(*self._forces, strict=True))
        outcome = Outcome(
            steps=steps,
            u=u,
            events=tuple(sorted([*self._events, *limits.found], key=lambda event: event.t)),
            nfev=sum(one.nfev for one in self._outcomes),
            status=status,
            message=limits.added_to(message, self._t),
            options=self._options,
            friction=force,
            friction_unique=unique,
        )
        return Trajectory(mech, outcome)
