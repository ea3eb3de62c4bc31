"""Files of trajectories that are damaged, or that claim too much: one error family, soon."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    run = sr.simulate(
        sr.library.four_bar(), (0.0, 0.05), method="rk4", dt=1e-3, events=lambda t, q, v: t - 0.02
    )
    return run.save(tmp_path_factory.mktemp("runs") / "run.npz").read_bytes()


def _changed(data: bytes, **arrays: Any) -> bytes:
    """The file with other arrays, None: without; the head is given as changes of its keys."""
    with np.load(io.BytesIO(data)) as old:
        kept = {name: old[name] for name in old.files}
    head = json.loads(kept["head"].tobytes()) | arrays.pop("head", {})
    kept["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    kept |= {name.replace("__", "."): x for name, x in arrays.items()}
    out = io.BytesIO()
    np.savez_compressed(out, **{name: x for name, x in kept.items() if x is not None})
    return out.getvalue()


def test_damaged_bytes_are_a_trajectory_or_an_input_error(stored: bytes, tmp_path: Path) -> None:
    rng, path, refused = random.Random(5), tmp_path / "run.npz", 0
    for _ in range(300):
        data = bytearray(stored)
        for _ in range(rng.choice((1, 1, 3, 30))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
        try:
            sr.Trajectory.load(path)
        except sr.SarrusError as error:
            refused += str(path) in str(error)
    assert refused > 200


@pytest.mark.parametrize(
    "changes",
    [
        {"steps__t": None},
        {"steps__q": np.zeros((3, 3))},
        {"steps__v": np.zeros(51)},
        {"steps__a": np.array("text")},
        {"u": np.zeros((50, 1))},
        {"lam": np.zeros((2, 2))},
        {"energy": np.zeros((51, 2))},
        {"event0__q": None},
        {"checkpoint__numbers": np.full(30, np.nan)},
        {"checkpoint__numbers": np.full(30, 1e300)},
        {"checkpoint__energy": np.zeros(3)},
        {"active": np.zeros((51, 4), dtype=bool)},
        {"head": {"status": 77}},
        {"head": {"status": "fine"}},
        {"head": {"events": 3}},
        {"head": {"events": [3]}},
        {"head": {"events": [{"colour": 1}]}},
        {"head": {"description": 7}},
        {"head": {"description": {"format": "sarrus"}}},
        {"head": {"options": {"t0": 0.0}}},
        {"head": {"options": 4}},
        {"head": {"length": "long"}},
        {"head": {"version": "new"}},
        {"head": {"format": "other"}},
        {"head": {"nfev": None}},
    ],
)
def test_wrong_parts_are_an_input_error(changes: dict[str, Any], stored: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(_changed(stored, **changes))
    with pytest.raises(sr.SarrusError):
        sr.Trajectory.load(path)


@pytest.mark.parametrize(
    "option",
    [{"method": "best"}, {"correction": 3}, {"rtol": "small"}, {"baumgarte": [1.0]}, {"store_every": "x"}],
)
def test_wrong_options_are_refused_when_resumed(
    option: dict[str, Any], stored: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "run.npz"
    with np.load(io.BytesIO(stored)) as old:
        options = json.loads(old["head"].tobytes())["options"]
    path.write_bytes(_changed(stored, head={"options": options | option}))
    with pytest.raises(sr.SarrusError):
        sr.Trajectory.load(path).resume(0.1)


def test_a_checkpoint_of_another_size_is_refused(stored: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(_changed(stored, checkpoint__numbers=np.ones(12)))
    with pytest.raises(sr.InputError, match="cannot be used"):
        sr.Trajectory.load(path).resume(0.1)


def test_a_small_file_does_not_grow_to_gigabytes(stored: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    claim = {"descr": "<f8", "fortran_order": False, "shape": (50_000_000, 1)}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("steps.q.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, claim)
        for _ in range(400):
            file.write(bytes(1_000_000))
    tracemalloc.start()
    with pytest.raises(sr.InputError, match="unpacks to more than"):
        sr.Trajectory.load(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_a_header_that_claims_terabytes_allocates_nothing(stored: bytes, tmp_path: Path) -> None:
    path, member = tmp_path / "run.npz", io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("steps.t.npy", member.getvalue())
    with pytest.raises(sr.InputError, match="claims float64 of shape"):
        sr.Trajectory.load(path)


def test_a_run_that_compresses_well_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism at rest shrinks by more than a reader accepts: it is stored as it is."""
    from sarrus.simulation.trajectory import stored_arrays

    monkeypatch.setattr(stored_arrays, "FREE_SIZE", 10_000)
    monkeypatch.setattr(stored_arrays, "MOST_GROWTH", 2)
    run = sr.simulate(sr.library.pendulum(), (0.0, 1.0), [0.0], [0.0], method="rk4", dt=1e-3)
    assert len(sr.Trajectory.load(run.save(tmp_path / "run.npz"))) == len(run)


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    for wrong in (tmp_path, "/dev/zero", tmp_path / "none.npz"):
        with pytest.raises(sr.InputError, match="cannot be read"):
            sr.Trajectory.load(wrong)
    with pytest.raises(sr.InputError, match="path of a file must be"):
        sr.Trajectory.load(3.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [(name, 0, "0") for name in ("control_dt", "dt", "rtol", "store_every")]
    + [(name, None, "None") for name in ("t0", "t1", "rtol", "softness", "store_every")],
)
def test_options_without_a_sound_number_are_refused(
    stored: bytes, tmp_path: Path, name: str, value: int | None, shown: str
) -> None:
    """None was accepted, and a resumed run took the remainder of a division by it (found by bench.fuzz)."""
    with np.load(io.BytesIO(stored)) as old:
        options = json.loads(old["head"].tobytes())["options"]
    path = tmp_path / "run.npz"
    path.write_bytes(_changed(stored, head={"options": options | {name: value}}))
    with pytest.raises(sr.InputError, match=f"the stored option {name} is {shown}; the file is damaged"):
        sr.Trajectory.load(path)
