"""Derivatives by parameters of the states of a run with freedoms left, to about the tolerance of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...constraints.user_forces import forces_of_user
from ...dynamics.dry_friction import sticks
from ...mechanism.mechanism import Mechanism
from ...mechanism.variants.design_variants import model_slopes
from ..run.outcome import Status
from ..system.system import System
from ..trajectory.trajectory import Trajectory
from .applied_forces import AppliedForces
from .jumps import jumps, suspects
from .propagation import Propagation
from .start_slopes import Start, start_slopes
from .stops import Switches, switches
from .variational_equation import NotSmoothError, VariationalEquation

OF_RTOL = 0.1  # error of each segment of the variational equation over rtol of the run
FIXED_STEPS = 1e-9  # the same where steps are of fixed size
NOTHING = 1e-13  # change by a whole parameter, without units, that is rounding


@dataclass(frozen=True)
class RunSlopes:
    """Derivatives along a run by P parameters, at n times.

    Attributes:
        q: of tangent increments of the pose (P, n, nv).
        v: of velocities (P, n, nv).
        tau: of applied forces (P, n, nv).
        exact: whether functions of the user's were differentiated by dual numbers.
    """

    q: Array
    v: Array
    tau: Array
    exact: bool


def may_be_smooth(mech: Mechanism, options: Mapping[str, Any]) -> bool:
    """Whether a run with these options of `simulate` may have derivatives by parameters.

    It has none, or unknown ones, with samples of a control, wrenches on bodies, constraints that close and
    open, friction that sticks, corrections other than projections, and rows that Python computes.
    """
    usual = {"correction": "project", "energy": False, "stops": False}
    if any(options.get(name, x) != x for name, x in usual.items()):
        return False
    if options.get("control_dt") is not None or any(options.get(x) for x in ("external", "switches")):
        return False
    return not mech.model.customs and not sticks(mech.model)


def run_slopes(run: Trajectory, at: Trajectory, names: Sequence[str], start: Start) -> RunSlopes | None:
    """Derivatives at the states of `at`, which lie on the run; None where differences must serve.

    Args:
        run: all steps of a run.
        at: the same run at other times.
        names: of parameters.
        start: how it started.

    Raises:
        AssemblyError: a parameter opens an overconstrained loop.
    """
    mech, options = run.system, run._outcome.options
    if not names or not _is_smooth(run) or options is None or len(run.t) < 2:
        return None
    model = model_slopes(mech, names)
    if model is None:
        return None
    forces = AppliedForces(System(mech), options)
    if not forces.are_known(run._outcome.steps, len(names)):
        return None
    equation = VariationalEquation(run, model, len(names), forces)
    least = NOTHING / np.array([abs(mech.parameters[name]) or 1.0 for name in names])
    speed = float(np.max(np.abs(run.v) / mech.units.unit, initial=0.0)) or 1.0 / (options.t1 - options.t0)
    tolerance = OF_RTOL * options.rtol if options.integrator.adaptive else FIXED_STEPS
    try:
        begin = start_slopes(mech, names, model, start)
        at_stops = switches(equation, model, len(names))
        found = Propagation(equation, at_stops, tolerance, np.array([least, speed * least]))
        if _jumps(equation, run, found, at_stops):
            return None
        found.solve(begin)
    except (NotSmoothError, np.linalg.LinAlgError):
        return None
    dq, dv = found.at(at.t)
    by_q, by_v = forces.slopes(at.t, at.q, at.v)
    parts = (dq, dv, by_q @ dq + by_v @ dv)
    q, v, tau = (np.ascontiguousarray(np.moveaxis(x, -1, 0)) for x in parts)
    return RunSlopes(q, v, tau, forces.exact)


def _has_contacts(run: Trajectory) -> bool:
    stretches = run._outcome.stretches
    return bool(stretches) and stretches[0].part.touching is not None


def _comes_near_singular(run: Trajectory) -> bool:
    """Whether an event of a run is a singular pose or one that it passes closely."""
    return any(event.kind in ("singular", "near_miss") for event in run.events)


def _forces_know_duals(run: Trajectory) -> bool:
    """Whether all forces of users act on coordinates and take dual numbers."""
    q, v, t = run.q[0], run.v[0], float(run.t[0])
    forces = forces_of_user(run.system.evaluator)
    return all(not force.given.bodies() and force.knows_duals(q, v, t) for force in forces)


def _is_smooth(run: Trajectory) -> bool:
    """Whether nothing that is known of a run makes derivatives of its states jump."""
    mech, rank = run.system, run.rank
    if _has_contacts(run) or run.status != Status.END or _comes_near_singular(run):
        return False
    if not _forces_know_duals(run):
        return False
    return bool(np.all(rank == rank[0])) and not mech.evaluator.loses_rank(run.q[0], run.t[0], int(rank[0]))


def _jumps(equation: VariationalEquation, run: Trajectory, found: Propagation, at_stops: Switches) -> bool:
    """Whether the acceleration jumps somewhere else along the run."""
    speed, rise = (float(np.max(np.abs(x) / equation.unit, initial=0.0)) for x in (run.v, run.a))
    largest = max(rise, speed * speed)
    t, apart = found.differences()
    for i in suspects(t, apart, largest).tolist():
        begin, end = at_stops.inside(t[i : i + 1], 1.0), at_stops.inside(t[i + 1 : i + 2], -1.0)
        if jumps(equation.acceleration, float(begin[0]), float(end[0]), largest):
            return True
    return False
