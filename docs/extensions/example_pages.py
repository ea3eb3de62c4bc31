"""Sphinx extension: examples are pages with their program and, after `make gallery`, their picture.

A link to ../examples/NAME.py on a page leads to the page of that program. On gallery.md each entry of the
list gets the picture out/NAME.png.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = "_examples"
LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)+examples/((?:\w+/)?\w+)\.py\)")
STYLE = "body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }"
STYLE += " pre { font-size: 13px; line-height: 1.45; overflow-x: auto; } img { max-width: 100%; }"
STYLE += " :root { color-scheme: light; } body { background: #fff; color: #22262b; }"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def examples(app: Sphinx) -> list[Path]:
    """The programs."""
    return sorted((Path(app.srcdir).parent / "examples").rglob("*.py"))


def write_pages(app: Sphinx) -> None:
    """A page for each program, and the pictures that there are."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in examples(app):
        drawn = Path(app.srcdir).parent / "out" / f"{path.stem}.png"
        if drawn.is_file():
            shutil.copy(drawn, folder / drawn.name)
        picture = f'<p><img src="{drawn.name}" alt="drawn by the program"></p>' if drawn.is_file() else ""
        (folder / f"{path.stem}.html").write_text(page(path, picture), encoding="utf-8")


def page(path: Path, picture: str) -> str:
    """The program, in colours."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    shown = HtmlFormatter(style="friendly")
    code = highlight(path.read_text(encoding="utf-8"), PythonLexer(), shown)
    name = html.escape(path.name)
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}{shown.get_style_defs()}</style>"
        f'<p><a href="../gallery.html">gallery</a></p><h1>{name}</h1>{picture}{code}</html>\n'
    )


def link_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to programs lead to their pages; in the gallery their pictures stand above the words."""
    up = "../" * name.count("/")
    drawn = Path(app.outdir) / FOLDER

    def linked(found: re.Match[str]) -> str:
        stem = found[2].rpartition("/")[2]
        link = f'<a href="{up}{FOLDER}/{stem}.html">{html.escape(found[1])}</a>'
        if name == "gallery" and (drawn / f"{stem}.png").is_file():
            picture = f'<img class="example" src="{FOLDER}/{stem}.png" alt="{stem}" loading="lazy">'
            link = f'<a href="{FOLDER}/{stem}.html">{picture}</a> {link}'
        return link

    source[0] = LINK.sub(linked, source[0])
