"""Joints of a USD stage with their frames, limits and drives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sarrus.formats.reading.messages import Omitted
from sarrus.formats.usd.parts import Stage
from sarrus.models.base.axes import direction
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.actuator_law import ActuatorLaw
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Fixed, Prismatic, Revolute, Spherical

UNLIMITED = 1e30  # forces and limits from there on stand for none
FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@dataclass(frozen=True)
class StageJoint:
    """A joint from body a to body b (paths; None: the world).

    Attributes:
        name: Of its prim.
        prim: The prim.
        joint: What it is here; its motion is that of b relative to a.
        at_a, at_b: Its frames on the bodies.
        excluded: Whether it is no part of the articulation, so that it closes a loop.
        properties: Keywords of `spec.body`.
    """

    name: str
    prim: Any
    a: Any
    b: Any
    joint: Joint
    at_a: Pose
    at_b: Pose
    excluded: bool
    properties: dict[str, Any]

    def reversed(self) -> StageJoint:
        """The same joint seen from b; its coordinate keeps its sign, for the axis is turned round."""
        joint = self.joint
        if isinstance(joint, (Revolute, Prismatic)):
            joint = type(joint)(-direction(joint.axis))
        ends = {"a": self.b, "b": self.a, "at_a": self.at_b, "at_b": self.at_a}
        return replace(self, joint=joint, **ends)

    def position(self, X_a: Pose, X_b: Pose) -> tuple[float, ...]:
        """Its coordinates where the bodies stand as drawn."""
        between = (X_a @ self.at_a).inverse() @ (X_b @ self.at_b)
        if isinstance(self.joint, Spherical):
            return tuple(between.quat.tolist())
        assert isinstance(self.joint, (Revolute, Prismatic))
        axis = direction(self.joint.axis)
        if isinstance(self.joint, Prismatic):
            return (float(axis @ between.xyz),)
        x, y, z, w = between.quat.tolist()
        angle = 2.0 * math.atan2(float(axis @ (x, y, z)), w)
        return (math.remainder(angle, 2.0 * math.pi),)


def joint_of(stage: Stage, prim: Any, omitted: Omitted) -> StageJoint | None:
    """The joint of a prim; None, and listed, where it is none that is modelled."""
    from pxr import UsdPhysics

    api, name = UsdPhysics.Joint(prim), prim.GetName()
    (a, at_a), (b, at_b) = (_end(stage, prim, k) for k in (0, 1))
    if a == b:
        stage.fail(prim, "both of its bodies are the same")
    made, limits = _kind(stage, prim)
    if made is None:
        omitted.drop(f"{prim.GetTypeName()} with freedoms that no joint here has", name)
        return None
    for broken in (api.GetBreakForceAttr(), api.GetBreakTorqueAttr()):
        if stage.number(broken, math.inf) < UNLIMITED:
            omitted.add("break force of a joint", name)
    properties = {} if limits is None else {"limits": limits}
    excluded = bool(api.GetExcludeFromArticulationAttr().Get())
    return StageJoint(
        name, prim, a, b, joint=made, at_a=at_a, at_b=at_b, excluded=excluded, properties=properties
    )


def _end(stage: Stage, prim: Any, k: int) -> tuple[Any, Pose]:
    """The body of a side of a joint (None: the world) and the joint's frame on it [m]."""
    from pxr import UsdPhysics

    api = UsdPhysics.Joint(prim)
    targets = (api.GetBody0Rel, api.GetBody1Rel)[k]().GetTargets()
    xyz = stage.numbers((api.GetLocalPos0Attr, api.GetLocalPos1Attr)[k](), (0.0,) * 3) * stage.metre
    quat = stage.numbers((api.GetLocalRot0Attr, api.GetLocalRot1Attr)[k](), (0.0, 0.0, 0.0, 1.0))
    if not np.all(np.isfinite([*xyz, *quat])):
        stage.fail(prim, "its local frames must be finite numbers")
    if not targets:
        return None, Pose(xyz, quat=quat)
    target = stage.usd.GetPrimAtPath(targets[0])
    if not target:
        stage.fail(prim, f"its body {targets[0]} does not exist")
    X, scale = stage.scaled_pose(target)
    frame, body = X @ Pose(xyz * scale, quat=quat), stage.body_of(targets[0])
    return body, frame if body is None else stage.pose_at(body).inverse() @ frame


