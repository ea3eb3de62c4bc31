"""What commands answer: text for people, JSON for programs, files by extension, exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import sarrus as sr
from sarrus.cli import build_app
from sarrus.commands import answers
from sarrus.commands.completion import SHELLS, commands_of
from sarrus.commands.doctor import PURPOSE
from tests.studio_kernel import needs_kernel


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), list(arguments))


def data(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["ok"] == (result.exit_code == 0)
    return found


def test_sweep_is_the_library_s(tmp_path: Path) -> None:
    found = data("sweep", "four_bar", "crank", "--from", "0.5", "--to", "1.0", "--points", "6")
    mech = sr.library.four_bar()
    swept = mech.sweep("crank", np.linspace(0.5, 1.0, 6))
    assert np.allclose(np.transpose([found["columns"][f"q.{name}"] for name in mech.names]), swept.q)
    out = tmp_path / "table.csv"
    assert run("sweep", "four_bar", "crank", "--from", "0.5", "--to", "1", "--out", str(out)).exit_code == 0
    assert np.loadtxt(out, delimiter=",", skiprows=1).shape == (61, 3)


def test_hold_is_the_library_s(tmp_path: Path) -> None:
    found = data("hold", "six_bar_press", "crank_shaft", "--from", "0.1", "--to", "0.5", "--points", "3")
    mech = sr.library.six_bar_press()
    held = mech.hold(mech.sweep("crank_shaft", [0.1, 0.3, 0.5]), frame="world")
    assert np.allclose(found["columns"]["crank_shaft"], held.motors["crank_shaft"])
    joint = next(iter(held.reactions))
    assert np.allclose(found["columns"][f"{joint}[fy]"], held.reactions[joint][:, 1], atol=1e-6)
    out = tmp_path / "loads.csv"
    assert run("hold", "six_bar_press", "--by", "crank_shaft", "--out", str(out)).exit_code == 0
    assert len(out.read_text().splitlines()) == 2
    refused = run("hold", "double_pendulum", "--json")
    assert refused.exit_code == 1 and "does not say which joints have motors" in refused.output


def test_a_sweep_that_cannot_go_on_exits_with_one() -> None:
    result = run("sweep", "four_bar", "rocker", "--from", "1.5", "--to", "9", "--json")
    assert result.exit_code == 1 and "do not close beyond it" in json.loads(result.stdout)["message"]


def test_measures_of_several_numbers_are_columns(tmp_path: Path) -> None:
    """Positions and reactions, along a sweep and along a run, as in the tables of the library."""
    found = data("sweep", "peaucellier", "crank_pin", "--from", "0", "--to", "-1", "--points", "3")["columns"]
    swept = sr.library.peaucellier().sweep("crank_pin", np.linspace(0.0, -1.0, 3))
    frame = swept.to_dataframe().drop(columns="singular")
    assert list(found) == list(frame.columns) and "pencil[1]" in found
    assert np.allclose([found[name] for name in frame], frame.to_numpy().T, atol=1e-12)
    out = tmp_path / "run.csv"
    said = data("simulate", "peaucellier", "--t-end", "0.1", "--out", str(out))
    head = out.read_text().splitlines()[0].split(",")
    table = np.loadtxt(out, delimiter=",", skiprows=1)
    assert {"pencil[0]", "pencil[1]", "pencil[2]"} <= set(head)
    pen = table[-1, [head.index(f"pencil[{k}]") for k in range(3)]]
    assert np.allclose(said["measures"]["pencil"], pen) and np.allclose(table[:, head.index("t")][-1], 0.1)


def test_runs_start_as_asked(tmp_path: Path) -> None:
    """Pose, speed and motor; the same run as with the library, and the same start in a saved one."""
    mech, out = sr.library.four_bar(), tmp_path / "run.npz"
    given = ("--start", "crank=0.7", "--speed", "crank=3", "--motor", "crank=2")
    found = data("simulate", "four_bar", "--t-end", "0.2", *given, "--out", str(out))
    q = mech.assemble(mech.default.q, {"crank": 0.7}).q
    v, u = mech.consistent_velocity(q, fixed={"crank": 3.0}), np.array([2.0, 0.0, 0.0])[: mech.nu]
    run = sr.simulate(mech, (0.0, 0.2), q, v, control=lambda t, q, v: u)
    assert np.allclose(found["q"], run.q[-1], atol=1e-9) and np.allclose(found["v"], run.v[-1], atol=1e-8)
    kept = sr.Trajectory.load(out)
    assert kept.q[0][0] == pytest.approx(0.7, abs=1e-12) and kept.v[0][0] == pytest.approx(3.0, abs=1e-12)
    assert data("export", "four_bar", str(tmp_path / "pose.png"), "--start", "crank=0.7")["ok"]
    assert data("play", "four_bar", "--out", str(tmp_path / "run.html"), "--t-end", "0.1", *given)["ok"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "four_bar", "--start", "crnk=1"), "--start: .*unknown .*'crnk'"),
        (("simulate", "four_bar", "--start", "rocker=9"), "--start: .*"),
        (("simulate", "four_bar", "--speed", "crank"), "--speed must be NAME=NUMBER"),
        (("simulate", "four_bar", "--speed", "crank=1", "--speed", "rocker=-9"), "--speed: .*"),
        (("simulate", "four_bar", "--motor", "engine=1"), "--motor: unknown actuator 'engine'"),
        (("export", "run.npz", "x.html", "--speed", "crank=1"), "a saved run has its start"),
    ],
)
def test_starts_that_cannot_be(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sr.simulate(sr.library.four_bar(), (0.0, 0.01)).save("run.npz")
    result = run(*words)
    assert result.exit_code == 1 and re.search(message, " ".join(result.output.split())), result.output


@pytest.mark.parametrize("kind", ["npz", "csv", "png", "html"])
def test_simulate_writes_what_the_extension_says(kind: str, tmp_path: Path) -> None:
    out = tmp_path / f"run.{kind}"
    found = data("simulate", "four_bar", "--t-end", "0.1", "--out", str(out))
    assert found["status"] == "END" and found["largest_drift"] < 1e-12 and found["written"] == str(out)
    assert out.stat().st_size > 1000
    if kind == "npz":
        again = data("export", str(out), str(tmp_path / "page.html"))
        assert Path(again["written"]).exists()


def test_a_run_that_fails_exits_with_one() -> None:
    result = run("simulate", "four_bar", "--t-end", "1", "--dt", "0.5")
    assert result.exit_code == 1 and "the states are wrong" in result.stderr


def test_linearize_gives_the_matrices(tmp_path: Path) -> None:
    out = tmp_path / "model.npz"
    found = data("linearize", "loader", "--independent", "boom", "--independent", "bucket", "--out", str(out))
    mech = sr.library.loader()
    rest = sr.equilibrium(mech)
    model = sr.linearize(mech, rest.q, u=rest.u, independent=["boom", "bucket"])
    assert found["states"] == list(model.names) and np.allclose(found["A"], model.A)
    assert np.allclose(np.array(found["eigenvalues"]) @ [1, 1j], model.eigenvalues)
    assert np.allclose(np.load(out)["B"], model.B)


def test_show_writes_a_picture_of_the_pose_that_is_held(tmp_path: Path) -> None:
    found = data("show", "four_bar", "--fixed", "crank=0.7", "--out", str(tmp_path / "pose.png"))
    assert found["q"][0] == pytest.approx(0.7) and Path(found["written"]).exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "no_such"), "unknown mechanism 'no_such'"),
        (("show", "four_bar", "--fixed", "crank"), "--fixed must be NAME=NUMBER"),
        (
            ("show", "four_bar", "--fixed", "crank=0", "--fixed", "rocker=3", "--out", "x.png"),
            "Not assembled",
        ),
        (("export", "four_bar", "x.gif"), "a pose"),
        (("export", "four_bar", "x.doc", "--t-end", "0.1"), "the extension decides what is written"),
        (("completion", "cmd"), "the shells are bash, zsh, fish"),
    ],
)
def test_errors_say_what_is_wrong(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run(*(str(tmp_path / word) if word.startswith("x.") else word for word in words))
    assert result.exit_code == 1 and message in result.stderr


def test_errors_as_json() -> None:
    found = data("sweep", "four_bar", "no_such", "--from", "0", "--to", "1")
    assert not found["ok"] and "no_such" in found["error"]


def test_doctor_says_what_is_there() -> None:
    found = data("doctor")
    assert found["sarrus"] == sr.__version__ and found["packages"]["numpy"] == np.__version__
    assert found["instruction_set"] in ("generic", "v3", "v4")
    assert "pip install 'sarrus[" in run("doctor").stdout


def test_an_instruction_set_that_is_not_there_is_refused() -> None:
    """Before, a name that the build does not have took another set without a word."""
    wish = os.environ | {"SARRUS_ISA": "v9"}
    done = subprocess.run(
        [sys.executable, "-c", "import sarrus"], env=wish, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "SARRUS_ISA asks for the instruction set 'v9', but this build of sarrus has " in done.stderr


def test_every_command_can_print_json() -> None:
    for name, (said, options) in commands_of(build_app()).items():
        assert said and "--json" in options, name
    assert data("completion", "bash")["script"] == run("completion", "bash").stdout.rstrip()


JSON = {
    "check": ("FILE",),
    "convert": ("FILE", "OUT.json"),
    "show": ("four_bar",),
    "sweep": ("four_bar", "crank", "--from", "0.5", "--to", "0.6"),
    "hold": ("four_bar",),
    "simulate": ("four_bar", "--t-end", "0.01"),
    "linearize": ("pendulum",),
    "doctor": (),
    "completion": ("fish",),
    "report": ("pendulum", "--t-end", "0.1", "--out", "OUT.html"),
    "library": ("four_bar",),
    "demo": (),
    "study": ("pendulum", "--t-end", "0.01"),
    "export": ("four_bar", "OUT.png"),
    "play": ("four_bar", "--t-end", "0.05", "--out", "OUT.html"),
    "studio": ("four_bar", "--out", "OUT.html"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_kernel if name == "studio" else ()) for name in JSON]
)
def test_every_command_prints_one_object_and_shows_that_it_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """stdout is JSON alone, also where a terminal shows seconds or a progress bar."""
    assert set(JSON) == set(commands_of(build_app()))
    saved = sr.save(sr.library.four_bar(), tmp_path / "four_bar.xml")
    words = [w.replace("OUT", str(tmp_path / "out")).replace("FILE", str(saved)) for w in JSON[name]]
    monkeypatch.setattr(answers, "PATIENCE", 1e-4)
    for module in ("answers", "motion"):
        monkeypatch.setattr(f"sarrus.commands.{module}.on_terminal", lambda: True)
    result = run(name, *words, "--json")
    assert json.loads(result.stdout)["ok"] and result.exit_code == 0
    assert result.stderr, "somebody who waits must see something"


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_a_script_that_the_shell_reads(shell: str, tmp_path: Path) -> None:
    script = run("completion", shell).stdout
    assert "simulate" in script and "--t-end".lstrip("-") in script and "four_bar" in script
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script)
    assert subprocess.run([program, "-n", str(path)], capture_output=True).returncode == 0


def test_completion_in_bash(tmp_path: Path) -> None:
    script = run("completion", "bash").stdout
    ask = 'COMP_WORDS=(sarrus simulate four --); COMP_CWORD=2; _sarrus; echo "${COMPREPLY[@]}"'
    told = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, cwd=tmp_path)
    assert told.stdout.split() == ["four_bar"], told.stderr


def test_every_extra_has_a_purpose_and_is_documented() -> None:
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (root / "docs" / "installing.md").read_text(encoding="utf-8")
    assert set(PURPOSE) == set(extras) - {"dev"}
    assert [name for name in extras if f"| `{name}` |" not in page] == []


def test_commands_show_that_they_work_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow() -> answers.Answer:
        time.sleep(0.2)
        return answers.Answer("done")

    monkeypatch.setattr(answers, "PATIENCE", 0.05)
    for terminal, name in ((True, "report"), (False, "report"), (True, "")):
        monkeypatch.setattr(answers, "on_terminal", lambda said=terminal: said)
        assert answers.respond(slow, False, name) == 0
        shown = capsys.readouterr()
        assert shown.out == "done\n"
        assert shown.err.startswith("\rreport: 0 s ") == (terminal and bool(name))
        assert shown.err.endswith("\r\033[K") == (terminal and bool(name))
