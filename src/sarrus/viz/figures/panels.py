"""Quantities over time, one panel each: what plots of trajectories, sweeps and controllers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError, require_all_known
from ..scenes import style

MOST_LINES = 12  # above this many lines a legend helps nobody
NAMED = 8  # lines of a stack that keep colour and name: those that vary most
Panel = Callable[[Any, Any], None]  # draws one quantity of a source on axes


@dataclass(frozen=True)
class Panels:
    """The panels of one kind of source.

    Attributes:
        panels: How each quantity is drawn, by name.
        default: Which of them a source gets where none is asked for.
        mark: Draws on every panel what happened during the run.
        example: A quantity, for a message.
        split: Panels that a quantity becomes where there is room, one for each unit; default itself.
        axis: What it is all plotted over.
    """

    panels: Mapping[str, Panel]
    default: Callable[[Any], Sequence[str]]
    mark: Panel
    example: str
    split: Callable[[Any, str], Sequence[Panel]] | None = None
    axis: str = "t [s]"

    def plot(self, source: Any, what: str | Sequence[str] | None, ax: Any) -> Any:
        """The Axes of a single quantity, or an array of Axes, one per panel, all over the same time."""
        if not isinstance(what, str) and ax is not None:
            raise InputError(
                f'plot takes ax for a single quantity only, such as plot("{self.example}", ax=ax).'
            )
        wanted = [what] if isinstance(what, str) else list(self.default(source) if what is None else what)
        require_all_known("quantity", wanted, self.panels, "plot")
        if not wanted:
            raise InputError(f"nothing to plot: name at least one of {', '.join(map(repr, self.panels))}.")
        if isinstance(what, str):
            drawn, axes = [self.panels[what]], [style.given_or_new_axes(ax)]
        else:
            split = self.split or (lambda source, name: [self.panels[name]])
            drawn = [panel for name in wanted for panel in split(source, name)]
            figure = style.pyplot().figure(figsize=(8.0, 1.2 + 1.7 * len(drawn)), layout="constrained")
            axes = figure.subplots(len(drawn), sharex=True, squeeze=False)[:, 0]
        for one, panel in zip(axes, drawn, strict=True):
            panel(source, one)
            self.mark(source, one)
            one.margins(x=0.01)
            one.grid(True, linewidth=0.4, alpha=0.5)
        axes[-1].set_xlabel(self.axis)
        return axes[0] if isinstance(what, str) else axes


def lines(ax: Any, t: Array, values: Array, names: Sequence[str], **look: Any) -> None:
    """One line over time for each column of values; of many, those that vary most in colour, others faint."""
    columns = np.transpose(values)
    if len(columns) > MOST_LINES:
        spread = np.nanmax(columns, axis=1) - np.nanmin(columns, axis=1)
        order = np.argsort(-np.where(np.isfinite(spread), spread, -1.0), kind="stable")
        shown, rest = sorted(order[:NAMED].tolist()), sorted(order[NAMED:].tolist())
        for k, i in enumerate(rest):
            label = f"{len(rest)} more" if k == 0 else f"_{names[i]}"
            ax.plot(
                t, columns[i], label=label, **{**look, "color": style.FAINT, "linewidth": 0.6, "alpha": 0.6}
            )
    else:
        shown = list(range(len(columns)))
    for k, i in enumerate(shown):
        ax.plot(t, columns[i], label=names[i], **{"color": style.cycle(k), "linewidth": 1.2, **look})
