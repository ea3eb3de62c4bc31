# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Condition numbers of what formulations solve with, [Aghili2005] V-A: out/constraint_inertia.png.

Along a fall of two arms welded at their tips, and of two parallel four-bars through the pose in which their
constraints lose rank: M_c (23), M_c' (28), M_c'' (29) with gamma = |M| and with the best gamma, beside those
of Lagrange multipliers, J M^-1 J.T, and of the null space, N.T M N [Spencer2004] (3.5).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/constraint_inertia.png")
FORMS = {"M_c": ("projection", None), "M_c'": ("symmetric", None), "M_c'', gamma = |M|": ("gamma", None),
         "M_c'', best gamma": ("gamma", "best")}  # fmt: skip


def main(states: int = 60) -> dict[str, float]:
    """Compute them; returns the medians on the arms and the largest ones of the four-bars."""
    arms, bars = sr.library.dual_arm(), sr.library.n_four_bar(2)
    curves = {
        "two welded arms": along(arms, 0.6, states),
        "two four-bars through a singular pose": along(bars, 1.2, states),
    }
    result = {}
    for title, (_, found) in curves.items():
        print(title)
        for name, values in found.items():
            print(f"  {name:20} median {np.median(values):9.3g}   largest {np.max(values):9.3g}")
            result[f"{title}, {name}"] = float(np.max(values))
    draw(curves)
    print(f"Picture: {PICTURE}")
    return result


def along(mech: sr.Mechanism, t_end: float, states: int) -> tuple[np.ndarray, dict[str, list[float]]]:
    """Times and condition numbers at states of a run."""
    run = sr.simulate(mech, (0.0, t_end), t_eval=np.linspace(0.0, t_end, states))
    found: dict[str, list[float]] = {}
    for q in run.q:
        numbers = {name: mech.constraint_inertia(q, *how).condition for name, how in FORMS.items()}
        M, J, N = mech.mass_matrix(q), mech.terms(q, np.zeros(mech.nv)).J, mech.decompose(q).N
        values = np.linalg.svd(J @ np.linalg.solve(M, J.T), compute_uv=False)
        numbers["J M^-1 J.T"] = values[0] / max(values[-1], 1e-18 * values[0])
        numbers["N.T M N"] = float(np.linalg.cond(N.T @ M @ N))
        for name, value in numbers.items():
            found.setdefault(name, []).append(value)
    return run.t, found


def draw(curves: dict[str, tuple[np.ndarray, dict[str, list[float]]]]) -> None:
    """One panel for each mechanism."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12.0, 4.8), layout="constrained")
    figure.suptitle("Constraint inertia matrices [Aghili2005] V-A", fontsize=13)
    for ax, (title, (t, found)) in zip(axes, curves.items(), strict=True):
        for name, values in found.items():
            ax.semilogy(t, values, label=name)
        ax.set(xlabel="t [s]", ylabel="condition number", title=title)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
