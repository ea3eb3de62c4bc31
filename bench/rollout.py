"""Copies and single steps: rollout beside mujoco.rollout and one run of ours, step beside accelerations.

Rollouts use all cores, on both sides. Times are CPU times of all threads, so that other work on the machine
does not count, and the best round counts; rates are steps of one copy per second on so many cores. `step` and
`acceleration` are single calls from Python on one thread. `python -m bench.rollout --robot FILE.xml ...`
compares robots of MJCF files, see robot_copies.py.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

import sarrus as sr
from sarrus import _kernel

from .calls import humanoid
from .cases import CASES
from .report import Column, table
from .robot_copies import ASKED, ROBOTS, compare
from .timing import race
from .twins.mujoco_twin import MujocoTwin, mujoco_twin

STEP = 1e-3  # [s]
COPIES, STEPS = 256, 100
STEP_FACTOR, STEP_US = 1.6, 3.0  # step: at most so many times four accelerations, and microseconds above
STEPPED = (
    *(
        "pendulum",
        "four_bar",
        "slider_crank",
        "five_bar",
        "bricard",
        "sarrus",
        "three_rrr",
        "delta",
        "stewart",
    ),
    *("dual_arm", "dual_arm_box", "quadruped", "rolling_disk", "jansen_leg", "cable_robot", "pantograph_leg"),
)
ROLLED = ("pendulum", "slider_crank", "four_bar", "three_rrr", "dual_arm", "quadruped", "delta")

ROLLOUTS: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("copies k steps/s", "rollout", ".1f"),
    ("single run", "single", ".1f"),
    ("mujoco.rollout", "mujoco", ".1f"),
    ("over single", "over_single", ".1f"),
    ("over mujoco", "over_mujoco", ".1f"),
    ("over one by one", "over_alone", ".1f"),
    ("step over mj_step", "step_rate", ".2f"),
)
SINGLE: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("step us", "step_us", ".1f"),
    ("4 accelerations us", "four_us", ".1f"),
    ("(step - 3 us) / 4 accelerations", "ratio", ".2f"),
    ("at most", "at_most", ".1f"),
    ("derivatives / steps", "slopes", ".1f"),
)


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """Both tables."""
    names = ROLLED[1:2] if quick else ROLLED
    copies, steps = (32, 20) if quick else (COPIES, STEPS)
    rolled = [roll(getattr(sr.library, name)(), name, (copies, steps), rounds) for name in names]
    if not quick:
        rolled.append(roll(humanoid(), "humanoid tree", (copies, steps), rounds))
    stepped = [step(name, rounds) for name in (STEPPED[:2] if quick else STEPPED)]
    return {"rollouts": rolled, "rows": stepped}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    notes = [
        f"{os.cpu_count()} cores; steps of 1 ms, {COPIES} copies of {STEPS} steps from random velocities."
    ]
    return "\n".join(
        [
            table("Rollouts, RK4", ROLLOUTS, results["rollouts"], notes),
            table("Single steps from Python", SINGLE, results["rows"]),
        ]
    )


def best_of(rivals: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """CPU time [s] of the best round of each."""
    best = dict.fromkeys(rivals, np.inf)
    for _ in range(rounds):
        for name, function in rivals.items():
            began = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - began)
    return best


def roll(mech: sr.Mechanism, title: str, size: tuple[int, int], rounds: int) -> dict[str, Any]:
    """Steps per second of copies, of one run, and of MuJoCo's copies."""
    copies, steps = size
    rng = np.random.default_rng(0)
    q = np.tile(mech.default.q, (copies, 1))
    v = mech.consistent_velocity(q, mech.default.v + 0.3 * rng.normal(size=(copies, mech.nv)))
    own = {"gravity": np.tile(mech.model.gravity, (copies, 1))}  # copies with parameters are not packed
    solref = next((case.solref for case in CASES if case.name == mech.name), "0.002 1")
    try:
        twin: MujocoTwin | None = mujoco_twin(mech, np.zeros(mech.nv), STEP, solref)
    except Exception:  # a mechanism that MuJoCo cannot model
        twin = None
    rivals: dict[str, Callable[[], object]] = {
        "rollout": lambda: sr.rollout(mech, q, v, dt=STEP, steps=steps, every=steps),
        "single": lambda: sr.simulate(mech, (0.0, steps * STEP), q[0], v[0], dt=STEP, method="rk4"),
        "alone": lambda: sr.rollout(mech, q, v, dt=STEP, steps=steps, every=steps, parameters=own),
    }
    if twin is not None:
        rivals["mujoco"] = _mujoco_copies(twin, q, v, steps)
    found = best_of(rivals, rounds)
    cores = _kernel.all_cores()
    rates = {
        "rollout": cores * copies * steps / found["rollout"] / 1e3,
        "single": steps / found["single"] / 1e3,
    }
    over: dict[str, float | None] = {"over_single": rates["rollout"] / rates["single"], "over_mujoco": None}
    over["over_alone"] = found["alone"] / found["rollout"]
    one = None
    if twin is not None:
        rates["mujoco"] = cores * copies * steps / found["mujoco"] / 1e3
        over["over_mujoco"] = rates["rollout"] / rates["mujoco"]
        one = _step_rate(mech, twin, rounds)
    return {"title": title, **rates, **over, "step_rate": one}


