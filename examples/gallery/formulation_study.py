# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Every formulation, correction and chart, accuracy against cost: out/formulation_study.png.

The table that `sarrus study NAME` prints, for a four-bar whose closure has three rows too many, for a row of
four-bars that passes its singular pose on the way, and for two arms welded at their tips. "nullspace" in full
coordinates is compiled, everything else is NumPy: compare costs within one of the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

import sarrus as sr

PICTURE = Path("out/formulation_study.png")
COLORS = {"project": "tab:blue", "none": "tab:red", "baumgarte": "tab:orange"}
MARKS = {"full": "o", "partition": "s", "tangent": "^", "nullspace": "D"}
LEAST = 1e-15  # errors below this are drawn there


def main(durations: tuple[float, float, float] = (1.0, 1.0, 0.3), dt: float = 2e-3) -> dict[str, float]:
    """Run the studies; returns the error of the default and the largest drift with and without projection."""
    mechs = (sr.library.four_bar(), sr.library.n_four_bar(2), sr.library.dual_arm())
    studies = [sr.study(mech, t_end, dt) for mech, t_end in zip(mechs, durations, strict=True)]
    for study in studies:
        print(f"{study}\n")
    draw(studies)
    print(f"Picture: {PICTURE}")
    rows = [row for study in studies for row in study.rows if not row.message]
    return {
        "refused": sum(bool(row.message) for study in studies for row in study.rows),
        "worst_error": max(study.rows[0].error for study in studies),
        "held_drift": max(row.drift for row in rows if row.correction == "project"),
        "free_drift": max(row.drift for row in rows if row.correction == "none"),
    }


def draw(studies: list[sr.Study]) -> None:
    """Error against cost, and drift against cost, one column for each mechanism."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, len(studies), figsize=(12.5, 7.0), sharex="col", layout="constrained")
    for column, study in zip(panels.T, studies, strict=True):
        scatter(column[0], study, "error", "error of the last pose [rad]")
        scatter(column[1], study, "drift", "largest drift [m]")
        column[0].set_title(f"{study.name}, {study.t_end:g} s, rk4, {1e3 * study.dt:g} ms", fontsize=11)
        column[1].set_xlabel("time per step [us]")
    marks = [("o", color, f"correction {name}") for name, color in COLORS.items()]
    marks += [(mark, "gray", f"coordinates {name}") for name, mark in MARKS.items()]
    handles = [plt.Line2D([], [], marker=m, color=c, linestyle="", label=text) for m, c, text in marks]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


def scatter(ax: Any, study: sr.Study, what: str, label: str) -> None:
    """One mark for each way that got to the end, the default named."""
    for k, row in enumerate(row for row in study.rows if not row.message):
        at = 1e6 * row.cost, max(getattr(row, what), LEAST)
        ax.plot(*at, MARKS[row.coordinates], color=COLORS[row.correction], alpha=0.75)
        ax.annotate("" if k else "default", at, (6, 6), textcoords="offset points")
    ax.set(xscale="log", yscale="log", ylabel=label, ylim=(3e-16, 1e-5))
    ax.grid(alpha=0.3)


if __name__ == "__main__":
    main()
