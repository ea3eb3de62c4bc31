"""Plot a controller's history over time: references, errors, torques in their two parts, forces, limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..scenes import style
from .panels import Panel, Panels, lines

ROUNDING = 1e-9  # parts below this share of the largest torque are zero


def plot_control(history: Any, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
    """Plot what a controller did, one panel for each quantity.

    Args:
        history: what `controller.history(trajectory)` returned.
        what: any of "outputs", "errors", "torques", "tangent", "normal", "forces", "limits", "norm";
            default outputs, errors, both parts of the torques, forces and limits, those that exist.
        ax: Axes for a single quantity; default new ones.

    Returns:
        The Axes of a single quantity, or an array of Axes, one per panel.
    """
    return CONTROL.plot(history, what, ax)


def _default(history: Any) -> list[str]:
    forces = ["forces"] if history.lam.size else []
    return ["outputs", "errors", "tangent", "normal", *forces, *(["limits"] if history.margins else [])]


def _mark_trouble(history: Any, ax: Any) -> None:
    """A shade where limits could not be kept or a step failed."""
    bad = np.asarray(history.status) < 0
    if bad.any():
        rim = ax.get_xaxis_transform()
        ax.fill_between(history.t, 0.0, 1.0, where=bad, transform=rim, **style.TROUBLE)


def _legend(ax: Any, count: int) -> None:
    if count >= 1:
        ax.legend(fontsize=8, ncols=min(count, 4), loc="upper right", framealpha=0.8)


def _outputs(history: Any, ax: Any) -> None:
    lines(ax, history.t, history.outputs, history.task_names)
    hidden = [f"_{name} desired" for name in history.task_names]
    lines(ax, history.t, history.desired, hidden, color=style.INK, linestyle=(0, (4, 3)), linewidth=0.9)
    ax.set_ylabel("outputs, dashed:\nreferences")
    _legend(ax, len(history.task_names))


def _errors(history: Any, ax: Any) -> None:
    lines(ax, history.t, history.errors, history.task_names)
    ax.set_ylabel("errors [m, rad]")


def _torque(part: str, title: str) -> Panel:
    """A panel of generalized forces, those coordinates only that have any."""

    def panel(history: Any, ax: Any) -> None:
        values, size = getattr(history, part), float(np.nanmax(np.abs(history.tau), initial=0.0))
        values = np.where(np.abs(values) < ROUNDING * size, 0.0, values)
        used = np.flatnonzero(np.nanmax(np.abs(history.tau), axis=0) > 0.0)
        lines(ax, history.t, values[:, used], [history.coordinate_names[i] for i in used])
        ax.set_ylabel(title)
        _legend(ax, len(used))

    return panel


def _forces(history: Any, ax: Any) -> None:
    lines(ax, history.t, history.lam, history.row_names)
    ax.set_ylabel("multipliers [N, N m]")
    _legend(ax, len(history.row_names))


def _limits(history: Any, ax: Any) -> None:
    lines(ax, history.t, np.array(list(history.margins.values())).T, list(history.margins))
    ax.axhline(0.0, color=style.ALARM, linewidth=1.0)
    ax.set_ylabel("margin to limits\n[N, N m]")
    _legend(ax, len(history.margins))


def _norm(history: Any, ax: Any) -> None:
    ax.plot(history.t, history.torque_norm, color=style.CYCLE[0], linewidth=1.2)
    ax.set_ylabel("|u| [N m, N]")


PANELS = {
    "outputs": _outputs,
    "errors": _errors,
    "torques": _torque("tau", "torques [N m, N]"),
    "tangent": _torque("tau_tangent", "tangent torques\n[N m, N]"),
    "normal": _torque("tau_normal", "normal torques\n[N m, N]"),
    "forces": _forces,
    "limits": _limits,
    "norm": _norm,
}
CONTROL = Panels(PANELS, _default, _mark_trouble, example="errors")
