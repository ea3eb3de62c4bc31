"""Joints of a USD stage with their frames, limits and drives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sarrus.formats.reading.messages import Omitted
from sarrus.formats.usd.freedoms import FREEDOMS, Part, parts_of, positions
from sarrus.formats.usd.parts import Stage
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.actuator_law import ActuatorLaw
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Spherical

UNLIMITED = 1e30  # forces and limits from there on stand for none


Limits = tuple[float | None, float | None]


@dataclass(frozen=True)
class StageJoint:
    """A joint from body a to body b (paths; None: the world).

    Attributes:
        name: Of its prim.
        prim: The prim.
        parts: The chain of joints that it is here, none where it is fixed; its motion is that of b relative
            to a, unless it is `turned`.
        at_a, at_b: Its frames on the bodies.
        excluded: Whether it is no part of the articulation, so that it closes a loop.
        limits: Of its freedoms [rad, m].
        turned: Whether it is seen from body 1 of the stage; its coordinates keep their signs.
    """

    name: str
    prim: Any
    a: Any
    b: Any
    parts: tuple[Part, ...]
    at_a: Pose
    at_b: Pose
    excluded: bool
    limits: dict[str, Limits]
    turned: bool = False

    @property
    def freedoms(self) -> dict[str, str]:
        """What its coordinates are, by their names."""
        return {
            name: freedom
            for part in self.parts
            for name, freedom in zip(part.joint.coordinate_names(part.name), part.freedoms, strict=False)
        }

    @property
    def chain(self) -> list[tuple[str, Joint]]:
        """Names and joints that lead from a to b."""
        if not self.turned:
            return [(part.name, part.joint) for part in self.parts]
        return [one for part in self.parts[::-1] for one in part.joint.turned_around(part.name)]

    def reversed(self) -> StageJoint:
        """The same joint seen from b."""
        ends = {"a": self.b, "b": self.a, "at_a": self.at_b, "at_b": self.at_a}
        return replace(self, turned=not self.turned, **ends)

    def properties(self, name: str, joint: Joint) -> dict[str, Any]:
        """Keywords of `spec.body` for a joint of the chain."""
        freedoms = self.freedoms
        limits = [self.limits.get(freedoms[one], (None, None)) for one in joint.coordinate_names(name)]
        return {"limits": tuple(limits)} if any(limit != (None, None) for limit in limits) else {}

    def rest(self, X_a: Pose, X_b: Pose) -> list[tuple[float, ...]]:
        """Positions of the joints of the chain where the bodies stand as drawn."""
        between = (X_a @ self.at_a).inverse() @ (X_b @ self.at_b)
        found, freedoms = positions(self.parts, between.inverse() if self.turned else between), self.freedoms
        return [
            tuple(between.quat.tolist()) if isinstance(joint, Spherical)
            else tuple(found[freedoms[one]] for one in joint.coordinate_names(name))
            for name, joint in self.chain
        ]  # fmt: skip


def joint_of(stage: Stage, prim: Any, omitted: Omitted) -> StageJoint | None:
    """The joint of a prim; None, and listed, where it is none that is modelled."""
    from pxr import UsdPhysics

    api, name = UsdPhysics.Joint(prim), prim.GetName()
    (a, at_a), (b, at_b) = (_end(stage, prim, k) for k in (0, 1))
    if a == b:
        stage.fail(prim, "both of its bodies are the same")
    found = _kind(stage, prim)
    if found is None:
        omitted.drop(f"{prim.GetTypeName()} with freedoms that no joint here has", name)
        return None
    parts, limits = found
    if _holds_nothing(parts):
        _note_drives(prim, omitted)
        return None
    for broken in (api.GetBreakForceAttr(), api.GetBreakTorqueAttr()):
        if stage.number(broken, math.inf) < UNLIMITED:
            omitted.add("break force of a joint", name)
    if _has_ball(parts):
        limits = _without_limits_of_ball(limits, name, omitted)
    excluded = bool(api.GetExcludeFromArticulationAttr().Get())
    return StageJoint(name, prim, a, b, parts=parts, at_a=at_a, at_b=at_b, excluded=excluded, limits=limits)


def _holds_nothing(parts: tuple[Part, ...]) -> bool:
    """Whether a chain of joints leaves all six freedoms."""
    return sum(len(part.freedoms) for part in parts) == len(FREEDOMS)


def _note_drives(prim: Any, omitted: Omitted) -> None:
    """List drives of a joint that holds nothing."""
    from pxr import UsdPhysics

    if any(prim.HasAPI(UsdPhysics.DriveAPI, freedom) for freedom in FREEDOMS):
        omitted.drop("drive of a joint that leaves all six freedoms", prim.GetName())


def _has_ball(parts: tuple[Part, ...]) -> bool:
    """Whether a ball joint is in a chain of joints."""
    return any(isinstance(part.joint, Spherical) for part in parts)


def _without_limits_of_ball(limits: dict[str, Limits], name: str, omitted: Omitted) -> dict[str, Limits]:
    """Limits without those of rotations, which are listed: a ball joint has none."""
    kept = {freedom: limit for freedom, limit in limits.items() if freedom not in FREEDOMS[3:]}
    if len(kept) < len(limits):
        omitted.add("limit of a ball joint", name)
    return kept


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


def _kind(stage: Stage, prim: Any) -> tuple[tuple[Part, ...], dict[str, Limits]] | None:
    """The joints that a joint is here and limits of its freedoms [rad, m]; None where it is nothing."""
    from pxr import UsdPhysics

    kind, name = prim.GetTypeName(), prim.GetName()
    if kind == "PhysicsFixedJoint":
        return (), {}
    if kind == "PhysicsSphericalJoint":
        return parts_of(name, FREEDOMS[3:]), {}
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        turning = kind == "PhysicsRevoluteJoint"
        one = (UsdPhysics.RevoluteJoint if turning else UsdPhysics.PrismaticJoint)(prim)
        freedom = f"{'rot' if turning else 'trans'}{stage.axis(one.GetAxisAttr())}"
        ends = (
            stage.number(one.GetLowerLimitAttr(), -math.inf),
            stage.number(one.GetUpperLimitAttr(), math.inf),
        )
        return parts_of(name, [freedom]), _limits(stage, {freedom: ends})
    if kind == "PhysicsJoint":
        ranges = {freedom: _range(stage, prim, freedom) for freedom in FREEDOMS}
        free = [freedom for freedom, (low, high) in ranges.items() if low < high]
        return parts_of(name, free), _limits(stage, ranges)
    return None


def _limits(stage: Stage, ranges: dict[str, tuple[float, float]]) -> dict[str, Limits]:
    """Of freedoms that are limited and not locked [rad, m]."""
    found = {}
    for freedom, ends in ranges.items():
        unit = math.radians(1.0) if freedom.startswith("rot") else stage.metre
        lower, upper = (unit * x if abs(x) < UNLIMITED else None for x in ends)
        if ends[0] < ends[1] and (lower, upper) != (None, None):
            found[freedom] = (lower, upper)
    return found


def _range(stage: Stage, prim: Any, freedom: str) -> tuple[float, float]:
    """Between which ends a freedom is; open where nothing is said."""
    from pxr import UsdPhysics

    if not prim.HasAPI(UsdPhysics.LimitAPI, freedom):
        return -math.inf, math.inf
    api = UsdPhysics.LimitAPI(prim, freedom)
    return stage.number(api.GetLowAttr(), -math.inf), stage.number(api.GetHighAttr(), math.inf)


def drives_of(
    stage: Stage, joint: StageJoint, omitted: Omitted
) -> Iterator[tuple[str, ActuatorLaw, tuple[float, float] | None]]:
    """Drives of a joint that can push: coordinate, law and limits of each, per radian or metre."""
    from pxr import UsdPhysics

    for name in ("angular", "linear", *FREEDOMS):
        if not joint.prim.HasAPI(UsdPhysics.DriveAPI, name):
            continue
        coordinate = _driven(joint, name)
        if coordinate is None:
            omitted.drop("drive of a joint that has not one coordinate for it", joint.name)
            continue
        api = UsdPhysics.DriveAPI(joint.prim, name)
        if api.GetTypeAttr().Get() == "acceleration":
            omitted.add("drive that prescribes accelerations (u is its force)", joint.name)
        law, limits = _drive_law(stage, api, turning=name == "angular" or name.startswith("rot"))
        yield coordinate, law, limits


def _driven(joint: StageJoint, drive: str) -> str | None:
    """The coordinate that a drive acts on; None where the joint has not one for it."""
    if drive.startswith("rot") and _has_ball(joint.parts):
        return None
    if len(joint.freedoms) == 1:
        return next(iter(joint.freedoms))
    coordinates = {freedom: name for name, freedom in joint.freedoms.items()}
    return coordinates.get(drive)


def _drive_law(stage: Stage, api: Any, turning: bool) -> tuple[ActuatorLaw, tuple[float, float] | None]:
    """Law and limits of a drive, per radian or metre."""
    force = stage.kilogram * stage.metre**2 if turning else stage.kilogram * stage.metre
    per = force / math.radians(1.0) if turning else stage.kilogram
    stiffness = stage.number(api.GetStiffnessAttr(), 0.0) * per
    damping = stage.number(api.GetDampingAttr(), 0.0) * per
    largest = stage.number(api.GetMaxForceAttr(), math.inf) * force
    limits = (-largest, largest) if 0.0 < largest < UNLIMITED else None
    gain = stiffness or damping or 1.0
    law = ActuatorLaw("drive", gain=gain, bias=(0.0, -stiffness, -damping), force_limits=limits)
    return law, limits
