# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Two planar arms carry an object, [Aghili2011] IV, figures 2, 4, 6: out/two_arms_torques.png.

The arms of two_arms_friction.py under friction limits: path of the object, tangential forces, potent and
impotent torques; once with motors of any size, once with motors of at most 70 N m, (2c), which are at their
bounds for a while and share the load otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr

PICTURE, MU, BOUND, C = Path("out/two_arms_torques.png"), 0.2, 70.0, sr.control  # BOUND [N m]
OUTPUTS, PATH = ["object.x", "object.y", "object.angle"], C.Sinusoid(0.0, [0.1, 0.1, 0.0], [3.0, 6.0, 1.0])


def main(duration: float = 2.1, dt: float = 2e-3) -> dict[str, float]:
    """Run both; returns largest torques, errors and margins."""
    mech = sr.library.dual_planar_arms("body")
    v0 = mech.consistent_velocity(mech.default.q, fixed=dict(zip(OUTPUTS, PATH(0.0).v, strict=True)))
    friction = [C.Friction("grip_left", MU, "-x"), C.Friction("grip_right", MU, "x")]
    limits = {"any motor": friction, "bounded": [*friction, C.TorqueBounds((-BOUND, BOUND))]}
    runs, result = {}, {}
    for name, rows in limits.items():
        law = C.ForceLimits(mech, OUTPUTS, PATH, rows, kp=400.0)
        run = sr.simulate(mech, (0.0, duration), mech.default.q, v0, control=law, control_dt=dt, dt=dt)
        runs[name] = run, law.history(run).solutions
        off = max(np.abs(run.q[i, 6:9] - PATH(t).x).max() for i, t in enumerate(run.t))
        margin = (MU * run.lam[:, [0, 3]] * [-1.0, 1.0] - np.abs(run.lam[:, [1, 4]])).min()
        peak, at = np.abs(run.u).max(), np.mean(np.abs(run.u).max(axis=1) > BOUND - 1e-6)
        result |= {f"peak {name}": peak, f"off {name}": off, f"margin {name}": margin, f"at {name}": at}
        print(f"{name:10} largest torque {peak:.2f} N m, object off by {off:.0e} m, margin {margin:.0e} N")
    draw(runs)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def draw(runs: dict[str, Any]) -> None:
    """Figures 2, 4 and 6; bounded motors in the second row."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(15.0, 7.0), layout="constrained")
    figure.suptitle("Two arms carry an object by friction, mu = 0.2 [Aghili2011], figures 2, 4, 6")
    for (place, force, potent, impotent), (name, (run, steps)) in zip(axes, runs.items(), strict=True):
        place.plot(run.t, run.q[:, 6:9], label=["x", "y", "angle"])
        place.plot(run.t, [PATH(t).x for t in run.t], "k--", linewidth=1.0, label=["desired", None, None])
        force.plot(run.t, run.lam[:, [1, 4]], label=["left hand", "right hand"])
        for ax, part in ((potent, "tau_tangent"), (impotent, "tau_normal")):
            ax.plot(run.t, [getattr(x, part)[:3] for x in steps], label=[f"joint {i}" for i in (1, 2, 3)])
        for ax, label in zip(
            axes[0], ("place [m], angle [rad]", "f_t [N]", "potent [N m]", "impotent [N m]"), strict=True
        ):
            ax.set_title(label)
        place.set_ylabel(f"motors: {name}")
    for ax in axes.flat:
        ax.set_xlabel("t [s]")
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
