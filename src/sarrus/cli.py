"""The command line: `sarrus COMMAND`, or `python -m sarrus COMMAND`."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

from sarrus.commands.answers import respond
from sarrus.commands.completion import SHELLS, commands_of, completion
from sarrus.commands.doctor import doctor
from sarrus.commands.holding import hold
from sarrus.commands.motion import (
    WRITTEN,
    export,
    linear,
    play,
    run_simulation,
    show,
    sweep,
    write_report,
    write_studio,
)
from sarrus.commands.overview import grouped
from sarrus.commands.reports import check, convert, demo, show_library, show_study
from sarrus.commands.start import MOTOR_HELP, SPEED_HELP, START_HELP, Start
from sarrus.simulation.stepping.methods import METHODS

METHOD_HELP = "Integration method: " + "; ".join(f"{x.name}: {x.summary}" for x in METHODS.values()) + "."
NAME_HELP = "A mechanism of the library, or an MJCF, URDF, SDF, USD or JSON file."
RUN_HELP = "A mechanism of the library, a file that describes one, or a run.npz."
FIXED_HELP = "Coordinate to hold, such as crank=0.3 [rad, m]; may be repeated."
JSON_HELP = "Print the result as JSON."
MISSING = (
    "The command line of sarrus needs the packages typer and rich, which are not installed.\n"
    "Install them with: pip install 'sarrus[cli]'"
)


def main() -> None:
    """Entry point of the command `sarrus`."""
    try:
        app = build_app()
    except ImportError:
        if sys.argv[1:2] == ["doctor"]:  # says what is missing
            raise SystemExit(respond(doctor, "--json" in sys.argv)) from None
        show_version("--version" in sys.argv)
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
        cls=grouped(),
        help="Mechanisms with closed loops: see them move, ask what they can do, simulate them.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # markup would swallow units such as [s]
    )

    shown = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Version.")

    @app.callback()
    def main_command(version: bool = shown) -> None:
        """Mechanisms with closed loops: see them move, ask what they can do, simulate them."""

    return app


def add_file_commands(typed: Any) -> None:
    """`check` and `convert`."""
    import typer

    app: typer.Typer = typed
    file_argument = typer.Argument(help=NAME_HELP)
    target_argument = typer.Argument(help="File to write: .xml (MJCF), .urdf, .sdf or .json.")
    copy_option = typer.Option(None, help="Write a copy whose loops close: .xml, .urdf, .sdf or .json.")

    @app.command("check")
    def check_command(
        file: Path = file_argument,
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON."),
        root: str = typer.Option("fixed", help="Root link of a URDF: 'fixed' to the ground or 'free'."),
        repaired: Path | None = copy_option,
    ) -> None:
        """Assemble a file or a library mechanism and report what it can do: mobility, redundant rows, gaps of
        loops, inertias that cannot be, what is not modelled. Exit code 1 if it cannot be assembled."""
        raise typer.Exit(check(file, as_json, root, repaired))

    @app.command("convert")
    def convert_command(
        *,
        source: Path = file_argument,
        target: Path = target_argument,
        root: str = typer.Option("fixed", help="Root link of a URDF: 'fixed' to the ground or 'free'."),
        strict: bool = typer.Option(False, help="Refuse what either format or the library cannot say."),
        sidecar: bool = typer.Option(False, help="Write the loops of a URDF to a file beside it."),
        as_json: bool = typer.Option(False, "--json", help=JSON_HELP),
    ) -> None:
        """Convert a robot file, loops included. Says what is lost on the way."""
        raise typer.Exit(respond(lambda: convert(source, target, root, strict, sidecar), as_json, "convert"))


def add_pose_commands(typed: Any) -> None:
    """`show` and `sweep`."""
    import typer

    app: typer.Typer = typed
    name_argument = typer.Argument(help=NAME_HELP)
    json_option = typer.Option(False, "--json", help=JSON_HELP)
    fixed_option = typer.Option([], help=FIXED_HELP)

    @app.command("show")
    def show_command(
        *,
        name: str = name_argument,
        out: str | None = typer.Option(
            None, help="Write a page (.html) or picture (.png, .svg, .pdf) instead."
        ),
        fixed: list[str] = fixed_option,
        as_json: bool = json_option,
    ) -> None:
        """Report a mechanism and show it: in the live view in the browser, or in a file. With --json and no
        file it is reported only."""
        live = out is None and not as_json  # which prints lines of its own
        raise typer.Exit(respond(lambda: show(name, out, fixed, as_json), as_json, "" if live else "show"))

    @app.command("sweep")
    def sweep_command(
        *,
        name: str = name_argument,
        coordinate: str = typer.Argument(help="Coordinate to move."),
        start: float = typer.Option(..., "--from", help="First value [rad, m]."),
        end: float = typer.Option(..., "--to", help="Last value [rad, m]."),
        points: int = typer.Option(61, help="Number of poses."),
        fixed: list[str] = fixed_option,
        out: str | None = typer.Option(None, help="Table to write (.csv) instead of printing it."),
        as_json: bool = json_option,
    ) -> None:
        """Move one coordinate and print all others, and measures, as a table (CSV)."""
        raise typer.Exit(
            respond(lambda: sweep(name, coordinate, (start, end, points), fixed, out), as_json, "sweep")
        )


def add_hold_command(typed: Any) -> None:
    """`hold`."""
    import typer

    app: typer.Typer = typed
    by_option = typer.Option([], help="Joint that holds; repeat for several.")
    fixed_option = typer.Option([], help=FIXED_HELP)

    @app.command("hold")
    def hold_command(
        *,
        name: str = typer.Argument(help=NAME_HELP),
        coordinate: str | None = typer.Argument(None, help="Coordinate to move; without it, one pose."),
        start: float | None = typer.Option(None, "--from", help="First value [rad, m]."),
        end: float | None = typer.Option(None, "--to", help="Last value [rad, m]."),
        points: int = typer.Option(61, help="Number of poses."),
        by: list[str] = by_option,
        fixed: list[str] = fixed_option,
        out: str | None = typer.Option(None, help="Table (.csv) or picture to write instead of printing."),
        as_json: bool = typer.Option(False, "--json", help=JSON_HELP),
    ) -> None:
        """Motor and joint forces at rest, at a pose or along a coordinate, as a table (CSV)."""
        path = None if coordinate is None else (coordinate, start, end, points)
        raise typer.Exit(respond(lambda: hold(name, path, by, fixed, out), as_json, "hold"))


def add_motion_commands(typed: Any) -> None:
    """`simulate` and `linearize`."""
    import typer

    app: typer.Typer = typed
    name_argument = typer.Argument(help=NAME_HELP)
    json_option = typer.Option(False, "--json", help=JSON_HELP)
    fixed_option = typer.Option([], help=FIXED_HELP)
    start_option = typer.Option([], help=START_HELP)
    speed_option = typer.Option([], help=SPEED_HELP)
    motor_option = typer.Option([], help=MOTOR_HELP)
    independent_option = typer.Option([], help="Independent coordinate; repeat for several.")

    @app.command("simulate")
    def simulate_command(
        *,
        name: str = name_argument,
        t_end: float = typer.Option(1.0, help="Length of the run [s]."),
        dt: float | None = typer.Option(None, help="Fixed step [s]; without it, steps are chosen."),
        method: str | None = typer.Option(None, help=METHOD_HELP),
        rtol: float | None = typer.Option(None, help="Relative error per step."),
        start: list[str] = start_option,
        speed: list[str] = speed_option,
        motor: list[str] = motor_option,
        out: str | None = typer.Option(None, help=f"File to write: {WRITTEN}."),
        as_json: bool = json_option,
    ) -> None:
        """Let a mechanism go from its default state, or from another, with constant inputs or none."""
        options = {"dt": dt, "method": method, "rtol": rtol}
        given = Start(start, speed, motor)
        raise typer.Exit(respond(lambda: run_simulation(name, t_end, options, given, out), as_json))

    @app.command("linearize")
    def linearize_command(
        *,
        name: str = name_argument,
        independent: list[str] = independent_option,
        fixed: list[str] = fixed_option,
        out: str | None = typer.Option(None, help="File to write (.npz): A, B, C, D, q, u, names."),
        as_json: bool = json_option,
    ) -> None:
        """Find the equilibrium (or hold the given coordinates) and print the linear model about it."""
        raise typer.Exit(respond(lambda: linear(name, independent, fixed, out), as_json, "linearize"))


def add_installation_commands(typed: Any) -> None:
    """`doctor` and `completion`."""
    import typer

    app: typer.Typer = typed

    @app.command("doctor")
    def doctor_command(as_json: bool = typer.Option(False, "--json", help=JSON_HELP)) -> None:
        """What is installed: versions, instruction set, GPU, extras and what each is for."""
        raise typer.Exit(respond(doctor, as_json, "doctor"))

    @app.command("completion")
    def completion_command(
        shell: str = typer.Argument(help=f"One of {', '.join(SHELLS)}."),
        as_json: bool = typer.Option(False, "--json", help=JSON_HELP),
    ) -> None:
        """Print a completion script: eval "$(sarrus completion bash)"."""
        raise typer.Exit(respond(lambda: completion(shell, commands_of(app)), as_json, "completion"))


def add_report_command(typed: Any) -> None:
    """`report`."""
    import typer

    app: typer.Typer = typed

    @app.command("report")
    def report_command(
        name: str = typer.Argument(help=RUN_HELP),
        out: str = typer.Option("report.html", help="Page (.html) to write."),
        sweep: str | None = typer.Option(None, help="Coordinate to sweep; default the first actuated one."),
        t_end: float = typer.Option(2.0, help="Length of the run [s]."),
        as_json: bool = typer.Option(False, "--json", help="Print path and size as JSON."),
    ) -> None:
        """Write a report that prints well: what it is, mobility, limits, torques, modes, a run, pictures."""
        raise typer.Exit(respond(lambda: write_report(name, Path(out), sweep, t_end), as_json, "report"))


def add_library_commands(typed: Any) -> None:
    """`library`, `study` and `demo`."""
    import typer

    app: typer.Typer = typed
    json_option = typer.Option(False, "--json", help=JSON_HELP)

    @app.command("library")
    def library_command(
        *,
        name: str | None = typer.Argument(None, help="Report one mechanism instead of listing all."),
        as_json: bool = json_option,
    ) -> None:
        """List the classic mechanisms that come with sarrus, or report one of them."""
        raise typer.Exit(respond(lambda: show_library(name), as_json, "library"))

    @app.command("demo")
    def demo_command(as_json: bool = json_option) -> None:
        """Sarrus' linkage: one of its five constraint rows is redundant, and nothing minds."""
        raise typer.Exit(respond(demo, as_json, "demo"))

    @app.command("study")
    def study_command(
        *,
        name: str = typer.Argument(help=NAME_HELP),
        t_end: float = typer.Option(1.0, help="Length of the runs [s]."),
        dt: float = typer.Option(2e-3, help="Step [s]."),
        method: str = typer.Option("rk4", help=METHOD_HELP),
        as_json: bool = json_option,
    ) -> None:
        """Run a mechanism in every formulation, correction and chart: accuracy against cost."""
        raise typer.Exit(respond(lambda: show_study(name, t_end, dt, method), as_json, "study"))


