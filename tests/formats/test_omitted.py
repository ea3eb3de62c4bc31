"""What files contain and mechanisms do not: graded, listed, and refused where strict."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest

import sarrus as sr

TENDON = """<mujoco model="hand"><worldbody>
  <body name="palm"><joint name="a" type="hinge"/><geom size=".1" mass="1"/><site name="s"/>
    <body name="finger" pos="0.2 0 0"><joint name="b" type="hinge"/><geom size=".1" mass="1"/>
      <site name="r" pos="0.1 0 0"/></body></body>
  <camera name="eye" pos="0 0 1"/></worldbody>
  <tendon><spatial name="cord"><site site="s"/><site site="r"/></spatial></tendon>
  <actuator><position name="pull" tendon="cord"/></actuator>
  <sensor><jointpos joint="a"/></sensor></mujoco>"""
EQUALITY = """<mujoco model="arm"><worldbody>
  <body name="l"><joint name="a" type="hinge"/><geom size=".1" mass="1"/><site name="s"/></body>
  <body name="r" pos="1 0 0"><joint name="b" type="hinge"/><geom size=".1" mass="1"/><site name="t"/></body>
  </worldbody><tendon><spatial name="x"><site site="s"/><site site="t"/></spatial>
  <fixed name="y"><joint joint="a" coef="1"/></fixed></tendon>
  <equality><tendon name="bent" tendon1="x" tendon2="y" polycoef="0 1 0.5 0 0"/></equality></mujoco>"""
PLAIN = """<mujoco model="plain"><worldbody><camera name="eye" pos="0 0 1"/>
  <body name="l"><joint name="a" type="hinge"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def needs_mujoco() -> None:
    pytest.importorskip("mujoco")


@pytest.mark.parametrize(
    ("text", "names"),
    [(TENDON, ("actuator that does not act", "spatial tendon ('cord')")), (EQUALITY, ("'bent'",))],
)
def test_dropped_constraints_and_actuators(text: str, names: tuple[str, ...]) -> None:
    """0.1.0 listed a tendon between cameras and sensors, and had no way to refuse."""
    with pytest.raises(sr.SarrusError, match="strict=True, but these constraints and actuators"):
        sr.load(text, strict=True)
    with pytest.warns(sr.SarrusWarning) as said:
        mech = sr.load(text)
    message = str(said[0].message)
    for name in names:
        assert any(name in one for one in mech.omitted[: len(names)]) and name in message
    harmless = [i for i, one in enumerate(mech.omitted) if one.startswith(("camera", "sensor"))]
    assert all(i >= len(names) for i in harmless)
    order = [message.index(one) for one in mech.omitted]
    assert order == sorted(order)
    for same in (
        pickle.loads(pickle.dumps(mech)),
        mech.with_(gravity=(0, 0, 0)),
        mech.with_default(mech.neutral()),
    ):
        assert same.omitted == mech.omitted


def test_strict_accepts_what_is_modelled() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sr.load(PLAIN, strict=True).nv == 1
    assert sr.library.four_bar().omitted == ()


def test_armature_of_a_free_joint_is_listed() -> None:
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body name="box"><joint type="free" armature="1"/>
      <geom type="box" size=".1 .2 .3" mass="1"/></body></worldbody></mujoco>"""
    with pytest.warns(sr.SarrusWarning, match="armature of a free joint along its translations"):
        mech = sr.load(text)
    assert mech.omitted[0].startswith("armature of a free joint")


def test_rounded_data_of_a_spec_have_the_same_door_as_files() -> None:
    """float32 frames of a Bennett-like loop: open by 1e-8, no default state in 0.1.0."""
    import numpy as np

    exact = sr.library.bennett()
    spec = sr.MechanismSpec(exact.model.gravity, "rounded")
    for body in exact.model.bodies[1:]:
        inertia = {"mass": body.mass, "com": body.com, "inertia": body.inertia}
        at = sr.Pose(body.at.xyz.astype(np.float32), rpy=_rpy32(body.at))
        spec.body(body.name, body.parent, joint=body.joint, at=at, **inertia)
    for name, one in exact.model.constraints:
        at_a, at_b = (sr.Pose(x.xyz.astype(np.float32), rpy=_rpy32(x)) for x in (one.at_a, one.at_b))
        spec.close(name, one.a, one.b, one.joint, at_a, at_b)
    literal = spec.compile()
    assert not literal.assemble(exact.default.q).success or literal.mobility(exact.default.q).dof == 0
    with pytest.warns(sr.SarrusWarning, match="They were made compatible by displacing frames"):
        fitted = spec.compile(loop_tolerance=1e-4)
    assert fitted.mobility().dof == 1 and fitted.mobility().gap < 1e-12
    with pytest.raises(sr.InputError, match="loop_tolerance must be positive"):
        spec.compile(loop_tolerance=0.0)


def _rpy32(pose: sr.Pose) -> tuple[float, ...]:
    import numpy as np
    from scipy.spatial.transform import Rotation

    return tuple(np.float32(Rotation.from_matrix(pose.rotation).as_euler("xyz")).tolist())


INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
URDF = f"""<robot name="r"><link name="base"/>
<link name="a"><inertial><mass value="1"/>{INERTIA}</inertial>
<visual><geometry><mesh filename="none.stl"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-90" upper="90" effort="1" velocity="1"/></joint>
<cable name="c"/>
</robot>"""
SDF = """<sdf version="1.9"><model name="m"><link name="a">
<inertial><mass>1</mass></inertial>
<visual name="v"><geometry><mesh><uri>none.stl</uri></mesh></geometry></visual></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child>
<axis><xyz>0 1 0</xyz><limit><lower>-90</lower><upper>90</upper></limit></axis></joint>
<cable name="c"/>
</model></sdf>"""


@pytest.mark.parametrize(("text", "suffix"), [(URDF, ".urdf"), (SDF, ".sdf")])
def test_meshes_degrees_and_unknown_elements_come_with_their_lines(
    text: str, suffix: str, tmp_path: Path
) -> None:
    file = tmp_path / f"robot{suffix}"
    file.write_text(text, encoding="utf-8")
    with pytest.warns(sr.SarrusWarning) as said:
        mech = sr.load(file)
    printed = " ".join(str(one.message) for one in said)
    assert "cable ('c'), line 6" in mech.omitted
    assert "mesh file that was not found ('none.stl'), line 3" in mech.omitted
    assert "line 4: a limit of 'j' is 90 rad; if these are degrees, the file is wrong" in printed


def test_the_line_of_a_mesh_that_mujoco_does_not_find(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco>\n<asset>\n<mesh name="m" file="none.stl"/>\n</asset></mujoco>', encoding="utf-8"
    )
    with pytest.raises(sr.FormatError, match=r"robot.xml: MuJoCo cannot compile it: .*none.stl', line 3\."):
        sr.load(file)


@pytest.mark.parametrize("text", [PLAIN, "#usda 1.0"])
def test_names_that_are_not_utf8(tmp_path: Path, text: str) -> None:
    """MuJoCo and OpenUSD do not open such files: a TypeError and a UnicodeEncodeError were theirs."""
    if text.startswith("#"):
        pytest.importorskip("pxr")
    file = tmp_path / "\udcff.xml"
    try:
        file.write_text(text)
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    with pytest.raises(sr.SarrusError, match="must have a name that is UTF-8; rename it"):
        sr.load(file)
