# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Condition, energies and drift of a five-bar from rest in its singular pose: out/five_bar_balances.png.

[Spencer2004] section 3.2, example 1, figures 3.4 to 3.6: the condition number of J, the energies, and how far
the loop opens where nothing corrects it, beside the run with projection.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/five_bar_balances.png")


def main(duration: float = 5.0) -> dict[str, float]:
    """Run it with and without correction; returns drifts, the change of energy and condition numbers."""
    mech = sr.library.five_bar("singular")
    run, free = (sr.simulate(mech, (0.0, duration), dt=1e-3, correction=how) for how in ("project", "none"))
    states = list(zip(run.q, run.v, strict=True))
    values = [np.linalg.svd(mech.terms(*state).J, compute_uv=False) for state in states]
    condition = np.array([s[0] / max(s[-1], 1e-17) for s in values])
    energies = [mech.energy(*state) for state in states]
    result = {
        "drift": run.drift.max(),
        "drift_free": free.drift.max(),
        "energy": np.ptp([one.total for one in energies]),
        "least_condition": condition.min(),
    }
    print(f"loop open by {result['drift']:.0e} m, without correction by {result['drift_free']:.0e} m;")
    print(f"energy changes by {result['energy']:.0e} J; condition of J at least {condition.min():.2f}")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (above, middle, below) = plt.subplots(3, 1, figsize=(9, 8), sharex=True, layout="constrained")
    figure.suptitle("Five-bar from rest [Spencer2004], figures 3.4 to 3.6", fontsize=13)
    above.semilogy(run.t, condition)
    for name in ("kinetic", "potential", "total"):
        middle.plot(run.t, [getattr(one, name) for one in energies], label=name)
    for name, one in (("projection", run), ("no correction", free)):
        below.semilogy(one.t, np.maximum(one.drift, 1e-17), label=name)
    labels = ("condition of J", "energy [J]", "loop open by [m]")
    for ax, label in zip((above, middle, below), labels, strict=True):
        ax.set_ylabel(label)
    middle.legend(fontsize=8)
    below.legend(fontsize=8)
    below.set_xlabel("t [s]")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


if __name__ == "__main__":
    main()
