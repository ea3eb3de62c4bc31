"""A mechanism as plain data that belongs to nobody: the library and Pinocchio are both built from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .lie import exponential, homogeneous, rotation_of, twist_matrix

Array = npt.NDArray[np.float64]

# kind -> ((coordinate suffix, unit twist of the axis or None for a block), ...); "" is the body's own name
SCALAR_JOINTS = {"revolute", "prismatic", "helical"}
ALL_JOINTS = (
    "revolute",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
)


@dataclass(frozen=True)
class Joint:
    """Kind, axis (unit vector or a letter), second axis of a universal joint, pitch of a helical one."""

    kind: str
    axis: Any = "z"
    axis_b: Any = "x"
    pitch: float = 0.1


@dataclass(frozen=True)
class Body:
    """One body with the joint that carries it; `X` is the joint frame in the parent's body frame."""

    name: str
    parent: str
    joint: Joint
    X: Array
    mass: float
    com: Array
    inertia: Array
    armature: float = 0.0


@dataclass(frozen=True)
class Closure:
    """B = X_b on body b against A = X_a on body a."""

    name: str
    a: str
    b: str
    joint: Joint
    X_a: Array
    X_b: Array


@dataclass(frozen=True)
class Description:
    """Bodies in topological order, closures, and (name, constraint or force) pairs for the library only."""

    bodies: tuple[Body, ...]
    closures: tuple[Closure, ...] = ()
    gravity: tuple[float, float, float] = (0.3, -0.2, -9.81)
    constraints: tuple[tuple[str, Any], ...] = ()
    forces: tuple[tuple[str, Any], ...] = ()
    q: Array = field(default_factory=lambda: np.zeros(0))

    def with_(self, **changes: Any) -> Description:
        """A changed copy."""
        return replace(self, **changes)


def axis_vector(axis: Any) -> Array:
    """Unit vector of an axis given as a letter or as a vector."""
    if isinstance(axis, str):
        return np.eye(3)["xyz".index(axis)]
    return np.asarray(axis, dtype=float) / np.linalg.norm(axis)


def plane_axes(normal: Any) -> tuple[Array, Array]:
    """The two sliding directions of a planar joint: the other letters in cyclic order."""
    k = "xyz".index(normal)
    return np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]


def primitive_twists(joint: Joint) -> list[Array]:
    """Unit twists [linear; angular] of a joint's scalar coordinates, in order; not for quaternion joints."""
    zero = np.zeros(3)
    axis = axis_vector(joint.axis)
    if joint.kind == "planar":
        x, y = plane_axes(joint.axis)
        return [np.append(x, zero), np.append(y, zero), np.append(zero, axis)]
    return {
        "fixed": [],
        "revolute": [np.append(zero, axis)],
        "prismatic": [np.append(axis, zero)],
        "helical": [np.append(joint.pitch * axis, axis)],
        "cylindrical": [np.append(axis, zero), np.append(zero, axis)],
        "universal": [np.append(zero, axis), np.append(zero, axis_vector(joint.axis_b))],
    }[joint.kind]


def width_q(joint: Joint) -> int:
    """Number of position coordinates of a joint."""
    return {"spherical": 4, "free": 7}.get(joint.kind) or len(primitive_twists(joint))


def width_v(joint: Joint) -> int:
    """Number of velocity coordinates of a joint."""
    return {"spherical": 3, "free": 6}.get(joint.kind) or len(primitive_twists(joint))


def motion(joint: Joint, q: Array) -> Array:
    """Pose (4, 4) of the moved frame in the joint frame."""
    if joint.kind == "spherical":
        return homogeneous(rotation_of(q), np.zeros(3))
    if joint.kind == "free":
        return homogeneous(rotation_of(q[3:]), q[:3])
    X = np.eye(4)
    for xi, x in zip(primitive_twists(joint), q, strict=True):
        X = X @ exponential(twist_matrix(xi * x))
    return X


def body_poses(bodies: tuple[Body, ...], q: Array) -> dict[str, Array]:
    """World poses (4, 4) by body name."""
    out = {"ground": np.eye(4)}
    k = 0
    for body in bodies:
        n = width_q(body.joint)
        out[body.name] = out[body.parent] @ body.X @ motion(body.joint, q[k : k + n])
        k += n
    return out


def to_spec(description: Description) -> Any:
    """The same mechanism as a `sarrus.MechanismSpec`."""
    import sarrus as sr

    def pose(X: Array) -> Any:
        return sr.Pose(xyz=tuple(X[:3, 3]), matrix=X[:3, :3])

    spec = sr.MechanismSpec(gravity=description.gravity)
    for b in description.bodies:
        spec.body(
            b.name,
            parent=b.parent,
            joint=library_joint(b.joint),
            at=pose(b.X),
            mass=b.mass,
            com=tuple(b.com),
            inertia=b.inertia,
            armature=b.armature,
        )
    for c in description.closures:
        spec.close(c.name, c.a, c.b, joint=library_joint(c.joint), at_a=pose(c.X_a), at_b=pose(c.X_b))
    for name, constraint in description.constraints:
        spec.constrain(name, constraint)
    for name, force in description.forces:
        spec.force(name, force)
    return spec


def library_joint(joint: Joint) -> Any:
    """The library's joint object."""
    import sarrus as sr

    axis = joint.axis if isinstance(joint.axis, str) else tuple(joint.axis)
    axis_b = joint.axis_b if isinstance(joint.axis_b, str) else tuple(joint.axis_b)
    return {
        "revolute": lambda: sr.Revolute(axis),
        "prismatic": lambda: sr.Prismatic(axis),
        "helical": lambda: sr.Helical(axis, joint.pitch),
        "cylindrical": lambda: sr.Cylindrical(axis),
        "universal": lambda: sr.Universal(axis, axis_b),
        "spherical": lambda: sr.Spherical(),
        "planar": lambda: sr.Planar(axis),
        "free": lambda: sr.Free(),
        "fixed": lambda: sr.Fixed(),
    }[joint.kind]()
