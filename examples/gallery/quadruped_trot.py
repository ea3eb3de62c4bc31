# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""A quadruped trots 5 m: standing feet are constraints, swinging feet are tasks. out/quadruped_trot.png.

Priorities: swinging feet, height and turn of the trunk, its way. On two feet one freedom, the fall about the
line through them, is out of the motors' reach: the way pays for it, as the lowest. Feet push with at least
5 N, inside friction cones with mu = 0.6.
"""

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/quadruped_trot.png")
FEET = ("front_left", "front_right", "rear_left", "rear_right")
PAIRS = (("front_left", "rear_right"), ("front_right", "rear_left"))


def main(distance: float = 5.0, duration: float = 14.0) -> dict[str, float]:
    """Walk; returns how far, how level, and how the feet pushed."""
    C = sr.control
    mech = sr.library.quadruped()
    trunk = mech.pose(mech.default.q, "trunk")
    way = C.MinimumJerk(trunk.xyz[:2], trunk.xyz[:2] + np.array([distance, 0.0]), duration, t0=0.2)
    feet = {foot: (f"{foot}_shank", (0.0, 0.0, -0.2)) for foot in FEET}
    gait = C.Gait(mech, feet, PAIRS, way, start=0.2, end=duration + 0.2)
    level = C.PriorityTask(C.BodyPose("trunk", axes=("z", "rx", "ry", "rz")), trunk, kp=200.0, priority=2)
    ahead = C.PriorityTask(C.Position("trunk", axes="xy"), way, kp=60.0, priority=3)
    tasks = [*gait.tasks(priority=1), level, ahead]
    cones = [C.Friction(foot, 0.6, least=5.0) for foot in FEET]
    law = C.TaskHierarchy(mech, tasks, active=gait.active, limits=cones)
    end = duration + 1.4
    times = {foot: gait.switching(foot, end) for foot in FEET}
    switches = [sr.Switch(foot, on, off, closed=True, latch=True) for foot, (on, off) in times.items()]
    run = sr.simulate(mech, (0.0, end), control=law, control_dt=4e-3, dt=2e-3, switches=switches)

    force = world_forces(run)
    result = {
        "distance": run.q[-1, 0] - run.q[0, 0],
        "tilt": 2.0 * np.arcsin(np.linalg.norm(run.q[:, 3:6], axis=1)).max(),
        "least_push": force[:, 2].min(),
        "friction": (np.linalg.norm(force[:, :2], axis=1) / force[:, 2]).max(),
        "largest_torque": np.abs(run.u).max(),
        "broken": sum(status < 0 for _, status, _ in law.events),
    }
    print(f"{run.message} Walked {result['distance']:.3f} m, tilted by at")
    print(f"most {1e3 * result['tilt']:.1f} mrad; feet push with at least {result['least_push']:.1f} N and")
    print(f"use friction up to {result['friction']:.2f}; largest torque {result['largest_torque']:.0f} N m")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(10, 7.5), layout="constrained", subplot_kw={"xlabel": "t [s]"})
    figure.suptitle("A quadruped trots five metres: task hierarchy with friction limits")
    ends = np.quantile(run.u, (0.0, 0.5, 1.0), axis=1).T
    axes[0].plot(run.t, run.q[:, 0] - run.q[0, 0], lw=0.8, label="ahead [m]")
    axes[1].plot(run.t, run.q[:, 1:3] - run.q[0, 1:3], lw=0.8, label=["sideways [m]", "up [m]"])
    axes[2].plot(run.t, ends, lw=0.8, label=["least [N m]", "median torque [N m]", "largest [N m]"])
    for ax in axes:
        ax.legend(loc="upper right")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    return {name: float(value) for name, value in result.items()}


def world_forces(run: sr.SwitchedTrajectory) -> np.ndarray:
    """Forces on standing feet (n, 3) [N] in world axes: a latched foot has the axes with which it landed."""
    return np.concatenate([
        part.lam[:-1].reshape(-1, len(part.system.model.constraints), 3)[:, i] @ loop.at_a.rotation.T
        for part in run.segments  # the last state of each is about to switch
        for i, (_, loop) in enumerate(part.system.model.constraints)
    ])  # fmt: skip


if __name__ == "__main__":
    main()
