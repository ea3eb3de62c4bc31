"""Elastic stops that a run meets: there forces have a corner, and with damping they jump.

Where g = q_k - limit crosses zero, states stay and accelerations jump by a+ - a-. The time of the crossing
depends on parameters, so variations of velocities jump too:

    dv+ = dv- + (a+ - a-) (dq_k - dlimit) / v_k               [Leine2004] saltation matrix               (1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...models.kinds.parameters import COORDINATE_FORCES, kind_number
from ...models.model import Model
from ...models.variant_model import ModelSlopes
from ..events.events import zero_between
from .variational_equation import NotSmoothError, VariationalEquation

JOINT_STOP = kind_number(COORDINATE_FORCES, "JointStop")
BESIDE = 1e-12  # of the length of a run: distance from a crossing at which either side is evaluated
ROUNDING = 1e-14  # of one radian or L, and of the position: overrun at which the side is certain
GRAZING = 1e-9  # of the length of a run: where it takes longer than that to be certain there is no derivative


@dataclass(frozen=True)
class Crossing:
    """Of a stop, or the release from one.

    Attributes:
        t: time [s].
        jump: a+ - a- over v_k (nv,).
        index: of the coordinate in v.
        limit: derivatives of its limit by parameters (P,).
    """

    t: float
    jump: Array
    index: int
    limit: Array

    def passed(self, values: Array) -> Array:
        """[dq; dv] (2 nv, P) after the crossing, (1)."""
        out, nv = values.copy(), len(self.jump)
        out[nv:] += np.outer(self.jump, values[self.index] - self.limit)
        return out


@dataclass(frozen=True)
class _Stop:
    """One stop: places of its coordinate in q and v, of its numbers, and these."""

    q: int
    v: int
    begin: int
    lower: float
    upper: float
    stiffness: float
    damping: float

    def pushes(self, q: Array, v: Array) -> Array:
        """Force towards the range (n,): changes sign where the stop lets go; NaN within the range."""
        x, rate = q[:, self.q], v[:, self.v]
        over = np.where(x < self.lower, x - self.lower, np.maximum(x - self.upper, 0.0))
        push = self.stiffness * over + self.damping * rate
        return np.where(over == 0.0, np.nan, push * np.sign(over))


def _stops(model: Model) -> Iterator[_Stop]:
    for i in np.flatnonzero(model.cf_kind == JOINT_STOP):
        begin = int(model.cf_begin[i])
        numbers = model.cf_values[begin : begin + 4].tolist()
        yield _Stop(int(model.cf_q[i]), int(model.cf_v[i]), begin, *numbers)


@dataclass(frozen=True)
class Switches:
    """Crossings along a run, in the order of time.

    Attributes:
        crossings: these.
        beside: distance at which either side of them is evaluated [s].
    """

    crossings: Sequence[Crossing]
    beside: float

    @property
    def times(self) -> Array:
        """Of all of them [s]."""
        return np.array([one.t for one in self.crossings])

    def inside(self, t: Array, side: float) -> Array:
        """Times, those of crossings moved to one side."""
        return np.asarray(t + side * self.beside * np.isin(t, self.times))


def switches(equation: VariationalEquation, model: ModelSlopes, count: int) -> Switches:
    """All crossings along a run; P = count parameters."""
    steps, of = equation.steps, equation.model
    slopes = model.fields.get("cf_values", np.zeros((count, len(of.cf_values))))
    found: list[tuple[float, _Stop, Array | None]] = []  # derivatives of the limit; None where a stop lets go
    for stop in _stops(of):
        for side, limit in enumerate((stop.lower, stop.upper)):
            zeros = _zeros(steps.t, steps.q[:, stop.q] - limit, _place(equation, stop, limit))
            found += [(t, stop, slopes[:, stop.begin + side]) for t in zeros]
        zeros = _zeros(steps.t, stop.pushes(steps.q, steps.v), _push(equation, stop))
        found += [(t, stop, None) for t in zeros]
    if not found:
        return Switches((), 0.0)
    found.sort(key=lambda one: one[0])
    times, whole = np.array([one[0] for one in found]), float(steps.t[-1] - steps.t[0])
    q, v, _ = equation.states(times)
    beside = BESIDE * whole
    for i, (_, stop, slope) in enumerate(found):
        if slope is not None:
            overrun = ROUNDING * (equation.unit[stop.v] + abs(q[i, stop.q]))
            beside = max(beside, overrun / max(abs(v[i, stop.v]), 1e-300))
    if beside > GRAZING * whole or np.any(np.diff(times) < 4.0 * beside):
        raise NotSmoothError
    jumps = equation.unit * (equation.acceleration(times + beside) - equation.acceleration(times - beside))
    passed = []
    for (t, stop, slope), jump, rate in zip(found, jumps, v, strict=True):
        if slope is None:
            passed.append(Crossing(t, np.zeros_like(jump), stop.v, np.zeros(count)))
        else:
            passed.append(Crossing(t, jump / rate[stop.v], stop.v, slope))
    return Switches(passed, beside)


def _place(equation: VariationalEquation, stop: _Stop, limit: float) -> Callable[[float], float]:
    return lambda t: float(equation.states(np.array([t]))[0][0, stop.q]) - limit


def _push(equation: VariationalEquation, stop: _Stop) -> Callable[[float], float]:
    return lambda t: float(stop.pushes(*equation.states(np.array([t]))[:2])[0])


def _zeros(t: Array, values: Array, function: Callable[[float], float]) -> Iterator[float]:
    """Times between steps at which a function changes sign."""
    for i in np.flatnonzero(values[1:] * values[:-1] < 0.0):
        if function(float(t[i])) * function(float(t[i + 1])) < 0.0:
            yield zero_between(function, float(t[i]), float(t[i + 1]))
