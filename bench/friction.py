"""Friction: runs with dry friction beside the same runs without, in CPU time of one process.

Between events such a run takes the same steps and looks at them in batches; each stick or slip costs a new
solution of the friction forces and a new start of the steps.
"""

from __future__ import annotations

import time
from typing import Any

import sarrus as sr

from .cases import drawn_four_bar
from .report import Column, table
from .timing import race, ratio

ROWS: tuple[Column, ...] = (("what", "title", ""), ("measured", "measured", ".3g"), ("unit", "unit", ""))
PINS = "ABCD"
AT_MOST = 2.0  # times the run without friction


def linkage(pins: str, friction: float) -> sr.Mechanism:
    """A four-bar whose crank turns all the way round, with dry friction in some pins."""
    given = {"friction": friction, "friction_model": "coulomb"}
    return drawn_four_bar(0.0, dict.fromkeys(pins, given)).compile()


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """Ratios away from events, and the cost of one event."""
    free, sliding, reversing = linkage("", 0.0), linkage("A", 1e-3), linkage(PINS, 1e-3)
    span, q = (0.0, 1.0 if quick else 5.0), free.neutral()
    v = 20.0 * free.decompose(q).N[:, 0] / free.decompose(q).N[0, 0]
    rows: list[dict[str, Any]] = []
    for title, dt in (("its own steps", None), ("steps of 1 ms", 1e-3)):
        rivals = {
            name: (lambda mech=mech, dt=dt: sr.simulate(mech, span, q, v, dt=dt))
            for name, mech in (("friction", sliding), ("without", free))
        }
        found = race(rivals, rounds)
        value = ratio(found["friction"], found["without"]).value
        title = f"run with friction over one without, {title}"
        rows.append({"title": title, "measured": value, "unit": "", "ratio": value, "at_most": AT_MOST})
    begun = time.process_time()
    motion = sr.simulate(reversing, span, q, v)
    taken = time.process_time() - begun - found["without"].best
    count = len(motion.events)
    rows.append({"title": f"each of {count} events", "measured": 1e3 * taken / max(count, 1), "unit": "ms"})
    return {"rows": rows}


def show(results: dict[str, Any]) -> str:
    """The table."""
    return table("Friction: a four-bar with dry pins", ROWS, results["rows"])
