"""A studio: one HTML file in which a mechanism can be taken with the hand; it holds the kernel."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, state
from ..errors import InputError, warn
from ..formats.writing.replace_file import as_path, replace_bytes
from ..mechanism.mechanism import Mechanism
from ..models.binary_table import layout_text
from ..simulation.trajectory.trajectory import Trajectory
from .pages import PAGE
from .scenes.scene import mechanism_of, shown_at
from .scenes.view import find_plane
from .studio_data import (
    as_json,
    checked,
    drive_table,
    kernel_table,
    mechanism_data,
    motors_hold,
    packed,
    reachable,
    scene,
    zipped,
)
from .studio_edit import edit_data
from .studio_stops import parameter_stops

STUDIO = Path(__file__).parent / "studio"
KERNEL = STUDIO / "kernel.wasm"  # compiled by bindings/wasm/build.py
DRAWING = ("linear", "meshes", "painter", "film", "camera")  # scripts of the exported page
SCRIPTS = (
    *(
        "dom",
        "kernel",
        "measures",
        "analysis",
        "tangent_cone",
        "approach",
        "history",
        "scene",
        "hand",
        "ghosts",
        "strips",
        "share",
        "model",
    ),
    *(
        "table",
        "description",
        "links",
        "edits",
        "sketch",
        "program",
        "editor",
        "panels",
        "main",
        "singular_poses",
        "loads",
        "controls",
    ),
)
MOST_BYTES = 100_000  # of a run: times and positions as doubles, velocities as floats
DRIVEN_FOR = 30.0  # [s] for which drives are recorded


def studio(
    shown: Mechanism | Trajectory,
    path: str | Path,
    *,
    q: npt.ArrayLike | None = None,
    title: str | None = None,
    caption: str = "",
    parameters: Mapping[str, Any] | None = None,
    shapes: Mapping[str, npt.ArrayLike] | None = None,
    thickness: float | None = None,
) -> Path:
    """Write a page in which the mechanism is dragged, simulated and analysed, offline in any browser.

    Any point of any body follows the mouse or the finger: along the constraints (the nearest motion in the
    mass metric, within the limits of coordinates), or pulled by a spring while the page simulates. The page
    holds the kernel of sarrus as WebAssembly and sends no request.

    Args:
        shown: A `Mechanism`, or a run of one, which the page plays and continues from any of its states.
        path: File to write, "mechanism.html".
        q: Pose to start from (nq,), for a mechanism; default `default.q`. It is put onto the constraints.
        title: Written above; default the name of the mechanism.
        caption: Written below the title.
        parameters: Ranges {name: (low, high)} of the parameters that get sliders; default all, 30 % to both
            sides. The page holds the mechanism as compiled at each stop of a slider.
        shapes: Edges (3,) [m] of a cuboid around the centre of mass, by body, as in `export`.
        thickness: Of bars [m]; default from the length of the mechanism.

    Returns:
        The path of the file.

    Raises:
        InputError: rows of the mechanism are Python functions (CustomConstraint, PolynomialCoupling), or
            this installation has no kernel for studios.
    """
    target = as_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a studio is written as .html, got {str(path)!r}.")
    mech = checked(shown if isinstance(shown, Mechanism) else mechanism_of(shown, "studio"))
    run = None if isinstance(shown, Mechanism) else _run(shown)
    if run is not None and q is not None:
        raise InputError("studio takes q for a mechanism only: a run has its own poses.")
    if mech.model.contacts:
        warn(f"studio of {mech.name!r}: surfaces do not touch in the page; they go through each other.")
    t, poses, speeds = run if run is not None else _start(mech, q)
    name = mech.name if title is None else title
    data = {
        "title": name,
        "caption": caption,
        "q": poses[0].tolist(),
        "v": speeds[0].tolist(),
        "t": float(t[0]),
    }
    data |= mechanism_data(mech, poses[0])
    data |= {"holds": motors_hold(mech), "weightless": bool(mech.model.contacts)}
    edit = edit_data(mech, find_plane(mech, poses[0]))
    data["edit"] = None if edit is None else zipped(as_json(edit).encode())
    around = reachable(mech, poses[0]) if run is None else poses[:: max(1, len(poses) // 40)]
    film = scene(mech, around, shapes, thickness)
    data["film"] = zipped(as_json(film).encode())
    data["table"] = zipped(kernel_table(mech))
    data["drives"] = drive_table(mech, float(t[0]), max(DRIVEN_FOR, float(t[-1] - t[0])))
    data["stops"] = parameter_stops(mech, parameters, (film, shapes, thickness))
    data["run"] = None if run is None else {"t": packed(t), "q": packed(poses), "v": packed(speeds, "<f4")}
    return replace_bytes(target, _page(name, data).encode("utf-8", errors="replace"), make_folder=True)


def _start(mech: Mechanism, q: npt.ArrayLike | None) -> tuple[Array, Array, Array]:
    """Time, pose and velocity to start from, each with one entry."""
    if q is None:
        return np.zeros(1), np.array(mech.default.q)[None], np.array(mech.default.v)[None]
    pose = mech.project(state(q, "q", mech.nq)).q
    return np.zeros(1), pose[None], np.zeros((1, mech.nv))


def _run(run: Trajectory) -> tuple[Array, Array, Array]:
    """Times, poses and velocities of a run, at equal steps where it has too many states."""
    most = MOST_BYTES // (8 + 8 * run.q.shape[1] + 4 * run.v.shape[1])
    if len(run.t) <= most:
        return np.array(run.t), np.array(run.q), np.array(run.v)
    t = np.linspace(run.t[0], run.t[-1], most)
    found = shown_at(run, t)
    return t, np.array(found.q), np.array(found.v)


@cache
def _script() -> str:
    files = [PAGE / f"{name}.js" for name in DRAWING] + [STUDIO / f"{name}.js" for name in SCRIPTS]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return '"use strict";\n' + re.sub(r"(?m)^[ \t]+", "", re.sub(r"(?m)^[ \t]*//.*\n", "", text))


def check_kernel(module: bytes) -> None:
    """InputError for a kernel of other sources than the compiled one: it would read tables wrongly."""
    found = re.search(rb"sarrus layout: [\w ]*", module)
    theirs, mine = found.group().decode().split() if found else [], layout_text().split()
    if theirs != mine:
        other = ", ".join(sorted(set(mine) ^ set(theirs))) or "their order"
        raise InputError(
            "kernel.wasm, the kernel of studios, and the kernel of Python were compiled from different"
            f" sources (different: {other}). In a clone `make wasm` compiles the first, `make setup` both."
        )


@cache
def _kernel() -> str:
    if not KERNEL.is_file():
        raise InputError(
            "kernel.wasm, the kernel of studios, is missing in this installation. Wheels and sdists have it;"
            " in a clone `make wasm` compiles it, with the package ziglang."
        )
    module = KERNEL.read_bytes()
    check_kernel(module)
    return zipped(module)


def _hash(text: str) -> str:
    """A source of a content policy: the script or style of exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _page(title: str, data: dict[str, Any]) -> str:
    """The template with data, style and scripts in it; nothing in the data can end its element."""
    style = (STUDIO / "studio.css").read_text(encoding="utf-8")
    parts = {"@TITLE@": html.escape(title), "@DATA@": as_json(data | {"kernel": _kernel()})}
    parts |= {"@STYLE@": style, "@STYLE_HASH@": _hash(style)}
    parts |= {"@SCRIPT@": _script(), "@SCRIPT_HASH@": _hash(_script())}
    page = (STUDIO / "studio.html").read_text(encoding="utf-8")
    return re.sub("|".join(parts), lambda found: parts[found.group()], page)
