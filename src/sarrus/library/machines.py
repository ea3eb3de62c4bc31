"""Planar machines in the x-y plane: a wheel loader's linkage and arms that hold on to something."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import one_of
from ..constraints.couplings import Coupling
from ..constraints.points import PointOnPlane
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.tree.joints import Fixed, Planar, Prismatic
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import bar, cuboid
from .plane_geometry import (
    HINGE,
    Point,
    chain,
    circles_meet,
    heading,
    joint_angles,
    pin,
    rotated,
    spatial,
    wrap,
)

# Wheel loader: pins on the frame, on the boom, on the bellcrank (from its pivot) and on the bucket [m]
LIFT_BASE, TILT_BASE = (0.35, -0.75), (0.05, 0.45)
BOOM_BUCKET, BOOM_LIFT, BOOM_PIVOT = (2.9, 0.0), (1.35, -0.15), (1.75, 0.5)
CRANK_TILT, CRANK_LINK = (-0.15, 0.7), (0.1, -0.65)
BUCKET_LINK, LINK_LENGTH = (-0.1, 0.42), 0.85


@checked
def loader(boom_angle: float = -0.2, bucket_angle: float = 0.1, gravity: float = 9.81) -> Mechanism:
    """Wheel loader's Z-bar linkage: eight bodies, three loops, two freedoms, driven by two cylinders.

    The kind of linkage of [Spencer2004] section 4.5, which gives no dimensions; these are ours. The lift
    cylinder raises the boom, the tilt cylinder turns the bucket through a bellcrank and a link. Starts at
    rest, strokes at zero.

    Args:
        boom_angle: Angle of the boom at the start [rad].
        bucket_angle: Angle of the bucket against the horizontal at the start [rad].
        gravity: Gravity along -y [m/s^2].
    """
    hinge_of_bucket = rotated(boom_angle, BOOM_BUCKET)
    pivot, lift_eye = rotated(boom_angle, BOOM_PIVOT), rotated(boom_angle, BOOM_LIFT)
    bucket_pin = hinge_of_bucket + rotated(bucket_angle, BUCKET_LINK)
    link_pin = circles_meet(pivot, math.hypot(*CRANK_LINK), bucket_pin, LINK_LENGTH, side=-1)
    crank_angle = heading(pivot, link_pin) - heading((0.0, 0.0), CRANK_LINK)
    tilt_eye = pivot + rotated(crank_angle, CRANK_TILT)

    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="loader")
    spec.body("boom", joint=HINGE, **bar(600.0, BOOM_BUCKET[0], section=0.3))
    lift = _cylinder(spec, "lift", LIFT_BASE, lift_eye)
    tilt = _cylinder(spec, "tilt", TILT_BASE, tilt_eye)
    on_boom = Pose(spatial(BOOM_PIVOT))
    spec.body("bellcrank", parent="boom", joint=HINGE, at=on_boom, **cuboid(120.0, (0.3, 1.3, 0.1)))
    spec.body("link", parent="bellcrank", joint=HINGE, at=Pose(spatial(CRANK_LINK)), **bar(50.0, LINK_LENGTH))
    at_bucket, bucket = Pose(spatial(BOOM_BUCKET)), cuboid(700.0, (1.0, 0.9, 2.5), (0.45, 0.3, 0.0))
    spec.body("bucket", parent="boom", joint=HINGE, at=at_bucket, **bucket)
    pin(spec, "lift_eye", "boom", BOOM_LIFT, "lift_rod", (0.0, 0.0))
    pin(spec, "tilt_eye", "bellcrank", CRANK_TILT, "tilt_rod", (0.0, 0.0))
    pin(spec, "bucket_pin", "bucket", BUCKET_LINK, "link", (LINK_LENGTH, 0.0))

    link_angle = heading(link_pin, bucket_pin)
    relative = [crank_angle - boom_angle, link_angle - crank_angle, bucket_angle - boom_angle]
    return compile_at(spec, [boom_angle, lift, 0.0, tilt, 0.0, *map(wrap, relative)])


def _cylinder(spec: MechanismSpec, name: str, base: Point, eye: Point) -> float:
    """A hydraulic cylinder between two pins, stroke zero at the start; returns the barrel's angle [rad]."""
    length = math.dist(base, eye)
    spec.body(f"{name}_barrel", joint=HINGE, at=Pose(spatial(base)), **bar(60.0, 0.6 * length, section=0.15))
    out = Pose((length, 0.0, 0.0))
    rod = bar(40.0, 0.6 * length, "-x", section=0.08)
    spec.body(f"{name}_rod", parent=f"{name}_barrel", joint=Prismatic("x"), at=out, **rod)
    spec.actuate(f"{name}_rod")
    return heading(base, eye)


