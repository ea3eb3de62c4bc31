"""Checks of the arguments of `simulate`, and their error messages."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..._kernel import Method
from ...arrays import Array, numbers, require_memory, state, takes
from ...dynamics.forward import check_formulation
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ...projection.user_chart import Chart
from ..charts.chart_selector import check_coordinates
from ..events.events import user_events
from ..stepping.chart_rules import chart_rule
from ..stepping.methods import CORRECTIONS, METHODS
from ..stepping.options import SHORTEST, Options
from ..system.system import System
from .correction_checks import correction_options

RTOL, FIXED_STEP = 1e-8, 1e-3  # defaults of simulate; [s]
IMPLICIT_NEEDS = {
    "coordinates": "full",
    "correction": "project",
    "projection_metric": "mass",
    "formulation": "nullspace",
    "energy": False,
}
JACOBIANS = ("analytic", "finite_difference")
MOST_COUNT = 2**62  # fits into 64 bits; no run has so many steps


def check_options(system: System, t_span: Any, given: Mapping[str, Any]) -> Options:
    """Options from the arguments of `simulate`, or an error that says what is wrong with them."""
    t0, t1 = _span(t_span)
    method = _method(given)
    correction = _one_of("correction", given["correction"], CORRECTIONS)
    coordinates = _coordinates(system, method, correction, given)
    check_formulation(given["formulation"], None)
    dt = min(FIXED_STEP, t1 - t0) if given["dt"] is None else _step("dt", given["dt"], t0, t1)
    control, control_dt = _control(system, given["control"], given["control_dt"], t0, t1)
    if control_dt is not None and control_dt < t1 - t0:  # a whole number of equal steps between samples
        dt = control_dt / max(1, math.ceil(control_dt / dt - 1e-9))
    _energy(system, correction, given, (t0, t1))
    _implicit(method, correction, given)
    if system.has_drives:
        system.evaluator.check_drives(t0, t1)
    return Options(
        t0=t0,
        t1=t1,
        control=control,
        control_dt=control_dt,
        method=method.name,
        dt=dt,
        rtol=_positive("rtol", given["rtol"]),
        atol=None if given["atol"] is None else _positive("atol", given["atol"]),
        t_eval=_t_eval(system, given["t_eval"], t0, t1),
        formulation=given["formulation"],
        coordinates=coordinates,
        correction=correction,
        **correction_options(given, correction, dt),
        chart_rule=chart_rule(given),
        energy=bool(given["energy"]),
        events=user_events(given["events"]),
        tau=_tau(system, given["tau"]),
        external=_external(system, given["external"]),
        store_every=_count("store_every", given["store_every"]),
        progress=bool(given["progress"]),
        jacobian=_one_of("jacobian", given["jacobian"], JACOBIANS),
        switched=bool(given["stops"]) or given["switches"] not in (None, [], ()),
        first_step=0.0 if given["dt"] is None else dt,
    )


def _method(given: Mapping[str, Any]) -> Method:
    """The method; "auto" is fixed steps with a dt alone, and explicit where implicit steps cannot be."""
    name = _one_of("method", given["method"], METHODS)
    if not METHODS[name].switches:
        return METHODS[name]
    if given["dt"] is not None and given["atol"] is None and _is(given["rtol"], RTOL):
        return METHODS["rk4"]
    explicit = any(not _is(given[what], only) for what, only in IMPLICIT_NEEDS.items())
    return METHODS["dopri5" if explicit else name]


def _is(value: Any, usual: Any) -> bool:
    """Whether an option has its usual value; arrays, which no option is, have not."""
    return not isinstance(value, np.ndarray) and bool(value == usual)


def check_given(system: System, options: Options, given: Mapping[str, Any]) -> Options:
    """The same options with other control, tau and external, checked."""
    control, _ = _control(system, given["control"], None, options.t0, options.t1)
    tau, external = _tau(system, given["tau"]), _external(system, given["external"])
    return dataclasses.replace(options, control=control, tau=tau, external=external)


def _real(value: Any) -> float:
    """The value as a float; NaN if it is not a number."""
    if isinstance(value, (bool, str, bytes)) or value is None:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _span(t_span: Any) -> tuple[float, float]:
    try:
        start, end = t_span
    except (TypeError, ValueError):
        raise InputError(
            f"t_span must be a pair (start, end) of times [s], got {t_span!r}; for T seconds write (0, T)."
        ) from None
    t0, t1 = _real(start), _real(end)
    if not (math.isfinite(t0) and math.isfinite(t1)):
        raise InputError(f"t_span must be two finite times (start, end) [s], got {t_span!r}.")
    if t1 <= t0:
        raise InputError(
            f"t_span must run forward, start before end, got ({t0:g}, {t1:g}). To go back in time, start at"
            " the end with the velocity reversed: simulate(system, (0, T), q, -v)."
        )
    return t0, t1


def _one_of(what: str, value: Any, allowed: Mapping[str, Any] | Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        known = ", ".join(f'"{name}"' for name in allowed)
        raise InputError(f"{what} must be one of {known}; got {value!r}.")
    return value


def _positive(what: str, value: Any) -> float:
    x = _real(value)
    if not (math.isfinite(x) and x > 0.0):
        raise InputError(f"{what} must be a finite positive number, got {value!r}.")
    return x


def _step(what: str, value: Any, t0: float, t1: float) -> float:
    x = _positive(what, value)
    if x < SHORTEST * max(abs(t0), abs(t1)):
        raise InputError(f"{what} = {x:g} s is below the resolution of time near t = {t1:g} s; take more.")
    return x


def _count(what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{what} must be a whole number of steps, at least 1; got {value!r}.")
    return min(int(value), MOST_COUNT)


def _control(
    system: System, control: Any, control_dt: Any, t0: float, t1: float
) -> tuple[Callable[..., Any] | None, float | None]:
    if control is None:
        if control_dt is not None:
            raise InputError(
                f"control_dt = {control_dt!r} without control: give a controller, or leave it out."
            )
        return None, None
    if not callable(control):
        raise InputError(
            f"control must be a callable control(t, q, v) -> u, got {control!r}; for constant inputs write"
            " control=lambda t, q, v: u."
        )
    takes(control, "t, q, v", "control")
    if system.nu == 0:
        raise InputError(
            f"{system.name!r} has no actuators for control to drive: name some with spec.actuate(...), or"
            " apply generalized forces with tau=."
        )
    return control, None if control_dt is None else _step("control_dt", control_dt, t0, t1)


def _t_eval(system: System, value: Any, t0: float, t1: float) -> Array | None:
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        states = 8.0 * value.size * (system.nq + 3 * system.nv + system.nu)
        require_memory(
            states, f"t_eval with {value.size} times", "Take fewer, or shorter runs with resume()."
        )
    times = np.atleast_1d(numbers(value, "t_eval"))
    if times.ndim != 1 or not len(times) or np.any(np.diff(times) <= 0.0):
        raise InputError("t_eval must be a list of increasing times [s], at least one.")
    if np.any(times < t0) or np.any(times > t1):
        raise InputError(
            f"t_eval must lie within t_span = ({t0:g}, {t1:g}), got times from {times[0]:g} to {times[-1]:g}."
        )
    return times


def _tau(system: System, value: Any) -> Array | Callable[..., Any] | None:
    if value is None:
        return None
    if callable(value):
        takes(value, "t, q, v", "tau")
        return value  # type: ignore[no-any-return]
    tau = state(value, "tau", system.nv, repr(system.name))
    if tau.ndim != 1:
        raise InputError(
            f"tau must have shape ({system.nv},), got {tau.shape}; for a function of time give one."
        )
    return tau


def _external(system: System, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"external must be a mapping {{body: wrench or function of t}}, got {value!r}.")
    if system.supplies_inertia:
        raise InputError(f"external wrenches need bodies, and {system.name!r} has none; use tau= instead.")
    for body, wrench in value.items():
        system.model.body_index(body, "external")
        function = wrench[0] if isinstance(wrench, tuple) and wrench else wrench
        if callable(function):
            takes(function, "t", f"the external wrench on {body!r}")
    return value


def _coordinates(
    system: System, method: Method, correction: str, given: Mapping[str, Any]
) -> str | tuple[Chart, ...]:
    coordinates = check_coordinates(system, given["coordinates"])
    if coordinates != "full" and (correction != "project" or given["energy"]):
        raise InputError(
            "minimal coordinates stay on the constraints by themselves: with coordinates other than"
            f' "full" leave correction (got "{correction}") and energy (got {given["energy"]!r}) out.'
        )
    return coordinates


def _options_against_energy(correction: str, given: Mapping[str, Any]) -> str:
    """Which option changes the energy, in words; empty: none."""
    reason = "" if correction == "project" else f'correction is "{correction}", not "project"'
    for name in ("control", "tau", "external"):
        if given[name] is not None:
            reason = f"{name} does work"
    return reason


def _energy(system: System, correction: str, given: Mapping[str, Any], span: tuple[float, float]) -> None:
    """Refuse energy=True where the energy of the system changes."""
    if not given["energy"]:
        return
    reason = _options_against_energy(correction, given)
    reason = reason or system.work_done() or _moved_by_time(system, span)
    if reason:
        raise InputError(
            f"energy=True keeps the energy of conservative systems only, but here {reason}. Leave energy out."
        )


def _moved_by_time(system: System, span: tuple[float, float]) -> str:
    """Why rows of the user's functions do work: they change with time; empty where none does."""
    if not system.model.customs or not isinstance(system.original, Mechanism):
        return ""
    mech = system.original
    somewhere = mech.integrate(mech.neutral(), 0.37 * system.units.unit)  # sin(q) sin(t) is not 0 there
    for rows in system.model.customs:
        if rows.constraint.depends_on_time(somewhere, span):
            return f"constraint {rows.name!r} changes with time and does work"
    return ""


def _implicit(method: Method, correction: str, given: Mapping[str, Any]) -> None:
    """Refuse options that implicit methods do not support: their stages are projected by the kernel."""
    if not method.implicit:
        return
    for what, only in IMPLICIT_NEEDS.items():
        if given[what] != only:
            raise InputError(f'method="{method.name}" works with {what}={only!r} only, got {given[what]!r}.')
