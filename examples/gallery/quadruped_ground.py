# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""The quadruped that trots, on a floor that feet touch, slip on and leave: out/quadruped_ground.png.

The law is that of quadruped_trot.py: it believes in held feet and mu = 0.6. The plant has balls of 5 mm on a
floor with 0.7; nothing is switched or latched, and where a foot slips the law says so.
"""

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/quadruped_ground.png")
C, FEET = sr.control, ("front_left", "front_right", "rear_left", "rear_right")
PAIRS = (("front_left", "rear_right"), ("front_right", "rear_left"))


def trot(floor: float, distance: float, duration: float) -> tuple[sr.Trajectory, C.TaskHierarchy]:
    """A run on a floor with a coefficient of friction."""
    mech, plant = sr.library.quadruped(), sr.library.quadruped(floor=floor)
    trunk = mech.pose(mech.default.q, "trunk")
    way = C.MinimumJerk(trunk.xyz[:2], trunk.xyz[:2] + np.array([distance, 0.0]), duration, t0=0.2)
    feet = {foot: (f"{foot}_shank", (0.0, 0.0, -0.2)) for foot in FEET}
    gait = C.Gait(mech, feet, PAIRS, way, start=0.2, end=duration + 0.2)
    level = C.PriorityTask(C.BodyPose("trunk", axes=("z", "rx", "ry", "rz")), trunk, kp=200.0, priority=2)
    ahead = C.PriorityTask(C.Position("trunk", axes="xy"), way, kp=60.0, priority=3)
    cones = [C.Friction(foot, 0.6, least=5.0) for foot in FEET]
    law = C.TaskHierarchy(mech, [*gait.tasks(priority=1), level, ahead], active=gait.active, limits=cones)
    how = {"control": law, "control_dt": 4e-3, "dt": 1e-3, "contacts": "steps"}
    return sr.simulate(plant, (0.0, duration + 0.6), **how), law


def main(distance: float = 1.0, duration: float = 3.0) -> dict[str, float]:
    """Trot; returns how far, how level, and what slipping took."""
    run, law = trot(0.7, distance, duration)
    push = np.nan_to_num(run.contacts.force[:, :, 2])
    slip = np.linalg.norm(np.nan_to_num(run.contacts.slip), axis=2)
    result = {
        "distance": run.q[-1, 0] - run.q[0, 0],
        "tilt": 2.0 * np.arcsin(np.linalg.norm(run.q[:, 3:6], axis=1)).max(),
        "work": np.sum(run.contacts.work),
        "lifts": sum(event.kind == "lift" for event in run.events),
        "said": sum(status is C.Status.SLIPPING for _, status, _ in law.events),
        "success": run.success,
    }
    print(f"{run.message}\nTrotted {result['distance']:.3f} m, tilted by {1e3 * result['tilt']:.1f} mrad;")
    print(f"slipping took {-result['work']:.2f} J, the law said so {result['said']} times")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(10, 7.5), layout="constrained", sharex=True)
    figure.suptitle("A quadruped trots on a floor that its feet touch")
    axes[0].plot(run.t, run.q[:, :2] - run.q[0, :2], label=["ahead [m]", "sideways [m]"])
    axes[1].plot(run.t, push, lw=0.7, label=[f"{foot} [N]" for foot in FEET])
    axes[2].plot(run.t, slip.max(axis=1), lw=0.7, label="fastest slip [m/s]")
    axes[2].set_xlabel("t [s]")
    for ax in axes:
        ax.legend(loc="upper right", fontsize=7)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    return {name: float(value) for name, value in result.items()}


if __name__ == "__main__":
    main()
