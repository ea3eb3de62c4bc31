"""Checks of what users give as derivatives: rates of drives, J, b and gamma of their rows, by differences.

A derivative is accepted where it agrees with some difference, of several steps and from either side: fast
functions need short steps, corners have two slopes. What is refused is wrong by 0.1 % or more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..differences import slope
from ..errors import InputError, warn

if TYPE_CHECKING:
    from ..models.model import Driver
    from .user_rows import CustomRows

STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # [s], or of a motion [rad], times L [m]
WRONG = 1e-3  # relative error that is refused
ROUNDING = 1e-14  # of the values of a function, relative
TINY = 1e-300
SAMPLES = 64  # of a drive over a run, between which jumps are sought
MOST_STEPS = 2000  # of a run, at which a drive is compared with its rates
NEARBY = np.array([-1.1e-3, -0.6e-3, 0.0, 0.7e-3, 1.3e-3])  # [s]: where drives are looked at around a time
HARDLY = 1e-6  # of the whole travel: drives that change by less hardly move
LOST_MOTION = 0.01  # of the whole travel of a drive: what its rates may miss
JUMP_WIDTH = 1e-9  # [s], of the interval in which a jump is located


def check_drive(name: str, drive: Driver, times: Sequence[float]) -> None:
    """Refuse a rate or acceleration that contradicts its function at one of the times [s]."""
    function, rate, acceleration = drive.function, drive.rate, drive.acceleration
    for t in times:
        if rate is not None:
            _compare(f"rate of Drive {name!r}", "function", rate, function, t)
        if acceleration is not None and rate is not None:
            _compare(f"acceleration of Drive {name!r}", "rate", acceleration, rate, t)
        elif acceleration is not None:

            def slopes(x: float) -> float:
                return slope(lambda s: float(function(x + s)), 1e-3)

            _compare(f"acceleration of Drive {name!r}", "function", acceleration, slopes, t)


def _compare(
    what: str, of: str, derivative: Callable[[float], float], f: Callable[[float], float], t: float
) -> None:
    """Refuse a derivative at t that agrees with no difference of f."""
    given, best, shown = float(derivative(t)), math.inf, math.nan
    for found, rounding in _differences(lambda s: float(f(t + s))):
        size = max(abs(given), abs(found), rounding / WRONG)
        error = abs(found - given) / size if size > 0.0 else 0.0
        if error < best:
            best, shown = error, found
    if WRONG < best < math.inf:
        raise InputError(
            f"{what} contradicts its {of}: it says {given:.6g} at t = {t:g} s, differences of the {of} say"
            f" {shown:.6g}. Correct one of them, or leave the derivative out."
        )


def _differences(f: Callable[[float], float]) -> Iterator[tuple[float, float]]:
    """f'(0) and its rounding, for several steps: central, forward, backward, where f is defined."""
    middle = f(0.0)
    for h in STEPS:
        for side in (0.0, h, -h):
            try:
                found = (4.0 * f(side) - f(2.0 * side) - 3.0 * middle) / (2.0 * side) if side else slope(f, h)
            except Exception:  # not defined there, such as before the start
                continue
            if math.isfinite(found):
                yield found, ROUNDING * (abs(middle) / h + abs(found))


def check_jumps(name: str, drive: Driver, t0: float, t1: float) -> None:
    """Refuse a drive whose function jumps between t0 and t1 [s], as far as samples see it.

    The interval of the largest change is halved until a jump is all that can be left of it.
    """
    times = np.linspace(t0, t1, SAMPLES + 1)
    values = np.array([float(drive.function(float(t))) for t in times])
    k = int(np.argmax(np.abs(np.diff(values))))
    (a, b), (low, high) = times[k : k + 2].tolist(), values[k : k + 2].tolist()
    whole = abs(high - low)
    while b - a > max(JUMP_WIDTH, 4.0 * math.ulp(max(abs(a), abs(b)))):
        middle = 0.5 * (a + b)
        value = float(drive.function(middle))
        if abs(value - low) > abs(high - value):
            b, high = middle, value
        else:
            a, low = middle, value
    if abs(high - low) > 0.1 * whole and whole > ROUNDING * max(abs(low), abs(high)) * 1e3:
        raise InputError(
            f"function of Drive {name!r} jumps from {low:.6g} to {high:.6g} at t = {b:.6g} s; no motion"
            " follows it. Blend it over some time, with its rate continuous."
        )


