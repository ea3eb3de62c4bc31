"""Kinds of signature motions: let go, motors that turn or follow curves, bodies that follow curves, laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..control.motion.projected_inverse_dynamics import ProjectedInverseDynamics
from ..control.outputs.body import Position
from ..control.outputs.references import Spline, Target
from ..mechanism.mechanism import Mechanism
from ..models.tables import position_names
from ..simulation.simulate import simulate
from ..simulation.trajectory.trajectory import Trajectory

RTOL = 1e-6  # pictures need no more
STIFFNESS = 400.0  # [1/s^2] of motors that follow curves


@dataclass(frozen=True)
class LetGo:
    """From the default state, without motors or with inputs that are functions of (t, q, v).

    Attributes:
        duration: [s].
        inputs: u (nu,) [N, N m]; None: motors exert nothing.
        changes: of the start, {name of a velocity: value [m/s, rad/s]}.
    """

    duration: float
    inputs: Callable[[float, Array, Array], Any] | None = None
    changes: Mapping[str, float] | None = None

    def __call__(self, mech: Mechanism, progress: bool) -> Trajectory:
        q, v = mech.default
        if self.changes is not None:
            v = mech.consistent_velocity(q, fixed=dict(self.changes))
        return simulate(mech, (0.0, self.duration), q, v, control=self.inputs, rtol=RTOL, progress=progress)


@dataclass(frozen=True)
class Turn:
    """Motors at constant speed from the default pose on.

    Attributes:
        duration: [s].
        turns: {coordinate: turns in this time}.
    """

    duration: float
    turns: Mapping[str, float]

    def __call__(self, mech: Mechanism, progress: bool) -> Trajectory:
        start = values_at_start(mech, list(self.turns))
        rate = 2.0 * np.pi * np.array(list(self.turns.values())) / self.duration
        still = np.zeros(len(rate))
        return follow(
            mech,
            list(self.turns),
            lambda t: Target(start + rate * t, rate, still),
            self.duration,
            progress,
            speeds=dict(zip(self.turns, rate, strict=True)),
        )


@dataclass(frozen=True)
class Cycle:
    """Coordinates along smooth closed curves through points at equal times, from the default pose.

    Attributes:
        duration: [s] of one cycle.
        points: {coordinate: values less the value at the start [m, rad]}; the first is 0, as many for each.
        cycles: how many.
    """

    duration: float
    points: Mapping[str, Sequence[float]]
    cycles: int = 1

    def __call__(self, mech: Mechanism, progress: bool) -> Trajectory:
        start = values_at_start(mech, list(self.points))
        path = start + np.array([[*row, row[0]] for row in self.points.values()]).T
        curve = closed_curve(path, self.duration)
        speed = dict(zip(self.points, curve(0.0).v, strict=True))
        return follow(mech, list(self.points), curve, self.cycles * self.duration, progress, speeds=speed)


@dataclass(frozen=True)
class PointPath:
    """A point of a body along a smooth closed curve, from the default pose and from rest.

    Attributes:
        duration: [s].
        body: whose origin moves.
        axes: of the world, "xyz" or fewer.
        points: less the place at the start [m], the first is 0; each as long as `axes`.
        damping: [1/s] of motions that the path leaves free.
    """

    duration: float
    body: str
    axes: str
    points: Sequence[Sequence[float]]
    damping: float = 0.0

    def __call__(self, mech: Mechanism, progress: bool) -> Trajectory:
        place = mech.pose(mech.default.q, self.body).xyz[["xyz".index(x) for x in self.axes]]
        curve = from_rest(place + np.array([*self.points, self.points[0]]), self.duration)
        output = Position(self.body, axes=self.axes)
        return follow(mech, output, curve, self.duration, progress, damping=self.damping)


def follow(
    mech: Mechanism,
    outputs: Any,
    curve: Callable[[float], Target],
    duration: float,
    progress: bool,
    *,
    speeds: Mapping[str, float] | None = None,
    damping: float = 0.0,
) -> Trajectory:
    """The run in which motors bring outputs along a curve, from the default pose with given speeds."""
    q = mech.default.q
    v = np.zeros(mech.nv) if speeds is None else mech.consistent_velocity(q, fixed=dict(speeds))
    law = ProjectedInverseDynamics(mech, outputs, curve, kp=STIFFNESS, leftover_damping=damping)
    return simulate(mech, (0.0, duration), q, v, control=law, rtol=RTOL, progress=progress)


def values_at_start(mech: Mechanism, coordinates: Sequence[str]) -> Array:
    """Values of coordinates in the default pose [m, rad], (k,)."""
    known = position_names(mech.model)
    return np.array([mech.default.q[known.index(name)] for name in coordinates])


def closed_curve(points: Array, duration: float) -> Spline:
    """A periodic spline through points (n, k) at equal times; the last one is the first."""
    return Spline(np.linspace(0.0, duration, len(points)), points, ends="periodic")


def from_rest(points: Array, duration: float) -> Spline:
    """A spline through points (n, k) at equal times, at rest at both ends."""
    return Spline(np.linspace(0.0, duration, len(points)), points)


def wave(names: Sequence[str], size: float, period_share: float, count: int = 12) -> dict[str, list[float]]:
    """Points of `Cycle`: all follow one sine of amplitude `size`, each later than the one before.

    `period_share` says by which share of the period. Less their first value: all begin where they are.
    """
    phase = 2.0 * np.pi * np.arange(count) / count
    late = 2.0 * np.pi * period_share * np.arange(len(names))
    curves = size * (np.sin(phase[None] - late[:, None]) + np.sin(late)[:, None])
    return dict(zip(names, curves.tolist(), strict=True))
