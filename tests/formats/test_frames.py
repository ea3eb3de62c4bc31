"""Frames on bodies in, through and out: sites of MJCF, links of URDF, frames of SDF, sites of USD, JSON."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sarrus as sr

from .usd.test_freedoms import load as load_quietly

MJCF = """<mujoco><worldbody><site name="origin" pos="0.1 0.2 0.3" euler="0 0 30"/>
 <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" contype="0" conaffinity="0"/>
  <site name="elbow" pos=".3 0 0"/><site pos="1 1 1"/><site name="ja" pos="0 0 .1"/>
  <body name="b" pos=".3 0 0" euler="0 20 0"><joint name="jb" axis="0 1 0"/><joint name="jc" axis="0 0 1"/>
   <geom type="box" size=".1 .05 .02" contype="0" conaffinity="0"/>
   <site name="tip" pos=".2 .01 -.02" euler="10 20 30"/></body></body></worldbody>
 <actuator><motor joint="ja"/></actuator></mujoco>"""


def loaded(what: object) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(what)  # type: ignore[arg-type]


def saved(mech: sr.Mechanism, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.save(mech, path)


def test_sites_are_where_mujoco_has_them() -> None:
    """At random poses, with their velocities; a name that a joint has already is changed and said."""
    with pytest.warns(sr.SarrusWarning, match="frame 'ja' is called 'ja_frame' here"):
        mech = sr.load(MJCF)
    assert set(mech.frames) == {"origin", "elbow", "tip", "ja_frame"}
    assert mech.frames["tip"].body == "b" and mech.frames["origin"].body == "ground"
    model = mujoco.MjModel.from_xml_string(MJCF)
    data, bridge = mujoco.MjData(model), sr.bridge.mujoco(mech, model)
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = rng.standard_normal(3), rng.standard_normal(3)
        bridge.to_mujoco(data, q, v)
        for name, theirs in (("origin", "origin"), ("elbow", "elbow"), ("tip", "tip"), ("ja_frame", "ja")):
            pose, there = mech.pose(q, name), data.site(theirs)
            np.testing.assert_allclose(pose.xyz, there.xpos, atol=1e-14)
            np.testing.assert_allclose(pose.rotation.ravel(), there.xmat, atol=1e-14)
            spatial = np.zeros(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, there.id, spatial, 0)
            np.testing.assert_allclose(
                mech.jacobian(q, name) @ v, [*spatial[3:], *spatial[:3]], atol=1e-13, err_msg=name
            )


def test_frames_do_not_change_the_motion() -> None:
    mech = loaded(MJCF)
    bare = loaded(
        "".join(part.split("/>", 1)[-1] if k else part for k, part in enumerate(MJCF.split("<site")))
    )
    assert mech.names == bare.names and mech.length == bare.length and not bare.frames
    q = np.array([0.3, -0.4, 0.2])
    np.testing.assert_array_equal(mech.mass_matrix(q), bare.mass_matrix(q))
    np.testing.assert_array_equal(mech.acceleration(q, q, q), bare.acceleration(q, q, q))


@pytest.mark.parametrize("suffix", ["xml", "urdf", "sdf", "json"])
def test_there_and_back(suffix: str, tmp_path: Path) -> None:
    mech = loaded(MJCF)
    again = loaded(saved(mech, tmp_path / f"robot.{suffix}"))
    assert set(again.frames) == set(mech.frames)
    q = np.array([0.3, -0.4, 0.2])
    for name, frame in mech.frames.items():
        assert again.frames[name].body == frame.body
        np.testing.assert_allclose(again.pose(q, name).matrix, mech.pose(q, name).matrix, atol=1e-12)


def test_through_all_formats(tmp_path: Path) -> None:
    """One after the other, with loops, springs and wrenches whose ends MJCF writes as sites of its own."""
    spec = sr.MechanismSpec.from_model(sr.library.four_bar().model)
    body = spec.bodies[1].name
    spec.frame("pen", body, sr.Pose((0.1, 0.02, 0.0), rpy=(0, 0, 0.4))).frame(
        "nib", "pen", sr.Pose((0, 0, 0.01))
    )
    spec.force("spring", sr.PointSpring("ground", (0, 0, 0), "pen", (0, 0, 0), 5.0, 0.1))
    spec.force("push", sr.ConstantWrench("nib", (1.0, 2.0, 0.0, 0.0, 0.0, 0.3)))
    mech = first = spec.compile()
    for k, suffix in enumerate(("xml", "sdf", "urdf", "xml", "json", "sdf", "xml", "urdf")):
        mech = loaded(saved(mech, tmp_path / f"robot{k}.{suffix}"))
        assert set(mech.frames) == {"pen", "nib"}, suffix
        assert mech.frames["nib"].body == body
    q = first.default.q
    order = [mech.names.index(name) for name in first.names]
    at = np.zeros(first.nv)
    at[order] = q
    for name in ("pen", "nib"):
        np.testing.assert_allclose(mech.pose(at, name).matrix, first.pose(q, name).matrix, atol=1e-9)
    rest = np.zeros(first.nv)
    ours = first.forward_dynamics(q, rest).a
    np.testing.assert_allclose(mech.forward_dynamics(at, rest).a[order], ours, rtol=1e-6)


def test_frames_of_sdf() -> None:
    """Attached to links, to joints, to other frames; those of nested models keep their names."""
    mech = loaded("""<sdf version="1.9"><model name="m"><pose>0 0 1 0 0 0</pose>
      <link name="base"><inertial><mass>1</mass></inertial></link>
      <link name="arm"><pose>0.5 0 0 0 0 0.3</pose><inertial><mass>1</mass></inertial></link>
      <joint name="j" type="revolute"><parent>base</parent><child>arm</child>
        <axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
      <frame name="tool" attached_to="arm"><pose>0.2 0 0 0 0.1 0</pose></frame>
      <frame name="tip" attached_to="tool"><pose>0.1 0 0 0 0 0</pose></frame>
      <frame name="of_joint" attached_to="j"/>
      <frame name="beside" attached_to="base"><pose relative_to="tip">0 0 0 0 0 0</pose></frame>
      <model name="inner"><pose>0 1 0 0 0 0</pose><link name="l"><inertial><mass>1</mass></inertial></link>
        <frame name="f"><pose>0 0 0.5 0 0 0</pose></frame></model>
      </model></sdf>""")
    carriers = {name: frame.body for name, frame in mech.frames.items()}
    assert carriers == {
        "tool": "arm",
        "tip": "arm",
        "of_joint": "arm",
        "beside": "base",
        "inner::f": "inner::l",
    }
    q = mech.default.q
    np.testing.assert_allclose(mech.pose(q, "tip").xyz, mech.pose(q, "beside").xyz, atol=1e-14)
    np.testing.assert_allclose(mech.pose(q, "inner::f").xyz, [0.0, 1.0, 1.5], atol=1e-14)
    np.testing.assert_allclose(mech.pose(q, "of_joint").matrix, mech.pose(q, "arm").matrix, atol=1e-14)


@pytest.mark.parametrize("mark", ["MjcSiteAPI", "NewtonSiteAPI", ""])
def test_sites_of_usd(mark: str) -> None:
    """Prims that MuJoCo or Newton mark as sites, which are shapes, and Xforms with nothing below them."""
    pytest.importorskip("pxr")
    what = f'Sphere "tip" (prepend apiSchemas = ["{mark}"])' if mark else 'Xform "tip"'
    mech = load_quietly(f"""#usda 1.0
(
 metersPerUnit = 0.01
)
def Xform "box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
 double3 xformOp:translate = (100, 0, 0)
 uniform token[] xformOpOrder = ["xformOp:translate"]
 float physics:mass = 2
 float3 physics:diagonalInertia = (1, 1, 1)
 def {what} {{
  double3 xformOp:translate = (0, 20, 0)
  uniform token[] xformOpOrder = ["xformOp:translate"]
 }}
}}
""")
    assert mech.frames["tip"].body == "box" and not mech.visuals and not mech.omitted
    np.testing.assert_allclose(mech.pose(mech.default.q, "tip").xyz, [1.0, 0.2, 0.0], atol=1e-12)
