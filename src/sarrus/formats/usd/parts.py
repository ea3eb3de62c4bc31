"""The prims of a USD stage: where they are, what they weigh, how they look."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from sarrus.errors import SarrusError
from sarrus.formats.reading.messages import FormatError, Omitted, name_for_others
from sarrus.formats.reading.outside import Reach
from sarrus.models.base.pose import Pose
from sarrus.models.shapes.shapes import Box, Cylinder, MassProperties, Sphere, combined
from sarrus.models.shapes.visual import Visual

WATER = 1000.0  # kg/m^3, the density that USD assumes
SITES = ("MjcSiteAPI", "NewtonSiteAPI")  # schemas of MuJoCo and Newton that mark places
TURNS = {  # from z to the axis of a cylinder
    "X": Pose(rpy=(0.0, math.pi / 2, 0.0)),
    "Y": Pose(rpy=(-math.pi / 2, 0.0, 0.0)),
    "Z": Pose(),
}


@dataclass
class Stage:
    """A stage with its units.

    Attributes:
        source: What messages call it.
        usd: The `Usd.Stage`.
        metre, kilogram: Its units of length and mass [m, kg].
    """

    source: str
    usd: Any
    metre: float
    kilogram: float

    @property
    def name(self) -> str:
        """Of the default prim; "" where there is none."""
        prim = self.usd.GetDefaultPrim()
        return str(prim.GetName()) if prim else ""

    def _prims(self) -> list[Any]:
        return list(self.usd.Traverse())

    @cached_property
    def bodies(self) -> list[Any]:
        """Rigid bodies that are switched on."""
        from pxr import UsdPhysics

        found = [prim for prim in self._prims() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
        return [p for p in found if UsdPhysics.RigidBodyAPI(p).GetRigidBodyEnabledAttr().Get() is not False]

    @cached_property
    def joints(self) -> list[Any]:
        """Joints that are switched on."""
        from pxr import UsdPhysics

        found = [prim for prim in self._prims() if prim.IsA(UsdPhysics.Joint)]
        return [prim for prim in found if UsdPhysics.Joint(prim).GetJointEnabledAttr().Get() is not False]

    @cached_property
    def _paths(self) -> set[Any]:
        return {prim.GetPath() for prim in self.bodies}

    def body_of(self, path: Any) -> Any:
        """Path of the rigid body that a prim is part of; None: the world."""
        while path != path.absoluteRootPath:
            if path in self._paths:
                return path
            path = path.GetParentPath()
        return None

    def shapes(self, body: Any) -> list[Any]:
        """Prims of a body that have a geometry."""
        from pxr import Usd, UsdGeom

        return [
            prim
            for prim in Usd.PrimRange(body)
            if prim.IsA(UsdGeom.Gprim)
            and not is_site(prim)
            and self.body_of(prim.GetPath()) == body.GetPath()
        ]

    def colliders(self) -> list[Any]:
        """Prims that collide."""
        from pxr import UsdPhysics

        found = [prim for prim in self._prims() if prim.HasAPI(UsdPhysics.CollisionAPI)]
        return [p for p in found if UsdPhysics.CollisionAPI(p).GetCollisionEnabledAttr().Get() is not False]

    def frames(self) -> list[Any]:
        """Prims that are places: sites of MuJoCo and Newton, and Xforms of bodies with nothing below them."""
        from pxr import UsdGeom, UsdPhysics

        found = [prim for prim in self._prims() if is_site(prim) or self._is_bare_place(prim)]
        return [prim for prim in found if prim.IsA(UsdGeom.Xformable) and not prim.IsA(UsdPhysics.Joint)]

    def _is_bare_place(self, prim: Any) -> bool:
        """Whether a prim is an Xform of a body, not the body itself, with nothing below it."""
        if prim.GetTypeName() != "Xform" or prim.GetAllChildren() or prim.GetAppliedSchemas():
            return False
        return self.body_of(prim.GetPath()) not in (None, prim.GetPath())

    @cached_property
    def _cache(self) -> Any:
        from pxr import UsdGeom

        return UsdGeom.XformCache()

    def scaled_pose(self, prim: Any) -> tuple[Pose, np.ndarray]:
        """Pose in the world [m], and the scale of its axes (3,)."""
        matrix = np.array(self._cache.GetLocalToWorldTransform(prim)).T
        if not np.all(np.isfinite(matrix)):
            self.fail(prim, "its transform must be of finite numbers")
        scale = np.linalg.norm(matrix[:3, :3], axis=0)
        if np.any(scale < 1e-12):
            self.fail(prim, "its transform has no extent along some axis")
        R = matrix[:3, :3] / scale
        if np.max(np.abs(R.T @ R - np.eye(3))) > 1e-6 or np.linalg.det(R) < 0.0:
            self.fail(prim, "its transform is sheared or mirrored, not a pose with a scale along its axes")
        U, _, Vt = np.linalg.svd(R)
        return Pose(self.metre * matrix[:3, 3], matrix=U @ Vt), scale

    def pose(self, prim: Any) -> Pose:
        """Pose in the world [m]."""
        return self.scaled_pose(prim)[0]

    def pose_at(self, path: Any) -> Pose:
        """Pose in the world of the prim at a path [m]."""
        return self.pose(self.usd.GetPrimAtPath(path))

    def is_kinematic(self, prim: Any) -> bool:
        """Whether a body is held where it is."""
        from pxr import UsdPhysics

        return bool(UsdPhysics.RigidBodyAPI(prim).GetKinematicEnabledAttr().Get())

    def gravity(self) -> tuple[float, float, float]:
        """Of the first physics scene [m/s^2]; else 9.81 down the axis that is up."""
        from pxr import UsdGeom, UsdPhysics

        down = np.array([0.0, 0.0, -1.0] if UsdGeom.GetStageUpAxis(self.usd) == "Z" else [0.0, -1.0, 0.0])
        size = 9.81
        scene = next((prim for prim in self._prims() if prim.IsA(UsdPhysics.Scene)), None)
        if scene is not None:
            given = UsdPhysics.Scene(scene)
            direction = self.numbers(given.GetGravityDirectionAttr(), (0.0, 0.0, 0.0))
            if np.any(direction):
                down = direction / np.linalg.norm(direction)
            magnitude = self.number(given.GetGravityMagnitudeAttr(), -math.inf)
            size = magnitude * self.metre if 0.0 <= magnitude < math.inf else size
        return tuple((size * down).tolist())

    def number(self, attribute: Any, default: float) -> float:
        """The value of an attribute; the default where it has none."""
        value = attribute.Get()
        if value is not None and (not isinstance(value, (int, float)) or math.isnan(value)):
            self.fail(attribute.GetPrim(), f"{attribute.GetName()} must be a number, got {value}")
        return default if value is None else float(value)

    def numbers(self, attribute: Any, default: tuple[float, ...]) -> np.ndarray:
        """Likewise of as many numbers as the default; quaternions are scalar last."""
        value = attribute.Get()
        if hasattr(value, "GetImaginary"):
            value = (*value.GetImaginary(), value.GetReal())
        try:
            found = np.array(default if value is None else value, dtype=float)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (len(default),) or np.any(np.isnan(found)):
            self.fail(
                attribute.GetPrim(), f"{attribute.GetName()} must be {len(default)} numbers, got {value}"
            )
        return found

    def axis(self, attribute: Any) -> str:
        """The axis that an attribute names: "X", "Y" or "Z"."""
        value = str(attribute.Get())
        if value not in TURNS:
            self.fail(attribute.GetPrim(), f"{attribute.GetName()} must be X, Y or Z, got {value}")
        return value

    def fail(self, prim: Any, reason: str) -> NoReturn:
        """Refuse the stage because of a prim."""
        raise FormatError(f"{self.source}: {prim.GetPath()}: {reason}.")


def is_site(prim: Any) -> bool:
    """Whether a prim marks a place and nothing else."""
    return any(str(token) in SITES for token in prim.GetPrimTypeInfo().GetAppliedAPISchemas())


def opened(data: bytes, file: Path | None, source: str, reach: Reach) -> Stage:
    """The stage of a file or of text; its layers are opened before, as far as they are within reach."""
    from pxr import Sdf, Usd, UsdGeom, UsdPhysics

    text = data.decode("utf-8") if data.startswith(b"#usda") else ""  # OpenUSD's own message would not decode
    if file is not None:
        layer = Sdf.Layer.FindOrOpen(name_for_others(file))
    else:
        layer = Sdf.Layer.CreateAnonymous(".usda")
        layer.ImportFromString(text)
    _check_layers(layer, source, reach)
    stage = Usd.Stage.Open(layer)
    metre = float(UsdGeom.GetStageMetersPerUnit(stage))
    kilogram = float(UsdPhysics.GetStageKilogramsPerUnit(stage))
    if not (0.0 < metre < math.inf and 0.0 < kilogram < math.inf):
        raise FormatError(
            f"{source}: metersPerUnit and kilogramsPerUnit must be positive, got {metre:g} and {kilogram:g}."
        )
    return Stage(source, stage, metre, kilogram)


def _check_layers(root: Any, source: str, reach: Reach) -> None:
    """Refuse sublayers, references and payloads out of reach, before any of them is opened."""
    from pxr import Sdf

    waiting, seen = [root], set()
    while waiting:
        layer = waiting.pop()
        for name in sorted(layer.GetCompositionAssetDependencies()):
            path = name if layer.anonymous else layer.ComputeAbsolutePath(name)
            if path in seen:
                continue
            seen.add(path)
            if why := reach.refuses(path.split("[")[0]):
                raise FormatError(f"{source}: the layer or reference {why}.")
            if (found := Sdf.Layer.FindOrOpen(path)) is not None:
                waiting.append(found)


def note_unknown(stage: Stage, omitted: Omitted) -> None:
    """List prims and APIs of other schemas, such as joints and mimics of PhysX, and what cannot be opened."""
    for one in stage.usd.GetCompositionErrors():
        omitted.drop("layer or reference that OpenUSD cannot open", str(one).split(" (instantiating")[0])
    for prim in stage.usd.Traverse():
        kind = str(prim.GetTypeName())
        if kind and not prim.GetPrimTypeInfo().GetSchemaTypeName():
            _note_schema(kind, prim, omitted, constrains="Joint" in kind)
        for api in _unknown_apis(prim):
            _note_schema(api, prim, omitted, constrains="Mimic" in api)


def _note_schema(schema: str, prim: Any, omitted: Omitted, *, constrains: bool) -> None:
    """List a prim or API of an unknown schema; without one that constrains, the motion is another."""
    note = omitted.drop if constrains else omitted.add
    note(f"{schema} of an unknown schema", prim.GetName())


def _unknown_apis(prim: Any) -> list[str]:
    """APIs of a prim that neither OpenUSD nor `SITES` has."""
    from pxr import Usd

    known = Usd.SchemaRegistry().FindAppliedAPIPrimDefinition
    applied = [str(token).split(":")[0] for token in prim.GetPrimTypeInfo().GetAppliedAPISchemas()]
    return [api for api in applied if not known(api) and api not in SITES]


def mass_of(stage: Stage, body: Any, omitted: Omitted) -> dict[str, Any]:
    """Mass, centre and inertia of a body: as given, else those of its shapes, which USD takes as solid."""
    from pxr import UsdPhysics

    api = UsdPhysics.MassAPI(body)
    scale = stage.scaled_pose(body)[1] * stage.metre
    mass = stage.number(api.GetMassAttr(), 0.0) * stage.kilogram
    com = stage.numbers(api.GetCenterOfMassAttr(), (-math.inf,) * 3)
    diagonal = stage.numbers(api.GetDiagonalInertiaAttr(), (0.0,) * 3)
    if mass < 0.0 or np.any(diagonal < 0.0):
        shown = ", ".join(f"{x:g}" for x in diagonal)
        stage.fail(body, f"mass and moments must not be negative, got {mass:g} kg and ({shown})")
    solid = None
    if not (mass > 0.0 and np.any(diagonal) and np.all(np.isfinite(com))):
        solid = _solid(stage, body, stage.number(api.GetDensityAttr(), 0.0))
    if mass <= 0.0:
        if solid is None:
            stage.fail(
                body, "it has no mass and no Cube, Sphere or Cylinder that collides to compute it from"
            )
        assert solid is not None
        mass = solid.mass
    centre = com * scale if np.all(np.isfinite(com)) else np.zeros(3) if solid is None else solid.com
    inertia: np.ndarray
    if np.any(diagonal):
        axes = stage.numbers(api.GetPrincipalAxesAttr(), (0.0,) * 4)
        R = Pose(quat=axes).rotation if np.any(axes) else np.eye(3)
        inertia = R @ np.diag(diagonal) @ R.T * stage.kilogram * stage.metre**2
    elif solid is not None:
        inertia = solid.inertia * (mass / solid.mass)
    else:
        omitted.remark(f"body {body.GetName()!r} has a mass and neither inertia nor shape: a point")
        inertia = np.zeros((3, 3))
    return {"mass": mass, "com": tuple(centre.tolist()), "inertia": 0.5 * (inertia + inertia.T)}


def _solid(stage: Stage, body: Any, density: float) -> MassProperties | None:
    """Of the shapes of a body that collide; None without any."""
    from pxr import UsdPhysics

    pieces = []
    for prim in stage.shapes(body):
        shape = shape_of(stage, prim, body)
        if shape is None or not prim.HasAPI(UsdPhysics.CollisionAPI):
            continue
        own = stage.number(UsdPhysics.MassAPI(prim).GetDensityAttr(), 0.0)
        weight = (own or density) * stage.kilogram / stage.metre**3 or WATER
        kind, size, at = shape
        made = {"box": Box, "sphere": Sphere, "cylinder": Cylinder}.get(kind)
        if made is None:
            continue
        arguments = {"box": (size,), "sphere": size, "cylinder": size}[kind]
        try:
            pieces.append(made(*arguments, density=weight, at=at).mass_properties())
        except SarrusError as error:
            stage.fail(prim, str(error).rstrip("."))
    return combined(pieces) if pieces else None


def shape_of(stage: Stage, prim: Any, body: Any) -> tuple[str, tuple[float, ...], Pose] | None:
    """Kind, size as of a `Visual`, and pose in the body (None: the world); None for what is none."""
    at, scale = stage.scaled_pose(prim)
    at, unit = (at if body is None else stage.pose(body).inverse() @ at), scale * stage.metre
    kind = prim.GetTypeName().lower()

    def value(name: str) -> float:
        return stage.number(prim.GetAttribute(name), 0.0)

    if kind == "cube":
        return "box", tuple((value("size") * unit).tolist()), at
    if kind == "sphere":
        radii = tuple((value("radius") * unit).tolist())
        return ("sphere", radii[:1], at) if len(set(np.round(unit, 12))) == 1 else ("ellipsoid", radii, at)
    if kind in ("cylinder", "capsule"):
        axis = stage.axis(prim.GetAttribute("axis"))
        k = "XYZ".index(axis)
        across = np.delete(unit, k)
        if abs(across[0] - across[1]) > 1e-9 * across[0]:
            return None
        return kind, (value("radius") * float(across[0]), value("height") * float(unit[k])), at @ TURNS[axis]
    return None


def visual_of(stage: Stage, prim: Any, body: str, carrier: Any, omitted: Omitted) -> Visual | None:
    """A shape for pictures; None where it is hidden or a mesh, which a stage holds inside."""
    from pxr import UsdGeom

    if UsdGeom.Imageable(prim).ComputeVisibility() == "invisible":
        return None
    shape = shape_of(stage, prim, carrier)
    if shape is None:
        omitted.add("visual", prim.GetName())
        return None
    kind, size, at = shape
    try:
        red, green, blue = map(float, UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()[0])
    except (TypeError, ValueError, IndexError):  # none is given, or no colour
        return Visual(body, kind, size, at)
    return Visual(body, kind, size, at, rgba=(red, green, blue, 1.0))