def _mujoco_copies(twin: MujocoTwin, q: Any, v: Any, steps: int) -> Callable[[], object]:
    """mujoco.rollout of the same copies, with a thread for each core."""
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    states = np.empty((len(q), mujoco.mj_stateSize(twin.model, full)))
    for i in range(len(q)):
        mujoco.mj_getState(twin.model, twin.start(q[i], v[i]), states[i], full)
    data = [mujoco.MjData(twin.model) for _ in range(_kernel.all_cores())]
    return lambda: mujoco.rollout.rollout(twin.model, data, states, nstep=steps)


def _step_rate(mech: sr.Mechanism, twin: MujocoTwin, rounds: int) -> float:
    """Rate of step over that of mj_step, one call each from Python, same integrator."""
    q, v = (np.array(x) for x in mech.default)
    data = twin.start(q, v)
    times = race(
        {"step": lambda: mech.step(q, v), "mj_step": lambda: mujoco.mj_step(twin.model, data)}, rounds
    )
    return times["mj_step"].best / times["step"].best


def step(name: str, rounds: int) -> dict[str, Any]:
    """A single step beside four accelerations of the kernel, at a state in motion."""
    mech = getattr(sr.library, name)()
    moved = sr.simulate(mech, (0.0, 0.05), dt=STEP, method="rk4")
    q, v, tau = moved.q[-1].copy(), moved.v[-1].copy(), np.zeros(mech.nv)
    many = [np.tile(x, (64, 1)) for x in (q, v, tau)]
    times = race(
        {
            "step": lambda: mech.step(q, v),
            "accelerations": lambda: mech.acceleration(*many),
            "derivatives": lambda: mech.step_derivatives(q, v),
        },
        rounds,
    )
    step_us, four_us = 1e6 * times["step"].best, 4e6 * times["accelerations"].best / 64
    return {
        "title": name,
        "step_us": step_us,
        "four_us": four_us,
        "ratio": (step_us - STEP_US) / four_us,
        "at_most": STEP_FACTOR,
        "slopes": times["derivatives"].best / times["step"].best,
    }


def main() -> None:
    """The tables of `python -m bench --only rollout`, or those of robots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", nargs="+", type=Path, default=[], metavar="FILE.xml")
    parser.add_argument("--copies", type=int, default=COPIES)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dt", type=float, default=None, help="[s], of robots; default: that of the file")
    args = parser.parse_args()
    if not args.robot:
        print(show(run(False, args.rounds)))
        return
    rows = [compare(file, (args.copies, args.steps), args.dt, args.rounds) for file in args.robot]
    notes = [f"Asked of floating robots: step at least {ASKED} of the rate of mj_step."]
    notes.append(f"{args.copies} copies of {args.steps} steps, in the air, {os.cpu_count()} cores.")
    print(table("Robots, RK4", ROBOTS, rows, notes))


if __name__ == "__main__":
    main()
