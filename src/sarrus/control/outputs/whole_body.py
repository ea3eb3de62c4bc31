"""Outputs for task hierarchies: orientation, centre of mass, pose relative to another body, posture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._kernel import OutputSetup
from ...arrays import Array
from ...errors import InputError
from ...models.base.pose import Pose
from ...models.base.pose_error import turn_error
from ...models.base.rotation import cross, hat
from ...models.model import Model
from ..state.measured_state import MeasuredState
from .body import AXES, POSE_AXES, PoseOutput, axis_indices, body_and_point, body_output, point_motion
from .output import TURN, BoundOutput, Coordinates, OutputTracking, VectorOutput
from .references import Target

TURN_AXES = POSE_AXES[3:]


@dataclass(frozen=True)
class Orientation:
    """Orientation of a body; its error is log(R_d R.T) [rad] in world axes.

    The reference is a Pose (its position is ignored), with angular velocity and acceleration (3,), or
    [linear; angular] (6,), in world axes.

    Args:
        body: its name.
        axes: which components count, of "rx", "ry", "rz"; default all three.
    """

    body: str
    axes: Sequence[str] = TURN_AXES

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _Orientation(self, system)


class _Orientation(PoseOutput):
    allowed = TURN_AXES
    shapes = ((3,), (6,))
    shape_rule = "the angular one, shape (3,), or have shape (6,), got"

    def __init__(self, given: Orientation, system: Any) -> None:
        self._body, self._origin = body_and_point(given.body, (0.0, 0.0, 0.0), system, "Orientation")
        super().__init__(given.body, given.axes, system, "Orientation")

    def compiled(self, accelerated: bool) -> OutputSetup:
        return body_output(TURN, accelerated, self._body, self._origin, self._rows)

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        _, V, A, J, R = now.point(self._body, self._origin)
        e, rate, T, c = turn_error(R, V[3:], target.x.rotation, target.v[-3:], target.a[-3:])
        found = OutputTracking(-e, np.zeros(3), e, rate, J[3:], c - A[3:], T=T)
        return found if self.size == 3 else found.components(self._rows)

    def present(self, now: MeasuredState, a: Array) -> Target:
        R, w = now.poses[0][self._body], now.motion[0][self._body, 3:]
        return Target(Pose(matrix=R), w, self.all_components(a))


@dataclass(frozen=True)
class CenterOfMass:
    """World coordinates [m] of the centre of mass of the whole mechanism, or of some bodies.

    Args:
        axes: which world coordinates: any of "x", "y", "z", such as "xy".
        bodies: names of the bodies that count; default all.
    """

    axes: str = "xyz"
    bodies: Sequence[str] | None = None

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _CenterOfMass(self, system)


class _CenterOfMass(VectorOutput):
    def __init__(self, given: CenterOfMass, system: Any) -> None:
        body_and_point("ground", (0.0, 0.0, 0.0), system, "CenterOfMass")
        self._parts = _heavy_parts(system.model, given.bodies)
        self._total = sum(mass for _, mass, _ in self._parts)
        if self._total == 0.0:
            raise InputError("CenterOfMass needs bodies with mass, and these have none.")
        self._rows = axis_indices(given.axes, AXES, "CenterOfMass")
        names = [f"com.{AXES[i]}" for i in self._rows]
        super().__init__(names, np.full(len(names), system.length))

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        sums, J = np.zeros((3, 3)), np.zeros((3, len(now.v)))
        for body, mass, point in self._parts:
            sums += mass * np.array(point_motion(now, body, point))
            J += mass * now.jacobian(body, point)[:3]
        x, v, bias = sums[:, self._rows] / self._total
        return self.tracking_error(target, x, v, J[self._rows] / self._total, bias)


@dataclass(frozen=True)
class RelativePose:
    """Pose of a body relative to another body, which may move; errors in the axes of that other body.

    The reference is a Pose of `body` in the frame of `other`, with velocities relative to that frame.

    Args:
        body: its name.
        other: name of the body relative to which the pose is taken.
        point: of `body`, in its frame [m], (3,).
        axes: which components count, of "x", "y", "z", "rx", "ry", "rz"; default all six.
    """

    body: str
    other: str
    point: Any = (0.0, 0.0, 0.0)
    axes: Sequence[str] = POSE_AXES

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _RelativePose(self, system)


class _RelativePose(PoseOutput):
    def __init__(self, given: RelativePose, system: Any) -> None:
        self._other, self._origin = body_and_point(given.other, (0.0, 0.0, 0.0), system, "RelativePose")
        self._body, self._point = body_and_point(given.body, given.point, system, "RelativePose")
        super().__init__(f"{given.body} from {given.other}", given.axes, system, "RelativePose")

    def motion(self, now: MeasuredState) -> tuple[Array, Array, Array, Array]:
        """Position (3,), rotation (3, 3), velocity (6,), acceleration at a = 0 (6,), relative to `other`."""
        p, v, bias = point_motion(now, self._body, self._point)
        R, origin = now.poses
        V, A = now.motion
        other, body = self._other, self._body
        w, r = V[other, 3:], p - origin[other]
        # r' relative to the frame of `other`: v_B - v_A - w x r, and its derivative in that frame
        seen = v - V[other, :3] - cross(w, r)
        rest = bias - A[other, :3] - cross(A[other, 3:], r) - cross(w, cross(w, r)) - 2.0 * cross(w, seen)
        turning = V[body, 3:] - w
        turn_rest = A[body, 3:] - A[other, 3:] - cross(w, V[body, 3:])
        to = R[other].T
        both = np.concatenate([to @ seen, to @ turning]), np.concatenate([to @ rest, to @ turn_rest])
        return to @ r, to @ R[body], both[0], both[1]

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        p, R, V, bias = self.motion(now)
        turn = turn_error(R, V[3:], target.x.rotation, target.v[3:], target.a[3:])
        T = np.eye(6)
        T[3:, 3:] = turn.T
        found = OutputTracking(
            x=np.concatenate([p, -turn.e]),
            desired=np.concatenate([target.x.xyz, np.zeros(3)]),
            e=np.concatenate([target.x.xyz - p, turn.e]),
            rate=np.concatenate([target.v[:3] - V[:3], turn.rate]),
            J=self._jacobian(now),
            c=np.concatenate([target.a[:3], turn.c]) - bias,
            T=T,
        )
        return found.components(self._rows)

    def _jacobian(self, now: MeasuredState) -> Array:
        J, base = now.jacobian(self._body, self._point), now.jacobian(self._other, self._origin)
        R, origin = now.poses
        to = R[self._other].T
        r = origin[self._body] + R[self._body] @ self._point - origin[self._other]
        return np.concatenate([to @ (J[:3] - base[:3] + hat(r) @ base[3:]), to @ (J[3:] - base[3:])])

    def present(self, now: MeasuredState, a: Array) -> Target:
        p, R, V, _ = self.motion(now)
        return Target(Pose(p, matrix=R), V, self.all_components(a))


@dataclass(frozen=True)
class Posture:
    """Joint coordinates as one output; default all actuated ones, in the order of u.

    Args:
        names: of the coordinates.
    """

    names: Sequence[str] | None = None

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        chosen = list(system.actuators) if self.names is None else list(self.names)
        return Coordinates(*chosen).bind(system)


def _heavy_parts(model: Model, bodies: Sequence[str] | None) -> list[tuple[int, float, Array]]:
    """Body, mass and centre of mass in it of each node that moves and has mass, of some bodies or of all."""
    parts: dict[int, tuple[int, float, Array]] = {}
    names = [body.name for body in model.bodies] if bodies is None else bodies
    for body in sorted(model.body_index(name, "CenterOfMass") for name in names):
        node = int(model.body_node[body])
        in_body = model.R_NB[body].T @ (model.com[node] - model.p_NB[body])
        parts.setdefault(node, (body, float(model.mass[node]), np.ascontiguousarray(in_body)))
    return [part for node, part in parts.items() if node > 0 and part[1] != 0.0]
