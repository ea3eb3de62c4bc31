"""Linkages of one loop or none, in the x-y plane with gravity along -y."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import one_of
from ..constraints.points import PointOnPlane
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import Mass, bar, point
from .plane_geometry import HINGE, chain, circles_meet, heading, joint_angles, pin


@checked
def pendulum(length: float = 1.0, mass: float = 1.0, gravity: float = 9.81) -> Mechanism:
    """Point mass on a massless rod, released at rest from the horizontal (IFToMM A01).

    Args:
        length: Length of the rod [m].
        mass: Mass at its end [kg].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="pendulum")
    spec.body("rod", joint=HINGE, **point(mass, (length, 0.0, 0.0)))
    return compile_at(spec, [math.pi])


@checked
def double_pendulum(
    lengths: Sequence[float] = (1.0, 1.0), masses: Sequence[float] = (1.0, 1.0), gravity: float = 9.81
) -> Mechanism:
    """Two point masses on massless rods in series, released at rest from the horizontal.

    Args:
        lengths: Lengths of the rods [m], (2,).
        masses: Masses at their ends [kg], (2,).
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="double_pendulum")
    spec.body("upper", joint=HINGE, **point(masses[0], (lengths[0], 0.0, 0.0)))
    tip = Pose((lengths[0], 0.0, 0.0))
    spec.body("lower", parent="upper", joint=HINGE, at=tip, **point(masses[1], (lengths[1], 0.0, 0.0)))
    return compile_at(spec, [0.0, 0.0])


@checked
def slider_crank(length: float = 1.0, mass: float = 1.0, gravity: float = 9.81) -> Mechanism:
    """Crank and rod of equal length whose tip runs on the x axis; singular when the crank is upright.

    [Aghili2005] section VIII: q = (crank, rod relative to crank), point masses at both link ends give (66),
    the one row y_C = 0 gives (67). Starts at rest at q = (2 pi/3, 2 pi/3), as figure 4 there.

    Args:
        length: Length of crank and of rod [m].
        mass: Point mass at the end of each [kg].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="slider_crank")
    tip = (length, 0.0, 0.0)
    spec.body("crank", joint=HINGE, **point(mass, tip))
    spec.body("rod", parent="crank", joint=HINGE, at=Pose(tip), **point(mass, tip))
    spec.constrain("slider", PointOnPlane("ground", (0.0, 0.0, 0.0), "rod", tip, normal=(0.0, 1.0, 0.0)))
    crank = 2.0 * math.pi / 3.0
    return compile_at(spec, [crank, 2.0 * math.pi - 2.0 * crank])


@checked
def four_bar(
    ground: float = 1.0,
    crank: float = 0.3,
    coupler: float = 0.9,
    rocker: float = 0.7,
    mass_per_length: float = 1.0,
    angle: float = math.pi / 3.0,
    closure: str = "revolute",
    gravity: float = 9.81,
) -> Mechanism:
    """Crank, coupler and rocker between two ground pins; the fourth hinge closes the loop.

    Three hinges make the tree, in series; the rocker's end is the cut one. All four axes are parallel, so a
    point or a revolute closure leaves one freedom and a weld none.

    Args:
        ground: Distance of the ground pins [m].
        crank: Length of the crank [m].
        coupler: Length of the coupler [m].
        rocker: Length of the rocker [m].
        mass_per_length: Mass of the slender links [kg/m].
        angle: Crank angle at which it starts, at rest [rad].
        closure: "pin" (2 rows), "point" (3), "revolute" (5) or "weld" (6).
        gravity: Gravity along -y [m/s^2].
    """
    tip = (crank * math.cos(angle), crank * math.sin(angle))
    elbow = circles_meet(tip, coupler, (ground, 0.0), rocker)
    angles = [angle, heading(tip, elbow), heading(elbow, (ground, 0.0))]
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="four_bar")
    lengths = (crank, coupler, rocker)
    masses = [mass_per_length * length for length in lengths]
    chain(spec, ("crank", "coupler", "rocker"), lengths, masses, Pose())
    pin(spec, "pin", "ground", (ground, 0.0), "rocker", (rocker, 0.0), kind=closure, turn=angles[2])
    spec.actuate("crank")
    return compile_at(spec, joint_angles(angles))


@checked
def parallelogram(
    crank: float = 0.6,
    coupler: float = 1.0,
    crank_mass: float = 5.0,
    coupler_mass: float = 10.0,
    section: float = 0.1,
    angle: float = 0.7,
    closure: str = "revolute",
    gravity: float = 9.81,
) -> Mechanism:
    """Two equal cranks and a coupler as long as the base: one motor, two passive joints.

    The default is the mechanism on which a holding torque of 67.53 N m is (2 * 5 * 0.3 + 10 * 0.6) * 9.81 *
    cos(0.7).

    Args:
        crank: Length of both cranks [m].
        coupler: Length of the coupler and distance of the ground pins [m].
        crank_mass: Mass of each crank [kg].
        coupler_mass: Mass of the coupler [kg].
        section: Side of the bars' square section [m]; 0 for thin rods.
        angle: Angle of the cranks above the horizontal at which it starts, at rest [rad].
        closure: "pin" (2 rows), "point" (3), "revolute" (5) or "weld" (6).
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="parallelogram")
    spec.body("left", joint=HINGE, **bar(crank_mass, crank, section=section))
    tip, end = Pose((crank, 0.0, 0.0)), Pose((coupler, 0.0, 0.0))
    spec.body("coupler", parent="left", joint=HINGE, at=tip, **bar(coupler_mass, coupler, section=section))
    spec.body("right", parent="coupler", joint=HINGE, at=end, **bar(crank_mass, crank, "-x", section))
    pin(spec, "pin", "ground", (coupler, 0.0), "right", (-crank, 0.0), kind=closure, turn=angle)
    spec.actuate("left")
    return compile_at(spec, [angle, -angle, angle])


@checked
def five_bar(start: str = "singular", closure: str = "pin", gravity: float = 9.81) -> Mechanism:
    """Four links between two ground pins, two freedoms; all pins in one line is its singular pose.

    [Spencer2004] table 3.1: links of 1, 1.5, 1.5, 1 m, pins 1 m apart, centres of mass at mid-link. The
    thesis uses absolute link angles, here each angle is relative to the link before.

    Args:
        start: "singular" (example 1, absolute angles pi, 0, 0, pi, at rest) or "raised" (example 2, at rest).
        closure: "pin" (2 rows), "point" (3), "revolute" (5) or "weld" (6).
        gravity: Gravity along -y [m/s^2].
    """
    one_of(start, "start of five_bar", ("singular", "raised"))
    apex = math.acos(2.0 / 3.0)
    raised = [2.0 * math.pi / 3.0, apex, -apex, 4.0 * math.pi / 3.0]
    angles = raised if start == "raised" else [math.pi, 0.0, 0.0, math.pi]
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="five_bar")
    parent, at, links = "ground", Pose(), ((1.0, 2.0, 1.0), (1.5, 3.0, 2.0), (1.5, 3.0, 2.0), (1.0, 2.0, 1.0))
    for i, (length, mass, inertia) in enumerate(links, start=1):
        link = Mass(mass=mass, com=(0.5 * length, 0.0, 0.0), inertia=(0.0, inertia, inertia))
        spec.body(f"link{i}", parent=parent, joint=HINGE, at=at, **link)
        parent, at = f"link{i}", Pose((length, 0.0, 0.0))
    pin(spec, "pin", "ground", (1.0, 0.0), "link4", (1.0, 0.0), kind=closure, turn=angles[3])
    return compile_at(spec, np.diff(angles, prepend=0.0))
