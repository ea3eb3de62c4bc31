"""Headers as docs/architecture.md says: no std:: outside platform.hpp, no state, includes point down."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from .sources import BINDINGS, KERNELS, cpp_code, cpp_files, hold, includes, python_files, short

HEADERS = sorted(KERNELS.rglob("*.hpp"))

# which other folders of kernels/ the headers of a folder may include
MAY_INCLUDE = {
    "base": "",
    "algebra": "base",
    "tree": "base algebra",
    "constraints": "base algebra tree",
    "contacts": "base algebra tree",
    "solve/factor": "base algebra tree constraints",
    "solve": "base algebra tree constraints solve/factor",
    "solve/search": "base algebra tree constraints solve/factor solve",
    "solve/friction": "base algebra tree constraints solve/factor solve",
    "solve/contact": "base algebra tree constraints contacts solve/factor solve solve/search solve/friction",
    "derivatives": "base algebra tree constraints solve",
    "integrate": "base algebra tree constraints contacts solve derivatives",
    "control": "base algebra tree constraints solve",
    "team": "base algebra tree constraints integrate",
}
# headers that no binding includes, with the reason to keep them
TEXT = "compiled for devices by src/sarrus/tracing, run by tests/tracing"
LAW = "written beside exported laws by src/sarrus/control/exported, run by tests/control/exported"
LAW_HEADERS = ("footing", "law", "law_step", "law_tables", "law_verdict", "reference", "stick_friction")
KEPT: dict[str, str] = {
    "base/rounded.hpp": LAW,
    **{f"control/law/{name}.hpp": LAW for name in LAW_HEADERS},
    "tree/fields.hpp": TEXT,
    **{f"team/{name}.hpp": TEXT for name in ("advance", "elimination", "step", "tables", "tree_pass")},
}

# known offenders: "header -> included header"
STILL: dict[str, list[str]] = {
    "floors": [],
}


def name_of(path: Path) -> str:
    """The header as others include it."""
    return path.relative_to(KERNELS).as_posix()


def folder_of(name: str) -> str:
    """The folder of a header that has a line in MAY_INCLUDE: its own, or the first that it lies in."""
    inner = name.rpartition("/")[0]
    return inner if inner in MAY_INCLUDE else name.split("/")[0]


def reached_from(start: list[Path]) -> set[Path]:
    """All files of kernels/ and bindings/ that the given ones include, directly or not."""
    reached, waiting = set(start), list(start)
    while waiting:
        path = waiting.pop()
        for name in includes(path):
            found = next(p for folder in (path.parent, KERNELS) if (p := (folder / name).resolve()).exists())
            if found not in reached:
                reached.add(found)
                waiting.append(found)
    return reached


def test_there_are_headers() -> None:
    assert (KERNELS / "base" / "platform.hpp") in HEADERS
    assert len(HEADERS) > 5


@pytest.mark.parametrize("path", [p for p in HEADERS if p.name != "platform.hpp"], ids=lambda p: p.name)
def test_only_the_platform_names_the_standard_library(path: Path) -> None:
    code = cpp_code(path)
    assert "std::" not in code
    assert not re.findall(r"#\s*include\s*<", code)
    assert not re.findall(r"\b(throw|new|malloc|delete)\b", code)


@pytest.mark.parametrize("path", HEADERS, ids=lambda p: p.name)
def test_no_state(path: Path) -> None:
    code = cpp_code(path)
    assert "thread_local" not in code
    loose = re.findall(r"\bstatic\b(?!\s+(?:constexpr|const|SARRUS_HD|SARRUS_FN)\b)", code)
    assert not loose, "static objects are state; only static constexpr members and functions are fine"
    inline_objects = re.findall(
        r"^\s*inline\s+(?!namespace\b)(?!.*\bconstexpr\b)[\w:<>,* ]+[=;{]", code, flags=re.MULTILINE
    )
    assert not inline_objects, "compiled objects are looked at in tests/kernels; inline ones only show here"


def test_includes_have_one_direction() -> None:
    graph = {name_of(p): set(includes(p)) for p in HEADERS}
    assert set().union(*graph.values()) <= set(graph), "a kernel includes kernels only"
    assert graph["base/platform.hpp"] == set()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"headers include each other in a circle: {' -> '.join(error.args[1][::-1])}")


def test_includes_point_down() -> None:
    offenders = []
    for path in HEADERS:
        here = folder_of(name_of(path))
        assert here in MAY_INCLUDE, f"give the folder kernels/{here} its line in MAY_INCLUDE"
        allowed = {here, *MAY_INCLUDE[here].split()}
        inside = here.split("/")[0] == "solve"  # its folders are told apart there only
        offenders += [
            f"{name_of(path)} -> {x}"
            for x in includes(path)
            if (folder_of(x) if inside else x.split("/")[0]) not in allowed
        ]
    hold(
        "A header includes its own folder and those below it (MAY_INCLUDE)",
        offenders,
        STILL["floors"],
        "move what both need into the lower folder",
    )


def test_every_header_is_used_by_the_bindings() -> None:
    reached = reached_from([p for p in cpp_files(BINDINGS) if p.suffix != ".hpp"])
    unused = [p for p in [*HEADERS, *cpp_files(BINDINGS)] if p.resolve() not in reached]
    hold(
        "Every header is included, directly or not, by a source file of bindings/",
        [name_of(p) if p.is_relative_to(KERNELS) else short(p) for p in unused],
        KEPT,
        "delete it, or say in KEPT what it is kept for",
    )


def test_every_entry_of_a_function_table_is_called() -> None:
    code = "".join(map(cpp_code, cpp_files(BINDINGS)))
    tables = re.findall(r"\bstruct (\w*Table) \{(.*?)\n\};", code, re.DOTALL)
    entries = [f"{table}.{name}" for table, body in tables for name in re.findall(r"\(\*(\w+)\)\(", body)]
    entries += [f"BatchTable.{name}" for name in calls("OTHER")]
    entries.remove("BatchTable.name")  # the parameter of the macro that makes entries of lines
    assert len(entries) > 30
    owners = "batches|poses|runs|gradients|control|contacts|problems"
    hold(
        "Every function of a function table is called by the bindings",
        [x for x in entries if not re.search(rf"\.({owners})\.{x.split('.')[1]}\b", code)],
        [],
        "delete the entry and the code behind it",
    )


def calls(kind: str) -> list[str]:
    """Names of the calls in a list of bindings/batches/batch_table.hpp."""
    text = cpp_code(BINDINGS / "batches" / "batch_table.hpp")
    listed = re.search(rf"#define SARRUS_{kind}_CALLS\(X\)((?:.*\\\n)+.*)", text)
    assert listed
    return re.findall(r"\bX\((\w+),", listed[1])


@pytest.mark.parametrize(
    ("kinds", "owner"), [("KERNEL COMMON", "kernel"), ("QUERY COMMON", "_queries|_centroidal")]
)
def test_every_ordinary_call_is_used(kinds: str, owner: str) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in python_files())
    names = [name for kind in kinds.split() for name in calls(kind)]
    assert len(names) > 10
    hold(
        f"Every line of the lists {kinds} of batch_table.hpp is a call of Python",
        [name for name in names if not re.search(rf"(?:{owner})\.{name}\b", code)],
        [],
        "delete the line and its kernel function",
    )


@pytest.mark.parametrize("path", HEADERS, ids=lambda p: p.name)
def test_headers_are_guarded_and_in_the_namespace(path: Path) -> None:
    text = path.read_text()
    assert "#pragma once" in text
    assert path.name == "platform.hpp" or re.search(
        r"^(SARRUS_BEGIN|namespace sarrus \{)$", text, re.MULTILINE
    )


@pytest.mark.parametrize("path", HEADERS, ids=lambda p: p.name)
def test_comments_keep_the_width_that_the_formatter_leaves_alone(path: Path) -> None:
    """clang-format does not reflow comments, because it would break equations: their width is held here."""
    wide = [n for n, line in enumerate(path.read_text().splitlines(), 1) if "//" in line and len(line) > 110]
    assert not wide, f"{path.name}: comments wider than 110 columns in lines {wide}; break them by hand"
