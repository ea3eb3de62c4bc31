# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""The loop of the README, docs/static/five_bar.gif: a five-bar falls through a singular pose, beside others.

Both runs take steps of 1 ms by RK4, on the right with Lagrange multipliers and Baumgarte's gains (10, 10).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr

LOOP = Path(__file__).parents[1] / "docs" / "static" / "five_bar.gif"
RUNS: dict[str, dict[str, Any]] = {
    "sarrus": {},
    "Lagrange + Baumgarte": {
        "formulation": "lagrange",
        "correction": "baumgarte",
        "baumgarte": (10.0, 10.0),
    },
}
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
DT, PICTURES_PER_SECOND = 1e-3, 20


def main(duration: float = 4.0, loop: Path = LOOP) -> dict[str, float]:
    """Write it; returns by how much each loop opened [m]."""
    mech = sr.library.five_bar("raised")
    runs = {name: sr.simulate(mech, (0.0, duration), dt=DT, **how) for name, how in RUNS.items()}
    draw(mech, runs, loop)
    return {name: float(run.drift.max()) for name, run in runs.items()}


def corners(mech: sr.Mechanism, q: np.ndarray) -> np.ndarray:
    """Pins in the plane, from ground to ground (5, 2) [m]."""
    places = [mech.pose(q, f"link{k + 1}") for k in range(4)]
    return np.array([*(place.xyz[:2] for place in places), places[-1].apply((1.0, 0.0, 0.0))[:2]])


def draw(mech: sr.Mechanism, runs: dict[str, sr.Trajectory], loop: Path) -> None:
    """Two panels, a picture every 50 ms."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.6), dpi=80)
    shown = []
    for ax, name in zip(panels, runs, strict=True):
        ax.set(xlim=(-1.6, 2.6), ylim=(-2.4, 2.2), aspect="equal", xticks=[], yticks=[], title=name)
        ax.plot([0.0, 1.0], [-0.08, -0.08], "^", color="0.4", markersize=11)
        lines = [ax.plot([], [], color=color, linewidth=6, solid_capstyle="round")[0] for color in COLORS]
        shown.append((lines, ax.text(0.5, 0.04, "", transform=ax.transAxes, ha="center")))

    def paint(t: float) -> list[Any]:
        for (lines, words), run in zip(shown, runs.values(), strict=True):
            k = min(int(np.searchsorted(run.t, t)), len(run.t) - 1)
            pins = corners(mech, run.q[k])
            for line, ends in zip(lines, pairwise(pins), strict=True):
                line.set_data(np.transpose(ends))
            energy = np.ptp(run.energy[: k + 1])
            words.set_text(f"loop open by {run.drift[: k + 1].max():.0e} m\nenergy off by {energy:.0e} J")
        return []

    figure.tight_layout()
    end = next(iter(runs.values())).t[-1]
    times = np.arange(0.0, end, 1.0 / PICTURES_PER_SECOND)
    film = FuncAnimation(figure, paint, times, blit=False)
    film.save(loop, PillowWriter(fps=PICTURES_PER_SECOND))
    plt.close(figure)


if __name__ == "__main__":
    print(main())
