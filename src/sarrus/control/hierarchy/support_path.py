"""SupportPath: a path of the centre of mass for which feet have to push at their middle only.

A point mass at the constant height h above the point p on the ground through which the force of the ground
goes, the inverted pendulum of [Kajita2003]:

    x'' = w^2 (x - p),     w^2 = g / h                                                                     (1)

For p of straight lines whose slope changes by c_i at the times T_i, the solution that stays near p is

    x = p + sum c_i exp(-w |t - T_i|) / (2 w)                                                              (2)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..outputs.references import Target

if TYPE_CHECKING:
    from .gait import Gait

FAR = 25.0  # times 1 / w: changes that are farther away in time than that have an influence of 1e-11
Knot = tuple[float, Array]  # [s], where the middle of the support is then (2,) [m]


class SupportPath:
    """Reference of the centre of mass (3,) [m] for a gait.

    Args:
        gait: the gait.
        neutral: where feet stand at first, {foot: (3,) [m]}.
        fall: height of the centre of mass above the ground [m], gravity [m/s^2].
    """

    def __init__(self, gait: Gait, neutral: Mapping[str, Array], fall: tuple[float, float]) -> None:
        self._gait, self._neutral = gait, neutral
        self._height, gravity = fall
        self._rate = math.sqrt(gravity / self._height)
        self._coming = self._knots()
        self._known: list[Knot] = []
        self._done = False

    def __call__(self, t: float) -> Target:
        """Position, velocity and acceleration at a time."""
        w, (times, places) = self._rate, self._until(t + FAR / self._rate)
        slopes = np.diff(places, axis=0) / np.diff(times)[:, None]
        changes = np.diff(slopes, axis=0, prepend=0.0, append=0.0)  # (n, 2), at each time
        i = int(np.searchsorted(times, t))
        slope = slopes[i - 1] if 0 < i < len(times) else np.zeros(2)
        p = places[min(i, len(times) - 1)] + slope * (t - times[min(i, len(times) - 1)])
        fade = np.exp(-w * np.abs(t - times))
        x = p + fade @ changes / (2.0 * w)
        v = slope - (np.where(t > times, fade, -fade)) @ changes / 2.0  # at a change: of the slope before it
        return Target(np.append(x, self._height), np.append(v, 0.0), np.append(w * w * (x - p), 0.0))

    def _until(self, t: float) -> tuple[Array, Array]:
        """All knots up to a time, and the next one."""
        while not self._done and (not self._known or self._known[-1][0] < t):
            more = next(self._coming, None)
            self._done = more is None
            if more is not None:
                self._known.append(more)
        return np.array([one[0] for one in self._known]), np.array([one[1] for one in self._known])

    def _knots(self) -> Iterator[Knot]:
        """The middle of the support: it rests during swings and moves while all feet stand."""
        last: Knot | None = None
        for begin, end, where in self._supports():
            if last is None:
                yield begin - self._gait.support, self._middle_of_all(-1)
            elif begin - last[0] <= 0.0:
                raise InputError(
                    "center_of_mass of a Gait needs support > 0, a time on all feet between two swings."
                )
            yield begin, where
            yield end, where
            last = end, where
        if last is None:
            yield 0.0, self._middle_of_all(-1)
            yield 1.0, self._middle_of_all(-1)
            return
        yield last[0] + self._gait.support, self._middle_of_all(10**9)

    def _supports(self) -> Iterator[tuple[float, float, Array]]:
        """Swings in order: begin, end, and the middle of the feet that stand meanwhile."""
        groups = self._gait.groups
        swings = [self._gait.swings(group[0]) for group in groups]
        for k in itertools.count():
            for i, group in enumerate(groups):
                now = next(swings[i], None)
                if now is None:
                    return
                standing = [foot for foot in self._neutral if foot not in group]
                made = {foot: k if any(foot in one for one in groups[:i]) else k - 1 for foot in standing}
                yield *now, np.mean([self._gait.foothold(foot, made[foot])[:2] for foot in standing], axis=0)

    def _middle_of_all(self, k: int) -> Array:
        """The middle of all feet after their k-th swing; after the last one for a large k."""
        return np.asarray(np.mean([self._place(foot, k) for foot in self._neutral], axis=0))

    def _place(self, foot: str, k: int) -> Array:
        last = k if k < 0 else sum(1 for _ in self._gait.swings(foot)) - 1
        return self._gait.foothold(foot, last)[:2]
