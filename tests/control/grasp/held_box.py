"""The box of [Lin2018] between two arms, and smaller grasps, for the tests of grasps and impedance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus import control as sc

Array = npt.NDArray[np.float64]

DT = 2e-3
GRIPS = ("grip_left", "grip_right")


def patches(mu: float = 0.5, least: float = 5.0, edges: int | None = 8) -> list[sc.Patch]:
    """Both hands, 10 x 10 cm each."""
    return [sc.Patch(name, mu, torsion=0.03, half=(0.05, 0.05), least=least, edges=edges) for name in GRIPS]


def held(mu: float = 0.5, least: float = 5.0, edges: int | None = 8) -> tuple[sr.Mechanism, sc.Grasp]:
    """Arms with the box, and its grasp."""
    mech = sr.library.dual_arm_box()
    return mech, sc.Grasp(mech, "box", patches(mu, least, edges))


def loaded(mech: sr.Mechanism, payload: sc.Payload) -> sr.Mechanism:
    """The same with more mass in the box."""
    own = sc.Payload.of_body(mech.model.bodies[mech.model.body_index("box")])
    both = sc.Payload.of(own.parameters + payload.parameters)
    return mech.with_(mass={"box": both.mass}, com={"box": both.com}, inertia={"box": both.inertia})


def run(
    plant: sr.Mechanism, controller: Any, duration: float, wrench: Any = None, dt: float = DT
) -> sr.Trajectory:
    """Sampled control of a plant under a wrench on the box."""
    external = None if wrench is None else {"box": wrench}
    done = sr.simulate(plant, (0.0, duration), control=controller, control_dt=dt, dt=dt, external=external)
    assert done.success, done.message
    return done


def fingers(
    joint: sr.models.joints.Joint, points: Sequence[Any], inwards: Sequence[Any], actuated: bool = True
) -> sr.Mechanism:
    """A box held by free-flying fingers; the z axis of each contact frame points along `inwards`."""
    spec = sr.MechanismSpec(name="fingers")
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    for k, (point, inward) in enumerate(zip(points, inwards, strict=True)):
        face = sr.Pose(point, matrix=_turn(np.asarray(inward, dtype=float)))
        spec.body(f"finger{k}", joint=sr.Free(), at=face, mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
        spec.close(f"tip{k}", "box", f"finger{k}", joint=joint, at_a=face)
    if actuated:
        spec.actuate(
            *(
                f"finger{k}.{axis}"
                for k in range(len(points))
                for axis in ("vx", "vy", "vz", "wx", "wy", "wz")
            )
        )
    return spec.compile()


def _turn(z: Array) -> Array:
    """A rotation whose third column is z."""
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
