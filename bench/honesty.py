"""Does success mean right? Random runs, each judged against a much tighter one: `python -m bench.honesty`.

Every other run has sampled control, stops, brakes and dry friction, any coordinates and method; an
integrator of its own judges these (`bench.held_inputs`, `bench.one_freedom`).

A run is wrong where one of its states is off by more than 100 x tolerance x the amplification of the motion
up to there: what becomes of a change of the start by 1e-10, measured with the tight method. The tolerance of
fixed steps is 1e-4. Positions are relative to one radian or L, velocities to the largest speed.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

from . import held_inputs
from .held_inputs import HeldTrial
from .report import Column, table

Rng = np.random.Generator
Array = npt.NDArray[np.float64]
Machine = tuple[sr.Mechanism, bool, float]  # whether it is stiff, and its fastest undamped rate [rad/s]
TIGHT = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-13}
TIGHT_STIFF = {"method": "radau", "rtol": 1e-11, "atol": 1e-13}
FIXED_TOLERANCE = 1e-4
NUDGE = 1e-10
FACTOR = 100.0
CHAOTIC = 1e7  # amplification beyond which nothing can be said
KEPT = 401  # states of a tight run, which may take millions of steps
TURNS = 1000.0  # of the fastest oscillation of a run [rad]
METHODS = ("auto", "auto", "auto", "dopri5", "radau", "rk4", "rk4")
PLAIN = ("pendulum", "double_pendulum", "slider_crank", "four_bar", "parallelogram", "five_bar", "bennett")
SPATIAL = ("bricard", "sarrus", "scott_russell", "stewart", "three_rrr", "loader", "jansen_leg", "andrews")
COLUMNS: tuple[Column, ...] = (
    ("kind of run", "title", ""),
    ("runs", "runs", "d"),
    ("right, silent", "right", "d"),
    ("right, warned", "warned", "d"),
    ("wrong, loud", "loud", "d"),
    ("wrong, silent", "wrong", "d"),
    ("not judged", "unknown", "d"),
)


@dataclass(frozen=True)
class Trial:
    """One run: the machine, where it starts, and the options that are tried."""

    title: str
    mech: sr.Mechanism
    end: float
    options: dict[str, Any]
    stiff: bool

    @property
    def tolerance(self) -> float:
        """Of the run."""
        return float(FIXED_TOLERANCE if "dt" in self.options else self.options["rtol"])


def moving(mech: sr.Mechanism, rng: Rng, speed: float) -> sr.Mechanism:
    """The mechanism with a random consistent velocity."""
    wish = rng.normal(size=mech.nv) * speed * mech.units.unit
    q, v = mech.project(mech.default.q, wish)
    return mech.with_default(q, v)


def library_machine(rng: Rng) -> Machine:
    """One of the library, moving."""
    mech = getattr(sr.library, str(rng.choice(PLAIN + SPATIAL)))()
    return moving(mech, rng, float(10.0 ** rng.uniform(-1.0, 1.5))), False, 1.0


def sprung_chain(rng: Rng) -> Machine:
    """A hanging chain whose joints have springs and dampers of any stiffness."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    parent, stiffness, damped = "ground", 10.0 ** rng.uniform(0.0, 8.0), rng.choice([0.0, 0.02, 2.0])
    for k in range(int(rng.integers(1, 4))):
        at = sr.Pose((0.0 if k == 0 else 0.4, 0.0, 0.0))
        rod = {"mass": float(rng.uniform(0.2, 2.0)), "com": (0.2, 0.0, 0.0), "inertia": (0.01, 0.01, 0.01)}
        spec.body(f"rod{k}", parent, joint=sr.Revolute("z"), at=at, **rod)
        damping = float(damped * math.sqrt(stiffness))
        spec.force(f"spring{k}", sr.JointSpring(f"rod{k}", float(stiffness), 0.3))
        spec.force(f"damper{k}", sr.JointDamper(f"rod{k}", damping))
        parent = f"rod{k}"
    rate = math.sqrt(stiffness / 0.01) if damped < 1.0 else 1.0
    return moving(spec.compile(), rng, 1.0), stiffness > 1e4, rate


def driven_machine(rng: Rng) -> Machine:
    """A slider-crank whose crank is driven, with or without a soft slider behind it."""
    speed, reach = float(10.0 ** rng.uniform(-0.5, 2.0)), float(rng.uniform(0.03, 0.12))
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    rod = {"mass": 0.2, "com": (0.04, 0, 0), "inertia": (1e-4, 1e-4, 1e-4)}
    spec.body("crank", joint=sr.Revolute("z"), **rod)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((reach, 0, 0)), **rod)
    spec.body("slider", joint=sr.Prismatic("x"), mass=0.5)
    spec.close("pin", "rod", "slider", joint=sr.Revolute("z"), at_a=sr.Pose((0.2, 0, 0)))
    motor = sr.Drive("crank", lambda t: speed * t, lambda t: speed, lambda t: 0.0)
    spec.constrain("motor", motor)
    buffer = float(10.0 ** rng.uniform(1.0, 7.0))
    if soft := rng.random() < 0.5:
        spec.body("load", "slider", joint=sr.Prismatic("x"), mass=0.1)
        spec.force("buffer", sr.JointSpring("load", buffer, 0.0))
    mech = spec.compile()
    q = mech.assemble([0.0, 0.0, 0.2 + reach, *([0.0] if soft else [])]).q
    return mech.with_default(q, mech.consistent_velocity(q)), False, math.sqrt(buffer / 0.1) if soft else 1.0


