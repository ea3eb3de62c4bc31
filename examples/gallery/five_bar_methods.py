# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Five-bar through its singular pose by three methods: out/five_bar_methods.png.

[Spencer2004] section 3.2, example 2: Lagrange multipliers with Baumgarte's stabilization (alpha = beta = 10)
against the null space with projection, also onto the energy. RK4, 1 ms. Rounding breaks the mirror symmetry.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/five_bar_methods.png")
PLAIN = "null space + projection"
METHODS = {
    "Lagrange + Baumgarte": {"formulation": "lagrange", "correction": "baumgarte", "baumgarte": (10.0, 10.0)},
    PLAIN: {},
    "null space + projection, energy too": {"energy": True},
}
LOOKS = dict(zip(METHODS, ("tab:orange", "tab:blue", "tab:green"), strict=True))


def main(duration: float = 5.0) -> dict[str, float]:
    """Run all three; returns drift and energy error of each, and the times of the singular poses."""
    mech = sr.library.five_bar("raised")
    runs = {name: sr.simulate(mech, (0.0, duration), dt=1e-3, **how) for name, how in METHODS.items()}
    print(f"{'':38}{'drift [m]':>12}{'energy [J]':>12}{'|lam| [N]':>12}")
    result = {}
    for key, (name, run) in zip(("lagrange", "project", "energy"), runs.items(), strict=True):
        result[f"{key}_drift"], result[f"{key}_energy"] = run.drift.max(), error(run).max()
        print(f"{name:38}{run.drift.max():12.1e}{error(run).max():12.1e}{size(run).max():12.0f}")
    times = [event.t for event in runs[PLAIN].events]
    result |= {f"singular_{i + 1}": t for i, t in enumerate(times)}
    print(f"bars in line at t = {', '.join(f'{t:.4f}' for t in times)} s")
    draw(runs)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def error(run: sr.Trajectory) -> np.ndarray:
    """How much energy has come or gone [J], (n,)."""
    return np.abs(run.energy - run.energy[0])


def size(run: sr.Trajectory) -> np.ndarray:
    """Norm of the multipliers [N], (n,)."""
    return np.linalg.norm(run.lam, axis=1)


def draw(runs: dict[str, sr.Trajectory]) -> None:
    """Angles, multipliers, drift and energy over time, one line for each method."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    titles = ("link1 [rad]", "size of the multipliers [N]", "loop open by [m]", "energy error [J]")
    figure, rows = plt.subplots(4, 1, figsize=(10.0, 9.5), sharex=True, layout="constrained")
    figure.suptitle("Five-bar through its singular pose [Spencer2004], example 2", fontsize=13)
    for name, run in runs.items():
        for ax, values in zip(rows, (run.q[:, 0], size(run), run.drift, error(run)), strict=True):
            ax.plot(run.t, np.maximum(values, 1e-17), color=LOOKS[name], linewidth=1.1, label=name)
    for ax, title in zip(rows, titles, strict=True):
        ax.set(ylabel=title, yscale="linear" if ax is rows[0] else "log")
        sr.viz.figures.trajectory.mark_events(runs[PLAIN], ax)
    rows[0].plot(runs[PLAIN].t, runs[PLAIN].q[:, 1:], "0.7", linewidth=0.8)  # figure 3.7: the other joints
    rows[0].legend(loc="lower center", fontsize=9)
    rows[-1].set(xlabel="t [s]", xlim=(0.0, run.t[-1]))
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
