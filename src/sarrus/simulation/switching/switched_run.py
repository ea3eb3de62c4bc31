"""Runs with changing constraints: segments between switches, an impact where something closes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...dynamics.dry_friction import DryFriction
from ...dynamics.impact import Impact
from ...errors import SarrusError
from ...projection.system_kinematics import drift
from ..events.events import Event, UserEvent, UserWatch
from ..events.interpolation import Manifold
from ..events.limit_crossings import LimitWatch
from ..events.switches import Plan
from ..friction.friction_run import FrictionRun
from ..friction.friction_segment import Segment, refuse_unknown
from ..run.interrupts import Interrupts
from ..run.outcome import Outcome, Status
from ..run.run_loop import Simulation
from ..stepping.callbacks import FIRST_STAGE, Inputs
from ..stepping.options import Options
from ..system.initial_state import initial_state
from ..system.step_records import Steps
from ..system.system import System
from ..trajectory.trajectory import Trajectory
from .closed_constraints import Topology
from .switched_trajectory import SwitchedTrajectory

GAP = 1e-6  # of L: largest gap of a constraint that closes
WITHOUT_FRICTION = "impact without friction of bearings, mu times their impulsive load"  # note of an event
MOVED = 1e-14  # of the kinetic energy: a smaller loss is not reported as an impact
MOST_SWITCHES = 40  # within one step; more are chatter


class _EndOfRunError(Exception):
    """The run cannot continue; the message says why."""


class SwitchedRun:
    """One run of a plan; `run` gives its trajectory."""

    def __init__(self, plan: Plan, options: Options, q0: Any, v0: Any) -> None:
        self._plan, self._options = plan, options
        if plan.mech._sticks:
            refuse_unknown(plan.mech, options)
        self._topology = Topology(plan, options.t0)
        start = System(self._topology.mechanism())
        self._t = options.t0
        self._q, self._v = initial_state(start, q0, v0, options.t0)
        self._topology.require_outside(options.t0, self._q)
        self._segments: list[Trajectory] = []
        self._active: list[npt.NDArray[np.bool_]] = []
        self._events: list[Event] = []
        self._switched: list[float] = []  # times of the latest switches
        self._simulation: Simulation | None = None
        self._friction: FrictionRun | None = None  # of the latest segment, with dry friction
        self._interrupts = Interrupts()

    def run(self) -> SwitchedTrajectory:
        """All segments, one after the other."""
        with self._interrupts:
            return self._run_segments()

    def _run_segments(self) -> SwitchedTrajectory:
        status, message = Status.STOPPED, ""
        try:
            self._settle({}, True)
            watched = (*self._options.events, *self._topology.events(self._applied_within))
            watch = UserWatch(watched, self._t, self._q, self._v)
            while True:
                last = self._segment(watched, watch)
                changes = self._changes(last)
                if changes is None:
                    status, message = last.status, last.message
                    break
                self._settle(changes, False)
                watch.restart(self._t, self._q, self._v)
        except _EndOfRunError as reason:
            message = f"Stopped at t = {self._t:.9g} s: {reason}"
        finally:
            self._simulation = None  # breaks the reference cycle through the callbacks of the compiled run
        return self._result(status, message)

    # ------------------------------------------------------------------ segments

    def _segment(self, watched: tuple[UserEvent, ...], watch: UserWatch) -> Trajectory:
        """Run until a constraint switches, and move the state to there."""
        o, start = self._options, self._t
        end = min([o.t1, *(t for t, _, _ in self._plan.schedule if t > start)])
        wanted = o.t_eval
        if wanted is not None:
            first = not self._segments
            wanted = wanted[(wanted >= start if first else wanted > start) & (wanted <= end)]
        options = dataclasses.replace(o, t0=start, t1=end, events=watched, t_eval=wanted)
        found = self._stretches(options, watch) if self._plan.mech._sticks else self._steps(options, watch)
        self._events += [event for event in found.events if event.name not in self._topology.switched_by]
        self._segments.append(found)
        self._active.append(np.tile(self._topology.flags(), (len(found), 1)))
        return found

    def _steps(self, options: Options, watch: UserWatch) -> Trajectory:
        """The steps of a segment."""
        system, interrupts = System(self._topology.mechanism()), self._interrupts
        self._simulation = Simulation(system, options, watch, self._q, self._v, interrupts=interrupts)
        found = Trajectory(system.original, self._simulation.run())
        last = self._simulation.last
        if last is not None:
            self._t, self._q, self._v = float(last.t[-1]), last.q[-1], last.v[-1]
        return found

    def _stretches(self, options: Options, watch: UserWatch) -> Trajectory:
        """A segment with dry friction: stretches in which coordinates stick or slide."""
        last, contacts = self._friction, self._topology.closed_contacts().dry
        before, breaks = (None, False) if last is None else (last.directions, bool(last.opens))
        part = Segment(contacts, watch, self._interrupts, before, breaks)
        mech = self._topology.mechanism()
        try:
            q = mech.project(self._q, self._v, self._t).q  # what sticks cannot close what rounding left open
            self._friction = FrictionRun(mech, options, q, self._v, part)
            found = self._friction.run()
        except SarrusError as error:
            raise _EndOfRunError(str(error)) from None
        self._t, self._q, self._v = self._friction.state
        return found

    def _changes(self, last: Trajectory) -> dict[str, bool] | None:
        """What switches at the end of a segment: {constraint: closes}; None at the end of the run."""
        topology, t = self._topology, self._t
        due = {name: closes for time, name, closes in self._plan.schedule if time == t < self._options.t1}
        if self._friction is not None and self._friction.opens:
            return {**dict.fromkeys(self._friction.opens, False), **due}
        if last.status == Status.EVENT:
            ended = [event.name for event in last.events if event.terminal]
            if any(name not in topology.switched_by for name in ended):
                return None  # an event of the user's
            hit = [topology.switched_by[name] for name in ended]
            return {**{name: not topology.closed[name] for name in hit}, **due}
        return due if due and last.status == Status.END else None

    # ------------------------------------------------------------------ switching

    def _settle(self, changes: dict[str, bool], first: bool) -> None:
        """Open and close constraints, with an impact where one closes; open contacts that pull."""
        topology, t = self._topology, self._t
        self._require_calm(first)
        before = dict(topology.closed)
        for name, closes in changes.items():
            if closes:
                topology.close(name, self._q)
                self._require_closed(name)
            else:
                topology.open(name)
        try:
            let_go = [name for name, closes in changes.items() if not closes]
            hit = topology.impact(t, self._q, self._v, self._applied(), self._options.dt, let_go)
            self._v, touched = self._stilled(hit), dict(topology.closed)
            topology.release(t, self._q, self._v, self._applied())
            topology.watch_from(t, self._q)
        except SarrusError as error:
            raise _EndOfRunError(str(error)) from None
        closed = tuple(name for name in touched if touched[name] and not before[name])
        opened = tuple(
            name for name, now in topology.closed.items() if not now and (before[name] or touched[name])
        )
        moved = bool(closed) and hit.dissipated > MOVED * max(hit.energy_before, hit.energy)
        if (closed or opened) and (moved or not first):
            self._report(closed, opened, hit if moved else None)

    def _stilled(self, hit: Impact) -> Array:
        """The velocity after an impact; with dry friction what rounding leaves of it is zero."""
        mech = self._plan.mech
        return DryFriction(mech.model).stilled(hit.v, hit.v_before) if mech._sticks else hit.v

    def _require_calm(self, first: bool) -> None:
        """Stop the run where contacts chatter."""
        if not first:
            self._switched = [t for t in self._switched if t > self._t - self._options.dt] + [self._t]
        if len(self._switched) > MOST_SWITCHES:
            loose = [name for name, one in self._plan.contacts.items() if not one.latch]
            stick = f"Let them stick (latch=True: {', '.join(loose)}), or use" if loose else "Use"
            raise _EndOfRunError(
                f"contacts switched {MOST_SWITCHES} times within one step: they chatter. {stick} stiff stops"
                " (stop_stiffness) instead."
            )

    def _require_closed(self, name: str) -> None:
        mech = self._topology.mechanism()
        phi, _, _, _ = mech.evaluator.constraints(self._q, np.zeros(mech.nv), self._t)
        rows = np.isin(np.arange(mech.nc), np.arange(mech.nc)[mech.model.group(name).rows])
        gap = drift(mech.evaluator, np.where(rows & mech.model.holonomic, phi, 0.0))
        if gap > GAP * mech.length:
            raise _EndOfRunError(
                f"{name!r} was to close there, but is open by {gap:.3g} m (angles times L). Close it where it"
                f" is with latch=True, or by an event that comes when it is closed."
            )

    def _applied(self) -> Array:
        """The applied force at the present state, with the controller called."""
        inputs = Inputs(System(self._topology.mechanism()), self._options)
        try:
            return inputs.force(self._t, self._q, self._v, FIRST_STAGE)
        except RuntimeError as failure:
            raise _EndOfRunError(str(failure)) from None

    def _applied_within(self, t: float, q: Array, v: Array) -> Array:
        """The applied force at a state within the present segment."""
        if self._simulation is None:
            return np.zeros(len(v))
        return self._simulation.inputs.force(t, q, v, FIRST_STAGE + 1)

    def _report(self, closed: tuple[str, ...], opened: tuple[str, ...], hit: Impact | None) -> None:
        said = [f"{name!r} closes" for name in closed] + [f"{name!r} opens" for name in opened]
        rank = -1 if hit is None else hit.rank
        note = WITHOUT_FRICTION if hit is not None and self._plan.mech._bearings else ""
        here = Event(", ".join(said), "switch", self._t, self._q, self._v, rank, note=note)
        self._events.append(dataclasses.replace(here, closed=closed, opened=opened, impact=hit))

    def _result(self, status: Status, message: str) -> SwitchedTrajectory:
        system = System(self._plan.mech)
        limits = LimitWatch(system, Manifold(system.kernel, system.model), self._options.control is not None)
        for segment in self._segments:  # only recorded states are checked; hard stops are not passed
            limits.look(segment._outcome.steps, segment.u)
        events = tuple(sorted([*self._events, *limits.found], key=lambda event: event.t))
        mech, segments, names = self._plan.mech, self._segments, self._topology.names
        nothing = Steps.of([], mech.nq, mech.nv)
        forces = [np.zeros((0, mech.nv)), *(segment.friction for segment in segments)]
        unique = [np.zeros((0, mech.nv), dtype=bool), *(segment.friction_unique for segment in segments)]
        outcome = Outcome(
            steps=Steps.joined([nothing, *(segment._outcome.steps for segment in segments)]),
            u=np.concatenate([np.zeros((0, mech.nu)), *(segment.u for segment in segments)]),
            events=events,
            nfev=sum(segment.nfev for segment in segments),
            status=status,
            message=limits.added_to(message, self._t),
            options=self._options,
            active=np.concatenate([np.zeros((0, len(names)), dtype=bool), *self._active]),
            active_names=names,
            friction=np.concatenate(forces) if mech._sticks else None,
            friction_unique=np.concatenate(unique) if mech._sticks else None,
        )
        contacts = self._plan.contacts.items()
        normals = {mech.row_names[self._plan.normal_row(name)]: one.side for name, one in contacts}
        return SwitchedTrajectory(mech, outcome, segments, normals)
