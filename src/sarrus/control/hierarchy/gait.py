"""Gait: a periodic schedule of stance and swing, and the trajectories of the swinging feet.

A foot in stance is an active constraint, a foot in swing follows a task. Groups of feet swing one after the
other; between two swings all feet stand. Footholds are chosen so that a foot is at its neutral position
relative to the trunk in the middle of its next stance, provided that the trunk follows the reference `way`
(x and y on the ground). The heading of the trunk is constant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, mapping, names, nonnegative, positive
from ...errors import InputError, require_known
from ..core.hardware import check_mechanism
from ..outputs.body import Position
from ..outputs.references import Reference, Target, as_reference, minimum_jerk
from .tasks import PriorityTask

ROUNDING = 1e-9  # [s] tolerance on switching times: a step that ends this little before one has reached it


class Gait:
    """A periodic gait of a mechanism whose feet are constraints that hold points to the ground.

    Args:
        mech: the mechanism, all feet declared as constraints; its default state is the neutral stance.
        feet: {constraint: (body, point in its frame (3,) [m])}.
        groups: names of the feet that swing together, one group after the other.
        way: reference for the position of the trunk on the ground, x and y (2,) [m]; footholds move by its
            change since t = 0. Default: constant, walking on the spot.
        swing: duration of a swing [s].
        support: duration on all feet between two swings [s].
        lift: largest height of the foot during a swing [m].
        start: time of the first swing [s].
        end: time after which no swing begins [s].
    """

    def __init__(
        self,
        mech: Any,
        feet: Mapping[str, tuple[str, Any]],
        groups: Sequence[Sequence[str]],
        way: Any = (0.0, 0.0),
        *,
        swing: float = 0.2,
        support: float = 0.1,
        lift: float = 0.05,
        start: float = 0.2,
        end: float = math.inf,
    ) -> None:
        check_mechanism(mech, "Gait")
        self._feet = mapping(feet, "feet of Gait", "{constraint: (body, point)}")
        if isinstance(groups, str) or not isinstance(groups, Sequence):
            raise InputError(f"groups of Gait must be several lists of feet, got {groups!r:.80}.")
        groups = [names(group, "a group of Gait") for group in groups]
        for foot in [*self._feet, *(foot for group in groups for foot in group)]:
            require_known("constraint", foot, mech.evaluator.constraint_rows, "Gait")
            require_known("foot", foot, self._feet, "groups of Gait")
        self._phase = {foot: i for i, group in enumerate(groups) for foot in group}
        if sum(len(group) for group in groups) != len(self._phase) or not self._phase:
            raise InputError(f"groups of Gait must name each foot at most once, got {groups!r}.")
        self._way: Reference = as_reference(way)
        self._origin = np.asarray(self._way(0.0).x, dtype=float)
        if self._origin.shape != (2,):
            raise InputError(f"way of Gait must give x and y, shape (2,), got shape {self._origin.shape}.")
        self._swing = positive(swing, "swing of Gait")
        self._slot = self._swing + nonnegative(support, "support of Gait")
        self._lift = nonnegative(lift, "lift of Gait")
        self._start, self._end = float(start), float(end)
        self._count = len(groups)
        self.period = self._count * self._slot
        self._neutral = {foot: _place(mech, body, point) for foot, (body, point) in self._feet.items()}

    # ------------------------------------------------------------------ schedule

    def swinging(self, foot: str, t: float) -> tuple[int, float] | None:
        """Number of the swing and its phase (0 to 1), or None in stance."""
        if foot not in self._phase:
            return None
        since = t + ROUNDING - self._begins(foot, 0)
        k = math.floor(since / self.period)
        into = since - k * self.period
        if k < 0 or into >= self._swing or self._begins(foot, k) > self._end:
            return None
        return k, min(into / self._swing, 1.0)

    def active(self, t: float, q: Any = None, v: Any = None) -> tuple[str, ...]:
        """Names of the feet in stance, for `active=` of a controller."""
        return tuple(foot for foot in self._feet if self.swinging(foot, t) is None)

    def switching(self, foot: str, until: float) -> tuple[list[float], list[float]]:
        """Times [s] at which a foot touches down and at which it lifts off, up to `until`."""
        on: list[float] = []
        off: list[float] = []
        if foot not in self._phase:
            return on, off
        k = 0
        while (begin := self._begins(foot, k)) <= min(until, self._end):
            off.append(begin)
            on.append(begin + self._swing)
            k += 1
        return [t for t in on if t <= until], off

    def _begins(self, foot: str, k: int) -> float:
        return self._start + self._phase[foot] * self._slot + k * self.period

    # ------------------------------------------------------------------ trajectories of feet

    def foothold(self, foot: str, k: int) -> Array:
        """Position of a foot in stance after its k-th swing (3,) [m]; k = -1 is the stance at the start."""
        neutral = self._neutral[foot]
        if k < 0:
            return neutral
        middle = 0.5 * (self._begins(foot, k) + self._swing + self._begins(foot, k + 1))
        if self._begins(foot, k + 1) > self._end:  # the last swing: the foot stays there
            middle = math.inf
        moved = np.asarray(self._way(min(middle, 1e9)).x) - self._origin
        return np.asarray(neutral + np.append(moved, 0.0))

    def reference(self, foot: str) -> Reference:
        """Position, velocity and acceleration of a foot as a function of time [s]; at rest in stance."""
        swing, up = self._swing, np.array([0.0, 0.0, self._lift])

        def at(t: float) -> Target:
            now = self.swinging(foot, t)
            if now is None:
                last = math.floor((t - self._begins(foot, 0)) / self.period) if foot in self._phase else -1
                while last >= 0 and self._begins(foot, last) > self._end:
                    last -= 1
                return Target(self.foothold(foot, last), np.zeros(3), np.zeros(3))
            k, s = now
            here, there = self.foothold(foot, k - 1), self.foothold(foot, k)
            r = 1.0 - s
            # horizontal: minimum_jerk(s); vertical: 64 s^3 (1 - s)^3, whose maximum is 1 at s = 1/2
            x = here + (there - here) * minimum_jerk(s) + up * 64.0 * s**3 * r**3
            v = (there - here) * 30.0 * s * s * r * r + up * 192.0 * s * s * r * r * (r - s)
            a = (there - here) * 60.0 * s * r * (r - s) + up * 384.0 * s * r * (r * r - 3.0 * s * r + s * s)
            return Target(x, v / swing, a / swing**2)

        return at

    def tasks(self, kp: Any = 900.0, kd: Any = None, priority: float = 1.0) -> list[PriorityTask]:
        """One task for each foot, active during its swing."""
        return [self._task(foot, kp, kd, priority) for foot in self._feet if foot in self._phase]

    def _task(self, foot: str, kp: Any, kd: Any, priority: float) -> PriorityTask:
        follow = self.reference(foot)

        def on(t: float, q: Array, v: Array) -> bool:
            return self.swinging(foot, t) is not None

        return PriorityTask(
            Position(*self._feet[foot]),
            lambda t: tuple(follow(t)),
            kp,
            kd,
            priority=priority,
            when=on,
            name=f"swing {foot}",
        )


def _place(mech: Any, body: str, point: Any) -> Array:
    """Position (3,) [m] of a point of a body in the world, at the default pose."""
    found = mech.pose(mech.default.q, body)
    return np.asarray(found.apply(np.asarray(point, dtype=float)))
