"""Lines of code: `python -m bench.code_size [ROOT]` counts src, kernels and bindings, room by room.

A line of code holds something else than a comment, a docstring or white space. What is generated
(`_kernel.pyi`) and the pages of viz (HTML, JavaScript) do not count. The share of comments is the part of all
lines with text that are comments or docstrings.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "kernels", "bindings")
CPP = (".hpp", ".cpp", ".cu")
BLANK_TOKENS = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
# a comment, or a literal in which // and /* mean nothing: a string, or a character that is no digit separator
CPP_PIECE = re.compile(
    r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')", re.DOTALL
)


class Size(NamedTuple):
    """Lines of code, and lines that hold nothing but comment or docstring."""

    code: int = 0
    comment: int = 0

    @property
    def comment_share(self) -> float:
        """Comment lines over all lines that are not blank, from 0 to 1."""
        return self.comment / max(1, self.code + self.comment)

    def plus(self, other: Size) -> Size:
        """Both together."""
        return Size(self.code + other.code, self.comment + other.comment)


def cpp_without_comments(text: str) -> str:
    """C++ source with its comments blanked out, line breaks and literals kept."""
    return CPP_PIECE.sub(lambda piece: piece[1] or re.sub(r"[^\n]", " ", piece[0]), text)


def docstring_lines(tree: ast.AST) -> set[int]:
    """Numbers of the lines that docstrings take: of modules, classes and functions, and below attributes."""
    bodies = (getattr(node, "body", None) for node in ast.walk(tree))
    texts = (
        statement.value
        for body in bodies
        if isinstance(body, list)
        for statement in body
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
    return {line for text in texts for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)}


def python_code_lines(text: str) -> set[int]:
    """Numbers of the lines of a Python source that hold code."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in BLANK_TOKENS:
            code.update(range(token.start[0], token.end[0] + 1))
    return code - docstring_lines(ast.parse(text))


def size_of(path: Path) -> Size:
    """Lines of one file of Python or C++."""
    text = path.read_text(encoding="utf-8")
    filled = sum(1 for line in text.splitlines() if line.strip())
    if path.suffix == ".py":
        lines = text.splitlines()
        code = sum(1 for number in python_code_lines(text) if lines[number - 1].strip())
    else:
        code = sum(1 for line in cpp_without_comments(text).splitlines() if line.strip())
    return Size(code, filled - code)


def sizes(root: Path = ROOT) -> Iterator[tuple[str, Size]]:
    """Every room (`src/sarrus/control`, `kernels/tree`, ...) with its size."""
    rooms: dict[str, Size] = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix == ".py" or path.suffix in CPP:
                parts = path.relative_to(root).parts[:-1]
                room = "/".join(parts[: 3 if folder == "src" else 2])
                rooms[room] = rooms.get(room, Size()).plus(size_of(path))
    yield from rooms.items()


def main() -> None:
    """Print the table."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    total = Size()
    print(f"{'room':28}{'code':>8}{'comments':>10}{'share':>8}")
    for room, size in sizes(root):
        print(f"{room:28}{size.code:8}{size.comment:10}{size.comment_share:8.1%}")
        total = total.plus(size)
    print(f"{'all':28}{total.code:8}{total.comment:10}{total.comment_share:8.1%}")


if __name__ == "__main__":
    main()
