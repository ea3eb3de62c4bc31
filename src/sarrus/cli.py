"""The command line `sarrus`, or `python -m sarrus`: check, convert, library, study, play, studio, demo."""

from __future__ import annotations

import importlib.metadata
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import sarrus.library as library
from sarrus.errors import AssemblyError, SarrusError, SarrusWarning, unknown_name
from sarrus.formats import load, save
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.bodies import is_possible
from sarrus.simulation.simulate import simulate
from sarrus.simulation.stepping.methods import METHODS
from sarrus.simulation.study import study
from sarrus.simulation.trajectory.trajectory import Trajectory

METHOD_HELP = "Integration method: " + "; ".join(f"{x.name}: {x.summary}" for x in METHODS.values()) + "."
MISSING = (
    "The command line of sarrus needs the packages typer and rich, which are not installed.\n"
    "Install them with: pip install 'sarrus[cli]'"
)


def main() -> None:
    """Entry point of the command `sarrus`."""
    try:
        app = build_app()
    except ImportError:
        print(MISSING, file=sys.stderr)
        raise SystemExit(1) from None
    app()


def show_version(asked: bool) -> None:
    """`sarrus --version`."""
    if asked:
        print(f"sarrus {importlib.metadata.version('sarrus')}")
        raise SystemExit(0)


def empty_app() -> Any:
    """A `typer.Typer` application with `--version` and no command."""
    import typer

    app = typer.Typer(
        name="sarrus",
        help="Mechanisms with closed loops: what they can do, and whether they can be assembled.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # markup would swallow units such as [s]
    )

    shown = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Version.")

    @app.callback()
    def main_command(version: bool = shown) -> None:
        """Mechanisms with closed loops: what they can do, and whether they can be assembled."""

    return app


def add_file_commands(typed: Any) -> None:
    """`check` and `convert`."""
    import typer

    app: typer.Typer = typed
    file_argument = typer.Argument(help="MJCF, URDF, SDF or JSON file.")
    target_argument = typer.Argument(help="File to write: .xml (MJCF), .urdf, .sdf or .json.")
    copy_option = typer.Option(None, help="Write a copy whose loops close: .xml, .urdf, .sdf or .json.")

    @app.command("check")
    def check_command(
        file: Path = file_argument,
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON."),
        root: str = typer.Option("fixed", help="Root link of a URDF: 'fixed' to the ground or 'free'."),
        repaired: Path | None = copy_option,
    ) -> None:
        """Load a file, assemble it and report what it can do: mobility, redundant rows, gaps of loops,
        inertias that cannot be, what is not modelled. Exit code 1 if it cannot be assembled."""
        raise typer.Exit(check(file, as_json, root, repaired))

    @app.command("convert")
    def convert_command(
        source: Path = file_argument,
        target: Path = target_argument,
        root: str = typer.Option("fixed", help="Root link of a URDF: 'fixed' to the ground or 'free'."),
        strict: bool = typer.Option(False, help="Refuse what either format or the library cannot say."),
        sidecar: bool = typer.Option(False, help="Write the loops of a URDF to a file beside it."),
    ) -> None:
        """Convert a robot file, loops included. Says what is lost on the way."""
        raise typer.Exit(convert(source, target, root, strict, sidecar))


def add_report_command(typed: Any) -> None:
    """`report`."""
    import typer

    app: typer.Typer = typed

    @app.command("report")
    def report_command(
        name: str = typer.Argument(
            help="A mechanism of the library, a file that describes one, or a run.npz."
        ),
        out: str = typer.Option("report.html", help="Page (.html) to write."),
        sweep: str | None = typer.Option(None, help="Coordinate to sweep; default the first actuated one."),
        t_end: float = typer.Option(2.0, help="Length of the run [s]."),
        as_json: bool = typer.Option(False, "--json", help="Print path and size as JSON."),
    ) -> None:
        """Write a report that prints well: what it is, mobility, limits, torques, modes, a run, pictures."""
        raise typer.Exit(write_report(name, Path(out), sweep, t_end, as_json))


