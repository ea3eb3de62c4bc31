"""Animate a trajectory: in a window, or into a GIF or MP4 file."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...formats.writing.replace_file import as_path, replaced
from ...simulation.trajectory.trajectory import Trajectory
from ..scenes import style
from ..scenes.scene import mechanism_of, shown_at
from .drawing import Drawing

MOST_FRAMES = 5000
WITHOUT_WINDOWS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
WRITERS = {".gif": "pillow", ".mp4": "ffmpeg"}


def animate(
    trajectory: Trajectory,
    path: str | Path | None = None,
    fps: int = 30,
    *,
    speed: float = 1.0,
    ax: Any = None,
    trace: tuple[str, Any] | None = None,
    masses: bool = True,
    dpi: int = 100,
) -> Any:
    """Show a trajectory as a moving stick figure, in real time unless told otherwise.

    Args:
        trajectory: What `sr.simulate` returned for a mechanism.
        path: File to write: "fall.gif" (written by Pillow) or "fall.mp4" (needs the program ffmpeg); default
            none, for a window: call `matplotlib.pyplot.show()` and keep the returned animation.
        fps: Pictures per second.
        speed: Seconds of motion per second of film; 0.5 is slow motion.
        ax: Axes to draw on; default new ones.
        trace: (body, point in its frame [m] (3,)): a point whose path is drawn.
        masses: Whether to mark the centres of mass.
        dpi: Pixels per inch of a file.

    Returns:
        The path of the file, or a `matplotlib.animation.FuncAnimation`.
    """
    mech, target = mechanism_of(trajectory, "animate"), _target(path)
    times = frame_times(float(trajectory.t[0]), float(trajectory.t[-1]), fps, speed)
    drawing = Drawing(mech, shown_at(trajectory, times).q, ax, masses=masses)
    picture, figure = _pictures(drawing, times, trace), drawing.ax.figure
    if target is None:
        from matplotlib.animation import FuncAnimation

        return FuncAnimation(figure, picture, frames=len(times), interval=1000.0 / fps, blit=False)
    from matplotlib.animation import writers

    writer = writers[WRITERS[target.suffix.lower()]](fps=fps)
    with replaced(target, make_folder=True) as temporary, writer.saving(figure, temporary, dpi):
        for i in range(len(times)):
            picture(i)
            writer.grab_frame()
    if ax is None:
        style.pyplot().close(figure)
    return target


def _target(path: str | Path | None) -> Path | None:
    """The file to write, checked before anything is drawn; or a backend that has windows."""
    plt = style.pyplot()
    if path is None:
        if plt.get_backend().lower() in WITHOUT_WINDOWS:
            raise InputError(
                f"no window can be opened here: the backend of matplotlib is {plt.get_backend()!r}. Write a "
                'file instead, animate("motion.gif"), or choose a backend with windows.'
            )
        return None
    target = as_path(path)
    suffix = target.suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"an animation is written as .gif or .mp4, got {str(path)!r}.")
    from matplotlib.animation import writers

    if not writers.is_available(WRITERS[suffix]):
        raise InputError(
            f"writing {str(path)!r} needs {WRITERS[suffix]}, which was not found. Install it, or write a GIF."
        )
    return target


def frame_times(first: float, last: float, fps: float, speed: float) -> Array:
    """Times of the pictures between two times [s], both included."""
    for name, value in (("fps", fps), ("speed", speed)):
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} must be a positive number, got {value!r}.")
    count = round((last - first) * fps / speed) + 1
    if count > MOST_FRAMES:
        raise InputError(
            f"{last - first:g} s at {fps:g} pictures per second and speed {speed:g} are {count} pictures,"
            f" more than {MOST_FRAMES}; raise speed, or lower fps."
        )
    return np.linspace(first, last, max(count, 2))


def _pictures(drawing: Drawing, times: Array, trace: tuple[str, Any] | None) -> Callable[[int], list[Any]]:
    """A function that shows picture number i, with the time written above it."""
    ax = drawing.ax
    drawing.fit()
    path = drawing.trace(*trace) if trace is not None else None
    clock = ax.set_title(" ")
    ax.figure.draw_without_rendering()
    ax.figure.set_layout_engine("none")  # what was laid out once stays

    def show(i: int) -> list[Any]:
        clock.set_text(f"{drawing.mech.name}   t = {times[i]:.2f} s")
        changed = [*drawing.move(i), clock]
        return [*changed, path(i)] if path is not None else changed

    return show
