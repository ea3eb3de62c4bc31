# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""A 3-RRR with driven elbows goes to a place, [DeSapio2010] figures 5 and 6: out/three_rrr_tasks.png.

K_p = 100, K_v = 20; its turn is left free. The paper gives no dimensions: these are the library's, gravity
9.81 m/s^2 in the plane, goal (0.1, 0.05) m. Where the platform is not turned the legs' lines of force meet in
one point and no motor can turn it: there torques grow.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/three_rrr_tasks.png")
GOAL = np.array([0.1, 0.05])
KP, KV = 100.0, 20.0
SETTLED = 1.6  # [s]


def main(duration: float = 3.0, dt: float = 4e-3) -> dict[str, float]:
    """Run it; returns how far it is from critical damping, from passive joints, and from a lossless swing."""
    C = sr.control
    mech = sr.library.three_rrr()
    place = C.PriorityTask(C.Coordinates("platform.x", "platform.y"), GOAL, KP, KV, name="place")
    law = C.TaskHierarchy(mech, place)
    run = sr.simulate(mech, (0.0, duration), control=law, dt=dt)
    designed = GOAL * ((1.0 + 10.0 * run.t) * np.exp(-10.0 * run.t))[:, None]  # e'' + 20 e' + 100 e = 0
    history = law.history(run, every=5)
    passive = [i for i, name in enumerate(mech.names) if name in mech.passive]
    late = run.t > SETTLED
    result = {
        "off_critical": np.abs(GOAL - run.q[:, 6:8] - designed).max(),
        "passive_torque": np.abs(history.tau[:, passive]).max(),
        "swing": np.ptp(run.q[late, 8]),
        "energy_change": np.ptp(run.energy[late]),
        "largest_torque": np.abs(run.u).max(),
        "drift": run.drift.max(),
    }
    print(f"position error off the designed curve by at most {result['off_critical']:.0e} m")
    print(f"torque at passive joints: {result['passive_torque']:g} N m")
    print(f"once there, the platform swings by {result['swing']:.2f} rad, and its energy")
    print(f"changes by {result['energy_change']:.0e} J: nothing damps what no task asks for")
    draw(run)
    return {name: float(value) for name, value in result.items()}


def draw(run: sr.Trajectory) -> None:
    """The mechanism, place, turn and torques."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11.0, 7.0), layout="constrained")
    figure.suptitle("3-RRR platform, position task [DeSapio2010], figures 5 and 6", fontsize=13)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.4))
    for ax, t in zip(left.subplots(2, 1), (run.t[0], run.t[-1]), strict=True):
        run.system.plot(run.at(t).q, ax)
        ax.set_title(f"{t:.1f} s", fontsize=10)
    place, turn, torque = right.subplots(3, 1, sharex=True)
    place.plot(run.t, run.q[:, 6:8], label=["x", "y"])
    place.set_ylabel("place [m]")
    turn.plot(run.t, run.q[:, 8])
    turn.set_ylabel("turn [rad]")
    torque.plot(run.t, run.u, label=list(run.system.actuators))
    torque.set(ylabel="torque [N m]", xlabel="t [s]")
    for ax in (place, torque):
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
