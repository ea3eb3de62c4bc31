# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""What grows near a singular pose, [Spencer2004] figure 3.9 and section 3.3: out/five_bar_conditioning.png.

The five-bar of example 2, RK4, 1 ms, beyond the time at which its bars line up: (a) Lagrange multipliers,
(b) the last term of (3.7), v_m u_m.T G' v / sigma_m, and its numerator. The numerator vanishes with sigma_m:
the motion crosses the pose smoothly. Which branch it takes there its velocity decides: directions that the
second derivative of the constraints allows form a cone (`mech.branches`), and the velocity lies on it. From
rest forces decide. Softened constraints (3.3) bound what grows and pay with energy.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/five_bar_conditioning.png")
BAUMGARTE = {"formulation": "lagrange", "correction": "baumgarte", "baumgarte": (10.0, 10.0)}
SOFT = (1e-3, 1e-2, 1e-1)


def main(duration: float = 4.0, dt: float = 1e-3) -> dict[str, float]:
    """Run it in all ways; returns the largest terms and the energy errors."""
    mech, span = sr.library.five_bar("raised"), (0.0, duration)
    ways = {"null space": {}, "Lagrange": BAUMGARTE}
    ways |= {f"softness {e:g}": {"correction": "soft", "softness": e} for e in SOFT}
    runs = {name: sr.simulate(mech, span, dt=dt, **how) for name, how in ways.items()}
    plain = runs["null space"]
    terms = np.array([last_term(mech, q, v) for q, v in zip(plain.q, plain.v, strict=True)])
    pose, near = plain.events[0], np.abs(plain.t - plain.events[0].t) < 0.05
    result = {"term": terms[near, 0].max(), "spike": np.abs(runs["Lagrange"].lam).max(), "t": pose.t}
    for name, run in runs.items():
        result[f"energy {name}"] = np.abs(run.energy - run.energy[0]).max()
        print(f"{name:16} energy error {result[f'energy {name}']:.1e} J, drift {run.drift.max():.0e} m")
    print(f"bars in line at {pose.t:.5f} s, mobility there {mech.branches(pose.q)[0].mobility}")
    draw(runs, terms, [event.t for event in plain.events])
    return {name: float(value) for name, value in result.items()}


def last_term(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """|v_m u_m.T G' v| / sigma_m [rad/s^2] and its numerator, eq. (3.7)."""
    terms = mech.terms(q, v)
    U, s, _ = np.linalg.svd(terms.J)
    numerator = abs(float(U[:, -1] @ terms.gamma))
    return numerator / max(float(s[-1]), 1e-12), numerator


def draw(runs: dict[str, sr.Trajectory], terms: np.ndarray, crossed: list[float]) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(14.0, 4.5), layout="constrained")
    figure.suptitle("Five-bar through its singular pose [Spencer2004], figure 3.9 and section 3.3")
    axes[0].plot(runs["Lagrange"].t, runs["Lagrange"].lam, label=["lam x [N]", "lam y [N]"])
    axes[0].set_yscale("symlog", linthresh=10.0)
    labels = ["last term of (3.7) [rad/s$^2$]", "its numerator [m/s$^2$]"]
    axes[1].semilogy(runs["null space"].t, terms, label=labels)
    for name, run in runs.items():
        axes[2].semilogy(run.t, np.maximum(np.abs(run.energy - run.energy[0]), 1e-12), label=name)
    for ax, title in zip(
        axes, ("(a) Lagrange multipliers", "(b) null space", "energy error [J]"), strict=True
    ):
        for t in crossed:
            ax.axvline(t, color="k", linestyle=":", linewidth=1.0)
        ax.set(xlabel="t [s]", title=title)
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
