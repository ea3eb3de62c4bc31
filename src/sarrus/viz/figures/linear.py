"""Linear models in pictures: poles in the complex plane, modes on the mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...linearization.model import LinearModel
from ..scenes import style
from .drawing import Drawing

PHASES = np.pi * np.arange(6) / 3.0  # [rad] of the cycle at which a mode is shown
# of the largest pole: what each axis shows on either side of zero, so that rounding looks like zero
LEAST = 0.02


def pole_map(model: LinearModel, ax: Any = None, *, color: Any = None) -> Any:
    """Eigenvalues in the complex plane [1/s]; those with positive real part in the colour of alarm.

    Args:
        model: The linear model.
        ax: Matplotlib axes to draw on; default new ones.
        color: Colour of the stable ones.

    Returns:
        The axes.
    """
    ax = style.given_or_new_axes(ax)
    poles = model.poles
    leaving = poles.real > 1e-9 * max(1.0, float(np.max(np.abs(poles), initial=0.0)))
    look = {"linestyle": "none", "marker": "x", "markersize": 8.0, "markeredgewidth": 1.8}
    ax.axhline(0.0, color=style.FAINT, linewidth=0.8, zorder=0.5)
    ax.axvline(0.0, color=style.FAINT, linewidth=0.8, zorder=0.5)
    for which, shade in ((~leaving, color or style.CYCLE[0]), (leaving, style.ALARM)):
        ax.plot(poles[which].real, poles[which].imag, color=shade, **look)
    ax.margins(0.15)
    least = LEAST * float(np.max(np.abs(poles[np.isfinite(poles)]), initial=1e-3))
    for see, rim in ((ax.set_xlim, ax.get_xlim()), (ax.set_ylim, ax.get_ylim())):
        see(min(rim[0], -least), max(rim[1], least))
    ax.set(xlabel="real part [1/s]", ylabel="imaginary part [rad/s]")
    ax.set_title(f"Poles of {model.mechanism.name}")
    return ax


def mode_shape(model: LinearModel, which: int = 0, ax: Any = None, *, amplitude: float = 0.25) -> Any:
    """A mode on the mechanism: poses of one cycle, faint, about the state of the model.

    Args:
        model: The linear model.
        which: Number of the mode in `model.modes`.
        ax: Matplotlib axes to draw on; default new ones.
        amplitude: Of the coordinate that moves most [rad], or times L [m].

    Returns:
        The axes.
    """
    poses = model.mode_poses(which, PHASES, amplitude)
    for q in poses:
        ax = Drawing(model.mechanism, q, ax, color=style.FAINT, alpha=0.5, masses=False).ax
    ax = Drawing(model.mechanism, model.point.q, ax).ax
    ax.set_title(f"Mode {which}: {model.modes[which].text}")
    return ax
