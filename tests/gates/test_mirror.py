"""Tests lie where the code lies: a folder of tests/ for every folder of src/sarrus, no others but OTHERS."""

from __future__ import annotations

from pathlib import Path

from .sources import ROOT, SOURCE, hold

TESTS = ROOT / "tests"
# folders of tests/ that stand for something else than a folder of src/sarrus
OTHERS = {
    "bench": "bench/",
    "cases": "mechanisms that touch every room",
    "cli": "src/sarrus/cli.py",
    "data": "files that tests read",
    "docs": "docs/: the site and its extensions",
    "examples": "examples/",
    "gates": "rules for the sources themselves",
    "kernels": "kernels/",
    "laws": "statements true for every mechanism",
    "oracles": "independent implementations to compare with",
    "parity": "the kernel beside its twin and Pinocchio",
    "reference": "results of other programs and papers",
}

# known offenders: folders of src/sarrus without a folder of tests
STILL: list[str] = []


def folders(root: Path, pattern: str) -> set[str]:
    """Folders below root that hold files of this name, without root itself."""
    return {p.parent.relative_to(root).as_posix() for p in root.rglob(pattern)} - {"."}


def test_every_folder_of_the_library_has_its_tests() -> None:
    hold(
        "Every folder of src/sarrus has a folder of the same name in tests/ that holds tests",
        folders(SOURCE, "*.py") - folders(TESTS, "test_*.py"),
        STILL,
        "git mv the tests of that folder to tests/<folder>/",
    )


def test_every_folder_of_tests_stands_for_something() -> None:
    hold(
        "Every folder of tests/ is named after a folder of src/sarrus or listed in OTHERS",
        {x for x in folders(TESTS, "*") if x.split("/")[0] not in OTHERS and "__pycache__" not in x}
        - folders(SOURCE, "*.py"),
        [],
        "rename it, or say in OTHERS what it is",
    )