def build_app() -> Any:
    """The commands, as a `typer.Typer` application."""
    import rich  # noqa: F401  (asked for here, so that one message covers both packages)
    import typer

    app: typer.Typer = empty_app()
    add_file_commands(app)
    add_report_command(app)

    @app.command("library")
    def library_command(
        name: str | None = typer.Argument(None, help="Report one mechanism instead of listing all."),
    ) -> None:
        """List the classic mechanisms that come with sarrus, or report one of them."""
        raise typer.Exit(show_library(name))

    @app.command("demo")
    def demo_command() -> None:
        """Sarrus' linkage: one of its five constraint rows is redundant, and nothing minds."""
        raise typer.Exit(demo())

    @app.command("study")
    def study_command(
        name: str = typer.Argument(help="A mechanism of the library, or an MJCF, URDF, SDF or JSON file."),
        t_end: float = typer.Option(1.0, help="Length of the runs [s]."),
        dt: float = typer.Option(2e-3, help="Step [s]."),
        method: str = typer.Option("rk4", help=METHOD_HELP),
    ) -> None:
        """Run a mechanism in every formulation, correction and chart: accuracy against cost."""
        raise typer.Exit(show_study(name, t_end, dt, method))

    @app.command("play")
    def play_command(
        name: str = typer.Argument(
            help="A mechanism of the library, a file that describes one, or a run.npz."
        ),
        out: str = typer.Option("motion.html", help="Page (.html) or animation (.gif, .mp4) to write."),
        t_end: float = typer.Option(5.0, help="Length of the run [s]; 0: the pose it starts from."),
        dt: float = typer.Option(2e-3, help="Step [s]."),
    ) -> None:
        """Let a mechanism go, or take a saved run, and write a page that plays it in 3-D in any browser."""
        raise typer.Exit(play(name, Path(out), t_end, dt))

    @app.command("studio")
    def studio_command(
        name: str = typer.Argument(
            help="A mechanism of the library, a file that describes one, or a run.npz."
        ),
        out: str = typer.Option("studio.html", help="Page (.html) to write."),
    ) -> None:
        """Write a page in which a mechanism can be dragged, simulated and analysed in any browser."""
        raise typer.Exit(write_studio(name, Path(out)))

    return app


# ---------------------------------------------------------------------- check


def check(file: Path, as_json: bool, root: str, repaired: Path | None = None) -> int:
    """Report on a file, and write a copy of it whose loops close if asked to; returns the exit code."""
    options = {"root": root} if root != "fixed" else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SarrusWarning)
        mech, problem = _loaded(file, options)
        if repaired is not None and mech is not None and problem is None:
            try:
                save(mech, repaired)
            except SarrusError as error:
                problem = str(error)
    said = [str(w.message) for w in caught if issubclass(w.category, SarrusWarning)]
    if as_json:
        print(json.dumps(_summary(file, mech, problem, said), indent=2))
    else:
        _print_report(mech, problem, said)
    return 0 if problem is None else 1


def convert(source: Path, target: Path, root: str, strict: bool, sidecar: bool) -> int:
    """Write a file in another format; returns the exit code."""
    options: dict[str, Any] = {"root": root} if root != "fixed" else {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SarrusWarning)
            mech = load(source, strict=strict, **options)
            written = save(mech, target, strict=strict, sidecar=sidecar)
    except SarrusError as error:
        _print(error, error=True, title="error:", style="bold red")
        return 1
    for warning in caught:
        _print(warning.message, error=True, title="warning:", style="yellow")
    loops = len({group.name for group in mech.model.groups})
    print(f"{written}: {mech.nv} coordinates, {loops} loops and couplings, {mech.nu} actuators")
    return 0


def _loaded(file: Path, options: dict[str, Any]) -> tuple[Mechanism | None, str | None]:
    """The mechanism, if the file describes one, and the error that prevents its use, if any."""
    try:
        mech = load(file, **options)
    except SarrusError as error:
        return None, str(error)
    try:
        _ = mech.default
    except AssemblyError as error:
        return mech, str(error)
    return mech, None


def _print(text: object, error: bool = False, title: str = "", style: str = "") -> None:
    """Text as it is, on stdout or stderr, after a coloured title."""
    from rich.console import Console

    console = Console(stderr=error, soft_wrap=True)
    if title:
        console.print(title, style=style, end=" ")
    console.print(str(text), markup=False, highlight=False)


def _print_report(mech: Mechanism | None, problem: str | None, said: list[str]) -> None:
    if mech is not None:
        _print(mech)
        for line in _findings(mech, problem is None):
            _print(line)
    for message in said:
        _print(message, error=True, title="warning:", style="yellow")
    if problem is not None:
        _print(problem, error=True, title="error:", style="bold red")


def _findings(mech: Mechanism, closed: bool) -> list[str]:
    """Lines about gaps of loops, inertias that no body has, and what is not modelled."""
    found = []
    if mech.nc:
        gaps = mech.assemble().gaps if not closed else mech.assemble(mech.default.q).gaps
        worst = max(gaps, key=lambda name: gaps[name])
        found.append(f"largest gap of a loop: {gaps[worst]:.1e} m ({worst})")
    odd = [body.name for body in mech.model.bodies[1:] if not is_possible(body)]
    if odd:
        found.append(f"inertias that violate the triangle inequality: {', '.join(odd)}")
    if mech.omitted:
        found.append("not modelled: " + "; ".join(mech.omitted))
    return found


