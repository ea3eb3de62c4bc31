"""MJCF written by save: MuJoCo compiles it, starts closed, and accelerates as we do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import sarrus as sr
from bench.twins.mujoco_terms import terms
from tests.oracles.description import to_spec
from tests.oracles.every_constraint import CLOSING, constrained

DECLARED = ("coupling", "distance", "point_on_line", "point_on_plane")
# MJCF has no rolling, no gears that load bearings, no cams by a spline, no springs by a table and no outlines
UNSAID = ("rolling_disk", "bicycle", "planetary_gearbox", "cam_follower", "toggle_clamp")
# nor ropes from drums, forces by formulas, friction by load; states of first order are refused by name
UNSAID += ("tackle", "tyre_car", "overhung_gearbox", "screw_jack", "worm_hoist")
UNSAID += ("hydraulic_lift", "v_belt", "freewheel")
UNSAID += ("geneva_drive", "flying_follower", "ratchet", "spring_latch", "escapement")


def written(mech: sr.Mechanism, folder: Path, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return mujoco.MjModel.from_xml_path(str(sr.save(mech, folder / "robot.xml", **options)))


def quiet_load(path: Path) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(path)


def assert_same_motion(mech: sr.Mechanism, model: Any, seed: int = 0) -> None:
    """Accelerations of ours against MuJoCo's M, forces and rows, at three states on the constraints."""
    bridge, rng = sr.bridge.mujoco(mech, model), np.random.default_rng(seed)
    for reach in (0.0, 0.02, 0.05):
        found = mech.assemble(mech.integrate(mech.default.q, reach * rng.standard_normal(mech.nv)))
        v = mech.consistent_velocity(found.q, 0.5 * rng.standard_normal(mech.nv))
        there = terms(bridge, found.q, v, np.zeros(model.nu))  # constant wrenches are actuators
        np.testing.assert_allclose(there.phi, 0.0, atol=1e-11 * max(1.0, mech.length))
        a = mech.forward_dynamics(found.q, v).a
        assert there.difference(a) < 1e-10  # gamma by differences of sixth order: 1e-12 of speed squared


@pytest.mark.parametrize("name", [name for name in sr.library.MECHANISMS if name not in UNSAID])
def test_library_moves_the_same_in_mujoco(name: str, tmp_path: Path) -> None:
    mech = sr.library.MECHANISMS[name]()
    model = written(mech, tmp_path, strict=True)
    assert_same_motion(mech, model)
    again = quiet_load(tmp_path / "robot.xml")
    assert again.mobility().dof == mech.mobility().dof
    assert again.actuators == mech.actuators


@pytest.mark.parametrize("kind", [*CLOSING, *DECLARED])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_joint_and_constraint(kind: str, seed: int, tmp_path: Path) -> None:
    """Eight bodies with one joint of each kind, a free one on a moving body among them."""
    described = constrained(kind, seed)
    mech = to_spec(described).compile().with_default(described.q)
    model = written(mech, tmp_path)
    assert_same_motion(mech, model)


def test_it_starts_closed(tmp_path: Path) -> None:
    """Drawn at the default state: MuJoCo's reference pose and the keyframe."""
    mech = sr.library.delta()
    model = written(mech, tmp_path)
    data = mujoco.MjData(model)
    for _ in range(2):
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos[data.efc_type == 0]).max() < 1e-12
        mujoco.mj_resetDataKeyframe(model, data, 0)
    q, _ = sr.bridge.mujoco(mech, model).to_sarrus(data)
    np.testing.assert_allclose(q, mech.default.q, atol=1e-14)


def test_mujoco_keeps_the_loops_while_it_runs(tmp_path: Path) -> None:
    """Helpers share real masses, so that MuJoCo's soft constraints stay stiff: within 1 mm for 2 s."""
    mech = sr.library.slider_crank()
    model = written(mech, tmp_path)
    data = mujoco.MjData(model)
    sr.bridge.mujoco(mech, model).to_mujoco(data, *mech.default)
    worst = 0.0
    for _ in range(1000):
        mujoco.mj_step(model, data)
        worst = max(worst, float(np.abs(data.efc_pos[data.efc_type == 0]).max()))
    assert worst < 1e-3 * mech.length


