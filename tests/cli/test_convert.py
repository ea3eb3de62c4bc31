"""sarrus convert and check --repaired."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sarrus as sr
from sarrus.cli import build_app

APP = build_app()


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(APP, [str(word) for word in words])
    return found.exit_code, found.output


@pytest.mark.parametrize("suffix", ["xml", "urdf", "sdf", "json"])
def test_convert(suffix: str, tmp_path: Path) -> None:
    source = sr.save(sr.library.sarrus(), tmp_path / "in.sdf")
    code, text = run("convert", source, tmp_path / f"out.{suffix}")
    assert code == 0 and "5 coordinates, 1 loops and couplings, 1 actuators" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(tmp_path / f"out.{suffix}")
    assert mech.mobility().dof == 1 and mech.mobility().redundant


def test_convert_says_what_is_lost(tmp_path: Path) -> None:
    source = sr.save(sr.library.rolling_disk(), tmp_path / "in.json")
    code, text = run("convert", source, tmp_path / "out.xml")
    assert code == 0 and "not written: constraint of type Rolling" in text
    code, text = run("convert", source, tmp_path / "other.xml", "--strict")
    assert code == 1 and "strict=True" in text and not (tmp_path / "other.xml").exists()
    assert run("convert", tmp_path / "nothing.xml", tmp_path / "out.xml")[0] == 1
    assert run("convert", source, tmp_path / "out.yaml")[0] == 1


def test_check_writes_a_repaired_copy(tmp_path: Path) -> None:
    """Hinges of six digits: the loop binds until its frames are displaced."""
    text = (sr.save(sr.library.bennett(), tmp_path / "in.json")).read_text()
    data = json.loads(text)
    data.pop("default")
    data = json.loads(json.dumps(data), parse_float=lambda x: round(float(x), 6))
    (tmp_path / "rounded.json").write_text(json.dumps(data))
    code, text = run("check", tmp_path / "rounded.json", "--repaired", tmp_path / "good.xml")
    assert code == 0 and "made compatible" in text and "largest gap of a loop" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        assert sr.load(tmp_path / "good.xml").mobility().dof == 1


def test_check_names_impossible_inertias_and_what_is_dropped(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    with pytest.warns(sr.SarrusWarning, match="triangle"):
        spec.body("odd", joint=sr.Revolute("y"), mass=1.0, inertia=(0.1, 0.1, 0.5))
    sr.save(spec, tmp_path / "odd.json")
    code, text = run("check", tmp_path / "odd.json")
    assert code == 0 and "inertias that violate the triangle inequality: odd" in text
    code, text = run("check", tmp_path / "odd.json", "--json")
    assert json.loads(text[text.index("{") :])["impossible_inertias"] == ["odd"]
