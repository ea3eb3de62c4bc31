"""References: desired position, velocity and acceleration of outputs as functions of time.

A reference is a function of time that returns (x, x', x''). For outputs with values in R^k these are arrays
(k,); for a body pose x is a `Pose`, x' and x'' are the velocity and acceleration [linear; angular] (6,)
of its point in world axes. A number, an array or a Pose alone is a set-point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...arrays import Array, fixed_shape, number, numbers, positive
from ...errors import InputError
from ...models.base.pose import Pose
from ...models.base.rotation import exp, log


class Target(NamedTuple):
    """Desired position x (array or Pose), velocity v and acceleration a."""

    x: Any
    v: Array
    a: Array


Reference = Callable[[float], Any]
JERK, JERK_POSE, SINE, CUBIC = range(4)  # ReferenceKind of kernels/control/law/reference.hpp


class WrittenReference(NamedTuple):
    """Components first .. first + size of a target, with the numbers by which the kernel follows them."""

    kind: int
    size: int
    numbers: Array
    points: int = 0
    first: int = 0


class SetPoint:
    """A constant desired value x: a number, an array (k,) or a Pose."""

    def __init__(self, x: Any) -> None:
        value = x if isinstance(x, Pose) else _values(x, "SetPoint")
        n = 6 if isinstance(value, Pose) else len(value)
        self._target = Target(value, np.zeros(n), np.zeros(n))

    def __call__(self, t: float) -> Target:
        return self._target

    def written(self, size: int) -> list[WrittenReference]:
        """Nothing: it does not change."""
        return []


class MinimumJerk:
    """From start to end in `duration`, at rest before and after, with the least mean square jerk.

    Args:
        start, end: numbers, arrays (k,) or two Poses (straight line, and rotation about a fixed axis by the
            smaller angle).
        duration: how long it takes [s].
        t0: when it begins [s].
    """

    def __init__(self, start: Any, end: Any, duration: float, t0: float = 0.0) -> None:
        self._duration = positive(duration, "duration of MinimumJerk")
        self._t0 = number(t0, "t0 of MinimumJerk")
        self._pose = isinstance(start, Pose)
        if self._pose != isinstance(end, Pose):
            raise InputError(
                "MinimumJerk moves between two numbers, two arrays or two Poses; got"
                f" {type(start).__name__} and {type(end).__name__}."
            )
        if self._pose:
            self._R = start.rotation
            turn = log(end.rotation @ start.rotation.T)
            self._start = np.concatenate([start.xyz, np.zeros(3)])
            self._way = np.concatenate([end.xyz - start.xyz, turn])
        else:
            first, last = _values(start, "start of MinimumJerk"), _values(end, "end of MinimumJerk")
            if first.shape != last.shape:
                raise InputError(
                    f"start and end of MinimumJerk must have the same shape, got {first.shape} and"
                    f" {last.shape}."
                )
            self._start, self._way = first, last - first

    def __call__(self, t: float) -> Target:
        T = self._duration
        s = min(max((t - self._t0) / T, 0.0), 1.0)
        x: Any = self._start + self._way * minimum_jerk(s)
        r = 1.0 - s
        v = self._way * (30.0 * s * s * (r * r) / T)
        a = self._way * (60.0 * s * r * (1.0 - 2.0 * s) / (T * T))
        if self._pose:
            x = Pose(x[:3], matrix=_turned(x[3:], self._R))
        return Target(x, v, a)

    def written(self, size: int) -> list[WrittenReference]:
        """For the kernel; size: of a pose 6, of a turn alone 3."""
        time = [self._t0, self._duration]
        if self._pose:
            numbers = np.concatenate([time, self._start[:3], self._way, self._R.ravel()])
            return [WrittenReference(JERK_POSE, size, numbers)]
        return [WrittenReference(JERK, size, np.concatenate([time, self._start, self._way]))]


def minimum_jerk(s: float) -> float:
    """10 s^3 - 15 s^4 + 6 s^5: from 0 to 1 while s goes from 0 to 1, with the least mean square jerk."""
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


def _turned(turn: Array, R: Array) -> Array:
    """exp(turn) R (3, 3), each sum from left to right."""
    columns = R.T.tolist()
    rows = exp(turn).tolist()
    return np.array([[p * d + q * e + r * f for d, e, f in columns] for p, q, r in rows])


class Sinusoid:
    """x = mean + amplitude sin(omega t + phase), each a number or an array (k,); omega in rad/s."""

    def __init__(self, mean: Any, amplitude: Any, omega: Any, phase: Any = 0.0) -> None:
        given = {"mean": mean, "amplitude": amplitude, "omega": omega, "phase": phase}
        parts = {key: _values(value, f"{key} of Sinusoid") for key, value in given.items()}
        try:
            together = np.broadcast_arrays(*parts.values())
        except ValueError:
            shapes = ", ".join(f"{key} {value.shape}" for key, value in parts.items())
            raise InputError(f"the parts of a Sinusoid must have the same length, got {shapes}.") from None
        self._mean, self._amplitude, self._omega, self._phase = (np.array(x) for x in together)

    def __call__(self, t: float) -> Target:
        angles = (self._omega * t + self._phase).tolist()
        s = self._amplitude * np.array([math.sin(angle) for angle in angles])
        c = self._amplitude * np.array([math.cos(angle) for angle in angles])
        return Target(self._mean + s, self._omega * c, -(self._omega**2) * s)

    def written(self, size: int) -> list[WrittenReference]:
        """For the kernel."""
        numbers = np.concatenate([self._mean, self._amplitude, self._omega, self._phase])
        return [WrittenReference(SINE, size, numbers)]


class Spline:
    """A cubic spline through points, acceleration continuous; constant before the first and after the last.

    Args:
        times: increasing times [s], (n,).
        points: values at these times, (n,) or (n, k).
        ends: "clamped" (zero velocity), "natural" (zero acceleration) or "periodic" (repeats).
    """

    def __init__(self, times: npt.ArrayLike, points: npt.ArrayLike, ends: str = "clamped") -> None:
        from scipy.interpolate import CubicSpline

        if not isinstance(ends, str) or ends not in ("clamped", "natural", "periodic"):
            raise InputError(f'ends of Spline must be "clamped", "natural" or "periodic", got {ends!r}.')
        t, x = numbers(times, "times of Spline", 1), np.atleast_1d(numbers(points, "points of Spline"))
        x = x[:, None] if x.ndim == 1 else x
        if len(t) < 2 or np.any(np.diff(t) <= 0.0):
            raise InputError(f"times of Spline must be at least two increasing times, got {t.tolist()}.")
        fixed_shape(x, "points of Spline", (len(t), x.shape[-1]))
        if ends == "periodic" and not np.array_equal(x[0], x[-1]):
            raise InputError("a periodic Spline must end where it begins: first and last point differ.")
        self._ends, self._first, self._last = ends, float(t[0]), float(t[-1])
        self._curve = CubicSpline(t, x, bc_type=ends)

    def __call__(self, t: float) -> Target:
        if self._ends == "periodic":
            s = self._first + math.fmod(t - self._first, self._last - self._first)
        else:
            s = min(max(t, self._first), self._last)
        x = self._curve(s)
        if s != t and self._ends != "periodic":
            return Target(x, np.zeros_like(x), np.zeros_like(x))
        return Target(x, self._curve(s, 1), self._curve(s, 2))

    def written(self, size: int) -> list[WrittenReference]:
        """For the kernel."""
        times, numbers = self._curve.x, self._curve.c.ravel()
        numbers = np.concatenate([[float(self._ends == "periodic")], times, numbers])
        return [WrittenReference(CUBIC, size, numbers, points=len(times))]


class Given:
    """A function of time given by the user: returns (x, x', x''), or x alone, with x' = x'' = 0."""

    def __init__(self, function: Callable[[float], Any]) -> None:
        self._function = function

    def __call__(self, t: float) -> Target:
        found = self._function(t)
        if not isinstance(found, tuple):
            return SetPoint(found)(t)
        if len(found) != 3:
            raise InputError(f"a reference must return (x, x', x'') or x alone, got a tuple of {len(found)}.")
        x = found[0] if isinstance(found[0], Pose) else _values(found[0], "x of the reference")
        return Target(x, _values(found[1], "x' of the reference"), _values(found[2], "x'' of the reference"))


class Together:
    """References of single components, one after the other: numbers, arrays or functions of time."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = [as_reference(part) for part in parts]

    def __call__(self, t: float) -> Target:
        found = [part(t) for part in self._parts]
        if any(isinstance(one.x, Pose) for one in found):
            raise InputError("a list of references for one output has numbers in it, no Poses.")
        x, v, a = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Target(x, v, a)

    def written(self, size: int) -> list[WrittenReference] | None:
        """For the kernel; None where a part is a function."""
        found: list[WrittenReference] = []
        first = 0
        for part in self._parts:
            width = len(part(0.0).x)
            own = written_reference(part, width)
            if own is None:
                return None
            found += [one._replace(first=first) for one in own]
            first += width
        return found


# shapes do not depend on time: checked once, when a law is built
CHECKED = (SetPoint, MinimumJerk, Sinusoid, Spline)
BUILT_IN = (*CHECKED, Given, Together)


def written_reference(reference: Reference, size: int) -> list[WrittenReference] | None:
    """A reference with `size` components as the kernel follows it; None where it is a function of Python."""
    write: Callable[[int], list[WrittenReference] | None] | None = getattr(reference, "written", None)
    return None if write is None else write(size)


def as_reference(value: Any) -> Reference:
    """A reference from what a user gives: a reference of this module, a function of time, a set-point, or a
    list with references of the components in it."""
    if isinstance(value, BUILT_IN):
        return value
    if isinstance(value, (list, tuple)) and any(callable(part) for part in value):
        return Together(value)
    if callable(value):
        return Given(value)
    return SetPoint(value)


def _values(value: Any, what: str) -> Array:
    """A number or a list of numbers as a finite array (k,)."""
    array = np.atleast_1d(number(value, what) if np.isscalar(value) else numbers(value, what))
    if array.ndim != 1:
        raise InputError(f"{what} must be a number or a list of numbers, got shape {array.shape}.")
    return array
