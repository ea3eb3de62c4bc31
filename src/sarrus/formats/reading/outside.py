"""Files that a description refers to: those beside it or below, others only where the caller says so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Outside = bool | str | Path | Sequence[str | Path]  # True: anywhere; or further folders


@dataclass(frozen=True)
class Reach:
    """Which files may be opened.

    Attributes:
        base: Folder of the description, that of the process for text.
        folders: All folders whose files, and those below, may be opened; None: any file.
    """

    base: str
    folders: tuple[str, ...] | None

    @classmethod
    def of(cls, file: Path | None, outside: Outside) -> Reach:
        """For a description, None: text; and what the caller allows besides its folder."""
        base = os.path.abspath("." if file is None else file.parent)
        if outside is True:
            return cls(base, None)
        more = [outside] if isinstance(outside, str | Path) else outside or ()
        return cls(base, (base, *(os.path.abspath(folder) for folder in more)))

    def refuses(self, name: str, folder: str = "") -> str:
        """Why a file of this name, relative to a folder that is relative to `base`, is not opened; else "".

        Links within the folders lead where whoever made them wanted.
        """
        path = os.path.normpath(os.path.join(self.base, folder, name))
        if self.folders is None or any(_below(path, one) for one in self.folders):
            return ""
        return (
            f"{name!r} is outside of the folder of the file, and a description of others could read any file;"
            " outside=True allows it, outside=folder what is in that folder"
        )


def _below(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # two drives
        return False
