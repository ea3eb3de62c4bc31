"""How densely branches lie in src, kernels and bindings.

    python -m bench.density [ROOT] [--most N] [--within PART_OF_PATH] [--dense]

A branch is an `if`, a `for`, a `while`, a case, a handler, a conditional expression, an `and` or `or`; in
Python a clause of a comprehension too. The complexity of a function is one more than its branches, those of
functions inside it among them. Lines are lines of code, as in `bench.code_size`. A function of ten lines and
more is dense where its complexity is more than 0.6 of its lines: it meets the limit of lines by compressing.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .code_size import CPP, ROOT, cpp_without_comments, python_code_lines

FOLDERS = {"Python": ("src",), "C++": ("kernels", "bindings")}
DENSE = 0.6  # complexity over lines
SHORT = 10  # lines: functions below are not called dense
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# `&&` without a space before it is a reference
CPP_BRANCH = re.compile(r"\b(?:if|for|while|case|catch)\b|(?<=\s)&&|\|\||\?")
PYTHON_BRANCH = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.match_case)


class Function(NamedTuple):
    """One function; `line` is where its definition begins, `span` its lines from there to the last."""

    name: str
    path: Path
    line: int
    span: int
    lines: int
    complexity: int

    @property
    def dense(self) -> bool:
        """Whether more is decided in it than its lines show."""
        return self.lines >= SHORT and self.complexity > DENSE * self.lines


class Density(NamedTuple):
    """One file: its lines of code, its branches, its functions."""

    lines: int
    branches: int
    functions: list[Function]


def python_branches(node: ast.AST) -> int:
    """Branches in a syntax tree."""

    def of(one: ast.AST) -> int:
        if isinstance(one, ast.BoolOp):
            return len(one.values) - 1
        if isinstance(one, ast.comprehension):
            return 1 + len(one.ifs)
        return isinstance(one, PYTHON_BRANCH)

    return sum(map(of, ast.walk(node)))


def python_density(path: Path) -> Density:
    """The density of a file of Python."""
    text = path.read_text(encoding="utf-8")
    tree, code = ast.parse(text), python_code_lines(text)
    functions = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rows = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            lines = sum(row in code for row in rows)
            functions.append(
                Function(node.name, path, node.lineno, len(rows), lines, 1 + python_branches(node))
            )
    return Density(len(code), python_branches(tree), functions)


def cpp_plain(text: str) -> str:
    """C++ source with comments, directives and the text of literals blanked out; line breaks are kept."""
    text = LITERAL.sub('""', cpp_without_comments(text))
    return DIRECTIVE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def cpp_functions(text: str) -> Iterator[tuple[str, int, str]]:
    """Name, first line and text of every outermost function in C++, found by its braces."""
    code = cpp_plain(text)
    depth = body = 0  # of braces; where the body of the function being read lies, 0 between functions
    name, start, end = "", 0, 0  # end: of what came before the function
    for mark in re.finditer(r"[{};]", code):
        if mark[0] == "{":
            depth += 1
            if not body:
                head = code[end : mark.start()].lstrip()
                plain = re.sub(r"alignas\([^)]*\)", "", head)
                is_type = re.search(r"\b(struct|class|union|enum|namespace|extern)\b[^)]*$", plain)
                if "(" in plain and not is_type:
                    body, start = depth, mark.start() - len(head)
                    name = next(iter(re.findall(r"([\w:~]+|operator\S+)\s*\(", plain)), plain)
        elif mark[0] == "}":
            if body == depth:
                body = 0
                yield name, code.count("\n", 0, start) + 1, code[start : mark.end()]
            depth -= 1
        if not body:
            end = mark.end()


def cpp_complexity(body: str) -> int:
    """Complexity of a function of C++ from its text without comments."""
    return 1 + len(CPP_BRANCH.findall(body))


def cpp_density(path: Path) -> Density:
    """The density of a file of C++; code in macros counts as lines only."""
    text = path.read_text(encoding="utf-8")
    functions = []
    for name, line, body in cpp_functions(text):
        rows = body.splitlines()
        lines = sum(1 for row in rows if row.strip())
        functions.append(Function(name, path, line, len(rows), lines, cpp_complexity(body)))
    lines = sum(1 for row in cpp_without_comments(text).splitlines() if row.strip())
    return Density(lines, len(CPP_BRANCH.findall(cpp_plain(text))), functions)


def densities(language: str, root: Path = ROOT) -> list[Density]:
    """Every file of a language."""
    paths = [path for folder in FOLDERS[language] for path in sorted((root / folder).rglob("*"))]
    if language == "Python":
        return [python_density(path) for path in paths if path.suffix == ".py"]
    return [cpp_density(path) for path in paths if path.suffix in CPP]


def main() -> None:
    """Print both languages: totals and the functions of highest complexity."""
    parser = argparse.ArgumentParser(prog="python -m bench.density", description=__doc__.split("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--most", type=int, default=20, help="functions to list for each language")
    parser.add_argument("--within", default="", help="list those of paths that contain this")
    parser.add_argument("--dense", action="store_true", help="list dense functions only")
    given = parser.parse_args()
    for language in FOLDERS:
        files = densities(language, given.root)
        lines, branches = sum(x.lines for x in files), sum(x.branches for x in files)
        functions = [one for x in files for one in x.functions]
        longer = [one for one in functions if one.lines >= SHORT]
        dense = sum(one.dense for one in longer)
        print(f"{language}: {lines} lines, {branches} branches, {branches / lines:.3f} per line;", end=" ")
        print(f"{dense} of {len(longer)} functions of {SHORT} lines and more are dense", end=" ")
        print(f"({dense / len(longer):.1%})")
        shown = [x for x in functions if given.within in x.path.as_posix() and (x.dense or not given.dense)]
        for one in sorted(shown, key=lambda x: (-x.complexity, x.lines))[: given.most]:
            place = f"{one.path.relative_to(given.root).as_posix()}:{one.line}"
            print(f"  {one.complexity:4} in {one.lines:3} lines  {one.name}  {place}")


if __name__ == "__main__":
    main()
