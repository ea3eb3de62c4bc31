"""The command line, as typed: reports, exit codes, JSON, and the message when its packages are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sarrus as sr
from sarrus.cli import build_app, main
from tests.studio_kernel import needs_kernel

DATA = Path(__file__).parents[1] / "data"
OPEN = """<robot name="too short">
  <link name="base"/>
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="a"/></joint>
  <loop_joint name="far" type="spherical">
    <link1 link="a" xyz="1 0 0"/><link2 link="base" xyz="5 0 0"/>
  </loop_joint>
</robot>"""
DRONE = """<robot name="drone">
  <link name="hull"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
</robot>"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), list(arguments))


def test_check_prints_the_report() -> None:
    result = run("check", str(DATA / "gripper.xml"))
    assert result.exit_code == 0
    assert "Mechanism 'adaptive gripper'" in result.stdout
    assert "3 degrees of freedom: 8 coordinates less 5 independent constraint rows (of 7)." in result.stdout
    assert "warning: gripper.xml: not modelled:" in result.stderr


def test_check_as_json() -> None:
    result = run("check", str(DATA / "leg.xml"), "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert report["ok"]
    assert report["error"] is None
    assert report["mobility"]["dof"] == 14
    assert report["mobility"]["redundant"] == ["toe_loop.ty"]
    assert report["default"]["gap"] < 1e-12
    assert report["names"][:2] == ["pelvis.vx", "pelvis.vy"]
    assert [c["name"] for c in report["constraints"]] == ["achilles_loop", "toe_loop"]
    assert report["actuated"] == ["hip_roll", "hip_yaw", "hip_pitch", "knee", "crank"]
    assert any("contact of geoms" in text for text in report["warnings"])


def test_what_cannot_be_assembled_exits_with_one(tmp_path: Path) -> None:
    file = tmp_path / "open.urdf"
    file.write_text(OPEN)
    result = run("check", str(file))
    assert result.exit_code == 1
    assert "Mechanism 'too short'" in result.stdout
    assert "'far' stays open by 4 m" in result.stderr
    report = json.loads(run("check", str(file), "--json").stdout)
    assert not report["ok"]
    assert report["gaps"]["far"] == pytest.approx(4.0)
    assert "mobility" not in report


@pytest.mark.parametrize("content", ["<robot name='x'>\n  <link name='a'>\n</robot>", "not xml", ""])
def test_what_cannot_be_read_exits_with_one(tmp_path: Path, content: str) -> None:
    file = tmp_path / "bad.urdf"
    file.write_text(content)
    result = run("check", str(file))
    assert result.exit_code == 1
    assert result.stderr.startswith("error: bad.urdf")
    assert json.loads(run("check", str(file), "--json").stdout)["error"].startswith("bad.urdf")


def test_a_file_that_is_not_there() -> None:
    result = run("check", "nowhere.xml")
    assert result.exit_code == 1
    assert "'nowhere.xml' cannot be read: No such file or directory" in result.stderr


def test_check_with_a_free_root(tmp_path: Path) -> None:
    file = tmp_path / "drone.urdf"
    file.write_text(DRONE)
    assert "root='free'" in run("check", str(file)).stderr
    assert run("check", str(file), "--root", "free").exit_code == 0
    assert run("check", str(file), "--root", "loose").exit_code == 1


def test_library_lists_and_reports() -> None:
    listed = run("library")
    assert listed.exit_code == 0
    for name in sr.library.MECHANISMS:
        assert name in listed.stdout
    one = run("library", "bennett")
    assert one.exit_code == 0
    assert "Mobility at the default pose: 1" in one.stdout
    unknown = run("library", "benett")
    assert unknown.exit_code == 1
    assert "Did you mean 'bennett'?" in unknown.stderr


def test_demo() -> None:
    result = run("demo")
    assert result.exit_code == 0
    assert "m/s^2 along z" in result.stdout


def test_it_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "sarrus", "library", "pendulum"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Mechanism 'pendulum'" in done.stdout


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_missing_packages_are_asked_for(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert "pip install 'sarrus[cli]'" in capsys.readouterr().err


def test_play_writes_a_page(tmp_path: Path) -> None:
    """Of a mechanism of the library, of a file, of a saved run, of a pose; and animations."""
    page = tmp_path / "motion.html"
    for arguments in (("four_bar", "--t-end", "0.1"), (str(DATA / "gripper.xml"), "--t-end", "0")):
        result = run("play", *arguments, "--out", str(page))
        assert result.exit_code == 0 and result.stdout.strip().endswith("motion.html")
        assert "WebGL" in page.read_text(encoding="utf-8")
        page.unlink()
    saved = sr.simulate(sr.library.pendulum(), (0.0, 0.1)).save(tmp_path / "run.npz")
    assert run("play", str(saved), "--out", str(page)).exit_code == 0 and page.exists()
    assert run("play", str(saved), "--out", str(tmp_path / "x.gif")).exit_code == 0


@needs_kernel
def test_studio_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "studio.html"
    for name in ("four_bar", str(DATA / "gripper.xml")):
        result = run("studio", name, "--out", str(page))
        assert result.exit_code == 0 and result.stdout.strip().endswith("studio.html")
        assert "wasm-unsafe-eval" in page.read_text(encoding="utf-8")
        page.unlink()
    saved = sr.simulate(sr.library.pendulum(), (0.0, 0.1)).save(tmp_path / "run.npz")
    assert run("studio", str(saved), "--out", str(page)).exit_code == 0 and page.exists()
    unknown = run("studio", "fourbar", "--out", str(page))
    assert unknown.exit_code == 1 and "unknown mechanism 'fourbar'" in unknown.stderr


def test_play_says_what_is_wrong(tmp_path: Path) -> None:
    unknown = run("play", "fourbar", "--out", str(tmp_path / "x.html"))
    assert unknown.exit_code == 1 and "unknown mechanism 'fourbar'" in unknown.stderr
    other = run("play", "four_bar", "--t-end", "0.1", "--out", str(tmp_path / "x.png"))
    assert other.exit_code == 1 and "written as .html" in other.stderr
    fast = ("play", "flyball_governor", "--t-end", "0.1", "--out", str(tmp_path / "x.html"))
    wild = run(*fast, "--dt", "0.002")
    assert wild.exit_code == 1 and "numbers grew" in wild.stderr
    assert run(*fast).exit_code == 0, "steps are chosen"


def test_version_units_and_demo_are_said_right() -> None:
    """0.1.0 had no --version, its help lost "[s]", and half of the rows of Sarrus' linkage is 1 of 5."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from sarrus.cli import build_app

    def said(*arguments: str) -> str:
        return CliRunner().invoke(build_app(), list(arguments)).output

    assert said("--version").strip() == f"sarrus {sr.__version__}"
    assert "[s]" in said("study", "--help")
    assert "one of its five" in said("--help")


def test_help_lists_every_command_once_and_whole() -> None:
    """In groups, and no line is cut."""
    from sarrus.commands.completion import commands_of
    from sarrus.commands.overview import GROUPS

    listed = [name for commands in GROUPS.values() for name in commands]
    assert sorted(listed) == sorted(commands_of(build_app()))
    usage, *lines = run("--help").stdout.splitlines()
    assert not any("..." in line for line in lines) and "COMMAND" in usage
    assert all(any(line.startswith(f"  {name} ") for line in lines) for name in listed)


def test_check_takes_library_names_and_names_the_nearest() -> None:
    assert run("check", "five_bar").exit_code == 0
    unknown = run("check", "fivebar")
    assert unknown.exit_code == 1 and "Did you mean 'five_bar'?" in unknown.output
