"""simulate: integrate the motion of a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from ..arrays import one_of
from ..dynamics.bearing_moments import ignored_loads
from ..dynamics.dry_friction import sticks
from ..errors import InputError, warn
from ..mechanism.core.contact_refusals import WAYS, has_contacts
from ..mechanism.mechanism import Mechanism
from .contacts.refusals import refuse_with_contacts, refuse_without_fixed_steps
from .events.events import UserWatch
from .events.switches import make_plan
from .modes.mode_run import ModeRun
from .run.option_checks import check_options
from .run.outcome import Status
from .run.run_loop import Simulation
from .stepping.options import Options
from .system.initial_state import initial_state
from .system.system import System
from .trajectory.switched_trajectory import SwitchedTrajectory
from .trajectory.trajectory import Trajectory


def simulate(
    system: Any,
    t_span: Any,
    q0: npt.ArrayLike | None = None,
    v0: npt.ArrayLike | None = None,
    *,
    control: Callable[..., Any] | None = None,
    control_dt: float | None = None,
    method: str = "auto",
    dt: float | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    formulation: str = "nullspace",
    correction: str = "project",
    energy: bool = False,
    events: Any = (),
    coordinates: Any = "full",
    progress: bool = False,
    tau: npt.ArrayLike | Callable[..., Any] | None = None,
    external: Mapping[str, Any] | None = None,
    baumgarte: tuple[float, float] | None = None,
    store_every: int = 1,
    switches: Any = (),
    stops: bool = False,
    jacobian: str = "analytic",
    projection_metric: str = "mass",
    softness: float | None = None,
    chart_rule: str = "quality",
    chart_thresholds: tuple[float, float] | None = None,
    contacts: str = "events",
) -> Trajectory:
    """Integrate the motion of a system with its constraints satisfied; returns a `Trajectory`.

    Ctrl-C, a controller that fails on the way or a numerical failure end the run early with all data up to
    there: `success`, `status` and `message` say so. A function that fails at the start raises. Limits of
    joints and actuators change nothing: where they are passed is an event of kind "limit" and a sentence in
    `message`. Stops (`stops`, `stop_stiffness`) do stop.

    Args:
        system: a `Mechanism` or a `CustomSystem`.
        t_span: start and end [s].
        q0: positions to start at (nq,) [rad, m]; default `system.default.q`.
        v0: velocities to start with (nv,) [rad/s, m/s]; default `system.default.v` without q0, else rest (or
            what drives prescribe).
        control: control(t, q, v) -> u (nu,) [N m, N], the inputs of the actuators.
        control_dt: sample time of the control [s]; u is held in between, and steps end at the samples.
            Default: the control is called at every stage of every step.
        method: integrator: "auto" (chooses its steps, explicit, and implicit while the motion is stiff; with
            dt, fixed steps of "rk4"), "rk4" (order 4), "dopri5" (order 5, chooses its steps), "radau" (the
            same, and implicit), or another one of those in docs/motion.md.
        dt: step [s], 1 ms for methods of fixed steps; of methods that choose their steps the first one.
        rtol, atol: relative and absolute error per step of methods that choose their steps; atol in [rad, m],
            by default 1e-10 in units of the mechanism (lengths times its length L).
        t_eval: times at which to keep the state [s], increasing; default: at every step.
        formulation: of the accelerations, see `Mechanism.forward_dynamics`; all but "nullspace" are slow.
        correction: "project" (positions and velocities back onto the constraints after every step),
            "baumgarte", "soft" (Baumgarte's terms through a damped inverse of J, for comparison: constraints
            give way near singular poses, [Spencer2004] 3.3) or "none".
        energy: also keep the energy of a conservative system, by scaling the velocity [Spencer2004] 3.1.3.
        events: functions g(t, q, v) -> float whose zeros are events; attributes `terminal` (bool or number of
            crossings) and `direction` (sign of the crossing) as in SciPy.
        coordinates: "full": all coordinates are integrated, or minimal ones, [Spencer2004] chapter 2:
            "partition" (some of the mechanism's), "tangent" (along the tangent space), "nullspace" (a basis
            that turns with the pose), names of independent coordinates, or a `Chart` or several. Changes of
            chart are events of kind "chart".
        progress: whether to show a progress bar.
        tau: applied generalized force (nv,) [N m, N], constant or tau(t, q, v).
        external: wrenches on bodies: {body: wrench or function of t}, a wrench being [force; moment] (6,) in
            world axes at the body's origin; or {body: (wrench, point in the body frame (3,))}.
        baumgarte: gains (alpha, beta) [1/s] of correction="baumgarte" and "soft"; default 0.1 / dt each.
        store_every: record every n-th step, and the last one.
        switches: `Switch` and `Contact` objects: constraints that close and open during the run. The result
            is a `SwitchedTrajectory`; impacts are on its events.
        stops: whether the limits of the coordinates are hard stops, hit without rebound.
        jacobian: of implicit methods: "analytic" or "finite_difference", always used for user functions.
        projection_metric: of correction="project": "mass" (the correction of least kinetic energy) or
            "euclidean" (the smallest one, lengths divided by L, [Aghili2005] eq. (37), for comparison).
        softness: of correction="soft": singular values of J (without units) below it give way, the epsilon
            of the damped inverse sigma / (sigma^2 + epsilon^2); default 1e-3.
        chart_rule: when a run in minimal coordinates changes its chart: "quality" (it determines the motion
            less well than at its best) or "condition" (number of the matrix that is inverted, [Spencer2004]
            2.3.3.1, remark 1).
        chart_thresholds: (leave, enter) of that rule. "quality": part of the best quality below which a chart
            is left and above which one of the user's is entered again, default (0.6, 0.7), (0.5, 0.7) for
            charts of the library. "condition": condition numbers, default (20, 10).
        contacts: of surfaces that may touch: "events" (each touch, impact, stick, slip and lift is an event,
            and the accuracy is that of rtol; `Trajectory.contacts`), "steps" (fixed steps dt, changes at
            their ends: of order 1 there, of that of the method in between) or "ignore" (they go through
            each other).

    Example:

        >>> import sarrus as sr
        >>> run = sr.simulate(sr.library.four_bar(), (0, 0.5))
        >>> run.success, run.message, bool(run.drift.max() < 1e-12)
        (True, 'Reached the end, t = 0.5 s.', True)
    """
    given = dict(locals())
    given["contacts"] = _contact_way(system, contacts)
    if given["contacts"] != "ignore":
        refuse_with_contacts(system, given)
        given["jacobian"] = "finite_difference"
    no_switches = switches is None or (isinstance(switches, (list, tuple)) and not switches)
    switched = stops or not no_switches
    plan = make_plan(system, switches, stops) if switched else None
    options = check_options(System(system if plan is None else plan.mech), t_span, given)
    options = replace(options, contacts=given["contacts"])
    if options.contacts == "steps":
        refuse_without_fixed_steps(options)
    if plan is None and not _changes(system, options):
        moved = System(system)
        q, v = initial_state(moved, q0, v0, options.t0)
        users = UserWatch(options.events, options.t0, q, v)
        return _begun(Trajectory(system, Simulation(moved, options, users, q, v).run()))
    plan = plan or make_plan(system, (), False)
    modes = ModeRun(system, plan, options)
    q, v = initial_state(System(modes.start_mechanism), q0, v0, options.t0)
    modes.require_outside(q)
    options = replace(options, events=(*options.events, *modes.events()))
    users = UserWatch(options.events, options.t0, q, v)
    outcome = Simulation(modes.whole, options, users, q, v, modes=modes).run()
    if switched:
        return _begun(SwitchedTrajectory(plan.mech, outcome, modes))
    return _begun(Trajectory(system, outcome))


def _contact_way(system: Any, contacts: Any) -> str:
    """How a run treats surfaces: "ignore" where nothing can touch."""
    way = one_of(contacts, "contacts of simulate", WAYS)
    return way if isinstance(system, Mechanism) and has_contacts(system.model) else "ignore"


def _changes(system: Any, options: Options) -> bool:
    """Whether the mode of a run without switches can change."""
    return isinstance(system, Mechanism) and (sticks(system.model) or options.contacts != "ignore")


def _begun(run: Trajectory) -> Trajectory:
    """The run; one that a function of the user's stopped at its start is an error in that function.

    Warns where friction by load ignores what bearings carry.
    """
    if run.status == Status.STOPPED and len(run.t) <= 1:
        raise InputError(run.message)
    model = getattr(run.system, "model", None)
    if model is not None and run.success and any(force.by_load for _, force in model.forces):
        ignored = ignored_loads(model, lambda name: run.reaction(name, "B"))
        warn(ignored) if ignored else None
    return run