@pytest.mark.parametrize(("step", "loop_time"), [(None, None), (1e-3, None), (5e-4, 0.02), (None, 0.1)])
def test_loops_are_as_stiff_as_asked(step: float | None, loop_time: float | None, tmp_path: Path) -> None:
    """A mass that hangs in a loop: it opens by (1 - d) d g T^2, by MuJoCo's law of its constraints."""
    spec = sr.MechanismSpec().body("mass", joint=sr.Prismatic("z"), mass=3.0)
    spec.close("hook", "mass", "ground", sr.Spherical())
    path = sr.save(spec.compile(), tmp_path / "hook.xml", step=step, loop_time=loop_time)
    model = mujoco.MjModel.from_xml_path(str(path))
    T, d = loop_time or 2.0 * (step or 2e-3), 0.9999
    assert model.opt.timestep == (step or 2e-3)
    data = mujoco.MjData(model)
    for _ in range(round(20.0 * T / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert -data.qpos[0] == pytest.approx((1.0 - d) * d * 9.81 * T**2, rel=1e-3)


def test_stiffness_that_cannot_be(tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    with pytest.raises(
        sr.InputError, match=r"loop_time must be at least two steps, .* got 0.003 s with a step"
    ):
        sr.save(mech, tmp_path / "x.xml", loop_time=3e-3)
    with pytest.raises(sr.InputError, match="step must be"):
        sr.save(mech, tmp_path / "x.xml", step=0.0)
    with pytest.raises(sr.InputError, match=r"step= and loop_time= are for MJCF, got .*x\.sdf"):
        sr.save(mech, tmp_path / "x.sdf", step=1e-3)


def test_springs_dampers_wrenches_and_laws_survive(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    rod = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (0.01, 0.02, 0.02)}
    spec.body("a", joint=sr.Revolute("y"), damping=0.1, friction=0.0, limits=(-1.0, 2.0), **rod)
    spec.body("b", "a", joint=sr.Universal("y", "z"), at=sr.Pose((0.4, 0, 0)), armature=(0.1, 0.2), **rod)
    spec.body("c", "b", joint=sr.Spherical(), at=sr.Pose((0.4, 0, 0)), **rod)
    spec.force("spring", sr.PointSpring("ground", (0, 0, 1), "b", (0.1, 0, 0), 30.0, 0.4, damping=0.3))
    spec.force("torsion", sr.JointSpring("a", 3.0, rest=0.2))
    spec.force("more", sr.JointSpring("a", 1.0, rest=-0.4))
    spec.force("loss", sr.JointDamper("b.angle2", 0.05))
    spec.force("wind", sr.ConstantWrench("c", (1, 2, 3, 0.1, 0.2, 0.3), (0.1, 0, 0)))
    spec.force("thrust", sr.ConstantWrench("b", (0, 2, 0, 0, 0, 0.3), (0.1, 0, 0), frame="body"))
    spec.actuate("a", "c")
    spec.laws["a"] = (sr.ActuatorLaw("servo", 2.0, 5.0, (0, -5.0, -0.5), (-1, 1), (-20, 20)),)
    mech = spec.compile()
    model = written(mech, tmp_path, strict=True)
    rng = np.random.default_rng(1)
    bridge = sr.bridge.mujoco(mech, model)
    q = mech.integrate(mech.neutral(), 0.3 * rng.standard_normal(mech.nv))
    v = rng.standard_normal(mech.nv)
    ctrl = np.zeros(model.nu)
    u = bridge.to_u(ctrl, q, v)  # what the servo does at ctrl = 0
    a = mech.forward_dynamics(q, v, u=u).a
    np.testing.assert_allclose(terms(bridge, q, v, ctrl).acceleration, a, atol=1e-11 * np.abs(a).max())
    again = quiet_load(tmp_path / "robot.xml")
    assert again.laws["a"] == mech.laws["a"] and again.actuators == mech.actuators
    np.testing.assert_allclose(again.bias(q, v), mech.bias(q, v), atol=1e-12 * np.abs(mech.bias(q, v)).max())


def test_what_mjcf_cannot_say(tmp_path: Path) -> None:
    mech = sr.library.rolling_disk()
    with pytest.warns(
        sr.SarrusWarning, match=r"robot.xml: not written: constraint of type Rolling \('floor'\)"
    ):
        sr.save(mech, tmp_path / "robot.xml")
    (tmp_path / "robot.xml").unlink()
    with pytest.raises(sr.FormatError, match=r"strict=True, but .* not written: constraint of type"):
        sr.save(mech, tmp_path / "robot.xml", strict=True)
    assert not (tmp_path / "robot.xml").exists()
    spec = sr.MechanismSpec().body("a\x01", joint=sr.Revolute("y"), mass=1.0, com=(0.1, 0, 0))
    with pytest.raises(sr.InputError, match="cannot be written in XML"):
        sr.save(spec, tmp_path / "robot.xml")
    with pytest.raises(sr.InputError, match="save takes a Mechanism or a MechanismSpec, got int"):
        sr.save(3, tmp_path / "robot.xml")  # type: ignore[arg-type]


def test_joints_of_a_file_are_put_back_on_their_bodies(tmp_path: Path) -> None:
    """Massless bodies that a reader made of joints are merged again: the same bodies as in the first file."""
    text = """<mujoco><worldbody><body name="cart" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="turn" axis="0 0 1" pos="0.1 0 0" ref="20"/>
      <geom type="box" size=".1 .2 .3"/>
      <body name="arm" pos="0.5 0 0" euler="0 0 30"><joint name="elbow" axis="0 1 0" pos="0 0 0.1"/>
        <geom size=".1" pos=".2 0 0"/></body></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(text)
    first, second = mujoco.MjModel.from_xml_string(text), written(mech, tmp_path)
    assert (first.nbody, first.njnt) == (second.nbody, second.njnt)
    assert [first.joint(i).name for i in range(3)] == [second.joint(i).name for i in range(3)]
    np.testing.assert_allclose(second.jnt_pos, first.jnt_pos, atol=1e-15)
    np.testing.assert_allclose(second.qpos0, first.qpos0, atol=1e-15)
    np.testing.assert_allclose(second.body_pos, first.body_pos, atol=1e-15)


def test_shapes_survive(tmp_path: Path) -> None:
    """Also a mesh, which MuJoCo moves to its centre of mass while compiling."""
    corners = "v 0.1 0.1 0\nv 0.2 0.1 0\nv 0.1 0.2 0\nv 0.1 0.1 0.1\n"
    (tmp_path / "part.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    shapes = """<geom type="box" size=".1 .2 .3" rgba="1 0 0 1"/>
      <geom type="capsule" size=".1 .2" pos="0 1 0"/>
      <geom type="mesh" mesh="part" pos="1 2 3" euler="10 20 30"/><geom type="sphere" size=".1" group="3"/>"""
    text = f"""<mujoco><asset><mesh name="part" file="part.obj" scale="1 2 1"/></asset><worldbody>
      <body name="a"><joint name="j" pos=".1 0 0"/>{shapes}</body></worldbody></mujoco>"""
    (tmp_path / "one.xml").write_text(text)
    mech = quiet_load(tmp_path / "one.xml")
    assert [one.shape for one in mech.visuals] == ["box", "capsule", "mesh"]
    assert mech.visuals[0].size == (0.2, 0.4, 0.6) and mech.visuals[0].rgba == (1.0, 0.0, 0.0, 1.0)
    np.testing.assert_allclose(mech.visuals[2].at.xyz, (1, 2, 3), atol=1e-7)  # MuJoCo keeps meshes in float32
    assert mech.visuals[2].size == (1.0, 2.0, 1.0) and Path(mech.visuals[2].file).name == "part.obj"
    written(mech, tmp_path)
    again = quiet_load(tmp_path / "robot.xml")
    for one, two in zip(mech.visuals, again.visuals, strict=True):
        assert (one.body, one.shape, one.size) == (two.body, two.shape, pytest.approx(two.size))
        np.testing.assert_allclose(one.at.matrix, two.at.matrix, atol=1e-6)
    assert sr.load(sr.save(mech, tmp_path / "one.json")).visuals == mech.visuals
    assert again.mass_matrix([0.3]) == pytest.approx(mech.mass_matrix([0.3]), rel=1e-13)


def test_forces_that_mjcf_cannot_say_are_listed(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name="shaft")
    solid: Any = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    dry: Any = {"friction": 0.1, "breakaway": 0.2, "friction_model": "coulomb"}
    spec.body("shaft", joint=sr.Revolute("z"), **solid, **dry)
    spec.force("motor", sr.Motor("shaft", (0.0, 100.0), (2.0, 0.0)))
    with pytest.warns(
        sr.SarrusWarning, match=r"force of type Motor \('motor'\); friction at rest .* \('shaft'\)"
    ):
        sr.save(spec.compile(), tmp_path / "shaft.xml")


WELDED = """<robot name="r"><link name="base"/>
<link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="foot"><inertial><mass value="1e-6"/>
  <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="1e-6" ixz="1e-6" iyz="1e-6"/></inertial></link>
<link name="stand"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0.6 0.8"/></joint>
<joint name="sole" type="fixed"><parent link="arm"/><child link="foot"/><origin xyz="0.4 0.1 0"/></joint>
<joint name="bolt" type="fixed"><parent link="base"/><child link="stand"/></joint></robot>"""


@pytest.mark.parametrize("suffix", ["xml", "sdf"])
def test_impossible_parts_are_lumped_with_what_they_are_welded_to(suffix: str, tmp_path: Path) -> None:
    """MuJoCo, Gazebo and Drake refuse moments with A + B < C; as one piece with the arm they are fine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(WELDED)
    with pytest.warns(sr.SarrusWarning, match=r"triangle inequality \('foot'\) are lumped"):
        sr.save(mech, tmp_path / f"robot.{suffix}")
    again = quiet_load(tmp_path / f"robot.{suffix}")
    np.testing.assert_allclose(again.mass_matrix([0.3]), mech.mass_matrix([0.3]), rtol=1e-14)
    np.testing.assert_allclose(again.bias([0.3], [1.0]), mech.bias([0.3], [1.0]), rtol=1e-13)


def test_impossible_bodies_that_stand_alone_are_said(tmp_path: Path) -> None:
    spec = sr.MechanismSpec().body("a", joint=sr.Revolute("y"), mass=1.0, inertia=(1.0, 1.0, 3.0))
    with pytest.warns(sr.SarrusWarning, match=r"\(the largest was lowered\) \('a'\)"):
        sr.save(spec, tmp_path / "robot.xml")
    assert quiet_load(tmp_path / "robot.xml").mass_matrix([0.0]) == pytest.approx(1.0)
    with pytest.warns(sr.SarrusWarning, match=r"\(Gazebo and Drake refuse\) \('a'\)"):
        sr.save(spec, tmp_path / "robot.sdf")


def test_links_without_mass_between_joints_are_not_written(tmp_path: Path) -> None:
    """A ball as three hinges of a URDF: one body with three joints, not two bodies of 2e-15 kg."""
    hinge = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="{}"/></joint>'
    text = (
        '<robot name="r"><link name="base"/><link name="u"/><link name="w"/><link name="rod"><inertial>'
        '<origin xyz="0 0 -0.3"/><mass value="0.1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-8" ixy="0" ixz="0"'
        ' iyz="0"/></inertial></link>'
        + hinge.format("j1", "base", "u", "1 0 0")
        + hinge.format("j2", "u", "w", "0 1 0")
        + hinge.format("j3", "w", "rod", "0 0 1")
        + "</robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(text)
    model = written(mech, tmp_path)
    assert (model.nbody, model.njnt) == (3, 3)  # the world, base, rod
    assert_same_motion(mech, model)
    again = quiet_load(tmp_path / "robot.xml")
    q = np.array([0.2, 0.3, 0.4])
    np.testing.assert_allclose(again.mass_matrix(q), mech.mass_matrix(q), rtol=1e-12, atol=1e-20)


def test_the_name_of_the_world_is_reserved(tmp_path: Path) -> None:
    spec = sr.MechanismSpec().body("world", joint=sr.Revolute("y"), mass=1.0, com=(0.1, 0, 0))
    for suffix in ("xml", "urdf", "sdf"):
        with pytest.raises(sr.InputError, match="a body is called 'world', which MJCF, URDF and SDF reserve"):
            sr.save(spec, tmp_path / f"robot.{suffix}")
    assert sr.load(sr.save(spec, tmp_path / "robot.json")).body_names == ("ground", "world")


@pytest.mark.parametrize("welded", [False, True])
def test_lifted_bodies_that_share_their_mass(welded: bool, tmp_path: Path) -> None:
    """Gravity compensation is a share of the weight of one element: helpers and lumped parts have weight too.

    The rod lends mass to the helper of a point on a line. With `welded` it takes in an impossible part.
    """
    spec = sr.MechanismSpec(name="lifted").actuate()
    spec.body("crank", joint=sr.Revolute("y"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    rod = {"mass": 0.5, "com": (0.2, 0, 0), "inertia": (2e-3,) * 3}
    spec.body("rod", "crank", joint=sr.Revolute("y"), at=sr.Pose((0.3, 0, 0)), **rod)
    spec.constrain("guide", sr.PointOnLine("ground", (0, 0, 0.2), "rod", (0.4, 0, 0), direction=(1, 0, 0.5)))
    spec.force("lift", sr.ConstantWrench("rod", (0, 0, 0.5 * 9.81, 0, 0, 0), (0.2, 0, 0)))
    if welded:
        plate = {"mass": 0.3, "com": (0, 0, 0.1), "inertia": (1e-4, 1e-4, 1e-3)}
        with pytest.warns(sr.SarrusWarning, match="violates the triangle inequality"):
            spec.body("plate", "rod", joint=sr.Fixed(), **plate)
        spec.force("plate.lift", sr.ConstantWrench("plate", (0, 0, 0.3 * 9.81, 0, 0, 0), (0, 0, 0.1)))
    mech = spec.compile()
    assert mech.mobility().dof == 1 and not mech.actuators
    model = written(mech, tmp_path)
    assert model.nu == (2 if welded else 0)  # actuators without a signal, or gravity compensation
    assert_same_motion(mech, model)
