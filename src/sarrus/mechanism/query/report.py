"""The report of a mechanism: bodies, joints, loops, rows, mobility, actuators, as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AssemblyError
from ...models.tree.bodies import UNLIMITED

if TYPE_CHECKING:
    from ...models.contacts.surfaces import Surface
    from ...models.kinds.forces import Force
    from ...models.model import Model
    from ..mechanism import Mechanism
    from ..spec import MechanismSpec

WIDTH = 100
MOST_ROWS = 60
MOST_ENTRIES = 4_000_000  # of J up to which a report computes the mobility
MOST_CONDITION = 64  # coordinates up to which it has singular values at once
LARGE = 33  # coordinates from which on structure is used
FILLS_FROM, FILLED = 100, 0.5  # coordinates, and share of a dense factor, from which the fill is worth a word


def report(mech: Mechanism) -> str:
    """Bodies, constraints, forces, actuation and mobility of a mechanism, as text."""
    parts = [
        _head(mech),
        _bodies(mech),
        _states(mech),
        _constraints(mech),
        _forces(mech.model.forces),
        contact_report(mech.model),
    ]
    parts += [_actuation(mech), _mobility(mech)]
    return "\n\n".join(part for part in parts if part)


def outline(spec: MechanismSpec) -> str:
    """The declarations of a description, by name."""
    title = f"Description of mechanism '{spec.name}'"
    gravity = ", ".join(f"{g:g}" for g in spec.gravity)
    bodies = [(b.name, b.parent, b.joint.label(), f"{b.mass:.4g}") for b in spec.bodies if not b.is_state]
    states = [(b.name, f"{b.start:.4g}") for b in spec.bodies if b.is_state]
    constraints = []
    for name, given in spec.constraints:
        kind = type(getattr(given, "joint", given)).__name__
        between = " - ".join(given.bodies()) or ", ".join(given.coordinates())
        constraints.append((name, kind, between or "-"))
    every = "Actuated: every coordinate except those of Free joints"
    driven = spec.actuated
    parts = [
        f"{title}\n{'=' * len(title)}\ngravity ({gravity}) m/s^2; not compiled: spec.compile()",
        _section("Bodies", ("body", "parent", "joint", "mass [kg]"), bodies),
        _section("States of first order", ("state", "start"), states) if states else "",
        _section("Constraints", ("constraint", "kind", "between"), constraints),
        _forces(spec.forces) or "Forces: none",
        _surfaces(spec.surfaces),
        _section("Contacts", ("contact", "a", "b"), [(one.name, one.a, one.b) for one in spec.contacts])
        if spec.contacts
        else "",
        every if driven is None else _wrapped("Actuated", [name for name, _ in driven]),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(kind: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table with the number of its rows."""
    return f"{kind} ({len(rows)})\n{_table([head, *rows])}" if rows else f"{kind}: none"


def _head(mech: Mechanism) -> str:
    title = f"Mechanism '{mech.name}'"
    gravity = ", ".join(f"{g:g}" for g in mech.model.gravity)
    sizes = f"nq = {mech.nq}, nv = {mech.nv}, nc = {mech.nc}, nu = {mech.nu}"
    rule = "=" * len(title)
    head = f"{title}\n{rule}\n{sizes}; length L = {mech.length:.4g} m; gravity ({gravity}) m/s^2"
    return head + _solver(mech)


def _solver(mech: Mechanism) -> str:
    """How the steps of a large mechanism are solved; nothing for others."""
    if mech.nv < LARGE:
        return ""
    if mech.nc == 0:
        return "\nlarge: accelerations by articulated inertias"
    kernel = mech.evaluator.kernel
    if not kernel.augmented:
        return "\nlarge: steps densely"
    if kernel.few_rows:
        return f"\nlarge: steps by articulated inertias and {mech.nc} rows away from singular poses"
    head = "\nlarge: steps by the augmented inertia away from singular poses"
    if mech.nv < FILLS_FROM or kernel.fill < FILLED:
        return head
    share = f"{100.0 * min(kernel.fill, 1.0):.0f} %"
    return f"{head}; its factor is dense ({share}): a tree of shorter branches makes steps faster"


def _bodies(mech: Mechanism) -> str:
    rows = [("body", "parent", "joint", "coordinates", "mass [kg]")]
    for body in mech.model.shown_bodies:
        own = [name.removeprefix(body.name) for name in body.coordinate_names]
        coordinates = body.name if own == [""] else " ".join(own) or "-"
        rows.append((body.name, body.parent, body.joint.label(), coordinates, f"{body.mass:.4g}"))
    total = sum(body.mass for body in mech.model.bodies)
    return f"Bodies ({len(rows) - 1}, {total:.4g} kg)\n{_table(rows)}"


def _states(mech: Mechanism) -> str:
    rows = [(body.name, f"{body.start:.4g}") for body in mech.model.bodies if body.is_state]
    return _section("States of first order", ("state", "start"), rows) if rows else ""


