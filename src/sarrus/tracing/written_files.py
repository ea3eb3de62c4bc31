"""Files of exported code: names that C takes, texts of comments, folders that are written into."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError

MADE = "made by sarrus (mech.export_code)"  # in each file: only such files are overwritten
MARKS = (MADE, "made by sarrus (law.export_code)")
TAKEN = ("main", "math", "stdio")  # names of files that a program has anyway


def c_name(name: str) -> str:
    """A name as an identifier of C, and of a file."""
    text = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return text if text and not text[0].isdigit() and text not in TAKEN else f"mechanism_{text}".rstrip("_")


def comment_text(text: str) -> str:
    """Names of a user as they may stand in a comment of C."""
    return (
        text.encode("ascii", "backslashreplace")
        .decode()
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("\n", " ")
    )


def write_texts(folder: Any, texts: Mapping[str, str], who: str = "export_code") -> tuple[Path, ...]:
    """Write files by name into a folder; files that sarrus did not write are refused, not overwritten."""
    where = folder_of(folder, who)
    paths = tuple(where / name for name in texts)
    for path in paths:
        if path.exists() and not _ours(path):
            raise InputError(f"{who}: {str(path)!r} is not a file that it wrote; give a folder of its own.")
    try:
        for path, text in zip(paths, texts.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
    except OSError as error:
        raise InputError(f"{who} cannot write into {str(where)!r}: {error.strerror}.") from None
    return paths


def folder_of(folder: Any, who: str = "export_code") -> Path:
    """The folder, made where there is none."""
    try:
        if not str(folder):
            raise ValueError("empty")
        (where := Path(folder).expanduser()).mkdir(parents=True, exist_ok=True)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"folder of {who} must be a path, got {folder!r:.80} ({error}).") from None
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            f"folder of {who} must be a folder, and {str(where)!r}, or one above it, is a file."
        ) from None
    except OSError as error:
        raise InputError(f"{who} cannot make the folder {str(where)!r}: {error.strerror}.") from None
    return where


def _ours(path: Path) -> bool:
    """Whether sarrus has written this file."""
    head = path.read_text(errors="replace")[:1000].lower() if path.is_file() else ""
    return any(mark in head for mark in MARKS)
