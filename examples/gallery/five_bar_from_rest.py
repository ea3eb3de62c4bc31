# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Five-bar let go at rest exactly in its singular pose: out/five_bar_from_rest.png.

[Spencer2004] section 3.2, example 1. All pins in one line: rank 1 of 2. The linkage falls, bobs once and is
back in the singular pose, at rest, at 2.825 s (the thesis reads 2.82 s). What it does after that is up to
rounding: the pose is a bifurcation.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/five_bar_from_rest.png")


def at_rest(t: float, q: np.ndarray, v: np.ndarray) -> float:
    """Zero where the first bar turns back."""
    return float(v[0])


def main(duration: float = 5.0) -> dict[str, float]:
    """Run it; returns the time of return, drift and energy error."""
    mech = sr.library.five_bar("singular")
    try:
        mech.forward_dynamics(*mech.default, formulation="lagrange")
    except sr.SingularConstraintError as problem:
        print(f"Lagrange multipliers: {problem}")
    run = sr.simulate(mech, (0.0, duration), events=at_rest, dt=1e-3)
    turns = [event for event in run.events if event.kind == "user" and event.t > 0.0]
    lowest, back = turns[0], turns[1]
    result = {
        "lowest": lowest.t,
        "back": back.t,
        "off_pose": np.abs(mech.difference(mech.default.q, back.q)).max(),
        "drift": run.drift.max(),
        "energy_error": np.abs(run.energy - run.energy[0]).max(),
    }
    print(f"null space: turns back at {lowest.t:.6f} s and is home at {back.t:.6f} s,")
    print(f"{result['off_pose']:.0e} rad off the pose it left; loop open by at most {result['drift']:.0e} m,")
    print(f"energy off by at most {result['energy_error']:.0e} J in {duration:g} s")
    draw(run, back.t)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def draw(run: sr.Trajectory, back: float) -> None:
    """Poses of the first half of the motion, then angles, condition, energy and drift as in the thesis."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11.0, 9.0), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.0, 3.2))
    figure.suptitle("Five-bar from rest in its singular pose [Spencer2004], example 1", fontsize=13)
    for ax, t in zip(above.subplots(1, 6), np.linspace(0.0, back / 2, 6), strict=True):
        run.system.plot(run.at(t).q, ax, masses=False)
        ax.set(xlim=(-1.3, 2.3), ylim=(-2.7, 1.3), xlabel="", ylabel="", xticks=[], yticks=[])
        ax.set_title(f"{t:.2f} s", fontsize=10)
    panels = below.subplots(4, 1, sharex=True)
    for ax, what in zip(panels, ("q", "singular_values", "energy", "drift"), strict=True):
        run.plot(what, ax).set_xlabel("")
    panels[3].set_xlabel("t [s]")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
