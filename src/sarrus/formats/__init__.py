"""Mechanisms from files and from other libraries: MJCF, URDF, SDF, USD, JSON, MuJoCo, Pinocchio.

Everything becomes a `MechanismSpec` first (`load_spec`), to which loops, forces and actuators can be added,
and then a `Mechanism` (`load`). What a file contains and the library does not model is listed in one
`SarrusWarning`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sarrus.arrays import nonnegative
from sarrus.errors import SarrusError, require_all_known
from sarrus.formats.json import read_json
from sarrus.formats.mjcf.read import MjcfOptions, read_mjcf, read_mujoco
from sarrus.formats.pinocchio import read_pinocchio
from sarrus.formats.reading.file_spec import LOOP_TOLERANCE, FileSpec
from sarrus.formats.reading.markup import parse
from sarrus.formats.reading.messages import FormatError
from sarrus.formats.save import save
from sarrus.formats.sdf.read import SdfOptions, read_sdf
from sarrus.formats.urdf.read import UrdfOptions, read_urdf
from sarrus.formats.usd.read import MAGIC, UsdOptions, read_usd
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec

LARGEST_FILE = 2**28  # bytes
CONTACTS = ("contacts", "hull_corners")
OPTIONS = {
    "MJCF": ("keyframe", *CONTACTS, "loop_tolerance", "rank_tol", "strict", "outside"),
    "URDF": ("root", "packages", "gravity", *CONTACTS, "loop_tolerance", "rank_tol", "strict", "outside"),
    "SDF": ("packages", "gravity", *CONTACTS, "loop_tolerance", "rank_tol", "strict", "outside"),
    "USD": ("gravity", *CONTACTS, "loop_tolerance", "rank_tol", "strict", "outside"),
    "JSON": ("loop_tolerance", "strict"),
}


def load(path: str | os.PathLike[str], **options: Any) -> Mechanism:
    """Load a mechanism from an MJCF, URDF, SDF, USD or JSON file; the content decides which.

    Loops that do not fit together because the file has few digits are made to fit, with a warning that says
    by how much. `default` is the pose nearest to the file's rest pose at which the loops close.

    Args:
        path: File, or the XML or JSON itself as text.
        **options: MJCF: keyframe=name of the keyframe to take the rest pose from. URDF: root="fixed" or
            "free". URDF and SDF: packages=folders that package:// and model:// are looked up in. URDF, SDF
            and USD: gravity=(3,) [m/s^2]. All but JSON: contacts=True to make surfaces and pairs of collision
            geometry; hull_corners=how many corners hulls of collision meshes keep (default 32; None: all);
            outside=True, or folders, to open includes, meshes and layers outside of the folder of the file,
            which are not opened else. All formats:
            loop_tolerance=largest misfit of loops that is corrected, in rad or as a fraction of L;
            rank_tol=rows of loops that are independent of others by less, at all poses, are put down to
            rounding and left out with a warning (default 1e-7; 0 keeps all; not for JSON);
            strict=True to refuse files with constraints or actuators that are not modelled.

    Returns:
        The mechanism; `omitted` lists what the file contains and the mechanism does not.

    Raises:
        FormatError: Where the file cannot be read, with the line where there is one, and the reason.
    """
    spec, source = _read(path, options)
    try:
        if isinstance(spec, FileSpec) or spec.default is not None:
            return spec.compile()
        return spec.compile(loop_tolerance=options.get("loop_tolerance", LOOP_TOLERANCE))
    except FormatError:
        raise
    except SarrusError as error:
        raise FormatError(f"{source}: {error}") from error


def load_spec(path: str | os.PathLike[str], **options: Any) -> MechanismSpec:
    """Load the description only, to add loops, forces and actuators before compiling it.

    Args:
        path: File, or the XML or JSON itself as text.
        **options: As for `load`.

    Returns:
        The description; `compile()` starts from the default state or the rest pose of the file.

    Raises:
        FormatError: Where the file cannot be read, with the line where there is one, and the reason.
    """
    return _read(path, options)[0]


def from_pinocchio(
    model: Any, constraint_models: Iterable[Any] = (), actuated: Iterable[str] | None = None
) -> Mechanism:
    """A mechanism from a `pinocchio.Model`.

    q and v are Pinocchio's own, except: an unbounded revolute joint is one angle here, a planar joint has its
    velocity in the axes of the plane, and a mimic joint is a coordinate of its own held by a Coupling.
    A constraint from joint 1 to joint 2 becomes a loop from a to b. Pinocchio's `contact_force` acts on joint
    1, `Motion.reaction` here on b: they have opposite signs.

    Args:
        model: A `pinocchio.Model`.
        constraint_models: Rigid constraint models of type CONTACT_3D (a ball) or CONTACT_6D (a weld), or
            point and frame anchors.
        actuated: Names of joints or coordinates with actuators, () for none; default every joint but free
            ones, because a Pinocchio model does not say.

    Returns:
        The mechanism.

    Raises:
        FormatError: For a joint that has no counterpart here.
    """
    return read_pinocchio(model, constraint_models, actuated).compile()


def from_mujoco(model: Any, **options: Any) -> Mechanism:
    """A mechanism from a `mujoco.MjModel` or a `mujoco.MjSpec`.

    What becomes of joints, tendons, equalities and actuators is as in `load` of the MJCF file;
    `sr.bridge.mujoco` converts states and inputs between the two.

    Args:
        model: The model, or the specification, which is compiled here.
        **options: keyframe, contacts, loop_tolerance, rank_tol and strict, as for `load`.

    Returns:
        The mechanism.

    Raises:
        FormatError: Where MuJoCo cannot compile it, or no mechanism can be made of it.
    """
    rank_tol = options.get("rank_tol")
    _check_options("MJCF", options)
    spec = read_mujoco(model, MjcfOptions(**options))
    if rank_tol is not None:
        spec.rank_tol = nonnegative(rank_tol, "rank_tol")
    return spec.compile()


def _read(path: str | os.PathLike[str], options: dict[str, Any]) -> tuple[MechanismSpec, str]:
    """The description, and what messages call the file."""
    spec, source = _described(path, dict(options))
    if isinstance(spec, FileSpec):
        spec.rank_tol = nonnegative(options.get("rank_tol", spec.rank_tol), "rank_tol")
    return spec, source


def _described(path: str | os.PathLike[str], options: dict[str, Any]) -> tuple[MechanismSpec, str]:
    """The description by a format's own options, which are what is left."""
    data, file = _content(path)
    source = "text" if file is None else file.name
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        _check_options("JSON", options)
        return read_json(data, source), source
    if data.startswith(MAGIC):
        _check_options("USD", options)
        return read_usd(data, file, UsdOptions(**options)), source
    root = parse(data, source)
    if root.tag == "mujoco":
        _check_options("MJCF", options)
        return read_mjcf(root, data, file, MjcfOptions(**options)), source
    if root.tag == "robot":
        _check_options("URDF", options)
        folder = None if file is None else file.parent
        return read_urdf(root, folder, UrdfOptions(**options)), source
    if root.tag == "sdf":
        _check_options("SDF", options)
        folder = None if file is None else file.parent
        return read_sdf(root, folder, SdfOptions(**options)), source
    raise FormatError(
        f"{source}: neither MJCF (<mujoco>), URDF (<robot>), SDF (<sdf>), USD nor JSON (written by save), "
        f"but <{root.tag}>."
    )


