"""Friction: runs with dry friction beside the same runs without, in CPU time of one process.

Between events such a run takes the same steps and looks at them in batches; each stick or slip costs a new
solution of the friction forces and a new start of the steps.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import sarrus as sr

from .cases import drawn_four_bar
from .report import Column, table
from .timing import race, ratio

ROWS: tuple[Column, ...] = (("what", "title", ""), ("measured", "measured", ".3g"), ("unit", "unit", ""))
PINS = "ABCD"
AT_MOST = 2.0  # times the run without friction
AT_MOST_AT_REST = 8.0  # the same of a machine in which some joints rest and share a load
AT_MOST_GEARED = 3.0  # the same of gears, whose steps without friction are the cheapest there are
EVENTLESS = 0.02  # [s] in which no pin of the linkage turns round


def linkage(pins: str, friction: float, journals: str = "") -> sr.Mechanism:
    """A four-bar whose crank turns all the way round, with dry friction in some pins, and by load in some."""
    given = {"friction": friction, "friction_model": "coulomb"}
    spec = drawn_four_bar(0.0, dict.fromkeys(pins, given))
    for name in journals:
        spec.force(f"journal {name}", sr.BearingFriction(name, 1e-3, 0.01))
    return spec.compile()


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """Ratios away from events, and the cost of one event."""
    without = 0.0
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
        value, without = ratio(found["friction"], found["without"]).value, found["without"].best
        title = f"run with friction over one without, {title}"
        rows.append({"title": title, "measured": value, "unit": "", "ratio": value, "at_most": AT_MOST})
    rows += [*by_load((q, v), rounds), geared(rounds), at_rest(rounds)]
    begun = time.process_time()
    motion = sr.simulate(reversing, span, q, v)
    taken = time.process_time() - begun - without
    count = len(motion.events)
    rows.append({"title": f"each of {count} events", "measured": 1e3 * taken / max(count, 1), "unit": "ms"})
    return {"rows": rows}


def by_load(start: tuple[Any, Any], rounds: int) -> list[dict[str, Any]]:
    """Ratios of friction by load; the same fixed steps in all runs, and no pin turns round."""
    mechs = {
        "without": linkage("", 0.0), "constant": linkage("A", 1e-3),
        "one": linkage("", 0.0, "A"), "four": linkage("", 0.0, PINS),
    }  # fmt: skip
    rivals = {
        name: (lambda mech=mech: sr.simulate(mech, (0.0, EVENTLESS), *start, dt=EVENTLESS / 1000))
        for name, mech in mechs.items()
    }
    found = race(rivals, rounds)
    titles = (
        ("friction by load of one pin over constant friction", "one", "constant", AT_MOST),
        ("friction by load of one pin over none", "one", "without", AT_MOST),
        ("friction by load of four pins over none", "four", "without", AT_MOST),
    )
    rows = []
    for title, a, b, most in titles:
        value = ratio(found[a], found[b]).value
        row: dict[str, Any] = {"title": title, "measured": value, "unit": ""}
        rows.append(row | ({"ratio": value, "at_most": most} if most else {}))
    return rows


def gear_train(mu: float) -> sr.Mechanism:
    """Three gears in mesh whose weight is off their axes; with journals where mu is not zero."""
    spec = sr.MechanismSpec(name="gear_train", length=0.05)
    for i, (teeth, x) in enumerate(((20, 0.0), (30, 0.05), (40, 0.12))):
        name, at = f"gear{i}", sr.Pose((x, 0, 0))
        spec.body(name, joint=sr.Revolute("z"), at=at, mass=1.0 + i, com=(0.002, 0, 0), inertia=(1e-3,) * 3)
        if i:
            spec.constrain(f"mesh{i}", sr.Gear(f"gear{i - 1}", name, teeth - 10, teeth, 0.002))
        if mu:
            spec.force(f"journal{i}", sr.BearingFriction(name, mu, 0.01))
    return spec.compile()


def geared(rounds: int) -> dict[str, Any]:
    """The ratio of friction by load beside gears."""
    start = [0.0] * 3, [60.0, -40.0, 30.0]
    rivals = {
        name: (lambda mech=mech: sr.simulate(mech, (0.0, 0.05), *start, dt=5e-5))
        for name, mech in (("with", gear_train(0.1)), ("without", gear_train(0.0)))
    }
    found = race(rivals, rounds)
    value = ratio(found["with"], found["without"]).value
    title = "friction by load of three gears over none"
    return {"title": title, "measured": value, "unit": "", "ratio": value, "at_most": AT_MOST_GEARED}


def beside(friction: bool) -> sr.Mechanism:
    """A four-bar that turns beside one at rest; with friction: journals in all pins, a brake."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="beside")
    for k, x in (("m", 0.0), ("r", 1.0)):
        for name, p in (("A", (0, 0)), ("B", (0, 0.1)), ("C", (0.35, 0.3)), ("D", (0.4, 0))):
            spec.point(k + name, (x + p[0], p[1], 0))
        links = (k + "crank", "A", "B"), (k + "rod", "B", "C"), (k + "rocker", "D", "C")
        for name, a, b in links:
            spec.link(name, k + a, k + b, mass=1.0)
        pairs = ("ground", k + "crank"), (k + "crank", k + "rod"), (k + "rod", k + "rocker")
        for name, (a, b) in zip(PINS, (*pairs, ("ground", k + "rocker")), strict=True):
            spec.joint(k + name, a, b, sr.Revolute("z"), at=k + name)
            if friction:
                spec.force("journal " + k + name, sr.BearingFriction(k + name, 1e-3, 0.01))
    if friction:
        spec.force("brake", sr.CoulombFriction("rA", 5.0))
    return spec.compile()


def at_rest(rounds: int) -> dict[str, Any]:
    """The ratio where half of the machine rests all the time."""
    free, held = beside(False), beside(True)
    q, N = free.neutral(), free.decompose(free.neutral()).N
    at = [free.names.index(name) for name in ("mA", "rA")]
    v = N @ np.linalg.lstsq(N[at], [20.0, 0.0], rcond=None)[0]
    v[[name.startswith("r") for name in free.names]] = 0.0
    rivals = {
        name: (lambda mech=mech: sr.simulate(mech, (0.0, EVENTLESS), q, v, dt=EVENTLESS / 1000))
        for name, mech in (("with", held), ("without", free))
    }
    found = race(rivals, rounds)
    value = ratio(found["with"], found["without"]).value
    title = "a braked linkage beside a moving one, over none"
    return {"title": title, "measured": value, "unit": "", "ratio": value, "at_most": AT_MOST_AT_REST}


def show(results: dict[str, Any]) -> str:
    """The table."""
    return table("Friction: a four-bar with dry pins", ROWS, results["rows"])
