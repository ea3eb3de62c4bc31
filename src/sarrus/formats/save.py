"""save: a mechanism as a file of the format that the name says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from sarrus.arrays import one_of
from sarrus.errors import InputError
from sarrus.formats.json import json_bytes
from sarrus.formats.mjcf.write import MjcfStiffness, mjcf_bytes
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.sdf.write import sdf_bytes
from sarrus.formats.urdf.loops_yaml import MADE
from sarrus.formats.urdf.read import BESIDE
from sarrus.formats.urdf.write import LOOPS, urdf_and_loops, urdf_and_yaml, urdf_bytes
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
    loops: str = LOOPS[0],
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
        loops: How a URDF says its loops: "loop_joint" (our extension), "constraint" (as proposed for urdfdom)
            or "yaml" (links that coincide, listed in NAME.yaml beside it, as Pinocchio's examples of parallel
            robots do); `load` reads all of them.
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
    target, omitted = as_path(path), Omitted("not written")
    mech = _writable(what, path, target)
    _check_options(os.fspath(path), suffix, sidecar, loops)
    if loops == "yaml":
        data, listed = urdf_and_yaml(mech, target, omitted)
        found = {BESIDE: b"", ".yaml": listed}
    else:
        data, apart = _written(mech, target, omitted, sidecar, MjcfStiffness(step, loop_time))
        if loops == "constraint":
            data = urdf_bytes(mech, target, Omitted("not written"), loops)
        found = {BESIDE: apart, ".yaml": b""}
    omitted.warn(target.name, strict)
    if suffix == ".urdf":
        _write_beside(target, found)
    return replace_bytes(path, data)


def _writable(what: object, path: str | os.PathLike[str], target: Path) -> Mechanism:
    """What is written as MJCF, URDF or SDF."""
    if not isinstance(what, Mechanism | MechanismSpec):
        raise InputError(f"save takes a Mechanism or a MechanismSpec, got {type(what).__name__}.")
    mech = what if isinstance(what, Mechanism) else what.compile()
    if RESERVED in mech.body_names:
        raise InputError(
            f"a body is called {RESERVED!r}, which MJCF, URDF and SDF reserve for the ground, got"
            f" {os.fspath(path)!r}; give it another name, or save it as .json."
        )
    _refuse_unknown(mech, target)
    return mech


def _check_options(path: str, suffix: str, sidecar: bool, loops: str) -> None:
    """Refuse options of URDF for other files."""
    if sidecar and suffix != ".urdf":
        raise InputError(f"sidecar=True is for URDF, got {path!r}; MJCF and SDF have loops.")
    if one_of(loops, "loops of save", LOOPS) != LOOPS[0] and (suffix != ".urdf" or sidecar):
        raise InputError(f"loops={loops!r} is for URDF without sidecar=True, got {path!r}.")


def _write_beside(target: Path, found: dict[str, bytes]) -> None:
    """Files beside a URDF by their endings; those of an earlier file of this name go."""
    for ending, content in found.items():
        beside = target.with_name(f"{target.stem}{ending}")
        if content:
            replace_bytes(beside, content)
        elif ending == BESIDE or (beside.is_file() and MADE in beside.read_text(errors="replace")[:100]):
            beside.unlink(missing_ok=True)


def _refuse_unknown(mech: Mechanism, target: Path) -> None:
    """Refuse what no format but JSON can say."""
    if mech.states:
        raise InputError(
            f"{target.suffix} has no states of first order, which {mech.name!r} has:"
            f" {', '.join(map(repr, mech.states))}; save it as .json, or leave them out."
        )
    bent = [name for name, force in mech.model.forces if force.deflects]
    if bent:
        raise InputError(
            f"{target.suffix} has no flexible bodies, which {mech.name!r} has: {', '.join(map(repr, bent))};"
            " save it as .json."
        )


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
