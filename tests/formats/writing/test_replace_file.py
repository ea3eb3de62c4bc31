"""Writing files: the old one or the new one, with its mode, behind its link."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sarrus as sr
from sarrus.formats.writing.replace_file import replace_bytes, replaced


def _run() -> sr.Trajectory:
    return sr.simulate(sr.library.pendulum(), (0.0, 0.05), method="rk4", dt=1e-2)


def _animate(path: Path) -> object:
    pytest.importorskip("matplotlib").use("agg")
    return _run().animate(path, fps=20)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "mech.json": lambda path: sr.save(sr.library.four_bar(), path),
    "run.npz": lambda path: _run().save(path),
    "page.html": lambda path: _run().export(path),
    "run.gif": _animate,
}
every_writer = pytest.mark.parametrize("name", WRITERS)


@every_writer
def test_mode_of_the_old_file_is_kept(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(0o640)
    WRITERS[name](path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 and path.read_bytes() != b"old"
    assert [p.name for p in tmp_path.iterdir()] == [name]


@every_writer
@pytest.mark.parametrize("umask", [0o077, 0o002])
def test_mode_of_a_new_file_is_what_the_umask_leaves(name: str, umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        WRITERS[name](tmp_path / name)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o666 & ~umask


@every_writer
def test_a_link_stays_a_link(name: str, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / f"real.{name}", tmp_path / name
    target.write_bytes(b"old")
    link.symlink_to(Path("far") / target.name)
    WRITERS[name](link)
    assert link.is_symlink() and target.read_bytes() != b"old"
    assert [p.name for p in target.parent.iterdir()] == [target.name]
    dangling = tmp_path / f"other.{name}"
    dangling.symlink_to(tmp_path / "far" / f"new.{name}")
    WRITERS[name](dangling)
    assert dangling.is_symlink() and (tmp_path / "far" / f"new.{name}").is_file()


@every_writer
def test_a_write_that_fails_leaves_the_old_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(sr.InputError, match="cannot be written: No space left on device"):
        WRITERS[name](path)
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == [name]


@every_writer
def test_what_cannot_be_written_is_an_input_error(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(sr.InputError, match="cannot be written: it is a folder"):
        WRITERS[name](tmp_path / name)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(sr.InputError, match=r"cannot be written|does not exist"):
        WRITERS[name](tmp_path / "file" / name)
    loop = tmp_path / f"loop.{name}"
    loop.symlink_to(loop)
    with pytest.raises(sr.InputError, match="cannot be written"):
        WRITERS[name](loop)


def test_write_protected_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mech.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(sr.InputError, match="write-protected"):
        sr.save(sr.library.four_bar(), path)
    assert path.read_bytes() == b"old"


def test_pipes_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    sr.save(sr.library.pendulum(), pipe)
    reader.join(10.0)
    assert got[0].startswith(b"{") and stat.S_ISFIFO(pipe.stat().st_mode)
    replace_bytes("/dev/null", b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_long_names_and_wrong_paths(tmp_path: Path) -> None:
    replace_bytes(tmp_path / ("n" * 250 + ".json"), b"x")
    for wrong in (3, None, "a\0b", ["x"]):
        with pytest.raises(sr.InputError, match="path of a file must be"):
            replace_bytes(wrong, b"x")  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match="does not exist; make it first"):
        replace_bytes(tmp_path / "no" / "x", b"")
    with pytest.raises(ZeroDivisionError), replaced(tmp_path / "x"):
        raise ZeroDivisionError
    assert not (tmp_path / "x").exists()


KILLED = """
    import sys
    import sarrus as sr
    runs = [sr.simulate(sr.library.four_bar(), (0.0, t), method="rk4", dt=1e-3) for t in (0.4, 0.8)]
    runs[0].export(sys.argv[1], fps=500)
    print("ready", flush=True)
    while True:
        for run in runs:
            run.export(sys.argv[1], fps=500)
"""


def test_a_page_is_whole_after_every_kill(tmp_path: Path) -> None:
    """One process that writes pages in turn, killed eight times: before, one of 13 kills cut the page."""
    path = tmp_path / "page.html"
    for k in range(8):
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline().strip() == "ready"
            time.sleep(0.03 + 0.017 * k)
            process.send_signal(signal.SIGKILL)
        assert path.read_text().rstrip().endswith("</html>")
