"""Programs on pages: ```python blocks run in order in one namespace, as a reader would paste them.

A ```text block right after a ```python block is what that block prints; "..." stands for any text, as in
doctest.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```$)?", re.S | re.M)
LONGEST = 5.0  # CPU seconds of a block


class BlockError(AssertionError):
    """A block prints something else than the page shows, or takes too long."""


@dataclass(frozen=True)
class Block:
    """One ```python block: line of its first statement, text, what it must print (or None), where it ends."""

    line: int
    code: str
    output: str | None
    end: int


def blocks(text: str) -> list[Block]:
    """The ```python blocks of a page, in order."""
    return [
        Block(text.count("\n", 0, match.start(1)) + 1, match[1], match[2], match.end())
        for match in BLOCK.finditer(text)
    ]


def run(text: str, path: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in the current folder; yields each with what it printed.

    Raises:
        BlockError: a block prints something else than the page shows, or takes too long.
    """
    namespace: dict[str, object] = {"__name__": "page"}
    checker, flags = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks(text):
        where = f"{path}:{block.line}"
        printed, began = io.StringIO(), time.process_time()
        with contextlib.redirect_stdout(printed):
            lines = "\n" * (block.line - 1) + block.code
            exec(
                compile(lines, str(path), "exec", dont_inherit=True), namespace
            )  # annotations as the reader's
        taken = time.process_time() - began
        if taken > LONGEST:
            raise BlockError(f"{where}: the block takes {taken:.1f} s; shorten it")
        if block.output is not None and not checker.check_output(block.output, printed.getvalue(), flags):
            raise BlockError(f"{where} shows\n{block.output}\nbut the block prints\n{printed.getvalue()}")
        yield block, printed.getvalue()
