"""Colliders of a USD stage, their materials, and which of them the stage keeps apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sarrus.formats.collisions.read_collisions import CollisionReader, CollisionShape
from sarrus.formats.reading.link_frames import GROUND
from sarrus.formats.usd.joints import StageJoint
from sarrus.formats.usd.parts import TURNS, Stage, shape_of
from sarrus.models.base.pose import Pose
from sarrus.models.shapes.convex_shapes import Capsule, Ellipsoid, HalfSpace
from sarrus.models.shapes.shapes import Box, Cylinder, Shape, Sphere

FRICTION = 0.5  # of colliders without a material, as PhysX has it
MADE: dict[str, Callable[[tuple[float, ...]], Shape]] = {
    "box": Box,
    "ellipsoid": Ellipsoid,
    "sphere": lambda size: Sphere(*size),
    "cylinder": lambda size: Cylinder(*size),
    "capsule": lambda size: Capsule(*size),
}


def add_contacts(
    stage: Stage, joints: list[StageJoint], bodies: Mapping[Any, str], into: CollisionReader
) -> None:
    """Declare the colliders of a stage, and which of them may touch.

    Args:
        stage: The stage.
        joints: Its joints; those that do not say `collisionEnabled` keep their bodies apart.
        bodies: Names of the bodies by path.
        into: Gets the shapes.
    """
    for body in stage.bodies:
        if stage.is_kinematic(body):
            into.fix(bodies[body.GetPath()], GROUND)
    for joint in joints:
        _note_joint(joint, bodies, into)
    for prim in stage.colliders():
        _add(stage, prim, bodies, into)
    apart = _filters(stage)
    into.declare(lambda one, two: not any(keeps(one.group, two.group) for keeps in apart))


def _note_joint(joint: StageJoint, bodies: Mapping[Any, str], into: CollisionReader) -> None:
    from pxr import UsdPhysics

    ends = [GROUND if end is None else bodies[end] for end in (joint.b, joint.a)]
    if not joint.parts and not joint.excluded and ends[0] != GROUND:
        into.fix(ends[0], ends[1])
    elif not UsdPhysics.Joint(joint.prim).GetCollisionEnabledAttr().Get():
        into.join(ends[0], ends[1])


def _add(stage: Stage, prim: Any, bodies: Mapping[Any, str], into: CollisionReader) -> None:
    path = stage.body_of(prim.GetPath())
    carrier = None if path is None else stage.usd.GetPrimAtPath(path)
    found = _shape(stage, prim, carrier, into)
    if found is not None:
        body = GROUND if path is None else bodies[path]
        into.add(CollisionShape(prim.GetName(), body, *found, _law(stage, prim), prim.GetPath()))


def _shape(stage: Stage, prim: Any, body: Any, into: CollisionReader) -> tuple[Shape, Pose] | None:
    """The shape of a collider and its pose in the body; None, and listed, where it is none we have."""
    X_body = Pose() if body is None else stage.pose(body)
    kind = str(prim.GetTypeName())
    if kind == "Plane":
        turn = TURNS[stage.axis(prim.GetAttribute("axis"))]
        return HalfSpace("z"), X_body.inverse() @ stage.pose(prim) @ turn
    if kind == "Mesh":
        return _mesh(stage, prim, X_body, into)
    known = shape_of(stage, prim, body)
    if known is None:
        into.drop(kind or "no geometry", prim.GetName())
        return None
    name, size, at = known
    return MADE[name](size), at


def _mesh(stage: Stage, prim: Any, X_body: Pose, into: CollisionReader) -> tuple[Shape, Pose] | None:
    """The hull of a mesh; not of one that is no part of a body, a landscape."""
    from pxr import UsdGeom

    at, scale = stage.scaled_pose(prim)
    if stage.body_of(prim.GetPath()) is None:
        into.drop("a mesh that is no part of a body", prim.GetName())
        return None
    points = UsdGeom.Mesh(prim).GetPointsAttr().Get()
    given = np.zeros((0, 3)) if points is None else np.array(points, dtype=np.float64).reshape(-1, 3)
    shape = into.hull(given * scale * stage.metre, prim.GetName())
    return None if shape is None else (shape, X_body.inverse() @ at)


def _law(stage: Stage, prim: Any) -> dict[str, float]:
    """Friction while it slides, and restitution, of the physics material."""
    from pxr import UsdPhysics, UsdShade

    material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")[0].GetPrim()
    if not material or not material.HasAPI(UsdPhysics.MaterialAPI):
        return {"friction": FRICTION}
    api = UsdPhysics.MaterialAPI(material)
    rebound = stage.number(api.GetRestitutionAttr(), 0.0)
    return {"friction": stage.number(api.GetDynamicFrictionAttr(), 0.0), "restitution": rebound}


def _filters(stage: Stage) -> list[Callable[[Any, Any], bool]]:
    """Functions of the paths of two colliders that say whether the stage keeps them apart."""
    from pxr import UsdPhysics

    found: list[Callable[[Any, Any], bool]] = []
    groups = []
    for prim in stage.usd.Traverse():
        if prim.HasAPI(UsdPhysics.FilteredPairsAPI):
            targets = UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets()
            found += [_apart(prim.GetPath(), target) for target in targets]
        if prim.IsA(UsdPhysics.CollisionGroup):
            groups.append(UsdPhysics.CollisionGroup(prim))
    return [*found, *_group_filters(stage, groups)]


def _apart(a: Any, b: Any) -> Callable[[Any, Any], bool]:
    """Keeps apart what is at or below two paths."""

    def keeps(x: Any, y: Any) -> bool:
        return bool((x.HasPrefix(a) and y.HasPrefix(b)) or (x.HasPrefix(b) and y.HasPrefix(a)))

    return keeps


def _group_filters(stage: Stage, groups: list[Any]) -> list[Callable[[Any, Any], bool]]:
    """Collision groups that do not collide with each other."""
    from pxr import UsdPhysics

    if not groups:
        return []
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage.usd)
    members = [(one, one.GetCollidersCollectionAPI().ComputeMembershipQuery()) for one in groups]

    def keeps(x: Any, y: Any) -> bool:
        of_x, of_y = ([one for one, query in members if query.IsPathIncluded(path)] for path in (x, y))
        return any(not table.IsCollisionEnabled(one.GetPrim(), two.GetPrim()) for one in of_x for two in of_y)

    return [keeps]
