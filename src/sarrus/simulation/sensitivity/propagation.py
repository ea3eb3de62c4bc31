"""Variations along a run: the steps of the variational equation, within a tolerance.

Segments are pairs of steps. Each pair is also taken as one step: of order 6, its error is 63 times that of
the pair. Segments whose error is too large are divided. Within steps there is a quintic polynomial through
value, rate and second rate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...arrays import Array
from ..events.interpolation import quintic
from .linear_steps import NODES, LinearSteps, linear_steps
from .stops import Switches
from .variational_equation import AtTimes, NotSmoothError, VariationalEquation

GAIN = 63.0  # error of a pair of steps taken as one, over that of the pair
MOST_ROUNDS = 24  # of refinement
MOST_SEGMENTS, MOST_GROWTH = 2000, 8  # more of them than at first, and times their number at first
MOST_LEVELS = 3  # halvings of a segment in one round
CHUNK = 2e7  # bytes of matrices at once, about


@dataclass(frozen=True)
class Segments:
    """m pairs of steps.

    Attributes:
        t: start, middle and end (m, 3).
        first, second, whole: the two steps, and both as one.
        apart: of both steps (m, 2): the largest of `AtTimes.apart` within them.
    """

    t: Array
    first: LinearSteps
    second: LinearSteps
    whole: LinearSteps
    apart: Array


def segments(equation: VariationalEquation, t: Array, switches: Switches) -> Segments:
    """Pairs of steps at times (m, 3)."""
    thirds = [t[:, :2], t[:, 1:], t[:, ::2]]
    inner = [pair[:, :1] + (pair[:, 1:] - pair[:, :1]) * NODES[1:3] for pair in thirds]
    lower, upper = switches.inside(t[:, :1], 1.0), switches.inside(t[:, 2:], -1.0)
    times = np.clip(np.concatenate([t, *inner], axis=1), lower, upper)
    at = equation.at(times.ravel())
    found = AtTimes(*(x.reshape(len(t), times.shape[1], *x.shape[1:]) for x in _arrays(at)))
    which = zip(([0, 3, 4, 1], [1, 5, 6, 2], [0, 7, 8, 2]), thirds, strict=True)
    unit, plain = equation.unit, equation.plain
    steps = [linear_steps(found[:, nodes], x[:, 1] - x[:, 0], unit, plain) for nodes, x in which]
    apart = np.stack([found.apart[:, w].max(axis=1) for w in ([3, 4], [5, 6])], axis=1)
    return Segments(t, steps[0], steps[1], steps[2], apart)


def _arrays(x: Any) -> list[Any]:
    return [getattr(x, f.name) for f in fields(x)]


def joined(parts: Sequence[Any]) -> Any:
    """Records of arrays, and records of those, one behind the other."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return type(parts[0])(*(joined(column) for column in zip(*map(_arrays, parts), strict=True)))


def picked(record: Any, which: Any) -> Any:
    """Entries of a record of arrays."""
    if isinstance(record, np.ndarray):
        return record[which]
    return type(record)(*(picked(x, which) for x in _arrays(record)))


