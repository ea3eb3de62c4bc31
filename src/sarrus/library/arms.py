"""Spatial arms in closed loops: two welded at their tips, or two, three, four that hold a box."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import count, nonnegative, positive, state
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.shapes.shapes import Box
from ..models.tree.joints import Fixed, Free, Revolute
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import cuboid
from .robot_arms import ARMS, add_arm, arm_of, hand_of

AXES = ("z", "y", "z", "y", "z", "y", "z")
MIRROR = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])  # a mirror image turns the other way about z

PALM = (0.12, 0.12, 0.02)  # [m]

# Angles of the left arm with the hand at (0.45, 0.15, 0.45), palm towards -y [rad]
HOLDING = np.array([-0.3165, 0.4689, -0.1844, 1.7021, 1.3503, -1.1319, 0.6631])


@checked
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
    link: Any = {"com": (0.0, 0.0, 0.1), "inertia": (0.02, 0.02, 0.01)}
    for side, y in (("left", 0.3), ("right", -0.3)):
        parent, at = "ground", Pose((0.0, y, 0.0))
        for k, (axis, mass) in enumerate(
            zip(AXES, (3.0, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5), strict=True), start=1
        ):
            spec.body(f"{side}{k}", parent=parent, joint=Revolute(axis), at=at, mass=mass, **link)
            parent, at = f"{side}{k}", Pose((0.0, 0.0, 0.2))
    tip = Pose((0.0, 0.0, 0.1))
    spec.close("weld", "left7", "right7", joint=Fixed(), at_a=tip, at_b=tip)
    return compile_at(spec, np.random.default_rng(seed).uniform(0.2, 0.8, 14))


@checked
def dual_arm_box(
    size: Sequence[float] = (0.2, 0.3, 0.4),
    mass: float = 0.7,
    apart: float = 0.9,
    gravity: float = 9.81,
    palms: float = 0.0,
) -> Mechanism:
    """Two KUKA LWR 4+ arms that hold a box: twenty coordinates, twelve rows, eight freedoms.

    The scene of [Lin2018] section IV: two arms of seven joints side by side, a box of 20 x 30 x 40 cm and
    700 g. Distances of the joints are those of lwr_description (CentroEPiaggio/kuka-lwr), masses ours; see
    `robot_arm`. The box is a body with six coordinates, each hand is held to one of its y faces by six rows,
    so lam is the whole contact wrench.
    Starts at rest, mirror symmetric.

    Args:
        size: Edges of the box along x, y, z [m], (3,).
        mass: Mass of the box [kg].
        apart: Distance of the two bases along y [m].
        gravity: Gravity along -z [m/s^2].
        palms: Coefficient of friction between the box and palms of 12 x 12 cm, which then hold it by contact
            alone and may slip; they touch it at the start. 0: no palms, hands are held by rows.
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="dual_arm_box")
    arm, half = ARMS["lwr"], 0.5 * _edges(size, "dual_arm_box")[1]
    for side, y in (("left", 0.5 * apart), ("right", -0.5 * apart)):
        add_arm(spec, side, arm, Pose((0.0, y, 0.0)))
    spec.body("box", joint=Free(), **cuboid(mass, size))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        # the z axis of the face points into the box
        face = Pose((0.0, sign * half, 0.0), rpy=(sign * 0.5 * math.pi, 0.0, 0.0))
        if palms:
            at = arm.flange @ Pose((0.0, 0.0, -0.5 * PALM[2]))
            spec.surface(f"palm_{side}", f"{side}7", Box(PALM), at=at)
            continue
        spec.close(f"grip_{side}", "box", f"{side}7", joint=Fixed(), at_a=face, at_b=arm.flange)
    if nonnegative(palms, "palms of dual_arm_box"):
        spec.surface("box", "box", Box(_edges(size, "dual_arm_box")), friction=palms)
        spec.contact("box", "palm_*")
        held = dual_arm_box(size, mass, apart, gravity=gravity)
        return spec.compile().with_default(held.default.q)
    return compile_at(spec, [*HOLDING, *(MIRROR * HOLDING), 0.45, 0.0, 0.45, 0.0, 0.0, 0.0, 1.0])


