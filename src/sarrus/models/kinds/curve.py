"""Curve: a table of values as a smooth function, compiled (kernels/tree/curve.hpp).

Cubics between the knots with the slopes of [Fritsch1980]: the curve stays within its data, monotonic where
they are, and is constant where they are. Beyond its ends it goes on straight.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._kernel import KINDS
from ...arrays import Array, is_finite, numbers
from ...errors import InputError
from .parameters import COORDINATE_FORCES

KNOTS = int(KINDS[COORDINATE_FORCES]["CoordinateTable"]["x"])  # that a compiled curve has room for


@dataclass(frozen=True)
class Curve:
    """A function through the points (x_i, y_i), i < n."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    @cached_property
    def slopes(self) -> Array:
        """dy/dx at the knots (n,)."""
        h = [b - a for a, b in itertools.pairwise(self.x)]
        m = [(b - a) / step for (a, b), step in zip(itertools.pairwise(self.y), h, strict=True)]
        if len(m) == 1:
            return np.array([m[0], m[0]])
        inner = [_mean(*each) for each in zip(itertools.pairwise(h), itertools.pairwise(m), strict=True)]
        return np.array([_end(h[:2], m[:2]), *inner, _end(h[:-3:-1], m[:-3:-1])])

    def parameters(self, sign: float = 1.0) -> dict[str, Any]:
        """Fields of the kernel for the curve times a sign."""
        room = KNOTS - len(self.x)
        values = {"x": np.array(self.x), "y": sign * np.array(self.y), "slope": sign * self.slopes}
        return {name: np.pad(each, (0, room)) for name, each in values.items()} | {
            "count": float(len(self.x))
        }

    def __call__(self, x: ArrayLike) -> Array:
        """Values at x, any shape."""
        at, knots, y, slopes = np.asarray(x), np.array(self.x), np.array(self.y), self.slopes
        i = np.clip(np.searchsorted(knots.real, at.real, side="right") - 1, 0, len(knots) - 2)
        h = knots[i + 1] - knots[i]
        s, begin, end = (at - knots[i]) / h, h * slopes[i], h * slopes[i + 1]
        rise = y[i + 1] - y[i]
        inside = y[i] + s * (begin + s * (3.0 * rise - 2.0 * begin - end + s * (begin + end - 2.0 * rise)))
        before, after = y[0] + slopes[0] * (at - knots[0]), y[-1] + slopes[-1] * (at - knots[-1])
        return np.asarray(np.where(at < knots[0], before, np.where(at > knots[-1], after, inside)))


def _mean(h: tuple[Any, Any], m: tuple[Any, Any]) -> Any:
    """Slope at a knot from those of its sides: their weighted harmonic mean, zero at an extremum."""
    if m[0] * m[1] <= 0.0:
        return 0.0
    w = 2.0 * h[1] + h[0], h[1] + 2.0 * h[0]
    return 1.0 / ((w[0] / m[0] + w[1] / m[1]) / (w[0] + w[1]))


def _end(h: Sequence[Any], m: Sequence[Any]) -> Any:
    """Slope at an end, from the two sides next to it: three points, kept monotonic."""
    slope = ((2.0 * h[0] + h[1]) * m[0] - h[0] * m[1]) / (h[0] + h[1])
    if slope * m[0] <= 0.0:
        return 0.0
    return 3.0 * m[0] if m[0] * m[1] <= 0.0 and abs(slope) > 3.0 * abs(m[0]) else slope


def check_curve(x: object, y: object, what: str, names: tuple[str, str]) -> Curve:
    """A curve from two lists of numbers; `names` are those of the lists.

    Raises:
        InputError: the lists differ in length, have fewer than two or more than KNOTS entries, or the first
            does not increase.
    """
    xs, ys = (numbers(values, f"{name} of {what}", 1) for values, name in zip((x, y), names, strict=True))
    if len(xs) != len(ys) or not 2 <= len(xs) <= KNOTS:
        raise InputError(
            f"{names[0]} and {names[1]} of {what} must have the same length, from 2 to {KNOTS}, got {len(xs)}"
            f" and {len(ys)}."
        )
    if not (is_finite(xs) and is_finite(ys)):
        raise InputError(f"{names[0]} and {names[1]} of {what} must be finite.")
    falls = np.flatnonzero(np.diff(xs) <= 0.0)
    if len(falls):
        i = int(falls[0])
        raise InputError(
            f"{names[0]} of {what} must increase, got {xs[i]:g} and then {xs[i + 1]:g} at index {i + 1}; sort"
            " the table, and give a jump as two close points."
        )
    return Curve(tuple(xs.tolist()), tuple(ys.tolist()))
