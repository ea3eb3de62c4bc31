"""Sphinx extension: excerpts of search results also where the site is opened from the disk.

The search page reads the pages that it has found, which browsers forbid for files. Their texts are therefore
in a script that only the search page loads.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

TEXTS = "page_texts.js"
MAIN = re.compile(r'<article[^>]*role="main"[^>]*>(.*?)</article>', re.S)
NOT_READ = re.compile(r"<(script|style|iframe)\b.*?</\1>|<[^>]+>", re.S)
# answers what the search asks for
ANSWER = r""""use strict";
if (location.protocol === "file:") {
  window.fetch = async (address) => {
    const name = decodeURIComponent(`${address}`.split("#")[0]).replace(/^[.]\//, "").replace(/[.]html$/, "");
    const page = document.createElement("article");
    page.setAttribute("role", "main");
    page.textContent = PAGE_TEXTS[name] || "";
    return new Response(page.outerHTML);
  };
}
"""


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("html-page-context", load_texts)
    app.connect("build-finished", write_texts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def load_texts(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """The search page loads the texts."""
    if page == "search":
        app.add_js_file(TEXTS)


def write_texts(app: Sphinx, error: Exception | None) -> None:
    """The script with the words of all pages."""
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    texts = {name: words(site / f"{name}.html") for name in sorted(app.env.found_docs)}
    said = f"const PAGE_TEXTS = {json.dumps(texts)};\n{ANSWER}"
    (site / "_static" / TEXTS).write_text(said, encoding="utf-8")


def words(page: Path) -> str:
    """What a page says, without markup."""
    found = MAIN.search(page.read_text(encoding="utf-8"))
    plain = html.unescape(NOT_READ.sub(" ", found[1])) if found else ""
    return " ".join(plain.split())
