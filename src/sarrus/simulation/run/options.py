"""Options of a run, checked at the door: what a bad argument to `simulate` sounds like."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import state
from ...dynamics.forward import check_formulation
from ...errors import InputError
from ...projection.user_chart import Chart
from ..charts.chart_selector import check_coordinates
from ..trajectory.events import UserEvent, user_events
from .system import Plant

Array = npt.NDArray[np.float64]

METHODS = {"rk4": 0, "semi_implicit_euler": 1, "dopri5": 2, "radau": 3}
CORRECTIONS = {"none": 0, "project": 1, "baumgarte": 2}
ADAPTIVE = ("dopri5", "radau")
SLOPES = {"differences": 0, "analytic": 1, "feedback": 2}  # kernels/integrate/implicit/iteration_matrix.hpp
JACOBIANS = ("analytic", "finite_difference")
BAUMGARTE_PER_STEP = 0.1  # default of alpha dt and of beta dt
SHORTEST = 1e-14  # of a step, relative to the largest time


@dataclass(frozen=True)
class Options:
    """A checked call of `simulate`; see there for what each field means."""

    t0: float
    t1: float
    control: Callable[..., Any] | None
    control_dt: float | None
    method: str
    dt: float
    rtol: float
    atol: float
    t_eval: Array | None
    formulation: str
    coordinates: str | tuple[Chart, ...]
    correction: str
    baumgarte: tuple[float, float]
    energy: bool
    events: tuple[UserEvent, ...]
    tau: Array | Callable[..., Any] | None
    external: Mapping[str, Any]
    store_every: int
    progress: bool
    jacobian: str

    @property
    def adaptive(self) -> bool:
        """Whether the method chooses its steps."""
        return self.method in ADAPTIVE

    @property
    def feedback(self) -> bool:
        """Whether forces from outside depend on the state at every stage."""
        held = self.control is None or self.control_dt is not None
        return not held or callable(self.tau) or bool(self.external)

    def compiled(self, energy: float = 0.0, sampled: bool = False, known: bool = True) -> dict[str, Any]:
        """The options as the compiled run takes them.

        Args:
            energy: value to keep [J], where `energy=True`.
            sampled: whether inputs are asked for at the samples only.
            known: whether the kernel has the derivatives of the system.
        """
        differences = self.jacobian == "finite_difference" or not known
        alpha, beta = self.baumgarte
        longest = max(abs(self.t0), abs(self.t1))
        return {
            "method": METHODS[self.method],
            "correction": CORRECTIONS[self.correction],
            "damping": 2.0 * alpha,
            "stiffness": beta * beta,
            "rtol": self.rtol,
            "atol": self.atol,
            "least_step": SHORTEST * longest,
            "keep_energy": self.energy,
            "energy": energy,
            "slope": SLOPES["differences" if differences else "feedback" if self.feedback else "analytic"],
            "sampled": sampled,
            "sample_dt": math.inf if self.control_dt is None else self.control_dt,
        }


def check_options(plant: Plant, t_span: Any, given: Mapping[str, Any]) -> Options:
    """Options from the arguments of `simulate`, or an error that says what is wrong with them."""
    t0, t1 = _span(t_span)
    method = _one_of("method", given["method"], METHODS)
    correction = _one_of("correction", given["correction"], CORRECTIONS)
    coordinates = _coordinates(plant, correction, given)
    check_formulation(given["formulation"], None)
    dt = _step("dt", given["dt"], t0, t1)
    control, control_dt = _control(plant, given["control"], given["control_dt"], t0, t1)
    if control_dt is not None:  # a whole number of equal steps between samples
        dt = control_dt / math.ceil(control_dt / dt - 1e-9)
    _energy(plant, correction, given)
    _implicit(method, correction, given)
    return Options(
        t0=t0,
        t1=t1,
        control=control,
        control_dt=control_dt,
        method=method,
        dt=dt,
        rtol=_positive("rtol", given["rtol"]),
        atol=_positive("atol", given["atol"]),
        t_eval=_t_eval(given["t_eval"], t0, t1),
        formulation=given["formulation"],
        coordinates=coordinates,
        correction=correction,
        baumgarte=_baumgarte(given["baumgarte"], correction, dt),
        energy=bool(given["energy"]),
        events=user_events(given["events"]),
        tau=_tau(plant, given["tau"]),
        external=_external(plant, given["external"]),
        store_every=_count("store_every", given["store_every"]),
        progress=bool(given["progress"]),
        jacobian=_one_of("jacobian", given["jacobian"], JACOBIANS),
    )


def check_given(plant: Plant, options: Options, given: Mapping[str, Any]) -> Options:
    """The same options with other control, tau and external, checked."""
    control, _ = _control(plant, given["control"], None, options.t0, options.t1)
    tau, external = _tau(plant, given["tau"]), _external(plant, given["external"])
    return dataclasses.replace(options, control=control, tau=tau, external=external)


def _real(value: Any) -> float:
    """A number, or NaN for what is none."""
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
    return int(value)


def _control(
    plant: Plant, control: Any, control_dt: Any, t0: float, t1: float
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
    if plant.nu == 0:
        raise InputError(
            f"{plant.name!r} has no actuators for control to drive: name some with spec.actuate(...), or"
            " apply generalized forces with tau=."
        )
    return control, None if control_dt is None else _step("control_dt", control_dt, t0, t1)


def _t_eval(value: Any, t0: float, t1: float) -> Array | None:
    if value is None:
        return None
    times = state(np.atleast_1d(value), "t_eval", np.size(value))
    if times.ndim != 1 or np.any(np.diff(times) <= 0.0):
        raise InputError("t_eval must be a list of increasing times [s].")
    if np.any(times < t0) or np.any(times > t1):
        raise InputError(
            f"t_eval must lie within t_span = ({t0:g}, {t1:g}), got times from {times[0]:g} to {times[-1]:g}."
        )
    return times


def _baumgarte(value: Any, correction: str, dt: float) -> tuple[float, float]:
    if value is None:
        gain = BAUMGARTE_PER_STEP / dt if correction == "baumgarte" else 0.0
        return gain, gain
    if correction != "baumgarte":
        raise InputError(
            f'baumgarte gains are for correction="baumgarte" only; got correction="{correction}".'
        )
    alpha, beta = state(value, "baumgarte (alpha, beta) [1/s]", 2).tolist()
    if alpha < 0.0 or beta < 0.0:
        raise InputError(f"baumgarte gains (alpha, beta) [1/s] must not be negative, got {value!r}.")
    return alpha, beta


def _tau(plant: Plant, value: Any) -> Array | Callable[..., Any] | None:
    if value is None or callable(value):
        return value  # type: ignore[no-any-return]
    tau = state(value, "tau", plant.nv, repr(plant.name))
    if tau.ndim != 1:
        raise InputError(
            f"tau must have shape ({plant.nv},), got {tau.shape}; for a function of time give one."
        )
    return tau


def _external(plant: Plant, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"external must be a mapping {{body: wrench or function of t}}, got {value!r}.")
    if plant.supplies_inertia:
        raise InputError(f"external wrenches need bodies, and {plant.name!r} has none; use tau= instead.")
    for body in value:
        plant.model.body_index(body, "external")
    return value


def _coordinates(plant: Plant, correction: str, given: Mapping[str, Any]) -> str | tuple[Chart, ...]:
    coordinates = check_coordinates(plant, given["coordinates"])
    if coordinates != "full" and given["method"] == "radau":
        raise InputError('method="radau" works in full coordinates only: leave coordinates out.')
    if coordinates != "full" and (correction != "project" or given["energy"]):
        raise InputError(
            "minimal coordinates stay on the constraints by themselves: with coordinates other than"
            f' "full" leave correction (got "{correction}") and energy (got {given["energy"]!r}) out.'
        )
    return coordinates


def _energy(plant: Plant, correction: str, given: Mapping[str, Any]) -> None:
    """energy=True is for systems that keep theirs."""
    if not given["energy"]:
        return
    reason = "" if correction == "project" else f'correction is "{correction}", not "project"'
    for name in ("control", "tau", "external"):
        if given[name] is not None:
            reason = f"{name} does work"
    reason = reason or plant.work_done()
    if reason:
        raise InputError(
            f"energy=True keeps the energy of conservative systems only, but here {reason}. Leave energy out."
        )


def _implicit(method: str, correction: str, given: Mapping[str, Any]) -> None:
    """What "radau" cannot do: its stages lie on the constraints, in the kernel's formulation."""
    if method != "radau":
        return
    for what, value, only in (
        ("correction", correction, "project"),
        ("formulation", given["formulation"], "nullspace"),
        ("energy", bool(given["energy"]), False),
    ):
        if value != only:
            raise InputError(f'method="radau" works with {what}={only!r} only, got {value!r}.')
