"""Signature motions by laws of their own: a trot, a body on cables that pull only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..control.hierarchy.gait import Gait
from ..control.hierarchy.task_hierarchy import TaskHierarchy
from ..control.hierarchy.tasks import PriorityTask
from ..control.limits.limits import CableTension, Friction
from ..control.motion.projected_inverse_dynamics import ForceLimits
from ..control.outputs.body import BodyPose, Position
from ..control.outputs.references import MinimumJerk
from ..mechanism.mechanism import Mechanism
from ..simulation.events.switches import Switch
from ..simulation.simulate import simulate
from ..simulation.trajectory.trajectory import Trajectory
from .motions import from_rest

FEET = ("front_left", "front_right", "rear_left", "rear_right")
PAIRS = (("front_left", "rear_right"), ("front_right", "rear_left"))
BEGIN = 0.2  # [s]


@dataclass(frozen=True)
class Trot:
    """Walks ahead on alternating pairs of feet.

    Attributes:
        distance: [m].
        duration: [s] of walking.
    """

    distance: float
    duration: float

    def __call__(self, mech: Mechanism, progress: bool) -> Trajectory:
        trunk = mech.pose(mech.default.q, "trunk")
        ahead = trunk.xyz[:2] + np.array([self.distance, 0.0])
        way = MinimumJerk(trunk.xyz[:2], ahead, self.duration, t0=BEGIN)
        feet = {foot: (f"{foot}_shank", (0.0, 0.0, -0.2)) for foot in FEET}
        gait = Gait(mech, feet, PAIRS, way, start=BEGIN, end=self.duration + BEGIN)
        level = PriorityTask(BodyPose("trunk", axes=("z", "rx", "ry", "rz")), trunk, kp=200.0, priority=2)
        walk = PriorityTask(Position("trunk", axes="xy"), way, kp=60.0, priority=3)
        cones = [Friction(foot, 0.6, least=5.0) for foot in FEET]
        tasks = [*gait.tasks(priority=1), level, walk]
        law = TaskHierarchy(mech, tasks, active=gait.active, limits=cones)
        end = self.duration + 1.0
        times = {foot: gait.switching(foot, end) for foot in FEET}
        switches = [Switch(foot, on, off, closed=True, latch=True) for foot, (on, off) in times.items()]
        return simulate(
            mech, (0.0, end), control=law, control_dt=4e-3, dt=2e-3, switches=switches, progress=progress
        )


@dataclass(frozen=True)
class OnCables:
    """The body of the cable robot along a closed curve, every cable taut.

    Attributes:
        duration: [s].
        points: of the body's x [m], y [m] and angle [rad].
    """

    duration: float
    points: Sequence[tuple[float, float, float]]

    def __call__(self, mech: Mechanism, progress: bool) -> Trajectory:
        path = from_rest(np.array([*self.points, self.points[0]]), self.duration)
        cables = CableTension(mech.actuators, 2.0, 200.0)
        law = ForceLimits(mech, ["body.x", "body.y", "body.angle"], path, cables, kp=400.0)
        return simulate(mech, (0.0, self.duration), control=law, control_dt=4e-3, dt=4e-3, progress=progress)
