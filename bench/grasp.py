"""One step of the impedance of a held box: in all, part by part, and the estimator beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.control.measured import measured
from sarrus.control.task_inertia import inverse_inertia
from sarrus.dynamics.response import respond

from .report import Column, table
from .timing import race

STEPS: tuple[Column, ...] = (
    ("what", "title", ""),
    ("us", "sarrus_us", ".1f"),
    ("share", "share", ".2f"),
)


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    seconds = 0.005 if quick else 0.02
    times = race(parts(), rounds, seconds)
    whole = next(iter(times.values())).median
    steps = [
        {"title": title, "sarrus_us": 1e6 * each.median, "share": each.median / whole}
        for title, each in times.items()
    ]
    return {"rows": [], "steps": steps}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    notes = (
        "called from Python; TSID, all C++, takes 20 to 40 us on the nearest equivalent problem (not measured"
        " here).",
    )
    title = "Two arms hold a box (20 coordinates, 12 rows, 14 motors), CPU time"
    return table(title, STEPS, results["steps"], notes)


def parts() -> dict[str, Callable[[], object]]:
    """The whole step with and without limits that bite, and what it is made of."""
    C, mech = sr.control, sr.library.dual_arm_box()
    q, v = (np.array(x) for x in mech.default)

    def law(least: float, edges: int | None = 8) -> sr.control.ObjectImpedance:
        hand: dict[str, Any] = {"mu": 0.5, "torsion": 0.03, "half": (0.05, 0.05)}
        both = [C.Patch(name, least=least, edges=edges, **hand) for name in ("grip_left", "grip_right")]
        return C.ObjectImpedance(mech, C.Grasp(mech, "box", both))

    pyramid, cone = law(20.0), law(20.0, None)
    state = measured(mech, 0.0, q, v)
    _, terms, units, _ = pyramid._active.at(state)
    response = respond(terms, pyramid._columns, units)
    J = pyramid._task.track(state).J
    limits = pyramid._limits
    assert limits is not None
    estimator, clock = C.WrenchEstimator(mech, "box", payload=True), [0.0]

    def estimate() -> object:
        clock[0] += 1e-3
        return estimator.update(clock[0], q, v, np.zeros(mech.nu))

    return {
        "impedance with 8-edge pyramids, whole step": lambda: pyramid(0.0, q, v),
        "the same with exact cones": lambda: cone(0.0, q, v),
        "terms of the state": lambda: measured(mech, 0.0, q, v).terms,
        "errors of the pose": lambda: pyramid._task.track(measured(mech, 0.0, q, v)),
        "response to the actuators": lambda: respond(terms, pyramid._columns, units),
        "inertia of the box": lambda: inverse_inertia(response, J),
        "limits as rows on the inputs": lambda: limits.at(state, response, None),
        "wrench and payload estimated": estimate,
    }
