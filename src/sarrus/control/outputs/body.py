"""Outputs of bodies: position of a point, and pose of a body with a rotation vector as orientation error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._kernel import OutputSetup
from ...arrays import Array, state
from ...errors import InputError, require_known
from ...models.base.pose import Pose
from ...models.base.pose_error import check_form, pose_error
from ..state.measured_state import MeasuredState
from .output import POINT, POSE, BoundOutput, NamedOutput, OutputTracking, VectorOutput
from .references import Target

AXES = ("x", "y", "z")
POSE_AXES: tuple[str, ...] = ("x", "y", "z", "rx", "ry", "rz")
NO_TURN = np.zeros(3)


def body_output(
    kind: int, accelerated: bool, body: int, point: Array, rows: list[int], *form: bool
) -> OutputSetup:
    """An output for the kernel: components of a point or of the pose of a body."""
    screw, own = form or (False, False)
    more: dict[str, bool] = {"accelerated": accelerated, "screw": screw, "own": own}
    return OutputSetup(kind=kind, size=len(rows), body=body, point=point, rows=rows, **more)


@dataclass(frozen=True)
class Position:
    """World coordinates [m] of a point of a body.

    Args:
        body: its name.
        point: in the body frame [m], (3,).
        axes: which world coordinates: any of "x", "y", "z", such as "xy".
    """

    body: str
    point: Any = (0.0, 0.0, 0.0)
    axes: str = "xyz"

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _Position(self, system)


class _Position(VectorOutput):
    def __init__(self, given: Position, system: Any) -> None:
        self._body, self._point = body_and_point(given.body, given.point, system, "Position")
        self._rows = axis_indices(given.axes, AXES, "Position")
        names = [f"{given.body}.{AXES[i]}" for i in self._rows]
        super().__init__(names, np.full(len(names), system.length))

    def compiled(self, accelerated: bool) -> OutputSetup:
        return body_output(POINT, accelerated, self._body, self._point, self._rows)

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        (x, V, A, J, _), rows = now.point(self._body, self._point), self._rows
        if rows == [0, 1, 2]:
            return self.tracking_error(target, x, V[:3], J[:3], A[:3])
        return self.tracking_error(target, x[rows], V[rows], J[rows], A[rows])


@dataclass(frozen=True)
class BodyPose:
    """Position of a point and orientation of a body.

    Args:
        body: its name.
        point: in the body frame [m], (3,); its pose is (position of the point, orientation of the body).
        axes: which components count, of "x", "y", "z", "rx", "ry", "rz"; default all six.
        error: "split": x_d - x [m] and log(R_d R.T) [rad]; "screw": the logarithm of SE(3), see
            `models/base/pose_error.py`.
        frame: axes of the error, "world" or "body".
    """

    body: str
    point: Any = (0.0, 0.0, 0.0)
    axes: Sequence[str] = POSE_AXES
    error: str = "split"
    frame: str = "world"

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _BodyPose(self, system)


class PoseOutput(NamedOutput):
    """Outputs whose reference is a Pose, with some of the components `allowed`.

    Args:
        body: whose pose, in the names of the components.
        axes: which components count.
        system: the mechanism.
        who: name of the output in messages.
    """

    allowed: ClassVar[tuple[str, ...]] = POSE_AXES
    shapes: ClassVar[tuple[tuple[int, ...], ...]] = ((6,),)  # of x' and x''
    shape_rule: ClassVar[str] = "[linear; angular] with shape (6,), got shape"

    def __init__(self, body: str, axes: Sequence[str], system: Any, who: str) -> None:
        self._rows = axis_indices(axes, self.allowed, who)
        names = [self.allowed[i] for i in self._rows]
        unit = [1.0 if axis.startswith("r") else system.length for axis in names]
        super().__init__([f"{body}.{axis}" for axis in names], np.array(unit))

    def accepts(self, target: Target) -> str:
        """What is wrong with a target, or an empty string."""
        if not isinstance(target.x, Pose):
            return f"x must be a Pose, got {type(target.x).__name__}"
        for what, value in (("x'", target.v), ("x''", target.a)):
            if np.shape(value) not in self.shapes:
                return f"{what} must be {self.shape_rule} {np.shape(value)}"
            if not np.isfinite(value).all():
                return f"{what} must be finite, got {np.asarray(value).tolist()}"
        return ""

    def all_components(self, a: Array) -> Array:
        """The acceleration of all components from that of those that count (k,), zero elsewhere."""
        full = np.zeros(len(self.allowed))
        full[self._rows] = a
        return full


class _BodyPose(PoseOutput):
    def __init__(self, given: BodyPose, system: Any) -> None:
        self._body, self._point = body_and_point(given.body, given.point, system, "BodyPose")
        super().__init__(given.body, given.axes, system, "BodyPose")
        self._form = check_form(given.error, given.frame, "BodyPose")
        if any(self._form) and self.size < 6:
            raise InputError(
                f"BodyPose({given.body!r}): a screw, or an error in the axes of the body, has no parts: keep"
                f' all six axes, or use error="split", frame="world"; got axes {list(given.axes)}.'
            )

    def compiled(self, accelerated: bool) -> OutputSetup:
        return body_output(POSE, accelerated, self._body, self._point, self._rows, *self._form)

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        p, V, bias, J, R = now.point(self._body, self._point)
        goal = target.x
        reference = goal.rotation, goal.xyz, target.v, target.a
        e, rate, T, c = pose_error((R, p, V), reference, *self._form)
        # actual and desired value, for plots: position, and minus the orientation error against zero
        shown = np.empty((2, 6))
        shown[0, :3], shown[0, 3:] = p, -e[3:]
        shown[1, :3], shown[1, 3:] = goal.xyz, 0.0
        found = OutputTracking(shown[0], shown[1], e, rate, J, c - bias, T=T)
        return found if self.size == 6 else found.components(self._rows)

    def at_acceleration(self, now: MeasuredState, a: Array) -> tuple[Array, Array, Array]:
        p, _, bias, J, _ = now.point(self._body, self._point)
        x, rows = np.concatenate([p, NO_TURN]), self._rows
        return x[rows], J[rows], a - bias[rows]


def point_motion(now: MeasuredState, body: int, point: Array) -> tuple[Array, Array, Array]:
    """Position [m], velocity and acceleration at a = 0 of a point of a body, in world axes, (3,) each."""
    x, V, A, _, _ = now.point(body, point)
    return x, V[:3], A[:3]


def body_and_point(body: str, point: Any, system: Any, who: str) -> tuple[int, Array]:
    """Index of a body, and a point in its frame (3,); refused for systems without bodies."""
    if getattr(system, "supplies_inertia", False):
        raise InputError(f"{who} needs bodies, and {system.name!r} is a system of functions; use Function.")
    p = state(point, f"point of {who}({body!r})", 3)
    if p.ndim != 1:
        raise InputError(f"point of {who}({body!r}) must have shape (3,), got {p.shape}.")
    return system.model.body_index(body, who), np.ascontiguousarray(p)


def axis_indices(axes: Sequence[str], allowed: Sequence[str], who: str) -> list[int]:
    """Where the chosen axes stand among those allowed."""
    chosen = list(axes)
    for axis in chosen:
        require_known("axis", axis, allowed, who)
    if not chosen or len(set(chosen)) != len(chosen):
        raise InputError(f"axes of {who} must be different axes, at least one; got {axes!r}.")
    return [list(allowed).index(axis) for axis in chosen]
