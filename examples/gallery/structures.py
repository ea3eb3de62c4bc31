# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Structures of many cells let go: a net, a scissor, a ring and chain mail: out/structures.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/structures.png")
SPAN = 0.4  # [s]


def main() -> dict[str, float]:
    """Simulates all four; returns the largest drift [m] of each by name."""
    structures = (
        sr.library.net(8),
        sr.library.scissor(8),
        sr.library.deployable_ring(16),
        sr.library.chain_mail(4),
    )
    runs = []
    for mech in structures:
        run = sr.simulate(mech, (0.0, SPAN), dt=2e-3)
        energy = mech.energy(run.q, run.v).total
        print(f"{mech.name}: {mech.nv} coordinates, {mech.nc} rows, {mech.mobility(run.q[-1]).dof} freedoms")
        print(
            f"  after {SPAN:g} s: loops closed to {run.drift.max():.0e} m, energy to {np.ptp(energy):.0e} J"
        )
        runs.append(run)
    draw(runs)
    print(f"\nPicture: {PICTURE}")
    return {run.system.name: float(run.drift.max()) for run in runs}


def draw(runs: list[sr.Trajectory]) -> None:
    """The last pose of each run."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11, 8), layout="constrained")
    for i, run in enumerate(runs, start=1):
        flat = run.system.name != "chain_mail"
        axes = figure.add_subplot(2, 2, i, **({} if flat else {"projection": "3d"}))
        run.system.plot(run.q[-1], ax=axes)
        axes.set_title(f"{run.system.name} after {SPAN:g} s")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
