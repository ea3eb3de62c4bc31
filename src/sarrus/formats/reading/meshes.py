"""Where the files are that a URDF or SDF names by packages, models and paths.

A file of others could name any path. What is opened lies in the folder of the description or below, in a
folder that the caller names, or in a package: a folder that says to be one by a package.xml or model.config,
or that holds the description.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sarrus.formats.reading.outside import Outside, Reach

SCHEMES = ("package://", "model://")
SIGNS = ("package.xml", "model.config")  # files that make a folder a package of ROS or a model of Gazebo


class Places:
    """Looks for files.

    Args:
        folder: Of the description; None for text that is in no file.
        packages: Folders in which packages and models are looked up.
        outside: What the caller allows besides.
    """

    def __init__(self, folder: Path | None, packages: Sequence[Path], outside: Outside = False) -> None:
        base = None if folder is None else Path(os.path.abspath(folder))
        file = None if base is None else base / "description"
        more = () if isinstance(outside, bool) else outside
        folders = [*([more] if isinstance(more, str | Path) else more), *packages, *_packages_around(base)]
        self.reach = Reach.of(file, True if outside is True else folders)
        if base is None and self.reach.folders is not None:
            self.reach = Reach(self.reach.base, self.reach.folders[1:])
        self._packages = list(map(os.path.abspath, packages))
        self._base = None if base is None else str(base)
        self._first: list[str] = []

    @property
    def nowhere(self) -> bool:
        """Whether there is no folder to look into."""
        return self._base is None and not self._packages

    def find(self, name: str) -> tuple[str | None, str]:
        """The file of a name, None where there is none; and why one that is there is not opened, else ""."""
        scheme = next((one for one in SCHEMES if name.startswith(one)), "")
        path = name.removeprefix(scheme or "file://")
        path = path.lstrip("/") if scheme else path  # package:///arm.stl: no package, beside the file
        refused = ""
        for place in self._places(scheme):
            file = os.path.normpath(os.path.join(place, path))
            if not os.path.exists(file):
                continue
            why = self.reach.refuses(file)
            if not why or (scheme and self._is_in_package(place, path)):
                self._first = [place]
                return file, ""
            refused = refused or why
        return None, refused

    def _is_in_package(self, place: str, path: str) -> bool:
        """Whether a path, PACKAGE/..., stays in a package of a folder."""
        name, _, rest = path.partition("/")
        if name in ("", ".", "..") or os.path.normpath(rest).startswith(".."):
            return False
        whole = Path(place, name)
        holds = self._base is not None and Path(self._base).resolve().is_relative_to(whole.resolve())
        return holds or any((whole / sign).is_file() for sign in SIGNS)

    def _places(self, scheme: str) -> Iterator[str]:
        """Folders in the order in which they are asked; that of the last file that was found first."""
        yield from self._first
        yield from self._packages
        if self._base is not None:
            yield self._base
            if scheme == SCHEMES[1]:
                yield str(Path(self._base).parent)
            if scheme:
                yield from map(str, Path(self._base).resolve().parents)


def _packages_around(base: Path | None) -> list[str]:
    """The nearest folder around the description that says to be a package or a model."""
    around = () if base is None else (base, *base.parents)
    return [str(one) for one in around if any((one / sign).is_file() for sign in SIGNS)][:1]