def _kind(stage: Stage, prim: Any) -> tuple[Joint | None, tuple[float | None, float | None] | None]:
    """What a joint is here, None where it is nothing; and its limits [rad, m]."""
    from pxr import UsdPhysics

    kind = prim.GetTypeName()
    if kind == "PhysicsFixedJoint":
        return Fixed(), None
    if kind == "PhysicsSphericalJoint":
        return Spherical(), None
    if kind == "PhysicsRevoluteJoint":
        one = UsdPhysics.RevoluteJoint(prim)
        return Revolute(stage.axis(one.GetAxisAttr()).lower()), _limits(stage, one, math.radians(1.0))
    if kind == "PhysicsPrismaticJoint":
        slide = UsdPhysics.PrismaticJoint(prim)
        return Prismatic(stage.axis(slide.GetAxisAttr()).lower()), _limits(stage, slide, stage.metre)
    if kind == "PhysicsJoint":
        return _general(stage, prim)
    return None, None


def _limits(stage: Stage, api: Any, unit: float) -> tuple[float | None, float | None] | None:
    ends = stage.number(api.GetLowerLimitAttr(), -math.inf), stage.number(api.GetUpperLimitAttr(), math.inf)
    if ends[0] > ends[1]:
        return None
    lower, upper = (unit * x if abs(x) < UNLIMITED else None for x in ends)
    return (lower, upper) if lower != upper else None


def _general(stage: Stage, prim: Any) -> tuple[Joint | None, tuple[float | None, float | None] | None]:
    """A joint of six freedoms of which some are locked (low > high); those that leave one, none or a ball."""
    limits = {name: _range(stage, prim, name) for name in FREEDOMS}
    free = [name for name, (low, high) in limits.items() if low <= high]
    if not free:
        return Fixed(), None
    if free == ["rotX", "rotY", "rotZ"]:
        return Spherical(), None
    if len(free) != 1:
        return None, None
    kind, unit = (Revolute, math.radians(1.0)) if free[0].startswith("rot") else (Prismatic, stage.metre)
    lower, upper = (unit * x if abs(x) < UNLIMITED else None for x in limits[free[0]])
    return kind(free[0][-1].lower()), (lower, upper) if {lower, upper} != {None} else None


def _range(stage: Stage, prim: Any, freedom: str) -> tuple[float, float]:
    """Between which ends a freedom is; open where nothing is said."""
    from pxr import UsdPhysics

    if not prim.HasAPI(UsdPhysics.LimitAPI, freedom):
        return -math.inf, math.inf
    api = UsdPhysics.LimitAPI(prim, freedom)
    return stage.number(api.GetLowAttr(), -math.inf), stage.number(api.GetHighAttr(), math.inf)


def drives_of(
    stage: Stage, joint: StageJoint, omitted: Omitted
) -> Iterator[tuple[ActuatorLaw, tuple[float, float] | None]]:
    """Drives of a joint: the law of each and its limits, per radian or metre, where it can push at all."""
    from pxr import UsdPhysics

    for name in ("angular", "linear", *FREEDOMS):
        if not joint.prim.HasAPI(UsdPhysics.DriveAPI, name):
            continue
        api, turning = UsdPhysics.DriveAPI(joint.prim, name), name in ("angular", "rotX", "rotY", "rotZ")
        if isinstance(joint.joint, (Fixed, Spherical)):
            omitted.drop("drive of a joint that has not one coordinate", joint.name)
            continue
        if api.GetTypeAttr().Get() == "acceleration":
            omitted.add("drive that prescribes accelerations (u is its force)", joint.name)
        force = stage.kilogram * stage.metre**2 if turning else stage.kilogram * stage.metre
        per = force / math.radians(1.0) if turning else stage.kilogram
        stiffness, damping = (
            stage.number(x, 0.0) * per for x in (api.GetStiffnessAttr(), api.GetDampingAttr())
        )
        largest = stage.number(api.GetMaxForceAttr(), math.inf) * force
        limits = (-largest, largest) if 0.0 < largest < UNLIMITED else None
        gain = stiffness or damping or 1.0
        yield ActuatorLaw("drive", gain=gain, bias=(0.0, -stiffness, -damping), force_limits=limits), limits
