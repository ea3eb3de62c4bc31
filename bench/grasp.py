"""One step of the impedance of a held box: in all, part by part, and the estimator beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr

from .report import STEPS, table
from .timing import race

AIM_US = 150.0  # one step, end to end, called from Python


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    seconds = 0.005 if quick else 0.02
    times = race({**parts(), **peers()}, rounds, seconds)
    whole = next(iter(times.values())).median
    steps = [
        {"title": title, "sarrus_us": 1e6 * each.median, "share": each.median / whole}
        for title, each in times.items()
    ]
    return {"rows": [], "steps": steps}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    notes = [f"called from Python; aim: {AIM_US:.0f} us for a whole step."]
    us = {}
    for row in results["steps"]:
        us.setdefault(row["title"].split(",")[0], row["sarrus_us"])
    if "TSID" in us:
        ratio = us["the same without an observer"] / us["TSID"]
        notes.append(
            f"the step without an observer takes {ratio:.1f} times TSID's on the nearest problem: the same"
            " arms and box on one ball"
        )
        notes.append(
            "contact each (6 rows, not 12), bounds instead of friction and patches, one weighted program"
            " instead of least torque."
        )
    else:
        notes.append("TSID: not installed, or built for another Pinocchio.")
    title = "Two arms hold a box (20 coordinates, 12 rows, 14 motors), CPU time"
    return table(title, STEPS, results["steps"], notes)


def peers() -> dict[str, Callable[[], object]]:
    """The nearest problem in TSID, where it is there."""
    try:
        from .twins.tsid_twin import available, holding
    except ModuleNotFoundError:
        return {}
    if not available():
        return {}
    step = holding(sr.library.dual_arm_box(), "box")
    step()
    assert np.isfinite(step.acceleration).all()
    return {f"TSID, {step.sizes}": step}


def parts() -> dict[str, Callable[[], object]]:
    """The whole step with what it may know of the load, and what it is made of."""
    C, mech = sr.control, sr.library.dual_arm_box()
    q, v = (np.array(x) for x in mech.default)

    def law(edges: int | None = 8, **options: Any) -> sr.control.ObjectImpedance:
        hand: dict[str, Any] = {"mu": 0.5, "torsion": 0.03, "half": (0.05, 0.05), "least": 20.0}
        both = [C.Patch(name, edges=edges, **hand) for name in ("grip_left", "grip_right")]
        return C.ObjectImpedance(mech, C.Grasp(mech, "box", both), **options)

    def estimator() -> sr.control.WrenchEstimator:
        return C.WrenchEstimator(mech, "box", payload=True)

    def stepped(one: Callable[[float], object]) -> Callable[[], object]:
        clock = [0.0]

        def step() -> object:
            clock[0] += 1e-3
            return one(clock[0])

        return step

    pyramid, plain, cone = law(), law(external=None), law(None, external=None)
    carrying, alone = law(external=estimator(), compensate=True), estimator()
    u = np.zeros(mech.nu)
    plain(0.0, q, v)
    targets, step = plain._task.targets(0.0), plain._compiled.kernel
    return {
        "impedance with 8-edge pyramids, whole step": stepped(lambda t: pyramid(t, q, v)),
        "the same without an observer": stepped(lambda t: plain(t, q, v)),
        "the same without an observer, in the kernel": lambda: step(q, v, 0.0, targets),
        "the same without an observer, exact cones": stepped(lambda t: cone(t, q, v)),
        "the same, payload estimated and carried": stepped(lambda t: carrying(t, q, v)),
        "wrench and payload estimated": stepped(lambda t: alone.update(t, q, v, u)),
    }
