"""Events of a run, and the functions of the user that define some of them.

A user event is a function g(t, q, v) -> float. It happens where g crosses zero in the `direction` of the
function and ends the run if the function is `terminal`, as in SciPy. A crossing shows as a change of sign
from step to step and is located on the interpolant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array, takes
from ...dynamics.impact import Impact
from ...errors import InputError
from .interpolation import Hermite

LOCATED = 1e-13  # tolerance of the time of a crossing, relative to the step
TOGETHER = 10.0 * LOCATED  # of a step: events that are closer to each other happen at one time
ROUNDING = 1e-11  # of the largest |g| of an event


@dataclass(frozen=True)
class Event:
    """Something that happened during a run.

    Attributes:
        name: name of the user's function, "singular pose", "near miss", or the coordinate or "actuator ..."
            of a limit.
        kind: "user"; "singular": the rank of J drops, or nearly drops, at this pose; "near_miss": the
            smallest singular value that counts has a small minimum; "chart": other coordinates are used
            from here on; "switch": constraints close or open; "limit": a coordinate passes a limit of its
            joint, or an input those of its actuator for the first time; "stick", "slip": a coordinate with
            dry friction comes to rest, or begins to slide.
        t: time [s].
        q: pose (nq,) [rad, m].
        v: velocity (nv,) [rad/s, m/s].
        rank: rank of J there; singular values that are nearly zero do not count.
        singular_values: of the dimensionless J there, descending (min(nc, nv),); empty for user events.
        terminal: whether it ended the run.
        note: more in words: the coordinates that follow a "chart" event, which limit was passed.
        closed, opened: names of the constraints that a "switch" event closed and opened.
        impact: what closing did to the velocity, momentum and energy; None where nothing hit.
    """

    name: str
    kind: str
    t: float
    q: Array
    v: Array
    rank: int = -1
    singular_values: Array = field(default_factory=lambda: np.zeros(0))
    terminal: bool = False
    note: str = ""
    closed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    impact: Impact | None = None

    def __str__(self) -> str:
        said = f"{self.name} at t = {self.t:.9g} s" + (f": {self.note}" if self.note else "")
        if self.kind in ("singular", "near_miss") and len(self.singular_values):
            said += f": rank {self.rank}, smallest singular value {self.singular_values[-1]:.1e}"
        if self.impact is not None:
            said += f": {self.impact.energy_lost:.6g} J lost"
        return said


@dataclass(frozen=True)
class UserEvent:
    """A user's function with its attributes: its name, after how many crossings it ends the run (0: never),
    the direction in which crossings count (0: both), and the period at which it jumps, as an angle does from
    pi to -pi (0: none): a change by more than half of it is a jump and no crossing. `rounded`: whether
    values that are rounding beside the largest one are zero, as while a latch holds g there."""

    function: Callable[..., Any]
    name: str
    terminal: int
    direction: float
    period: float = 0.0
    rounded: bool = True

    def value(self, t: float, q: Array, v: Array) -> float:
        """g(t, q, v), a finite number or an error."""
        given = self.function(t, q.copy(), v.copy())
        try:
            number = float(np.asarray(given, dtype=float).reshape(()))
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise InputError(
                f"event {self.name!r} must return a finite number for (t, q, v), got {given!r} at"
                f" t = {t:.9g} s; it is watched for the zeros of that number."
            )
        return number

    def crossed(self, before: float, after: float) -> bool:
        """Whether g crossed zero in a direction that counts; arriving at zero counts, leaving it does not."""
        if self.period and abs(after - before) > 0.5 * self.period:
            return False
        up, down = before < 0.0 <= after, before > 0.0 >= after
        return (up and self.direction >= 0.0) or (down and self.direction <= 0.0)

    def locate(self, path: Hermite, start: float, end: float) -> float:
        """Time at which g crosses zero between two steps."""

        def g(t: float) -> float:
            q, v, _ = path(t)
            return self.value(t, q[0], v[0])

        return zero_between(g, start, end)


def zero_between(g: Callable[[float], float], start: float, end: float) -> float:
    """Time at which g crosses zero between two times; one of them where it does not change its sign."""
    from scipy.optimize import brentq

    before, after = g(start), g(end)
    if before == 0.0 or after == 0.0 or before * after > 0.0:
        return end if before * after > 0.0 or after == 0.0 else start
    return float(brentq(g, start, end, xtol=LOCATED * (end - start), rtol=4 * np.finfo(float).eps))


def user_events(given: Any) -> tuple[UserEvent, ...]:
    """Events as `simulate` takes them: one function, or several."""
    functions: Sequence[Any] = (given,) if callable(given) else given
    try:
        functions = () if functions is None else tuple(functions)
    except TypeError:
        raise InputError(f"events must be a function g(t, q, v) or several, got {given!r}.") from None
    return tuple(_user_event(f, i) for i, f in enumerate(functions))


def _user_event(function: Any, i: int) -> UserEvent:
    if not callable(function):
        raise InputError(f"events[{i}] must be a function g(t, q, v) -> number, got {function!r}.")
    takes(function, "t, q, v", f"events[{i}]")
    name = str(getattr(function, "name", getattr(function, "__name__", "<lambda>")))
    name = f"event {i}" if name == "<lambda>" else name
    terminal, direction = getattr(function, "terminal", False), getattr(function, "direction", 0)
    if not isinstance(terminal, (bool, int, np.integer, np.bool_)) or terminal < 0:
        raise InputError(
            f"terminal of event {name!r} must be a bool or a number of crossings, got {terminal!r}."
        )
    if isinstance(direction, bool) or not isinstance(direction, (int, float, np.number)):
        raise InputError(f"direction of event {name!r} must be a number (-1, 0 or 1), got {direction!r}.")
    period = float(getattr(function, "period", 0.0))
    return UserEvent(function, name, int(terminal), float(direction), period)


class UserWatch:
    """Values of the user's events at the last step, and how often each has happened."""

    def __init__(self, events: Sequence[UserEvent], t: float, q: Array, v: Array) -> None:
        self._events, self._counts = tuple(events), [0] * len(events)
        self._largest = [0.0] * len(self._events)  # |g| so far
        self.restart(t, q, v)

    def restart(self, t: float, q: Array, v: Array) -> None:
        """Continue from another state; a jump of g to that state does not count as a crossing."""
        self._last = [self._value(i, t, q, v) for i in range(len(self._events))]

    def _value(self, i: int, t: float, q: Array, v: Array) -> float:
        event = self._events[i]
        g = event.value(t, q, v)
        self._largest[i] = max(self._largest[i], abs(g))
        return 0.0 if event.rounded and abs(g) <= ROUNDING * self._largest[i] else g

    @property
    def terminal(self) -> bool:
        """Whether some event can end the run."""
        return any(event.terminal for event in self._events)

    def between(
        self, path: Hermite, start: float, end: float, q: Array, v: Array
    ) -> list[tuple[float, str, bool]]:
        """What happened in the step from `start` to `end`, where q and v are: (time, name, terminal).

        Nothing after the first terminal event; what happens together with it is all there.
        """
        found = []
        for i, event in enumerate(self._events):
            before, after = self._last[i], self._value(i, end, q, v)
            self._last[i] = after
            if event.crossed(before, after):
                self._counts[i] += 1
                ends = event.terminal > 0 and self._counts[i] >= event.terminal
                found.append((event.locate(path, start, end), event.name, ends))
        found.sort(key=lambda one: one[0])
        together = TOGETHER * (end - start) + 4.0 * float(np.spacing(abs(end)))
        last = min((t for t, _, ends in found if ends), default=math.inf) + together
        return [one for one in found if one[0] <= last]
