"""One four-bar, four ways in: Python, MJCF as a new user writes it, URDF plus one loop, Pinocchio.

They must be the same mechanism to rounding; a fifth way, the <loop_joint> dialect, and the hinge made of two
connects are checked with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from sarrus.errors import SarrusWarning
from sarrus.formats import from_pinocchio, load, load_spec
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Revolute, Spherical

CRANK = {"mass": 0.8, "com": (0.0, 0.0, 0.15), "inertia": (0.006, 0.006, 0.0004)}
COUPLER = {"mass": 1.7, "com": (0.3, 0.0, 0.1), "inertia": (0.008, 0.06, 0.055)}
ROCKER = {"mass": 1.1, "com": (0.01, 0.0, 0.25), "inertia": (0.024, 0.024, 0.0006)}
BALL, HINGE = Spherical(), Revolute("y")


def from_python(joint: Joint) -> Mechanism:
    spec = MechanismSpec(gravity=(0, 0, -9.81), name="four bar")
    spec.body("crank", joint=Revolute("y"), **CRANK)
    spec.body("coupler", "crank", joint=Revolute("y"), at=Pose((0, 0, 0.3)), **COUPLER)
    spec.body("rocker", joint=Revolute("y"), at=Pose((0.6, 0, 0)), **ROCKER)
    at_a, at_b = Pose((0.6, 0, 0.2)), Pose((0, 0, 0.5))
    return spec.close("loop", "coupler", "rocker", joint=joint, at_a=at_a, at_b=at_b).compile()


def inertial(part: dict) -> str:
    com, moments = (" ".join(map(str, part[key])) for key in ("com", "inertia"))
    return f'<inertial pos="{com}" mass="{part["mass"]}" diaginertia="{moments}"/>'


MJCF = f"""
<mujoco model="four bar">
  <worldbody>
    <geom type="plane" size="2 2 0.1"/>
    <body name="crank">
      <joint name="crank" axis="0 1 0"/>
      {inertial(CRANK)}
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.3"/>
      <body name="coupler" pos="0 0 0.3">
        <joint name="coupler" axis="0 1 0"/>
        {inertial(COUPLER)}
        <geom type="capsule" size="0.02" fromto="0 0 0 0.6 0 0.2"/>
      </body>
    </body>
    <body name="rocker" pos="0.6 0 0">
      <joint name="rocker" axis="0 1 0"/>
      {inertial(ROCKER)}
    </body>
  </worldbody>
  <equality>
    <connect name="loop" body1="coupler" body2="rocker" anchor="0.6 0 0.2"/>
    MORE
  </equality>
</mujoco>
"""


def from_mjcf(joint: Joint) -> Mechanism:
    second = '<connect body1="coupler" body2="rocker" anchor="0.6 0.1 0.2"/>' if joint == HINGE else ""
    return load(MJCF.replace("MORE", second))


def link(name: str, part: dict) -> str:
    x, y, z = part["inertia"]
    return f"""
  <link name="{name}">
    <inertial>
      <origin xyz="{" ".join(map(str, part["com"]))}"/>
      <mass value="{part["mass"]}"/>
      <inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>
    </inertial>
    <visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>
  </link>"""


def hinge(name: str, parent: str, xyz: str) -> str:
    return f"""
  <joint name="{name}" type="continuous">
    <parent link="{parent}"/><child link="{name}"/><origin xyz="{xyz}"/><axis xyz="0 1 0"/>
  </joint>"""


URDF = f"""<robot name="four bar">
  <link name="world"/>{link("crank", CRANK)}{link("coupler", COUPLER)}{link("rocker", ROCKER)}
  {hinge("crank", "world", "0 0 0")}
  {hinge("coupler", "crank", "0 0 0.3")}
  {hinge("rocker", "world", "0.6 0 0")}
  MORE
</robot>"""


def from_urdf(joint: Joint) -> Mechanism:
    spec = load_spec(URDF.replace("MORE", ""))
    at_a, at_b = Pose((0.6, 0, 0.2)), Pose((0, 0, 0.5))
    return spec.close("loop", "coupler", "rocker", joint=joint, at_a=at_a, at_b=at_b).compile()


def from_loop_joint(joint: Joint) -> Mechanism:
    kind = "revolute" if joint == HINGE else "spherical"
    loop = f"""<loop_joint name="loop" type="{kind}"><axis xyz="0 1 0"/>
      <link1 link="coupler" xyz="0.6 0 0.2" rpy="0 0 0"/><link2 link="rocker" xyz="0 0 0.5"/></loop_joint>"""
    return load(URDF.replace("MORE", loop))


def from_pin(joint: Joint) -> Mechanism:
    model, ids = pin.Model(), {}
    model.name = "four bar"
    for name, parent, xyz, part in (
        ("crank", None, (0, 0, 0), CRANK),
        ("coupler", "crank", (0, 0, 0.3), COUPLER),
        ("rocker", None, (0.6, 0, 0), ROCKER),
    ):
        placement = pin.SE3(np.eye(3), np.array(xyz, dtype=float))
        ids[name] = model.addJoint(ids.get(parent, 0), pin.JointModelRY(), placement, name)
        inertia = pin.Inertia(part["mass"], np.array(part["com"]), np.diag(part["inertia"]))
        model.appendBodyToJoint(ids[name], inertia, pin.SE3.Identity())
    loop = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        model,
        ids["coupler"],
        pin.SE3(np.eye(3), np.array([0.6, 0, 0.2])),
        ids["rocker"],
        pin.SE3(np.eye(3), np.array([0, 0, 0.5])),
    )
    loop.name = "loop"
    return from_pinocchio(model, [loop])


WAYS: dict[str, Callable[[Joint], Mechanism]] = {
    "MJCF": from_mjcf,
    "URDF and close": from_urdf,
    "loop_joint": from_loop_joint,
    "Pinocchio": from_pin,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("joint", [BALL, HINGE], ids=["ball", "hinge"])
def test_the_same_four_bar(way: str, joint: Joint) -> None:
    if way == "Pinocchio" and joint == HINGE:
        pytest.skip("Pinocchio has no hinge constraint")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        mech, reference = WAYS[way](joint), from_python(joint)
    assert mech.names == reference.names == ("crank", "coupler", "rocker")
    assert mech.name == reference.name
    assert mech.mobility().dof == 1
    pose = reference.sweep("crank", np.linspace(0.0, 0.9, 7)).q[-1]
    v = reference.consistent_velocity(pose, fixed={"crank": 1.3})
    ours, theirs = mech.terms(pose, v), reference.terms(pose, v)
    for name in ("M", "h"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12, err_msg=name)
    if not (way == "MJCF" and joint == HINGE):  # its frame has z along the axis: other rows, same loop
        for name in ("phi", "J", "gamma"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12, err_msg=name)
        assert mech.row_names == reference.row_names
    tau = np.array([0.7, -0.2, 0.4])
    one, other = (m.forward_dynamics(pose, v, tau) for m in (mech, reference))
    np.testing.assert_allclose(one.a, other.a, atol=1e-12 * np.abs(other.a).max())
    np.testing.assert_allclose(one.constraint_force, other.constraint_force, atol=1e-11)
    np.testing.assert_allclose(mech.default.q, 0.0, atol=1e-12)
    np.testing.assert_allclose(mech.length, reference.length, rtol=1e-12)


def test_what_the_new_user_is_told() -> None:
    with pytest.warns(SarrusWarning, match=r"not modelled: contact of geoms \(3\)"):
        from_mjcf(BALL)
    with pytest.warns(SarrusWarning, match=r"not actuated: .*spec.actuate"):
        from_urdf(BALL)
