"""Studios in Chromium: computing time of a frame of simulation and of a drag, without painting.

A frame is 1/60 s. Each is computed in every round from the same states, and the best round counts, so that
other work on the machine does not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sarrus as sr

from .chromium import Chromium, find_chromium
from .report import Column, table

FRAMES = 120
MOST_FRAME, MOST_DRAG = 12.0, 4.0  # [ms]
TABLE: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("file kB", "size", ".0f"),
    ("median ms", "median", ".2f"),
    ("p95 ms", "p95", ".2f"),
    ("at most ms", "most", ".0f"),
)
SIMULATE = """(rounds, frames) => {
  studio.tick = () => {};
  const k = studio.kernel, best = new Array(frames).fill(Infinity);
  for (let r = 0; r < rounds; r++) {
    k.put(studio.data.q, studio.data.v, 0);
    for (let i = 0; i < frames; i++) {
      const start = performance.now();
      k.advance((i + 1) / 60);
      k.place();
      best[i] = Math.min(best[i], performance.now() - start);
    }
  }
  return best;
}"""
DRAG = """(rounds, frames) => {
  studio.tick = () => {};
  const k = studio.kernel, best = new Array(frames).fill(Infinity);
  const body = Math.floor(studio.data.bodies.length / 2), { com } = studio.data.bodies[body];
  for (let r = 0; r < rounds; r++) {
    k.put(studio.data.q, studio.data.v, 0);
    k.place();
    const from = studio.bench.bodies.place([body, ...com]), s = 0.5 * studio.data.length;
    for (let i = 0; i < frames; i++) {
      const start = performance.now();
      k.drag(body, com, from.map((x, j) => x + s * Math.sin(i / 9 + j)), 24);
      best[i] = Math.min(best[i], performance.now() - start);
    }
  }
  return best;
}"""
CASES = (
    ("n_four_bar(100), simulated", lambda: sr.library.n_four_bar(100), SIMULATE, MOST_FRAME),
    ("stewart, simulated", sr.library.stewart, SIMULATE, MOST_FRAME),
    ("n_four_bar(10), 21 bodies, dragged", lambda: sr.library.n_four_bar(10), DRAG, MOST_DRAG),
    ("stewart, dragged", sr.library.stewart, DRAG, MOST_DRAG),
)


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """Times of every case."""
    if find_chromium() is None:
        return {"rows": [], "missing": "no Chromium: apt-get install chromium"}
    rows = []
    with Chromium() as browser, tempfile.TemporaryDirectory() as folder:
        page = browser.page()
        for title, make, code, most in CASES[:: 2 if quick else 1]:
            path = make().studio(Path(folder) / "studio.html")
            page.open(path.as_uri(), "window.studio !== undefined")
            times = sorted(page.evaluate(f"({code})({rounds}, {FRAMES})"))
            row = {"title": title, "size": path.stat().st_size / 1e3, "most": most}
            row |= {"median": times[len(times) // 2], "p95": times[int(0.95 * len(times))]}
            rows.append(row | {"ratio": row["p95"] / most, "at_most": 1.0})
    return {"rows": rows}


def show(result: Mapping[str, Any]) -> str:
    """The table."""
    notes = [result["missing"]] if "missing" in result else []
    return table("Studios in Chromium: computing time of a frame of 1/60 s", TABLE, result["rows"], notes)