def check_speed(name: str, drive: Driver, t0: float, t1: float) -> None:
    """Warn of a drive without derivatives that lose its motion around a quarter of some times [s].

    Times at which it hardly moves, such as those far from a pulse, do not count.
    """
    if drive.rate is not None and drive.acceleration is not None:
        return
    times = np.linspace(t0, t1, SAMPLES // 4 + 1)[1:-1, None] + NEARBY
    order = 0 if drive.rate is None else 1
    try:
        values = np.array([[float(drive.function(t)) for t in near] for near in times.tolist()])
        moving = np.ptp(values, axis=1) > HARDLY * np.ptp(values)
        missed = sum(_loses_motion(drive, near, order) for near in times[moving])
    except InputError:  # not a number somewhere: the run says so when it gets there
        return
    if 4 * missed > len(times):
        warn(
            f"Drive {name!r} changes too fast, or has too many corners, for differences over 4 ms: its speeds"
            " and forces may be wrong. Give rate= and acceleration=."
        )


def follows_its_rates(drive: Driver, times: Array) -> bool:
    """Whether a drive whose rate is found by differences moves as that says; times (n,): of the steps [s]."""
    return drive.rate is not None or len(times) < 2 or not _loses_motion(drive, times, 0)


def _loses_motion(drive: Driver, times: Array, order: int) -> bool:
    """Whether the derivative of f (order 0) or f' (1) adds up to another motion between times (n,) [s].

    Its integral over a step is compared with the change, for the shortest steps: pulses make steps short.
    """
    some = times[:: 1 + len(times) // MOST_STEPS].tolist()
    travel = np.sum(np.abs(np.diff([_value(drive, t, order) for t in some])))
    shortest = np.argsort(np.diff(times))[: MOST_STEPS // 8]
    missing = 0.0
    for a, b in zip(times[shortest].tolist(), times[shortest + 1].tolist(), strict=True):
        (f0, r0), (_, middle), (f1, r1) = (drive.values(t)[order : order + 2] for t in (a, 0.5 * (a + b), b))
        missing += abs(f1 - f0 - (b - a) / 6.0 * (r0 + 4.0 * middle + r1))
    return bool(missing > LOST_MOTION * travel)


def _value(drive: Driver, t: float, order: int) -> float:
    """f or f' at time t [s]; what is given of them costs one call."""
    return float(drive.function(t)) if order == 0 else drive.values(t)[1]


def check_rows(rows: CustomRows, q: Array, t: float, holonomic: bool) -> None:
    """Refuse J, b or gamma of a CustomConstraint that contradict differences at q (nq,), t [s]."""
    system, given = rows.system, rows.given
    rng = np.random.default_rng(1853)
    v = system.unit * rng.uniform(0.5, 1.0, system.nv) * rng.choice([-1.0, 1.0], system.nv)

    def at(s: float) -> Array:
        return system.integrate(q, s * v)

    Jv = rows.J(q, t) @ v
    if holonomic and given.J is not None:
        _compare_rows(rows.name, "J v", Jv, lambda s: rows.phi(at(s), t), "phi along v")
    if holonomic and given.b is not None:
        _compare_rows(rows.name, "-b", -rows.b(q, t), lambda s: rows.phi(q, t + s), "phi in time")
    if given.gamma is not None:
        _compare_rows(
            rows.name,
            "-gamma",
            -rows.gamma(q, v, t),
            lambda s: rows.J(at(s), t + s) @ v - rows.b(at(s), t + s),
            "J v - b along the motion",
        )


def _compare_rows(name: str, what: str, stated: Array, f: Callable[[float], Array], of: str) -> None:
    """Refuse a derivative at s = 0 that agrees with no difference of f(s), row by row."""
    try:
        found, size = [(h, slope(f, h)) for h in STEPS], np.abs(f(0.0))
    except Exception:  # not defined around this pose: nothing to compare with
        return
    wrong = np.full(len(stated), np.inf)
    shown = np.zeros(len(stated))
    for h, x in found:
        larger = np.maximum(np.abs(x), np.abs(stated)) + ROUNDING * size / h / WRONG
        error = np.abs(x - stated) / (larger + WRONG * np.max(larger) + TINY)
        shown, wrong = np.where(error < wrong, x, shown), np.minimum(wrong, error)
    row = int(np.argmax(wrong))
    if wrong[row] > WRONG:
        raise InputError(
            f"constraint {name!r}: {what} of row {row} is {stated[row]:.6g}, but differences of {of} give"
            f" {shown[row]:.6g} (v of about one in every coordinate). Correct it, or leave it out."
        )
