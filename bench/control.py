"""Control steps of two arms, with and without friction limits, and solvers on their programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.control.state.measured_state import MeasuredState, measured_state

from .control_qp import problems, solvers
from .report import Column, table
from .timing import race

C = sr.control

AIM_US = 50.0  # one step, end to end, called from Python
STEPS: tuple[Column, ...] = (
    ("control step, one call", "title", ""),
    ("us", "us", ".0f"),
    ("of which in the kernel", "kernel_us", ".0f"),
    ("coordinates", "nv", "d"),
    ("rows", "nc", "d"),
    ("inputs", "nu", "d"),
    ("QP variables", "variables", "d"),
    ("QP rows", "qp_rows", "d"),
)
QPS: tuple[Column, ...] = (
    ("programs", "problem", ""),
    ("solver", "solver", ""),
    ("us", "us", ".1f"),
    ("solved", "solved", ""),
    ("off by", "difference", ".0e"),
)


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    seconds = 0.005 if quick else 0.03
    laws = steps()
    return {
        "rows": [],
        "steps": [timed(title, law, state, rounds, seconds) for title, (law, state) in laws.items()],
        "qp": compared(4 if quick else 20, rounds, seconds),
    }


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    top = table(
        "Control steps: CPU time of controller(t, q, v), called from Python",
        STEPS,
        results["steps"],
        (f"aim: {AIM_US:.0f} us for two arms with friction limits.",),
    )
    bottom = table(
        "Quadratic programs of our controllers: CPU time of one solve, median over the set",
        QPS,
        results["qp"],
        ("off by: largest difference to the answer of Clarabel at 1e-11, relative to the largest entry.",),
    )
    return f"{top}\n{bottom}"


def steps() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Controllers with a state at which limits are active."""
    found: dict[str, tuple[Any, tuple[Any, ...]]] = {}
    for limited in (False, True):
        for name, body, loops in (
            ("welded arms", "left7", {"weld": "z"}),
            ("two arms and a box", "box", {"grip_left": "-z", "grip_right": "-z"}),
        ):
            mech = sr.library.dual_arm() if body == "left7" else sr.library.dual_arm_box()
            q = np.array(mech.default.q)
            v = mech.consistent_velocity(q, 0.3 * np.random.default_rng(0).normal(size=mech.nv))
            goal, output = mech.pose(q, body), C.BodyPose(body)
            if limited:
                friction = [C.Friction(loop, 0.05, normal) for loop, normal in loops.items()]
                law: Any = C.ForceLimits(mech, output, goal, [*friction, C.TorqueBounds((-300.0, 300.0))])
                found[f"{name}, friction and torque limits"] = law, (0.0, q, v)
            else:
                found[f"{name}, no limits"] = C.ProjectedInverseDynamics(mech, output, goal), (0.0, q, v)
    return {**found, **redundant_steps(), **regulated_steps()}


def regulated_steps() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Controllers that regulate measured forces, and one whose limits are functions of the state."""
    mech = sr.library.dual_arm()
    q = np.array(mech.default.q)
    state = 0.0, q, mech.consistent_velocity(q, 0.3 * np.random.default_rng(0).normal(size=mech.nv))
    measured = np.zeros(mech.nc)
    goal, bounds = mech.pose(q, "left7"), C.TorqueBounds((-300.0, 300.0))
    rows = np.eye(mech.nc)[:3]
    varying = C.LinearLimits("squeeze", lam=rows, lower=lambda t, q, v: -90.0 - t, upper=90.0)
    forces: dict[str, Any] = {"kf": 1.0, "ki": 10.0, "measured": lambda t, q, v, u: measured}
    return {
        "welded arms, measured forces regulated within limits": (
            C.HybridForceMotion(mech, C.BodyPose("left7"), goal, {"weld": 0.0}, limits=bounds, **forces),
            state,
        ),
        "welded arms, limits that are functions": (
            C.ForceLimits(mech, C.BodyPose("left7"), goal, [varying, bounds]),
            state,
        ),
    }


def redundant_steps() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Controllers of mechanisms whose rows, or whose outputs, depend on each other."""
    found: dict[str, tuple[Any, tuple[Any, ...]]] = {}
    for mech in (sr.library.four_bar(), sr.library.sarrus()):
        q = np.array(mech.default.q)
        v = mech.consistent_velocity(q, 0.3 * np.random.default_rng(0).normal(size=mech.nv))
        law: Any = C.ProjectedInverseDynamics(mech, mech.actuators[0], 0.1)
        found[f"{mech.name}, redundant rows"] = law, (0.0, q, v)
    mech = sr.library.dual_arm()
    q, v = map(np.array, mech.default)
    hands = [C.BodyPose("left7"), C.BodyPose("right7")]
    goals = [mech.pose(q, hand.body) for hand in hands]
    found["welded arms, both hands as outputs"] = C.ProjectedInverseDynamics(mech, hands, goals), (0.0, q, v)
    return found


def timed(title: str, law: Any, state: tuple[Any, ...], rounds: int, seconds: float) -> dict[str, Any]:
    """One row."""
    found, mech = law.solve(*state), law.system
    now = measured_state(mech, *state)
    rivals = {"step": lambda: law(*state), "kernel": in_kernel(law, now)}
    times = race(rivals, rounds, seconds)
    sizes = {
        "nv": mech.nv,
        "nc": mech.nc,
        "nu": mech.nu,
        "variables": found.qp.variables,
        "qp_rows": found.qp.rows,
    }
    us = {key: 1e6 * times[name].median for key, name in (("us", "step"), ("kernel_us", "kernel"))}
    return {"title": title, **us, "status": found.status.name, **sizes}


def in_kernel(law: Any, now: MeasuredState) -> Callable[[], object]:
    """The one call of a step alone, references evaluated before; what it asks of Python is in it."""
    step, targets, forces = law._compiled, law._task.targets(now.t), None
    if step.forces is not None:
        forces = law._desired.at(now.t), law.last.u[law._used]
    owner, drive = step.question(now)
    return lambda: step.kernel(now.q, now.v, now.t, targets, forces=forces, drive=drive, owner=owner)


def compared(count: int, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Every solver on every set of programs."""
    out = []
    for problem, programs in problems(count).items():
        reference = [solvers()["Clarabel"]()(program) for program in programs]
        cones = any(program.cones for program in programs)
        for name, make in solvers().items():
            if cones and name not in ("kernel", "Clarabel"):
                continue
            try:
                solver = make()
                found = [solver(program) for program in programs]
            except ModuleNotFoundError as missing:
                out.append({"problem": problem, "solver": f"{name}: {missing.name} is not installed"})
                continue

            def all_of_them(solver: Any = solver, programs: Any = programs) -> None:
                for program in programs:
                    solver(program)

            times = race({name: all_of_them}, rounds, seconds)
            off = [
                float(np.abs(a - b).max() / np.abs(b).max())
                for a, b in zip(found, reference, strict=True)
                if a is not None and b is not None
            ]
            solved = sum(one is not None for one in found)
            us = 1e6 * times[name].median / len(programs)
            out.append(
                {
                    "problem": f"{problem} ({len(programs[0].z0)} x {len(programs[0].A)})",
                    "solver": name,
                    "us": us,
                    "solved": f"{solved} of {len(programs)}",
                    "difference": max(off, default=float("nan")),
                }
            )
    return out