def _edges(size: Sequence[float], who: str) -> list[float]:
    """Edges of a box (3,) [m], all positive."""
    edges = [float(x) for x in state(size, f"size of {who}", 3)]
    return [positive(edge, f"edge of the box of {who}") for edge in edges]


# Where the first to fourth hand takes the box: axis of the face, its side, azimuth of the hand
SIDES = (("y", 1.0, -0.5 * math.pi), ("y", -1.0, 0.5 * math.pi), ("x", -1.0, 0.0), ("x", 1.0, math.pi))


@checked
def arms_around_box(
    arms: int | Sequence[str] = 3,
    size: Sequence[float] = (0.2, 0.3, 0.4),
    mass: float = 2.0,
    height: float = 0.8,
    angles: Mapping[int, Sequence[float]] | None = None,
    gravity: float = 9.81,
) -> Mechanism:
    """Two, three or four robot arms around one box that they hold between their hands.

    Hands on the faces +y, -y, -x, +x in this order, each held by six rows, as in `dual_arm_box`: loops grip1,
    grip2, ...; bodies arm1_1, arm1_2, ... from the foot outwards. Every foot stands where its hand lies flat
    on the box. Starts at rest.

    Args:
        arms: How many Pandas, or the arms by name: "panda", "ur5" (six joints) or "lwr"; see `robot_arm`.
        size: Edges of the box along x, y, z [m], (3,).
        mass: Mass of the box [kg].
        height: Of the middle of the box above the ground [m].
        angles: Angles of single arms [rad], {number of the arm from 1: angles}; default hands level, elbows
            bent. Any angles do: the palm is fitted to
            the flange so that it lies flat.
        gravity: Gravity along -z [m/s^2].
    """
    if isinstance(arms, str):
        raise InputError(f"arms of arms_around_box must be a number or several names, got {arms!r}.")
    kinds = ["panda"] * count(arms, "arms of arms_around_box") if isinstance(arms, int) else list(arms)
    edges = _edges(size, "arms_around_box")
    if not 2 <= len(kinds) <= len(SIDES):
        raise InputError(f"arms_around_box has room for two, three or four arms, got {len(kinds)}.")
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="arms_around_box")
    pose: list[float] = []
    grips: list[tuple[str, Pose, Pose]] = []
    for k, (kind, (axis, side, azimuth)) in enumerate(zip(kinds, SIDES, strict=False), start=1):
        arm = arm_of(kind, "arms_around_box")
        chosen = arm.holding if angles is None or k not in angles else angles[k]
        middle = [0.0, 0.0, 0.0]
        middle["xyz".index(axis)] = 0.5 * side * edges["xyz".index(axis)]
        face = Pose(middle, rpy=(0.0, 0.0, azimuth)) @ Pose(rpy=(0.0, 0.5 * math.pi, 0.0))  # z: into the box
        hand = hand_of(arm, chosen)  # in the frame of the foot, whose x axis shall point at the box
        level = Pose(hand.xyz, rpy=(0.0, 0.5 * math.pi, 0.0))
        foot = Pose((0.0, 0.0, height)) @ face @ level.inverse()
        last = add_arm(spec, f"arm{k}_", arm, foot)
        palm = arm.flange @ Pose(matrix=hand.rotation.T @ level.rotation)
        grips.append((last, face, palm))
        pose += [float(x) for x in chosen]
    spec.body("box", joint=Free(), **cuboid(mass, size))
    for k, (last, face, palm) in enumerate(grips, start=1):
        spec.close(f"grip{k}", "box", last, joint=Fixed(), at_a=face, at_b=palm)
    return compile_at(spec, [*pose, 0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0])