class Propagation:
    """[dq; dv] along a run."""

    def __init__(
        self, equation: VariationalEquation, switches: Switches, tolerance: float, least: Array
    ) -> None:
        """
        Args:
            equation: of the run.
            switches: where it jumps.
            tolerance: error of each segment, relative to the largest so far.
            least: errors that are rounding (2, P), of positions and of velocities, without units.
        """
        self._equation, self._tolerance, self._least = equation, tolerance, least
        self._switches = switches
        knots = equation.steps.t
        ends = itertools.pairwise(np.unique([knots[0], *switches.times, knots[-1]]))
        pieces = [_pairs(np.array([a, *knots[(knots > a) & (knots < b)], b])) for a, b in ends]
        self.parts = self._made(np.concatenate(pieces))
        self._count = len(self.parts.t)

    def _made(self, t: Array) -> Segments:
        nv = len(self._equation.unit)
        size = max(1, int(CHUNK / (9 * 8 * 8 * nv * nv)))
        chunks = [segments(self._equation, t[i : i + size], self._switches) for i in range(0, len(t), size)]
        found: Segments = joined(chunks)
        return found

    def solve(self, start: Array) -> None:
        """From [dq; dv] (2 nv, P) at the start; keeps (m, 3, 2 nv, P) at all times of the segments."""
        for _ in range(MOST_ROUNDS):
            self.values = self._scan(start)
            error = self._errors()
            bad = error > 1.0
            if not np.any(bad):
                return
            rough = zip(self.parts.t[bad], error[bad].tolist(), strict=True)
            finer = np.concatenate([_divided(t, e) for t, e in rough])
            if len(self.parts.t) + len(finer) > MOST_SEGMENTS + MOST_GROWTH * self._count:
                break
            parts = joined([picked(self.parts, ~bad), self._made(finer)])
            self.parts = picked(parts, np.argsort(parts.t[:, 0]))
        raise NotSmoothError

    def _scan(self, start: Array) -> Array:
        one, two, now = self.parts.first, self.parts.second, start
        out = np.empty((len(self.parts.t), 3, *start.shape))
        crossed = {one.t: one for one in self._switches.crossings}
        for i, begin in enumerate(self.parts.t[:, 0].tolist()):
            if begin in crossed:
                now = crossed[begin].passed(now)
            out[i, 0] = now
            now = one.map[i] @ now[one.rows[i]] + one.added[i]
            out[i, 1] = now
            now = two.map[i] @ now[two.rows[i]] + two.added[i]
            out[i, 2] = now
        return out

    def _errors(self) -> Array:
        """Errors of the segments (m,) in units of the tolerance."""
        nv, unit = len(self._equation.unit), self._equation.unit
        apart = np.abs(self.values[:, 2] - self.parts.whole.take(self.values[:, 0]))
        if not np.all(np.isfinite(apart)):
            raise NotSmoothError
        errors = np.zeros(len(apart))
        for part, least in zip((slice(0, nv), slice(nv, 2 * nv)), self._least, strict=True):
            sizes = np.max(np.abs(self.values[:, :, part]) / unit[:, None], axis=(1, 2), initial=0.0)
            allowed = np.maximum(self._tolerance * np.maximum.accumulate(sizes), least)
            error = np.max(apart[:, part] / unit[:, None], axis=1, initial=0.0) / GAIN
            errors = np.maximum(errors, np.max(error / allowed, axis=1))
        return errors

    def differences(self) -> tuple[Array, Array]:
        """Times of all steps (n + 1,), and `AtTimes.apart` within them (n,)."""
        return np.append(self.parts.t[:, :2].ravel(), self.parts.t[-1, 2]), self.parts.apart.ravel()

    def at(self, t: Array) -> tuple[Array, Array]:
        """dq and dv at times (n,), (n, nv, P) each."""
        m = len(self.parts.t)
        starts = self.parts.t[:, :2].ravel()
        i = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, 2 * m - 1)
        k, left = i // 2, i % 2
        begin, end = (self.parts.t[k, left + side] for side in range(2))
        (dq, first, second), (dq1, first1, second1) = (
            self._rates(self._switches.inside(time, 1.0 - 2.0 * side), self.values[k, left + side])
            for side, time in enumerate((begin, end))
        )
        h = (end - begin)[:, None, None]
        s = (t - begin)[:, None, None] / h
        moved, rate, _ = quintic(s, h, v0=first, a0=second, u1=dq1 - dq, v1=first1, a1=second1)
        here = dq + moved
        return here, rate + self._equation.brackets(self._equation.velocity(t)) @ here

    def _rates(self, t: Array, values: Array) -> tuple[Array, Array, Array]:
        """dq at times (n,) and its first and second time derivatives, from [dq; dv] (n, 2 nv, P)."""
        dq, dv = np.split(values, 2, axis=1)
        return dq, *self._equation.at(t).rates(dq, dv)


def _pairs(t: Array) -> Array:
    """Times (m, 3) of pairs of steps between times (n,)."""
    even = t if len(t) % 2 else np.append(t[:-1], [0.5 * (t[-2] + t[-1]), t[-1]])
    return np.stack([even[:-2:2], even[1:-1:2], even[2::2]], axis=1)


def _divided(t: Array, error: float) -> Array:
    """Parts (k, 3) of a segment (3,) whose error is that many tolerances: halved as often as order 7 asks."""
    parts = t[None]
    for _ in range(min(MOST_LEVELS, math.ceil(math.log(error, 2.0**7)))):
        middle = 0.5 * (parts[:, 1:] + parts[:, :-1])
        halves = [np.stack([parts[:, i], middle[:, i], parts[:, i + 1]], axis=1) for i in range(2)]
        parts = np.concatenate(halves)
    return parts
