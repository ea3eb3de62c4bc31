# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Two planar arms carry an object by friction, [Aghili2011] IV, figures 3, 5, 7: out/two_arms_friction.png.

Table I and path of the paper, mu = 0.2. Not given: vertical plane, 9.81 m/s^2 along -y, bases (0, 0.1) and
(0.8, 0.1). The object is a body, so multipliers are contact forces. Beside it the smallest constant squeeze
that never slips (the paper's 30 N slips), and least torque alone, which drops the object.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr

PICTURE, MU, C = Path("out/two_arms_friction.png"), 0.2, sr.control
OUTPUTS, PATH = ["object.x", "object.y", "object.angle"], C.Sinusoid(0.0, [0.1, 0.1, 0.0], [3.0, 6.0, 1.0])
FREE, INNER = C.TorqueBounds((-1e6, 1e6)), 0.5 * (np.eye(3, 6) - np.eye(3, 6, 3))


def main(duration: float = 2.1, dt: float = 2e-3) -> dict[str, float]:
    """Run the three controllers; returns margins to slipping and torques."""
    mech = sr.library.dual_planar_arms("body")
    q0 = mech.default.q
    v0 = mech.consistent_velocity(q0, fixed=dict(zip(OUTPUTS, PATH(0.0).v, strict=True)))

    def run(limits: Any) -> sr.Trajectory:
        law = C.ForceLimits(mech, OUTPUTS, PATH, limits, kp=400.0)
        return sr.simulate(mech, (0.0, duration), q0, v0, control=law, control_dt=dt, dt=dt)

    def squeezed(s: float) -> sr.Trajectory:
        return run(C.LinearLimits("squeeze", lam=INNER, lower=[-s, 0, 0], upper=[-s, 0, 0]))  # internal force

    least = 30.0 - float(margins(squeezed(30.0)).min()) / MU  # a newton more of squeeze: mu more of margin
    least -= float(margins(squeezed(least)).min()) / MU
    friction = [C.Friction("grip_left", MU, "-x"), C.Friction("grip_right", MU, "x")]
    runs = {"constant squeeze": squeezed(least), "friction limits": run(friction), "no limits": run(FREE)}
    result = {f"margin {name}": float(margins(one).min()) for name, one in runs.items()} | {"squeeze": least}
    norms = {name: np.linalg.norm(one.u, axis=1) for name, one in runs.items()}
    result["more_torque"] = float(np.max(norms["friction limits"] - norms["constant squeeze"]))
    for name, norm in norms.items():
        left = result[f"margin {name}"]
        print(f"{name:16} mean |u| {norm.mean():6.1f} N m, mu f_n - |f_t| >= {left:.3g} N")
    draw(runs, norms)
    print(f"smallest constant squeeze that never slips: {least:.1f} N\nPicture: {PICTURE}")
    return result


def margins(run: sr.Trajectory) -> np.ndarray:  # mu f_n - |f_t| [N] of both hands, which are pushed apart
    return np.asarray(MU * run.lam[:, [0, 3]] * [-1.0, 1.0] - np.abs(run.lam[:, [1, 4]]))


def draw(runs: dict[str, sr.Trajectory], norms: dict[str, np.ndarray]) -> None:
    """The arms, normal forces, margins and torques."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11.0, 6.5), layout="constrained")
    figure.suptitle("Two arms carry an object by friction, mu = 0.2 [Aghili2011]", fontsize=13)
    runs["no limits"].system.plot(runs["no limits"].q[0], axes[0, 0])
    for name, run in runs.items():
        axes[0, 1].plot(run.t, run.lam[:, [0, 3]] * [-1.0, 1.0], label=[f"{name}, left", "right hand"])
        axes[1, 0].plot(run.t, margins(run).min(axis=1))
        axes[1, 1].plot(run.t, norms[name])
    for ax, title in zip(axes.flat[1:], ("f_n [N]", "mu f_n - |f_t| [N]", "|u| [N m]"), strict=True):
        ax.set(xlabel="t [s]", ylabel=title)
    axes[0, 1].legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