@checked
def three_r_on_slider(
    lengths: Sequence[float] = (0.3, 0.3, 0.1),
    masses: Sequence[float] = (3.0, 2.0, 0.5),
    slider_height: float = -0.27,
    x: float = -0.075 + 0.225 * math.sin(math.pi / 9.0),
    gravity: float = 0.0,
) -> Mechanism:
    """Planar three-joint arm whose hand is hinged to a slider along x: one row, two freedoms.

    [Aghili2005] section IX, constraint y = y_0 = -0.27 m. The paper does not give the arm; this one is ours
    and reaches the whole path. Starts at rest at the beginning of that path, the last link along x.

    Args:
        lengths: Lengths of the links [m], (3,).
        masses: Masses of the links [kg], (3,).
        slider_height: Height y_0 of the slider's line [m].
        x: Where on the line the hand starts [m].
        gravity: Gravity along -y [m/s^2]; 0 because the arm moves in a horizontal plane.
    """
    wrist = (x - lengths[2], slider_height)
    elbow = circles_meet((0.0, 0.0), lengths[0], wrist, lengths[1])
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="three_r_on_slider")
    chain(spec, ("link1", "link2", "link3"), lengths, masses, Pose())
    hand = (lengths[2], 0.0, 0.0)
    line = PointOnPlane("ground", (0.0, slider_height, 0.0), "link3", hand, normal=(0.0, 1.0, 0.0))
    spec.constrain("slider", line)
    return compile_at(spec, joint_angles([heading((0.0, 0.0), elbow), heading(elbow, wrist), 0.0]))


@checked
def dual_planar_arms(held: str = "split", gravity: float = 9.81) -> Mechanism:
    """Two planar three-joint arms that carry one object between their hands.

    [Aghili2011] section IV, table I: links of 0.3, 0.3, 0.1 m with 10, 10, 3 kg; object of 0.2 m, 7 kg, 0.1
    kg m^2. Bases at (0, 0.1) and (0.8, 0.1), so that the paper's path is reachable with opposed hands.
    Starts at rest with the object at (0.4, 0.5).

    Args:
        held: "split" (as the paper: half of the object on each hand, three rows tie the halves) or "body"
            (the object has three coordinates of its own, three rows for each hand).
        gravity: Gravity along -y [m/s^2].
    """
    one_of(held, "held of dual_planar_arms", ("split", "body"))
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="dual_planar_arms")
    lengths, masses, grip = (0.3, 0.3, 0.1), (10.0, 10.0, 3.0), 0.1
    centre = np.array([0.4, 0.5])
    q: list[float] = []
    sums: dict[str, dict[str, float]] = {}
    for side, base, final, bend in (("left", (0.0, 0.1), 0.0, 1), ("right", (0.8, 0.1), math.pi, -1)):
        names = [f"{side}{k}" for k in (1, 2, 3)]
        chain(spec, names, lengths, masses, Pose(spatial(base)))
        wrist = centre - rotated(final, (lengths[2] + grip, 0.0))
        elbow = circles_meet(base, lengths[0], wrist, lengths[1], bend)
        angles = joint_angles([heading(base, elbow), heading(elbow, wrist), final])
        # the sum is the heading itself, not the heading modulo a turn
        angles[2] = final - angles[0] - angles[1]
        q += angles
        sums[side] = dict.fromkeys(names, 1.0)
    reach = (lengths[2] + grip, 0.0)
    left, right = sums["left"], {name: -c for name, c in sums["right"].items()}
    if held == "split":
        for side in ("left", "right"):
            half = cuboid(3.5, (0.2, 0.2, 0.2))
            half["inertia"] = (0.05, 0.05, 0.05)
            spec.body(f"half_{side}", parent=f"{side}3", joint=Fixed(), at=Pose(spatial(reach)), **half)
        pin(spec, "grip", "left3", reach, "right3", reach)
        spec.constrain("grip.angle", Coupling({**left, **right}, offset=-math.pi))
        return compile_at(spec, q)
    spec.body("object", joint=Planar("z"), at=Pose((*centre, 0.0)), mass=7.0, inertia=(0.1, 0.1, 0.1))
    pin(spec, "grip_left", "object", (0.0, 0.0), "left3", reach)
    spec.constrain("grip_left.angle", Coupling({**left, "object.angle": -1.0}))
    pin(spec, "grip_right", "object", (0.0, 0.0), "right3", reach)
    spec.constrain("grip_right.angle", Coupling({**right, "object.angle": 1.0}, offset=-math.pi))
    spec.actuate(*(f"{side}{k}" for side in ("left", "right") for k in (1, 2, 3)))
    return compile_at(spec, [*q, 0.0, 0.0, 0.0])
