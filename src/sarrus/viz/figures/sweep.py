"""Plot a sweep over the swept coordinate, and the curves that points draw along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...models.tables import position_names
from ...projection.sweep import Sweep, measures_of, mechanism_of
from ..scenes import style
from .drawing import Drawing
from .panels import MOST_LINES, Panel, Panels, lines


def plot(sweep: Sweep, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
    """Plot positions and measures of a sweep over the swept coordinate, singular poses marked.

    Of several coordinates that moved together the first one is the axis.

    Args:
        sweep: One path, what `mech.sweep` returned; of a batch choose one, `sweep[i]`.
        what: "q", the name of a measure, or several of them; default all measures, "q" where there are none.
        ax: Axes for a single quantity; default new ones.

    Returns:
        The Axes of a single quantity, or an array of Axes, one per panel.
    """
    mech = _mechanism(sweep, "plot")
    panels = {name: _measure(name) for name in measures_of(sweep)} | {"q": _positions}
    default = [name for name in panels if name != "q"] or ["q"]
    name = sweep.names[0]
    unit = "rad" if mech.model.structure.tree.coordinate_is_angle[mech.names.index(name)] else "m"
    kind = Panels(panels, lambda _: default, _mark_singular, default[0], axis=f"{name} [{unit}]")
    return kind.plot(sweep, what, ax)


def plot_curve(sweep: Sweep, body: str, point: npt.ArrayLike | str = (0.0, 0.0, 0.0), ax: Any = None) -> Any:
    """Draw the mechanism at the first pose of a sweep, and the path of a point of a body.

    Args:
        sweep: One path.
        body, point: As in `Sweep.curve`.
        ax: Axes; default new ones.

    Returns:
        The axes.
    """
    mech = _mechanism(sweep, "plot_curve")
    picture = Drawing(mech, sweep.q, ax)
    curve = sweep.curve(body, point)
    shown = picture.plane.project(curve) if picture.flat and picture.plane is not None else curve
    picture.ax.plot(*shown.T, color=style.CYCLE[1], linewidth=1.4)
    picture.ax.autoscale_view()
    return picture.ax


def _mechanism(sweep: Sweep, verb: str) -> Any:
    if sweep.q.ndim != 2 or not len(sweep.q):
        raise InputError(
            f"{verb} shows one path with at least one pose, got poses of shape {sweep.q.shape}; choose one of"
            " a batch: sweep[i]."
        )
    return mechanism_of(sweep)


def _x(sweep: Sweep) -> Any:
    return sweep.values.reshape(len(sweep.q), -1)[:, 0]


def _measure(name: str) -> Panel:
    """A panel for a measure: a line for each entry."""

    def panel(sweep: Sweep, ax: Any) -> None:
        one = measures_of(sweep)[name]
        values = sweep[name].reshape(len(sweep.q), -1)
        width = values.shape[1]
        names = one.columns if len(one.columns) == width else [f"{name}[{i}]" for i in range(width)]
        _lines(ax, sweep, values, names, f"{name} [{one.unit}]" if one.unit else name)

    return panel


def _positions(sweep: Sweep, ax: Any) -> None:
    _lines(ax, sweep, sweep.q, position_names(mechanism_of(sweep).model), "q [rad, m]")


def _lines(ax: Any, sweep: Sweep, values: Any, names: Sequence[str], title: str) -> None:
    lines(ax, _x(sweep), values, names)
    ax.set_ylabel(title)
    if 1 < len(names) <= MOST_LINES:
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.03), frameon=False)


def _mark_singular(sweep: Sweep, ax: Any) -> None:
    for x in _x(sweep)[np.asarray(sweep.singular)]:
        ax.axvline(x, **style.SINGULAR)
