"""Quantities over time, one panel each: what plots of trajectories and of controllers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, unknown_name
from . import style

MOST_LINES = 12  # above this many lines a legend helps nobody
Panel = Callable[[Any, Any], None]  # draws one quantity of a source on axes


@dataclass(frozen=True)
class Panels:
    """The panels of one kind of source.

    Attributes:
        panels: How each quantity is drawn, by name.
        default: Which of them a source gets where none is asked for.
        mark: Draws on every panel what happened during the run.
        example: A quantity, for a message.
    """

    panels: Mapping[str, Panel]
    default: Callable[[Any], Sequence[str]]
    mark: Panel
    example: str

    def plot(self, source: Any, what: str | Sequence[str] | None, ax: Any) -> Any:
        """The Axes of a single quantity, or an array of Axes, one per panel, all over the same time."""
        if not isinstance(what, str) and ax is not None:
            raise InputError(
                f'plot takes ax for a single quantity only, such as plot("{self.example}", ax=ax).'
            )
        wanted = [what] if isinstance(what, str) else list(self.default(source) if what is None else what)
        for name in wanted:
            if name not in self.panels:
                raise unknown_name("quantity", name, self.panels, "plot")
        if not wanted:
            raise InputError(f"nothing to plot: name at least one of {', '.join(map(repr, self.panels))}.")
        if isinstance(what, str):
            axes = [style.new_axes() if ax is None else ax]
        else:
            figure = style.pyplot().figure(figsize=(8.0, 1.2 + 1.7 * len(wanted)), layout="constrained")
            axes = figure.subplots(len(wanted), sharex=True, squeeze=False)[:, 0]
        for one, name in zip(axes, wanted, strict=True):
            self.panels[name](source, one)
            self.mark(source, one)
            one.margins(x=0.01)
            one.grid(True, linewidth=0.4, alpha=0.5)
        axes[-1].set_xlabel("t [s]")
        return axes[0] if isinstance(what, str) else axes


def lines(ax: Any, t: Array, values: Array, names: Sequence[str], **look: Any) -> None:
    """One line over time for each column of values."""
    for i, (column, name) in enumerate(zip(np.transpose(values), names, strict=True)):
        color = style.cycle(i)
        ax.plot(t, column, label=name, **{"color": color, "linewidth": 1.2, **look})
