# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""The box of [Lin2018] between palms that can slip, pushed down: out/box_slips.png, beside box_pushed.py.

The law holds the box by friction of 0.3 with patches of 4 x 4 cm. The palms are plates of 12 x 12 cm that
touch the box with 0.36, or with 0.2: what the law is sure of then does not hold, and the box slides. Beside
them the old plant: hands are held to the box by rows, so that nothing can slip.
"""

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr
from sarrus import control as sc

PICTURE = Path("out/box_slips.png")
DT, BEGIN, THERE, LEAVE = 4e-3, 0.5, 1.0, 1.4  # sample [s]; of the push [s]
PLANTS = {"held by rows": 0.0, "friction 0.36": 0.36, "friction 0.2": 0.2}
LOST = 0.05  # [m] of the box along a palm: the run ends


def hold(palms: float, push: float, end: float) -> tuple[sr.Trajectory, np.ndarray]:
    """A run with palms of a friction, and how far the box has slid along the left hand [m]."""
    mech, plant = sr.library.dual_arm_box(), sr.library.dual_arm_box(palms=palms)
    patch = {"mu": 0.3, "torsion": 0.006, "half": (0.02, 0.02), "least": 40.0}
    grasp = sc.Grasp(mech, "box", [sc.Patch(f"grip_{side}", **patch) for side in ("left", "right")])
    law = sc.ObjectImpedance(mech, grasp, None, (300, 40), external="momentum")

    def person(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        share = np.clip((t - BEGIN) / (THERE - BEGIN), 0.0, 1.0) * (t < LEAVE)
        return -push * share * mech.jacobian(q, "box")[2]

    def slid(q: np.ndarray) -> float:
        return np.linalg.norm((mech.pose(q, "left7").inverse() @ mech.pose(q, "box")).xyz - start)

    start = (mech.pose(mech.default.q, "left7").inverse() @ mech.pose(mech.default.q, "box")).xyz

    def lost(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return slid(q) - LOST

    lost.terminal = True
    steps = {"contacts": "steps", "dt": 1e-3, "events": [lost]} if palms else {"dt": 1e-3}
    run = sr.simulate(plant, (0.0, end), control=law, control_dt=DT, tau=person, **steps)
    return run, np.array([slid(q) for q in run.q])


def main(push: float = 25.0, end: float = 2.0) -> dict[str, float]:
    """Hold it three times; returns how low the box got and how far it slid."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11, 7), layout="constrained")
    figure.suptitle("A box that a law holds by friction, pushed down by a person [Lin2018]")
    height, way = figure.add_subplot(2, 3, (4, 5)), figure.add_subplot(2, 3, 6)
    result = {}
    for k, (name, palms) in enumerate(PLANTS.items()):
        run, slid = hold(palms, push, end)
        z = np.array([one.xyz[2] for one in run.system.pose(run.q, "box")])
        result |= {f"low {name}": z[0] - z.min(), f"slid {name}": slid.max(), f"end {name}": run.t[-1]}
        low = z[0] - z.min()
        print(f"{name}: {run.message.splitlines()[0]} {1e3 * low:.1f} mm low,", end=" ")
        print(f"slid by {1e3 * slid.max():.2g} mm along the left hand")
        ax = figure.add_subplot(2, 3, k + 1, projection="3d")
        run.system.plot(run.q[-1], ax, masses=False).set(title=f"{name}, {run.t[-1]:.2f} s", zlim=(-0.1, 0.8))
        height.plot(run.t, z - z[0], label=name)
        way.plot(run.t, 1e3 * slid, label=name)
    height.set(xlabel="t [s]", ylabel="height of the box [m]")
    way.set(xlabel="t [s]", ylabel="slid along the hand [mm]")
    height.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    return {name: float(value) for name, value in result.items()}


if __name__ == "__main__":
    main()
