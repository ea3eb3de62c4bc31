"""The study of robot files, on files of our own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sarrus as sr
from bench.robot_copies import compare
from bench.robots import main

DATA = Path(__file__).parents[1] / "data"


def test_round_trips_of_a_gripper_a_linkage_and_an_arm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("gripper.xml", "arm.urdf"):
        shutil.copy(DATA / name, tmp_path)
    sr.save(sr.library.sarrus(), tmp_path / "linkage.sdf")
    (tmp_path / "broken.urdf").write_text("<robot/>")
    rows = {row.name.split("/")[1]: row for row in main([str(tmp_path)])}
    assert set(rows) == {"gripper.xml", "arm.urdf", "linkage.sdf", "broken.urdf"}
    assert rows["gripper.xml"].errors["xml"] < 1e-10 and rows["linkage.sdf"].errors["sdf"] < 1e-10
    assert rows["arm.urdf"].errors["urdf"] < 1e-10  # "in" differs: urdfdom drops inertias without ixy
    assert rows["broken.urdf"].reasons[0].startswith("load: broken.urdf")
    assert "robots right to 1e-10" in capsys.readouterr().out


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
