"""Poses of bodies from their declarations alone: products of 4 x 4 matrices, no nodes, no flat arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from sarrus.models.base.axes import direction
from sarrus.models.model import Model
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

Array = NDArray[np.float64]


def transform(R: Array | None = None, p: Array | None = None) -> Array:
    X = np.eye(4)
    X[:3, :3] = np.eye(3) if R is None else R
    X[:3, 3] = np.zeros(3) if p is None else p
    return X


def turn(axis: Array, angle: float) -> Array:
    return transform(Rotation.from_rotvec(axis * angle).as_matrix())


def motion(joint: Joint, q: Array) -> Array:
    """What the documentation says a joint does to its body, as one 4 x 4 matrix."""
    if isinstance(joint, Revolute):
        return turn(joint.direction, q[0])
    if isinstance(joint, Prismatic):
        return transform(p=joint.direction * q[0])
    if isinstance(joint, Helical):
        return transform(p=joint.direction * joint.pitch * q[0]) @ turn(joint.direction, q[0])
    if isinstance(joint, Cylindrical):
        return transform(p=joint.direction * q[0]) @ turn(joint.direction, q[1])
    if isinstance(joint, Universal):
        first, second = joint.directions
        return turn(first, q[0]) @ turn(second, q[1])
    if isinstance(joint, Spherical):
        return transform(Rotation.from_quat(q).as_matrix())
    if isinstance(joint, Free):
        return transform(Rotation.from_quat(q[3:]).as_matrix(), q[:3])
    if isinstance(joint, Planar) and isinstance(joint.normal, str):
        n = "xyz".index(joint.normal)
        e = np.eye(3)
        return transform(p=e[(n + 1) % 3] * q[0] + e[(n + 2) % 3] * q[1]) @ turn(
            direction(joint.normal), q[2]
        )
    assert isinstance(joint, Fixed)
    return np.eye(4)


def body_frames(model: Model, q: Array) -> dict[str, Array]:
    """World frames of the bodies, from the declarations alone."""
    frames = {"ground": np.eye(4)}
    for body, here in zip(model.bodies[1:], model.q_slices[1:], strict=True):
        frames[body.name] = frames[body.parent] @ body.at.matrix @ motion(body.joint, q[here])
    return frames


def random_configuration(model: Model, rng: np.random.Generator) -> Array:
    q = rng.uniform(-2.0, 2.0, model.nq)
    for i in model.quaternions:
        q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    return q
