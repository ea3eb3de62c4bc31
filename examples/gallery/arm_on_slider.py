# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Three-joint arm on a slider, [Aghili2005] section IX, figure 8 and table II: out/arm_on_slider.png.

The hand runs on y_0 = -0.27 m, x_d = -0.075 + 0.225 sin(pi t + pi / 9), theta_d = 0; G_P = 480, G_D = 45,
G_F = 3, G_I = 0.1. The paper gives neither the arm nor the error of y_0. Here: the library's arm in a
horizontal plane with geared motors of 0.1 kg m^2 (theirs have gears too; without rotor inertia a stiff arm
hardly squeezes); IDC believes the slider 10 mm higher. Figure 8C has spikes of friction, which is none here.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/arm_on_slider.png")
HAND, WRONG, ZERO = (0.1, 0.0, 0.0), -0.26, {"slider": 0.0}
PATH = sr.control.Sinusoid(-0.075, 0.225, np.pi, np.pi / 9.0)
TABLE = {"IDC": (3.18, 4.90), "PIDC": (1.50, 1.89), "hybrid": (2.63, 2.30)}  # measured there [N m]


def believed(t: float) -> tuple[np.ndarray, ...]:  # the path at a height where the slider is not
    return tuple(np.column_stack([np.ravel(PATH(t)), [WRONG, 0.0, 0.0]]))


def main(duration: float = 4.0, dt: float = 2e-3) -> dict[str, float]:
    """Run the three controllers; returns the norms of table II and the contact forces."""
    mech = sr.library.three_r_on_slider().with_(armature={f"link{i}": 0.1 for i in (1, 2, 3)})
    control, gains = sr.control, {"kp": 480.0, "kd": 45.0}
    angle = control.Coordinates({"link1": 1.0, "link2": 1.0, "link3": 1.0})
    free, plain = ([control.Position("link3", HAND, axes), angle] for axes in ("x", "xy"))
    laws = {  # IDC: no constraint in its model, stiff in all directions
        "IDC": control.ProjectedInverseDynamics(mech, plain, [believed, 0.0], **gains, active=[]),
        "PIDC": control.ProjectedInverseDynamics(mech, free, [PATH, 0.0], **gains),
        "hybrid": control.HybridForceMotion(mech, free, [PATH, 0.0], ZERO, **gains, kf=3.0, ki=0.1),
    }
    q, runs, result = mech.default.q, {}, {}
    rows = np.vstack([mech.terms(q, np.zeros(3)).J, mech.jacobian(q, "link3", HAND)[:1], np.ones((1, 3))])
    v = np.linalg.solve(rows, [0.0, PATH(0.0).v[0], 0.0])
    for name, law in laws.items():
        runs[name] = run = sr.simulate(mech, (0.0, duration), q, v, control=law, control_dt=dt, dt=dt)
        rms, peak = float(np.sqrt(np.mean((run.u**2).sum(axis=1)))), float(np.abs(run.u).max())
        force = float(np.abs(run.lam[run.t > 0.5]).max())
        result |= {f"rms {name}": rms, f"peak {name}": peak, f"force {name}": force}
        there = f"(in the paper {TABLE[name]})"
        print(f"{name:7} torque {rms:.2f}, {peak:.2f} N m rms, peak {there}; contact force {force:.2f} N")
    draw(runs)
    print(f"Picture: {PICTURE}")
    return result


def draw(runs: dict[str, sr.Trajectory]) -> None:
    """Figure 8: position, orientation, contact force and torque norm."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11.0, 7.0), layout="constrained")
    figure.suptitle("Three-joint arm on a slider [Aghili2005], figure 8", fontsize=13)
    labels = ["(A) x [m]", "(B) angle, desired 0 [deg]", "(C) contact force lam [N]", "(D) |torque| [N m]"]
    for name, run in runs.items():
        x = [run.system.pose(q, "link3").apply(HAND)[0] for q in run.q]
        curves = x, np.degrees(run.q.sum(axis=1)), run.lam[:, 0], np.linalg.norm(run.u, axis=1)
        for ax, y, label in zip(axes.flat, curves, labels, strict=True):
            ax.plot(run.t, y, label=name)
            ax.set(xlabel="t [s]", ylabel=label)
    axes[0, 0].plot(run.t, [PATH(t).x[0] for t in run.t], "k--", linewidth=1.0, label="desired")
    for ax in axes.flat:
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