def _constraints(mech: Mechanism) -> str:
    model = mech.model
    if not model.groups:
        return "Constraints: none (an open tree)"
    rows = [("constraint", "kind", "between", "rows")]
    for group in model.groups:
        between = " - ".join(filter(None, (group.a, group.b))) or "-"
        names = model.row_names[group.rows]
        short = [name.removeprefix(f"{group.name}.") for name in names]
        gone = getattr(dict(model.constraints).get(group.name), "left_out", ())
        note = f"; left out: {', '.join(gone)}" if gone else ""
        rows.append((group.name, group.kind, between, f"{len(names)}: {', '.join(short)}{note}"))
    text = f"Constraints ({len(model.groups)}, {model.nc} rows)\n{_table(rows)}"
    rolling = int(np.sum(~model.holonomic))
    return text + (f"\n  {rolling} rows restrict velocities only." if rolling else "")


def _forces(forces: Sequence[tuple[str, Force]]) -> str:
    rows = [("force", "kind"), *((name, type(force).__name__) for name, force in forces)]
    return f"Forces ({len(rows) - 1})\n{_table(rows)}" if forces else ""


def contact_report(model: Model) -> str:
    """Surfaces, and which of them may touch, with the law of each pair."""
    if not model.surfaces:
        return ""
    pairs = []
    for one, law, count in zip(
        model.contacts, model.pair_law.tolist(), model.pair_slots.tolist(), strict=True
    ):
        more = [f"{word} {x:g} m" for word, x in zip(("torsion", "rolling"), law[2:], strict=True) if x]
        pairs.append((one.name, f"{law[0]:g}", f"{law[1]:g}", str(count), ", ".join(more) or "-"))
    head = ("contact", "friction", "restitution", "points", "moments")
    return f"{_surfaces(model.surfaces)}\n\n{_section('Contacts', head, pairs)}"


def _surfaces(surfaces: Sequence[Surface]) -> str:
    rows = [(one.name, one.body, type(one.shape).__name__) for one in surfaces]
    return _section("Surfaces", ("surface", "body", "shape"), rows) if rows else ""


def _actuation(mech: Mechanism) -> str:
    lines = [_wrapped("Actuated", mech.actuators), _wrapped("Passive", mech.passive)]
    joints = zip(mech.names, mech.model.limits.tolist(), strict=True)
    lines += _limits("Joint limits", [(name, low, high) for name, (low, high) in joints])
    lines += _limits("Input limits", [(a.name, a.lower, a.upper) for a in mech.model.actuators])
    return "\n".join(lines)


def _limits(title: str, limits: Iterable[tuple[str, float, float]]) -> list[str]:
    """Those limits that are not open on both sides; nothing if there are none."""
    shown = [f"{name} [{low:g}, {high:g}]" for name, low, high in limits if (low, high) != UNLIMITED]
    return [_wrapped(title, shown)] if shown else []


def _mobility(mech: Mechanism) -> str:
    if mech.nc * mech.nv > MOST_ENTRIES:
        sizes = f"{mech.nc} rows and {mech.nv} coordinates"
        return f"Mobility: not computed here for {sizes}; mech.mobility(q) does it."
    try:
        pose = mech.default.q
    except AssemblyError as error:
        return _paragraphs(f"Mobility: unknown, because the loops do not close.\n{error}")
    m = mech.mobility(pose)
    condition = f", condition {m.condition:.3g}" if mech.nv <= MOST_CONDITION else ""
    head = f"Mobility at the default pose: {m.dof} (rank {m.rank} of {mech.nc}{condition})"
    redundant = _wrapped("Redundant rows", m.redundant) if m.redundant else ""
    return "\n".join(part for part in (head, redundant, _paragraphs(m.explain())) if part)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns padded to their widest entry; long lists are cut in the middle."""
    shown = list(rows)
    left_out = len(shown) - MOST_ROWS
    if left_out > 0:
        half = MOST_ROWS // 2
        dots = ("...", f"{left_out} more", *("",) * (len(rows[0]) - 2))
        shown = [*shown[:half], dots, *shown[-half:]]
    widths = [max(len(row[k]) for row in shown) for k in range(len(shown[0]))]
    lines = [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in shown
    ]
    rule = "  " + "  ".join("-" * w for w in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _wrapped(title: str, names: Sequence[str]) -> str:
    """A titled list of names, wrapped under its title."""
    head = f"{title} ({len(names)}): "
    if len(names) > MOST_ROWS:
        names = [*names[:MOST_ROWS], f"... {len(names) - MOST_ROWS} more"]
    return _fill(
        head, [name + ("," if i + 1 < len(names) else "") for i, name in enumerate(names)] or ["none"]
    )


def _paragraphs(text: str) -> str:
    return "\n".join(_fill("  ", line.split(" ")) for line in text.splitlines())


def _fill(head: str, words: Sequence[str]) -> str:
    """Words after a head, wrapped at WIDTH with an indent."""
    lines, line = [], head
    for word in words:
        if len(line) + len(word) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = "    "
        line += word + " "
    return "\n".join([*lines, line.rstrip()])
