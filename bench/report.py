"""Tables on the terminal, and the same numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

# Column: heading, key of the row, format of the value ("" for text)
Column = tuple[str, str, str]

# one step of a controller, part by part
STEPS: tuple[Column, ...] = (
    ("what", "title", ""),
    ("us", "sarrus_us", ".1f"),
    ("share", "share", ".2f"),
)


def table(title: str, columns: Sequence[Column], rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Columns as wide as they need to be, text to the left and numbers to the right."""
    cells = [[_cell(row.get(key), form) for _, key, form in columns] for row in rows]
    heads = [heading for heading, _, _ in columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = ["", title, ""]
    for line in (heads, ["-" * width for width in widths], *cells):
        aligned = [
            text.ljust(width) if form == "" else text.rjust(width)
            for text, width, (_, _, form) in zip(line, widths, columns, strict=True)
        ]
        lines.append("  " + "  ".join(aligned).rstrip())
    return "\n".join([*lines, *(f"  {note}" for note in notes)])


def _cell(value: Any, form: str) -> str:
    if value is None:
        return "-"
    return format(value, form) if form else str(value)


def targets(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Those ratios that have an upper bound, with whether they keep it."""
    return [
        {
            "what": row["title"],
            "ratio": row["ratio"],
            "at_most": row["at_most"],
            "met": row["ratio"] <= row["at_most"],
        }
        for row in rows
        if row.get("at_most") is not None
    ]


def write(path: Path, results: Mapping[str, Any]) -> None:
    """Results as JSON; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
