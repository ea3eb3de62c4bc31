"""`sarrus report`: of the library, of files, of saved runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sarrus as sr
from sarrus.commands.answers import respond
from sarrus.commands.motion import write_report

pytest.importorskip("matplotlib")
DATA = Path(__file__).parents[1] / "data"


def written(name: str, out: Path, sweep: str | None, t_end: float, as_json: bool) -> int:
    return respond(lambda: write_report(name, out, sweep, t_end), as_json)


def test_a_report_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.html"
    assert written(str(DATA / "arm.urdf"), out, None, 0.05, True) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] and said["path"] == str(out)
    assert said["bytes"] == out.stat().st_size > 50_000


def test_a_saved_run_and_what_goes_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.05), dt=1e-2)
    path = run.save(tmp_path / "run.npz")
    assert written(str(path), tmp_path / "run.html", None, 1.0, False) in (0, 1)
    capsys.readouterr()
    assert written("nothing", tmp_path / "x.html", None, 1.0, False) == 1
    assert "nothing" in capsys.readouterr().err
    assert written("four_bar", tmp_path / "x.html", "kronk", 1.0, False) == 1
    assert "kronk" in capsys.readouterr().err
