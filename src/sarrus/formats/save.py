"""save: a mechanism as a file of the format that the name says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sarrus.errors import InputError
from sarrus.formats.json import json_bytes
from sarrus.formats.mjcf.write import MjcfStiffness, mjcf_bytes
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.sdf.write import sdf_bytes
from sarrus.formats.urdf.read import BESIDE
from sarrus.formats.urdf.write import urdf_and_loops, urdf_bytes
from sarrus.formats.writing.replace_file import as_path, replace_bytes
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec

MJCF = (".xml", ".mjcf")
WRITERS: dict[str, Callable[[Mechanism, Path, Omitted], bytes]] = {".urdf": urdf_bytes, ".sdf": sdf_bytes}
EXTENSIONS = (*MJCF, *WRITERS)
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
    step: float | None = None,
    loop_time: float | None = None,
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
        step: MuJoCo's timestep in MJCF [s]; default 2 ms.
        loop_time: Time constant with which loops close in MuJoCo [s], at least two steps, the default.
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
    if suffix not in {*EXTENSIONS, ".json", ""}:
        raise InputError(
            f"save writes .json, {', '.join(EXTENSIONS)}, but {os.fspath(path)!r} says"
            f" {OTHER_FORMATS.get(suffix, 'another format')} by its extension; name the file .json."
        )
    if suffix not in MJCF and (step, loop_time) != (None, None):
        raise InputError(f"step= and loop_time= are for MJCF, got {os.fspath(path)!r}.")
    if suffix not in EXTENSIONS:
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
    if mech.states:
        raise InputError(
            f"{target.suffix} has no states of first order, which {mech.name!r} has:"
            f" {', '.join(map(repr, mech.states))}; save it as .json, or leave them out."
        )
    if sidecar and suffix != ".urdf":
        raise InputError(f"sidecar=True is for URDF, got {os.fspath(path)!r}; MJCF and SDF have loops.")
    data, loops = _written(mech, target, omitted, sidecar, MjcfStiffness(step, loop_time))
    omitted.warn(target.name, strict)
    beside = target.with_name(f"{target.stem}{BESIDE}")
    if sidecar:
        replace_bytes(beside, loops)
    elif suffix == ".urdf":
        beside.unlink(missing_ok=True)  # of an earlier file of this name
    return replace_bytes(path, data)


def _written(
    mech: Mechanism, target: Path, omitted: Omitted, sidecar: bool, stiffness: MjcfStiffness
) -> tuple[bytes, bytes]:
    """The content of the file, and of the one beside it where there is one."""
    if sidecar:
        return urdf_and_loops(mech, target, omitted)
    suffix = target.suffix.lower()
    if suffix in MJCF:
        return mjcf_bytes(mech, target, omitted, stiffness), b""
    return WRITERS[suffix](mech, target, omitted), b""
