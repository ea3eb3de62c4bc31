"""Pose: where a frame is and how it is turned, X_AB = (R_AB, p_AB)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._kernel import compose_poses, invert_pose
from ...arrays import Array, fixed_shape, frozen, one_of, triple
from ...errors import InputError
from ...varied import hypot, is_varied, sin_cos
from .expressions import KeepsParameters, is_parametric, made
from .restore import MAKERS, restore
from .rotation import cross

ORTHONORMAL = 1e-14
NEARLY_ORTHONORMAL = 1e-6
ZERO_NORM = 1e-12
VERTICAL = 1.0 - 1e-12
OBJECT = np.dtype(object)
PARALLEL = frozen(np.eye(3))


class Pose(metaclass=KeepsParameters):
    """Position and orientation of a frame B in a frame A. Immutable.

    Give at most one of `rpy`, `quat`, `matrix`; without any of them the frames are parallel.

    Args:
        xyz: Origin of B in A [m], (3,).
        rpy: Roll, pitch, yaw [rad], (3,): R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF.
        quat: Quaternion, scalar last (x, y, z, w), (4,); normalised here.
        matrix: Rotation matrix (3, 3), or homogeneous transform (4, 4) which then also gives `xyz`.

    Attributes:
        xyz: Origin of B in A [m], (3,), read-only.
        rotation: R_AB, (3, 3), read-only.

    Example:

        >>> import numpy as np
        >>> import sarrus as sr
        >>> pose = sr.Pose((1, 0, 0), rpy=(0, 0, np.pi / 2))
        >>> pose.apply((2, 0, 0)).round(12).tolist()
        [1.0, 2.0, 0.0]
        >>> (pose @ pose.inverse()).xyz.round(12).tolist()
        [0.0, 0.0, 0.0]
    """

    __slots__ = ("_made_of", "rotation", "xyz")
    xyz: Array
    rotation: Array
    _made_of: Any

    def __init__(
        self,
        xyz: ArrayLike = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        quat: ArrayLike | None = None,
        matrix: ArrayLike | None = None,
    ) -> None:
        given = [n for n, x in (("rpy", rpy), ("quat", quat), ("matrix", matrix)) if x is not None]
        if len(given) > 1:
            raise InputError(f"a Pose takes at most one of rpy, quat, matrix, got {' and '.join(given)}.")
        position = np.array(triple(xyz, "xyz of a Pose"))
        rotation = PARALLEL
        if rpy is not None:
            rotation = _from_rpy(*triple(rpy, "rpy of a Pose"))
        elif quat is not None:
            rotation = _from_quaternion(fixed_shape(quat, "quat of a Pose", (4,)))
        elif matrix is not None:
            rotation, position = _from_matrix(matrix, position)
        position.setflags(write=False)
        object.__setattr__(self, "xyz", position)
        object.__setattr__(self, "rotation", rotation if rotation is PARALLEL else frozen(rotation))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pose cannot be changed: make a new one instead of setting {name!r}.")

    def __reduce__(self) -> tuple[Any, ...]:
        if is_parametric(self):
            make, arguments = self._made_of
            return restore, ("ParametricPose", (make.__name__, arguments))
        return restore, ("Pose", (self.xyz.tolist(), self.rotation.tolist()))

    def __repr__(self) -> str:
        def shown(values: Array) -> str:
            return "(" + ", ".join(f"{x:.6g}" for x in values) + ")"

        turned = "" if np.array_equal(self.rotation, np.eye(3)) else f", rpy={shown(self.rpy)}"
        return f"Pose({shown(self.xyz)}{turned})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return np.array_equal(self.xyz, other.xyz) and np.array_equal(self.rotation, other.rotation)

    def __hash__(self) -> int:
        return hash((*self.xyz.tolist(), *self.rotation.ravel().tolist()))

    @property
    def is_identity(self) -> bool:
        """Whether the frames coincide."""
        return not self.xyz.any() and (self.rotation is PARALLEL or np.array_equal(self.rotation, PARALLEL))

    @property
    def matrix(self) -> Array:
        """Homogeneous transform X_AB, (4, 4)."""
        X_AB = np.eye(4)
        X_AB[:3, :3] = self.rotation
        X_AB[:3, 3] = self.xyz
        return X_AB

    @property
    def quat(self) -> Array:
        """Quaternion of R_AB, scalar last (x, y, z, w) with w >= 0, (4,)."""
        return _to_quaternion(self.rotation)

    @property
    def rpy(self) -> Array:
        """Roll, pitch, yaw [rad], (3,), with |pitch| <= pi/2."""
        R = self.rotation
        pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
        if math.hypot(R[0, 0], R[1, 0]) < ZERO_NORM:  # gimbal lock: only yaw -+ roll is defined, roll = 0
            return np.array([0.0, pitch, math.atan2(-R[0, 1], R[1, 1])])
        return np.array([math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])])

    @staticmethod
    def from_points(origin: ArrayLike, x: ArrayLike, y: ArrayLike | None = None) -> Pose:
        """The frame at a point whose x axis leads to another and whose y axis turns towards a third.

        Args:
            origin: Where it stands [m], (3,).
            x: A point on its x axis [m], (3,).
            y: A point on its side of positive y [m], (3,); default: z is as near to (0, 0, 1) as it can be,
                to (0, 1, 0) where x leads up or down.
        """
        return made(Pose.from_points, _from_points, origin=origin, x=x, y=y)

    @staticmethod
    def looking_at(
        origin: ArrayLike, target: ArrayLike, axis: str = "z", up: ArrayLike = (0.0, 0.0, 1.0)
    ) -> Pose:
        """The frame at a point of which one axis leads to another point.

        Args:
            origin: Where it stands [m], (3,).
            target: Where its axis leads to [m], (3,).
            axis: "x", "y" or "z".
            up: The axis after it in x, y, z, x is as near to this direction (3,) as it can be.
        """
        return made(Pose.looking_at, _looking_at, origin=origin, target=target, axis=axis, up=up)

    def inverse(self) -> Pose:
        """X_BA."""
        if is_parametric(self):
            return made(Pose.inverse, Pose.inverse, self=self)
        if is_varied(self.xyz) or is_varied(self.rotation):
            return known_pose(-(self.rotation.T @ self.xyz), self.rotation.T)
        return known_pose(*invert_pose(self.xyz, self.rotation))

    def __matmul__(self, other: Pose) -> Pose:
        """X_AC = X_AB @ X_BC."""
        if not isinstance(other, Pose):
            return NotImplemented
        if getattr(self, "_made_of", None) or getattr(other, "_made_of", None):
            return made(Pose.__matmul__, Pose.__matmul__, self=self, other=other)
        parts = self.xyz, self.rotation, other.xyz, other.rotation
        if OBJECT in [part.dtype for part in parts]:  # varied numbers
            return known_pose(self.xyz + self.rotation @ other.xyz, self.rotation @ other.rotation)
        return known_pose(*compose_poses(*parts))

    def apply(self, point: ArrayLike) -> Array:
        """A point given in B [m], (3,), expressed in A."""
        if is_parametric(self) or is_parametric(point):
            raise InputError("apply takes numbers: name a point of the drawing instead, or compose poses.")
        return self.xyz + self.rotation @ triple(point, "point")


def _from_points(origin: ArrayLike, x: ArrayLike, y: ArrayLike | None) -> Pose:
    start, ahead = np.array(triple(origin, "origin of from_points")), np.array(triple(x, "x of from_points"))
    along = _unit(ahead - start, "origin and x of from_points")
    if y is None:
        third = np.array([0.0, 1.0, 0.0] if abs(along[2]) > VERTICAL else [0.0, 0.0, 1.0])
    else:
        third = cross(along, np.array(triple(y, "y of from_points")) - start)
    upward = _unit(third - along * (along @ third), "the third point of from_points and the x axis")
    start.setflags(write=False)
    return known_pose(start, frozen(np.array([along, cross(upward, along), upward]).T))


def _looking_at(origin: ArrayLike, target: ArrayLike, axis: str, up: ArrayLike) -> Pose:
    one_of(axis, "axis of looking_at", ("x", "y", "z"))
    start = np.array(triple(origin, "origin of looking_at"))
    ahead = _unit(np.array(triple(target, "target of looking_at")) - start, "origin and target of looking_at")
    second = np.array(triple(up, "up of looking_at"))
    if np.linalg.norm(np.cross(ahead, second)) < ZERO_NORM * np.linalg.norm(second):
        second = np.eye(3)[int(np.argmin(np.abs(ahead)))]  # up is along the axis: any direction across
    second = _unit(second - ahead * (ahead @ second), "up of looking_at and the axis")
    columns = [ahead, second, np.cross(ahead, second)]
    first = "xyz".index(axis)
    rotation = np.column_stack([columns[(k - first) % 3] for k in range(3)])
    return known_pose(start, rotation) if is_varied(rotation) else Pose(start, matrix=rotation)


def _unit(vector: Array, what: str) -> Array:
    length = hypot(*vector.tolist())
    if length < ZERO_NORM:
        raise InputError(f"{what} coincide or are parallel: they give no direction.")
    return np.asarray(vector / length)


def known_pose(xyz: Array, rotation: Array) -> Pose:
    """A Pose of read-only arrays (3,), (3, 3) that nothing else refers to."""
    pose = object.__new__(Pose)
    object.__setattr__(pose, "xyz", xyz)
    object.__setattr__(pose, "rotation", rotation)
    return pose


def _restore(xyz: ArrayLike, rotation: ArrayLike) -> Pose:
    """A Pose from a rotation that is known to be one: no check, no rounding."""
    return known_pose(frozen(xyz), frozen(rotation))


def _made_again(how: str, arguments: dict[str, Any]) -> Pose:
    """A Pose of parameters: by the constructor, or the method of this name."""
    pose: Pose = Pose(**arguments) if how == "Pose" else getattr(Pose, how)(**arguments)
    return pose


MAKERS["Pose"] = lambda data: _restore(*data)
MAKERS["ParametricPose"] = lambda data: _made_again(*data)


def _from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    (sr, cr), (sp, cp), (sy, cy) = sin_cos(roll), sin_cos(pitch), sin_cos(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _from_quaternion(quat: Array) -> Array:
    norm = np.linalg.norm(quat)
    if norm < ZERO_NORM:
        raise InputError(
            f"quat of a Pose must not have zero norm, got {quat.tolist()}; "
            "no rotation is (0, 0, 0, 1), scalar last."
        )
    x, y, z, w = quat / norm
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def _to_quaternion(R: Array) -> Array:
    """Column of largest norm of 4 q q^T, written in the entries of R."""
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    candidates = np.array(
        [
            [1.0 + xx - yy - zz, R[1, 0] + R[0, 1], R[2, 0] + R[0, 2], R[2, 1] - R[1, 2]],
            [R[1, 0] + R[0, 1], 1.0 - xx + yy - zz, R[2, 1] + R[1, 2], R[0, 2] - R[2, 0]],
            [R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], 1.0 - xx - yy + zz, R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1.0 + xx + yy + zz],
        ]
    )
    best = candidates[int(np.argmax(np.diag(candidates)))]
    quat: Array = best / np.linalg.norm(best)
    return -quat if quat[3] < 0.0 else quat


def _from_matrix(matrix: ArrayLike, position: Array) -> tuple[Array, Array]:
    shape = np.shape(matrix) if isinstance(matrix, np.ndarray) else _shape(matrix)
    array = fixed_shape(matrix, "matrix of a Pose", (4, 4) if shape == (4, 4) else (3, 3))
    if shape == (4, 4):
        if not np.array_equal(array[3], [0.0, 0.0, 0.0, 1.0]):
            raise InputError(f"the last row of a (4, 4) pose must be (0, 0, 0, 1), got {array[3].tolist()}.")
        if np.any(position):
            raise InputError(
                "a (4, 4) matrix gives the position too: leave xyz out, or give a (3, 3) matrix."
            )
        array, position = array[:3, :3], array[:3, 3]
    error = float(np.abs(array.T @ array - np.eye(3)).max())
    if error > NEARLY_ORTHONORMAL or np.linalg.det(array) < 0.0:
        raise InputError(
            f"matrix of a Pose must be a rotation (orthonormal, determinant +1), got {array.tolist()} "
            f"with |R.T R - 1| = {error:.2g} and determinant {np.linalg.det(array):.6g}."
        )
    if error > ORTHONORMAL:  # nearest rotation, by the polar decomposition
        left, _, right = np.linalg.svd(array)
        array = left @ right
    return array, position


def _shape(matrix: ArrayLike) -> tuple[int, ...]:
    try:
        return np.shape(matrix)
    except ValueError:
        return ()
