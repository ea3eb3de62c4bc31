"""Real robot arms by their published descriptions: Franka Emika Panda, Universal Robots UR5, KUKA LWR 4+.

Sources, each a file that anybody can read:
    panda   franka_description of frankaemika/franka_ros, branch noetic-devel, the URDF that is also in
            example-robot-data (Apache-2.0): joint frames, limits, torques, inertias of the seven links.
    ur5     ur_description of ros-industrial/universal_robot, branch kinetic-devel, likewise in
            example-robot-data (BSD). The inertias of its wrists are those of the file, which are too large.
    lwr     distances of the joints, limits and torques: lwr_description/model/kuka_lwr.urdf.xacro of
            CentroEPiaggio/kuka-lwr. Its masses are placeholders of 2 kg; ours add up to the 16 kg of the
            data sheet less the foot, as cuboids around the joints' axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays import one_of
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.tree.joints import Revolute
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import cuboid

RIGHT = 0.5 * math.pi


@dataclass(frozen=True)
class Link:
    """One link with the hinge that carries it.

    Attributes:
        at: Frame of the hinge in the link before.
        axis: Of the hinge.
        mass: [kg].
        com: Centre of mass in the link's frame [m], (3,).
        inertia: About it [kg m^2]: xx, yy, zz, xy, xz, yz.
        limits: Of the angle [rad].
        torque: The largest of the motor [N m].
    """

    at: Pose
    axis: str
    mass: float
    com: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]
    limits: tuple[float, float]
    torque: float

    @property
    def tensor(self) -> Sequence[object]:
        """The inertia as a matrix (3, 3), or its diagonal where it is diagonal."""
        xx, yy, zz, xy, xz, yz = self.inertia
        if not (xy or xz or yz):
            return (xx, yy, zz)
        return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


@dataclass(frozen=True)
class Arm:
    """A serial arm.

    Attributes:
        links: From the foot outwards.
        flange: Frame of the hand in the last link, its z axis pointing out.
        holding: Angles at which the z axis of the flange is level, along the x axis of the foot [rad].
    """

    links: tuple[Link, ...]
    flange: Pose
    holding: tuple[float, ...]


def _rolled(x: float, y: float, z: float, roll: float) -> Pose:
    return Pose((x, y, z), rpy=(roll, 0.0, 0.0))


PANDA = Arm(
    (
        Link(Pose((0.0, 0.0, 0.333)), "z", mass=4.970684, com=(0.003875, 0.002081, -0.04762),
             inertia=(0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169),
             limits=(-2.8973, 2.8973), torque=87.0),
        Link(_rolled(0.0, 0.0, 0.0, -RIGHT), "z", mass=0.646926, com=(-0.003141, -0.02872, 0.003495),
             inertia=(0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704),
             limits=(-1.7628, 1.7628), torque=87.0),
        Link(_rolled(0.0, -0.316, 0.0, RIGHT), "z", mass=3.228604, com=(0.027518, 0.039252, -0.066502),
             inertia=(0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805),
             limits=(-2.8973, 2.8973), torque=87.0),
        Link(_rolled(0.0825, 0.0, 0.0, RIGHT), "z", mass=3.587895, com=(-0.05317, 0.104419, 0.027454),
             inertia=(0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641),
             limits=(-3.0718, -0.0698), torque=87.0),
        Link(_rolled(-0.0825, 0.384, 0.0, -RIGHT), "z", mass=1.225946, com=(-0.011953, 0.041065, -0.038437),
             inertia=(0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229),
             limits=(-2.8973, 2.8973), torque=12.0),
        Link(_rolled(0.0, 0.0, 0.0, RIGHT), "z", mass=1.666555, com=(0.060149, -0.014117, -0.010517),
             inertia=(0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341),
             limits=(-0.0175, 3.7525), torque=12.0),
        Link(_rolled(0.088, 0.0, 0.0, RIGHT), "z", mass=0.735522, com=(0.010517, -0.004252, 0.061597),
             inertia=(0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741),
             limits=(-2.8973, 2.8973), torque=12.0),
    ),
    Pose((0.0, 0.0, 0.107)),
    (0.0, -0.6, 0.0, -2.2, 0.0, 1.6 + RIGHT, 0.0),
)  # fmt: skip

_ROUND = (-2.0 * math.pi, 2.0 * math.pi)
UR5 = Arm(
    (
        Link(Pose((0.0, 0.0, 0.089159)), "z", mass=3.7, com=(0.0, 0.0, 0.0),
             inertia=(0.010267495893, 0.010267495893, 0.00666, 0.0, 0.0, 0.0),
             limits=_ROUND, torque=150.0),
        Link(Pose((0.0, 0.13585, 0.0), rpy=(0.0, RIGHT, 0.0)), "y", mass=8.393, com=(0.0, 0.0, 0.28),
             inertia=(0.22689067591, 0.22689067591, 0.0151074, 0.0, 0.0, 0.0),
             limits=_ROUND, torque=150.0),
        Link(Pose((0.0, -0.1197, 0.425)), "y", mass=2.275, com=(0.0, 0.0, 0.25),
             inertia=(0.049443313556, 0.049443313556, 0.004095, 0.0, 0.0, 0.0),
             limits=(-math.pi, math.pi), torque=150.0),
        Link(Pose((0.0, 0.0, 0.39225), rpy=(0.0, RIGHT, 0.0)), "y", mass=1.219, com=(0.0, 0.0, 0.0),
             inertia=(0.111172755531, 0.111172755531, 0.21942, 0.0, 0.0, 0.0),
             limits=_ROUND, torque=28.0),
        Link(Pose((0.0, 0.093, 0.0)), "z", mass=1.219, com=(0.0, 0.0, 0.0),
             inertia=(0.111172755531, 0.111172755531, 0.21942, 0.0, 0.0, 0.0),
             limits=_ROUND, torque=28.0),
        Link(Pose((0.0, 0.0, 0.09465)), "y", mass=0.1879, com=(0.0, 0.0, 0.0),
             inertia=(0.0171364731454, 0.0171364731454, 0.033822, 0.0, 0.0, 0.0),
             limits=_ROUND, torque=28.0),
    ),
    _rolled(0.0, 0.0823, 0.0, -RIGHT),
    (0.0, -1.35, 1.75, math.pi - 0.4, -RIGHT, RIGHT),
)  # fmt: skip


def _lwr() -> Arm:
    """Hinges about z, y, z, y, z, y, z on one line; joint seven and the hand share it with joint six."""
    steps = (0.11, 0.2005, 0.2, 0.2, 0.2, 0.19, 0.0)
    beyond, masses = (*steps[1:], 0.078), (2.7, 2.7, 2.7, 2.7, 1.7, 1.6, 0.3)
    torques = (176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0)
    links = []
    for k, (step, length, mass) in enumerate(zip(steps, beyond, masses, strict=True)):
        solid = cuboid(mass, (0.12, 0.12, max(length, 0.08)), (0.0, 0.0, 0.5 * length))
        reach = math.radians(120.0 if k % 2 else 170.0)
        body: dict[str, Any] = {**solid, "inertia": (*solid["inertia"], 0.0, 0.0, 0.0)}
        at, limits = Pose((0.0, 0.0, step)), (-reach, reach)
        links.append(Link(at, "zy"[k % 2], **body, limits=limits, torque=torques[k]))
    return Arm(tuple(links), Pose((0.0, 0.0, 0.078)), (0.0, 0.4, 0.0, 1.8, 0.0, RIGHT - 2.2, 0.0))


ARMS = {"panda": PANDA, "ur5": UR5, "lwr": _lwr()}


def arm_of(kind: object, who: str) -> Arm:
    """The arm of a name, or an error that lists the names."""
    return ARMS[one_of(kind, f"arm of {who}", tuple(ARMS))]


def add_arm(spec: MechanismSpec, prefix: str, arm: Arm, base: Pose) -> str:
    """Stand an arm on the ground: bodies prefix1, prefix2, ...; returns the name of the last one.

    Args:
        spec: The description that grows.
        prefix: Of the names.
        arm: Which one.
        base: Frame of its foot.
    """
    parent = "ground"
    for k, link in enumerate(arm.links, start=1):
        name, at = f"{prefix}{k}", base @ link.at if k == 1 else link.at
        solid: dict[str, Any] = {"mass": link.mass, "com": link.com, "inertia": link.tensor}
        spec.body(name, parent=parent, joint=Revolute(link.axis), at=at, limits=link.limits, **solid)
        spec.actuate(name, limits=(-link.torque, link.torque))
        parent = name
    return parent


def hand_of(arm: Arm, angles: Sequence[float]) -> Pose:
    """Frame of the flange in the frame of the foot at some angles [rad]."""
    if len(angles) != len(arm.links):
        raise InputError(f"this arm has {len(arm.links)} joints, got {len(angles)} angles.")
    pose = Pose()
    for link, angle in zip(arm.links, angles, strict=True):
        turn = [0.0, 0.0, 0.0]
        turn["xyz".index(link.axis)] = float(angle)
        pose = pose @ link.at @ Pose(rpy=turn)
    return pose @ arm.flange


@checked
def robot_arm(kind: str = "panda", gravity: float = 9.81) -> Mechanism:
    """One robot arm on the ground, by its published description: Panda, UR5 or KUKA LWR 4+.

    Bodies and joints joint1 to joint7 (joint6 for the UR5); joint frames, limits, torques and inertias are
    those of the descriptions named in sarrus/library/robot_arms.py. No hand. Starts at rest with the flange
    level in front of the foot.

    Args:
        kind: "panda", "ur5" or "lwr".
        gravity: Gravity along -z [m/s^2].
    """
    arm = arm_of(kind, "robot_arm")
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="robot_arm")
    add_arm(spec, "joint", arm, Pose())
    return compile_at(spec, arm.holding)
