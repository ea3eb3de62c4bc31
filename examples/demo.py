# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""A five-bar linkage falls through its singular pose: a table, a picture, a page that plays."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/five_bar.png")
PAGE = Path("out/five_bar.html")
MOMENTS = (0.0, 0.5, None, 0.8, 1.0, 1.4)  # [s] at which poses are shown; None: the first singular pose
CAPTION = (
    "Two equations keep the loop of four bars closed. When all bars lie in one line (c), both say the same\n"
    "thing, and whatever divides by their difference divides by zero. The linkage itself just keeps moving."
)


def main(duration: float = 5.0) -> dict[str, float]:
    """Run the demo for some seconds of motion; returns what the table shows."""
    linkage = sr.library.five_bar("raised")
    print(
        "Four bars on two ground pins, let go. On their way down all bars lie in one line: there the two\n"
        "equations that keep the loop closed say the same thing, and formulas that divide by their\n"
        f"difference break down. {duration:g} s of motion:\n"
    )
    start = time.perf_counter()
    fall = sr.simulate(linkage, (0.0, duration))
    took = time.perf_counter() - start
    pulled = sr.simulate(linkage, (0.0, duration), correction="baumgarte", baumgarte=(10.0, 10.0))

    print(f"  {'':34}{'sarrus':>14}{'Baumgarte':>14}")
    print(f"  {'loop opens by at most [m]':34}{fall.drift.max():14.1e}{pulled.drift.max():14.1e}")
    print(f"  {'energy is off by at most [J]':34}{error(fall).max():14.1e}{error(pulled).max():14.1e}")
    for event in fall.events:
        lost = linkage.nc - event.rank
        words = "bars in line at [s]" if lost else "bars nearly in line at [s]"
        print(f"  {words:34}{event.t:14.6f}   {f'({lost} of {linkage.nc} equations lost)' if lost else ''}")
    print(f"  {'speed, relative to real time':34}{duration / took:14.0f}")
    print("\nBaumgarte: the usual remedy, which lets loops open and pulls them back (gains 10, 10).")

    draw(fall, pulled)
    fall.export(PAGE, title="A five-bar falls through its singular pose")
    print(f"Picture: {PICTURE}\nMotion:  {PAGE}, open it in any browser ({PAGE.resolve().as_uri()})")
    return {
        "drift": float(fall.drift.max()),
        "energy_error": float(error(fall).max()),
        "first_singular": fall.events[0].t,
        "rank": fall.events[0].rank,
        "speed": duration / took,
    }


def error(run: sr.Trajectory) -> np.ndarray:
    """How much energy has come or gone [J], (n,)."""
    return np.abs(run.energy - run.energy[0])


def draw(fall: sr.Trajectory, pulled: sr.Trajectory) -> None:
    """Poses above, what happens to the equations, the energy and the loop below."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11.0, 9.5), layout="constrained")
    words, above, below = figure.subfigures(3, 1, height_ratios=(0.32, 1.0, 2.2))
    words.suptitle("A five-bar linkage falls through the pose in which its equations break down", fontsize=14)
    words.text(0.5, 0.3, CAPTION, ha="center", va="center", fontsize=10)
    moments = [fall.events[0].t if moment is None else moment for moment in MOMENTS]
    draw_poses(fall, moments, above.subplots(1, len(moments)))
    draw_curves(fall, pulled, moments, below.subplots(3, 1, sharex=True))
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


def draw_poses(fall: sr.Trajectory, moments: list[float], panels: Any) -> None:
    """The linkage at some moments, the singular one in red."""
    for ax, letter, moment, given in zip(panels, "abcdef", moments, MOMENTS, strict=True):
        fall.system.plot(fall.at(moment).q, ax, masses=False)
        ax.set(xlim=(-1.3, 2.3), ylim=(-2.7, 2.2), xlabel="", ylabel="", xticks=[], yticks=[])
        ax.set_title(f"{letter}   {moment:.2f} s", fontsize=10, color="k" if given is not None else "tab:red")


def draw_curves(fall: sr.Trajectory, pulled: sr.Trajectory, moments: list[float], rows: Any) -> None:
    """Smallest singular value, energy and gap over time, singular poses marked."""
    times = np.append(fall.t, [event.t for event in fall.events])
    smallest = np.append(fall.singular_values[:, -1], [event.singular_values[-1] for event in fall.events])
    order = np.argsort(times)
    rows[0].plot(times[order], smallest[order], color="k", linewidth=1.2)
    for letter, moment in zip("abcdef", moments, strict=True):
        rows[0].text(moment, 9.0, letter, ha="center", fontsize=9, bbox={"color": "white", "pad": 1.0})
    carried = fall.system.energy(fall.q, fall.v).kinetic.max()
    titles = (
        "How far the two equations are from saying the same thing (smallest singular value of J)",
        f"Energy that came from nowhere or went there [J]; the bars carry up to {carried:.0f} J",
        "How far the loop has opened [m]",
    )
    runs = ((pulled, "tab:orange", "Baumgarte"), (fall, "tab:blue", "sarrus"))
    for run, color, name in runs:
        for ax, values in ((rows[1], error(run)), (rows[2], run.drift)):
            ax.plot(run.t, np.maximum(values, 1e-17), color=color, linewidth=1.0)
            ax.annotate(name, (run.t[-1], values[-1]), (5, -3), textcoords="offset points", color=color)
    for ax, title in zip(rows, titles, strict=True):
        ax.set_yscale("log")
        ax.set_title(title, fontsize=10, loc="left")
        for event in fall.events:
            ax.axvline(event.t, color="tab:red", linestyle="--", linewidth=1.0)
    rows[0].set_ylim(1e-13, 200.0)
    rows[-1].set(xlabel="t [s]", xlim=(-0.06, fall.t[-1]))


if __name__ == "__main__":
    main()
