# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""The pose in which no motor can turn a 3-RRR platform: out/three_rrr_singular.png.

A leg whose elbow is driven pushes along the line from its shoulder to its corner of the platform. Where the
three lines meet in one point their forces have no moment about it, [Aghili2005] eq. (62) fails, and the
torque for a given turn grows without bound on the way there. A task hierarchy with the turn left free meets
the pose when gravity swings the platform through it.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/three_rrr_singular.png")
GOAL = np.array([0.1, 0.05])


def main(duration: float = 3.0, dt: float = 4e-3) -> dict[str, float]:
    """Torque for a turn against the angle, and a run; returns how both grow."""
    angles = np.array([x for x in np.linspace(-1.2, 1.2, 97) if abs(x) > 1e-9])
    torque = [torque_for_turn(angle) for angle in angles]
    C, mech = sr.control, sr.library.three_rrr()
    law = C.TaskHierarchy(mech, C.PriorityTask(C.Coordinates("platform.x", "platform.y"), GOAL, 100.0, 20.0))
    run = sr.simulate(mech, (0.0, duration), control=law, dt=dt)
    centred = sr.library.three_rrr(turn=0.0)
    at = C.TaskHierarchy(centred, []).solve(0.0, *centred.default)
    growth = torque_for_turn(0.02) / torque_for_turn(0.2)
    print(f"not turned: {at.controllable_dof} of 3 freedoms are controllable: {at.uncontrollable}")
    print(f"torque for a turn at 0.02 rad over that at 0.2 rad: {growth:.1f}")
    print(f"largest torque of the run {np.abs(run.u).max():.0f} N m, with gravity in the plane")
    draw(centred, angles, torque, run)
    print(f"Picture: {PICTURE}")
    return {"controllable": at.controllable_dof, "growth": growth, "torque": float(np.abs(run.u).max())}


def torque_for_turn(angle: float) -> float:
    """Norm of the motor torques [N m] that turn the platform by 1 rad/s^2 at this angle, without gravity."""
    mech = sr.library.three_rrr(turn=angle, gravity=0.0)
    q = mech.default.q
    a = mech.consistent_velocity(q, fixed={"platform.x": 0.0, "platform.y": 0.0, "platform.angle": 1.0})
    return float(np.linalg.norm(mech.inverse_dynamics(q, np.zeros(mech.nv), a).u))


def draw(mech: sr.Mechanism, angles: np.ndarray, torque: list[float], run: sr.Trajectory) -> None:
    """The pose with its lines of force, torques against the angle, and the run."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13.0, 4.6), layout="constrained")
    figure.suptitle("3-RRR platform: the pose in which no motor can turn it", fontsize=13)
    mech.plot(ax=axes[0])
    for i in range(3):
        shoulder = mech.pose(mech.default.q, f"upper{i + 1}").xyz
        axes[0].plot(
            [shoulder[0], -0.4 * shoulder[0]], [shoulder[1], -0.4 * shoulder[1]], "r--", linewidth=1.0
        )
    axes[0].set_title("lines of force meet in one point", fontsize=10)
    axes[1].semilogy(angles, torque)
    axes[1].set(xlabel="turn [rad]", ylabel="torque for 1 rad/s$^2$ [N m]")
    axes[2].plot(run.t, run.u, label=list(run.system.actuators))
    axes[2].plot(run.t, 50.0 * run.q[:, 8], "k--", linewidth=1.0, label="50 x turn [rad]")
    axes[2].set(xlabel="t [s]", ylabel="torque [N m]", title="place held, turn free, with gravity")
    axes[2].legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
