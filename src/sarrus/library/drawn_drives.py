"""Drives described as they are drawn: a planetary gearbox, a cam with its follower, a wiper."""

from __future__ import annotations

import math

import numpy as np

from ..constraints.couplings import Coupling
from ..constraints.profiles import Cam
from ..errors import InputError
from ..mechanism.describe.force_measures import ForceIn
from ..mechanism.describe.measures import Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import JointSpring
from ..models.shapes.plate import Plate
from ..models.shapes.shapes import Box
from ..models.tree.joints import Prismatic
from .argument_checks import checked
from .plane_geometry import HINGE, DrawnPoint, drawn_circles_meet

POINTS = 48  # of the profile of a cam
MOTOR, RIGHT_SHAFT = (0.28, 0.04), 0.45  # of a wiper: x and y, x, from the left shaft [m]
ARM, RIGHT_LEVER = 0.4, 0.08  # from shafts to tips, and the right lever [m]


@checked
def planetary_gearbox(
    sun: int = 24, planet: int = 18, planets: int = 3, module: float = 0.002, gravity: float = 0.0
) -> Mechanism:
    """Planetary gearbox: the sun drives the arm of the planets, the ring is held; mobility 1.

    The arm turns 1 + z_ring / z_sun times slower than the sun, z_ring = z_sun + 2 z_planet, [Shigley2011]
    section 13-13. "gears_sun" and "gears_arm", the input and the output, are actuated; their torques are in
    the inverse ratio. Measures: "tooth", the tangential force between the first planet and the sun, and
    "holding", the torque on the ring. How planets share the load is not determined by rigid teeth: equal
    shares are given. `module` is a parameter.

    Args:
        sun: Teeth of the sun.
        planet: Teeth of a planet.
        planets: Number of planets; (sun + ring teeth) must be a multiple of it.
        module: Pitch diameter over teeth [m].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="planetary_gearbox")
    m = spec.parameter("module", module)
    spec.planetary("gears", (0.0, 0.0, 0.0), sun=sun, planet=planet, planets=planets, module=m)
    spec.constrain("housing", Coupling({"gears_ring": 1.0}))
    spec.actuate("gears_sun").actuate("gears_arm")
    spec.measure("tooth", ForceIn("gears_mesh0_sun"))
    return spec.measure("holding", ForceIn("housing")).compile()


@checked
def cam_follower(
    lift: float = 0.012,
    base: float = 0.03,
    rise: float = 2.0,
    dwell: float = 0.8,
    stiffness: float = 4000.0,
    preload: float = 60.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Disc cam that lifts a rod against a spring: rise, dwell, return, dwell; mobility 1.

    Rise and return are cycloidal, s = h (x - sin(2 pi x) / (2 pi)), [Norton2008] section 8.3: acceleration is
    continuous. The profile is a spline through 48 points. "shaft" is actuated. Measures: "height" of the
    rod's lower end over the shaft, and "contact", the force between cam and rod, positive where they press
    on each other: a rod that lifts off would make it negative. `lift`, `base` and `preload` are parameters.

    Args:
        lift: How far the rod rises [m].
        base: Radius of the cam where the rod is down [m].
        rise: Angle over which it rises, and that of the return [rad].
        dwell: Angle over which it stays up [rad].
        stiffness: Of the spring [N/m].
        preload: Force of the spring while the rod is down [N].
        gravity: Gravity along -y [m/s^2].
    """
    if not (rise > 0.0 and dwell >= 0.0 and 2 * rise + dwell < 2 * math.pi):
        raise InputError(
            "cam_follower needs rise > 0, dwell >= 0 and 2 rise + dwell < 2 pi, got"
            f" rise = {rise:g}, dwell = {dwell:g}."
        )
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="cam_follower")
    given = {"lift": lift, "base": base, "preload": preload}
    h, r, force = (spec.parameter(name, value) for name, value in given.items())
    angles = np.linspace(0.0, 2 * math.pi, POINTS, endpoint=False)
    shares = [_cycloidal(x, rise, dwell) for x in angles]
    # the cam turns by the angle, so what is above the shaft then was drawn that much before
    outline = [
        ((r + h * s) * math.sin(x), (r + h * s) * math.cos(x)) for x, s in zip(angles, shares, strict=True)
    ]
    spec.point("shaft", (0, 0, 0)).point("tip", (0, r, 0))
    spec.part("cam", shape=Plate(outline[::-1], 0.01))
    spec.part("rod", at=Pose((0, r, 0)), shape=Box((0.012, 0.1, 0.012), at=Pose((0, 0.05, 0))))
    spec.joint("shaft", "ground", "cam", HINGE, at="shaft")
    spec.joint("guide", "ground", "rod", Prismatic("y"), at="tip")
    spec.constrain("profile", Cam("guide", "shaft", angles, [h * s for s in shares], "tip"))
    spec.force("spring", JointSpring("guide", stiffness, rest=-force / stiffness))
    spec.actuate("shaft").measure("height", Position("rod", "tip"))
    return spec.measure("contact", ForceIn("profile")).compile()


