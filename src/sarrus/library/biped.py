"""A biped whose knees and ankles are driven through loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arrays import nonnegative
from ..errors import require_known
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.shapes.convex_shapes import HalfSpace
from ..models.shapes.shapes import Box
from ..models.tree.joints import Free, Revolute, Spherical, Universal
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import bar, cuboid

SIDES = {"left": 1.0, "right": -1.0}
LINK, BEND = 0.35, 0.4  # thigh and shank [m]; half of the bend of the knees at the start [rad]
CRANK, LEVER, ROD = 0.045, 0.06, 0.05  # of the knee [m]: on the thigh, on the shank; where the crank is
ANKLE = {"out": (0.05, -0.10), "in": (-0.05, -0.16)}  # cranks of the ankle [m]: beside, and along the shank
REACH = 0.05  # of them and of the foot behind the ankle [m]
SOLE = ((0.13, 0.045), (0.13, -0.045), (-0.07, 0.045), (-0.07, -0.045))  # corners of a foot [m]
HEIGHT, THICK = 0.06, 0.02  # of the ankle above the ground, of the sole [m]


@checked
def biped(
    standing: Sequence[str] = ("left", "right"), gravity: float = 9.81, floor: float = 0.0
) -> Mechanism:
    """Two-legged robot: knees are four-bars, ankles are turned by two rods each; twelve motors, 28 kg.

    A leg has hinges of the hip about z, x and y (NAME_yaw, NAME_roll, NAME_thigh), the knee NAME_shank, moved
    by the motor NAME_crank through a four-bar, and the ankle NAME_foot, a universal joint that the motors
    NAME_out and NAME_in move through rods. Of the 11 rows of a leg 8 count. A standing foot is held to the
    ground at its four corners, NAME_1 to NAME_4: 12 rows, of which 6 count. Starts at rest with bent knees.

    Args:
        standing: Which feet are held to the ground: any of "left", "right".
        gravity: Gravity along -z [m/s^2].
        floor: Coefficient of friction of a floor that the soles touch; no foot is held then. 0: no floor.
    """
    for foot in standing:
        require_known("foot", foot, SIDES, "biped")
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="biped")
    hip = HEIGHT + 2.0 * LINK * math.cos(BEND)
    spec.body("pelvis", joint=Free(), at=Pose((0.0, 0.0, hip)), **cuboid(12.0, (0.2, 0.25, 0.2), (0, 0, 0.1)))
    q = [0.0] * 6 + [1.0]
    for side in SIDES:
        q += _add_leg(spec, side)
    spec.actuate(
        *(f"{side}_{joint}" for side in SIDES for joint in ("yaw", "roll", "thigh", "crank", "out", "in"))
    )
    if nonnegative(floor, "floor of biped"):
        spec.surface("floor", "ground", HalfSpace(), friction=floor)
    for side in SIDES:
        if floor:
            sole = Pose((0.03, 0.0, 0.5 * THICK - HEIGHT))
            spec.surface(f"{side}_sole", f"{side}_foot", Box((0.2, 0.09, THICK)), at=sole)
            spec.contact("floor", f"{side}_sole")
        elif side in standing:
            _hold(spec, side)
    given = {name: 0.0 for side in SIDES for name in (f"{side}_yaw", f"{side}_roll")}
    given |= {f"{side}_thigh": -BEND for side in SIDES} | {f"{side}_shank": 2.0 * BEND for side in SIDES}
    return compile_at(spec, q, fixed=given)


def _add_leg(spec: MechanismSpec, side: str) -> list[float]:
    """One leg from the hip down; its coordinates, near where its loops close."""
    y, link = Revolute("y"), Pose((0.0, 0.0, -LINK))
    yaw, roll, thigh, shank, crank, rod, foot = (
        f"{side}_{part}" for part in ("yaw", "roll", "thigh", "shank", "crank", "rod", "foot")
    )
    at = Pose((0.0, 0.1 * SIDES[side], 0.0))
    spec.body(yaw, parent="pelvis", joint=Revolute("z"), at=at, **cuboid(1.0, (0.08, 0.08, 0.08)))
    spec.body(roll, parent=yaw, joint=Revolute("x"), **cuboid(1.0, (0.08, 0.08, 0.08)))
    spec.body(thigh, parent=roll, joint=y, **bar(3.0, LINK, "-z", 0.08))
    spec.body(shank, parent=thigh, joint=y, at=link, **bar(1.6, LINK, "-z", 0.06))
    spec.body(crank, parent=thigh, joint=y, at=Pose((0, 0, -ROD)), **bar(0.2, CRANK, "-x", 0.03))
    length = math.hypot(LEVER - CRANK, LINK - ROD)
    spec.body(rod, parent=crank, joint=y, at=Pose((-CRANK, 0, 0)), **bar(0.2, length, "-z", 0.02))
    bend = 2.0 * BEND
    lever = Pose((-LEVER * math.cos(bend), 0.0, -LEVER * math.sin(bend)))
    spec.close(f"{side}_knee", rod, shank, y, at_a=Pose((0, 0, -length)), at_b=lever)
    ankle: Any = cuboid(0.6, (0.2, 0.09, 0.06), (0.03, 0.0, -0.04))
    spec.body(foot, parent=shank, joint=Universal("y", "x"), at=link, **ankle)
    q = [0.0, 0.0, -BEND, bend, 0.0, math.atan2(LEVER - CRANK, LINK - ROD), -BEND, 0.0]
    return q + [angle for name in ANKLE for angle in _add_ankle_rod(spec, side, name)]


def _add_ankle_rod(spec: MechanismSpec, side: str, name: str) -> list[float]:
    """A crank on the shank and its rod to the foot; their coordinates."""
    beside, along = ANKLE[name]
    crank, rod = f"{side}_{name}", f"{side}_{name}_rod"
    at, end = Pose((0.0, beside, along)), Pose((-REACH, beside, 0.0))
    # at the start the foot is level and the crank parallel to it
    length = LINK + along
    spec.body(crank, parent=f"{side}_shank", joint=Revolute("y"), at=at, **bar(0.15, REACH, "-x", 0.03))
    spec.body(
        rod,
        parent=crank,
        joint=Universal("y", "x"),
        at=Pose((-REACH, 0, 0)),
        **bar(0.1, length, "-z", 0.015),
    )
    spec.close(f"{side}_{name}_ball", rod, f"{side}_foot", Spherical(), at_a=Pose((0, 0, -length)), at_b=end)
    return [-BEND, BEND, 0.0]


def _hold(spec: MechanismSpec, side: str) -> None:
    """Hold the corners of a foot to the ground where they are at the start."""
    y = 0.1 * SIDES[side]
    # hip, knee and ankle: the foot is under the hip
    for k, (ahead, beside) in enumerate(SOLE, start=1):
        corner, place = Pose((ahead, beside, -HEIGHT)), Pose((ahead, y + beside, 0.0))
        spec.close(f"{side}_{k}", "ground", f"{side}_foot", Spherical(), at_a=place, at_b=corner)
