"""Trajectories as files: lossless, readable without sarrus, whole whatever happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

FIELDS = (
    "t",
    "q",
    "v",
    "a",
    "u",
    "tau",
    "lam",
    "constraint_force",
    "energy",
    "drift",
    "velocity_drift",
    "rank",
)

KILLER = """
import os, random, signal, sys, time
import sarrus as sr
path, rng = sys.argv[1], random.Random(1853)
runs = [sr.simulate(sr.library.four_bar(), (0.0, t), dt=1e-3) for t in (0.4, 0.8)]
seen, cut = set(), 0
for run in runs:
    run.save(path)
for _ in range(50):
    pid = os.fork()
    while pid == 0:
        for run in runs:
            run.save(path)
    time.sleep(0.002 + 0.03 * rng.random())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    left = [name for name in os.listdir(os.path.dirname(path)) if ".part" in name]
    cut += bool(left)
    for name in left:
        os.remove(os.path.join(os.path.dirname(path), name))
    seen.add(len(sr.Trajectory.load(path)))
print(sorted(seen), cut)
"""


def test_lossless(tmp_path: Path) -> None:
    mech = sr.library.n_four_bar(2)
    run = sr.simulate(mech, (0.0, 1.0), tau=0.1 * np.arange(5.0))
    back = sr.Trajectory.load(run.save(tmp_path / "run.npz"))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name), err_msg=name)
    assert (back.status, back.message, back.nfev) == (run.status, run.message, run.nfev)
    assert back.system.names == mech.names
    assert [str(e) for e in back.events] == [str(e) for e in run.events]
    np.testing.assert_array_equal(back.events[0].singular_values, run.events[0].singular_values)


def test_switches_and_impacts_are_kept(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name="drop")
    spec.body("mass", joint=sr.Prismatic("z"), mass=2.0)
    spec.constrain("floor", sr.PointOnPlane("ground", (0, 0, 0), "mass", (0, 0, 0), "z"))
    run = sr.simulate(spec.compile(), (0.0, 0.6), [1.0], [0.0], switches=sr.Contact("floor"))
    back = sr.Trajectory.load(run.save(tmp_path / "run.npz"))
    for name in (*FIELDS, "active"):
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name), err_msg=name)
    assert back.active_names == run.active_names == ("floor",)
    mine, stored = run.events[0], back.events[0]
    assert mine.impact is not None and stored.impact is not None
    assert stored.closed == ("floor",) and stored.impact.energy_lost == mine.impact.energy_lost
    np.testing.assert_array_equal(stored.impact.impulse, mine.impact.impulse)


def test_chart_changes_are_kept(tmp_path: Path) -> None:
    run = sr.simulate(sr.library.rolling_disk(), (0.0, 0.3), dt=5e-3, coordinates="tangent")
    back = sr.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert [e.note for e in back.events] == [e.note for e in run.events] != []


def test_readable_with_numpy_alone(tmp_path: Path) -> None:
    run = sr.simulate(sr.library.four_bar(), (0.0, 0.1))
    path = run.save(tmp_path / "run.npz")
    code = "import sys, json, numpy as np; f = np.load(sys.argv[1]); h = json.loads(f['head'].tobytes());"
    code += "print(h['format'], h['version'], h['name'], f['steps.q'].shape, 'sarrus' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == f"sarrus trajectory 2 four_bar {run.q.shape} False"


def test_files_of_the_first_version_are_read(tmp_path: Path) -> None:
    path = sr.simulate(sr.library.n_four_bar(2), (0.0, 0.8), dt=1e-3).save(tmp_path / "run.npz")
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files if not name.startswith("checkpoint")}
    head = json.loads(arrays["head"].tobytes())
    head = {k: v for k, v in head.items() if k not in ("options", "active_names")} | {"version": 1}
    old_words = ("name", "kind", "t", "rank", "terminal")
    head["events"] = [{word: event[word] for word in old_words} for event in head["events"]]
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    back = sr.Trajectory.load(path)
    assert len(back) == 801 and back.events[0].kind == "singular"
    with pytest.raises(sr.InputError, match="cannot be resumed"):
        back.resume(1.0)


def test_files_of_a_later_version_are_refused(tmp_path: Path) -> None:
    path = sr.simulate(sr.library.pendulum(), (0.0, 0.01)).save(tmp_path / "run.npz")
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    head = json.loads(arrays["head"].tobytes()) | {"version": 99}
    np.savez(path, **(arrays | {"head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)}))
    with pytest.raises(sr.InputError, match="has version 99"):
        sr.Trajectory.load(path)


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sr.simulate(sr.library.four_bar(), (0.0, 0.1)).save(tmp_path / "run.npz")
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(sr.InputError, match="cannot be written: no space left"):
        sr.simulate(sr.library.four_bar(), (0.0, 0.2)).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_what_a_crash_left_is_cleared_away(tmp_path: Path) -> None:
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.01))
    old, new = tmp_path / ".run.npz.abc.part", tmp_path / ".run.npz.def.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200.0,) * 2)
    run.save(tmp_path / "run.npz")
    assert not old.exists() and new.exists()


def test_killed_fifty_times_while_saving(tmp_path: Path) -> None:
    """A process that saves two runs in turn is killed at random moments: the file is always one of them."""
    command = [sys.executable, "-c", KILLER, str(tmp_path / "run.npz")]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    lengths, cut = out.stdout.rsplit(" ", 1)
    assert lengths == "[401, 801]"
    assert int(cut) >= 25  # most of the kills came in the middle of a file


def test_only_what_shrinks_is_compressed(tmp_path: Path) -> None:
    """Zeros (u, tau) shrink; states do not, and compressing them takes longer than simulating them."""
    path = sr.simulate(sr.library.dual_arm(), (0.0, 0.3), dt=1e-3).save(tmp_path / "run.npz")
    with zipfile.ZipFile(path) as archive:
        kinds = {one.filename: one.compress_type for one in archive.infolist()}
    assert kinds["steps.tau.npy"] == kinds["u.npy"] == kinds["steps.rank.npy"] == zipfile.ZIP_DEFLATED
    assert kinds["steps.q.npy"] == kinds["steps.v.npy"] == kinds["lam.npy"] == zipfile.ZIP_STORED
