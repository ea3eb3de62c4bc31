"""Machines described as they are drawn: a wheel suspension, an excavator, a landing gear.

Points, lengths and springs that a designer varies are parameters: `mech.with_(tie_z=0.28)`. Dimensions are
ours, of the size of ordinary machines.
"""

from __future__ import annotations

import math

import numpy as np

from ..mechanism.describe.force_measures import ForceIn
from ..mechanism.describe.measures import Angle, Length, Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import ConstantWrench, JointSpring, PointSpring
from ..models.shapes.shapes import Box, Tube
from ..models.tree.joints import Fixed, Prismatic, Revolute, Spherical, Universal
from .argument_checks import checked
from .plane_geometry import HINGE, DrawnPoint, drawn_circles_meet


@checked
def double_wishbone(
    upper_z: float = 0.485,
    tie_z: float = 0.262,
    stiffness: float = 40e3,
    damping: float = 2500.0,
    rest: float = 0.555,
    load: float = 3500.0,
    steering: float = 3e5,
    gravity: float = 9.81,
) -> Mechanism:
    """Double wishbone suspension of a left front wheel, with steering rack and spring-damper; mobility 2.

    x forward, y left, z up; the chassis is the ground. Ball joints carry the upright on the two wishbones
    "lower_arm" and "upper_arm", a tie rod joins it to the rack, which is actuated and held by a spring. The
    road pushes up on the tyre with `load`. Measures: "camber" (positive where the top leans outwards) and
    "toe" (positive inwards), seen from the front and from above [rad]; "wheel", its centre; "contact", the
    lowest point of the tyre; "spring", its length, and "spring_force". `upper_z`, `tie_z`, `rest` and `load`
    are parameters. In the drawing it is nearly at rest.

    Args:
        upper_z: Height of the upper wishbone's pins on the chassis [m]: lower gives more camber in bump.
        tie_z: Height of the tie rod's end on the rack [m]: decides about toe in bump.
        stiffness: Of the spring [N/m].
        damping: Of the damper beside it [N s/m].
        rest: Length of the spring without force [m].
        load: Vertical force of the road [N].
        steering: Stiffness with which the steering holds the rack [N/m].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="double_wishbone")
    given = {"upper_z": upper_z, "tie_z": tie_z, "rest": rest, "load": load}
    high, tie, free, force = (spec.parameter(name, value) for name, value in given.items())
    P: dict[str, DrawnPoint] = {
        "lower_front": (0.18, 0.36, 0.21), "lower_rear": (-0.2, 0.36, 0.21), "lower_ball": (0.01, 0.7, 0.19),
        "upper_front": (0.12, 0.44, high), "upper_rear": (-0.14, 0.44, high),
        "upper_ball": (-0.02, 0.66, 0.505), "rack_end": (-0.12, 0.37, tie), "tie_ball": (-0.13, 0.68, 0.25),
        "wheel": (0.0, 0.76, 0.32), "contact": (0.0, 0.76, 0.0), "top": (0.0, 0.5, 0.62),
        "eye": (0.0, 0.6, 0.2),
    }  # fmt: skip
    for name, xyz in P.items():
        spec.point(name, xyz)
    spec.link("lower_arm", "lower_front", "lower_ball", "lower_rear", mass=4.0)
    spec.link("upper_arm", "upper_front", "upper_ball", "upper_rear", mass=2.5)
    spec.link("tie_rod", "rack_end", "tie_ball", mass=0.8)
    rack = Pose((-0.12, 0.0, tie))
    spec.part("rack", at=rack, shape=Box((0.03, 0.74, 0.03), mass=2.5))
    tyre = Tube(0.32, 0.2, 0.2, mass=16.0, at=Pose(rpy=(math.pi / 2, 0, 0)))
    upright = Box((0.06, 0.06, 0.3), mass=5.0, at=Pose((0.0, -0.08, 0.02)))
    spec.part("upright", at=Pose(P["wheel"]), shape=[tyre, upright])
    lower, upper = (Pose.looking_at(P[f"{arm}_rear"], P[f"{arm}_front"], "x") for arm in ("lower", "upper"))
    spec.joint("lower", "ground", "lower_arm", Revolute("x"), at=lower)
    spec.joint("upper", "ground", "upper_arm", Revolute("x"), at=upper)
    spec.joint("rack_slide", "ground", "rack", Prismatic("y"), at=rack)
    spec.joint("lower_ball", "lower_arm", "upright", Spherical(), at="lower_ball")
    spec.joint("upper_ball", "upper_arm", "upright", Spherical(), at="upper_ball")
    inner = Pose.looking_at(P["rack_end"], P["tie_ball"], "y")
    spec.joint("tie_inner", "rack", "tie_rod", Universal("x", "z"), at=inner)
    spec.joint("tie_outer", "upright", "tie_rod", Spherical(), at="tie_ball", coordinate=False)
    strength = {"stiffness": stiffness, "rest": free, "damping": damping}
    spec.force("spring", PointSpring("lower_arm", "eye", "ground", "top", **strength))
    spec.force("road", ConstantWrench("upright", (0, 0, force, 0, 0, 0), "contact"))
    spec.force("steering", JointSpring("rack_slide", steering))
    spec.actuate("rack_slide")
    spec.measure("camber", Angle("ground", "upright", (-1.0, 0.0, 0.0), "y", "y"))
    spec.measure("toe", Angle("ground", "upright", (0.0, 0.0, -1.0), "y", "y"))
    spec.measure("wheel", Position("upright", "wheel")).measure("contact", Position("upright", "contact"))
    spec.measure("spring", Length("lower_arm", "eye", "ground", "top"))
    return spec.measure("spring_force", ForceIn("spring")).compile()


@checked
def excavator(
    stick: float = 2.8, rocker: float = 0.6, link: float = 0.62, gravity: float = 9.81
) -> Mechanism:
    """Excavator arm: boom, stick and bucket, moved by three hydraulic cylinders; mobility 3.

    The bucket is turned by a four-bar: a rocker on the stick and a link. Cylinders are pairs of parts; their
    strokes "boom_cylinder", "stick_cylinder" and "bucket_cylinder" are actuated. Measures: "tip", the
    teeth of the bucket; "bucket_angle", of the line from its
    pin to the link against the horizontal; "reach", from the boom's foot to the teeth.
    `stick`, `rocker` and `link` are parameters.

    Args:
        stick: From the boom to the bucket's pin [m].
        rocker: Length of the rocker [m].
        link: Length of the link between rocker and bucket [m].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="excavator")
    given = {"stick": stick, "rocker": rocker, "link": link}
    length, r, s = (spec.parameter(name, value) for name, value in given.items())
    elbow, (ex, ey) = (4.6, 2.6), (0.5, -math.sqrt(0.75))  # the stick hangs down at 60 degrees
    pin = (elbow[0] + length * ex, elbow[1] + length * ey)
    pivot = (pin[0] - 0.42 * ex, pin[1] - 0.42 * ey)
    ear = (pin[0] + 0.4, pin[1] - 0.05)  # of the bucket
    joint = drawn_circles_meet(pivot, r, ear, s)
    P: dict[str, DrawnPoint] = {
        "foot": (0, 0, 0), "elbow": (*elbow, 0), "pin": (*pin, 0), "pivot": (*pivot, 0), "ear": (*ear, 0),
        "rocker_pin": (*joint, 0), "tip": (pin[0] - 0.25, pin[1] - 1.4, 0), "boom_base": (0.7, -0.4, 0),
        "boom_eye": (2.1, 1.7, 0), "bend": (2.0, 2.2, 0), "stick_base": (2.3, 2.7, 0),
        "stick_eye": (4.9, 3.3, 0), "bucket_base": (5.15, 2.55, 0),
    }  # fmt: skip
    for name, xyz in P.items():
        spec.point(name, xyz)
    spec.link("boom", "foot", "bend", "elbow", mass=1500.0, diameter=0.4)
    spec.link("stick", "stick_eye", "elbow", "pin", mass=700.0, diameter=0.3)
    spec.link("rocker", "pivot", "rocker_pin", mass=60.0).link("link", "rocker_pin", "ear", mass=60.0)
    spec.link("bucket", "pin", "ear", "tip", "pin", mass=600.0, diameter=0.4)
    for name, at, a, b in (
        ("boom_pin", "foot", "ground", "boom"), ("stick_pin", "elbow", "boom", "stick"),
        ("bucket_pin", "pin", "stick", "bucket"), ("rocker_pivot", "pivot", "stick", "rocker"),
        ("rocker_pin", "rocker_pin", "rocker", "link"), ("ear_pin", "ear", "link", "bucket"),
    ):  # fmt: skip
        spec.joint(name, a, b, HINGE, at=at)
    for name, a, base, b, eye in (
        ("boom_cylinder", "ground", "boom_base", "boom", "boom_eye"),
        ("stick_cylinder", "boom", "stick_base", "stick", "stick_eye"),
        ("bucket_cylinder", "stick", "bucket_base", "rocker", "rocker_pin"),
    ):
        spec.cylinder(name, a, base, b, eye, axis="z", mass=(80.0, 50.0))
    spec.measure("tip", Position("bucket", "tip"))
    spec.measure("bucket_angle", Angle("ground", "bucket"))
    return spec.measure("reach", Length("ground", "foot", "bucket", "tip")).compile()


