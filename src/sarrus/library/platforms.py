"""Parallel manipulators: Stewart platform, delta robot, planar 3-RRR, planar cable robot."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Array, one_of
from ..errors import AssemblyError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.axes import turn_z_to
from ..models.base.pose import Pose
from ..models.tree.joints import Free, Planar, Prismatic, Revolute, Spherical, Universal
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import bar, cuboid
from .plane_geometry import HINGE, circles_meet, heading, pin, rotated, spatial, wrap

AT_REST = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # q of a Free joint in its own frame
THIRD = 2.0 * math.pi / 3.0


def facing(p: Sequence[float] | Array, q: Sequence[float] | Array) -> tuple[Pose, float]:
    """A frame at p whose z axis points to q, and the distance between them [m]."""
    line = np.subtract(q, p)
    distance = float(np.linalg.norm(line))
    return Pose(p, matrix=turn_z_to(line / distance)), distance


@checked
def stewart(
    legs: str = "ups",
    base_radius: float = 0.6,
    top_radius: float = 0.35,
    height: float = 0.6,
    spread: float = 0.2,
    crank: float = 0.15,
    top_mass: float = 10.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Stewart platform on six legs, universal-prismatic-spherical or revolute-spherical-spherical.

    With legs="rss" every rod may spin about its own line: six passive freedoms more, twelve in all. All
    joint angles, strokes and the platform's displacement are zero at the start, at rest.

    Args:
        legs: "ups" (driven by six strokes) or "rss" (driven by six cranks).
        base_radius: Radius of the base joints [m].
        top_radius: Radius of the platform joints [m].
        height: Height of the platform at the start [m].
        spread: Half the angle between the two joints of a pair [rad].
        crank: Length of the cranks of "rss" legs [m].
        top_mass: Mass of the platform [kg].
        gravity: Gravity along -z [m/s^2].
    """
    one_of(legs, "legs of stewart", ("ups", "rss"))
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="stewart")
    plate = cuboid(top_mass, (1.4 * top_radius, 1.4 * top_radius, 0.05))
    spec.body("platform", joint=Free(), at=Pose((0.0, 0.0, height)), **plate)
    q = list(AT_REST)
    for i in range(6):
        # Two legs leave each pair of base joints for the two nearest pairs of platform joints.
        pair, side = divmod(i, 2)
        azimuth = (pair + 0.5) * THIRD + (spread if side else -spread)
        foot = rotated(azimuth, (base_radius, 0.0))
        head = rotated((pair + side) * THIRD + (-spread if side else spread), (top_radius, 0.0))
        base, target = Pose(spatial(foot), rpy=(0.0, 0.0, azimuth)), (head[0], head[1], height)
        if legs == "ups":
            rod, tip = _ups_leg(spec, i + 1, base, target), Pose()
            q += [0.0, 0.0, 0.0]
        else:
            rod, tip = _rss_leg(spec, i + 1, base, target, crank)
            q += [0.0, 0.0, 0.0, 0.0, 1.0]
        spec.close(f"ball{i + 1}", rod, "platform", joint=Spherical(), at_a=tip, at_b=Pose(spatial(head)))
    return compile_at(spec, q)


def _ups_leg(spec: MechanismSpec, i: int, base: Pose, head: Sequence[float]) -> str:
    """Cylinder on a universal joint and a piston whose frame sits at the head; all zero at the start."""
    at, length = facing(base.xyz, head)
    spec.body(f"cylinder{i}", joint=Universal("x", "y"), at=at, **bar(2.0, 0.6 * length, "z", 0.06))
    piston, out = f"piston{i}", Pose((0.0, 0.0, length))
    spec.body(
        piston, parent=f"cylinder{i}", joint=Prismatic("z"), at=out, **bar(1.0, 0.6 * length, "-z", 0.03)
    )
    spec.actuate(piston)
    return piston


def _rss_leg(
    spec: MechanismSpec, i: int, base: Pose, head: Sequence[float], crank: float
) -> tuple[str, Pose]:
    """Crank that lies outwards and a rod on a ball joint at its tip; all zero at the start."""
    spec.body(f"crank{i}", joint=Revolute((0.0, -1.0, 0.0)), at=base, **bar(0.5, crank, section=0.03))
    at, length = facing((crank, 0.0, 0.0), base.inverse().apply(head))
    spec.body(f"rod{i}", parent=f"crank{i}", joint=Spherical(), at=at, **bar(0.5, length, "z", 0.02))
    spec.actuate(f"crank{i}")
    return f"rod{i}", Pose((0.0, 0.0, length))


