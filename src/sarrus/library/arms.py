"""Two spatial seven-joint arms: welded at the tips, or holding a box."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.joints import Fixed, Free, Revolute
from ..models.pose import Pose
from .parts import Mass, cuboid
from .start import started

AXES = ("z", "y", "z", "y", "z", "y", "z")
MIRROR = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])  # a mirror image turns the other way about z

# An arm of the size of the KUKA LWR used in [Lin2018]: distance of each joint from the last [m], masses [kg]
LWR_STEPS = (0.11, 0.2005, 0.2, 0.2, 0.2, 0.19, 0.0)
LWR_MASSES = (2.7, 2.7, 2.7, 2.7, 1.7, 1.6, 0.3)
LWR_FLANGE = 0.078
# Angles of the left arm with the hand at (0.45, 0.15, 0.45), palm towards -y [rad]
HOLDING = np.array([-0.3165, 0.4689, -0.1844, 1.7021, 1.3503, -1.1319, 0.6631])


def dual_arm(seed: int = 0, gravity: float = 9.81) -> Mechanism:
    """Two seven-joint arms welded at their tips: fourteen coordinates, six rows, eight freedoms.

    Hinges about z, y, z, y, z, y, z, bases at (0, +-0.3, 0), joints 0.2 m apart; masses 3, 3, 2.5, 2, 1.5,
    1, 0.5 kg, centre of mass (0, 0, 0.1), inertia diag(0.02, 0.02, 0.01). Starts at rest where an assembly
    from uniformly random angles between 0.2 and 0.8 rad ends.

    Args:
        seed: Seed of these angles (numpy.random.default_rng).
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="dual_arm")
    masses = [
        Mass(mass=m, com=(0.0, 0.0, 0.1), inertia=(0.02, 0.02, 0.01))
        for m in (3.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5)
    ]
    for side, y in (("left", 0.3), ("right", -0.3)):
        _arm(spec, side, Pose((0.0, y, 0.0)), [0.0] + [0.2] * 6, masses)
    tip = Pose((0.0, 0.0, 0.1))
    spec.close("weld", "left7", "right7", joint=Fixed(), at_a=tip, at_b=tip)
    return started(spec, np.random.default_rng(seed).uniform(0.2, 0.8, 14))


def _arm(spec: MechanismSpec, side: str, base: Pose, steps: Sequence[float], masses: Sequence[Mass]) -> None:
    """Seven hinges about z, y, z, y, z, y, z, each `steps` further up the z axis of the link before."""
    parent = "ground"
    for k, (axis, step, mass) in enumerate(zip(AXES, steps, masses, strict=True), start=1):
        at = base @ Pose((0.0, 0.0, step)) if k == 1 else Pose((0.0, 0.0, step))
        spec.body(f"{side}{k}", parent=parent, joint=Revolute(axis), at=at, **mass)
        parent = f"{side}{k}"


def dual_arm_box(
    size: Sequence[float] = (0.2, 0.3, 0.4), mass: float = 0.7, apart: float = 0.9, gravity: float = 9.81
) -> Mechanism:
    """Two seven-joint arms that hold a box: twenty coordinates, twelve rows, eight freedoms.

    The scene of [Lin2018] section V: a box of 20 x 30 x 40 cm and 700 g. The box is a body with six
    coordinates, each hand is held to one of its y faces by six rows, so lam is the whole contact wrench.
    Starts at rest, mirror symmetric.

    Args:
        size: Edges of the box along x, y, z [m], (3,).
        mass: Mass of the box [kg].
        apart: Distance of the two bases along y [m].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="dual_arm_box")
    lengths = [*LWR_STEPS[1:], LWR_FLANGE]
    masses = [
        cuboid(m, (0.12, 0.12, max(step, 0.08)), (0.0, 0.0, 0.5 * step))
        for m, step in zip(LWR_MASSES, lengths, strict=True)
    ]
    for side, y in (("left", 0.5 * apart), ("right", -0.5 * apart)):
        _arm(spec, side, Pose((0.0, y, 0.0)), LWR_STEPS, masses)
    spec.body("box", joint=Free(), **cuboid(mass, size))
    spec.actuate(*(f"{side}{k}" for side in ("left", "right") for k in range(1, 8)))
    hand, half = Pose((0.0, 0.0, LWR_FLANGE)), 0.5 * size[1]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        face = Pose(
            (0.0, sign * half, 0.0), rpy=(sign * 0.5 * math.pi, 0.0, 0.0)
        )  # its z axis points into the box
        spec.close(f"grip_{side}", "box", f"{side}7", joint=Fixed(), at_a=face, at_b=hand)
    return started(spec, [*HOLDING, *(MIRROR * HOLDING), 0.45, 0.0, 0.45, 0.0, 0.0, 0.0, 1.0])
