"""Limits of joints and actuators along a run: reported where they are crossed, never enforced.

A joint limit does not stop a coordinate; stops do (`stop_stiffness`, or `stops=True`), so coordinates with
stops are not watched. Inputs beyond the limits of their actuator are applied unchanged. Crossings of joint
limits are located on the interpolant. Inputs may jump: their event is the first step beyond the limits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ..system.step_records import Steps
from ..system.system import System
from .events import Event, zero_between
from .interpolation import Hermite, Manifold, coordinate_between

TOUCH = 1e-9  # [rad], or times L [m]: an excess below this is no crossing
WITHIN, ABOVE, BELOW = 0, 1, -1


class LimitWatch:
    """Checks the steps and inputs of a run, piece by piece; `found` are the events."""

    def __init__(self, system: System, manifold: Manifold, controlled: bool) -> None:
        """
        Args:
            system: whose limits.
            manifold: its configurations.
            controlled: whether a controller sets the inputs.
        """
        model = system.model
        self._controlled = controlled
        limits, scalar = model.limits, np.array(model.coordinate_q, dtype=int)
        stopped = model.has_stop
        self._joints = np.flatnonzero(np.isfinite(limits).any(axis=1) & (scalar >= 0) & ~stopped)
        self._q_index = scalar[self._joints]
        self._limits, self._slack = limits[self._joints], TOUCH * system.units.unit[self._joints]
        self._names = [model.coordinate_names[k] for k in self._joints]
        self._actuators = model.actuators
        self._u_limits = np.array([(x.lower, x.upper) for x in model.actuators]).reshape(-1, 2)
        self._u_peak = np.zeros((len(model.actuators), 2))  # least and greatest input seen
        self._u_seen: set[int] = set()
        self._manifold = manifold
        self._tail: Steps | None = None
        self.found: list[Event] = []

    def look(self, new: Steps, u: Array) -> None:
        """The next steps (the first of all at the start) and their inputs (k, nu)."""
        if len(new) == 0:
            return
        if self._controlled:
            self._look_inputs(new, u)
        if len(self._joints) == 0:
            return
        steps = new if self._tail is None else Steps.joined([self._tail, new])
        sides = self._sides(steps.q)
        if self._tail is None:
            for j in np.flatnonzero(sides[0]):
                self._report(int(j), int(sides[0, j]), steps, float(steps.t[0]), steps.q[0], steps.v[0])
        for i, j in np.argwhere(np.diff(sides, axis=0)):
            self._cross(steps[i : i + 2], int(j), int(sides[i, j]), int(sides[i + 1, j]))
        self._tail = steps[-1:]

    def added_to(self, message: str, end: float) -> str:
        """The message of a run, and a sentence on what went beyond its limits up to time `end` [s]."""
        said = []
        joints = [event for event in self.found if event.name in self._names and event.t <= end]
        if joints:
            first = {event.name: event.t for event in reversed(joints)}
            listed = ", ".join(f"{name} (first at t = {t:.6g} s)" for name, t in sorted(first.items()))
            said.append(f"Beyond their limits, which stop nothing (stops=True would): {listed}.")
        if self._u_seen:
            listed = "; ".join(self._input_words(k) for k in sorted(self._u_seen))
            said.append(f"Inputs beyond the limits of their actuators, applied as they are: {listed}.")
        return message + ("\n" if "\n" in message else " ") + " ".join(said) if said else message

    # ------------------------------------------------------------------ joints

    def _sides(self, q: Array) -> npt.NDArray[np.int64]:
        """On which side of its range each coordinate is: -1 below, 0 within, 1 above, (k, number watched)."""
        x = q[:, self._q_index]
        above, below = x > self._limits[:, 1] + self._slack, x < self._limits[:, 0] - self._slack
        return above.astype(np.int64) - below.astype(np.int64)

    def _cross(self, pair: Steps, j: int, before: int, after: int) -> None:
        """Report a crossing within one step; across the whole range, the side where it ends counts."""
        if pair.t[1] == pair.t[0]:  # contacts have moved it out
            self._report(j, after, pair, float(pair.t[1]), pair.q[1], pair.v[1])
            return
        limit = self._limits[j, 1 if ABOVE in (before, after) else 0]
        along = coordinate_between(pair, int(self._q_index[j]), int(self._joints[j]))
        t = zero_between(lambda t: along(t) - limit, float(pair.t[0]), float(pair.t[1]))
        path = Hermite(self._manifold, pair)
        q, v, _ = path(t)
        self._report(j, after, pair, t, q[0], v[0])

    def _report(self, j: int, side: int, steps: Steps, t: float, q: Array, v: Array) -> None:
        lower, upper = self._limits[j]
        note = {
            WITHIN: f"back within its limits {lower:g} to {upper:g}",
            ABOVE: f"above its upper limit {upper:g}",
            BELOW: f"below its lower limit {lower:g}",
        }[side]
        self.found.append(Event(self._names[j], "limit", t, q, v, int(steps.rank[0]), note=note))

    # ------------------------------------------------------------------ inputs

    def _look_inputs(self, new: Steps, u: Array) -> None:
        """The first step at which an input is beyond the limits of its actuator, and how far it goes."""
        beyond = (u < self._u_limits[:, 0]) | (u > self._u_limits[:, 1])
        if not np.any(beyond):
            return
        self._u_peak[:, 0] = np.minimum(self._u_peak[:, 0], u.min(axis=0))
        self._u_peak[:, 1] = np.maximum(self._u_peak[:, 1], u.max(axis=0))
        first_time = set(np.flatnonzero(beyond.any(axis=0)).tolist()) - self._u_seen
        self._u_seen |= first_time
        for k in sorted(first_time):
            i = int(np.argmax(beyond[:, k]))
            lower, upper = self._u_limits[k]
            note = f"input {u[i, k]:.4g} beyond the limits {lower:g} to {upper:g} of the actuator"
            name = f"actuator {self._actuators[k].name}"
            self.found.append(
                Event(name, "limit", float(new.t[i]), new.q[i], new.v[i], int(new.rank[i]), note=note)
            )

    def _input_words(self, k: int) -> str:
        (low, high), (lower, upper) = self._u_peak[k], self._u_limits[k]
        worst = high if high - upper > lower - low else low
        return f"{self._actuators[k].name} up to {worst:.4g}, limits {lower:g} to {upper:g}"
