"""Mechanisms of hundreds of bodies: time of an RK4 step beside MuJoCo's, growth, single calls, memory.

Families grow by cells or links. Ratios are those of runs with their start. The exponent p of time ~ n^p is
fitted to bodies n from 60 on. Memory is the largest resident size of a process that simulates, above that of
one which only imports the library.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.library.mass_properties import bar
from sarrus.library.plane_geometry import HINGE, chain, pin

from .cases import STEP, UnsupportedError
from .kernel import exponent
from .large_calls import CALLS, CALLS_AT, NETS_AT, PASSED_AT, PASSES, calls, net_calls, passes
from .report import Column, table
from .timing import race_prepared, ratio
from .twins.mujoco_twin import mujoco_twin

TURN = 0.15  # CPU time of our run in a round [s]
FEWEST, MOST = 10, 500  # rows of four-bars pass a singular pose at 0.72 s: a table of its own, `passes`
SOLREF = "-1.5e6 -2.4e3"
MEMORY_AT = 1000
ROWS: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("nv", "nv", "d"),
    ("rows", "nc", "d"),
    ("ms/step", "ms", ".3f"),
    ("MuJoCo", "mujoco_ms", ".3f"),
    ("ratio", "ratio", ".2f"),
    ("spread", "spread", ".2f"),
)
GROWTH: tuple[Column, ...] = (
    ("family", "family", ""),
    ("exponent", "exponent", ".2f"),
    ("at most", "at_most", ".1f"),
)
STARTS: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("nv", "nv", "d"),
    ("rows", "nc", "d"),
    ("compile ms", "compile", ".0f"),
    ("first step ms", "first", ".1f"),
    ("mobility ms", "mobility", ".1f"),
    ("ms/step", "ms", ".2f"),
    ("drift L", "drift", ".0e"),
)


def ring(n: int) -> sr.Mechanism:
    """A ring of n equal links of 1 m and 1 kg, one of them the ground."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="ring")
    names = [f"l{i}" for i in range(n - 1)]
    chain(spec, names, [1.0] * (n - 1), [1.0] * (n - 1), sr.Pose())
    pin(spec, "c", "ground", (1.0, 0.0), names[-1], (1.0, 0.0))
    q = np.full(n - 1, -2.0 * math.pi / n)
    q[0] = math.pi - 2.0 * math.pi / n
    return spec.compile().with_default(q)


def open_chain(n: int) -> sr.Mechanism:
    """n equal links of 1 m and 1 kg that hang from one hinge, released in zigzag."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="open_chain")
    parent, at = "ground", sr.Pose()
    for i in range(n):
        spec.body(f"l{i}", parent=parent, joint=HINGE, at=at, **bar(1.0, 1.0))
        parent, at = f"l{i}", sr.Pose((1.0, 0.0, 0.0))
    return spec.compile().with_default(0.3 * np.array([(-1.0) ** i for i in range(n)]))


# family: how it is made, its sizes (the first ones in a quick run), largest ratio and exponent accepted
FAMILIES: dict[str, tuple[Callable[[int], sr.Mechanism], tuple[int, ...], float | None, float | None]] = {
    "net": (sr.library.net, (4, 10, 14, 20, 40), 1.0, 1.7),
    "net of hinges in space": (lambda k: sr.library.net(k, closure="revolute"), (4, 10, 20), 4.0, 1.7),
    "n_four_bar": (sr.library.n_four_bar, (10, 40, 100, 400, 1000), 1.0, 1.2),
    "ring": (ring, (20, 100, 400), 1.0, None),
    "open chain": (open_chain, (20, 100, 400, 800), None, 1.2),
    "jansen_leg": (sr.library.jansen_leg, (3, 12), 1.0, None),
    "scissor": (sr.library.scissor, (10, 40), None, None),
    "deployable_ring": (sr.library.deployable_ring, (10, 40), None, None),
    "chain_mail": (sr.library.chain_mail, (3, 6), None, None),
}


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers; a quick run has the smallest of each family only."""
    rows, growth = [], []
    for name, (make, sizes, at_most, power) in FAMILIES.items():
        made = [measure(name, make, n, at_most, rounds) for n in (sizes[:1] if quick else sizes)]
        rows += made
        if not quick and power is not None:
            growth.append({"family": name, "exponent": exponent(made, "ms"), "at_most": power})
    return {
        "rows": rows,
        "growth": growth,
        "calls": calls((10, 20) if quick else CALLS_AT, rounds),
        "nets": net_calls((4, 5) if quick else NETS_AT, rounds),
        "passes": passes((5, 10) if quick else PASSED_AT),
        "starts": [start(title, make) for title, make in LARGEST.items()][: 1 if quick else None],
        "memory": memory(20 if quick else MEMORY_AT),
    }


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    memory_note = f"Memory of n_four_bar({results['memory']['n']}): {results['memory']['mb']:.0f} MB"
    return "\n".join(
        [
            table("Large mechanisms: RK4 with steps of 1 ms, beside MuJoCo", ROWS, results["rows"]),
            table("Growth of a step with the number of bodies", GROWTH, results["growth"]),
            table(f"Single calls, n_four_bar({results['calls'][0]['n']})", CALLS, results["calls"]),
            table(f"Single calls, net({results['nets'][0]['n']})", CALLS, results["nets"]),
            table("Through a singular pose, 80 steps", PASSES, results["passes"]),
            table("Largest mechanisms, 20 steps", STARTS, results["starts"], (memory_note,)),
        ]
    )


