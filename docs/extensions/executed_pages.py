"""Sphinx extension: runs the programs of tutorials and puts their pictures under them.

Figures that a block leaves open become pictures, HTML files that it writes become frames. Pages whose
programs run here are `executed_pages` of conf.py; tests/gates/test_documents.py runs those of all others.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import shutil
import tempfile
import traceback
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

import page_blocks

log = logging.getLogger(__name__)
PICTURES = "_pictures"  # folder of the site


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_config_value("executed_pages", [], "env")
    app.connect("source-read", execute)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def execute(app: Sphinx, name: str, source: list[str]) -> None:
    """Run the programs of a page, and add what they draw to its text."""
    if not any(fnmatch.fnmatch(name, pattern) for pattern in app.config.executed_pages):
        return
    folder = Path(app.outdir) / PICTURES / name.replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text, start, parts = source[0], 0, []
    page = Path(app.env.doc2path(name))
    try:
        with tempfile.TemporaryDirectory() as here, contextlib.chdir(here):
            for n, (block, _) in enumerate(page_blocks.run(text, page)):
                shown = pictures(folder, n) + frames(Path(here), folder)
                up = "../" * name.count("/")
                parts += [text[start : block.end], "\n", *(x.replace("SITE", up + PICTURES) for x in shown)]
                start = block.end
    except page_blocks.BlockError as error:
        log.warning(str(error), location=name)
    except Exception:
        log.warning("a program of the page fails:\n" + traceback.format_exc(limit=-1), location=name)
    source[0] = "".join([*parts, text[start:]])


def pictures(folder: Path, block: int) -> list[str]:
    """Save the open figures of a block; returns the lines of HTML that show them."""
    import matplotlib.pyplot as plt

    lines = []
    for number in plt.get_fignums():
        figure = plt.figure(number)
        name = f"{block}-{number}.svg"
        figure.savefig(folder / name, bbox_inches="tight")
        plt.close(figure)
        where = f"SITE/{folder.name}/{name}"
        lines.append(f'\n<img class="figure" src="{where}" alt="drawn by the program above">\n')
    return lines


def frames(here: Path, folder: Path) -> list[str]:
    """Move HTML files that a block wrote into the site; returns the lines of HTML that show them."""
    lines = []
    for page in sorted(here.glob("*.html")):
        shutil.copy(page, folder / page.name)
        page.unlink()
        title = re.sub(r"\W+", " ", page.stem)
        where = f"SITE/{folder.name}/{page.name}"
        lines.append(f'\n<iframe class="figure" src="{where}" title="{title}" loading="lazy"></iframe>\n')
    return lines


os.environ.setdefault("MPLBACKEND", "Agg")
