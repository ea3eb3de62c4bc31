"""A report on a mechanism as one HTML file that prints well: what it is, what it can do, how it moves."""

from __future__ import annotations

import importlib.metadata
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError, SarrusError, SarrusWarning
from ..formats.writing.replace_file import as_path, replace_bytes
from ..linearization.equilibrium import equilibrium
from ..linearization.linearize import linearize
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.holding import Holding
from ..models.tree.bodies import COPY, UNLIMITED
from ..models.tree.parts import joints_of, parts_of
from ..projection.mobility import listed
from ..simulation.simulate import simulate
from ..simulation.trajectory.trajectory import Trajectory
from . import html_blocks as html
from .figures.panels import lines
from .notebook import modes_table, small_picture
from .scenes import style
from .scenes.contact_forces import contact_rows, record_of
from .scenes.picture import picture
from .scenes.scene import mechanism_of

POSES = 81  # of a sweep
MOST_ROWS = 200
LARGE = 200  # coordinates above which sections that take minutes are left out
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width">
<title>@TITLE@</title><style>@STYLE@
body { margin: 0 auto; max-width: 860px; padding: 24px; background: #fff; color: #22262b; }
.sarrus h1 { font-size: 26px; margin: 0 0 4px; }
.sarrus h2 { font-size: 18px; margin: 26px 0 6px; border-bottom: 2px solid #0072b2; padding-bottom: 3px; }
.sarrus .small { color: #59626b; font-size: 12.5px; }
.sarrus .row { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
.sarrus .row img { width: 100%; box-sizing: border-box; border: 1px solid #d5d9de; }
@media (prefers-color-scheme: dark) { @media screen {
  body { background: #15181c; color: #e7eaee; } .sarrus .small { color: #a3acb6; } } }
@page { size: A4; margin: 16mm; }
@media print { body { padding: 0; max-width: none; } .sarrus { font-size: 11px; }
  .sarrus h2, .sarrus h3, .sarrus h2 + p { break-after: avoid; }
  .sarrus img, .sarrus tr, .sarrus .row, .sarrus table.short { break-inside: avoid; }
  .sarrus thead { display: table-header-group; }
  .sarrus img { max-height: 230mm; object-fit: contain; object-position: left; } }
</style></head><body class="sarrus">@BODY@</body></html>
"""


def report(
    shown: Mechanism | Trajectory,
    path: str | Path,
    *,
    sweep: str | None = None,
    values: npt.ArrayLike | None = None,
    t_end: float = 2.0,
    title: str | None = None,
) -> Path:
    """Write a report as one HTML file: pictures, mobility, redundant rows, limits, torques, modes, a run.

    A section that cannot be made says why. Of mechanisms with more than 200 coordinates the torques, the
    modes and the run are left out, unless a run is given. Print it from any browser, on A4 paper.

    Args:
        shown: A `Mechanism`, or what `sr.simulate` returned for one, which is then the run of the report.
        path: File to write, "report.html".
        sweep: Coordinate along which torques at rest are computed; default the first actuated one.
        values: Of that coordinate (n,) [rad, m]; default from limit to limit, else a turn, or the length L to
            either side, as far as it goes.
        t_end: Length of the run [s], released at the default state.
        title: Default the name of the mechanism.

    Returns:
        The path of the file.
    """
    target = as_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report is written as .html, got {str(path)!r}.")
    if not (math.isfinite(t_end) and t_end > 0.0):
        raise InputError(f"t_end must be a positive time, got {t_end!r}.")
    run = None if isinstance(shown, Mechanism) else shown
    mech = shown if isinstance(shown, Mechanism) else mechanism_of(shown, "report")
    if sweep is not None:
        mech.model.tree.scalar(sweep, "sweep")
    name = mech.name if title is None else title
    sections: list[tuple[str, Callable[[], str]]] = [
        ("Mobility", lambda: _mobility(mech)),
        ("Bodies and joints", lambda: _parts(mech)),
        ("Limits and actuators", lambda: _limits(mech)),
        ("Torques over a sweep", lambda: _torques(mech, sweep, values)),
        ("Modes", lambda: _modes(mech)),
        ("A run", lambda: _run(mech, run, t_end)),
    ]
    body = html.heading(name, 1) + _head(mech)
    said: list[str] = []
    for heading, make in sections:
        body += html.heading(heading) + _section(make, said)
    if mech.omitted:
        body += html.heading("Not modelled") + html.paragraph("; ".join(mech.omitted))
    body += "".join(html.paragraph(f"Warning: {line}", "warning") for line in dict.fromkeys(said))
    parts = {"@TITLE@": html.text(name), "@STYLE@": html.STYLE}
    page = PAGE
    for mark, content in parts.items():
        page = page.replace(mark, content)
    head, tail = page.split("@BODY@")
    return replace_bytes(target, (head + body + tail).encode("utf-8", errors="replace"), make_folder=True)


def _section(make: Callable[[], str], said: list[str]) -> str:
    """A section, or why there is none; warnings are collected."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SarrusWarning)
            content = make()
        said += [str(w.message) for w in caught if issubclass(w.category, SarrusWarning)]
        return content
    except SarrusError as error:
        return html.paragraph(f"Not available. {error}", "warning")


def _head(mech: Mechanism) -> str:
    version = importlib.metadata.version("sarrus")
    mass = sum(body.mass for body in mech.model.bodies)
    gravity = ", ".join(f"{g:g}" for g in mech.model.gravity)
    count = len(parts_of(mech.model.bodies))
    said = (
        f"{count} parts, {mass:.4g} kg; {mech.nv} coordinates, {mech.nc} constraint rows,"
        f" {mech.nu} inputs; length L = {mech.length:.4g} m; gravity ({gravity}) m/s². sarrus {version}."
    )
    try:
        shown = small_picture(mech, (1120, 700), "default pose", 800)
    except SarrusError as error:
        shown = html.paragraph(f"No picture. {error}", "warning")
    return html.paragraph(said, "small") + shown


def _mobility(mech: Mechanism) -> str:
    m = mech.mobility(mech.default.q)
    rows: list[tuple[str, object]] = [("degrees of freedom", int(m.dof)), ("rank of J", int(m.rank))]
    rows += [("constraint rows", mech.nc), ("freedoms by counting (Grübler)", int(m.gruebler))]
    if mech.nv <= LARGE:
        rows += [("condition number", float(m.condition))]
    rows += [("singular pose", "yes" if m.is_singular else "no")]
    rows += [("redundant rows", listed(m.redundant) if mech.nv > LARGE else ", ".join(m.redundant) or "none")]
    return html.table(("at the default pose", ""), rows) + f"<pre>{html.text(m.explain())}</pre>"


def _parts(mech: Mechanism) -> str:
    model = mech.model
    parts = [(name, float(mass)) for name, mass in parts_of(model.bodies)[:MOST_ROWS]]
    out = html.table(("part", "mass [kg]"), parts)
    joints = [(one.name, one.kind, one.a, one.b) for one in joints_of(model.bodies)[:MOST_ROWS]]
    out += _table_of_any(("joint", "kind", "between", "and"), joints)
    out += _table_of_any(("constraint", "kind", "between", "rows"), _constraints(mech))
    forces = [(name, type(force).__name__) for name, force in model.forces[:MOST_ROWS]]
    return out + _table_of_any(("force", "kind"), forces)


def _table_of_any(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table, or nothing where it would have no rows."""
    return html.table(head, rows) if rows else ""


def _constraints(mech: Mechanism) -> list[tuple[str, str, str, str]]:
    """Name, kind, bodies and rows of constraints, without those that hold two halves of one part together."""
    found = []
    for group in mech.model.groups[:MOST_ROWS]:
        if not (group.a and COPY in group.a):
            bodies = " - ".join(x for x in (group.a, group.b) if x)
            found.append((group.name, group.kind, bodies, ", ".join(mech.row_names[group.rows])))
    return found


def _limits(mech: Mechanism) -> str:

    model = mech.model
    turns = dict(zip(mech.names, model.tree.coordinate_is_angle, strict=True))
    limits = zip(mech.names, map(tuple, model.limits.tolist()), strict=True)
    limited = [(name, ends) for name, ends in limits if ends != UNLIMITED][:MOST_ROWS]
    joints = [(name, *map(_bound, ends), "rad" if turns[name] else "m") for name, ends in limited]
    inputs = [(a.name, _bound(a.lower), _bound(a.upper)) for a in model.actuators[:MOST_ROWS]]
    out = html.table(("joint limit", "from", "to", ""), joints) if joints else ""
    out += html.table(("input", "from [N m, N]", "to"), inputs) if inputs else html.paragraph("No actuators.")
    return out + html.paragraph("Passive: " + (", ".join(mech.passive[:MOST_ROWS]) or "none"))


def _bound(value: float) -> object:
    return float(value) if math.isfinite(value) else "none"


def _left_out(mech: Mechanism, instead: str) -> str:
    return html.paragraph(f"Left out: {mech.nv} coordinates, more than {LARGE}. {instead}")


def _torques(mech: Mechanism, name: str | None, values: npt.ArrayLike | None) -> str:
    """Inputs that hold the mechanism at rest along a coordinate."""
    if mech.nv > LARGE:
        return _left_out(mech, "mech.sweep and mech.inverse_dynamics have them.")
    if not mech.nu:
        return html.paragraph("No actuators: nothing holds it.")
    q, name, reached = _path(mech, name, values)
    held = mech.hold(q, by=mech.actuators, frame="world")
    turns = dict(zip(mech.names, mech.model.tree.coordinate_is_angle, strict=True))
    x = q[:, mech.model.tree.scalar(name, "sweep")[0]]
    kinds = [(unit, [k for k, a in enumerate(mech.actuators) if turns.get(a, True) == is_angle])
             for unit, is_angle in (("N m", True), ("N", False))]  # fmt: skip
    kinds = [(unit, which) for unit, which in kinds if which]
    drawn = style.pyplot().figure(figsize=(8.0, 2.6 * len(kinds) + 0.4), layout="constrained")
    for ax, (unit, which) in zip(drawn.subplots(len(kinds), squeeze=False)[:, 0], kinds, strict=True):
        motors = [mech.actuators[k] for k in which]
        lines(ax, x, np.array([held.motors[name] for name in motors]).T, motors)
        ax.set(xlabel=f"{name} [{'rad' if turns[name] else 'm'}]", ylabel=f"input at rest [{unit}]")
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        ax.grid(True, linewidth=0.4, alpha=0.5)
    notes = [f"Inputs of least norm that hold the mechanism at rest while {name} is swept.{reached}"]
    if not held.success:
        notes.append(f"The actuators cannot hold all of it. {held.message}")
    figure = html.figure(drawn, f"inputs over {name}")
    return "".join(map(html.paragraph, notes)) + figure + _largest_loads(held, name, x)


def _largest_loads(held: Holding, name: str, x: Array) -> str:
    """The largest force and moment of each joint while the mechanism is held, and where."""
    rows = []
    for joint, wrench in list(held.reactions.items())[:MOST_ROWS] if held.held.any() else ():
        force, moment = (np.linalg.norm(wrench[:, part], axis=1) for part in (slice(0, 3), slice(3, 6)))
        k = int(np.nanargmax(force))
        rows.append((joint, float(force[k]), float(x[k]), float(np.nanmax(moment))))
    said = "Joint forces at rest, largest over the sweep (of least norm where rows are redundant)."
    heads = ("joint", "force [N]", f"at {name}", "moment [N m]")
    return html.paragraph(said) + html.table(heads, rows) if rows else ""


def _path(mech: Mechanism, name: str | None, values: npt.ArrayLike | None) -> tuple[Array, str, str]:
    """Poses along a coordinate, as far as the mechanism goes both ways from its default, and what to say."""
    name, here = _swept_coordinate(mech, name), mech.default.q
    if values is not None:
        found = mech.sweep(name, values)
        return found.q, name, "" if found.success else f" {found.message}"
    tree = mech.model.tree
    i, k = tree.scalar(name, "sweep")
    reach = math.pi if tree.coordinate_is_angle[k] else mech.length
    ends = np.clip(mech.model.limits[k], here[i] - reach, here[i] + reach)
    ways = [np.linspace(here[i], end, POSES // 2)[1:] for end in ends[ends != here[i]]]
    sides = [mech.sweep(name, way) for way in ways]
    poses = np.concatenate([here[None], *(side.q for side in sides)])
    said = [f" {side.message}" for side in sides if not side.success]
    return poses[np.argsort(poses[:, i])], name, "".join(said)


def _swept_coordinate(mech: Mechanism, name: str | None) -> str:
    """The coordinate asked for, else an actuated one, else any that can be swept."""
    entries = zip(mech.names, mech.model.tree.coordinate_q, strict=True)
    able = [one for one, i in entries if i >= 0]
    found = next((one for one in (name, *mech.actuators, *able) if one in able), None)
    if found is None:
        raise InputError("no coordinate is an angle or a displacement.")
    return found


def _modes(mech: Mechanism) -> str:
    """Modes about the equilibrium that is found from the default state, else about the default state."""
    if mech.nv > LARGE:
        return _left_out(mech, "sr.linearize has them.")
    try:
        rest = equilibrium(mech)
        q, u, where = rest.q, rest.u, f"About an equilibrium, {'stable' if rest.stable else 'not stable'}."
    except SarrusError as error:
        q, u, where = mech.default.q, None, f"About the default pose, which is no equilibrium: {error}"
    model = linearize(mech, q, u=u)
    shown = picture(mech, q=q, size=(640, 400), background="white")
    return html.paragraph(where) + modes_table(model) + html.image(shown, "equilibrium", 420)


def _run(mech: Mechanism, given: Trajectory | None, t_end: float) -> str:
    if given is None and mech.nv > LARGE:
        return _left_out(mech, "run.report(path), with the run of sr.simulate, shows one.")
    run, said = given, ""
    if run is None:
        run, said = simulate(mech, (0.0, t_end)), "Released at its default state, without inputs. "
    times = np.linspace(run.t[0], run.t[-1], 4).tolist()
    shots = [(picture(run, t=t, size=(480, 340), background="white"), f"t = {t:.3g} s") for t in times]
    said += f"{run.message} Pictures at {', '.join(f'{t:.3g}' for t in times)} s."
    kind = "" if run.success else "warning"
    pictures = '<div class="row">' + "".join(html.image(shot, text, 400) for shot, text in shots) + "</div>"
    events = [(event.name, event.kind, float(event.t)) for event in run.events[:MOST_ROWS]]
    listed = html.table(("event", "kind", "t [s]"), events) if events else ""
    record = record_of(run)
    if record is not None and (rows := contact_rows(record)):
        head = ("contact", "closed in states", "slides in", "largest force [N]", "work of friction [J]")
        listed += html.table(head, rows[:MOST_ROWS])
    return html.paragraph(said, kind) + pictures + listed + html.figure(run.plot()[0].figure, "run")
