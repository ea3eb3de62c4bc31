"""Two grippers close and open in MuJoCo, each by one motor: `python examples/grippers_close.py FOLDER`

FOLDER is MuJoCo Menagerie, with robotiq_2f85 and franka_emika_panda. The motor of each gripper pulls at a
tendon that both fingers hang on, through a servo with a signal from 0 to 255. The controller gives forces;
the bridge turns them into signals. The fingers follow a sine for 2 s, and their gap is that of the path.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

import sarrus as sr

RATE = 2 * np.pi  # [rad/s]
GRIPPERS = {  # file, fingers, and how far they go [rad] or [m]
    "Robotiq 2F-85": ("robotiq_2f85/2f85.xml", ("right_driver_joint", "left_driver_joint"), 0.7),
    "Panda hand": ("franka_emika_panda/hand.xml", ("finger_joint1", "finger_joint2"), 0.03),
}


@dataclass(frozen=True)
class Closing:
    """What a gripper is, and what it did.

    Attributes:
        mobility: Freedoms of the file, and with the joints at their stops held there.
        motors: Coordinates that are actuated.
        error: Largest distance of a finger from its path [rad] or [m].
        signals: Least and largest control signal.
    """

    mobility: tuple[int, int]
    motors: tuple[str, ...]
    error: float
    signals: tuple[float, float]


def at_stops(file: Path) -> sr.Mechanism:
    """A gripper whose couplers rest against their stops, as springs keep them until something is gripped."""
    base, spec = sr.load(file), sr.load_spec(file)
    for name in base.names:
        if name.endswith("coupler_joint"):
            spec.constrain(f"{name}_stop", sr.Coupling({name: 1.0}))
    return spec.compile()


def close(file: Path, fingers: tuple[str, str], reach: float, t_end: float = 2.0) -> Closing:
    """Move the first finger between a tenth of its reach and all of it; the other one follows."""
    mech, model = at_stops(file), mujoco.MjModel.from_xml_path(str(file))
    plant, signals = sr.bridge.mujoco(mech, model), []

    def path(t: float) -> tuple[float, float, float]:
        c, s = np.cos(RATE * t), np.sin(RATE * t)
        return reach * (0.55 - 0.45 * c), 0.45 * reach * RATE * s, 0.45 * reach * RATE**2 * c

    law = sr.control.ProjectedInverseDynamics(mech, fingers[0], path, kp=400.0)

    def watched(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        u = law(t, q, v)
        signals.append(float(plant.to_ctrl(u, q, v)[0]))
        return u

    start = mech.sweep(fingers[0], [path(0.0)[0]]).q[0]
    data = mujoco.MjData(model)
    plant.to_mujoco(data, start, np.zeros(mech.nv))
    run = plant.run(watched, t_end, data=data)
    both = [mech.index(name).q.start for name in fingers]
    error = max(float(np.abs(q[both] - path(t)[0]).max()) for t, q in zip(run.t, run.q, strict=True))
    mobility = sr.load(file).mobility(start).dof, mech.mobility(start).dof
    return Closing(mobility, mech.actuators, error, (min(signals), max(signals)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        for name, (file, fingers, reach) in GRIPPERS.items():
            found = close(Path(sys.argv[1]) / file, fingers, reach)
            print(
                f"{name}: mobility {found.mobility[0]}, with couplers at their stops {found.mobility[1]};",
                end=" ",
            )
            print(f"motor on {', '.join(found.motors)}, signals {found.signals[0]:.0f} to", end=" ")
            print(f"{found.signals[1]:.0f}; fingers within {1e3 * found.error:.2f} mm or mrad")
