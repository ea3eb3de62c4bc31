"""The YAML file that says what closes the loops of a URDF, as beside Pinocchio's parallel robots.

    closed_loop: [['rod_end', 'foot_end'], ...]     pairs of links that coincide
    type: ['6d', '3d', ...]                          in pose, or in one point
    name_mot: ['crank', ...]                         joints with motors
    joint_name: ['ball', ...]                        joints of the URDF that are others
    joint_type: ['SPHERICAL', ...]

It has lists of names and no more, so that a small reader does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sarrus.formats.reading.messages import FormatError
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Fixed, Spherical

KEY = "closed_loop"
CLOSED_BY: dict[str, type[Joint]] = {"6d": Fixed, "3d": Spherical}
MADE = "# made by sarrus (save)"
TOKEN = re.compile(r"""\s*(?:\#[^\n]*|(\[)|(\])|(,)|'([^']*)'|"([^"]*)"|([^\s,\[\]'"\#]+))""")


@dataclass(frozen=True)
class LoopsFile:
    """What the file says.

    Attributes:
        pairs: Links that coincide.
        kinds: "6d" or "3d" for each pair.
        motors: Joints with motors; None where it does not say.
        joints: {joint of the URDF: its type here}.
    """

    pairs: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    motors: tuple[str, ...] | None
    joints: dict[str, str]


def loops_beside(urdf: Path) -> LoopsFile | None:
    """The file NAME.yaml beside NAME.urdf, if there is one that has loops."""
    path = urdf.with_suffix(".yaml")
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    return read_loops(text, path.name) if re.search(rf"^{KEY}\s*:", text, re.M) else None


def read_loops(text: str, source: str) -> LoopsFile:
    """The content of such a file."""
    found = {key: _lists(rest, f"{source}, {key}") for key, rest in _entries(text)}
    pairs = found.get(KEY, [])
    kinds = found.get("type", ["6d"] * len(pairs))
    if not all(isinstance(one, list) and len(one) == 2 for one in pairs):
        raise FormatError(f"{source}: {KEY} must be pairs of links, [['a', 'b'], ...].")
    if len(kinds) != len(pairs) or not set(kinds) <= set(CLOSED_BY):
        raise FormatError(
            f"{source}: type must say 6d or 3d for each of the {len(pairs)} pairs of {KEY}, got"
            f" {kinds!r:.80}."
        )
    names, types = found.get("joint_name", []), found.get("joint_type", [])
    if len(names) != len(types):
        raise FormatError(f"{source}: joint_name and joint_type must be of one length.")
    motors = found.get("name_mot")
    joints = {name: kind.lower() for name, kind in zip(names, types, strict=True)}
    return LoopsFile(
        tuple((a, b) for a, b in pairs), tuple(kinds), None if motors is None else tuple(motors), joints
    )


def loops_text(file: LoopsFile) -> str:
    """The same as text."""
    lines = [MADE, f"{KEY}: [{', '.join(f'[{_quoted(pair)}]' for pair in file.pairs)}]"]
    lines += [f"type: [{_quoted(file.kinds)}]", f"name_mot: [{_quoted(file.motors or ())}]"]
    names, types = list(file.joints), [kind.upper() for kind in file.joints.values()]
    return "\n".join([*lines, f"joint_name: [{_quoted(names)}]", f"joint_type: [{_quoted(types)}]", ""])


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _entries(text: str) -> list[tuple[str, str]]:
    """Keys at the beginning of lines, and what follows them."""
    parts = re.split(r"^([A-Za-z_]\w*)\s*:", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def _lists(text: str, where: str) -> list[Any]:
    """A flow sequence of names and of such sequences."""
    stack: list[list[Any]] = [[]]
    at = 0
    while text[at:].strip():
        token = TOKEN.match(text, at)
        if token is None:
            raise FormatError(f"{where}: cannot be read at {text[at:].strip()[:30]!r}; write [...] of names.")
        at = token.end()
        begins, ends, _, *words = token.groups()
        if begins:
            stack.append([])
        elif ends and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif any(word is not None for word in words):
            stack[-1].append(next(word for word in words if word is not None))
    if len(stack) != 1 or len(stack[0]) != 1 or not isinstance(stack[0][0], list):
        raise FormatError(f"{where}: must be one list, [...], got {text.strip()[:60]!r}.")
    found: list[Any] = stack[0][0]
    return found
