"""Small changes of a description that make its loops fit: axes made parallel, gaps taken into frames."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from sarrus.arrays import FloatArray
from sarrus.constraints.closures import Closure
from sarrus.constraints.rows import Constraint
from sarrus.errors import SarrusWarning
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.axes import minimal_rotation
from sarrus.models.bodies import Body
from sarrus.models.joints import (
    Cylindrical,
    Fixed,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from sarrus.models.pose import Pose

PARALLEL = 1e-13  # [rad]: below it axes are parallel already, and nothing is touched
WITH_AXIS = (Revolute, Prismatic, Cylindrical, Planar)


def rebuilt(
    spec: MechanismSpec, bodies: list[Body], constraints: list[tuple[str, Constraint]]
) -> MechanismSpec:
    """A copy of a description with other bodies and constraints."""
    copy = MechanismSpec(gravity=spec.gravity, name=spec.name, length=spec.length)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)  # said when the bodies were declared first
        for body in bodies:
            values = {field.name: getattr(body, field.name) for field in dataclasses.fields(body)}
            copy.body(values.pop("name"), values.pop("parent"), **values)
    for name, constraint in constraints:
        copy.constrain(name, constraint)
    for name, force in spec.forces:
        copy.force(name, force)
    if spec.actuated is not None:
        copy.actuate()
        for name, limits in spec.actuated:
            copy.actuate(name, limits=limits)
    return copy


# ---------------------------------------------------------------------- axes made parallel


@dataclass
class _Directions:
    """Directions met so far; one that is nearly parallel to an earlier one is turned onto it."""

    tolerance: float
    known: list[FloatArray]
    largest: float = 0.0

    def turn(self, direction: FloatArray) -> FloatArray | None:
        """Rotation (3, 3) that makes a direction parallel to an earlier one; None where none is needed."""
        for other in self.known:
            target = other if other @ direction > 0.0 else -other
            angle = float(np.linalg.norm(np.cross(target, direction)))
            if angle < self.tolerance:
                if angle < PARALLEL:
                    return None
                self.largest = max(self.largest, angle)
                return minimal_rotation(direction, target)
        self.known.append(direction)
        return None


def align_axes(
    spec: MechanismSpec, mech: Mechanism, q: FloatArray, tolerance: float
) -> tuple[MechanismSpec, float]:
    """Turn the axes of joints on loops that are nearly parallel at q until they are parallel.

    Origins of joints and loops stay where they are at q; only frames turn, by less than the tolerance.

    Returns:
        The changed description, and the largest angle [rad] by which an axis was turned.
    """
    _, J, _, _ = mech.evaluator.constraints(q, np.zeros(mech.nv), 0.0)
    in_loop = np.any(J != 0.0, axis=0)
    directions = _Directions(tolerance, [])
    old = {name: _pose(mech, q, name) for name in mech.body_names}
    new = {mech.body_names[0]: Pose()}
    changed: dict[str, Body] = {}
    for body in mech.model.bodies[1:]:
        X_WJ = old[body.parent] @ body.at
        columns = mech.model.v_slices[mech.model.body_index(body.name)]
        turn = None
        if isinstance(body.joint, WITH_AXIS) and np.any(in_loop[columns]):
            turn = directions.turn(X_WJ.rotation @ body.joint.direction)
        X_WJ_new = _turned(X_WJ, turn)
        still = turn is None and new[body.parent] is old[body.parent]
        new[body.name] = old[body.name] if still else X_WJ_new @ (X_WJ.inverse() @ old[body.name])
        at = body.at if still else new[body.parent].inverse() @ X_WJ_new
        changed[body.name] = dataclasses.replace(body, at=at)
    constraints = [(name, _aligned(entry, old, new, directions)) for name, entry in spec.constraints]
    return rebuilt(spec, [changed[body.name] for body in spec.bodies], constraints), directions.largest


def _aligned(
    entry: Constraint, old: dict[str, Pose], new: dict[str, Pose], directions: _Directions
) -> Constraint:
    """A loop with its two frames turned onto known directions; other constraints as they are."""
    if not isinstance(entry, Closure):
        return entry
    ends: dict[str, Any] = {}
    for body, at, field in ((entry.a, entry.at_a, "at_a"), (entry.b, entry.at_b, "at_b")):
        X_WF, turn = old[body] @ at, None
        if isinstance(entry.joint, WITH_AXIS):
            turn = directions.turn(X_WF.rotation @ entry.joint.direction)
        still = turn is None and new[body] is old[body]
        ends[field] = at if still else new[body].inverse() @ _turned(X_WF, turn)
    return dataclasses.replace(entry, **ends)


def _pose(mech: Mechanism, q: FloatArray, body: str) -> Pose:
    pose = mech.pose(q, body)
    assert isinstance(pose, Pose)
    return pose


def _turned(pose: Pose, rotation: FloatArray | None) -> Pose:
    return pose if rotation is None else Pose(pose.xyz, matrix=rotation @ pose.rotation)


# ---------------------------------------------------------------------- gaps taken into frames


def take_gaps(spec: MechanismSpec, mech: Mechanism, q: FloatArray) -> tuple[MechanismSpec, float]:
    """Move the frames `at_b` of loops so that the loops are closed at q.

    Returns:
        The changed description, and the largest displacement [m] of a frame (angles times L).
    """
    largest, constraints = 0.0, []
    for name, entry in spec.constraints:
        if isinstance(entry, Closure):
            X_Wb = _pose(mech, q, entry.b)
            X_AB = (_pose(mech, q, entry.a) @ entry.at_a).inverse() @ (X_Wb @ entry.at_b)
            X_AB_new = _closed(entry.joint, X_AB)
            X_BB = X_AB.inverse() @ X_AB_new
            angle = float(np.linalg.norm(X_BB.rotation - np.eye(3))) / np.sqrt(2.0)
            size = max(float(np.linalg.norm(X_BB.xyz)), angle * mech.length)
            if size > PARALLEL * mech.length:
                largest = max(largest, size)
                entry = dataclasses.replace(entry, at_b=entry.at_b @ X_BB)
        constraints.append((name, entry))
    return rebuilt(spec, list(spec.bodies), constraints), largest


def _closed(joint: Joint, X_AB: Pose) -> Pose:
    """The pose of B in A nearest to X_AB that the joint allows; helical joints are left as they are."""
    R, p = X_AB.rotation, X_AB.xyz
    if isinstance(joint, WITH_AXIS):
        axis = joint.direction
        along = (axis @ p) * axis
        allowed = {Revolute: 0.0 * p, Planar: p - along}.get(type(joint), along)
        straight = minimal_rotation(R @ axis, axis) @ R
        return Pose(allowed, matrix=np.eye(3) if isinstance(joint, Prismatic) else straight)
    if isinstance(joint, Fixed):
        return Pose()
    if isinstance(joint, (Spherical, Universal)):
        return Pose(matrix=R)
    return X_AB
