"""The list of commands that `sarrus --help` prints: in groups, a line each."""

from __future__ import annotations

from typing import Any

GROUPS: dict[str, dict[str, str]] = {
    "See": {
        "play": "a page that plays: a signature motion, or what happens when it is let go",
        "studio": "a page to take a mechanism with the hand, offline in any browser",
        "show": "what it can do, and a live view or a picture",
        "report": "a report that prints well: mobility, limits, torques, modes, a run",
        "export": "a page, animation, picture or table of a mechanism or a run",
    },
    "Ask": {
        "library": "the mechanisms that come with sarrus, or a report of one",
        "check": "whether a file or mechanism assembles, and what it can do",
        "sweep": "poses and measures along one coordinate, as a table",
        "hold": "motor and joint forces at rest, as a table",
        "linearize": "equilibrium and linear model",
    },
    "Move": {
        "simulate": "a run from a start, with constant inputs or none",
        "study": "accuracy against cost of every formulation",
    },
    "Files and installation": {
        "convert": "a robot file in another format, loops included",
        "doctor": "what is installed, and what is missing for what",
        "completion": "a completion script for your shell",
        "demo": "Sarrus' linkage: one of its five constraint rows is redundant",
    },
}


def grouped() -> Any:
    """The class of a `typer.Typer` application whose help lists commands by group."""
    from typer.core import TyperGroup

    class Grouped(TyperGroup):
        def format_commands(self, ctx: Any, formatter: Any) -> None:
            for title, commands in GROUPS.items():
                with formatter.section(title):
                    formatter.write_dl(list(commands.items()))

    return Grouped
