"""A mechanism written down in frames that nobody would choose, with few digits, as CAD exporters do."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sarrus.constraints.closures import Closure
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Cylindrical, Prismatic, Revolute

Array = npt.NDArray[np.float64]


def scrambled(mech: Mechanism, digits: int, seed: int = 0) -> MechanismSpec:
    """The same mechanism with every frame turned at random and every number rounded to some digits."""
    rng, model = np.random.default_rng(seed), mech.model
    turn = {body.name: Pose(rpy=rng.uniform(-3.0, 3.0, 3)) for body in model.bodies}
    turn["ground"] = Pose()
    spec = MechanismSpec(gravity=model.gravity.ravel(), name=mech.name)
    for body in model.bodies[1:]:
        R = turn[body.name].rotation
        at = turn[body.parent].inverse() @ body.at @ turn[body.name]
        inertia = R.T @ body.inertia_matrix @ R
        spec.body(
            body.name,
            body.parent,
            joint=_turned(body.joint, R, digits),
            at=_rounded(at, digits),
            mass=body.mass,
            com=R.T @ np.array(body.com),
            inertia=0.5 * (inertia + inertia.T),
        )
    for name, entry in model.constraints:
        if isinstance(entry, Closure):
            own = Pose(rpy=rng.uniform(-3.0, 3.0, 3))
            entry = dataclasses.replace(
                entry,
                joint=_turned(entry.joint, own.rotation, digits),
                at_a=_rounded(turn[entry.a].inverse() @ entry.at_a @ own, digits),
                at_b=_rounded(turn[entry.b].inverse() @ entry.at_b @ own, digits),
            )
        spec.constrain(name, entry)
    return spec


def _turned(joint: Joint, R: Array, digits: int) -> Joint:
    if isinstance(joint, Revolute | Prismatic | Cylindrical):
        return type(joint)(tuple(np.round(R.T @ joint.direction, digits).tolist()))
    return joint


def _rounded(pose: Pose, digits: int) -> Pose:
    return Pose(np.round(pose.xyz, digits), rpy=np.round(pose.rpy, digits))
