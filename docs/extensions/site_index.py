"""Sphinx extension: docs/README.md is the list of all pages, in the repository and on the site.

Each of its sections becomes a table of contents with the pages it links to, and it is the page index.html.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_index)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def contents(text: str) -> dict[str, list[str]]:
    """Pages of each section of the index, in order."""
    sections: dict[str, list[str]] = {}
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, rest = part.partition("\n")
        sections[title] = [
            page for page in re.findall(r"\]\(([^):#]+)\.md\)", rest) if not page.startswith("..")
        ]
    return {title: pages for title, pages in sections.items() if pages}


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Links that show the name of a file show the title of the page; the index gets its contents.

    The site has no pages of files outside docs/, such as CONTRIBUTING.md: links to them give the file.
    """
    source[0] = re.sub(r"(\]\(|\]: )(\.\./[A-Z]+\.md)(#[\w-]+)?", r"\1path:\2", source[0])
    source[0] = re.sub(r"\[[\w/]+\.md\](\([^)]+\.md\))", r"[]\1", source[0])
    if name == app.config.root_doc:
        for title, pages in contents(source[0]).items():
            source[0] += "\n".join(
                ["", "```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""]
            )


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Browsers open index.html."""
    if error is None and app.builder.format == "html":
        shutil.copy(Path(app.outdir) / f"{app.config.root_doc}.html", Path(app.outdir) / "index.html")
