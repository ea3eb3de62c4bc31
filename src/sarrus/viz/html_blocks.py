"""Pieces of HTML for notebooks and reports. Text is escaped here, so that names of files are never markup."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import Any

from .scenes.picture import Pixels, png

STYLE = """
.sarrus { font: 14px/1.45 system-ui, sans-serif; }
.sarrus table { border-collapse: collapse; margin: 6px 0; }
.sarrus.sarrus th, .sarrus.sarrus td { text-align: left; padding: 2px 14px 2px 0; vertical-align: top; }
.sarrus.sarrus th, .sarrus.sarrus td { border-bottom: 1px solid rgb(128 128 128 / 0.35); }
.sarrus.sarrus th { font-weight: 600; opacity: 0.75; }
.sarrus.sarrus td.number { text-align: right; font-variant-numeric: tabular-nums; }
.sarrus img { max-width: 100%; background: #fff; border-radius: 6px; }
.sarrus.sarrus pre { white-space: pre-wrap; word-break: normal; }
.sarrus pre { font: 12.5px/1.45 ui-monospace, monospace; margin: 6px 0; }
.sarrus .warning { border-left: 3px solid #c1121f; padding-left: 10px; }
"""
SHORT = 12  # rows


def text(value: object) -> str:
    """Text as it is."""
    return html.escape(str(value))


def paragraph(value: object, kind: str = "") -> str:
    """A paragraph, of a class of STYLE if given."""
    return f'<p class="{kind}">{text(value)}</p>' if kind else f"<p>{text(value)}</p>"


def heading(value: object, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{text(value)}</h{level}>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; cells that are numbers are set to the right. Short ones are printed on one page."""
    top = "".join(f"<th>{text(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    kind = ' class="short"' if len(rows) <= SHORT else ""
    return f"<table{kind}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:.4g}</td>'
    return f'<td class="number">{value}</td>' if isinstance(value, int) else f"<td>{text(value)}</td>"


def image(pixels: Pixels, label: str, width: int | None = None) -> str:
    """Pixels as an image inside the page."""
    return _image(png(pixels), label, pixels.shape[1] if width is None else width)


def figure(drawn: Any, label: str) -> str:
    """A figure of matplotlib as an image inside the page; the figure is closed."""
    from .scenes.style import pyplot

    file = io.BytesIO()
    drawn.savefig(file, format="png", dpi=150, facecolor="white")
    width = round(96 * drawn.get_figwidth())
    pyplot().close(drawn)
    return _image(file.getvalue(), label, width)


def _image(data: bytes, label: str, width: int) -> str:
    source = base64.b64encode(data).decode("ascii")
    return f'<img src="data:image/png;base64,{source}" alt="{text(label)}" width="{width}">'


def framed(page: str, height: int) -> str:
    """A whole page inside another one, such as a notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {height}px; border: 0;"'
        ' sandbox="allow-scripts"></iframe>'
    )
