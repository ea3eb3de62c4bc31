# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""A 3-RRR with driven elbows goes to a place, [DeSapio2010] figures 5 and 6: out/three_rrr_tasks.png.

K_p = 100, K_v = 20; its turn is left free. The paper gives no dimensions: these are the library's, in a
horizontal plane, turned by 1.2 rad at the start, goal (0.1, 0.05) m. The free turn keeps the speed that the
motion to the goal leaves it with. With gravity it swings through the pose of three_rrr_singular.py.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/three_rrr_tasks.png")
GOAL, KP, KV = np.array([0.1, 0.05]), 100.0, 20.0
SETTLED = 1.6  # [s]


def designed(t: np.ndarray) -> np.ndarray:  # e'' + 20 e' + 100 e = 0
    return GOAL * ((1.0 + 10.0 * t) * np.exp(-10.0 * t))[:, None]


def main(duration: float = 3.0, dt: float = 4e-3) -> dict[str, float]:
    """Run it; returns how far it is from critical damping, from passive joints, and from a lossless swing."""
    C = sr.control
    mech = sr.library.three_rrr(turn=1.2, gravity=0.0)
    place = C.PriorityTask(C.Coordinates("platform.x", "platform.y"), GOAL, KP, KV, name="place")
    law = C.TaskHierarchy(mech, place)
    run = sr.simulate(mech, (0.0, duration), control=law, dt=dt)
    history = law.history(run, every=5)
    passive = [i for i, name in enumerate(mech.names) if name in mech.passive]
    late = run.t > SETTLED
    result = {
        "off_critical": np.abs(GOAL - run.q[:, 6:8] - designed(run.t)).max(),
        "passive_torque": np.abs(history.tau[:, passive]).max(),
        "swing": np.ptp(run.q[late, 8]),
        "energy_change": np.ptp(run.energy[late]),
        "largest_torque": np.abs(run.u).max(),
        "drift": run.drift.max(),
    }
    print(f"off the designed curve by at most {result['off_critical']:.0e} m, torques up to")
    print(f"{result['largest_torque']:.1f} N m, at passive joints {result['passive_torque']:g} N m")
    draw(run)
    return {name: float(value) for name, value in result.items()}


def draw(run: sr.Trajectory) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11.0, 7.0), layout="constrained")
    figure.suptitle("3-RRR platform, position task [DeSapio2010], figures 5 and 6", fontsize=13)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.4))
    for ax, t in zip(left.subplots(2, 1), (run.t[0], run.t[-1]), strict=True):
        run.system.plot(run.at(t).q, ax)
        ax.set_title(f"{t:.1f} s")
    place, turn, torque = right.subplots(3, 1, sharex=True)
    place.plot(run.t, run.q[:, 6:8], label=["x", "y"])
    place.plot(run.t, GOAL - designed(run.t), "k--", linewidth=1.0, label=["designed", None])
    place.set_ylabel("place [m]")
    turn.plot(run.t, run.q[:, 8])
    turn.set_ylabel("turn [rad]")
    torque.plot(run.t, run.u, label=list(run.system.actuators))
    torque.set(ylabel="torque [N m]", xlabel="t [s]")
    torque.legend(fontsize=8)
    place.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
