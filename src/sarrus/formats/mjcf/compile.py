"""MuJoCo's compiler: its warnings as remarks, its errors as ours."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sarrus.formats.reading.messages import FormatError, Omitted, name_for_others

LISTENING = threading.Lock()  # MuJoCo has one warning handler for the whole process


@contextmanager
def _listening(mujoco: Any, omitted: Omitted) -> Iterator[None]:
    """MuJoCo's warnings as remarks, instead of lines on stderr and in a log file in the current folder."""
    with LISTENING:
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(lambda text: omitted.remark(f"MuJoCo: {str(text).strip().rstrip('.')}"))
        try:
            yield
        finally:
            mujoco.set_mju_user_warning(before)


def compile_file(data: bytes, source: str, path: Path | None, omitted: Omitted) -> Any:
    """The `mujoco.MjModel` of a file, or of text where there is no path; FormatError with MuJoCo's reason."""
    try:
        import mujoco
    except ImportError:
        raise FormatError(
            f"{source}: reading MJCF needs the package mujoco, which is not installed. "
            "Install it with: pip install 'sarrus[mujoco]'."
        ) from None
    if path is not None:
        name = name_for_others(path)
        return compiled(lambda: mujoco.MjModel.from_xml_path(name), source, omitted, data)
    return compiled(lambda: mujoco.MjModel.from_xml_string(data.decode()), source, omitted, data)


def compiled(make: Callable[[], Any], source: str, omitted: Omitted, data: bytes = b"") -> Any:
    """What MuJoCo makes; its errors as ours, with the line of a missing file in `data`."""
    import mujoco

    try:
        with _listening(mujoco, omitted):
            return make()
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: its text is not UTF-8 ({error}).") from None
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        reason = ", ".join(line.strip() for line in str(error).splitlines() if line.strip()).rstrip(".")
        raise FormatError(f"{source}: MuJoCo cannot compile it: {reason}{_line_of(reason, data)}.") from None


def _line_of(reason: str, data: bytes) -> str:
    """Line of the file that a message of MuJoCo names in quotes, where it does not say the line itself."""
    named = re.search(r"file '([^']+)'", reason)
    place = data.find(named.group(1).rsplit("/", 1)[-1].encode()) if named and ", line" not in reason else -1
    return "" if place < 0 else f", line {len(data[: place + 1].splitlines())}"
