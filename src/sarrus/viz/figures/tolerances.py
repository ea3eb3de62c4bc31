"""A picture of a tolerance analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...design.tolerances import known_measure
from ...errors import InputError
from ..scenes import style

if TYPE_CHECKING:
    from ...design.tolerances import Tolerances

CURVES = 40  # of random mechanisms that are drawn


def draw_tolerances(found: Tolerances, measure: str, ax: Any = None) -> Any:
    """Deviations from the nominal measure (n,) over the states: random mechanisms, and two deviations (1).

    Args:
        found: result of `tolerances`.
        measure: its name.
        ax: Axes to draw into; default a new figure.

    Returns:
        The Axes.
    """
    nominal = known_measure(found.nominal, measure)
    if nominal.ndim != 1:
        raise InputError(f"measure {measure!r} has several numbers at each state; plot one that has one.")
    ax = style.given_or_new_axes(ax)
    x = np.arange(len(nominal))
    for i, row in enumerate(found.samples[measure][:CURVES] - nominal):
        ax.plot(x, row, color="0.7", lw=0.6, label="random mechanisms" if i == 0 else None)
    low, high = found.quantiles(measure) - nominal
    ax.fill_between(x, low, high, color="tab:blue", alpha=0.25, label="95 % of them")
    for sign in (-1.96, 1.96):
        label = "1.96 standard deviations, first order" if sign > 0 else None
        ax.plot(x, sign * found.deviation[measure], color="tab:red", label=label)
    ax.set_xlabel("state")
    ax.set_ylabel(f"deviation of {measure}")
    ax.legend(loc="best", fontsize="small")
    return ax
