# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""A biped with four-bar knees and ankles on rods stands, is pushed, and steps: out/biped_walks.png.

The law knows loops, and feet that are held at four corners; the plant has soles that touch, slip and lift.
A foot takes off by the schedule and stands when the force under it is measured. The centre of mass goes where
the feet can push at their middle. 70 N push the pelvis aside for 0.1 s.
"""

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/biped_walks.png")
C, FEET = sr.control, ("left", "right")
CORNERS = (0.13, 0.045), (0.13, -0.045), (-0.07, 0.045), (-0.07, -0.045)  # of a sole [m]
POINTS = {f"{foot}_{k}": (foot, x) for foot in FEET for k, x in enumerate(CORNERS, start=1)}
PUSH, START, LOW = (0.3, 0.4, 70.0), 1.2, 0.06  # [s], [s], [N]; first step [s]; of the ankle [m]


def law_for(mech: sr.Mechanism, plant: sr.Mechanism, distance: float, duration: float) -> tuple:
    """The law, its gait and the sensors in the feet."""
    q0 = mech.default.q
    forces = C.FootForces(plant, {point: f"{foot}_sole" for point, (foot, _) in POINTS.items()})
    feet = {point: (f"{foot}_foot", (*x, -LOW)) for point, (foot, x) in POINTS.items()}
    groups = [[point for point, (foot, _) in POINTS.items() if foot == one] for one in FEET]
    way = C.MinimumJerk((0.0, 0.0), (distance, 0.0), duration, t0=START)
    when = {"swing": 0.5, "support": 0.2, "start": START, "end": START + duration}
    gait = C.Gait(mech, feet, groups, way, **when, measured=forces, touch=20.0)
    middle = gait.center_of_mass(float(mech.center_of_mass(q0)[2]))
    posture = [q0[mech.index(name).q][0] for name in mech.actuators]
    level = C.PriorityTask(C.Orientation("pelvis"), sr.Pose(), kp=100.0, priority=2)
    tasks = [C.PriorityTask(C.CenterOfMass(), middle, kp=60.0, priority=1), level]
    tasks += [*gait.tasks(kp=400.0), C.PriorityTask(C.Posture(), posture, kp=20.0, priority=3)]
    cones = [C.Friction(point, 0.5, least=2.0) for point in POINTS]
    law = C.TaskHierarchy(mech, tasks, active=gait.active, limits=cones, leftover_damping=5.0)
    return law, middle, forces


def main(distance: float = 0.6, duration: float = 5.0, end: float = 2.2) -> dict[str, float]:
    """Stand, be pushed, walk; returns how far, how high, and how the feet slipped."""
    mech, plant = sr.library.biped(), sr.library.biped(floor=0.7)
    law, middle, forces = law_for(mech, plant, distance, duration)

    def person(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return plant.jacobian(q, "pelvis")[1] * (PUSH[2] if PUSH[0] < t < PUSH[1] else 0.0)

    how = {"control_dt": 2e-3, "dt": 1e-3, "contacts": "steps", "tau": person}
    run = sr.simulate(plant, (0.0, end), control=forces.under(law), **how)
    com, wanted = (np.array(one) for one in (mech.center_of_mass(run.q), [middle(t).x for t in run.t]))
    push = run.contacts.force[:, :, 2].reshape(-1, 2, 8).sum(axis=2).T
    result = {"distance": com[-1, 0] - com[0, 0], "lowest": run.q[:, 2].min(), "drift": run.drift.max()}
    steps = np.sum(np.diff(push > 20.0) & (push[:, 1:] > 20.0))
    result |= {"swayed": np.abs(com[run.t < START, 1]).max(), "success": run.success, "steps": steps}
    print(f"{run.message}\nWalked {result['distance']:.3f} m in {result['steps']:.0f} steps;", end=" ")
    print(f"pushed aside by {1e3 * result['swayed']:.0f} mm; loops open by {result['drift']:.0e} L")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11, 6), layout="constrained")
    for k, i in enumerate(np.linspace(0, len(run.t) - 1, 4).astype(int)):
        ax = figure.add_subplot(2, 4, k + 1, projection="3d")
        plant.plot(run.q[i], ax, masses=False).set(title=f"{run.t[i]:.1f} s", zlim=(0, 0.9))
    sway = figure.add_subplot(2, 2, 3, xlabel="t [s]", ylabel="centre of mass: ahead, aside [m]")
    load = figure.add_subplot(2, 2, 4, xlabel="t [s]", ylabel="force on each foot [N]")
    sway.plot(run.t, wanted[:, :2], "k--", lw=0.8)
    sway.plot(run.t, com[:, :2])
    load.plot(run.t, push.T, lw=0.6)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    return {name: float(value) for name, value in result.items()}


if __name__ == "__main__":
    main()