def simulate(mech: sr.Mechanism, steps: int) -> sr.Trajectory:
    """RK4 from the default state, as a user calls it; runs that stop would spoil the time."""
    run = sr.simulate(mech, (0.0, steps * STEP), dt=STEP)
    assert run.success, run.message
    return run


def measure(
    family: str, make: Callable[[int], sr.Mechanism], n: int, at_most: float | None, rounds: int
) -> dict[str, Any]:
    """One row: the beginning of a run."""
    mech = make(n)
    try:
        twin = mujoco_twin(mech, np.zeros(mech.nv), STEP, SOLREF)
    except (UnsupportedError, ValueError):  # no such joint, or bodies nested too deeply for its parser
        twin = None
    simulate(mech, 1)  # what is imported at first
    trial = race_prepared({"sarrus": (lambda: None, lambda _: simulate(mech, FEWEST))}, 1)["sarrus"]
    steps = min(max(FEWEST, round(FEWEST * TURN / trial.best)), MOST)
    rivals: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
        "sarrus": (lambda: None, lambda _: simulate(mech, steps)),
    }
    if twin is not None:
        rivals["mujoco"] = (lambda: twin.start(*mech.default), lambda data: twin.step(data, steps))
    times = {name: each.per(steps) for name, each in race_prepared(rivals, rounds).items()}
    compared = ratio(times["sarrus"], times["mujoco"]) if twin is not None else None
    return {
        "title": f"{family} {n}",
        "n": len(mech.model.bodies),
        "nv": mech.nv,
        "nc": mech.nc,
        "ms": 1e3 * times["sarrus"].best,
        "mujoco_ms": 1e3 * times["mujoco"].best if twin is not None else None,
        "ratio": compared and compared.value,
        "spread": compared and compared.spread,
        "at_most": at_most,
    }


LARGEST: dict[str, Callable[[], sr.Mechanism]] = {
    "net of hinges in space 20": lambda: sr.library.net(20, closure="revolute"),
    "chain mail of spherical joints 10": lambda: sr.library.chain_mail(10),
    "open chain 5000": lambda: open_chain(5000),
}


def start(title: str, make: Callable[[], sr.Mechanism]) -> dict[str, Any]:
    """What the first step of one of the largest costs, and the steps after it."""
    clock = time.process_time
    began = clock()
    mech = make()
    compiled = clock()
    simulate(mech, 1)
    first = clock()
    run = simulate(mech, 21)
    end = clock()
    if mech.nc:
        mech.mobility()
    return {
        "title": title,
        "nv": mech.nv,
        "nc": mech.nc,
        "compile": 1e3 * (compiled - began),
        "first": 1e3 * (first - compiled),
        "mobility": 1e3 * (clock() - end) if mech.nc else None,
        "ms": 1e3 * ((end - first) - (first - compiled)) / 20,
        "drift": float(run.drift.max()) / mech.length,
    }


# ru_maxrss would begin with the size of the process that started this one
MEMORY = """
import re
import sarrus as sr
peak = lambda: int(re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1])
sr.simulate(sr.library.n_four_bar(2), (0.0, 0.002), dt=1e-3)
before = peak()
mech = sr.library.n_four_bar({n})
sr.simulate(mech, (0.0, 0.02), dt=1e-3)
print((peak() - before) / 1024)
"""


def memory(n: int) -> dict[str, Any]:
    """Largest resident size of building and simulating n_four_bar(n), above the library itself [MB]."""
    made = subprocess.run(
        [sys.executable, "-c", MEMORY.format(n=n)], capture_output=True, text=True, check=True
    )
    return {"n": n, "mb": float(made.stdout)}
