"""Spatial linkages that move because of their dimensions: Sarrus, Bennett, the double Scott-Russell lift."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..arrays import positive
from ..constraints.couplings import Coupling
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.tree.joints import Prismatic, Revolute
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import bar, cuboid, point
from .plane_geometry import rotated

UP = Revolute((0.0, -1.0, 0.0))  # positive angles raise a panel that lies along +x


@checked
def sarrus(
    azimuths: Sequence[float] = (0.0, math.pi / 2.0),
    radius: float = 0.2,
    panel: float = 0.3,
    panel_mass: float = 0.5,
    top_mass: float = 1.0,
    angle: float = 1.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Sarrus' linkage: a plate that rises in a straight line on folding legs of three hinges each.

    [Sarrus1853]: each leg, two panels and three parallel hinges, would let the plate move in a vertical
    plane; two planes leave one line. Five rows close two legs, one of them says nothing new. Starts at
    rest.

    Args:
        azimuths: Directions of the legs seen from above [rad], at least two.
        radius: Distance of the hinges on base and plate from the centre [m].
        panel: Length of a panel, hinge to hinge [m].
        panel_mass: Mass of a panel [kg].
        top_mass: Mass of the plate [kg].
        angle: Elevation of the lower panels at the start [rad].
        gravity: Gravity along -z [m/s^2].
    """
    if len(azimuths) < 2:
        raise InputError(f"azimuths of sarrus must name at least two legs, got {list(azimuths)}.")
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="sarrus")
    sheet = cuboid(panel_mass, (panel, 2.0 * radius, 0.01), (0.5 * panel, 0.0, 0.0))
    plate = cuboid(top_mass, (2.0 * radius, 2.0 * radius, 0.02), (-radius, 0.0, 0.0))
    hinge = [Pose((*rotated(a, (radius, 0.0)), 0.0), rpy=(0.0, 0.0, a)) for a in azimuths]
    end = Pose((panel, 0.0, 0.0))
    q: list[float] = []
    for i, base in enumerate(hinge, start=1):
        spec.body(f"lower{i}", joint=UP, at=base, **sheet)
        spec.body(f"upper{i}", parent=f"lower{i}", joint=UP, at=end, **sheet)
        q += [angle, math.pi - 2.0 * angle]
        if i == 1:
            spec.body("plate", parent="upper1", joint=UP, at=end, **plate)
            q.append(angle - math.pi)
        else:
            at_plate = hinge[0].inverse() @ base
            spec.close(f"hinge{i}", f"upper{i}", "plate", joint=Revolute("y"), at_a=end, at_b=at_plate)
    spec.actuate("lower1")
    return compile_at(spec, q)


@checked
def bennett(
    a: float = 1.0,
    b: float = 1.5,
    twist: float = math.pi / 6.0,
    mass_per_length: float = 1.0,
    angle: float = 1.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Bennett's loop of four skew hinges, which moves because of the proportions of its links.

    [Bennett1903]: links a, b, a, b (the last is the ground) with hinge axes along z, twisted by alpha and
    beta about the link, sin(alpha) / a = sin(beta) / b. Angles follow tan(q1/2) tan(q2/2) = sin((beta +
    alpha)/2) / sin((beta - alpha)/2) and q3 = -q1. Starts at rest.

    Args:
        a: Length of the first and the third link [m].
        b: Length of the second link and of the ground [m]; different from a.
        twist: Angle alpha between the hinge axes of the first link [rad].
        mass_per_length: Mass of the slender links [kg/m].
        angle: Angle of the first hinge at the start [rad].
        gravity: Gravity along -z [m/s^2].
    """
    sine = positive(b, "b of bennett") * math.sin(twist) / positive(a, "a of bennett")
    if not 0.0 < abs(sine) < 1.0 or a == b:
        raise InputError(
            f"Bennett's loop needs a != b and 0 < |b sin(twist) / a| < 1, got a = {a:g} m, b = {b:g} m and "
            f"sin(beta) = {sine:.6g}; make twist smaller, or b."
        )
    other = math.asin(sine)
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="bennett")
    parent, at = "ground", Pose()
    for name, length, alpha in (("link1", a, twist), ("link2", b, other), ("link3", a, twist)):
        spec.body(name, parent=parent, joint=Revolute("z"), at=at, **bar(mass_per_length * length, length))
        parent, at = name, Pose((length, 0.0, 0.0), rpy=(alpha, 0.0, 0.0))
    base = Pose((-b, 0.0, 0.0), rpy=(-other, 0.0, 0.0))
    spec.close("hinge4", "ground", "link3", joint=Revolute("z"), at_a=base, at_b=at)
    spec.actuate("link1")
    ratio = math.sin(0.5 * (other + twist)) / math.sin(0.5 * (other - twist))
    second = 2.0 * math.atan2(ratio, math.tan(0.5 * angle))
    return compile_at(spec, [angle, second, -angle])


@checked
def scott_russell(
    arm: float = 0.5,
    width: float = 1.2,
    arm_mass: float = 4.0,
    crank_mass: float = 2.0,
    platform_mass: float = 20.0,
    angle: float = 0.6,
    gravity: float = 9.81,
) -> Mechanism:
    """Double Scott-Russell lift from 3-D hinges and sliders: ten of its sixteen rows are redundant.

    On each side an arm of length 2 `arm` has its foot on a horizontal slider and its middle on a crank, so
    its head moves straight up; the two heads carry a platform. A spindle with left- and right-handed thread
    keeps the two feet symmetric. Plane x-z, mobility 1. Starts at rest.

    Args:
        arm: Length of the cranks and half the length of the arms [m].
        width: Distance of the two cranks' ground hinges [m].
        arm_mass: Mass of an arm [kg].
        crank_mass: Mass of a crank [kg].
        platform_mass: Mass of the platform [kg].
        angle: Elevation of the arms at the start [rad].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="scott_russell")
    foot = 2.0 * arm * math.cos(angle)
    q: list[float] = []
    for side, x, yaw in (("left", 0.0, 0.0), ("right", width, math.pi)):
        # In each side's frame x points to the foot, which the arm leaves backwards: elevation pi - angle.
        base = Pose((x, 0.0, 0.0), rpy=(0.0, 0.0, yaw))
        spec.body(f"slider_{side}", joint=Prismatic("x"), at=base, **point(1.0))
        long, short = bar(arm_mass, 2.0 * arm, section=0.05), bar(crank_mass, arm, section=0.05)
        spec.body(f"arm_{side}", parent=f"slider_{side}", joint=UP, **long)
        spec.body(f"crank_{side}", joint=UP, at=base, **short)
        middle = Pose((arm, 0.0, 0.0))
        spec.close(
            f"middle_{side}", f"arm_{side}", f"crank_{side}", joint=Revolute("y"), at_a=middle, at_b=middle
        )
        q += [foot, math.pi - angle, angle]
    head = Pose((2.0 * arm, 0.0, 0.0))
    platform = cuboid(platform_mass, (width, 0.8, 0.05), (0.5 * width, 0.0, 0.0))
    spec.body("platform", parent="arm_left", joint=UP, at=head, **platform)
    far = Pose((width, 0.0, 0.0), rpy=(0.0, 0.0, math.pi))
    spec.close("head_right", "platform", "arm_right", joint=Revolute("y"), at_a=far, at_b=head)
    spec.constrain("spindle", Coupling({"slider_left": 1.0, "slider_right": -1.0}))
    spec.actuate("slider_left")
    return compile_at(spec, [*q, angle - math.pi])
