"""`sarrus show`, `sweep`, `simulate`, `linearize` and `export`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

import sarrus.showcase as showcase
from sarrus.arrays import Array
from sarrus.errors import InputError
from sarrus.linearization import equilibrium, linearize
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.tables import named_columns, position_names
from sarrus.simulation.simulate import simulate
from sarrus.simulation.trajectory.trajectory import Trajectory

from .answers import Answer, elapsed, found, on_terminal, values
from .start import Start

LET_GO_FOR = 5.0  # [s]
PICTURES = (".png", ".svg", ".pdf")
WRITTEN = (
    "a page (.html), an animation (.gif, .mp4), a picture (.png, .svg, .pdf), a table (.csv) or a run (.npz)"
)


def show(name: str, out: str | None, fixed: list[str], quiet: bool = False) -> Answer:
    """Report a mechanism at a pose; draw it to a file or, unless `quiet`, in the live view."""
    from sarrus.viz import show as live

    mech = found(name)
    pose = mech.assemble(mech.default.q, values(fixed, "--fixed")) if fixed else None
    if pose is not None and not pose.success:
        raise InputError(pose.message)
    q = mech.default.q if pose is None else pose.q
    data: dict[str, Any] = {"name": mech.name, "names": mech.names, "q": q, "mobility": mech.mobility(q).dof}
    if out is not None:
        data["written"] = str(write(mech.with_default(q), Path(out)))
        return Answer(f"{mech}\n\n{data['written']}", data)
    if not quiet:
        print(mech)
        live(mech.with_default(q), block=True)
    return Answer("", data)


def sweep(
    name: str, coordinate: str, span: tuple[float, float, int], fixed: list[str], out: str | None
) -> Answer:
    """Poses along one coordinate, as a table."""
    mech = found(name)
    asked = np.linspace(*span)
    swept = mech.sweep(coordinate, asked, fixed=values(fixed, "--fixed") or None)
    columns = {f"q.{n}": x for n, x in zip(position_names(mech.model), swept.q.T, strict=True)}
    for measure, _ in mech.model.measures:
        columns |= named_columns(measure, np.asarray(swept[measure]))
    data: dict[str, Any] = {"coordinate": coordinate, "message": swept.message, "columns": columns}
    text = table(columns)
    if out is not None:
        Path(out).write_text(text, encoding="utf-8")
        data["written"], text = out, f"{swept.message} {out}"
    return Answer(text.rstrip("\n"), data, None if swept.success else str(swept.message))


def let_go(mech: Mechanism, t_end: float, start: Start, **options: Any) -> Trajectory:
    """Run a mechanism from a start, with constant inputs."""
    given = {key: value for key, value in options.items() if value is not None}
    u = start.inputs(mech)
    if u is not None:
        given["control"] = lambda t, q, v: u
    state = start.state(mech) if start else (None, None)
    return simulate(mech, (0.0, t_end), *state, progress=on_terminal(), **given)


def run_simulation(name: str, t_end: float, options: dict[str, Any], start: Start, out: str | None) -> Answer:
    """Let a mechanism go; a summary, and the run as a file."""
    mech = found(name)
    run = let_go(mech, t_end, start, **options)
    data: dict[str, Any] = {
        "name": mech.name,
        "status": run.status.name,
        "message": run.message,
        "states": len(run),
        "t_end": run.t[-1],
        "names": mech.names,
        "q": run.q[-1],
        "v": run.v[-1],
        "largest_drift": run.drift.max(),
        "energy_change": float(np.ptp(run.energy)),
        "measures": {measure: run[measure][-1] for measure, _ in mech.model.measures},
        "events": [{"kind": event.kind, "name": event.name, "t": event.t} for event in run.events],
    }
    lines = [run.message] if run.success else []
    lines += [f"{len(run)} states, largest closure error {data['largest_drift']:.1e} m"]
    lines += [f"{event.kind} {event.name} at t = {event.t:.6g} s" for event in run.events[:20]]
    if out is not None:
        with elapsed(f"write {out}"):
            data["written"] = str(write(run, Path(out)))
        lines.append(data["written"])
    return Answer("\n".join(lines), data, None if run.success else run.message)


def linear(name: str, independent: list[str], fixed: list[str], out: str | None) -> Answer:
    """The linear model about the equilibrium, or about the pose that `fixed` holds."""
    mech = found(name)
    rest = equilibrium(mech, fixed=values(fixed, "--fixed") or None)
    model = linearize(mech, rest.q, u=rest.u, independent=independent or None)
    data: dict[str, Any] = {"states": model.names, "inputs": mech.actuators, "q": rest.q, "u": rest.u}
    data |= {"stable": rest.stable, "A": model.A, "B": model.B, "C": model.C, "D": model.D}
    data |= {"eigenvalues": model.eigenvalues}
    text = f"{rest.message}\n{model}"
    if out is not None:
        np.savez(
            out, A=model.A, B=model.B, C=model.C, D=model.D, q=rest.q, u=rest.u, names=np.array(model.names)
        )
        data["written"], text = out, f"{text}\n{out}"
    return Answer(text, data)


def export(name: str, out: Path, t_end: float, start: Start, dt: float | None = None) -> Answer:
    """A mechanism (let go for a time, or at its first pose) or a saved run as a file."""
    thing = _saved_run(name, start) if name.endswith(".npz") else _moved(found(name), t_end, start, dt)
    return _written(thing, out)


def _written(thing: Mechanism | Trajectory, out: Path) -> Answer:
    """The file of a mechanism or of a run; a run that failed is a problem."""
    with elapsed(f"write {out}"):
        written = write(thing, out)
    failed = isinstance(thing, Trajectory) and not thing.success
    message = getattr(thing, "message", "")
    return Answer(str(written), {"written": str(written), "message": message}, message if failed else None)


def _saved_run(name: str, start: Start) -> Trajectory:
    """A run of a file; a start cannot be asked of it."""
    run = Trajectory.load(name)
    if start:
        raise InputError(f"{name}: a saved run has its start; --start, --speed, --motor are for mechanisms.")
    return run


def _moved(mech: Mechanism, t_end: float, start: Start, dt: float | None) -> Mechanism | Trajectory:
    """The run of a mechanism that is let go for a time; without a time the mechanism at its start."""
    if t_end > 0.0:
        return let_go(mech, t_end, start, dt=dt)
    return mech.with_default(*start.state(mech)) if start else mech


def play(name: str, out: Path, t_end: float | None, start: Start, dt: float | None) -> Answer:
    """The signature motion of a library mechanism, what is let go as asked, or a saved run, as a film.

    A library mechanism is let go instead where a time, a step, a start or motors are given.
    """
    if out.suffix.lower() not in (".html", ".gif", ".mp4"):
        raise InputError(f"{out}: what plays is written as .html, .gif or .mp4.")
    if name in showcase.names() and t_end is None and dt is None and not start:
        return _written(showcase.run(name, on_terminal()), out)
    return export(name, out, LET_GO_FOR if t_end is None else t_end, start, dt)


def write_studio(name: str, out: Path) -> Answer:
    """A studio of a mechanism or of a saved run; a library mechanism begins with its signature motion."""
    if name in showcase.names():
        thing: Mechanism | Trajectory = showcase.run(name, on_terminal())
    else:
        thing = Trajectory.load(name) if name.endswith(".npz") else found(name)
    written = str(thing.studio(out))
    return Answer(written, {"written": written})


def write_report(name: str, out: Path, swept: str | None, t_end: float) -> Answer:
    """The report of a mechanism or of a saved run."""
    from sarrus.viz import report

    path = report(
        Trajectory.load(name) if name.endswith(".npz") else found(name), out, sweep=swept, t_end=t_end
    )
    return Answer(str(path), {"path": str(path), "bytes": path.stat().st_size})


def write(thing: Mechanism | Trajectory, out: Path) -> Path:
    """Write a mechanism or a run; what is written follows from the extension."""
    from sarrus.viz import draw
    from sarrus.viz import export as page

    kind, run = out.suffix.lower(), thing if isinstance(thing, Trajectory) else None
    if kind == ".html":
        return page(thing, out)
    if kind in PICTURES:
        axes = draw(thing) if isinstance(thing, Mechanism) else thing.plot()
        np.ravel(axes)[0].figure.savefig(out, bbox_inches="tight", dpi=150)
    elif run is None:
        raise InputError(
            f"{out}: a pose can be a page (.html) or a picture (.png, .svg, .pdf); give --t-end for a run."
        )
    elif kind in (".gif", ".mp4"):
        run.animate(out)
    elif kind == ".npz":
        run.save(out)
    elif kind == ".csv":
        names = position_names(run.system.model)
        columns = {"t": run.t} | {f"q.{n}": x for n, x in zip(names, run.q.T, strict=True)}
        columns |= {f"v.{n}": x for n, x in zip(run.system.names, run.v.T, strict=True)}
        for name in dict(getattr(run.system.model, "measures", ())):
            columns |= named_columns(name, run[name])
        out.write_text(table(columns), encoding="utf-8")
    else:
        raise InputError(f"{out}: the extension decides what is written: {WRITTEN}.")
    return out


def table(columns: dict[str, Array]) -> str:
    """Columns as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()
