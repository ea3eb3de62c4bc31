"""Rollouts with modes beside those without: dry friction, hard stops, contacts, switches, latches.

`python -m bench.modes` prints the ratios. CPU times of all threads, the best of several rounds. Copies
are stepped several at once in one instruction where their modes have the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr

from .friction import PINS, linkage
from .report import Column, table
from .timing import race, ratio

COPIES, STEPS, DT = 256, 200, 1e-3  # DT [s]
AT_MOST = 3.0  # times the rollout without modes
ROWS: tuple[Column, ...] = (
    ("rollout", "title", ""),
    ("over without", "measured", ".2f"),
    ("at most", "at_most", ".1f"),
)


def swinging(switches: Any = (), stops: bool = False) -> Callable[[], Any]:
    """Double pendulums that swing within their limits, or into them."""
    spec = sr.MechanismSpec(name="double pendulum")
    arm = {"mass": 1.0, "com": (0.0, 0.0, -0.25), "inertia": (0.02, 0.02, 0.002)}
    spec.body("upper", joint=sr.Revolute("y"), limits=(-1.0, 1.0), **arm)
    spec.body(
        "lower", "upper", joint=sr.Revolute("y"), at=sr.Pose((0.0, 0.0, -0.5)), limits=(-2.0, 2.0), **arm
    )
    spec.constrain("locked", sr.Coupling({"lower": 1.0}))
    mech = spec.compile()
    free = mech.with_constraints([])
    q = np.zeros((COPIES, 2))
    v = np.random.default_rng(0).normal(size=(COPIES, 2))
    if switches is None and not stops:
        return lambda: sr.rollout(free, q, v, dt=DT, steps=STEPS)
    if stops:
        return lambda: sr.rollout(free, q, 3.0 * v, dt=DT, steps=STEPS, stops=True)
    return lambda: sr.rollout(mech, q, v, dt=DT, steps=STEPS, switches=switches)


def joined(latched: bool) -> Callable[[], Any]:
    """Four-bars that swing: their loop is closed, or closes by the clock wherever each of them is."""
    spec = sr.MechanismSpec(name="two bars")
    bar = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.0, 0.1, 0.1)}
    spec.body("left", joint=sr.Revolute("y"), **bar)
    spec.body("rod", "left", joint=sr.Revolute("y"), at=sr.Pose((1.0, 0.0, 0.0)), **bar)
    spec.body("right", joint=sr.Revolute("y"), at=sr.Pose((2.0, 0.0, 0.0)), **bar)
    pin = {"at_a": sr.Pose((1.0, 0.0, 0.0)), "at_b": sr.Pose((1.0, 0.0, 0.0))}
    spec.close("pin", "rod", "right", sr.Revolute("y"), **pin)
    mech = spec.compile()
    q = mech.assemble([-0.9, 1.7, -2.6]).q
    speed = np.random.default_rng(0).normal(size=(COPIES, 1))
    v = speed * mech.decompose(q).N[:, 0]
    q = np.tile(q, (COPIES, 1))
    switches = sr.Switch("pin", on=0.01, latch=True) if latched else ()
    return lambda: sr.rollout(mech, q, v, dt=DT, steps=STEPS, switches=switches)


def turning(pins: str, friction: float) -> Callable[[], Any]:
    """Four-bars with dry friction in some pins, which turn, or at rest where friction holds them."""
    mech = linkage(pins, friction)
    q = mech.neutral()
    N = mech.decompose(q).N[:, 0]
    speed = 20.0 if friction < 1.0 else 0.0
    v = np.outer(speed * np.linspace(0.8, 1.2, COPIES), N / N[0])
    return lambda: sr.rollout(mech, np.tile(q, (COPIES, 1)), v, dt=DT, steps=STEPS)


def run(rounds: int) -> list[dict[str, Any]]:
    """The ratios, each in a race of its own."""
    latch = sr.Switch("locked", on=(0.05, 0.15), off=0.1, latch=True)
    cases = (
        ("four-bars that slide, one pin", turning("A", 1e-3), turning("", 0.0)),
        ("four-bars that slide, four pins", turning(PINS, 1e-3), turning("", 0.0)),
        ("four-bars that stick", turning("A", 1e3), turning("", 0.0)),
        ("double pendulums, hard stops", swinging(stops=True), swinging(None)),
        ("double pendulums, latch by the clock", swinging(latch), swinging(None)),
        ("four-bars whose loops are latched", joined(True), joined(False)),
    )
    rows = []
    for title, modal, plain in cases:
        found = race({"modes": modal, "without": plain}, rounds)
        value = ratio(found["modes"], found["without"]).value
        rows.append({"title": title, "measured": value, "at_most": AT_MOST, "ratio": value})
    return rows


def main() -> None:
    """Print the table."""
    print(table("Rollouts with modes", ROWS, run(5)))


if __name__ == "__main__":
    main()
