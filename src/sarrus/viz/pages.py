"""A mechanism or a trajectory as one HTML file that any browser plays, without a server or a network."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import state
from ..errors import InputError, require_all_known
from ..formats.writing.replace_file import as_path, replace_bytes
from ..mechanism.mechanism import Mechanism
from ..simulation.trajectory.trajectory import Trajectory
from .figures.animation import frame_times
from .page_data import Film
from .scenes.scene import mechanism_of

PAGE = Path(__file__).parent / "page"
OPTIONS: dict[str, Any] = {
    "q": None, "title": None, "caption": None, "forces": True, "loads": True, "ground": True, "frames": False,
    "shapes": None, "thickness": None, "trace": None, "arrows": None, "charts": None,
}  # fmt: skip
SCRIPTS = ("linear", "meshes", "painter", "film", "camera", "player")


def export(
    shown: Mechanism | Trajectory | Sequence[Trajectory],
    path: str | Path,
    fps: float = 30.0,
    *,
    q: npt.ArrayLike | None = None,
    title: str | None = None,
    caption: str | None = None,
    forces: bool = True,
    loads: bool = True,
    ground: bool = True,
    frames: bool = False,
    shapes: Mapping[str, npt.ArrayLike] | None = None,
    thickness: float | None = None,
    trace: tuple[str, npt.ArrayLike] | None = None,
    arrows: Mapping[str, tuple[str, npt.ArrayLike, npt.ArrayLike]] | None = None,
    charts: Mapping[str, Mapping[str, npt.ArrayLike]] | None = None,
) -> Path:
    """Write a page that shows a mechanism, or plays a trajectory, in three dimensions.

    The file holds everything it needs and opens from the disk. One can turn it with the mouse, play it at any
    speed and drag its time; `page.html#t=1.5` opens it at a time, `#theme=dark` on dark ground, `#bare`
    without titles and buttons.

    Args:
        shown: A `Mechanism`, or what `sr.simulate` returned for one; or several runs, each from where the one
            before ended, of mechanisms that differ in their masses, forces or constraints only.
        path: File to write, "motion.html".
        fps: Poses per second that are kept; what lies between is interpolated.
        q: Pose (nq,), for a mechanism; default `default.q`.
        title: Written above; default the name of the mechanism.
        caption: Written below the title; default nothing or, of a run that failed, why.
        forces: Whether to show the forces that loops exert on the first of their two bodies, and those of
            surfaces that touch on the second one, as arrows that end where they act; of least norm where
            constraints are redundant.
        loads: Whether to show the forces and moments that the mechanism is declared with.
        ground, frames: Whether the page opens with the floor, and with the axes of all bodies (x red, y
            green, z blue); keys on the page change both.
        shapes: Edges (3,) [m] of a cuboid around the centre of mass, by body; default the shapes of the
            description, the cuboid of equal inertia for Free bodies, links between joints for all others.
        thickness: Of bars [m]; default from the length of the mechanism.
        trace: (body, point in its frame [m] (3,)): a point whose path is drawn.
        arrows: More forces: {name: (body, point in its frame [m] (3,), forces in world axes at
            `trajectory.t` [N] (nt, 3))}.
        charts: Curves below the view: {title: {name: values at `trajectory.t` (nt,)}}; a name that ends in
            "--" is drawn dashed.

    Returns:
        The path of the file.
    """
    target = as_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a page is written as .html, got {str(path)!r}; animate() writes .gif and .mp4.")
    given: dict[str, Any] = {
        "q": q,
        "title": title,
        "caption": caption,
        "forces": forces,
        "loads": loads,
        "ground": ground,
    }
    given |= {"frames": frames, "shapes": shapes, "thickness": thickness, "trace": trace, "arrows": arrows}
    page = page_of(shown, fps, charts=charts, **given)
    return replace_bytes(target, page.encode("utf-8", errors="replace"), make_folder=True)


def page_of(shown: Any, fps: float, **options: Any) -> str:
    """The text of the page that `export` writes, with its options."""
    given: dict[str, Any] = {**OPTIONS, **options}
    require_all_known("option", given, OPTIONS, "a page")
    thickness = given["thickness"]
    if thickness is not None and not (math.isfinite(thickness) and thickness > 0.0):
        raise InputError(f"thickness must be a positive length, got {thickness!r}.")
    runs: list[Trajectory] = []
    if isinstance(shown, Mechanism):
        film = _still(shown, given)
    else:
        runs = _runs(shown, given["q"])
        film = _moving(runs, fps, given)
    if given["loads"]:
        film.given_loads()
    failed = next((run.message for run in runs if not run.success), "")
    name = film.mech.name if given["title"] is None else given["title"]
    data = film.data(name, failed if given["caption"] is None else given["caption"])
    return _page(name, data | {"ground": bool(given["ground"]), "frames": bool(given["frames"])})


def _still(mech: Mechanism, given: dict[str, Any]) -> Film:
    """One pose of a mechanism."""
    if given["arrows"] or given["charts"] or given["trace"]:
        raise InputError("arrows, charts and trace need a trajectory: a mechanism stands still.")
    pose = mech.default.q if given["q"] is None else state(given["q"], "q", mech.nq)
    return Film(mech, np.zeros(1), np.atleast_2d(pose), given["shapes"], given["thickness"])


def _moving(runs: list[Trajectory], fps: float, given: dict[str, Any]) -> Film:
    """Runs one behind the other, with what is drawn along them."""
    film = _played(runs, fps, given["shapes"], given["thickness"])
    t = np.concatenate([run.t for run in runs])
    if given["forces"]:
        film.contact_forces(runs)
        film.surface_forces(runs)
    film.more_arrows(t, given["arrows"] or {})
    film.charts(t, given["charts"] or {})
    if given["trace"] is not None:
        film.trace(*given["trace"])
    return film


def _runs(shown: Any, q: Any) -> list[Trajectory]:
    """One run or several, checked."""
    runs = list(shown) if isinstance(shown, (list, tuple)) and len(shown) else [shown]
    bodies = [mechanism_of(run, "export").body_names for run in runs]
    if q is not None:
        raise InputError("export takes q for a mechanism only: a trajectory has its own poses.")
    for before, run, names in zip(runs, runs[1:], bodies[1:], strict=False):
        if names != bodies[0]:
            raise InputError("runs on one page need the same bodies in the same order.")
        if not abs(run.t[0] - before.t[-1]) <= 1e-9 * max(1.0, abs(before.t[-1])):
            raise InputError(
                f"runs on one page follow each other: one ends at {before.t[-1]:g} s, the next begins at"
                f" {run.t[0]:g} s."
            )
    return runs


def _played(runs: list[Trajectory], fps: float, shapes: Any, thickness: float | None) -> Film:
    """Poses at equal steps of time through all runs."""
    times = frame_times(float(runs[0].t[0]), float(runs[-1].t[-1]), fps, 1.0)
    which = np.clip(np.searchsorted([run.t[0] for run in runs], times, side="right") - 1, 0, None)
    q = np.concatenate([run.at(times[which == k]).q for k, run in enumerate(runs) if np.any(which == k)])
    return Film(mechanism_of(runs[0], "export"), times, q, shapes, thickness)


def _page(title: str, data: dict[str, Any]) -> str:
    """The template with data and scripts in it; nothing in the data can end its element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    script = "\n".join((PAGE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    parts = {"@TITLE@": html.escape(title), "@SCRIPT@": script, "@DATA@": text}
    return re.sub("|".join(parts), lambda found: parts[found.group()], page)
