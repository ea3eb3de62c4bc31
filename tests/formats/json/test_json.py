"""JSON: a round trip keeps every digit, a write is whole or not at all, bad files say where."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.formats import FormatError, load_spec


@pytest.mark.parametrize(
    "name", ["four_bar", "sarrus", "stewart", "slider_crank", "loader", "flyball_governor"]
)
def test_a_mechanism_comes_back_to_the_last_digit(name: str, tmp_path: Path) -> None:
    mech = sr.library.MECHANISMS[name]()
    back = sr.load(sr.save(mech, tmp_path / "m.json"))
    assert back.names == mech.names
    assert back.row_names == mech.row_names
    assert back.actuators == mech.actuators
    assert back.length == mech.length
    q, v = mech.default.q, np.linspace(-1.0, 1.0, mech.nv)
    np.testing.assert_array_equal(back.default.q, q)
    np.testing.assert_array_equal(back.default.v, mech.default.v)
    ours, theirs = back.terms(q, v), mech.terms(q, v)
    for part in ("M", "h", "phi", "J", "gamma"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part), err_msg=part)


def test_a_spec_and_a_changed_mechanism_are_saved(tmp_path: Path) -> None:
    mech = sr.library.pendulum().with_(gravity=(0, 0, -1.62))
    back = sr.load(sr.save(mech, tmp_path / "m.json"))
    np.testing.assert_array_equal(back.model.gravity, mech.model.gravity)
    spec = sr.MechanismSpec(name="one").body("a", joint=sr.Revolute("x"), mass=1.0, inertia=(1, 1, 1))
    assert load_spec(sr.save(spec, tmp_path / "s.json")).to_dict() == spec.to_dict()
    assert json.loads((tmp_path / "s.json").read_text())["version"] == 1


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    sr.save(sr.library.pendulum(), file)
    before = file.read_bytes()
    spec = sr.MechanismSpec().body("a", joint=sr.Revolute("x"), mass=1.0, inertia=(1, 1, 1))
    spec.constrain("move", sr.Drive("a", lambda t: t))
    with pytest.raises(sr.InputError, match=r"constraint 'move' .Drive. holds Python functions"):
        sr.save(spec, file)
    assert file.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_only_mechanisms_and_descriptions_are_saved(tmp_path: Path) -> None:
    with pytest.raises(sr.InputError, match="save takes a Mechanism or a MechanismSpec, got dict"):
        sr.save({}, tmp_path / "m.json")  # type: ignore[arg-type]
    with pytest.raises(sr.SarrusError, match=r"does not exist; make it first"):
        sr.save(sr.library.pendulum(), tmp_path / "no" / "m.json")


BAD = {
    r"line 2, column \d+: not JSON": '{"format": "sarrus",\n "version": }',
    "Infinity is not a number": '{"format": "sarrus", "version": 1, "gravity": [0, 0, Infinity]}',
    "the key 'name' appears twice": '{"name": "a", "name": "b"}',
    "this release reads version 1 of the format, got 2": '{"format": "sarrus", "version": 2}',
    'must say "format"': "{}",
    "unknown key 'bodys'": '{"format": "sarrus", "version": 1, "bodys": []}',
    "the default state must be a mapping": '{"format": "sarrus", "version": 1, "default": 3}',
    "q must be a list": '{"format": "sarrus", "version": 1, "default": {"q": 3, "v": []}}',
    r"q of the default state must have shape \(0,\)": (
        '{"format": "sarrus", "version": 1, "default": {"q": [3.0], "v": []}}'
    ),
    "cannot be read as JSON": '{"a":' * 100_000,
    "has no coordinate": '{"format": "sarrus", "version": 1}',
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_files_say_where_and_why(reason: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(BAD[reason])
    with pytest.raises(FormatError, match=f"bad.json.*{reason}"):
        sr.load(file)


def test_other_extensions_are_refused(tmp_path: Path) -> None:
    """0.1.0 wrote JSON into everything."""
    for name in ("robot.yaml", "robot.usd", "robot.XACRO"):
        with pytest.raises(sr.InputError, match=r"save writes .json, .* by its extension"):
            sr.save(sr.library.four_bar(), tmp_path / name)
        assert not (tmp_path / name).exists()
    assert sr.save(sr.library.four_bar(), tmp_path / "robot.json").exists()


def test_a_description_as_text(tmp_path: Path) -> None:
    sr.save(sr.library.four_bar(), tmp_path / "four_bar.json")
    mech = sr.load((tmp_path / "four_bar.json").read_text())
    assert mech.names == sr.library.four_bar().names
    with pytest.raises(FormatError, match="got an empty text"):
        sr.load("")
    with pytest.raises(FormatError, match='text: a description must say "format"'):
        sr.load("{}")