def _content(path: str | os.PathLike[str]) -> tuple[bytes, Path | None]:
    """Bytes of a file, or of text that is given instead of one."""
    if isinstance(path, str) and path.lstrip("\ufeff \t\r\n").startswith(("<", "{", "#usda")):
        return path.encode("utf-8", errors="surrogatepass"), None
    if isinstance(path, str) and not path:
        raise FormatError("load takes the path of a file, or XML or JSON as text, got an empty text.")
    try:
        file = Path(path)
        return _bytes_of(file), file
    except TypeError:
        raise FormatError(
            f"load takes the path of a file, or XML or JSON as text, got {type(path).__name__}."
        ) from None
    except FormatError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"{os.fspath(path)!r:.200} cannot be read: {reason}.") from None


def _bytes_of(file: Path) -> bytes:
    status = file.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
        raise FormatError(
            f"{str(file)!r:.200} cannot be read: a description is a regular file of at most"
            f" {LARGEST_FILE:,} bytes."
        )
    return file.read_bytes()


def _check_options(kind: str, options: dict[str, Any]) -> None:
    require_all_known(f"option for {kind}", options, OPTIONS[kind], "load")
    options.pop("rank_tol", None)  # that of all


__all__ = ["FileSpec", "FormatError", "from_mujoco", "from_pinocchio", "load", "load_spec", "save"]
