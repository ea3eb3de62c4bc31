"""Plot a trajectory over time: states, energy, drift, singular values, forces, with its events marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..mechanism.measures import Measure
from ..mechanism.mechanism import Mechanism
from ..simulation.trajectory.trajectory import Trajectory
from . import style
from .panels import MOST_LINES, Panel, Panels, lines

LEAST = 1e-17  # what zero looks like on a logarithmic axis
DEFAULT = ("q", "energy", "drift", "singular_values", "constraint_force")


def plot(trajectory: Trajectory, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
    """Plot a trajectory, one panel for each quantity, all over the same time.

    Args:
        trajectory: What `sr.simulate` returned.
        what: One of "q", "v", "a", "u", "lam", "constraint_force", "energy", "drift", "singular_values",
            "rank", the name of a measure, or several of them; default positions, energy, drift, singular
            values and constraint forces, those that exist.
        ax: Axes for a single quantity; default new ones.

    Returns:
        The Axes of a single quantity, or an array of Axes, one per panel.
    """
    measures = trajectory.system.model.measures if isinstance(trajectory.system, Mechanism) else ()
    panels = {name: _measure(name, one) for name, one in measures} | PANELS
    return replace(TRAJECTORY, panels=panels).plot(trajectory, what, ax)


def mechanism_of(trajectory: Any, verb: str) -> Mechanism:
    """The mechanism of a trajectory, or an error that says what cannot be drawn without one."""
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"{verb} needs a Mechanism or a Trajectory, got {type(trajectory).__name__}.")
    if not isinstance(trajectory.system, Mechanism):
        raise InputError(
            f"{verb} needs bodies to draw, and this trajectory is of"
            f" {'an unknown system' if trajectory.system is None else repr(trajectory.system)}; use plot()."
        )
    return trajectory.system


def _default(trajectory: Trajectory) -> list[str]:
    """Those of DEFAULT that exist."""
    system = trajectory.system
    known = ("q", "drift") if system is None else DEFAULT if system.nc > 0 else ("q", "energy")
    return [name for name in DEFAULT if name in known]


def mark_events(trajectory: Trajectory, ax: Any) -> None:
    """A line at the time of every event: dashed red for singular poses, dotted grey for the user's own."""
    for event in trajectory.events:
        look = style.SINGULAR if event.kind == "singular" else style.EVENT
        ax.axvline(event.t, label=f"_{event.name}", **look)


# ---------------------------------------------------------------------- panels


def _lines(ax: Any, t: Array, values: Array, names: Sequence[str], title: str) -> None:
    lines(ax, t, values, names)
    ax.set_ylabel(title)
    if 1 < len(names) <= MOST_LINES:
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.03), frameon=False)


def _field(name: str, title: str, owner: str) -> Panel:
    """A panel for one array of the trajectory; an attribute of the system names its columns."""

    def panel(trajectory: Trajectory, ax: Any) -> None:
        values = getattr(trajectory, name)
        nameless = [f"{name}[{i}]" for i in range(values.shape[1])]
        names = nameless if trajectory.system is None else getattr(trajectory.system, owner)
        _lines(ax, trajectory.t, values, names, title)

    return panel


def _measure(name: str, measure: Measure) -> Panel:
    """A panel for a measure: a line for each entry."""

    def panel(trajectory: Trajectory, ax: Any) -> None:
        values = trajectory[name].reshape(len(trajectory.t), -1)
        width = values.shape[1]
        names = measure.columns if len(measure.columns) == width else [f"{name}[{i}]" for i in range(width)]
        _lines(ax, trajectory.t, values, names, f"{name} [{measure.unit}]" if measure.unit else name)

    return panel


def _positions(trajectory: Trajectory, ax: Any) -> None:
    """Angles and displacements under their names, quaternions and free positions under their index."""
    names = [f"q[{i}]" for i in range(trajectory.q.shape[1])]
    if trajectory.system is not None:
        model = trajectory.system.model
        for name, i in zip(model.coordinate_names, model.coordinate_q, strict=True):
            if i >= 0:
                names[i] = name
    _lines(ax, trajectory.t, trajectory.q, names, "q [rad, m]")


def _energy(trajectory: Trajectory, ax: Any) -> None:
    change = trajectory.energy - trajectory.energy[0]
    _lines(ax, trajectory.t, change[:, None], ["energy"], "energy since start [J]")


def _drift(trajectory: Trajectory, ax: Any) -> None:
    """As dots: rounding errors jump from step to step."""
    both = {"phi [m]": trajectory.drift, "J v - b [m/s]": trajectory.velocity_drift}
    for color, (name, values) in zip(style.CYCLE, both.items(), strict=False):
        ax.plot(trajectory.t, np.maximum(values, LEAST), ".", markersize=1.5, color=color, label=name)
    ax.set(ylabel="drift", yscale="log")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.03), frameon=False, markerscale=4)


def _singular_values(trajectory: Trajectory, ax: Any) -> None:
    """At the stored times and at the singular poses between them, where the smallest all but vanishes."""
    poses = [event for event in trajectory.events if event.kind == "singular"]
    t = np.append(trajectory.t, [event.t for event in poses])
    values = np.concatenate([trajectory.singular_values, *(event.singular_values[None] for event in poses)])
    order = np.argsort(t, kind="stable")
    names = [f"s{i + 1}" for i in range(values.shape[1])]
    _lines(ax, t[order], np.maximum(values[order], LEAST), names, "singular values of J")
    ax.set_yscale("log")


def _rank(trajectory: Trajectory, ax: Any) -> None:
    ax.step(trajectory.t, trajectory.rank, where="post", color=style.CYCLE[0], linewidth=1.2)
    ax.set_ylabel("rank of J")
    ax.yaxis.get_major_locator().set_params(integer=True)


PANELS = {
    "q": _positions,
    "v": _field("v", "v [rad/s, m/s]", "names"),
    "a": _field("a", "a [rad/s$^2$, m/s$^2$]", "names"),
    "u": _field("u", "u [N m, N]", "actuators"),
    "lam": _field("lam", "multipliers [N, N m]", "row_names"),
    "constraint_force": _field("constraint_force", "constraint force [N m, N]", "names"),
    "energy": _energy,
    "drift": _drift,
    "singular_values": _singular_values,
    "rank": _rank,
}
TRAJECTORY = Panels(PANELS, _default, mark_events, example="energy")
