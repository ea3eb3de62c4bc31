"""FrictionWatch: where a stretch of a run with dry friction ends.

A coordinate that slides may stick where its velocity becomes zero; those that stick slide where their load
exceeds the bounds. Velocities are checked at the steps and, by a cubic in time, at three places within each.
Within a step that a row begins faster and faster and ends in its direction they are not: such a cubic
overshoots where the acceleration grows many times over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...arrays import Array, BoolArray
from ..events.events import LOCATED
from ..events.interpolation import Hermite, Manifold
from ..system.step_records import Steps
from .stuck_rows import StuckRows

SLACK = 1e-9  # of the bounds: load beyond them at which coordinates slide
WRONG_WAY = 1e-6  # of its largest speed in the stretch: a coordinate that slides backwards faster sticks
LATER = 1e-9  # of a step: a load that grows from nothing against nothing has a direction only after that
INSIDE = np.array([0.25, 0.5, 0.75, 1.0])  # places in a step

Applied = Callable[[float, Array, Array], Array]


@dataclass(frozen=True)
class Hit:
    """The end of a stretch.

    Attributes:
        step: index of the step at whose end, or within which, it is.
        t: time [s].
        stops: rows that slid and are at rest there (k,).
        breaks: whether the load of those that stick exceeds their bounds, or a contact pulls.
        backwards: rows that began to slide against their direction, from the start on: they stick (k,).
    """

    step: int
    t: float
    stops: BoolArray
    breaks: bool = False
    backwards: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))


class FrictionWatch:
    """Looks at the steps of one stretch, piece by piece.

    Attributes:
        fastest: largest speed of each row so far (k,).

    Args:
        rows: the stretch.
        manifold: its configurations.
        applied: the applied force (nv,) at a state of it.
        slack: of the bounds.
    """

    def __init__(self, rows: StuckRows, manifold: Manifold, applied: Applied, slack: float) -> None:
        self._rows, self._manifold, self._applied, self._slack = rows, manifold, applied, slack
        self._armed = np.zeros(len(rows.directions), dtype=bool)  # rows that have slid in their direction
        self.fastest = np.zeros(len(rows.directions))
        self._first = True

    def first(self, steps: Steps) -> Hit | None:
        """The end of the stretch in these steps, of which the first was seen before; None: not yet."""
        speeds = np.abs(steps.v[:, self._rows.friction.coordinates])
        self.fastest = np.maximum(self.fastest, speeds.max(axis=0))
        hits = [hit for hit in (self._stop(steps), self._break(steps)) if hit is not None]
        self._first = False
        return min(hits, key=lambda hit: hit.t, default=None)

    # ------------------------------------------------------------------ rows that slide

    def _stop(self, steps: Steps) -> Hit | None:
        """Where a coordinate that slides comes to rest."""
        directions, at = self._rows.directions, self._rows.friction.coordinates
        sliding = directions != 0
        if not np.any(sliding) or len(steps) < 2:
            return None
        speed = directions * _within(steps, at)  # (n - 1, places, k); positive in the row's direction
        faster = (directions * steps.a[:-1, at] > 0.0) & (speed[:, -1] > 0.0)
        speed = np.where(faster[:, None], speed[:, -1:], speed)
        flat = speed.reshape(-1, len(at))
        ahead = np.maximum.accumulate(
            np.vstack([self._armed | (directions * steps.v[0, at] > 0.0), flat > 0.0])
        )
        back = np.any((flat < -WRONG_WAY * self.fastest) & ~ahead[:-1] & sliding, axis=1)
        ends = np.any((flat <= 0.0) & ahead[:-1] & sliding, axis=1)
        self._armed = ahead[-1]
        found = np.flatnonzero(back | ends)
        if not len(found):
            return None
        i, place = divmod(int(found[0]), len(INSIDE))
        if back[found[0]]:
            wrong = (flat[found[0]] < 0.0) & ~ahead[found[0]] & sliding
            return Hit(i + 1, -np.inf, np.zeros_like(sliding), backwards=wrong)
        pair, rows = steps[i : i + 2], (flat[found[0]] <= 0.0) & ahead[found[0]] & sliding
        end = float(pair.t[0] + INSIDE[place] * (pair.t[1] - pair.t[0]))
        times = [self._zero(pair, float(at[k]), float(directions[k]), end) for k in np.flatnonzero(rows)]
        t = min(times)
        stops = np.zeros_like(sliding)
        stops[np.flatnonzero(rows)[np.array(times) == t]] = True
        return Hit(i + 1, t, stops)

    def _zero(self, pair: Steps, k: float, direction: float, end: float) -> float:
        """Time at which the velocity of coordinate k becomes zero in a step, before `end`."""
        path, column = Hermite(self._manifold, pair), int(k)
        return _root(lambda t: direction * float(path(t)[1][0, column]), float(pair.t[0]), end)

    # ------------------------------------------------------------------ rows that stick

    def _break(self, steps: Steps) -> Hit | None:
        """Where the load of the coordinates that stick exceeds their bounds, or a contact pulls."""
        rows = self._rows
        if not len(rows.stuck) and not rows.contacts.rows:
            return None
        limit, seen = 1.0 + self._slack, 0 if self._first else 1
        part = steps[seen:]
        load = rows.loads(part.t, part.q, part.v, part.tau, limit)
        found = np.flatnonzero(load > limit)
        if not len(found):
            return None
        i, nothing = int(found[0]) + seen, np.zeros(len(rows.directions), dtype=bool)
        if i == 0:
            return Hit(0, float(steps.t[0]), nothing, breaks=True)
        pair = steps[i - 1 : i + 1]
        path = Hermite(self._manifold, pair)

        def margin(t: float) -> float:
            q, v, _ = path(t)
            tau = self._applied(t, q[0], v[0])
            tau = tau + rows.sliding_by_load(t, q[0], v[0], tau)
            return limit - float(rows.loads(np.array([t]), q, v, tau[None], limit)[0])

        start, end = float(pair.t[0]), float(pair.t[1])
        t = max(_root(margin, start, end), start + LATER * (end - start))
        return Hit(i, t, nothing, breaks=True)


def _within(steps: Steps, at: npt.NDArray[np.int64]) -> Array:
    """Velocities (n - 1, places, k) of coordinates at INSIDE of each step, by a cubic through v and a."""
    h = np.diff(steps.t)[:, None, None]
    v, a, s = steps.v[:, at], steps.a[:, at], INSIDE[None, :, None]
    v0, v1, a0, a1 = v[:-1, None], v[1:, None], a[:-1, None], a[1:, None]
    rest = 1.0 - s
    return np.asarray(
        v0 * rest**2 * (1.0 + 2.0 * s) + v1 * s**2 * (3.0 - 2.0 * s) + h * s * rest * (a0 * rest - a1 * s)
    )


def _root(g: Callable[[float], float], start: float, end: float) -> float:
    """Time at which g becomes negative; `end` where it jumps there, or is negative from the start on."""
    from scipy.optimize import brentq

    before, after = g(start), g(end)
    if not before > 0.0 or not after < 0.0:
        return end
    return float(brentq(g, start, end, xtol=LOCATED * (end - start), rtol=4 * np.finfo(float).eps))
