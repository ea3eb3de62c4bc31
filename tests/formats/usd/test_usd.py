"""USD physics: the same mechanism from a stage and from a description; units, loops, drives, errors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

pytest.importorskip("pxr")

HEAD = """#usda 1.0
(
    defaultPrim = "linkage"
    metersPerUnit = 0.01
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {
    vector3f physics:gravityDirection = (0, 0, -1)
    float physics:gravityMagnitude = 981
}
def Xform "linkage" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {
"""
TURN = "(0.7071067811865476, 0.7071067811865476, 0, 0)"  # z of the joint frame is -y of the world
LENGTHS = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}


def bar(name: str, length: float, xyz: tuple[float, float, float], angle: float) -> str:
    """A bar from its frame along its x axis, in centimetres; the plane is x z."""
    half = 100.0 * length / 2.0
    c, s = math.cos(-angle / 2.0), math.sin(-angle / 2.0)
    place = ", ".join(str(100.0 * x) for x in xyz)
    return f"""
    def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
        double3 xformOp:translate = ({place})
        quatd xformOp:orient = ({c!r}, 0, {s!r}, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        float physics:mass = 1.5
        point3f physics:centerOfMass = ({half}, 0, 0)
        float3 physics:diagonalInertia = (10, 200, 200)
        quatf physics:principalAxes = (1, 0, 0, 0)
        def Cube "look" {{
            double size = 2
            float3 xformOp:scale = ({half}, 1, 1)
            double3 xformOp:translate = ({half}, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }}
    }}"""


def pin(name: str, a: str | None, b: str, at_a: float, at_b: float, more: str = "") -> str:
    """A pin, at distances along the bars in metres; (0.5, 0, 0) of the world for the last one."""
    first = "" if a is None else f"rel physics:body0 = </linkage/{a}>"
    return f"""
    def PhysicsRevoluteJoint "{name}" (prepend apiSchemas = ["PhysicsDriveAPI:angular"]) {{
        {first}
        rel physics:body1 = </linkage/{b}>
        point3f physics:localPos0 = ({100.0 * at_a}, 0, 0)
        point3f physics:localPos1 = ({100.0 * at_b}, 0, 0)
        quatf physics:localRot0 = {TURN}
        quatf physics:localRot1 = {TURN}
        uniform token physics:axis = "Z"
        {more}
    }}"""


def places() -> dict[str, tuple[tuple[float, float, float], float]]:
    """The four-bar closed at a crank angle of 0.9 rad: origin and angle of each bar."""
    a, b, c, d, first = 0.2, 0.5, 0.4, 0.5, 0.9
    x, z = a * math.cos(first), a * math.sin(first)
    along = math.hypot(d - x, z)
    beta = math.acos((b * b + along * along - c * c) / (2 * b * along)) + math.atan2(-z, d - x)
    tip = (x + b * math.cos(beta), z + b * math.sin(beta))
    return {
        "crank": ((0.0, 0.0, 0.0), first),
        "coupler": ((x, 0.0, z), beta),
        "rocker": ((0.5, 0.0, 0.0), math.atan2(tip[1], tip[0] - 0.5)),
    }


def four_bar(drive: str = "", backwards: bool = False) -> str:
    """The stage; the pin between coupler and rocker closes the loop."""
    bars = "".join(bar(name, LENGTHS[name], *places()[name]) for name in LENGTHS)
    excluded = "uniform bool physics:excludeFromArticulation = true"
    middle = pin("B", "coupler", "crank", 0.0, 0.2) if backwards else pin("B", "crank", "coupler", 0.2, 0.0)
    pins = pin("A", None, "crank", 0.0, 0.0, drive) + middle + pin("D", None, "rocker", 0.5, 0.0)
    return HEAD + bars + pins + pin("C", "coupler", "rocker", 0.5, 0.4, excluded) + "\n}\n"


def expected() -> sr.Mechanism:
    """The same by hand: angles about -y from the x axis."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    hinge = sr.Revolute((0.0, -1.0, 0.0))
    for name, parent, at in (
        ("crank", "ground", (0, 0, 0)), ("coupler", "crank", (0.2, 0, 0)), ("rocker", "ground", (0.5, 0, 0))
    ):  # fmt: skip
        mass = {"mass": 1.5, "com": (LENGTHS[name] / 2, 0, 0), "inertia": (1e-3, 0.02, 0.02)}
        spec.body(name, parent, joint=hinge, at=sr.Pose(at), **mass)
    spec.close("C", "coupler", "rocker", hinge, sr.Pose((0.5, 0, 0)), sr.Pose((0.4, 0, 0)))
    return spec.compile()


def load(text: str) -> sr.Mechanism:
    with pytest.warns(sr.SarrusWarning):
        return sr.load(text)


@pytest.mark.parametrize("backwards", [False, True], ids=["parent first", "child first"])
def test_a_four_bar_in_centimetres(backwards: bool) -> None:
    """M, h, J, accelerations, and the pose as drawn, of the stage and of the description by hand."""
    mech, other = load(four_bar(backwards=backwards)), expected()
    assert list(mech.names) == ["A", "B", "D"] and mech.nc == other.nc == 5
    angles = {name: angle for name, (_, angle) in places().items()}
    drawn = [angles["crank"], angles["coupler"] - angles["crank"], angles["rocker"]]
    q, sign = np.array(drawn), np.array([1.0, -1.0 if backwards else 1.0, 1.0])  # of body1 against body0
    np.testing.assert_allclose(mech.default.q, sign * q, atol=1e-6)  # the stage has single precision
    v = other.consistent_velocity(q, [1.0, 2.0, -1.0])
    M = sign[:, None] * mech.mass_matrix(sign * q) * sign
    np.testing.assert_allclose(M, other.mass_matrix(q), rtol=1e-7)
    np.testing.assert_allclose(sign * mech.bias(sign * q, sign * v), other.bias(q, v), rtol=1e-6, atol=1e-7)
    ours = mech.forward_dynamics(*mech.project(sign * q, sign * v), [0.3, 0.0, 0.0]).a
    theirs = other.forward_dynamics(*other.project(q, v), [0.3, 0.0, 0.0]).a
    np.testing.assert_allclose(sign * ours, theirs, rtol=1e-6, atol=1e-6)
    assert mech.mobility(mech.default.q).dof == 1
    assert [one.shape for one in mech.model.visuals] == ["box"] * 3


def test_drives_and_limits() -> None:
    """Degrees become radians, centimetres metres; a drive is an actuator with its law."""
    more = """float physics:lowerLimit = -90
        float physics:upperLimit = 180
        float drive:angular:physics:stiffness = 2
        float drive:angular:physics:damping = 0.5
        float drive:angular:physics:maxForce = 30000"""
    mech = load(four_bar(more))
    np.testing.assert_allclose(mech.model.limits[0], [-math.pi / 2, math.pi], rtol=1e-6)
    assert "A" in mech.actuators
    law = mech.model.laws["A"][0]
    per = 1e-4 * 180.0 / math.pi  # kg cm^2 / degree
    np.testing.assert_allclose([law.gain, *law.bias[1:]], [2 * per, -2 * per, -0.5 * per], rtol=1e-9)
    np.testing.assert_allclose(law.force_limits, [-3.0, 3.0])


def test_free_bodies_and_masses_of_shapes() -> None:
    """A cube of 2 x 1 x 1 m and density 500 that nothing holds, a ball joint between two of them."""
    text = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Y"
)
def Cube "one" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]) {
    double size = 1
    float physics:density = 500
    float3 xformOp:scale = (2, 1, 1)
    double3 xformOp:translate = (0, 3, 0)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
}
def Sphere "two" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {
    double radius = 0.5
    double3 xformOp:translate = (1.5, 3, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def PhysicsSphericalJoint "ball" {
    rel physics:body0 = </one>
    rel physics:body1 = </two>
    point3f physics:localPos0 = (0.5, 0, 0)
    point3f physics:localPos1 = (-0.5, 0, 0)
}
"""
    mech = load(text)
    assert (mech.nq, mech.nv) == (11, 9)
    masses = [1000.0, 1000.0 * math.pi / 6.0]
    np.testing.assert_allclose(mech.mass_matrix(mech.default.q)[0, 0], sum(masses), rtol=1e-12)
    np.testing.assert_allclose(mech.pose(mech.default.q, "two").xyz, [1.5, 3.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(mech.model.gravity, [0.0, -9.81, 0.0])
    fall = mech.forward_dynamics(mech.default.q, np.zeros(9)).a
    np.testing.assert_allclose(fall[:3], [0.0, -9.81, 0.0], atol=1e-9)


def test_files_of_every_kind(tmp_path: Path) -> None:
    """The stage as text, as .usda, as .usdc and as .usdz is one mechanism."""
    from pxr import Sdf, UsdUtils

    text = tmp_path / "robot.usda"
    text.write_text(four_bar())
    layer = Sdf.Layer.FindOrOpen(str(text))
    layer.Export(str(tmp_path / "robot.usdc"))
    UsdUtils.CreateNewUsdzPackage(str(text), str(tmp_path / "robot.usdz"))
    first = load(four_bar())
    for kind in ("usda", "usdc", "usdz"):
        with pytest.warns(sr.SarrusWarning):
            mech = sr.load(tmp_path / f"robot.{kind}")
        assert mech.names == first.names
        np.testing.assert_array_equal(mech.default.q, first.default.q)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#usda 1.0\ndef Xform \"x\" {", "OpenUSD cannot read it"),
        ("#usda 1.0\ndef Xform \"x\" {}\n", "no prim of the stage is a rigid body"),
        (four_bar().replace("</linkage/rocker>", "</linkage/lost>"), "body /linkage/lost does not exist"),
        (four_bar().replace("float physics:mass = 1.5", ""), "/linkage/crank: it has no mass"),
        (four_bar().replace("metersPerUnit = 0.01", "metersPerUnit = 0"), "must be positive"),
        (four_bar().replace("</linkage/crank>", "</linkage/coupler>"), "both of its bodies are the same"),
        (four_bar().replace("(10, 200, 200)", "(-10, 200, 200)"), "must not be negative"),
    ],
)  # fmt: skip
def test_broken_stages(text: str, said: str) -> None:
    with pytest.raises(sr.SarrusError, match=said):
        sr.load(text)


def test_without_the_library(monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(sr.SarrusError, match=r"pip install sarrus\[usd\]"):
        sr.load(four_bar())


CUBE = """def Cube "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"{}]) {{
  float physics:mass = {}
  float3 physics:diagonalInertia = {}
}}
def {} "j" {{
  rel physics:body1 = </a>
  uniform token physics:axis = "Y"
}}
"""


def cube(
    api: str = "", mass: str = "1", inertia: str = "(1, 1, 1)", joint: str = "PhysicsRevoluteJoint"
) -> str:
    return "#usda 1.0\n" + CUBE.format(api, mass, inertia, joint)


def test_schemas_that_nobody_knows_are_listed(tmp_path: Path) -> None:
    """Gears and mimics of PhysX would be lost without a word otherwise."""
    for text, said in (
        (cube(joint="PhysxPhysicsGearJoint"), r"PhysxPhysicsGearJoint of an unknown schema \('j'\)"),
        (cube(api=', "PhysxMimicJointAPI:rotY"'), r"PhysxMimicJointAPI of an unknown schema \('a'\)"),
        (cube() + 'def Xform "x" (prepend references = @none.usda@) {}', "OpenUSD cannot open .*none.usda"),
    ):
        (tmp_path / "robot.usda").write_text(text)
        with pytest.raises(sr.FormatError, match=said):
            sr.load(tmp_path / "robot.usda", strict=True)


@pytest.mark.parametrize(("mass", "inertia"), [("-1", "(1, 1, 1)"), ("1", "(1, -1, 1)")])
def test_negative_masses_and_moments(mass: str, inertia: str) -> None:
    with pytest.raises(sr.FormatError, match="/a: mass and moments must not be negative, got"):
        sr.load(cube(mass=mass, inertia=inertia))
