"""What the gates read: files of the library, their syntax trees and imports, and how a rule is reported.

A gate compares what offends a rule today with its list STILL. The list names known offenders and can only
shrink: a new offender fails, and so does an entry that no longer offends.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import sarrus as sr
from bench.code_size import cpp_without_comments

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sarrus"
KERNELS = ROOT / "kernels"
BINDINGS = ROOT / "bindings"


class Import(NamedTuple):
    """One imported name with its dots; `late`: inside a function; `typing_only`: under TYPE_CHECKING."""

    name: str
    late: bool
    typing_only: bool

    @property
    def module(self) -> str | None:
        """The module of this library that the name is, or comes from; None for other packages."""
        return next((x for x in (self.name, self.name.rpartition(".")[0]) if x in modules()), None)


def hold(rule: str, offenders: Collection[str], still: Collection[str], way_out: str) -> None:
    """Fail when something new offends the rule, or when something listed no longer does."""
    new = sorted(set(offenders) - set(still))
    mended = sorted(set(still) - set(offenders))
    assert not new, "\n  ".join([f"{rule}. Offending:", *new, f"Way out: {way_out}"])
    assert not mended, "\n  ".join(
        ["These keep the rule by now, remove them from the list at the top of the gate:", *mended]
    )


def public_rooms() -> list[ModuleType]:
    """`sarrus` and the packages that it exports: what their `__all__` lists is public."""
    return [sr, *(x for name in sr.__all__ if isinstance(x := getattr(sr, name), ModuleType))]


def python_files() -> list[Path]:
    """Every Python file of the library."""
    return sorted(SOURCE.rglob("*.py"))


def cpp_files(*folders: Path) -> list[Path]:
    """Every C++ file of the folders."""
    return sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in (".hpp", ".cpp", ".cu"))


def short(path: Path) -> str:
    """The path below src/sarrus, or below the root of the repository."""
    return path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    """Syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def cpp_code(path: Path) -> str:
    """C++ source without comments and without the text of string literals; line numbers are kept."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', cpp_without_comments(path.read_text(encoding="utf-8")))


def includes(path: Path) -> list[str]:
    """Quoted includes of a C++ file, as written."""
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def modules() -> dict[str, Path]:
    """Modules of the library by dotted name; a package stands for its `__init__.py`."""
    names = ((".".join(("sarrus", *p.relative_to(SOURCE).with_suffix("").parts)), p) for p in python_files())
    return {name.removesuffix(".__init__"): path for name, path in names}


def imports(path: Path) -> Iterator[Import]:
    """Everything a file imports: `import a` gives `a`, `from a import b` gives `a.b`."""
    package = ("sarrus", *path.relative_to(SOURCE).parts[:-1])

    def walk(node: ast.AST, late: bool, typing_only: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                level = getattr(child, "level", 0)
                base = package[: len(package) - level + 1] if level else ()
                stem = [*base, getattr(child, "module", None)]
                for alias in child.names:
                    yield Import(".".join(filter(None, [*stem, alias.name])), late, typing_only)
            else:
                function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                guarded = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                yield from walk(child, late or function, typing_only or guarded)

    yield from walk(tree_of(path), False, False)
