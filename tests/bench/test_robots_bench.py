"""The study of robot files, on files of our own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sarrus as sr
from bench.robot_copies import compare
from bench.robot_table import Row
from bench.robots import main, read

DATA = Path(__file__).parents[1] / "data"


def test_round_trips_of_a_gripper_a_linkage_and_an_arm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("gripper.xml", "arm.urdf"):
        shutil.copy(DATA / name, tmp_path)
    sr.save(sr.library.sarrus(), tmp_path / "linkage.sdf")
    (tmp_path / "broken.urdf").write_text("<robot/>")
    sr.save(
        sr.MechanismSpec(name="box").body("box", joint=sr.Free(), mass=1.0, inertia=(1.0,) * 3).compile(),
        tmp_path / "box.xml",
    )
    rows = {row.name.split("/")[1]: row for row in main([str(tmp_path)])}
    assert set(rows) == {"gripper.xml", "arm.urdf", "linkage.sdf", "broken.urdf", "box.xml"}
    assert rows["gripper.xml"].errors["xml"] < 1e-10 and rows["linkage.sdf"].errors["sdf"] < 1e-10
    assert rows["arm.urdf"].errors["urdf"] < 1e-10  # "in" differs: urdfdom drops inertias without ixy
    assert rows["broken.urdf"].reasons[0].startswith("load: broken.urdf")
    linkage, printed = rows["linkage.sdf"], capsys.readouterr().out
    assert "in" not in linkage.errors and linkage.reasons[0].startswith("in: not compared: .sdf: Drake")
    assert linkage.alone == {"sdf"} and f"{linkage.errors['sdf']:.0e}*" in printed  # nobody else reads loops
    assert (
        rows["box.xml"].jointless and "no joints, counted apart: 1; right: in 1 of 1, xml 1 of 1" in printed
    )
    assert "in: 1 of 2 compared are right to 1e-10; not compared: 1; by our own reader alone: 0" in printed
    assert "not read: 1; of these the library of the format cannot read either: Pinocchio 1" in printed


def test_causes_of_differences() -> None:
    row = Row("r", errors={"in": 1e-3, "xml": 1e-3, "urdf": 1e-9, "sdf": 1e-12}, rounding=1e-9)
    assert row.wrong() == {"in": "unexplained", "xml": "unexplained", "urdf": "rounding"}
    row.omitted, row.said = (
        ("sensor (1)", "forces of the surrounding fluid (1)"),
        {"xml": "copy.xml: not written: principal moments that violate the triangle inequality ('a'). More."},
    )
    found = row.wrong()
    assert found["in"] == "not modelled: forces of the surrounding fluid (1)"
    assert found["xml"] == "save said: principal moments that violate the triangle inequality ('a')"
    row.said["in"] = "loop: rows are still independent by no more than 1e-9"
    assert row.cause("xml") == "a redundant loop whose digits leave its rank undecided"


def test_joints_that_a_yaml_beside_a_urdf_replaces(tmp_path: Path) -> None:
    """A pole on a hinge that stands for a ball, and a rod on one that stands for two, pinned at the ends."""
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><mass value="1"/><origin xyz="0 0 0.1"/>{inertia}</inertial>'
    text = '<robot name="r"><link name="base"/>'
    for name, x in (("pole", 0), ("rod", 1)):
        text += f'''<link name="{name}">{body}</link><link name="{name}_end"/>
            <joint name="{name}_hinge" type="continuous"><parent link="base"/><child link="{name}"/>
            <origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>
            <joint name="{name}_tip" type="fixed"><parent link="{name}"/><child link="{name}_end"/>
            <origin xyz="{0.5 - x} 0 0.5"/></joint>'''
    (tmp_path / "robot.urdf").write_text(text + "</robot>")
    (tmp_path / "robot.yaml").write_text(
        "closed_loop: [['pole_end', 'rod_end']]\ntype: ['3d']\n"
        "joint_name: ['pole_hinge', 'rod_hinge']\njoint_type: ['SPHERICAL', 'UJOINT_XY']\n"
    )
    mech = read(tmp_path / "robot.urdf")
    assert mech.nv == 5 and mech.nc == 3 and mech.mobility().dof == 2


@pytest.mark.parametrize("loop", [False, True])
def test_steps_of_a_floating_robot_beside_mujoco(tmp_path: Path, loop: bool) -> None:
    """Trees move alike to rounding; a loop is soft in MuJoCo and closed here."""
    spec = sr.MechanismSpec(name="floating")
    spec.body("base", joint=sr.Free(), mass=3.0, inertia=(0.1, 0.1, 0.1))
    for side in (-1.0, 1.0):
        bar = {"mass": 0.4, "com": (0, 0, -0.1), "inertia": (2e-3, 2e-3, 1e-3)}
        name = "left" if side < 0 else "right"
        spec.body(name, "base", joint=sr.Revolute("y"), at=sr.Pose((0.1 * side, 0, 0)), **bar)
        spec.body(f"{name}_tip", name, joint=sr.Revolute("y"), at=sr.Pose((0, 0, -0.2)), **bar)
    if loop:
        pins = {"at_a": sr.Pose((0.1, 0, -0.05)), "at_b": sr.Pose((-0.1, 0, -0.05))}
        spec.close("loop", "left_tip", "right_tip", joint=sr.Revolute("y"), **pins)
    file = tmp_path / "floating.xml"
    sr.save(spec.compile(), file)
    row = compare(file, (4, 20), 1e-3, 1)
    assert row["title"] == "floating" and row["floats"] == "yes" and row["step_rate"] > 0.0
    assert row["apart"] < (1e-2 if loop else 1e-10)
    assert (row["open_here"] < 1e-12 < row["open_there"]) if loop else row["open_here"] is None
