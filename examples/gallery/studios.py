# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus"]
# ///
"""Studios of the library mechanisms, to be taken with the hand: out/studios/index.html links them."""

from __future__ import annotations

import html
from pathlib import Path

import sarrus as sr
import sarrus.library as library

OUT = Path("out/studios")
STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; }
:root { color-scheme: light dark; }"""


def main(names: tuple[str, ...] = ()) -> dict[str, float]:
    """Write the pages, of all mechanisms or of some, and their index; their number and largest size [kB]."""
    pages, items = [], []
    for name, words in library.names().items():
        if names and name not in names:
            continue
        mech: sr.Mechanism = library.MECHANISMS[name]()
        pages.append(mech.studio(OUT / f"{name}.html", caption=words))
        items.append(f'<li><a href="{name}.html">{name}</a> {html.escape(words)}</li>')
    head = (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Studios</title><style>{STYLE}</style>'
    )
    body = "<h1>Studios</h1><p>Take any bar with the mouse or the finger. Each page is one file.</p>"
    index = OUT / "index.html"
    index.write_text(f"{head}{body}<ul>{''.join(items)}</ul></html>\n", encoding="utf-8")
    largest = max(page.stat().st_size for page in pages) / 1e3
    print(f"{len(pages)} studios, the largest {largest:.0f} kB: {index}")
    return {"count": len(pages), "largest": largest}


if __name__ == "__main__":
    main()
