"""Colours, line widths and markers, in one place so that all pictures look alike."""

from __future__ import annotations

from typing import Any

from ...errors import InputError

# Told apart by most colour-blind readers and in grey print.
CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6d5f", "#9467bd")
INK = "#333333"
CONTACT = "#c0392b"  # points where surfaces touch
FAINT = "#9a9a9a"
ALARM = "#c1121f"

LINK = {"linewidth": 5.0, "solid_capstyle": "round", "solid_joinstyle": "round"}
CENTRE_LINE = {"linewidth": 0.7, "color": "#00000066", "linestyle": (0, (10, 3, 2, 3))}
TRIAD = ("#d62728", "#2ca02c", "#1f77b4")
ROD = {"linewidth": 1.6, "color": INK}
SPRING = {"linewidth": 1.2, "color": INK}
RAIL = {"linewidth": 1.0, "color": FAINT, "linestyle": (0, (6, 3))}
TRACE = {"linewidth": 1.0, "color": ALARM, "zorder": 2.8}
PIN: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6.0, "markerfacecolor": "white"}
SUPPORT = {"linestyle": "none", "markersize": 22.0, "markerfacecolor": "none", "markeredgewidth": 1.1}
SINGULAR = {"color": ALARM, "linewidth": 1.0, "linestyle": (0, (4, 2)), "zorder": 0.5}
TROUBLE = {"color": ALARM, "linewidth": 0, "alpha": 0.12}
EVENT = {"color": INK, "linewidth": 1.0, "linestyle": (0, (1, 2)), "zorder": 0.5}


def cycle(i: int) -> str:
    """Colour number i, from the start again after the last one."""
    return CYCLE[i % len(CYCLE)]


def support_marker() -> Any:
    """A pin's stand: a triangle on hatched ground, its tip at the pin."""
    from matplotlib.path import Path

    base, half = -0.55, 0.36
    strokes = [[(0.0, 0.0), (-half, base), (half, base), (0.0, 0.0)], [(-0.55, base), (0.55, base)]]
    strokes += [[(x, base), (x - 0.18, base - 0.2)] for x in (-0.35, -0.1, 0.15, 0.4)]
    return Path.make_compound_path(*(Path(stroke) for stroke in strokes))


def mass_marker() -> Any:
    """The two dark quarters of the sign for a centre of mass."""
    from matplotlib.path import Path

    return Path.make_compound_path(Path.wedge(0, 90), Path.wedge(180, 270))


def pyplot() -> Any:
    """matplotlib.pyplot, imported when something is drawn; without a display it draws into memory."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError(
            "drawing needs the package matplotlib, which is not installed. Install it with: "
            "pip install 'sarrus[viz]'."
        ) from None
    return pyplot


def given_or_new_axes(ax: Any, **subplot: Any) -> Any:
    """The axes that a user gave; new ones for None."""
    if ax is None:
        return new_axes(**subplot)
    if not (hasattr(ax, "add_artist") and hasattr(ax, "plot")):
        raise InputError(f"ax must be Axes of matplotlib, such as plt.subplots()[1], got {ax!r:.80}.")
    return ax


def new_axes(**subplot: Any) -> Any:
    """Axes on a new figure of pyplot, which opens no window before `plt.show()`."""
    return pyplot().figure(layout="constrained").add_subplot(**subplot)
