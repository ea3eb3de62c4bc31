"""What an importer says: one error family for files, and one warning for all that was left out."""

from __future__ import annotations

from pathlib import Path

from sarrus.errors import SarrusError, warn

MISSING_MESH = "mesh file that was not found"
OUTSIDE_MESH = "mesh file outside of the folder of the file (outside=True opens it)"
HARMLESS = {  # kinds that do not change the motion
    "sensor", "camera", "light", "skin", "keyframe", "key", "visual", "material", "collision", "gazebo",
    MISSING_MESH, OUTSIDE_MESH, "inactive equality constraint", "actuator without any force",
    "tendon without any force", "safety_controller", "calibration", "velocity limit", "ros2_control",
    "transmission", "velocity of the default state", "mesh that MuJoCo cannot read",
}  # fmt: skip
SIMPLIFIED = "corners of the hulls of collision meshes, which are smaller by as much"
SHOWN = 4  # names listed for each kind before "and n more"


class FormatError(SarrusError):
    """A file that cannot be read as a mechanism: the message says where and why."""


def name_for_others(file: Path) -> str:
    """The name of a file, for libraries that open only those whose name is UTF-8."""
    name = str(file)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise FormatError(
            f"{name!r:.200}: files of this format must have a name that is UTF-8; rename it."
        ) from None
    return name


class Omitted:
    """Things a file contains and the library does not model: gathered while reading, said once.

    Constraints and actuators that were dropped come first, then what else changes the motion, then the rest.

    Args:
        done: What became of them: "not modelled" by a reader, "not written" by a writer.
    """

    def __init__(self, done: str = "not modelled") -> None:
        self.done = done
        self.kinds: dict[str, list[str]] = {}
        self.remarks: list[str] = []
        self._dropped: set[str] = set()
        self._kept: dict[str, list[str]] = {}
        self._lines: dict[str, int] = {}
        self._simplified: dict[str, float] = {}

    def keep(self, kind: str, name: str) -> None:
        """Note what the format cannot say and an extension keeps, which nobody else reads."""
        self._kept.setdefault(kind, []).append(name)

    def drop(self, kind: str, name: str = "", line: int = 0) -> None:
        """Note a constraint or an actuator that is missing now."""
        self._dropped.add(kind)
        self.add(kind, name, line)

    def simplified(self, name: str, inside: float) -> None:
        """Note a hull with fewer corners, by how much it is smaller [m]."""
        if not self._simplified:
            self.kinds[SIMPLIFIED] = []
        self._simplified[name] = inside
        self.kinds[SIMPLIFIED].append(f"{name}: {1e3 * inside:.2g} mm")

    def listed(self, dropped: bool = False) -> tuple[str, ...]:
        """All kinds with their names, what changes the motion first; only what was dropped if asked for."""
        kinds = [kind for kind in self.kinds if not dropped or kind in self._dropped]
        kinds.sort(key=lambda kind: 0 if kind in self._dropped else 2 if kind in HARMLESS else 1)
        return tuple(phrase(kind, self.kinds[kind]) + self._where(kind) for kind in kinds)

    def _where(self, kind: str) -> str:
        """The line of the first of a kind, where it is known and worth a look."""
        line = 0 if kind in HARMLESS - {MISSING_MESH, OUTSIDE_MESH} else self._lines.get(kind, 0)
        return f", {'line' if len(self.kinds[kind]) == 1 else 'first in line'} {line}" if line else ""

    def add(self, kind: str, name: str = "", line: int = 0) -> None:
        """Note one thing of a kind ("fluid"), by name where it has one, and its line in the file."""
        self.kinds.setdefault(kind, []).append(name)
        self._lines.setdefault(kind, line)

    def count(self, kind: str, n: int) -> None:
        """Note n things of a kind that are not worth naming."""
        if n > 0:
            self.kinds.setdefault(kind, []).extend([""] * n)

    def remark(self, sentence: str) -> None:
        """Note something that was done, rather than left out."""
        self.remarks.append(sentence)

    def warn(self, source: str, strict: bool = False) -> None:
        """Issue the one SarrusWarning, if there is anything to say; `strict` refuses what is dropped."""
        kept = tuple(phrase(kind, names) for kind, names in self._kept.items())
        dropped = self.listed(dropped=True) + kept
        if strict and dropped:
            raise FormatError(
                f"{source}: strict=True, but these constraints and actuators are {self.done}:"
                f" {'; '.join(dropped)}. Leave strict out for the rest; a warning then lists them."
            )
        parts = []
        if self.kinds:
            parts.append(f"{self.done}: {'; '.join(self.listed())}")
        if kept:
            parts.append(f"only sarrus will read: {'; '.join(kept)}")
        parts.extend(self.remarks)
        if parts:
            warn(f"{source}: " + ". ".join(parts) + ".")


def phrase(kind: str, names: list[str]) -> str:
    """'tendon ('a', 'b')' where there are names, 'visual (12)' where there are none."""
    known = list(dict.fromkeys(name for name in names if name))
    if not known:
        return f"{kind} ({len(names)})"
    shown = ", ".join(repr(name) for name in known[:SHOWN])
    more = len(known) - SHOWN
    return f"{kind} ({shown}, and {more} more)" if more > 0 else f"{kind} ({shown})"
