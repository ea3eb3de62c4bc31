"""Rooms stand on each other: imports point down, never in a circle; only viz is reached from below, late.

The rooms, and where a line goes, are explained in docs/architecture.md.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sarrus as sr

from .sources import SOURCE, hold, imports, modules, python_files, short

# docs/architecture.md: lowest floor first; rooms on one floor do not know each other
FLOORS = [
    {"_kernel"},
    {"errors", "varied"},
    {"arrays", "blas_threads"},
    {"differences"},
    {"dual_numbers", "stepped_numbers"},
    {"models"},
    {"constraints"},
    {"projection"},
    {"dynamics", "tracing"},
    {"mechanism"},
    {"formats", "library"},
    {"bridge", "twins"},
    {"simulation"},
    {"design", "gym", "linearization"},
    {"control"},
    {"showcase"},
    {"results"},
    {"viz"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
# the same inside the rooms that have folders; the files that lie in the room itself are above its folders
INNER_FLOORS = {
    "models": [{"base"}, {"shapes"}, {"tree"}, {"flexible"}, {"kinds"}, {"contacts"}],
    "mechanism": [{"describe"}, {"core"}, {"variants"}, {"query"}],
    "formats": [{"reading"}, {"json", "collisions"}, {"writing"}, {"mjcf", "urdf", "usd"}, {"sdf"}],
    "simulation": [
        {"system"},
        {"events"},
        {"stepping"},
        {"charts"},
        {"contacts"},
        {"modes"},
        {"run"},
        {"copies", "trajectory"},
        {"sensitivity"},
    ],
    "viz": [{"scenes"}, {"figures"}],
    "control": [
        {"state"},
        {"limits", "outputs"},
        {"exported"},
        {"core"},
        {"grasp", "hierarchy", "motion", "regulators"},
    ],
}
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
HEAVY = {"scipy", "matplotlib", "mujoco", "pinocchio", "viser", "typer", "rich", "pandas", "control", "cupy"}
HEAVY |= {"distributed"}
NO_KERNEL = {"viz", "cli"}  # they compute nothing; control calls the functions of bindings/control itself

# known offenders: "importing file -> imported module" (cycles), "importing file -> imported folder" (floors)
STILL: dict[str, list[str]] = {
    "cycles": [],
    "inner floors": [],
}

FILES = [p for p in python_files() if p != SOURCE / "__init__.py"]  # all but the front door


def room_of(path: Path) -> str:
    """Name of the room a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def inner_rooms(path: Path) -> Iterator[tuple[str, bool]]:
    """Rooms of this library that a file imports, each with whether at module level."""
    for item in imports(path):
        parts = item.name.split(".")
        if parts[0] == "sarrus" and len(parts) > 1 and parts[1] in FLOOR:
            yield parts[1], not item.late


def run_time_imports(path: Path) -> set[str]:
    """Modules of the library that a file needs when it runs, those of viz imported late left out."""
    wanted = {
        x.module
        for x in imports(path)
        if not x.typing_only and not (x.late and x.name.startswith("sarrus.viz"))
    }
    return {name for name in wanted if name is not None and name != "sarrus"}


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Modules along one cycle of the graph, the first one repeated at the end; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])[::-1]
    return []


def test_every_room_has_a_floor() -> None:
    assert FILES
    assert {room_of(p) for p in FILES} <= set(FLOOR)
    for room in {p.parent.parent.name for p in FILES if p.parent.parent.parent == SOURCE}:
        folders = {p.parent.name for p in (SOURCE / room).glob("*/*.py")}
        assert folders == set().union(*INNER_FLOORS.get(room, [])), (
            f"give the folders of {room}/ their floors"
        )


@pytest.mark.parametrize("path", FILES, ids=short)
def test_imports_point_down(path: Path) -> None:
    here = room_of(path)
    for room, at_top in inner_rooms(path):
        if room == here or FLOOR[room] < FLOOR[here]:
            continue
        assert not at_top, f"{path.name} ({here}) imports {room}, which is not below it"
        assert room == "viz", f"{path.name} ({here}) reaches up to {room}; only viz may be reached, late"


