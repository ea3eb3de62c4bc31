"""Gait: a periodic schedule of stance and swing, and the trajectories of the swinging feet.

A foot in stance is an active constraint, a foot in swing follows a task. Groups of feet swing one after the
other; between two swings all feet stand. Footholds are chosen so that a foot is at its neutral position
relative to the trunk in the middle of its next stance, provided that the trunk follows the reference `way`
(x and y on the ground). The heading of the trunk is constant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, mapping, names, nonnegative, positive
from ...errors import InputError, require_known
from ..core.hardware import check_mechanism
from ..outputs.body import Position
from ..outputs.references import Reference, Target, as_reference, minimum_jerk
from .landings import Forces, Landings
from .support_path import SupportPath
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
        measured: a function of (t, q, v) that returns the normal force on each foot, {constraint: N}. Feet
            then stand again when they touch: one that touches early ends its swing, one that is late goes on
            downwards. Default: feet stand when the schedule says so.
        touch: normal force from which a foot counts as standing [N].
        search: speed at which a late foot goes down [m/s].
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
        measured: Forces | None = None,
        touch: float = 10.0,
        search: float = 0.1,
    ) -> None:
        check_mechanism(mech, "Gait")
        self._feet = mapping(feet, "feet of Gait", "{constraint: (body, point)}")
        if isinstance(groups, str) or not isinstance(groups, Sequence):
            raise InputError(f"groups of Gait must be several lists of feet, got {groups!r:.80}.")
        groups = [names(group, "a group of Gait") for group in groups]
        for foot in [*self._feet, *(foot for group in groups for foot in group)]:
            require_known("constraint", foot, mech.evaluator.constraint_rows, "Gait")
            require_known("foot", foot, self._feet, "groups of Gait")
        self._loops = tuple(name for name in mech.evaluator.constraint_rows if name not in self._feet)
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
        self.support = self._slot - self._swing
        self._count = len(groups)
        self.period = self._count * self._slot
        self._neutral = {foot: _place(mech, body, point) for foot, (body, point) in self._feet.items()}
        self._search = nonnegative(search, "search of Gait")
        self._landings = None if measured is None else Landings(measured, positive(touch, "touch of Gait"))

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
        """The feet that stand and all constraints that are no feet, for `active=` of a controller."""
        return (*self._loops, *(foot for foot in self._feet if self.stands(foot, t, q, v)))

    def stands(self, foot: str, t: float, q: Any = None, v: Any = None) -> bool:
        """Whether a foot stands: by the schedule, or where forces are measured by these."""
        if self._landings is None:
            return self.swinging(foot, t) is None
        k, phase = self._last_swing(foot, t)
        return k < 0 or self._landings.has_landed(foot, k, phase, (t, q, v))

    def swings(self, foot: str) -> Iterator[tuple[float, float]]:
        """When the swings of a foot begin and end [s], in order."""
        for k in itertools.count():
            begin = self._begins(foot, k)
            if foot not in self._phase or begin > self._end:
                return
            yield begin, begin + self._swing

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Feet that swing together."""
        order = sorted(set(self._phase.values()))
        return tuple(tuple(foot for foot in self._phase if self._phase[foot] == i) for i in order)

    def _last_swing(self, foot: str, t: float) -> tuple[int, float]:
        """The number of the last swing that has begun, -1: none, and its phase, 1 and more after its end."""
        if foot not in self._phase:
            return -1, 0.0
        k = math.floor((t + ROUNDING - self._begins(foot, 0)) / self.period)
        while k >= 0 and self._begins(foot, k) > self._end:
            k -= 1
        return k, (t + ROUNDING - self._begins(foot, k)) / self._swing if k >= 0 else 0.0

    def switching(self, foot: str, until: float) -> tuple[list[float], list[float]]:
        """Times [s] at which a foot touches down and at which it lifts off, up to `until`."""
        on: list[float] = []
        off: list[float] = []
        for begin, end in itertools.takewhile(lambda swing: swing[0] <= until, self.swings(foot)):
            off.append(begin)
            on.append(end)
        return [t for t in on if t <= until], off

    def _begins(self, foot: str, k: int) -> float:
        return self._start + self._phase.get(foot, 0) * self._slot + k * self.period

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
        """Position, velocity and acceleration of a foot as a function of time [s]; at rest in stance.

        Where forces are measured the foot goes on downwards after its swing, until it stands.
        """
        swing, up = self._swing, np.array([0.0, 0.0, self._lift])
        down = np.array([0.0, 0.0, 0.0 if self._landings is None else -self._search])

        def at(t: float) -> Target:
            k, s = self._last_swing(foot, t)
            if k < 0 or s >= 1.0:
                late = (s - 1.0) * swing if k >= 0 else 0.0
                return Target(
                    self.foothold(foot, k) + late * down, down if k >= 0 else 0.0 * down, np.zeros(3)
                )
            here, there = self.foothold(foot, k - 1), self.foothold(foot, k)
            r = 1.0 - s
            # horizontal: minimum_jerk(s); vertical: 64 s^3 (1 - s)^3, whose maximum is 1 at s = 1/2
            x = here + (there - here) * minimum_jerk(s) + up * 64.0 * s**3 * r**3
            v = (there - here) * 30.0 * s * s * r * r + up * 192.0 * s * s * r * r * (r - s)
            a = (there - here) * 60.0 * s * r * (r - s) + up * 384.0 * s * r * (r * r - 3.0 * s * r + s * s)
            return Target(x, v / swing, a / swing**2)

        return at

    def center_of_mass(self, height: float, gravity: float = 9.81) -> Reference:
        """Where the centre of mass should be, (3,) [m], so that feet need no moments.

        Its acceleration is that of a point mass at a constant height above the centre of the standing feet,
        which moves on in a straight line while all feet stand, the inverted pendulum of [Kajita2003].

        Args:
            height: of the centre of mass above the ground, constant [m].
            gravity: [m/s^2].
        """
        return SupportPath(self, self._neutral, (positive(height, "height"), positive(gravity, "gravity")))

    def tasks(self, kp: Any = 900.0, kd: Any = None, priority: float = 1.0) -> list[PriorityTask]:
        """One task for each foot, active during its swing."""
        return [self._task(foot, kp, kd, priority) for foot in self._feet if foot in self._phase]

    def _task(self, foot: str, kp: Any, kd: Any, priority: float) -> PriorityTask:
        follow = self.reference(foot)

        def on(t: float, q: Array, v: Array) -> bool:
            return not self.stands(foot, t, q, v)

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