@checked
def landing_gear(
    strut: float = 1.4, brace: float = 0.8, over_centre: float = 0.01, gravity: float = 9.81
) -> Mechanism:
    """Landing gear that swings up by a folding brace, which a cylinder folds; mobility 1.

    The strut hangs from its trunnion. Two links hold it, from the airframe to the knee and from the knee to
    the strut. While the gear is down they are nearly in line: the knee has passed the line by `over_centre`,
    where a stop would hold it. The cylinder pulls the knee back through the line and folds the brace;
    "cylinder", its stroke, is actuated, zero while the gear is down and about -0.2 m when it is up. Measures:
    "axle", its place; "strut_angle", how far the strut has swung up; "brace", the distance of its ends. All
    but gravity are parameters.

    Args:
        strut: From the trunnion to the axle [m].
        brace: From the trunnion to the brace's pin on the strut [m].
        over_centre: Distance of the knee from the line of the brace's ends while the gear is down [m].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="landing_gear")
    given = {"strut": strut, "brace": brace, "over_centre": over_centre}
    leg, down, past = (spec.parameter(name, value) for name, value in given.items())
    hook = (1.0, 0.1)  # of the brace, on the airframe
    line = (hook[0], hook[1] + down)  # from the pin on the strut to the hook
    far = np.hypot(*line)
    knee = (line[0] / 2 + past * line[1] / far, line[1] / 2 - down - past * line[0] / far)
    P: dict[str, DrawnPoint] = {
        "trunnion": (0, 0, 0), "axle": (0, -leg, 0), "pin": (0, -down, 0), "hook": (*hook, 0),
        "knee": (*knee, 0), "base": (0.68, 0.78, 0),
        "eye": (0.7 * hook[0] + 0.3 * knee[0], 0.7 * hook[1] + 0.3 * knee[1], 0),
    }  # fmt: skip
    for name, xyz in P.items():
        spec.point(name, xyz)
    spec.link("strut", "trunnion", "axle", mass=60.0, diameter=0.1)
    spec.part("wheel", at=Pose(P["axle"]), shape=Tube(0.3, 0.15, 0.2, mass=40.0))
    spec.link("upper_brace", "hook", "knee", mass=8.0).link("lower_brace", "knee", "pin", mass=8.0)
    spec.joint("axle", "strut", "wheel", Fixed(), at="axle")
    for name, at, a, b in (
        ("trunnion", "trunnion", "ground", "strut"), ("hook", "hook", "ground", "upper_brace"),
        ("knee", "knee", "upper_brace", "lower_brace"), ("strut_pin", "pin", "lower_brace", "strut"),
    ):  # fmt: skip
        spec.joint(name, a, b, HINGE, at=at)
    spec.cylinder("cylinder", "ground", "base", "upper_brace", "eye", axis="z", mass=(6.0, 4.0))
    spec.measure("axle", Position("strut", "axle"))
    spec.measure("strut_angle", Angle("ground", "strut", "z", (0.0, -1.0, 0.0), "x"))
    return spec.measure("brace", Length("ground", "hook", "strut", "pin")).compile()
