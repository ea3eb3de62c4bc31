# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Formulations compared, [Aghili2005] V-A.3, [Spencer2004] 2: out/formulation_study.png.

For a four-bar with three rows too many, a row of forty four-bars (one freedom, 81 coordinates) and two arms
welded at their tips: time with the terms given (NumPy, the compiled one beside it), and residual.
"""

import time
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr
from sarrus.dynamics import formulations as fm

PICTURE = Path("out/formulation_study.png")
MARKS = {"nullspace": "*", "svd": "D", "partition": "s", "lagrange": "X", "projection": "o",
         "projection_symmetric": "^", "projection_gamma": "v"}  # fmt: skip


def main(repeat: int = 300) -> dict[str, float]:
    """Print the tables; returns the cost of each formulation on the arms, relative to "projection"."""
    tables = []
    for mech in (sr.library.four_bar(), sr.library.n_four_bar(40), sr.library.dual_arm()):
        run = sr.simulate(mech, (0.0, 0.3), dt=2e-3)
        q, v = run.q[-1], run.v[-1]
        costs = timed(mech, q, v, [x for x in MARKS if x != "lagrange" or run.rank[-1] == mech.nc], repeat)
        rows = {name: (cost, residual(mech, name, q, v)) for name, cost in costs.items()}
        for name, (cost, off) in rows.items():
            print(f"{mech.name:12} {name:21} {1e6 * cost:7.1f} us   residual {off:.0e}")
        tables.append((mech.name, rows))
    draw(tables)
    arms, worst = tables[-1][1], max(x[1] for _, rows in tables for x in rows.values())
    return {name: cost / arms["projection"][0] for name, (cost, _) in arms.items()} | {"residual": worst}


def timed(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray, names: list[str], n: int) -> dict[str, float]:
    """Least time [s] of one acceleration, in turn; all but Lagrange multipliers decompose J first."""
    terms, tau, found = mech.terms(q, v), np.zeros(mech.nv), dict.fromkeys(names, np.inf)
    known = fm.split(terms, tau, mech.units)
    for name in names * n:
        began = time.perf_counter()
        state = known if name in ("lagrange", "nullspace") else fm.split(terms, tau, mech.units)
        mech.acceleration(q, v, tau) if name == "nullspace" else fm.FORMULATIONS[name](state)
        found[name] = min(found[name], time.perf_counter() - began)
    return found


def residual(mech: sr.Mechanism, name: str, q: np.ndarray, v: np.ndarray) -> float:
    """What is left of J a = gamma and of N.T (M a + h) = 0, relative."""
    a, x, N = mech.forward_dynamics(q, v, formulation=name).a, mech.terms(q, v), mech.decompose(q).N
    rows, along = abs(x.J @ a - x.gamma).max(), abs(N.T @ (x.M @ a + x.h)).max()
    return float(max(rows / (1.0 + abs(x.gamma).max()), along / (1.0 + abs(x.h).max())))


def draw(tables: list[Any]) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(12.5, 4.6), layout="constrained")
    figure.suptitle('One acceleration in every formulation; "nullspace" is compiled, the others NumPy')
    for ax, (title, rows) in zip(panels, tables, strict=True):
        for i, (name, mark) in enumerate(MARKS.items()):
            cost, off = rows.get(name, (np.nan, np.nan))  # Lagrange multipliers need independent rows
            ax.loglog(1e6 * cost, off, mark, color=f"C{i}", markersize=9, label=name)
        ax.set(xlabel="time [us]", ylabel="residual of a", title=title)
        ax.margins(0.2)
        ax.tick_params(which="both", labelsize=7)
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
