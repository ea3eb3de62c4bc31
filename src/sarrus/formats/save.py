"""save: a mechanism as a file of the format that the name says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sarrus.errors import InputError
from sarrus.formats.json import json_bytes
from sarrus.formats.mjcf.write import mjcf_bytes
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.sdf.write import sdf_bytes
from sarrus.formats.urdf.read import BESIDE
from sarrus.formats.urdf.write import urdf_and_loops, urdf_bytes
from sarrus.formats.writing.replace_file import as_path, replace_bytes
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec

WRITERS: dict[str, Callable[[Mechanism, Path, Omitted], bytes]] = {
    ".xml": mjcf_bytes,
    ".mjcf": mjcf_bytes,
    ".urdf": urdf_bytes,
    ".sdf": sdf_bytes,
}
OTHER_FORMATS = {
    ".xacro": "xacro", ".world": "SDF", ".npz": "a trajectory", ".html": "a page", ".yaml": "YAML",
    ".yml": "YAML", ".usd": "USD", ".usda": "USD",
}  # fmt: skip

RESERVED = "world"


def save(
    what: Mechanism | MechanismSpec,
    path: str | os.PathLike[str],
    strict: bool = False,
    sidecar: bool = False,
) -> Path:
    """Write a mechanism or a description; an existing file is replaced in one step, a link stays.

    The extension says what is written: .xml or .mjcf MJCF, .urdf URDF, .sdf SDF, .json or none JSON, which
    alone keeps every digit and every kind. MJCF is drawn at the default state, so that MuJoCo starts with
    closed loops. What it cannot say is listed in one `SarrusWarning`.

    Args:
        what: A `Mechanism` (its default state is kept where it has one) or a `MechanismSpec`.
        path: File to write; its folder must exist.
        sidecar: Whether the loops of a URDF go to NAME.loops.xml beside it, which `load` finds, for readers
            that refuse elements that they do not know (Drake).
        strict: Whether constraints, forces and actuators that the format cannot say are an error; nothing is
            written then.

    Returns:
        The path.

    Raises:
        InputError: Where it holds Python functions (Drive, CustomConstraint; JSON), is something else, or
            cannot be written there.
        FormatError: Where strict and something is missing in the file.
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower() if isinstance(path, (str, os.PathLike)) else ""
    if suffix not in {*WRITERS, ".json", ""}:
        raise InputError(
            f"save writes .json, {', '.join(WRITERS)}, but {os.fspath(path)!r} says"
            f" {OTHER_FORMATS.get(suffix, 'another format')} by its extension; name the file .json."
        )
    if suffix not in WRITERS:
        return replace_bytes(path, json_bytes(what))
    if not isinstance(what, Mechanism | MechanismSpec):
        raise InputError(f"save takes a Mechanism or a MechanismSpec, got {type(what).__name__}.")
    target, omitted = as_path(path), Omitted("not written")
    mech = what if isinstance(what, Mechanism) else what.compile()
    if RESERVED in mech.body_names:
        raise InputError(
            f"a body is called {RESERVED!r}, which MJCF, URDF and SDF reserve for the ground, got"
            f" {os.fspath(path)!r}; give it another name, or save it as .json."
        )
    if sidecar and suffix != ".urdf":
        raise InputError(f"sidecar=True is for URDF, got {os.fspath(path)!r}; MJCF and SDF have loops.")
    loops = b""
    if sidecar:
        data, loops = urdf_and_loops(mech, target, omitted)
    else:
        data = WRITERS[suffix](mech, target, omitted)
    omitted.warn(target.name, strict)
    beside = target.with_name(f"{target.stem}{BESIDE}")
    if sidecar:
        replace_bytes(beside, loops)
    elif suffix == ".urdf":
        beside.unlink(missing_ok=True)  # of an earlier file of this name
    return replace_bytes(path, data)
