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
    rows += run_gradients(rounds)
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


def run_gradients(rounds: int) -> list[dict[str, Any]]:
    """Derivatives of a load along runs with freedoms left, by one parameter and by three, both ways."""
    rows = []
    for mech, over in (free_four_bar(), tumbling_body()):
        rows.append(_timed(f"{mech.name}: run with measures", lambda m=mech, o=over: o.measures(m), rounds))
        for names in (tuple(mech.parameters)[:1], tuple(mech.parameters)):
            variables = Variables(names, np.full(len(names), 0.05), np.full(len(names), 0.2))
            near, steps = np.array([mech.parameters[name] for name in names]), STEP * variables.range
            ways = {
                "exact": lambda m=mech, o=over, n=names: o.slopes(m, n),
                "by runs": lambda m=mech, o=over, x=variables, p=near, h=steps: x.together(
                    m, o, x.around(p, h)
                ),
            }
            for way, call in ways.items():
                title = f"{mech.name}: gradient by {len(names)} of its parameters, {way}"
                rows.append(_timed(title, call, rounds))
    return rows


def free_four_bar() -> tuple[sr.Mechanism, sr.design.Run]:
    """It falls and swings for a second; lengths and a mass are parameters."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="free four-bar")
    a, x, mass = spec.parameter("a", 0.1), spec.parameter("x", 0.35), spec.parameter("bar", 1.0)
    spec.point("A", (0, 0, 0)).point("B", (0, a, 0)).point("C", (x, 0.3, 0)).point("D", (0.4, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=mass)
    spec.link("rocker", "D", "C", mass=1.0)
    ends = {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker")}
    for name, pair in {**ends, "D": ("ground", "rocker")}.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
    mech = spec.measure("load", sr.Reaction("C")).compile()
    return mech, sr.design.Run(np.linspace(0.0, 1.0, 21))


def tumbling_body() -> tuple[sr.Mechanism, sr.design.Run]:
    """A floating body on a spring, turning eight radians in a second."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="floating body")
    m, c, I = spec.parameter("m", 0.2), spec.parameter("c", 0.1), spec.parameter("I", 0.02)
    spec.body("body", joint=sr.Free(), mass=m, com=(c, 0, 0.02), inertia=(I, 0.05, 0.06))
    spring = sr.PointSpring("ground", (0, 0, 1), "body", (0.1, 0.1, 0), stiffness=10.0, damping=0.1)
    mech = spec.force("spring", spring).measure("P", sr.Position("body", (0.1, 0, 0))).compile()
    return mech, sr.design.Run(np.linspace(0.0, 1.0, 21), {"v0": [0.1, 0.2, 0.0, 1.0, 8.0, 2.0]})


def _timed(title: str, call: Callable[[], Any], rounds: int) -> dict[str, Any]:
    return {"title": title, "measured": 1e3 * _seconds(call, rounds), "unit": "ms"}


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
