"""Plot a trajectory over time: states, energy, drift, singular values, forces, with its events marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...mechanism.describe.measure import Measure
from ...mechanism.mechanism import Mechanism
from ...simulation.trajectory.trajectory import Trajectory
from ..scenes import style
from ..scenes.contact_forces import record_of
from .panels import Panel, Panels, lines

LEAST = 1e-17  # what zero looks like on a logarithmic axis
TITLES = {
    "q": "q", "v": "v", "a": "a", "u": "u", "lam": "multipliers", "constraint_force": "constraint force",
}  # fmt: skip
OWNERS = {"v": "names", "a": "names", "u": "actuators", "lam": "row_names", "constraint_force": "names"}
FORCES = {"rad": "N m", "m": "N"}
UNITS = {
    "v": {"rad": "rad/s", "m": "m/s"}, "a": {"rad": "rad/s$^2$", "m": "m/s$^2$"}, "u": FORCES, "lam": FORCES,
    "constraint_force": FORCES,
}  # fmt: skip
Column = tuple[str, str, Array]  # name, unit, values (nt,)
DEFAULT = ("q", "energy", "drift", "singular_values", "constraint_force")


def plot(trajectory: Trajectory, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
    """Plot a trajectory, one panel for each quantity and unit, all over the same time.

    Of more than twelve lines on a panel the eight that vary most have colours and names, others are faint.

    Args:
        trajectory: What `sr.simulate` returned.
        what: One of "q", "v", "a", "u", "lam", "constraint_force", "energy", "drift", "singular_values",
            "rank", "contacts" (forces of surfaces that touch), the name of a measure, or several of them;
            default positions, energy, drift, singular values, constraint forces and contacts, those that
            exist.
        ax: Axes for a single quantity; default new ones.

    Returns:
        The Axes of a single quantity, with lines of all units, or an array of Axes, one per panel: where
        several quantities are drawn, angles and lengths, moments and forces have panels of their own.
    """
    if not isinstance(trajectory, Trajectory):
        raise InputError(
            f"plot takes the Trajectory that sr.simulate returned, got {type(trajectory).__name__}; pictures"
            " of mechanisms are mech.plot() and sr.viz.picture(mech, path)."
        )
    measures = trajectory.system.model.measures if isinstance(trajectory.system, Mechanism) else ()
    panels = {name: _measure(name, one) for name, one in measures} | PANELS | OF_SURFACES
    return replace(TRAJECTORY, panels=panels).plot(trajectory, what, ax)


def _default(trajectory: Trajectory) -> list[str]:
    """Those of DEFAULT that exist."""
    system = trajectory.system
    known = ("q", "drift") if system is None else DEFAULT if system.nc > 0 else ("q", "energy")
    shown = [name for name in DEFAULT if name in known]
    return shown if system is None or record_of(trajectory) is None else [*shown, "contacts"]


def mark_events(trajectory: Trajectory, ax: Any) -> None:
    """A line at the time of every event: dashed red for singular poses, dotted grey for the user's own."""
    for event in trajectory.events:
        look = style.SINGULAR if event.kind == "singular" else style.EVENT
        ax.axvline(event.t, label=f"_{event.name}", **look)


# ---------------------------------------------------------------------- panels


def _lines(ax: Any, t: Array, values: Array, names: Sequence[str], title: str) -> None:
    lines(ax, t, values, names)
    ax.set_ylabel(title)
    if len(names) > 1:
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.03), frameon=False)


def _columns(trajectory: Trajectory, name: str) -> list[Column]:
    """Name, unit and values of the columns of q, v, a, u, lam or constraint_force."""
    values, system = getattr(trajectory, name), trajectory.system
    names, units = [f"{name}[{i}]" for i in range(values.shape[1])], [""] * values.shape[1]
    if system is not None and name == "q":
        model = system.model
        for one, i, turns in zip(model.coordinate_names, model.coordinate_q, _angular(system), strict=True):
            if i >= 0:
                names[i], units[i] = one, "rad" if turns else "m"
    elif system is not None:
        names = list(getattr(system, OWNERS[name]))
        kinds = list(system.model.row_kinds) if name == "lam" else _coordinate_kinds(system, names)
        units = [UNITS[name].get(kind, "") for kind in kinds]
    return list(zip(names, units, values.T, strict=True))


def _angular(system: Any) -> Sequence[bool]:
    """Whether each coordinate is an angle; none is known to be one of systems given as functions."""
    return system.model.tree.coordinate_is_angle if isinstance(system, Mechanism) else (False,) * system.nv


def _coordinate_kinds(system: Any, names: Sequence[str]) -> list[str]:
    if not isinstance(system, Mechanism):
        return [""] * len(names)
    kind = {name: "rad" if turns else "m" for name, turns in zip(system.names, _angular(system), strict=True)}
    return [kind.get(name, "") for name in names]


def _field(name: str, title: str) -> Panel:
    """A panel for all columns of one array of the trajectory."""

    def panel(trajectory: Trajectory, ax: Any) -> None:
        found = _columns(trajectory, name)
        units = sorted({unit for _, unit, _ in found} - {""}, reverse=True)
        label = f"{title} [{', '.join(units) or 'SI'}]"
        _lines(ax, trajectory.t, np.array([v for _, _, v in found]).T, [n for n, _, _ in found], label)

    return panel


def _by_unit(trajectory: Trajectory, name: str) -> list[Panel]:
    """A panel for each unit among the columns of an array, or the panel of another quantity."""
    if name not in TITLES or getattr(trajectory, name).shape[1] == 0:
        measures = trajectory.system.model.measures if isinstance(trajectory.system, Mechanism) else ()
        return [({one: _measure(one, m) for one, m in measures} | PANELS | OF_SURFACES)[name]]
    found: dict[str, list[Column]] = {}
    for column in _columns(trajectory, name):
        found.setdefault(column[1], []).append(column)
    return [_of_unit(name, unit, columns) for unit, columns in found.items()]


def _of_unit(name: str, unit: str, columns: list[Column]) -> Panel:
    """A panel for the columns of one unit."""
    names, _, values = zip(*columns, strict=True)
    label = f"{TITLES[name]} [{unit}]" if unit else f"{TITLES[name]}, entries"

    def draw(run: Trajectory, ax: Any) -> None:
        _lines(ax, run.t, np.array(values).T, list(names), label)

    return draw


def _measure(name: str, measure: Measure) -> Panel:
    """A panel for a measure: a line for each entry."""

    def panel(trajectory: Trajectory, ax: Any) -> None:
        values = trajectory[name].reshape(len(trajectory.t), -1)
        width = values.shape[1]
        names = measure.columns if len(measure.columns) == width else [f"{name}[{i}]" for i in range(width)]
        _lines(ax, trajectory.t, values, names, f"{name} [{measure.unit}]" if measure.unit else name)

    return panel


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


def _contacts(trajectory: Trajectory, ax: Any) -> None:
    """The size of the force at each contact point that has closed."""
    found = trajectory.contacts
    size = np.linalg.norm(found.force, axis=2)
    closed = np.flatnonzero(size.any(axis=0))
    _lines(ax, trajectory.t, size[:, closed], [found.names[k] for k in closed], "contact force [N]")


PANELS = {
    **{name: _field(name, title) for name, title in TITLES.items()},
    "energy": _energy,
    "drift": _drift,
    "singular_values": _singular_values,
    "rank": _rank,
}
OF_SURFACES = {"contacts": _contacts}  # of runs in which surfaces could touch
TRAJECTORY = Panels(PANELS, _default, mark_events, example="energy", split=_by_unit)