MACHINES = {"library": library_machine, "springs and dampers": sprung_chain, "drives": driven_machine}


def trial(seed: int) -> Trial:
    """A random run."""
    rng = np.random.default_rng(seed)
    family = str(rng.choice(list(MACHINES)))
    mech, stiff, rate = MACHINES[family](rng)
    method = str(rng.choice(METHODS))
    options: dict[str, Any] = {"method": method}
    if method == "rk4":
        options["dt"] = float(10.0 ** rng.uniform(-4.0, -1.5))
    else:
        options["rtol"] = float(10.0 ** rng.uniform(-9.0, -4.0))
    speed = max(1.0, float(np.abs(mech.default.v / mech.units.unit).max(initial=0.0)))
    end = float(rng.uniform(0.2, 1.0)) * min(1.0, 20.0 / speed, TURNS / rate)
    return Trial(f"{family}, {method}", mech, end, options, stiff)


def apart(mech: sr.Mechanism, q: Array, v: Array, other: sr.Trajectory) -> Array:
    """Difference of states q (k, nq), v (k, nv) from those of a run, at each time (k,)."""
    unit = mech.units.unit
    speed = max(float(np.abs(other.v / unit).max(initial=0.0)), 1e-12)
    dq, dv = mech.difference(q, other.q) / unit, (v - other.v) / unit / speed
    return np.asarray(np.abs(np.hstack([dq, dv])).max(axis=1, initial=0.0))


def judge(one: Trial, seed: int) -> str:
    """The column of COLUMNS that the run belongs to."""
    mech, span = one.mech, (0.0, one.end)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run = sr.simulate(mech, span, **one.options)
    loud = not run.success or bool(seen) or run.message != f"Reached the end, t = {one.end:.9g} s."
    kept = np.unique(np.linspace(0, len(run.t) - 1, KEPT).astype(int))
    times = run.t[kept] if run.t[-1] == one.end else np.append(run.t[kept], one.end)
    tight = (TIGHT_STIFF if one.stiff else TIGHT) | {"t_eval": times}
    exact = sr.simulate(mech, span, **tight)
    nudge = NUDGE * np.random.default_rng(seed).normal(size=mech.nv) * mech.units.unit
    q, v = mech.project(mech.integrate(mech.default.q, nudge), mech.default.v + nudge)
    other = sr.simulate(mech, span, q, v, **tight)
    if not (exact.success and other.success):
        return "unknown"
    amplification = np.maximum.accumulate(np.maximum(apart(mech, other.q, other.v, exact) / NUDGE, 1.0))
    if amplification[-1] > CHAOTIC:
        return "unknown"
    allowed = FACTOR * one.tolerance * amplification
    right = len(times) == len(kept) and bool(np.all(apart(mech, run.q[kept], run.v[kept], exact) <= allowed))
    return ("warned" if loud else "right") if right else ("loud" if loud else "wrong")


def study(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows of the table, the last one their sum; wrong and silent runs are named on the error stream."""
    found: dict[str, Counter[str]] = {}
    for k in range(seed, seed + count):
        one: Trial | HeldTrial = held_inputs.trial(k) if k % 2 else trial(k)
        verdict = judge(one, k) if isinstance(one, Trial) else held_inputs.judge(one)
        found.setdefault(one.title, Counter())[verdict] += 1
        if verdict == "wrong":
            print(f"wrong and silent: run {k}, {one.title}, {one.options}", file=sys.stderr, flush=True)
        done = k - seed + 1
        shown = sys.stderr.isatty()
        if shown or done % 100 == 0:
            print(f"{done} of {count}", end="\r" if shown else "\n", file=sys.stderr, flush=True)
    found = dict(sorted(found.items()))
    found["all"] = sum(found.values(), Counter())
    empty = dict.fromkeys(("right", "warned", "loud", "wrong", "unknown"), 0)
    return [{"title": title, "runs": n.total()} | empty | n for title, n in found.items()]


def main(words: list[str]) -> int:
    """Print the table; 1 where more than 1 in 1,000 silent successes is wrong, or 5 % of right runs warn."""
    parser = argparse.ArgumentParser(prog="python -m bench.honesty", description="Does success mean right?")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    rows = study(given.count, given.seed)
    print(table("Success and truth", COLUMNS, rows))
    total = rows[-1]
    silent, right = total["right"] + total["wrong"], total["right"] + total["warned"]
    print(f"\n  wrong among silent successes: {total['wrong']} of {silent}")
    print(f"  warned among right runs:      {total['warned']} of {right}")
    return int(total["wrong"] > max(1e-3 * silent, 0.0) or total["warned"] > 0.05 * right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
