# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Slider-crank under control, [Aghili2005] VIII-B, figures 5, 6, table I: out/slider_crank_control.png.

From q1 = pi / 6 to pi / 3 with G_P = 25, G_D = 10, G_F = 1, G_I = 20: two active joints, one active joint,
hybrid control with lambda_d = 0. The paper gives neither gravity, horizon nor reference; here 9.81 m/s^2
along -y, 2 s, a set-point. Table I cannot be reproduced (2.44 / 1.18 is not the root of 5 that its equations
give), its order can.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/slider_crank_control.png")
START, END = np.pi / 6.0, np.pi / 3.0


def main(duration: float = 2.0, dt: float = 1e-3) -> dict[str, float]:
    """Run the three controllers; returns their torques and errors."""
    mech, control, gains = sr.library.slider_crank(), sr.control, {"kp": 25.0, "kd": 10.0}
    laws = {
        "two active joints": control.ProjectedInverseDynamics(mech, "crank", END, **gains),
        "one active joint": control.ProjectedInverseDynamics(mech, "crank", END, **gains, actuated=["crank"]),
        "hybrid, no force": control.HybridForceMotion(mech, "crank", END, {"slider": 0.0}, **gains, ki=20.0),
    }
    q0 = mech.assemble([START, 2.0 * np.pi - 2.0 * START]).q
    runs = {name: sr.simulate(mech, (0.0, duration), q0, control=law, dt=dt) for name, law in laws.items()}
    two, one, _ = (np.linalg.norm(run.u, axis=1) for run in runs.values())
    t = runs["two active joints"].t
    designed = (END - START) * (1.0 + 5.0 * t) * np.exp(-5.0 * t)  # e'' + 10 e' + 25 e = 0
    result = {f"rms {name}": rms(run) for name, run in runs.items()}
    result["ratio_error"] = float(np.max(np.abs(one / two - np.sqrt(5.0))))
    result["error"] = max(float(np.max(np.abs(END - run.q[:, 0] - designed))) for run in runs.values())
    result["hybrid_lam"] = float(np.abs(runs["hybrid, no force"].lam).max())
    for name, run in runs.items():
        print(f"{name:18} {rms(run):7.3f} N m (rms), contact force up to {np.abs(run.lam).max():.2e} N")
    print(f"|u| with one joint over two: sqrt(5) at every instant, to {result['ratio_error']:.0e}")
    print(f"error against its design: at most {result['error']:.0e} rad")
    draw(runs, END - designed)
    print(f"Picture: {PICTURE}")
    return result


def rms(run: sr.Trajectory) -> float:
    """Root mean square of |u| [N m]."""
    return float(np.sqrt(np.trapezoid((run.u**2).sum(axis=1), run.t) / (run.t[-1] - run.t[0])))


def draw(runs: dict[str, sr.Trajectory], designed: np.ndarray) -> None:
    """Position, contact force and torques of the three, one column each."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 3, figsize=(11.0, 7.5), sharex=True, sharey="row", layout="constrained")
    figure.suptitle("Slider-crank from 30 to 60 degrees [Aghili2005], figures 5 and 6", fontsize=13)
    for column, (name, run) in zip(axes.T, runs.items(), strict=True):
        column[0].set_title(f"{name}\n{rms(run):.2f} N m rms", fontsize=10)
        column[0].plot(run.t, run.q[:, 0], label="crank [rad]")
        column[0].plot(run.t, designed, "k--", linewidth=1.0, label="designed")
        column[1].plot(run.t, run.lam[:, 0], color="#009e73", label="contact force lam [N]")
        column[2].plot(run.t, run.u, label=[f"torque {joint} [N m]" for joint in run.system.names])
        column[2].set_xlabel("t [s]")
        for ax in column:
            ax.legend(fontsize=8)
            ax.grid(True, linewidth=0.4, alpha=0.5)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
