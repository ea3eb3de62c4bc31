"""What URDF and SDF cannot say comes back from the element that keeps it, and is listed for others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from tests.formats.same_motion import motion_gap, reread

FORMATS = ("urdf", "sdf")


def gripper() -> sr.Mechanism:
    """Two fingers on a tendon, a ball with losses, springs of several kinds, a servo."""
    spec = sr.MechanismSpec(name="gripper", gravity=(0, 1.0, -3.0))
    solid = {"mass": 0.5, "com": (0.02, 0.01, 0.03), "inertia": (1e-3, 2e-3, 1.5e-3)}
    spec.body("palm", joint=sr.Prismatic("z"), armature=0.3, damping=1.0, **solid)
    for side, y in (("left", 0.05), ("right", -0.05)):
        at = sr.Pose((0.1, y, 0.0), rpy=(0.1, 0.2, y))
        spec.body(side, "palm", joint=sr.Revolute("x"), at=at, armature=0.01, **solid)
    spec.body(
        "tool", "left", joint=sr.Spherical(), at=sr.Pose((0.1, 0, 0)), damping=0.02, armature=0.004, **solid
    )
    spec.body("motor", "palm", joint=sr.Revolute("z"), armature=0.02, **solid)
    spec.constrain("tendon", sr.Coupling({"motor": 1.0, "left": -0.5, "right": -0.5}, offset=0.0))
    spec.constrain("cam", sr.PolynomialCoupling("left", "right", (0.0, -0.9, 0.2)))
    spec.force("pad", sr.PointSpring("left", (0.1, 0, 0), "right", (0.1, 0, 0.02), 300.0, 0.05, damping=2.0))
    spec.force("weight", sr.ConstantWrench("palm", (0, 0, 3.0, 0, 0.1, 0), (0.01, 0, 0)))
    spec.force("return", sr.JointSpring("right", 0.4, 0.1))
    spec.force("again", sr.JointSpring("right", 0.2, -0.1))
    spec.force("table", sr.JointSpringTable("palm", (-1.0, 0.0, 1.0), (-20.0, 0.0, 30.0)))
    spec.actuate().actuate("motor", limits=(-1.0, 3.0))
    spec.laws["motor"] = (sr.ActuatorLaw("servo", gain=5.0, bias=(0.0, -5.0, -0.1)),)
    return spec.compile()


@pytest.mark.parametrize("suffix", FORMATS)
def test_everything_comes_back(suffix: str, tmp_path: Path) -> None:
    mech = gripper()
    with pytest.warns(
        sr.SarrusWarning, match=r"only sarrus will read: .*constraint of type Coupling \('tendon'\)"
    ):
        sr.save(mech, tmp_path / f"robot.{suffix}")
    copy = reread(mech, tmp_path / f"robot.{suffix}")
    assert copy.mobility().dof == mech.mobility().dof and copy.nc == mech.nc
    assert motion_gap(mech, copy) < 1e-10
    assert dict(copy.model.constraints)["tendon"] == dict(mech.model.constraints)["tendon"]
    actuator = copy.model.actuators[0]
    assert (actuator.name, actuator.lower, actuator.upper) == ("motor", -1.0, 3.0)
    assert copy.laws == mech.laws
    names = [copy.names.index(name) for name in mech.names]
    np.testing.assert_allclose(copy.model.armature[names], mech.model.armature)
    with pytest.raises(sr.FormatError, match=r"strict=True, but .*Coupling"):
        sr.save(mech, tmp_path / f"other.{suffix}", strict=True)
    assert not (tmp_path / f"other.{suffix}").exists()


def test_a_sidecar_holds_them_too(tmp_path: Path) -> None:
    mech = gripper()
    copy = reread(mech, tmp_path / "robot.urdf", sidecar=True)
    assert "sarrus_declarations" not in (tmp_path / "robot.urdf").read_text()
    assert "sarrus_declarations" in (tmp_path / "robot.loops.xml").read_text()
    assert motion_gap(mech, copy) < 1e-10


def test_pinocchio_reads_a_ball_as_three_hinges(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    mech = gripper()
    reread(mech, tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    assert [name for name in model.names if name.startswith("tool")] == ["tool.x", "tool.y", "tool.z"]
    mass = sum(model.inertias[i].mass for i in range(1, model.njoints))
    assert mass == pytest.approx(sum(body.mass for body in mech.model.bodies))


def test_friction_and_stops_come_back(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    stick = {"friction": 0.4, "breakaway": 0.6, "friction_model": "coulomb"}
    stops = {"limits": (-1, 1), "stop_stiffness": 50.0, "stop_damping": 2.0}
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0.2, 0, 0), **stick, **stops)
    for suffix in FORMATS:
        (body,) = reread(spec.compile(), tmp_path / f"arm.{suffix}").model.bodies[1:2]
        assert body.friction_model == "coulomb" and body.breakaway == (0.6,) and body.friction == (0.4,)
        assert body.stop_stiffness == (50.0,) and body.stop_damping == (2.0,)


def test_a_weight_that_is_carried_is_said_in_the_words_of_sdf(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("y"), mass=2.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.force("lift", sr.ConstantWrench("arm", (0, 0, 2.0 * 9.81, 0, 0, 0), (0.2, 0, 0)))
    copy = reread(spec.compile(), tmp_path / "arm.sdf")
    text = (tmp_path / "arm.sdf").read_text()
    assert "<gravity>false</gravity>" in text and "declarations" not in text
    assert copy.forward_dynamics([0.3], [0.0]).a == pytest.approx(0.0, abs=1e-13)


URDF = """<robot name="r"><link name="base"/><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>
<sarrus_declarations>{}</sarrus_declarations></robot>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "must be a JSON object with some of the keys"),
        ('{"other": 1}', "must be a JSON object with some of the keys"),
        ('{"joints": 3}', '"joints" must be an object'),
        ('{"joints": {"j": {"mass": 3}}}', "mass"),
        ('{"joints": {"j": {"armature": -1}}}', "armature"),
        ('{"forces": 1}', '"forces" must be a list'),
        ('{"forces": [{"name": "s", "type": "Nothing"}]}', "unknown type 'Nothing'"),
        ('{"forces": [{"name": "s", "type": "JointSpring", "coordinate": "x", "stiffness": 1}]}', "'x'"),
        ('{"constraints": [{"name": "c", "type": "Coupling", "terms": {"j": 0}}]}', "must not be zero"),
        ('{"joints": {"j": {"colour": 3}}}', "colour"),
        ('{"actuators": [{"limits": null}]}', "name"),
        ('{"laws": {"j": [{"gain": 1}]}}', "name"),
        ('{"laws": 3}', "line 4"),
        ('{"gravity": [1, 2]}', "three numbers"),
        ('{"balls": {"b": ["j"]}}', "three joints of the file"),
    ],
)
def test_a_broken_element_is_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(sr.FormatError, match=message):
        sr.load(URDF.format(text))
