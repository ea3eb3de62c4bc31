"""The one way in which the library writes files: beside the target first, then in its place in one step.

A write that fails, is interrupted or killed, or finds the disk full leaves the old file as it was. The new
file has the mode of the old one (of a new file: what the umask leaves), and a symbolic link stays a link:
what it points to is replaced. Pipes and devices are written to directly.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sarrus.errors import InputError

STALE = 3600.0  # [s]: files that a crash left half written are removed when they are so old
SHOWN = 60  # characters of the target's name in the name of the temporary file: names have at most 255 bytes


@contextmanager
def replaced(path: str | os.PathLike[str], make_folder: bool = False) -> Iterator[Path]:
    """Yields the path of a temporary file; what is written there becomes the content of `path` at the end.

    Args:
        path: File to write.
        make_folder: Whether to make its folder where there is none; otherwise that is an error.

    Raises:
        InputError: Where the file cannot be written, with the reason.
    """
    given = as_path(path)
    try:
        if make_folder:
            given.parent.mkdir(parents=True, exist_ok=True)
        _require_folder(given)
        target = Path(os.path.realpath(given))
        mode = _mode(target)
        name = target.name[:SHOWN]
        _remove_stale(target.parent, name)
        temporary = target.with_name(f".{name}.{secrets.token_hex(6)}.part{target.suffix[:16]}")
        try:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            yield temporary
            _take_place(temporary, target, mode)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{str(given)!r} cannot be written: {error.strerror or error}.") from error


def replace_bytes(path: str | os.PathLike[str], data: bytes, make_folder: bool = False) -> Path:
    """Write a file in one step; returns its path."""
    with replaced(path, make_folder) as temporary:
        temporary.write_bytes(data)
    return Path(path)


def as_path(path: object) -> Path:
    """A path, or an InputError for anything else."""
    try:
        target = Path(path)  # type: ignore[arg-type]
        os.stat(target)
    except OSError:
        return target
    except (TypeError, ValueError) as error:
        raise InputError(f"the path of a file must be a str or a Path, got {path!r:.80} ({error}).") from None
    return target


def _require_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise InputError(
            f"the folder {str(target.parent)!r} of {target.name!r} does not exist; make it first:"
            f" pathlib.Path({str(target.parent)!r}).mkdir(parents=True)."
        )


def _mode(target: Path) -> int | None:
    """The mode of the file as it is; None where there is none."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "it is a folder")
    if not os.access(target, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    return mode


def _take_place(temporary: Path, target: Path, mode: int | None) -> None:
    if mode is not None and not stat.S_ISREG(mode):
        with temporary.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
        return
    if mode is not None:
        temporary.chmod(stat.S_IMODE(mode))
    with temporary.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(temporary, target)


def _remove_stale(folder: Path, name: str) -> None:
    begins = f".{name}."
    for left in os.scandir(folder):
        if left.name.startswith(begins) and ".part" in left.name:
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > STALE:
                    os.unlink(left)
