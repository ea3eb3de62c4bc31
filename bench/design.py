"""Design: what varying a parameter costs, in CPU time of one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.design.evaluation import STEP, Variables

from .cases import drawn_four_bar
from .report import Column, table

ROWS: tuple[Column, ...] = (("what", "title", ""), ("measured", "measured", ".4g"), ("unit", "unit", ""))
VARIANTS, POSES = 1000, 36


def four_bar() -> sr.Mechanism:
    """As drawn, the crank's length a parameter; it turns all the way round."""
    spec = drawn_four_bar(9.81)
    return spec.measure("transmission", sr.Angle("coupler", "rocker")).compile()


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
    over = sr.design.Sweep("A", turn)

    def tolerances() -> None:
        sr.tolerances(mech, {"a": 1e-4}, over=over, samples=count)

    def optimize() -> None:
        sr.optimize(mech, {"a": (0.05, 0.2)}, lambda x: (np.ptp(x["transmission"]) - 1.0) ** 2, over=over)

    title = f"sr.tolerances, {count} samples x {POSES} poses"
    named = {title: tolerances, "sr.optimize, one parameter": optimize}
    for title, study in named.items():
        rows.append({"title": title, "measured": _seconds(study, rounds), "unit": "s"})
    rows += gradients(over, rounds)
    made = _seconds(lambda: mech.variants({"a": values}), rounds) / count
    rows.append({"title": f"one of {count} variants", "measured": 1e6 * made, "unit": "us"})
    return {"design": rows}


def gradients(over: sr.design.Sweep, rounds: int) -> list[dict[str, Any]]:
    """Derivatives of a reaction by one parameter over a sweep, both ways."""
    mech = drawn_four_bar(9.81).measure("load", sr.Reaction("C")).compile()
    variables = Variables(("a",), np.array([0.05]), np.array([0.2]))
    near, steps = np.array([mech.parameters["a"]]), STEP * variables.range

    def differences() -> None:
        variables.together(mech, over, variables.around(near, steps))

    ways = {"exact": lambda: over.slopes(mech, ("a",)), "by six mechanisms": differences}
    return [
        {
            "title": f"gradient of a load over {POSES} poses, {name}",
            "measured": 1e3 * _seconds(way, rounds),
            "unit": "ms",
        }
        for name, way in ways.items()
    ]


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
