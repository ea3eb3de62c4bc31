"""The study of robot files, on files of our own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sarrus as sr
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