@checked
def delta(
    base_radius: float = 0.2,
    arm: float = 0.25,
    rod: float = 0.6,
    platform_radius: float = 0.06,
    spacing: float = 0.1,
    angle: float = 0.3,
    gravity: float = 9.81,
) -> Mechanism:
    """Delta robot: three arms, each with a pair of parallel rods, carry a platform that never turns.

    Rods hang on universal joints (so none spins) and end in ball joints. Three motors, twelve passive
    angles. Starts at rest with the platform on the axis.

    Args:
        base_radius: Distance of the arm hinges from the axis [m].
        arm: Length of the arms [m].
        rod: Length of the rods [m].
        platform_radius: Distance of the rods' ends from the platform's centre [m].
        spacing: Distance of the two rods of a pair [m].
        angle: Angle of the arms below the horizontal at the start [rad].
        gravity: Gravity along -z [m/s^2].
    """
    reach = base_radius + arm * math.cos(angle) - platform_radius
    if abs(reach) >= rod:
        raise AssemblyError(
            f"rods of {rod:g} m do not span {reach:g} m from elbow to platform; lengthen the rods."
        )
    depth = arm * math.sin(angle) + math.sqrt(rod**2 - reach**2)
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="delta")
    spec.body("platform", joint=Free(), at=Pose((0.0, 0.0, -depth)), **cuboid(0.5, (0.12, 0.12, 0.02)))
    q = list(AT_REST)
    for i in range(1, 4):
        azimuth = (i - 1) * THIRD
        base = Pose((*rotated(azimuth, (base_radius, 0.0)), 0.0), rpy=(0.0, 0.0, azimuth))
        spec.body(f"arm{i}", joint=Revolute("y"), at=base, **bar(0.4, arm, section=0.02))
        spec.actuate(f"arm{i}")
        X_arm = base @ Pose(rpy=(0.0, angle, 0.0))
        q.append(angle)
        for side, y in (("a", 0.5 * spacing), ("b", -0.5 * spacing)):
            corner = (*rotated(azimuth, (platform_radius, y)), 0.0)
            target = X_arm.inverse().apply(np.add(corner, (0.0, 0.0, -depth)))
            at, length = facing((arm, y, 0.0), target)
            name = f"rod{i}{side}"
            spec.body(
                name, parent=f"arm{i}", joint=Universal("x", "y"), at=at, **bar(0.05, length, "z", 0.01)
            )
            end = Pose((0.0, 0.0, length))
            spec.close(f"ball{i}{side}", name, "platform", joint=Spherical(), at_a=end, at_b=Pose(corner))
            q += [0.0, 0.0]
    return compile_at(spec, q)


@checked
def three_rrr(
    base_radius: float = 1.0,
    upper: float = 0.55,
    lower: float = 0.55,
    platform_radius: float = 0.25,
    turn: float = 0.5,
    gravity: float = 9.81,
) -> Mechanism:
    """Planar 3-RRR platform with driven elbows and passive shoulders.

    [DeSapio2010] figure 4: q1 to q6 are the angles of the three chains (shoulder, elbow), q7 to q9 place
    and angle of the platform; six rows. The paper gives no dimensions; these are ours. Starts centred and
    turned, at rest: a leg pushes along the line from its shoulder to its corner, and where the three lines
    meet in one point (the centre, if turn = 0) no motor can turn the platform.

    Args:
        base_radius: Distance of the shoulders from the centre [m].
        upper: Length of the links at the base [m].
        lower: Length of the links at the platform [m].
        platform_radius: Distance of the platform's corners from its centre [m].
        turn: Angle of the platform at the start [rad].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="three_rrr")
    q: list[float] = []
    corners = []
    for i in range(1, 4):
        azimuth = 0.5 * math.pi + (i - 1) * THIRD
        shoulder, on_platform = rotated(azimuth, (base_radius, 0.0)), rotated(azimuth, (platform_radius, 0.0))
        corner = rotated(turn, on_platform)
        elbow = circles_meet(shoulder, upper, corner, lower)
        first, second = heading(shoulder, elbow), heading(elbow, corner)
        spec.body(f"upper{i}", joint=HINGE, at=Pose(spatial(shoulder)), **bar(1.0, upper, section=0.04))
        tip = Pose((upper, 0.0, 0.0))
        spec.body(f"lower{i}", parent=f"upper{i}", joint=HINGE, at=tip, **bar(1.0, lower, section=0.04))
        q += [first, wrap(second - first)]
        corners.append(on_platform)
    spec.body("platform", joint=Planar("z"), **cuboid(2.0, (0.3, 0.3, 0.05)))
    for i, corner in enumerate(corners, start=1):
        pin(spec, f"pin{i}", "platform", corner, f"lower{i}", (lower, 0.0))
        spec.actuate(f"lower{i}")
    return compile_at(spec, [*q, 0.0, 0.0, turn])


@checked
def cable_robot(
    width: float = 2.0,
    height: float = 1.5,
    body_width: float = 0.3,
    body_height: float = 0.2,
    mass: float = 2.0,
    strongest_pull: float = 200.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Planar robot on four cables: more actuators than freedoms, and each of them can only pull.

    A cable is a light drum that swivels and a light end that slides out: its coordinate is its length, its
    input the force that lengthens it, limited to (-strongest_pull, 0) N. Starts centred, at rest.

    Args:
        width: Width of the frame that carries the drums [m].
        height: Height of that frame [m].
        body_width: Width of the carried body [m].
        body_height: Height of the carried body [m].
        mass: Mass of the carried body [kg].
        strongest_pull: Largest tension of a cable [N].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="cable_robot")
    spec.body("body", joint=Planar("z"), **cuboid(mass, (body_width, body_height, 0.1)))
    q = [0.0, 0.0, 0.0]
    for i, (x, y) in enumerate([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)], start=1):
        drum, corner = (x * width, y * height), (x * body_width, y * body_height)
        spec.body(f"drum{i}", joint=HINGE, at=Pose(spatial(drum)), **cuboid(0.1, (0.05, 0.05, 0.05)))
        spec.body(f"cable{i}", parent=f"drum{i}", joint=Prismatic("x"), **cuboid(0.02, (0.02, 0.02, 0.02)))
        pin(spec, f"pin{i}", "body", corner, f"cable{i}", (0.0, 0.0))
        spec.actuate(f"cable{i}", limits=(-strongest_pull, 0.0))
        q += [heading(drum, corner), math.dist(drum, corner)]
    return compile_at(spec, q)
