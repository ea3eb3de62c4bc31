"""Plot motors and joint forces of a machine that is held, over the swept coordinate or the poses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...mechanism.query.holding import Holding
from .panels import MOST_LINES, Panel, Panels, lines


def plot(holding: Holding, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
    """Plot motors, and sizes of the forces and moments that joints carry.

    Args:
        holding: What `mech.hold` returned.
        what: "motors", "forces", "moments", or several of them; default all.
        ax: Axes for a single quantity; default new ones.

    Returns:
        The Axes of a single quantity, or an array of Axes, one per panel.
    """
    panels: dict[str, Panel] = {
        "motors": _panel(lambda h: h.motors, "motors [N m, N]"),
        "forces": _panel(lambda h: _sizes(h, slice(0, 3)), "joint forces [N]"),
        "moments": _panel(lambda h: _sizes(h, slice(3, 6)), "joint moments [N m]"),
    }
    names, _ = holding.index
    axis = names[0] if names else "pose"
    return Panels(panels, lambda _: list(panels), lambda *_: None, "motors", axis=axis).plot(
        holding, what, ax
    )


def _sizes(holding: Holding, part: slice) -> dict[str, Any]:
    return {name: np.linalg.norm(x[:, part], axis=1) for name, x in holding.reactions.items()}


def _panel(values: Callable[[Holding], dict[str, Any]], title: str) -> Panel:
    def panel(holding: Holding, ax: Any) -> None:
        found = values(holding)
        names, swept = holding.index
        x = swept.reshape(len(holding), -1)[:, 0] if names else np.arange(float(len(holding)))
        table = np.array(list(found.values())).reshape(-1, len(holding)).T
        lines(ax, x, table, list(found))
        ax.set_ylabel(title)
        if 1 < len(found) <= MOST_LINES:
            ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.03), frameon=False)

    return panel
