"""What notebooks show of mechanisms, runs, linear models and mobility."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, SarrusError
from ..linearization.model import LinearModel
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.report import report
from ..projection.mobility import Mobility
from ..simulation.trajectory.trajectory import Trajectory
from . import html_blocks as html
from .pages import page_of
from .scenes.picture import picture

SIZE = (560, 380)
MOST_DRAWN = 500  # bodies above which nobody waits for a picture that was not asked for


class Animation:
    """A run that plays inside a notebook: the page of `Trajectory.export`."""

    def __init__(self, page: str, height: int) -> None:
        self._page, self._height = page, height

    def _repr_html_(self) -> str:
        return html.framed(self._page, self._height)


def animation(trajectory: Trajectory, fps: float = 30.0, *, height: int = 480, **options: Any) -> Animation:
    """A run as something that a notebook plays in place.

    Args:
        trajectory: What `sr.simulate` returned for a mechanism.
        fps: Poses per second that are kept.
        height: Of the view, in pixels.
        **options: As in `export`.
    """
    if not (isinstance(height, (int, np.integer)) and height > 0):
        raise InputError(f"height must be a number of pixels, got {height!r}.")
    return Animation(page_of(trajectory, fps, **options), int(height))


def mechanism_html(mech: Mechanism) -> str:
    """A picture and the report in words."""
    try:
        shown = small_picture(mech, SIZE, f"picture of {mech.name}")
    except SarrusError:
        shown = ""  # loops that do not close: the report says so
    return _wrapped(f"{shown}<pre>{html.text(report(mech))}</pre>")


def small_picture(mech: Mechanism, size: tuple[int, int], text: str, width: int | None = None) -> str:
    """A picture at the default pose; of very many bodies the call that paints it instead."""
    if (count := len(mech.body_names) - 1) > MOST_DRAWN:
        return html.paragraph(f"{count} bodies: sr.viz.picture(mech, path) paints them.", "small")
    return html.image(picture(mech, size=size, background="white"), text, width)


def trajectory_html(run: Trajectory) -> str:
    """How it ended, what happened, and the default plot where matplotlib is installed."""
    rows: list[tuple[str, object]] = [("ended", run.message), ("steps", len(run.t) - 1)]
    rows += [("time [s]", f"{run.t[0]:g} to {run.t[-1]:g}"), ("largest drift [m]", float(np.max(run.drift)))]
    rows += [(event.name, f"{event.t:.6g} s") for event in run.events[:10]]
    try:
        plot = html.figure(run.plot()[0].figure, "quantities over time")
    except InputError:
        plot = ""
    kind = "" if run.success else html.paragraph(run.message, "warning")
    return _wrapped(html.table(("run", ""), rows) + kind + plot)


def linear_html(model: LinearModel) -> str:
    """Sizes, states, inputs and modes."""
    rows = [("states", ", ".join(model.names)), ("inputs", ", ".join(model.inputs))]
    rows += [("outputs", ", ".join(model.outputs)), ("form", f"{model.form}, {model.method}")]
    return _wrapped(html.table(("linear model", ""), rows) + modes_table(model))


def modes_table(model: LinearModel) -> str:
    """Modes with frequency and damping."""
    rows = [
        (
            k,
            f"{mode.eigenvalue:.4g}",
            float(mode.frequency / (2.0 * np.pi)),
            float(mode.damping) + 0.0,
            mode.text,
        )
        for k, mode in enumerate(model.modes)
    ]
    return html.table(("mode", "eigenvalue [1/s]", "[Hz]", "damping ratio", "in words"), rows)


def mobility_html(mobility: Mobility) -> str:
    """Numbers, and the explanation in words."""
    if np.ndim(mobility.rank):
        return _wrapped(
            html.paragraph(f"Mobility of {np.size(mobility.rank)} poses; index it for one of them.")
        )
    rows: list[tuple[str, object]] = [("degrees of freedom", int(mobility.dof))]
    rows += [("rank of J", f"{mobility.rank} of {mobility.nc} rows"), ("by counting", int(mobility.gruebler))]
    rows += [("redundant rows", ", ".join(mobility.redundant) or "none")]
    rows += [
        ("condition", float(mobility.condition)),
        ("singular pose", "yes" if mobility.is_singular else "no"),
    ]
    return _wrapped(html.table(("mobility", ""), rows) + f"<pre>{html.text(mobility.explain())}</pre>")


def _wrapped(content: str) -> str:
    return f'<style>{html.STYLE}</style><div class="sarrus">{content}</div>'