def test_imports_point_down_inside_a_room() -> None:
    offenders = set()
    for room, floors in INNER_FLOORS.items():
        floor = {
            f"sarrus.{room}.{folder}": number for number, folders in enumerate(floors) for folder in folders
        }
        for path in (SOURCE / room).glob("*/*.py"):
            here = f"sarrus.{room}.{path.parent.name}"
            for name in run_time_imports(path):
                there = ".".join(name.split(".")[:3])
                outside = not name.startswith(f"sarrus.{room}.") or there == here
                if not outside and floor.get(there, len(floors)) >= floor[here]:
                    offenders.add(f"{short(path)} -> {there.removeprefix('sarrus.')}")
    hold(
        "A folder of a room imports only folders below it (INNER_FLOORS)",
        offenders,
        STILL["inner floors"],
        "move what both need into the lower folder, or hand it over as an argument",
    )


def test_no_import_cycle() -> None:
    """Late imports count; those for annotations only, and late ones of viz, do not."""
    files = {name: path for name, path in modules().items() if name != "sarrus"}
    graph = {name: run_time_imports(path) for name, path in files.items()}

    def cycle_without(left_out: list[str]) -> list[str]:
        edges = {
            name: {x for x in needs if f"{short(files[name])} -> {x.removeprefix('sarrus.')}" not in left_out}
            for name, needs in graph.items()
        }
        return find_cycle(edges)

    known = STILL["cycles"]
    offenders = {entry for entry in known if cycle_without([x for x in known if x != entry])}
    if cycle := cycle_without(known):
        offenders = {*known, " -> ".join(name.removeprefix("sarrus.") for name in cycle)}
    hold(
        "Modules do not import each other in a circle, late imports included",
        offenders,
        known,
        "move what both need into a module below both, or hand it over as an argument",
    )


@pytest.mark.parametrize("path", FILES, ids=short)
def test_nobody_imports_the_front_door(path: Path) -> None:
    names = [item.name.split(".") for item in imports(path)]
    through = [n for n in names if n[0] == "sarrus" and (len(n) == 1 or n[1] not in FLOOR)]
    assert not through, "import the room, not the package"


@pytest.mark.parametrize("path", FILES, ids=short)
def test_heavy_packages_come_late(path: Path) -> None:
    early = {item.name.split(".")[0] for item in imports(path) if not item.late}
    assert not early & HEAVY


def test_upper_rooms_do_not_touch_the_kernel() -> None:
    for path in FILES:
        if room_of(path) in NO_KERNEL:
            assert "_kernel" not in {room for room, _ in inner_rooms(path)}, path


def loaded_by(code: str) -> set[str]:
    """Modules in a fresh interpreter that ran this code."""
    code = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_library_loads_nothing_heavy() -> None:
    loaded = loaded_by("import sarrus")
    assert not loaded & HEAVY
    assert not loaded & {f"sarrus.{room}" for room in sr._LATE}, "these rooms are imported when first used"


def test_simulating_a_mechanism_loads_nothing_heavy() -> None:
    loaded = loaded_by("import sarrus as sr; sr.simulate(sr.library.four_bar(), (0.0, 0.1))")
    assert "sarrus.simulation" in loaded
    assert not loaded & HEAVY


def test_late_names_are_those_that_type_checkers_see() -> None:
    """The names that `sarrus.__getattr__` resolves, and those imported under TYPE_CHECKING."""
    seen = {item.name.removeprefix("sarrus.") for item in imports(SOURCE / "__init__.py") if item.typing_only}
    late = {f"{room}.{name}" for room, names in sr._LATE.items() for name in names}
    assert seen == late | {room for room, names in sr._LATE.items() if not names}
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        sr.simulat  # noqa: B018
