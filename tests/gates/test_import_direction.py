"""Rooms stand on each other: imports point down, convenience that reaches up does so late and only to viz."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "sarrus"

# design.md, section 3: lowest floor first; rooms on one floor do not know each other
FLOORS = [
    {"errors", "_kernel"},
    {"arrays"},
    {"models"},
    {"constraints"},
    {"projection"},
    {"dynamics"},
    {"mechanism"},
    {"formats", "library"},
    {"simulation"},
    {"linearization"},
    {"control"},
    {"viz"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
HEAVY = {"matplotlib", "mujoco", "pinocchio", "viser", "typer", "rich", "pandas", "control", "cupy"}
NO_KERNEL = {"control", "viz", "cli"}


def modules() -> list[Path]:
    """Every Python file of the library except the package's front door."""
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    """Name of the room a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Absolute dotted names imported by a file, and whether at module level."""
    package = ("sarrus", *path.relative_to(SOURCE).parts[:-1])

    def walk(node: ast.AST, late: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from ((alias.name, not late) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else ()
                stem = ".".join([*base, *([child.module] if child.module else [])])
                if stem != "sarrus":
                    yield stem, not late
                yield from ((f"{stem}.{alias.name}", not late) for alias in child.names)
            yield from walk(child, late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False)


def inner_rooms(path: Path) -> Iterator[tuple[str, bool]]:
    """Rooms of this library that a file imports."""
    for name, at_top in imports(path):
        parts = name.split(".")
        if parts[0] == "sarrus" and len(parts) > 1 and parts[1] in FLOOR:
            yield parts[1], at_top


def test_every_room_has_a_floor() -> None:
    assert modules()
    assert {room_of(p) for p in modules()} <= set(FLOOR)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    here = room_of(path)
    for room, at_top in inner_rooms(path):
        if room == here or FLOOR[room] < FLOOR[here]:
            continue
        assert not at_top, f"{path.name} ({here}) imports {room}, which is not below it"
        assert room == "viz", f"{path.name} ({here}) reaches up to {room}; only viz may be reached, late"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_nobody_imports_the_front_door(path: Path) -> None:
    names = [name.split(".") for name, _ in imports(path)]
    through = [n for n in names if n[0] == "sarrus" and (len(n) == 1 or n[1] not in FLOOR)]
    assert not through, "import the room, not the package"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_heavy_packages_come_late(path: Path) -> None:
    early = {name.split(".")[0] for name, at_top in imports(path) if at_top}
    assert not early & HEAVY


def test_upper_rooms_do_not_touch_the_kernel() -> None:
    for path in modules():
        if room_of(path) in NO_KERNEL:
            assert "_kernel" not in {room for room, _ in inner_rooms(path)}, path


def test_importing_the_library_loads_nothing_heavy() -> None:
    code = f"import sys, sarrus; print(sorted({HEAVY!r} & {{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
