"""A leg whose ankle two motors turn through rods, in MuJoCo: `python examples/parallel_ankle.py FOLDER`

FOLDER is robots/digit_like of Gepetto's example-parallel-robots, with robot.urdf and robot.yaml. URDF has no
loops; robot.yaml names the pairs of links that coincide, and the motors. The leg hangs from its hip; knee and
foot follow sines for 3 s, the motors being those of the real leg.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from pathlib import Path

import mujoco
import numpy as np

import sarrus as sr

FOLLOWED = {"motor_knee": -0.1, "free_foot1": -0.1, "free_foot2": 0.1}  # joints and amplitudes [rad]
RATE = 4.0  # [rad/s]
INERTIA, DAMPING = 1e-4, 1e-2  # of every joint [kg m^2], [N m s/rad]: nothing else holds rods that spin


def leg(folder: Path) -> sr.Mechanism:
    """The leg with its rods closed and its own motors."""
    text = (folder / "robot.yaml").read_text()
    pairs, motors = re.findall(r"\['(\w+)', '(\w+)'\]", text), re.findall(r"'(motor_\w+)'", text)
    spec = sr.load_spec(folder / "robot.urdf")
    for i, (a, b) in enumerate(pairs, start=1):
        spec.close(f"rod{i}", a, b, sr.Fixed())
    spec.actuate().actuate(*motors)
    mech = spec.compile()
    every = {"armature": INERTIA, "damping": DAMPING}
    return mech.with_(**{what: dict.fromkeys(mech.names, value) for what, value in every.items()})


def follow(mech: sr.Mechanism, t_end: float = 3.0) -> tuple[float, float]:
    """Largest error of the joints [rad], and largest opening of the loops in the plant [m, rad]."""
    with tempfile.TemporaryDirectory() as folder:
        file = sr.save(mech, Path(folder) / "leg.xml")
        model = mujoco.MjModel.from_xml_path(str(file))
    start = mech.default.q
    hips = [name for name in mech.actuators if "hip" in name]
    names = [*hips, *FOLLOWED]
    centre = np.array([start[mech.index(name).q][0] for name in names])
    size = np.array([FOLLOWED.get(name, 0.0) for name in names])

    def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s, c = np.sin(RATE * t), np.cos(RATE * t)
        return centre + size * (1 - c), size * RATE * s, size * RATE**2 * c

    law = sr.control.ProjectedInverseDynamics(mech, names, path, kp=400.0)
    plant = sr.bridge.mujoco(mech, model)
    data = mujoco.MjData(model)
    plant.to_mujoco(data, *mech.default)
    run = plant.run(law, t_end, dt=model.opt.timestep, data=data)
    columns = [mech.index(name).q.start for name in names]
    error = max(float(np.abs(q[columns] - path(t)[0]).max()) for t, q in zip(run.t, run.q, strict=True))
    gap = max(float(np.abs(mech.terms(q, np.zeros(mech.nv)).phi).max()) for q in run.q[::20])
    return error, gap


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        robot = leg(Path(sys.argv[1]))
        error, gap = follow(robot)
    mobility = robot.mobility(robot.default.q)
    print(f"{robot.nv} coordinates, {robot.nc} rows, {mobility.dof} freedoms, {robot.nu} motors;", end=" ")
    print(f"knee and ankle within {1e3 * error:.2f} mrad, loops open by up to {1e3 * gap:.2f} mm")
