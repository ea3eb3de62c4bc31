"""Cassie stands in MuJoCo on the state as it is measured: `python examples/cassie_stands.py FOLDER`

FOLDER is agility_cassie of MuJoCo Menagerie, with scene.xml. The controller takes the feet for held to the
ground; the plant has soft contacts and soft loops, so that the measured pose is off the loops.
The centre of mass goes 2 cm aside and 5 cm down, and back, for 4 s.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

import sarrus as sr

Array = npt.NDArray[np.float64]
SOLE = {"toe": (-0.0400669, 0.1078165, 0.0), "heel": (0.0824915, 0.0049604, 0.0)}  # points of a foot [m]
SWAY, RATE = np.array([0.0, 0.02, -0.05]), 3.0  # [m], [rad/s]


def standing(scene: Path) -> sr.Mechanism:
    """Cassie with both feet on the ground and its leaf springs locked."""
    base = sr.load(scene, keyframe="home")
    q0 = base.default.q
    spec = sr.load_spec(scene, keyframe="home")
    for side in ("left", "right"):
        foot = base.pose(q0, f"{side}-foot")
        for name, point in SOLE.items():
            ends = {"at_a": sr.Pose(foot.apply(point)), "at_b": sr.Pose(point)}
            spec.close(f"{side}_{name}", "ground", f"{side}-foot", sr.Spherical(), **ends)
        for spring in ("shin", "heel-spring"):
            joint = f"{side}-{spring}"
            spec.constrain(f"{joint}_lock", sr.Coupling({joint: 1.0}, float(q0[base.index(joint).q][0])))
    return spec.compile()


def stand(folder: Path, t_end: float = 4.0) -> tuple[float, float, float]:
    """Largest error of the centre of mass, largest gap of the measured poses, height of the pelvis [m]."""
    scene = folder / "scene.xml"
    mech, model = standing(scene), mujoco.MjModel.from_xml_path(str(scene))
    plant, C = sr.bridge.mujoco(mech, model), sr.control
    q0 = mech.default.q
    com = np.asarray(mech.center_of_mass(q0))

    def target(t: float) -> tuple[Array, Array, Array]:
        phase = RATE * t
        return (
            com + SWAY * (1 - np.cos(phase)) / 2,
            SWAY * RATE * np.sin(phase) / 2,
            SWAY * RATE**2 * np.cos(phase) / 2,
        )

    posture = np.array([q0[mech.index(name).q][0] for name in mech.actuators])
    tasks = [
        C.PriorityTask(C.CenterOfMass(), target, kp=100, priority=1),
        C.PriorityTask(C.Orientation("cassie-pelvis"), sr.Pose(), kp=100, priority=1),
        C.PriorityTask(C.Posture(), posture, kp=30, priority=2),
    ]
    feet = [f"{side}_{name}" for side in ("left", "right") for name in SOLE]
    limits = [*(C.Friction(foot, 0.7, least=5) for foot in feet), C.TorqueBounds()]
    law = C.TaskHierarchy(mech, tasks, limits=limits, leftover_damping=5.0)
    data = mujoco.MjData(model)
    plant.to_mujoco(data, *mech.default)
    data.qpos[2] -= 5e-4  # into contact
    run = plant.run(law, t_end, dt=2 * model.opt.timestep, data=data)
    errors = [np.asarray(mech.center_of_mass(q)) - target(t)[0] for t, q in zip(run.t, run.q, strict=True)]
    gap = max(float(np.abs(mech.terms(q, np.zeros(mech.nv)).phi[:12]).max()) for q in run.q[::50])
    return float(np.abs(errors).max()), gap, float(run.data.qpos[2])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        error, gap, height = stand(Path(sys.argv[1]))
    print(f"centre of mass within {1e3 * error:.1f} mm, loops open by up to {1e3 * gap:.1f} mm,", end=" ")
    print(f"pelvis at {height:.2f} m")
