"""Singular poses along a run, from the rank and the smallest pivot that the compiled run keeps of each step.

A pass through a singular pose is a zero of the smallest singular value s(t) between two steps. The test is a
local minimum of the pivots that is not larger than REACH times their change over a step, the longer one of
the two beside it: adaptive steps cross a pose in one that is longer than those before it. The pass is then
located as the minimum of s on the interpolant, by grids that shrink around it: near its zero s is the
absolute value of a linear function, so the next grid is a short one about the point where the lines from both
sides meet. A step that ends at the singular pose itself has a lower rank. Adaptive methods can pass a
singular pose within one long step: s is evaluated at several times inside such steps. A minimum that is small
and not zero is a near miss.

A machine that comes to rest at a singular pose may leave it on any branch: where branches cross, only the
velocity tells them apart.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..system.step_records import Steps
from ..system.system import System
from .events import Event
from .interpolation import Hermite, Manifold
from .pass_energy import LOST_BY_FIXED_STEPS, MOST_LOST, UNTESTED, PassEnergy
from .singular_start import off_branch

NAME, NEAR_MISS = "singular pose", "near miss"
NEAR = 5e-6  # a smallest singular value below this is a pass: LOST_IN_PASSING of the kernel
MISS = 1e-2  # a local minimum of the smallest singular value below this, but not a pass, is a near miss
DIP = 3.0  # pivots before it must have been so many times larger
AMPLIFIED = 1e4  # misses up to so many times the error of the integration depend on it
DEEP = 1e-3  # so is one below this fraction of the pivots at the steps before and after
SLOW = 0.03  # of the largest speed, 1e-3 of the kinetic energy: what is slower has come to rest there
SHORTEST = 1e-12  # of the longest step: shorter ones, as at changes of the mode, count as so long
APART = 1e-5  # two minima are two passes only if a pivot between them was larger than this
REACH = 2.0  # a minimum of the pivots up to this multiple of their change per step may be a zero of s
GRID, SHORT_GRID, ROUNDS = 33, 9, 8  # points
LINES_APART = 8.0  # times d^2 / W, d their spacing, W the first width: so far from the minimum lines meet
LONG = 0.05  # steps that move a coordinate further than this [rad, lengths over L] are tested inside
MOST_FREE, MOST_COORDINATES = 32, 96  # of the kernel, integrate/singular/near_miss.hpp
NOTHING = 1e-12  # entries of J below this are rounding [1, m]
MOST_INSIDE = 64  # largest number of intervals of such a step


class SingularWatch:
    """Checks the steps of a run, piece by piece, and keeps the last two of them."""

    def __init__(self, system: System, manifold: Manifold, first: Steps, adaptive: bool) -> None:
        self._system, self._manifold = system, manifold
        self._tail = first
        self._lost_since = float(first.t[0])
        self._most = int(first.rank[0])
        self._begun, self._fastest = float(first.t[0]), self._speed(first.v)
        self._apart = np.inf  # largest pivot since the last pass
        self.found: list[Event] = []
        self._passed: list[float] = []  # times of passes and near misses between steps [s]
        self.energy = PassEnergy(system, manifold, first, MOST_LOST if adaptive else LOST_BY_FIXED_STEPS)
        self.untested = None if adaptive else PassEnergy(system, manifold, first, np.inf, UNTESTED)
        self.start = ""  # why no motion starts so, in words
        if system.nc and system.loses_rank(float(first.t[0]), first.q[0], self._most):
            self._report(first, self._most)
            self._apart = 0.0
            self.start = off_branch(system, first)

    def recall(self, before: Steps) -> None:
        """States before the first one, of a run that is resumed."""
        if len(before):
            self._tail = Steps.joined([before, self._tail])[-2:]
            self._most = max(self._most, int(before.rank.max()))

    def look(self, new: Steps) -> None:
        """The next steps."""
        if self._system.nc == 0:
            return
        self._fastest = max(self._fastest, self._speed(new.v))
        self.energy.look(new)
        if self.untested is not None:
            self.untested.look(new)
        steps = Steps.joined([self._tail, new])
        self._ranks(steps)
        self._most = max(self._most, int(new.rank.max()))
        if len(self._tail) == 1:
            self._end(steps[:2], 0)
        self._passes(steps)
        self._inside(steps[len(self._tail) - 1 :])
        self.found.sort(key=lambda event: event.t)
        self._tail = steps[-2:]

    def finish(self) -> None:
        """The run has ended: test its last step, which has no step after it."""
        self.energy.finish()
        if self.untested is not None:
            self.untested.finish()
        if self._system.nc and len(self._tail) == 2:
            self._end(self._tail, 1)

    def sentence(self, error: float) -> str:
        """Near misses whose outcome depends on the accuracy of the integration, in words; empty without any.

        With one degree of freedom there is one curve of poses, and no choice.

        Args:
            error: of the run, relative to one radian or L.
        """
        free = self._system.nv - self._most
        large = free > MOST_FREE or self._system.nv > MOST_COORDINATES
        if large or self._system.has_user_rows or not np.all(self._system.model.holonomic):
            return self._untested()
        if free < 2:
            return ""
        close = [
            (float(event.singular_values[self._most - 1]), event.t)
            for event in self.found
            if event.kind == "near_miss"
        ]
        miss, t = min(close, default=(np.inf, 0.0))
        if not miss < AMPLIFIED * error:
            return ""
        return (
            f"At t = {t:.6g} s it misses a singular pose by little (smallest singular value {miss:.1e}): on"
            " which branch it goes on depends on the accuracy of the integration. Compare with a tighter run;"
            " mech.branches(q) at the pose of the event shows the branches."
        )

    def rest(self, error: float) -> str:
        """The first singular pose at which the motion comes to rest, in words; empty without one.

        Args:
            error: of the run, relative to one radian or L.
        """
        for event in self.found:
            least = float(event.singular_values[self._most - 1])
            there = event.kind == "singular" or least < AMPLIFIED * error
            slow = self._speed(event.v) < SLOW * self._fastest
            if there and slow and event.t > self._begun and self._most < self._system.nv:
                return (
                    f"At t = {event.t:.6g} s it comes to rest, or nearly so, at a singular pose: on which"
                    " branch it goes on depends on the last digits of the integration. Compare with a tighter"
                    " run; mech.branches(q) at the pose of the event shows the branches."
                )
        return ""

    def _speed(self, v: Array) -> float:
        """The largest one, without units [1/s]."""
        return float(np.max(np.abs(v / self._system.units.unit), initial=0.0))

    def _untested(self) -> str:
        """The first pass or near miss, where the kernel cannot test steps for jumps between branches."""
        if not self._passed:
            return ""
        return (
            f"At t = {min(self._passed):.6g} s it passes a singular pose, or misses one by little: with more"
            f" than {MOST_FREE} freedoms or {MOST_COORDINATES} coordinates, rows from Python functions or"
            " rows for velocities only these are not told apart, and a step may have jumped to another"
            " branch. Compare with a tighter run."
        )

    def _ranks(self, steps: Steps) -> None:
        """Report the first and the last of consecutive steps with lost rank."""
        for i in np.flatnonzero(np.diff(steps.rank)) + 1:
            if i < len(self._tail):
                continue
            if steps.rank[i] < steps.rank[i - 1]:
                self._lost_since = float(steps.t[i])
                self._report(steps[i : i + 1], int(steps.rank[i]))
            elif steps.t[i - 1] > self._lost_since:
                self._report(steps[i - 1 : i], int(steps.rank[i - 1]))

    def _passes(self, steps: Steps) -> None:
        """Locate passes at local minima of the pivots."""
        if len(steps) < 3:
            return
        p = steps.pivot
        left, here, right = p[:-2], p[1:-1], p[2:]
        h = np.diff(steps.t)
        h = np.maximum(h, SHORTEST * h.max())
        before, after = np.maximum(h[1:] / h[:-1], 1.0), np.maximum(h[:-1] / h[1:], 1.0)  # at equal steps: 1
        rise = np.maximum((left - here) * before, (right - here) * after)
        full = np.minimum(np.minimum(steps.rank[:-2], steps.rank[1:-1]), steps.rank[2:]) == self._most
        dip = full & (here < left) & (here <= right) & ((here <= REACH * rise) | (here < MISS))
        done = 0
        for i in np.flatnonzero(dip):
            self._apart = max(self._apart, float(p[done : i + 1].max()))
            done = int(i) + 1
            flat = here[i] > REACH * rise[i]
            if self._apart <= APART or (flat and self._apart < 0.5 * DIP * here[i]):
                continue
            if self._locate(steps[i : i + 3]):
                self._apart = 0.0
            elif flat:  # of large mechanisms: estimates of the pivot fluctuate in their last digits
                self._apart = float(p[: i + 2].max())
        self._apart = max(self._apart, float(p[done:-1].max()))

    def _inside(self, steps: Steps) -> None:
        """Locate passes within long steps: local minima of the smallest pivot between their ends."""
        travel = np.abs(np.diff(steps.t)[:, None] * steps.v[1:] / self._system.units.unit)
        full = np.minimum(steps.rank[:-1], steps.rank[1:]) == self._most
        far = 1 + np.flatnonzero(full & (travel.max(axis=1) > LONG))
        if len(far) == 0:
            return
        _, J, _, _ = self._system.constraints(steps.t[far], steps.q[far], steps.v[far])
        moved = np.zeros(
            len(travel)
        )  # by coordinates that the constraints depend on: a base may fly anywhere
        moved[far - 1] = (travel[far - 1] * (np.abs(J).max(axis=1) > NOTHING)).max(axis=1)
        long = np.flatnonzero(moved > LONG)
        if len(long) == 0:
            return
        count = min(int(moved[long].max() / LONG), MOST_INSIDE) + 3
        times = np.linspace(steps.t[long], steps.t[long + 1], count, axis=1)
        states = Hermite(self._manifold, steps)(times.ravel())[0]
        s = self._system.least_pivots(times.ravel(), states, self._most).reshape(times.shape)
        left, here, right = s[:, :-2], s[:, 1:-1], s[:, 2:]
        dip = (here < left) & (here <= right) & (here <= REACH * (np.maximum(left, right) - here))
        for i, k in zip(*np.nonzero(dip), strict=True):
            low, high = times[i, k], times[i, k + 2]
            if not any(low <= event.t <= high for event in self.found):
                self._locate(steps[long[i] : long[i] + 2], (low, high))

    def _end(self, pair: Steps, end: int) -> None:
        """Locate a pass within the first (end = 0) or the last step (end = 1) of a run."""
        here, rise = pair.pivot[end], pair.pivot[1 - end] - pair.pivot[end]
        full = bool(np.all(pair.rank == self._most))
        if full and rise > 0.0 and here <= REACH * rise and self._apart > APART and self._locate(pair):
            self._apart = 0.0

    def _locate(self, around: Steps, within: tuple[float, float] | None = None) -> bool:
        """Find the minimum of the smallest singular value in these steps; report it if it is small."""
        if not around.t[0] < around.t[-1]:  # steps below the resolution of time have nothing between them
            return False
        path = Hermite(self._manifold, around)
        t, least = self._minimum(path, within or (around.t[0], around.t[-1]))
        passes = least < max(NEAR, DEEP * min(around.pivot[0], around.pivot[-1]))
        if not passes and not (least < MISS and max(self._apart, around.pivot[0]) > DIP * least):
            return False
        if any(abs(event.t - t) < 1e-3 * (around.t[-1] - around.t[0]) for event in self.found):
            return True  # reported already
        q, v, _ = path(t)
        s = self._system.singular_values(np.array([t]), q)[0]
        self._passed.append(t)
        if passes:
            i = int(np.clip(np.searchsorted(around.t, t, side="right"), 1, len(around) - 1))
            self.energy.cross(around[i - 1 : i], around[i : i + 1])
            rank = int(np.sum(s > max(self._system.units.rank_tol, 10.0 * least)))
            self.found.append(Event(NAME, "singular", t, q[0], v[0], rank=rank, singular_values=s))
        else:
            self.found.append(
                Event(NEAR_MISS, "near_miss", t, q[0], v[0], rank=self._most, singular_values=s)
            )
        return True

    def _minimum(self, path: Hermite, within: tuple[float, float]) -> tuple[float, float]:
        """Time and value of the smallest singular value where it is least within an interval."""
        (low, high), count, bracket, best = within, GRID, within, (np.inf, within[0])
        straight = True  # lines from both sides have met at the minimum so far
        for _ in range(ROUNDS):
            times = np.linspace(low, high, count)
            values = self._system.nearness(times, path(times)[0], self._most)
            k = int(np.argmin(values))
            best = min(best, (float(values[k]), float(times[k])))
            if best[0] < 1e-3 * self._system.units.rank_tol:
                break
            if count < GRID and not 0 < k < count - 1:
                (low, high), count, straight = bracket, GRID, False
                continue
            low, high = bracket = float(times[max(k - 1, 0)]), float(times[min(k + 1, count - 1)])
            if straight and 1 < k < count - 2 and (meet := _lines_meet(times, values, k)) is not None:
                apart = LINES_APART * (times[1] - times[0]) ** 2 / (within[1] - within[0])
                low, high, count = max(meet - apart, low), min(meet + apart, high), SHORT_GRID
        return best[1], best[0]

    def _report(self, one: Steps, rank: int) -> None:
        s = self._system.singular_values(one.t, one.q)[0]
        t = float(one.t[0])
        self.found.append(Event(NAME, "singular", t, one.q[0], one.v[0], rank=rank, singular_values=s))


def _lines_meet(times: Array, values: Array, k: int) -> float | None:
    """Where the lines through the two points before and the two after point k meet, if next to it."""
    left, right = values[k - 2] - values[k - 1], values[k + 2] - values[k + 1]  # per interval, downwards
    if not (left > 0.0 and right > 0.0):
        return None
    part = (values[k - 1] - values[k + 1] + 2.0 * right) / (left + right)  # intervals after point k - 1
    return float(times[k - 1] + part * (times[1] - times[0])) if 0.0 < part < 2.0 else None