def _summary(file: Path, mech: Mechanism | None, problem: str | None, said: list[str]) -> dict[str, Any]:
    """The report as plain data."""
    data: dict[str, Any] = {"file": str(file), "ok": problem is None, "error": problem, "warnings": said}
    if mech is None:
        return data
    model = mech.model
    data |= {"name": mech.name, "nq": mech.nq, "nv": mech.nv, "nc": mech.nc, "nu": mech.nu}
    data |= {"length": mech.length, "gravity": np.ravel(model.gravity).tolist(), "names": list(mech.names)}
    data["bodies"] = [
        {"name": body.name, "parent": body.parent, "joint": body.joint.label(), "mass": body.mass}
        for body in model.bodies[1:]
    ]
    data["constraints"] = [
        {"name": group.name, "kind": group.kind, "rows": list(mech.row_names[group.rows])}
        for group in model.groups
    ]
    data |= {"actuated": list(mech.actuators), "passive": list(mech.passive), "omitted": list(mech.omitted)}
    data["impossible_inertias"] = [body.name for body in model.bodies[1:] if not is_possible(body)]
    if problem is None:
        q = np.array(mech.default.q)
        m = mech.mobility(q)
        data["default"] = {"q": q.tolist(), "gap": m.gap}
        data["mobility"] = {"dof": m.dof, "rank": m.rank, "gruebler": m.gruebler, "condition": m.condition}
        data["mobility"] |= {"redundant": list(m.redundant), "is_singular": m.is_singular}
        data["mobility"]["explain"] = m.explain()
    else:
        data["gaps"] = dict(mech.assemble().gaps)
    return data


# ---------------------------------------------------------------------- library, study, play, demo


def show_library(name: str | None) -> int:
    """List the library, or report one mechanism of it; returns the exit code."""
    from rich.console import Console
    from rich.table import Table

    if name is None:
        table = Table("name", "what it is", box=None, pad_edge=False)
        for key, description in library.names().items():
            table.add_row(key, description)
        Console(soft_wrap=True).print(table)
        return 0
    if name not in library.MECHANISMS:
        _print(unknown_name("mechanism", name, library.MECHANISMS), error=True)
        return 1
    _print(library.MECHANISMS[name]())
    return 0


def show_study(name: str, t_end: float, dt: float, method: str) -> int:
    """Print the formulation study of a mechanism of the library or of a file; returns the exit code."""
    try:
        _print(study(_mechanism(name), t_end, dt, method))
    except SarrusError as error:
        _print(error, error=True)
        return 1
    return 0


def play(name: str, out: Path, t_end: float, dt: float) -> int:
    """Write a page or an animation of a mechanism let go, or of a saved run; returns the exit code."""
    from sarrus.viz import export

    try:
        if name.endswith(".npz"):
            run = Trajectory.load(name)
        elif t_end > 0.0:
            run = simulate(_mechanism(name), (0.0, t_end), dt=dt)
        else:
            print(export(_mechanism(name), out))
            return 0
        print(run.animate(out) if out.suffix.lower() in (".gif", ".mp4") else run.export(out))
    except SarrusError as error:
        _print(error, error=True)
        return 1
    if not run.success:
        _print(run.message, error=True)
    return 0 if run.success else 1


def write_studio(name: str, out: Path) -> int:
    """Write a studio of a mechanism or of a saved run; returns the exit code."""
    try:
        print((Trajectory.load(name) if name.endswith(".npz") else _mechanism(name)).studio(out))
    except SarrusError as error:
        _print(error, error=True)
        return 1
    return 0


def write_report(name: str, out: Path, sweep: str | None, t_end: float, as_json: bool) -> int:
    """Write the report of a mechanism or of a saved run; returns the exit code."""
    from sarrus.viz import report

    try:
        shown = Trajectory.load(name) if name.endswith(".npz") else _mechanism(name)
        path = report(shown, out, sweep=sweep, t_end=t_end)
    except SarrusError as error:
        _print(error, error=True)
        return 1
    print(json.dumps({"path": str(path), "bytes": path.stat().st_size}) if as_json else path)
    return 0


def _mechanism(name: str) -> Mechanism:
    """A mechanism of the library, or of a file."""
    if name in library.MECHANISMS:
        return library.MECHANISMS[name]()
    if Path(name).exists():
        return load(Path(name))
    raise unknown_name("mechanism", name, library.MECHANISMS)


def demo() -> int:
    """Report Sarrus' linkage and let it go once; returns the exit code."""
    linkage = library.MECHANISMS["sarrus"]()
    _print(linkage)
    q, v = linkage.default
    plate = linkage.body_acceleration(q, v, linkage.forward_dynamics(q, v).a, "plate")
    sideways = float(np.abs(plate[:2]).max())
    _print(
        f"\nLet go from rest, the plate accelerates by {plate[2]:+.4f} m/s^2 along z "
        f"and {sideways:.0e} m/s^2 sideways."
    )
    return 0
