"""Design: what varying a parameter costs, in CPU time of one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr

from .report import Column, table

ROWS: tuple[Column, ...] = (("what", "title", ""), ("measured", "measured", ".4g"), ("unit", "unit", ""))
VARIANTS, POSES = 1000, 36


def four_bar() -> sr.Mechanism:
    """As drawn, the crank's length a parameter; it turns all the way round."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    a = spec.parameter("a", 0.1)
    spec.point("A", (0, 0, 0)).point("B", (0, a, 0)).point("C", (0.35, 0.3, 0)).point("D", (0.4, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=1.0).link(
        "rocker", "D", "C", mass=1.0
    )
    ends = {
        "A": ("ground", "crank"),
        "B": ("crank", "coupler"),
        "C": ("coupler", "rocker"),
        "D": ("ground", "rocker"),
    }
    for name, pair in ends.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
    spec.measure("transmission", sr.Angle("coupler", "rocker"))
    return spec.compile()


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """Times of single calls and of a study of variants."""
    mech, count = four_bar(), VARIANTS // 20 if quick else VARIANTS
    values = 0.1 + 0.02 * np.linspace(-1.0, 1.0, count)
    turn = np.linspace(0.0, 2.0 * np.pi, POSES)
    q = mech.default.q

    def together() -> None:
        mech.sweep("A", turn, parameters={"a": values})["transmission"]

    def one_by_one() -> None:
        for value in values:
            mech.with_(a=value).sweep("A", turn)["transmission"]

    recipe = mech.model.recipe
    mech.with_(a=0.11)  # records
    rows = [
        {
            "title": "mech.with_(a=...)",
            "measured": 1e6 * _seconds(lambda: mech.with_(a=0.11), rounds),
            "unit": "us",
        },
        {
            "title": "the same by the calls of the description",
            "measured": 1e6 * _seconds(lambda: recipe.with_values({"a": 0.11}).model(), rounds),
            "unit": "us",
        },
        {
            "title": "mech.measure(q)",
            "measured": 1e6 * _seconds(lambda: mech.measure(q), rounds),
            "unit": "us",
        },
        {
            "title": "mech.parameter_derivatives(q)",
            "measured": 1e3 * _seconds(lambda: mech.parameter_derivatives(q), rounds),
            "unit": "ms",
        },
    ]
    title = f"{count} variants x {POSES} poses"
    for name, study in (("together", together), ("one by one", one_by_one)):
        rows.append({"title": f"{title}, {name}", "measured": _seconds(study, rounds), "unit": "s"})
    made = _seconds(lambda: mech.variants({"a": values}), rounds) / count
    rows.append({"title": f"one of {count} variants", "measured": 1e6 * made, "unit": "us"})
    return {"design": rows}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    return table("Design: a four-bar as drawn", ROWS, results["design"])


def _seconds(call: Callable[[], Any], rounds: int) -> float:
    """CPU time of one call, the best of several."""
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return float(best)
