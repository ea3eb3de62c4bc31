"""The cost of `simulate` without options, the longest fixed steps of RK4 that are as accurate, and 1 ms.

The error is that of the last positions and velocities, without units, against a much tighter run. Spans are
short where the motion amplifies errors so much that no two runs agree after them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import sarrus as sr

from .report import Column, table
from .timing import race, ratio

TIGHT = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-13}
SPANS = {"andrews": 0.05, "quadruped": 0.2, "dual_arm": 0.5, "arms_around_box": 0.3, "dual_arm_box": 0.3}
SPAN = 1.0  # of all others [s]
LONGEST, HALVINGS = 0.032, 14  # [s]: fixed steps that are tried, from the longest on
SMALL = ("pendulum", "four_bar")  # of a quick run
COLUMNS: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("error", "error", ".1e"),
    ("steps", "steps", "d"),
    ("ms", "ms", ".1f"),
    ("as accurate rk4: dt [s]", "dt", ".1e"),
    ("ms", "fixed_ms", ".1f"),
    ("ratio", "ratio", ".2f"),
    ("rk4 at 1 ms: error", "plain_error", ".1e"),
    ("ms", "plain_ms", ".1f"),
)


def names() -> list[str]:
    """The library's mechanisms that need no argument."""
    found = []
    for name in sr.library.__all__:
        make = getattr(sr.library, name)
        if callable(make) and isinstance(make(), sr.Mechanism):
            found.append(name)
    return found


def error_of(mech: sr.Mechanism, run: sr.Trajectory, exact: sr.Trajectory) -> float:
    """Difference of the last states, positions over units and velocities over the largest speed."""
    unit = mech.units.unit
    speed = max(float(np.abs(exact.v / unit).max(initial=0.0)), 1e-300)
    if run.t[-1] != exact.t[-1]:
        return np.inf
    apart = mech.difference(run.q[-1], exact.q[-1]) / unit, (run.v[-1] - exact.v[-1]) / unit / speed
    with np.errstate(all="ignore"):
        worst = float(max(np.abs(part).max(initial=0.0) for part in apart))
    return worst if np.isfinite(worst) else np.inf


def row(name: str, rounds: int) -> dict[str, Any]:
    """One mechanism."""
    mech = getattr(sr.library, name)()
    span = (0.0, SPANS.get(name, SPAN))
    exact = sr.simulate(mech, span, **TIGHT)
    run = sr.simulate(mech, span)
    aim = max(error_of(mech, run, exact), 1e-13)
    dt = LONGEST
    for _ in range(HALVINGS):
        if error_of(mech, sr.simulate(mech, span, dt=dt), exact) <= aim:
            break
        dt /= 2.0
    plain = sr.simulate(mech, span, dt=1e-3)
    times = race(
        {
            "auto": lambda: sr.simulate(mech, span),
            "fixed": lambda: sr.simulate(mech, span, dt=dt),
            "plain": lambda: sr.simulate(mech, span, dt=1e-3),
        },
        rounds,
    )
    return {
        "title": name,
        "error": aim,
        "steps": len(run) - 1,
        "dt": dt,
        "plain_error": error_of(mech, plain, exact),
        "ms": 1e3 * times["auto"].best,
        "fixed_ms": 1e3 * times["fixed"].best,
        "plain_ms": 1e3 * times["plain"].best,
        "ratio": ratio(times["auto"], times["fixed"]).value,
    }


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """Every mechanism of the library."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)  # of fixed steps that are too long
        return {"rows": [row(name, rounds) for name in (SMALL if quick else names())]}


def show(results: dict[str, Any]) -> str:
    """The table."""
    notes = ("ratio: CPU time of the default over that of the fixed steps that are as accurate",)
    return table("simulate without options", COLUMNS, results["rows"], notes)
