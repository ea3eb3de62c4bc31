"""Examples in docstrings print what they show."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.gates.sources import SOURCE

MARK = ">>> "
LEAST = 12  # examples: that the search still finds them


def modules_with_examples() -> list[str]:
    """Names of modules whose text has an example."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if MARK in path.read_text(encoding="utf-8"):
            parts = Path("sarrus", path.relative_to(SOURCE)).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def examples(module: ModuleType) -> list[doctest.DocTest]:
    return [one for one in doctest.DocTestFinder(exclude_empty=True).find(module) if one.examples]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_print_what_they_show(name: str) -> None:
    found = examples(importlib.import_module(name))
    assert found, f"{name} has {MARK}lines that doctest does not find"
    runner = doctest.DocTestRunner(verbose=False)
    for one in found:
        said: list[str] = []
        runner.run(one, out=said.append)
        assert not runner.failures, "".join(said)


def test_there_are_examples() -> None:
    assert sum(len(examples(importlib.import_module(name))) for name in modules_with_examples()) >= LEAST