def _cycloidal(x: float, rise: float, dwell: float) -> float:
    """Part of the lift at an angle of the cam [rad]."""
    u = x / rise if x < rise else 1.0 if x < rise + dwell else (2 * rise + dwell - x) / rise
    return u - math.sin(2 * math.pi * u) / (2 * math.pi) if u > 0.0 else 0.0


@checked
def wiper(
    crank: float = 0.05, rod: float = 0.3, lever: float = 0.08, tandem: float = 0.44, gravity: float = 0.0
) -> Mechanism:
    """Windscreen wiper: a motor that turns on and on swings two arms, by a crank, a rod and a tandem rod.

    A crank-rocker four-bar, and a second four-bar from the first arm to the second; mobility 1. "motor" is
    actuated; "left" and "right" are the angles of the arms. Measures: "left_tip" and "right_tip", the ends of
    the arms. `crank`, `rod`, `lever` and `tandem` are parameters.

    Args:
        crank: On the motor [m]; decides how far the arms swing.
        rod: From the crank to the first lever [m].
        lever: Of the first arm, below its shaft [m].
        tandem: From the first arm's upper pin to that of the second one [m].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="wiper")
    given = {"crank": crank, "rod": rod, "lever": lever, "tandem": tandem}
    r, length, low, across = (spec.parameter(name, value) for name, value in given.items())
    (mx, my), right = MOTOR, RIGHT_SHAFT
    crank_pin = (mx, my + r)
    pin = drawn_circles_meet(crank_pin, length, (0.0, 0.0), low)  # of the first lever, below its shaft
    other = drawn_circles_meet((right, 0.0), RIGHT_LEVER, pin, across)
    P: dict[str, DrawnPoint] = {
        "motor": (mx, my, 0), "crank_pin": (*crank_pin, 0), "pin": (*pin, 0), "other_pin": (*other, 0),
        "left_shaft": (0, 0, 0), "left_tip": (-ARM / low * pin[0], -ARM / low * pin[1], 0),
        "right_shaft": (right, 0, 0),
        "right_tip": (right - ARM / RIGHT_LEVER * (other[0] - right), -ARM / RIGHT_LEVER * other[1], 0),
    }  # fmt: skip
    for name, xyz in P.items():
        spec.point(name, xyz)
    spec.link("crank", "motor", "crank_pin", mass=0.1).link("rod", "crank_pin", "pin", mass=0.15)
    spec.link("left_arm", "pin", "left_shaft", "left_tip", mass=0.4)
    spec.link("tandem_rod", "pin", "other_pin", mass=0.2)
    spec.link("right_arm", "other_pin", "right_shaft", "right_tip", mass=0.4)
    for name, at, a, b in (
        ("motor", "motor", "ground", "crank"), ("crank_pin", "crank_pin", "crank", "rod"),
        ("pin", "pin", "rod", "left_arm"), ("left", "left_shaft", "ground", "left_arm"),
        ("tandem_pin", "pin", "left_arm", "tandem_rod"), ("right", "right_shaft", "ground", "right_arm"),
        ("other_pin", "other_pin", "tandem_rod", "right_arm"),
    ):  # fmt: skip
        spec.joint(name, a, b, HINGE, at=at)
    spec.actuate("motor").measure("left_tip", Position("left_arm", "left_tip"))
    return spec.measure("right_tip", Position("right_arm", "right_tip")).compile()