def add_export_commands(typed: Any) -> None:
    """`export`, `play` and `studio`."""
    import typer

    app: typer.Typer = typed
    json_option = typer.Option(False, "--json", help=JSON_HELP)
    out_argument = typer.Argument(help=f"File to write: {WRITTEN}.")
    start_option = typer.Option([], help=START_HELP)
    speed_option = typer.Option([], help=SPEED_HELP)
    motor_option = typer.Option([], help=MOTOR_HELP)

    @app.command("export")
    def export_command(
        *,
        name: str = typer.Argument(help=RUN_HELP),
        out: Path = out_argument,
        t_end: float = typer.Option(0.0, help="Length of the run [s]; 0: the pose it starts from."),
        start: list[str] = start_option,
        speed: list[str] = speed_option,
        motor: list[str] = motor_option,
        as_json: bool = json_option,
    ) -> None:
        """Write a mechanism or a run as a page, an animation, a picture or a table."""
        raise typer.Exit(respond(lambda: export(name, out, t_end, Start(start, speed, motor)), as_json))

    @app.command("play")
    def play_command(
        *,
        name: str = typer.Argument(help=RUN_HELP),
        out: str = typer.Option("motion.html", help="Page (.html) or animation (.gif, .mp4) to write."),
        t_end: float | None = typer.Option(
            None, help="Let it go for so long [s]; 0: the pose it starts from."
        ),
        dt: float | None = typer.Option(None, help="Fixed step [s]; without it, steps are chosen."),
        start: list[str] = start_option,
        speed: list[str] = speed_option,
        motor: list[str] = motor_option,
        as_json: bool = json_option,
    ) -> None:
        """Write a page that plays in any browser: the signature motion of a library mechanism, a saved run,
        or a mechanism that is let go: for 5 s, or as --t-end, --dt, --start, --speed and --motor say."""
        given = Start(start, speed, motor)
        raise typer.Exit(respond(lambda: play(name, Path(out), t_end, given, dt), as_json))

    @app.command("studio")
    def studio_command(
        name: str = typer.Argument(help=RUN_HELP),
        out: str = typer.Option("studio.html", help="Page (.html) to write."),
        as_json: bool = json_option,
    ) -> None:
        """Write a page in which a mechanism can be dragged, simulated and analysed, offline."""
        raise typer.Exit(respond(lambda: write_studio(name, Path(out)), as_json, "studio"))


def build_app() -> Any:
    """The commands, as a `typer.Typer` application."""
    import rich  # noqa: F401  (asked for here, so that one message covers both packages)
    import typer

    app: typer.Typer = empty_app()
    add_file_commands(app)
    add_pose_commands(app)
    add_hold_command(app)
    add_motion_commands(app)
    add_installation_commands(app)
    add_report_command(app)
    add_library_commands(app)
    add_export_commands(app)
    return app
