"""The kernel headers that a piece of C++ includes, to be written beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .general_text import headers
from .written_files import MARKS

INCLUDED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def needed_headers(first: Iterable[str]) -> dict[str, str]:
    """Texts of these headers and of all that they include, by their paths in the folder of headers."""
    folder, waiting, found = headers(), list(first), dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        text = (folder / name).read_text(encoding="ascii")
        found[name] = f"// {MARKS[0]}\n{text}"
        waiting += INCLUDED.findall(text)
    return dict(sorted(found.items()))
