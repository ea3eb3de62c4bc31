"""Private names stay in their room: what other rooms need has a public name there."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bench.code_size import size_of

from .sources import hold, python_files, short, tree_of
from .test_import_direction import room_of

MOST = 0.6  # accesses to private names of other rooms per 1,000 lines of code
OF_TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # public names of NamedTuple
# known offenders: "file: name"; all others reach from simulation, whose rooms change at present
STILL = ["design/run_evaluation.py: _kept_at", "linearization/trajectory.py: _outcome"]
CHANGING = "simulation"


def private(name: str) -> bool:
    """Whether a name begins with one underscore."""
    return name.startswith("_") and not name.startswith("__") and name not in OF_TUPLES


def defined(tree: ast.Module) -> Iterator[str]:
    """Private names of functions, classes, fields and attributes that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def own(owner: ast.expr) -> bool:
    """Whether an object is that of the method itself: self, cls or super()."""
    if isinstance(owner, ast.Call):
        owner = owner.func
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls", "super")


def rooms_of_names() -> dict[str, set[str]]:
    """The rooms that define each private name."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in python_files():
        for name in filter(private, defined(tree_of(path))):
            found[name].add(room_of(path))
    return found


def reaches() -> Iterator[tuple[Path, str]]:
    """Accesses x._name where other rooms define the name and that of the file does not."""
    rooms = rooms_of_names()
    for path in python_files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Attribute) and private(node.attr) and not own(node.value):
                where = rooms.get(node.attr, set())
                if where and room_of(path) not in where:
                    yield path, node.attr


def test_rooms_do_not_use_private_names_of_others() -> None:
    hold(
        "Private names are used in the room that defines them",
        {f"{short(path)}: {name}" for path, name in reaches() if room_of(path) != CHANGING},
        STILL,
        "give it a public name in its room, as in mechanism/core/access.py",
    )


def test_few_private_names_of_others_are_used() -> None:
    lines = sum(size_of(path).code for path in python_files())
    count = len(list(reaches()))
    assert 1000 * count / lines <= MOST, f"{count} accesses to private names of other rooms in {lines} lines"
