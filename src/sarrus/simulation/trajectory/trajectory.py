"""Trajectory: the result of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...arrays import Array, frozen, numbers, read_only, truth
from ...constraints.user_forces import user_wrenches
from ...dynamics.contact_loads import wrenches_on_bodies
from ...dynamics.forward import Motion
from ...errors import InputError, unknown_name, warn
from ...mechanism.core.access import without_dry_friction
from ...mechanism.describe.measure import measured
from ...mechanism.describe.measured_states import MOTION, MeasuredStates
from ...mechanism.describe.measures import Angle
from ..contacts.contact_record import ContactRecord, contact_record
from ..events.interpolation import Hermite, Manifold
from ..events.interpolation_error import between_error
from ..run.outcome import Outcome
from ..run.recorder import TrajectoryRecorder
from ..run.resume import resume
from ..stepping.state_projector import Projector
from ..system.step_records import Steps
from ..system.system import System
from .constraint_forces import constraint_force, multipliers
from .data_frame import MATRICES, VECTORS, dataframe
from .files import DERIVED, load, save

MOST_TOLERANCES, LEAST_SHOWN = 100.0, 1e-6  # error of states between kept ones from which on at() warns


class Sample(NamedTuple):
    """States at chosen times: t (k,), q (k, nq), v (k, nv), a (k, nv); without k for a single time."""

    t: Any
    q: Array
    v: Array
    a: Array


class Trajectory:
    """States at n times, read-only, and quantities computed from them on demand.

    Attributes:
        t: times [s], (n,).
        q: positions (n, nq) [rad, m].
        v: velocities (n, nv) [rad/s, m/s].
        a: accelerations (n, nv) [rad/s^2, m/s^2]; where inputs jump, just after the jump.
        u: inputs of the actuators (n, nu) [N m, N].
        tau: applied generalized force in all (n, nv) [N m, N]: S.T u, tau and external wrenches.
        rank: rank of J (n,).
        events: what happened, in the order of time; see `Event`.
        nfev: number of evaluations of the acceleration.
        success: whether the end, or a terminal event, was reached.
        status: 0 the end, 1 a terminal event, -1 a numerical failure, -2 Ctrl-C, -3 a user's function failed.
        message: the same in words, with the traceback of a function that raised.
        system: the system that moved; None for one loaded without it.
    """

    def __init__(self, system: Any, outcome: Outcome) -> None:
        """
        Args:
            system: what moved; None where it is not known.
            outcome: of its run.
        """
        steps = outcome.steps
        self.system, self._outcome = system, outcome
        self.t, self.q, self.v, self.a, self.tau, self.u = map(
            read_only, (steps.t, steps.q, steps.v, steps.a, steps.tau, outcome.u)
        )
        self.rank = read_only(steps.rank)
        self.events, self.nfev = outcome.events, outcome.nfev
        self.status, self.message = outcome.status, outcome.message
        if outcome.active is not None:
            self.active, self.active_names = frozen(outcome.active, bool), outcome.active_names

    @property
    def success(self) -> bool:
        """Whether the end, or a terminal event, was reached."""
        return self.status >= 0

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> Array:
        """A measure of the mechanism along the run, (n,) or (n, k); angles go on beyond pi."""
        system, steps = self._moved("measures"), self._outcome.steps
        measures = dict(system.model.measures)
        if not isinstance(name, str) or name not in measures:
            raise unknown_name("measure", name, measures, "trajectory[...]")
        one = measures[name]
        states = MeasuredStates(system.original, steps.q, steps.v, steps.t, steps.tau)
        if isinstance(one, Angle):
            return frozen(one.continued(states))
        if one.needs_motion:
            states.motion = self._motion(f"measure {name!r}" if one.of_reactions else "")
        return frozen(measured(states, one, name))

    def reaction(self, name: str, frame: str = "A") -> Array:
        """Wrench [force; moment] (n, 6) [N, N m] of a joint or loop along the run; see `Motion.reaction`."""
        return frozen(self._motion("reaction").reaction(name, frame))

    def _motion(self, reactions: str) -> Motion:
        """The accelerations and forces of the run; `reactions` says who asks for those of joints."""
        system, options = self._moved(reactions or "forces"), self._outcome.options
        if reactions and options is not None and options.external:
            raise InputError(
                f"{reactions}: a run with external wrenches does not keep them. Call forward_dynamics(q, v,"
                " tau, external=...).reaction at the times that matter."
            )
        known: dict[str, Any] = {name: getattr(self, name) for name in MOTION if hasattr(self, name)}
        known |= {"lam_unique": np.ones_like(self.lam, dtype=bool), "_model": system.model}
        steps = self._outcome.steps
        known |= {"_friction": self._outcome.friction, "_friction_unique": self._outcome.friction_unique}
        known["_external"] = user_wrenches(system.evaluator, steps.q, steps.v, steps.t)
        if self._touches:
            found, origins = self.contacts, system.model.kernel.poses(np.ascontiguousarray(steps.q))[1]
            touching = wrenches_on_bodies(system.model, found.force, found.moment, found.point, origins)
            known["_external"] = (*known["_external"], *touching)
        return Motion(**known, _q=steps.q, _v=steps.v)

    def __repr__(self) -> str:
        name = "unknown system" if self.system is None else self.system.name
        span = f"t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self) else "empty"
        first = self.message.splitlines()[0]
        return f"Trajectory({name!r}, {len(self)} states, {span}, {len(self.events)} events: {first})"

    # ------------------------------------------------------------------ what follows from the states

    @cached_property
    def drift(self) -> Array:
        """Largest |phi| (n,) [m], angles multiplied by the length L."""
        return frozen(self._outcome.steps.drift * self._length)

    @cached_property
    def velocity_drift(self) -> Array:
        """Largest |J v - b| (n,) [m/s], angles multiplied by L."""
        return frozen(self._outcome.steps.velocity_drift * self._length)

    @property
    def _length(self) -> float:
        return 1.0 if self.system is None else float(self.system.length)

    @cached_property
    def energy(self) -> Array:
        """Total energy (n,) [J]; NaN for a CustomSystem without a potential."""
        return frozen(self._moved("energy").energy(self.t, self.q, self.v))

    @cached_property
    def constraint_force(self) -> Array:
        """Generalized force of the constraints (n, nv) [N m, N], M a + h - tau; always unique."""
        return frozen(constraint_force(*self._loaded("constraint_force")))

    @cached_property
    def lam(self) -> Array:
        """Multipliers (n, nc) [N, N m], of least norm where rows of J depend on each other."""
        (system, steps), o = self._loaded("lam"), self._outcome.options
        by_kernel = o is not None and o.correction == "project" and o.formulation == "nullspace"
        return frozen(multipliers(system, steps, self.constraint_force, by_kernel))

    @property
    def friction(self) -> Array:
        """Generalized force of dry friction (n, nv) [N m, N] (friction_model="coulomb"), of least norm."""
        force = self._outcome.friction
        return np.zeros_like(self.v) if force is None else read_only(force)

    @property
    def friction_unique(self) -> npt.NDArray[np.bool_]:
        """Which entries of `friction` the motion determines, (n, nv): joints at rest may share a load."""
        unique = self._outcome.friction_unique
        return np.ones(self.v.shape, dtype=bool) if unique is None else np.asarray(read_only(unique))

    @cached_property
    def contacts(self) -> ContactRecord:
        """Forces, slip, modes and work of surfaces that touch, of a run with contacts="events"."""
        self._moved("contacts")
        if not self._touches:
            raise InputError(
                "contacts: nothing could touch in this run: it has no surfaces (spec.surface, spec.contact),"
                ' or ignored them (contacts="ignore").'
            )
        return contact_record(self._outcome.stretches)

    @property
    def _touches(self) -> bool:
        """Whether surfaces could touch during the run."""
        kept = self._outcome.stretches
        if "contacts" in self.__dict__:
            return True
        return bool(kept) and kept[0].part is not None and kept[0].part.touching is not None

    def _loaded(self, what: str) -> tuple[System, Steps]:
        """The system without dry friction, and the states with it among the applied forces."""
        system, steps, force = self._moved(what), self._outcome.steps, self._outcome.friction
        if self._touches:
            steps = replace(steps, tau=steps.tau + self.contacts.generalized)
        if force is None:
            return system, steps
        return System(without_dry_friction(self.system)), replace(steps, tau=steps.tau + force)

    @cached_property
    def singular_values(self) -> Array:
        """Singular values of the dimensionless J (n, min(nc, nv)), descending."""
        system = self._moved("singular_values")
        pieces = [slice(i, i + 2048) for i in range(0, len(self), 2048)]
        return frozen(np.concatenate([system.singular_values(self.t[p], self.q[p]) for p in pieces]))

    def at(self, t: npt.ArrayLike, project: bool = False) -> Sample:
        """States at other times, by a quintic polynomial through position, velocity and acceleration.

        Args:
            t: a time [s] or several, within the range of the trajectory.
            project: project the states onto the constraints, like those of the steps.
        """
        times = np.atleast_1d(numbers(t, "t"))
        if times.ndim != 1 or np.any(times < self.t[0]) or np.any(times > self.t[-1]):
            raise InputError(
                f"t must lie within the trajectory, {self.t[0]:g} to {self.t[-1]:g} s; got {t!r}."
            )
        system = self._moved("at()")
        manifold, steps, o = Manifold(system.kernel, system.model), self._outcome.steps, self._outcome.options
        if o is not None and (o.t_eval is not None or o.store_every > 1) and len(steps) > 1:
            error = between_error(manifold, steps, times, system.units.unit, o.control_dt)
            if error > max(MOST_TOLERANCES * o.rtol, LEAST_SHOWN):
                said = "wrong" if error == np.inf else f"wrong by about {error:.1g}"
                warn(
                    "at() interpolates between states that are far apart, as t_eval or store_every kept them:"
                    f" these states may be {said}, relative to one radian or L and to the largest speed."
                    " Keep more, or name the times in t_eval."
                )
        if truth(project, "project") and o is not None:
            rows = Projector(system, o, manifold)(steps, times)
            q, v, a = rows.q, rows.v, rows.a
        else:
            held = o is not None and o.control_dt is not None
            q, v, a = Hermite(manifold, steps, held)(times)
        if np.ndim(t) == 0:
            return Sample(float(times[0]), q[0], v[0], a[0])
        return Sample(times, q, v, a)

    def _kept_at(self, t: Array) -> Trajectory:
        """The same run as with t_eval=t, from all of its steps."""
        system, options = self._moved("t_eval"), self._outcome.options
        assert options is not None
        kept = replace(options, t_eval=t)
        manifold = Manifold(system.kernel, system.model)
        recorder = TrajectoryRecorder(kept, Projector(system, kept, manifold))
        recorder.add(self._outcome.steps, self._outcome.u)
        steps, u = recorder.finish()
        return Trajectory(self.system, replace(self._outcome, steps=steps, u=u, options=kept))

    def _moved(self, what: str) -> System:
        if self.system is None:
            raise InputError(
                f"{what} needs the system that moved; load with Trajectory.load(path, system=...)."
            )
        return System(self.system)

    # ------------------------------------------------------------------ out of here

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame, one row per time (its index), columns "q.crank", "v.crank", ..., "energy".

        Measures follow under their names, those of several numbers as "tip[0]", "tip[1]", ...; reactions of
        a run with external wrenches are left out.
        """
        values = {name: getattr(self, name) for name in (*MATRICES, *VECTORS)}
        options, declared = self._outcome.options, self._moved("to_dataframe").model.measures
        loaded = options is not None and bool(options.external)
        measures = {n: self[n] for n, one in declared if not (loaded and one.of_reactions)}
        return dataframe(self.system, self.t, values, measures)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to one file, in one piece or not at all; see `load`."""
        derived = {name: getattr(self, name) for name in DERIVED}
        return save(path, self.system, self._outcome, derived, self.contacts if self._touches else None)

    @staticmethod
    def load(path: str | os.PathLike[str], system: Any = None) -> Trajectory:
        """Read a trajectory that `save` wrote.

        Args:
            path: the file.
            system: what moved; needed only where it holds Python functions, which a file cannot keep.
        """
        system, outcome, derived, contacts = load(path, system)
        out = Trajectory(system, outcome)
        out.__dict__.update({name: frozen(array) for name, array in derived.items()})
        if contacts is not None:
            out.__dict__["contacts"] = contacts
        return out

    def resume(
        self,
        t_end: float,
        *,
        control: Callable[..., Any] | None = None,
        tau: npt.ArrayLike | Callable[..., Any] | None = None,
        external: Mapping[str, Any] | None = None,
        events: Any = (),
        t_eval: npt.ArrayLike | None = None,
        progress: bool = False,
    ) -> Trajectory:
        """Continue to a later time; returns the whole trajectory, bit-identical to one run to there.

        Runs in full coordinates can be resumed, those that were interrupted and those loaded from a file too;
        with switches or dry friction not those from a file.

        Args:
            t_end: new end [s].
            control, tau, external, events: as in `simulate`; of a trajectory in memory the same as before
                unless given, of a loaded one to be given again. The state of a controller is not stored.
            t_eval: times to keep [s], after the present end; default: every step.
            progress: whether to show a progress bar.
        """
        given = {"control": control, "tau": tau, "external": external}
        given |= {"events": events, "t_eval": t_eval, "progress": progress}
        return self._resumed(t_end, given)

    def _resumed(self, t_end: float, given: Mapping[str, Any]) -> Trajectory:
        return Trajectory(self.system, resume(self.system, self._outcome, t_end, given)[0])

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Plot states, energy, drift and forces, returning Axes; see `sarrus.viz.plot`."""
        from ...viz.figures.trajectory import plot

        return plot(self, *args, **kwargs)

    def animate(self, *args: Any, **kwargs: Any) -> Any:
        """Show the motion, in a window or as a GIF or MP4 file; see `sarrus.viz.animation.animate`."""
        from ...viz.figures.animation import animate

        return animate(self, *args, **kwargs)

    def animation(self, fps: float = 30.0, **options: Any) -> Any:
        """The motion for a notebook, played in place in 3-D; see `sarrus.viz.animation`."""
        from ...viz.notebook import animation

        return animation(self, fps, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a report on the mechanism and this run as one HTML file; see `sarrus.viz.report`."""
        from ...viz.report import report

        return report(self, path, **options)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from ...viz.notebook import trajectory_html

        return trajectory_html(self)

    def export(self, *args: Any, **kwargs: Any) -> Path:
        """Write the motion as one HTML file that any browser plays in 3-D; see `sarrus.viz.pages.export`."""
        from ...viz.pages import export

        return export(self, *args, **kwargs)

    def studio(self, path: str | Path, **options: Any) -> Path:
        """Write one HTML file that plays the run, from any state of which one can go on by hand; see
        `sarrus.viz.studio`."""
        from ...viz.studios import studio

        return studio(self, path, **options)
