"""One step of a task hierarchy: one to three levels, and with limits that bite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus.control.state.measured_state import measured_state

from .report import STEPS, table
from .timing import race

Array = npt.NDArray[np.float64]
FEET = ("front_left", "front_right", "rear_left", "rear_right")

TSID = ("TSID, limits that bite", "TSID, limits that do not")
AIM_US = 30.0  # three levels, end to end, called from Python


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    seconds = 0.005 if quick else 0.02
    return {"rows": [], "steps": arms(rounds, seconds), "limits": standing(rounds, seconds)}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    us = {row["title"]: row["sarrus_us"] for row in results["limits"]}
    notes = [f"called from Python; aim: {AIM_US:.0f} us for three levels on 14 joints."]
    if TSID[0] in us:
        bite, calm = (us[ours] / us[theirs] for ours, theirs in zip(us, TSID, strict=False))
        notes.append(
            f"whole steps take {bite:.1f} and {calm:.1f} times TSID's on the same quadruped: one weighted"
            " program instead of levels, cones of four sides (ours: eight)."
        )
    else:
        notes.append("TSID: not installed, or built for another Pinocchio.")
    top = table("Task hierarchy on the welded arms (14 joints, 6 rows), CPU time", STEPS, results["steps"])
    bottom = table("Standing quadruped (18 coordinates, 12 rows, 12 motors)", STEPS, results["limits"], notes)
    return f"{top}\n{bottom}"


def tasks_of_arms(mech: sr.Mechanism) -> list[sr.control.PriorityTask]:
    """Position of the hand, its orientation, posture: three levels."""
    C, q = sr.control, mech.default.q
    hand = mech.pose(q, "left7")
    assert isinstance(hand, sr.Pose)
    return [
        C.PriorityTask(C.Position("left7"), hand.xyz + 0.05, priority=1),
        C.PriorityTask(C.Orientation("left7"), hand, priority=2),
        C.PriorityTask(C.Posture(), np.zeros(mech.nu), priority=3),
    ]


def arms(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """The whole step with one, two and three levels, and what the kernel takes of three."""
    mech = sr.library.dual_arm()
    q, v = (np.array(x) for x in mech.default)
    tasks = tasks_of_arms(mech)
    laws = [sr.control.TaskHierarchy(mech, tasks[:n]) for n in (1, 2, 3)]
    law = laws[2]
    law(0.0, q, v)
    rivals: dict[str, Callable[[], object]] = {
        "three levels, whole step": lambda: law(0.0, q, v),
        "two levels, whole step": lambda: laws[1](0.0, q, v),
        "one level, whole step": lambda: laws[0](0.0, q, v),
        "three levels, in the kernel": in_kernel(law, q, v),
    }
    return _rows(rivals, rounds, seconds)


def in_kernel(law: Any, q: Array, v: Array) -> Callable[[], object]:
    """The one call of a step alone, its targets evaluated before."""
    now = measured_state(law.system, 0.0, q, v)
    targets = [task.target(now) for task in law._stack.tasks]
    return lambda: law._compiled.kernel(q, v, 0.0, targets)


def standing(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Friction cones that do not bite, and cones that cost the trunk its acceleration."""
    C, mech = sr.control, sr.library.quadruped()
    q, v = (np.array(x) for x in mech.default)
    cones = [C.Friction(foot, 0.5) for foot in FEET]

    def law(ahead: float) -> sr.control.TaskHierarchy:
        wish = C.PriorityTask(C.BodyPose("trunk"), acceleration=[ahead, 0.0, 0.0, 0.0, 0.0, 0.0])
        return C.TaskHierarchy(mech, wish, limits=cones)

    calm, hasty = law(0.0), law(12.0)
    rivals: dict[str, Callable[[], object]] = {
        "limits that bite, whole step": lambda: hasty(0.0, q, v),
        "limits that do not, whole step": lambda: calm(0.0, q, v),
    }
    for one in (hasty, calm):
        one(0.0, q, v)
    inner = {
        "limits that bite, in the kernel": in_kernel(hasty, q, v),
        "limits that do not, in the kernel": in_kernel(calm, q, v),
    }
    return _rows({**rivals, **inner, **peers(mech, calm)}, rounds, seconds)


def peers(mech: sr.Mechanism, calm: sr.control.TaskHierarchy) -> dict[str, Callable[[], object]]:
    """The same in TSID, where it is there; its accelerations without active limits are ours."""
    try:
        from .twins.tsid_twin import available
        from .twins.tsid_twin import standing as standing_in_tsid
    except ModuleNotFoundError:
        return {}
    if not available():
        return {}
    steps = {ahead: standing_in_tsid(mech, 0.5, ahead) for ahead in (12.0, 0.0)}
    for step in steps.values():
        step()
    ours = calm.solve(0.0, *(np.array(x) for x in mech.default)).a
    np.testing.assert_allclose(steps[0.0].acceleration, ours, atol=1e-3)
    return {
        TSID[0]: steps[12.0],
        TSID[1]: steps[0.0],
    }


def _rows(rivals: dict[str, Callable[[], object]], rounds: int, seconds: float) -> list[dict[str, Any]]:
    times = race(rivals, rounds, seconds)
    whole = next(iter(times.values())).median
    return [
        {"title": title, "sarrus_us": 1e6 * each.median, "share": each.median / whole}
        for title, each in times.items()
    ]
