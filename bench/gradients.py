"""`python -m bench.gradients`: a reverse step beside a step, and beside all columns of its derivatives.

`mech.step_vjp` sweeps a step backwards in compiled code. Times are CPU times of all threads for batches of
states of library mechanisms in motion, per state; the best round counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.mechanism.query.position_rates import rates_of_positions

from .report import Column, table

MECHANISMS = ("pendulum", "slider_crank", "four_bar", "three_rrr", "bricard", "dual_arm", "dual_arm_box",
              "quadruped", "delta", "stewart")  # fmt: skip
STATES, AT_MOST = 512, 4.0
COLUMNS: tuple[Column, ...] = (
    ("mechanism", "title", ""),
    ("nv", "nv", "d"),
    ("step us", "step", ".1f"),
    ("step_vjp us", "vjp", ".1f"),
    ("over step", "ratio", ".2f"),
    ("all columns over step", "columns", ".1f"),
    ("apart", "apart", ".0e"),
)


def best(call: Callable[[], object], rounds: int) -> float:
    """CPU time of a call [s], the best of some rounds."""
    found = []
    for _ in range(rounds + 1):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found[1:])


def measure(name: str, rounds: int) -> dict[str, Any]:
    """One mechanism: states along a run, random gradients."""
    mech, rng = getattr(sr.library, name)(), np.random.default_rng(0)
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3, method="rk4")
    which = np.arange(STATES) % len(run.t)
    q, v, u = run.q[which], run.v[which], np.zeros((STATES, mech.nu))
    end = rng.standard_normal(q.shape), rng.standard_normal(v.shape)
    step = best(lambda: mech.step(q, v, u), rounds)
    vjp = best(lambda: mech.step_vjp(q, v, u, cotangent=end), rounds)
    columns = best(lambda: mech.step_derivatives(q, v, u), rounds)
    found, slopes = mech.step_vjp(q, v, u, cotangent=end), mech.step_derivatives(q, v, u)
    out = np.einsum("bqk,bq->bk", rates_of_positions(mech.model, slopes.q), end[0])
    expected = np.einsum("bij,bi->bj", slopes.A, np.concatenate([out, end[1]], axis=1))[:, mech.nv :]
    apart = float(np.abs(found[1] - expected).max() / np.abs(expected).max())
    us = 1e6 / STATES
    times = {"step": step * us, "vjp": vjp * us, "ratio": vjp / step, "columns": columns / step}
    return {"title": name, "nv": mech.nv, **times, "apart": apart}


def main() -> None:
    """The table, and whether all ratios keep their bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    rows = [measure(name, given.rounds) for name in MECHANISMS]
    most = max(row["ratio"] for row in rows)
    verdict = "kept" if most <= AT_MOST else "missed"
    notes = [f"A reverse step takes at most {most:.2f} steps; asked: {AT_MOST:.0f}, {verdict}."]
    print(table("Gradients through a step, RK4, one state", COLUMNS, rows, notes))


if __name__ == "__main__":
    main()
