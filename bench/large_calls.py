"""Single calls on rows of four-bars and on nets, steps through a singular pose: times and their growth."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr

from .cases import STEP
from .kernel import exponent
from .report import Column
from .timing import race

CALLS_AT = (125, 250, 500)  # four-bars of the single calls
CALLS_MS = {"derivatives": 50.0, "linearize": 200.0, "assemble": 50.0, "mobility": 50.0}
NETS_AT = (10, 14, 20)  # cells of the single calls on nets
PASSED_AT = (50, 100, 200)  # four-bars that turn through their singular pose
PASS = 0.68, 0.76  # [s]: before and after it
CALLS: tuple[Column, ...] = (
    ("call", "call", ""),
    ("ms", "ms", ".1f"),
    ("at most", "at_most", ".0f"),
    ("exponent", "exponent", ".1f"),
)
PASSES: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("nv", "nv", "d"),
    ("ms/step", "ms", ".2f"),
    ("before", "before", ".2f"),
    ("exponent", "exponent", ".1f"),
    ("events", "events", "d"),
    ("energy error", "energy", ".0e"),
)


def calls(sizes: tuple[int, ...], rounds: int) -> list[dict[str, Any]]:
    """Calls on one state of rows of four-bars: of the largest, and how they grow."""
    found = [single_calls(n, rounds) for n in sizes]
    return [row[-1] | {"exponent": exponent(row, "ms")} for row in zip(*found, strict=True)]


def single_calls(n: int, rounds: int) -> list[dict[str, Any]]:
    """Calls on one state of a row of n four-bars."""
    mech = sr.library.n_four_bar(n)
    (q, v), tau = mech.default, np.zeros(mech.nv)
    near = q + 1e-3 * np.sin(np.arange(mech.nv))
    each: dict[str, Callable[[], object]] = {
        "acceleration": lambda: mech.acceleration(q, v, tau),
        "forward_dynamics": lambda: mech.forward_dynamics(q, v, tau),
        "derivatives": lambda: mech.derivatives(q, v, tau),
        "linearize": lambda: sr.linearize(mech, q, v, tau=tau),
        "assemble": lambda: mech.assemble(near),
        "mobility": lambda: mech.mobility(q),
        "consistent_velocity": lambda: mech.consistent_velocity(q, v),
        "energy": lambda: mech.energy(q, v),
        "print": lambda: str(mech),
        "compile": lambda: sr.library.n_four_bar(n),
    }
    times = {name: race({name: call}, min(rounds, 2), 1e-3)[name] for name, call in each.items()}
    return [
        {"call": name, "n": n, "ms": 1e3 * best.best, "at_most": CALLS_MS.get(name)}
        for name, best in times.items()
    ]


def net_calls(sizes: tuple[int, ...], rounds: int) -> list[dict[str, Any]]:
    """Calls on one state of nets: of the largest, and how they grow with the number of bodies."""
    found = []
    for k in sizes:
        mech = sr.library.net(k)
        (q, v), tau = mech.default, np.zeros(mech.nv)
        each: dict[str, Callable[[], object]] = {
            "acceleration": lambda mech=mech, q=q, v=v, tau=tau: mech.acceleration(q, v, tau),
            "forward_dynamics": lambda mech=mech, q=q, v=v, tau=tau: mech.forward_dynamics(q, v, tau),
            "mobility": lambda mech=mech, q=q: mech.mobility(q),
            "consistent_velocity": lambda mech=mech, q=q, v=v: mech.consistent_velocity(q, v),
        }
        times = {name: race({name: call}, min(rounds, 2), 1e-3)[name] for name, call in each.items()}
        bodies = len(mech.model.bodies)
        found.append([{"call": name, "n": bodies, "ms": 1e3 * best.best} for name, best in times.items()])
    rows = [row[-1] | {"exponent": exponent(row, "ms")} for row in zip(*found, strict=True)]
    return [row | {"n": sizes[-1]} for row in rows]


def passes(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Steps of rows of four-bars before and around their first singular pose, where all loops lose rank."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        mech = sr.library.n_four_bar(n)
        clock, began = time.process_time, time.process_time()
        first = sr.simulate(mech, (0.0, PASS[0]), dt=STEP, store_every=10)
        between = clock()
        run = sr.simulate(mech, PASS, first.q[-1], first.v[-1], dt=STEP)
        end = clock()
        assert first.success and run.success, run.message
        whole = np.concatenate([first.energy, run.energy])
        height = (1.5 * n + 0.5) * 9.81  # potential energy of the upright pose
        rows.append(
            {
                "title": f"n_four_bar {n}",
                "n": n,
                "nv": mech.nv,
                "ms": 1e3 * (end - between) / (len(run) - 1),
                "before": 1e3 * (between - began) / round(PASS[0] / STEP),
                "events": len(run.events),
                "energy": float(np.ptp(whole)) / height,
            }
        )
    rows[-1]["exponent"] = exponent(rows, "ms")
    return rows
