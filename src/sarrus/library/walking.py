"""Things that walk or roll: Jansen's legs, a pantograph leg, a quadruped, a disc."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import Array, count, nonnegative
from ..constraints.rolling import Rolling
from ..errors import InputError, require_known
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import JointSpring
from ..models.shapes.convex_shapes import HalfSpace
from ..models.shapes.shapes import Sphere
from ..models.tree.joints import Free, Revolute, Spherical
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import Mass, bar, cuboid
from .plane_geometry import HINGE, Point, circles_meet, heading, pin, rotated, spatial, wrap

# Jansen's eleven numbers and the crank [Jansen2007], in units of 0.01 m
JANSEN = {
    "a": 0.38, "b": 0.415, "c": 0.393, "d": 0.401, "e": 0.558, "f": 0.394, "g": 0.367,
    "h": 0.657, "i": 0.49, "j": 0.5, "k": 0.619, "l": 0.078, "m": 0.15,
}  # fmt: skip
FEET = ("front_left", "front_right", "rear_left", "rear_right")
BALL = 0.005  # radius of the feet of the quadruped [m]


@checked
def jansen_leg(
    n: int = 1, angle: float = 0.5, speed: float = 3.0, mass_per_length: float = 1.0, gravity: float = 9.81
) -> Mechanism:
    """Jansen's walking linkage: n legs of three loops each on one crank, mirrored in turn; mobility 1.

    [Jansen2007]'s lengths, with 1 unit = 10 mm. Bodies of leg i: links j, k (from the crank), c, f and the
    triangles "upper" (b, d, e) and "foot" (g, h, i). The frame stands still. Starts with the crank turning.

    Args:
        n: Number of legs; their crank pins are spread evenly over a turn.
        angle: Angle of the crank at the start [rad].
        speed: Speed of the crank at the start [rad/s].
        mass_per_length: Mass of all bars [kg/m].
        gravity: Gravity along -y [m/s^2].
    """
    count(n, "n of jansen_leg")
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="jansen_leg")
    arm = JANSEN["m"]
    spec.body("crank", joint=HINGE, **cuboid(0.5, (2.0 * arm, 2.0 * arm, 0.02)))
    q = [angle]
    for i in range(n):
        phase, mirror = 2.0 * math.pi * i / n, -1.0 if i % 2 else 1.0
        points = _jansen_points(angle + phase, mirror)
        q += _add_jansen_leg(spec, str(i + 1), points, angle, mass_per_length)
    spec.actuate("crank")
    return compile_at(spec, q, rates={"crank": speed})


def _jansen_points(angle: float, mirror: float) -> dict[str, Array]:
    """Crank pin X, frame pin Y and the joints U, V, W, T and foot F of one leg [m]."""
    s, flip = JANSEN, np.array([mirror, 1.0])
    X = flip * rotated(angle, (s["m"], 0.0))
    Y = np.array([-s["a"], -s["l"]])
    U = circles_meet(Y, s["b"], X, s["j"], 1)
    V = circles_meet(Y, s["c"], X, s["k"], -1)
    W = circles_meet(Y, s["d"], U, s["e"], 1)
    T = circles_meet(V, s["g"], W, s["f"], 1)
    F = circles_meet(V, s["i"], T, s["h"], 1)
    return {name: flip * p for name, p in zip("XYUVWTF", (X, Y, U, V, W, T, F), strict=True)}


def _add_jansen_leg(
    spec: MechanismSpec, tag: str, p: dict[str, Array], crank: float, density: float
) -> list[float]:
    """Six bodies and three pins of one leg; returns its angles, each relative to its parent [rad]."""
    X, Y, U, V, W, T, F = (p[name] for name in "XYUVWTF")
    s = {name: density * length for name, length in JANSEN.items()}
    in_crank, upper, c = Pose(spatial(rotated(-crank, X))), heading(Y, U), heading(Y, V)
    spec.body(f"j{tag}", parent="crank", joint=HINGE, at=in_crank, **bar(s["j"], JANSEN["j"]))
    spec.body(f"k{tag}", parent="crank", joint=HINGE, at=in_crank, **bar(s["k"], JANSEN["k"]))
    spec.body(f"upper{tag}", joint=HINGE, at=Pose(spatial(Y)), **_triangle(density, Y, U, W))
    spec.body(f"c{tag}", joint=HINGE, at=Pose(spatial(Y)), **bar(s["c"], JANSEN["c"]))
    W_upper = Pose(spatial(rotated(-upper, W - Y)))
    spec.body(f"f{tag}", parent=f"upper{tag}", joint=HINGE, at=W_upper, **bar(s["f"], JANSEN["f"]))
    V_c = Pose((JANSEN["c"], 0.0, 0.0))
    spec.body(f"foot{tag}", parent=f"c{tag}", joint=HINGE, at=V_c, **_triangle(density, V, T, F))
    pin(spec, f"U{tag}", f"upper{tag}", (JANSEN["b"], 0.0), f"j{tag}", (JANSEN["j"], 0.0))
    pin(spec, f"V{tag}", f"c{tag}", (JANSEN["c"], 0.0), f"k{tag}", (JANSEN["k"], 0.0))
    pin(spec, f"T{tag}", f"foot{tag}", (JANSEN["g"], 0.0), f"f{tag}", (JANSEN["f"], 0.0))
    relative = [heading(X, U) - crank, heading(X, V) - crank, upper, c]
    relative += [heading(W, T) - upper, heading(V, T) - c]
    return [wrap(angle) for angle in relative]


def _triangle(density: float, a: Point, b: Point, c: Point) -> Mass:
    """A triangle of three slender bars in the frame at a whose x axis points to b."""
    turn = -heading(a, b)
    corners = [rotated(turn, np.subtract(p, a)) for p in (a, b, c)]
    sides = list(zip(corners, corners[1:] + corners[:1], strict=True))
    masses = [density * math.dist(p, q) for p, q in sides]
    middles = [0.5 * (p + q) for p, q in sides]
    com = np.average(middles, axis=0, weights=masses)
    about = sum(
        m * (math.dist(p, q) ** 2 / 12.0 + math.dist(middle, com) ** 2)
        for m, (p, q), middle in zip(masses, sides, middles, strict=True)
    )
    return Mass(mass=sum(masses), com=spatial(com), inertia=(0.5 * about, 0.5 * about, about))


@checked
def pantograph_leg(
    thigh: float = 0.2,
    shank: float = 0.22,
    crank: float = 0.06,
    stiffness: float = 4.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Leg whose knee is driven from the hip: a parallelogram loop, two passive joints and a spring.

    Motors turn thigh and crank at the hip; the rod, parallel to the thigh, keeps the shank parallel to the
    crank. Starts at rest with the knee bent.

    Args:
        thigh: Length of the thigh and of the rod [m].
        shank: Length of the shank, knee to foot [m].
        crank: Length of the crank, and where on the shank the rod ends [m].
        stiffness: Stiffness of the spring across the knee [N m/rad], at rest with the knee as it starts.
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="pantograph_leg")
    knee, bend = Pose((thigh, 0.0, 0.0)), -1.0
    spec.body("thigh", joint=HINGE, **bar(0.5, thigh, section=0.03))
    spec.body("shank", parent="thigh", joint=HINGE, at=knee, **bar(0.3, shank, section=0.02))
    spec.body("crank", joint=HINGE, **bar(0.1, crank, section=0.02))
    spec.body("rod", parent="crank", joint=HINGE, at=Pose((crank, 0.0, 0.0)), **bar(0.1, thigh, section=0.01))
    pin(spec, "pin", "shank", (crank, 0.0), "rod", (thigh, 0.0))
    spec.force("knee_spring", JointSpring("shank", stiffness, rest=bend))
    spec.actuate("thigh", "crank")
    first = -0.5 * math.pi - 0.5 * bend
    return compile_at(spec, [first, bend, first + bend, -bend])


@checked
def quadruped(standing: Sequence[str] = FEET, gravity: float = 9.81, floor: float = 0.0) -> Mechanism:
    """Four-legged robot, twelve motors and a free trunk, its feet held to the ground or on a floor.

    Trunk of 0.4 x 0.2 x 0.1 m and 8 kg; thigh and shank of 0.2 m. Joints of a leg: hip (roll about x),
    thigh and shank (pitch about y). Starts at rest, standing with bent knees.

    Args:
        standing: Which feet are held to the ground at a point: any of "front_left", "front_right",
            "rear_left", "rear_right".
        gravity: Gravity along -z [m/s^2].
        floor: Coefficient of friction of a floor that the feet, balls of 5 mm radius, touch; none is held
            then. 0: no floor.
    """
    for foot in standing:
        require_known("foot", foot, FEET, "quadruped")
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="quadruped")
    bend, link, offset = 0.6, 0.2, 0.05
    height = 2.0 * link * math.cos(bend)
    spec.body("trunk", joint=Free(), at=Pose((0.0, 0.0, height)), **cuboid(8.0, (0.4, 0.2, 0.1)))
    q = [0.0] * 6 + [1.0]
    knee = Pose((0.0, 0.0, -link))
    if nonnegative(floor, "floor of quadruped"):
        spec.surface("floor", "ground", HalfSpace(), at=Pose((0.0, 0.0, -BALL)), friction=floor)
    for foot in FEET:
        x, y = (0.2 if "front" in foot else -0.2), (1.0 if "left" in foot else -1.0)
        at_hip, at_thigh = Pose((x, 0.1 * y, 0.0)), Pose((0.0, offset * y, 0.0))
        hip, thigh, shank = f"{foot}_hip", f"{foot}_thigh", f"{foot}_shank"
        spec.body(hip, parent="trunk", joint=Revolute("x"), at=at_hip, **cuboid(0.5, (0.08, 0.06, 0.06)))
        spec.body(thigh, parent=hip, joint=Revolute("y"), at=at_thigh, **bar(0.6, link, "-z", 0.04))
        spec.body(shank, parent=thigh, joint=Revolute("y"), at=knee, **bar(0.2, link, "-z", 0.02))
        q += [0.0, bend, -2.0 * bend]
        if floor:
            spec.surface(foot, shank, Sphere(BALL), at=knee).contact("floor", foot)
        elif foot in standing:
            place = Pose((x, (0.1 + offset) * y, 0.0))
            spec.close(foot, "ground", shank, joint=Spherical(), at_a=place, at_b=knee)
    return compile_at(spec, q)


@checked
def rolling_disk(
    radius: float = 0.25, mass: float = 1.0, lean: float = 0.3, circle: float = 1.0, gravity: float = 9.81
) -> Mechanism:
    """Thin disc that rolls on the floor without slipping, leaning into its circle.

    Three rows, two of them on velocities only. The start is the steady motion: the centre runs on a circle
    of radius `circle` at the rate W about the vertical with W^2 = g tan(lean) / (radius sin(lean) / 4 + 3
    circle / 2), from the balance of moments about the centre.

    Args:
        radius: Radius of the disc [m].
        mass: Mass of the disc [kg].
        lean: Angle between the disc and the vertical [rad], 0 <= lean < pi/2.
        circle: Radius of the circle on which the centre runs [m].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="rolling_disk")
    diametral = 0.25 * mass * radius**2
    spec.body("disc", joint=Free(), mass=mass, inertia=(diametral, diametral, 2.0 * diametral))
    spec.constrain("floor", Rolling("disc", radius, axis="z", normal="z"))

    # Outward x, ahead y, up z; body axes: up along the disc, backwards, and the disc's axis.
    c, s = math.cos(lean), math.sin(lean)
    R_WB = np.array([[-s, 0.0, c], [0.0, -1.0, 0.0], [c, 0.0, s]])
    if not (0.0 <= lean < math.pi / 2 and circle > 0.0 and gravity >= 0.0):
        raise InputError(
            "rolling_disk needs 0 <= lean < pi/2, circle > 0 and gravity >= 0, got"
            f" lean = {lean:g}, circle = {circle:g}, gravity = {gravity:g}."
        )
    rate = math.sqrt(gravity * math.tan(lean) / (0.25 * radius * s + 1.5 * circle))
    spin = -rate * (circle / radius + s)
    velocity, turning = np.array([0.0, rate * circle, 0.0]), np.array([spin * c, 0.0, rate + spin * s])
    q = [circle, 0.0, radius * c, *Pose(matrix=R_WB).quat]
    return compile_at(spec, q, [*(R_WB.T @ velocity), *(R_WB.T @ turning)])
