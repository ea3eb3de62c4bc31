"""Parts that hold each other by their surfaces: ratchet and pawl, spring latch, escapement."""

from __future__ import annotations

import math

from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import ConstantWrench, JointSpring
from ..models.shapes.profile import Profile
from ..models.shapes.shapes import Box, Cylinder
from ..models.tree.joints import Prismatic
from .argument_checks import checked
from .default_state import compile_at
from .plane_geometry import HINGE, arc_bulge, on_circle

WIDTH = 0.01  # of all profiles [m]
PUSHED, LOCKED = 0.035, 0.009  # of an anchor: half its angle while pushed, and what locks beyond it [rad]
LONG = 0.35  # a pallet, from its end on [rad]
OPEN = 1e-5  # between surfaces at the start [m]


@checked
def ratchet(
    teeth: int = 12,
    radius: float = 0.05,
    depth: float = 0.008,
    pawl: float = 0.05,
    stiffness: float = 0.5,
    preload: float = 0.02,
    friction: float = 0.1,
) -> Mechanism:
    """Ratchet and pawl: a wheel that turns one way, tooth by tooth, and is held on the other.

    Clockwise, the slopes of the teeth lift the pawl against its spring; each turn clicks `teeth` times.
    Counterclockwise the steep side of a tooth presses the pawl into its pin: the wheel falls back by less
    than a pitch, 2 pi / teeth, and then holds a torque M with a force of about M / radius along the pawl.
    "wheel_shaft" is actuated, "pawl_pin" is the angle of the pawl. Surfaces: "wheel" and "pawl".

    Args:
        teeth: Of the wheel, 6 to 24.
        radius: Of their tips [m].
        depth: Of the teeth [m].
        pawl: Length of the pawl [m].
        stiffness: Of its spring [N m/rad].
        preload: Torque of the spring where the pawl lies in a tooth [N m].
        friction: Coefficient of friction between wheel and pawl.
    """
    pitch = 2 * math.pi / teeth if teeth else 0.0
    root = radius - depth
    if not (6 <= teeth <= 24 and 0 < depth < 0.5 * radius * pitch and pawl > 3 * depth):
        raise InputError(
            "ratchet needs 6 to 24 teeth, a depth below half the pitch of the tips and a pawl longer than"
            f" three depths, got teeth = {teeth}, depth = {depth:g}, pawl = {pawl:g}."
        )
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="ratchet")
    tips = [math.pi / 2 + k * pitch for k in range(teeth)]
    saw = [point for tip in tips for point in (on_circle(radius, tip), on_circle(root, tip))]
    wheel = Profile(saw, WIDTH, density=7800.0)
    nose, half = root + 0.1 * depth, 0.6 * depth  # height of the pawl's corner, and half its thickness
    lever = Profile(
        [
            (pawl - OPEN, nose - radius), (pawl - OPEN, half), (0.0, half, 1.0), (0.0, -half),
            (pawl - 2 * depth, -half + 0.4 * depth),
        ],
        WIDTH, density=7800.0,
    )  # fmt: skip
    pin = Pose((-pawl, radius, 0))
    spec.part("wheel", shape=wheel).part("pawl", at=pin, shape=lever)
    spec.joint("wheel_shaft", "ground", "wheel", HINGE, at=(0, 0, 0), damping=1e-4)
    spec.joint("pawl_pin", "ground", "pawl", HINGE, at=(-pawl, radius, 0))
    spec.force("spring", JointSpring("pawl_pin", stiffness, rest=-preload / stiffness))
    spec.surface("wheel", "wheel", wheel, friction=friction)
    spec.surface("pawl", "pawl", lever, at=pin, friction=friction)
    spec.contact("wheel", "pawl").actuate("wheel_shaft")
    return spec.compile()


@checked
def spring_latch(
    bevel: float = 35.0,
    height: float = 0.01,
    mass: float = 5.0,
    stiffness: float = 800.0,
    preload: float = 4.0,
    friction: float = 0.2,
) -> Mechanism:
    """Spring latch: the strike pushes the bevel of a bolt in as the door closes; the bolt snaps behind it.

    While the bevel slides on the strike the door needs S tan(bevel + phi), S the force of the bolt's spring
    and tan phi = friction: a wedge, [Shigley2011] section 8. Behind the strike the bolt's straight side holds
    the door. "rail", the way of the door along x, is actuated; "guide" is that of the bolt, 0 as drawn.
    Surfaces: "bolt", "strike", and "seat", which
    keeps the bolt in the door.

    Args:
        bevel: Angle of the bevel from the way of the door [degrees], 10 to 70.
        height: Of the bevel, how far the bolt has to give way [m].
        mass: Of the door [kg].
        stiffness: Of the bolt's spring [N/m].
        preload: Force of that spring where the bolt is out [N].
        friction: Coefficient of friction between bolt and strike.
    """
    if not (10.0 <= bevel <= 70.0 and height > 1e-3):
        raise InputError(
            "spring_latch needs a bevel of 10 to 70 degrees and a height above 1 mm, got"
            f" bevel = {bevel:g}, height = {height:g}."
        )
    slope = math.radians(bevel)
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="spring_latch")
    # y = 0 is the strike's lower edge, x = 0 where the bevel ends; its nose is a little below that edge
    nose, low, flat = 1.2 * height / math.tan(slope), -0.2 * height, 0.5 * height
    # below, its shoulder rests against a seat of the door
    shoulder, foot, aside = -2 * height, -3 * height, -flat - height
    bolt = Profile(
        [
            (-flat, height), (-flat, shoulder), (aside, shoulder), (aside, foot), (nose, foot), (nose, low),
            (0.0, height),
        ],
        WIDTH, density=7800.0,
    )  # fmt: skip
    up, over = shoulder + OPEN, -flat - 0.1 * height
    ledge = Profile(
        [(aside, up), (over, up), (over, up + height), (aside, up + height)], WIDTH, density=7800.0
    )
    left, right, top = nose + 0.005, nose + 0.005 + 2 * height, 2 * height
    strike = Profile([(left, 0.0), (right, 0.0), (right, top), (left, top)], WIDTH)
    spec.part("door", shape=[Box((0.1, 0.04, WIDTH), at=Pose((-0.02, foot, -WIDTH)), mass=mass), ledge])
    spec.part("bolt", shape=bolt)
    spec.joint("rail", "ground", "door", Prismatic("x"), at=(0, 0, 0))
    spec.joint("guide", "door", "bolt", Prismatic("y"), at=(0, 0, 0))
    spec.force("spring", JointSpring("guide", stiffness, rest=preload / stiffness))
    spec.surface("bolt", "bolt", bolt, friction=friction)
    spec.surface("strike", "ground", strike, friction=friction)
    spec.surface("seat", "door", ledge, friction=0.0)
    spec.contact("strike", "bolt").contact("seat", "bolt").actuate("rail")
    return spec.compile()


@checked
def escapement(
    teeth: int = 12,
    radius: float = 0.03,
    length: float = 0.25,
    bob: float = 0.2,
    torque: float = 5e-4,
    damping: float = 8e-4,
    swing: float = 0.1,
    friction: float = 0.0,
) -> Mechanism:
    """Anchor escapement after Graham: a pendulum lets a driven wheel go on by half a tooth each swing.

    The pins of the wheel rest on arcs about the pendulum's axis, so that they do not turn it (dead beat), and
    push it on the inclined ends of the pallets. The period is that of the pendulum, 2 pi sqrt(J / (m g l)),
    but for its amplitude and the push. Without friction the push gives torque * 0.6 pi / teeth each swing, as
    much as damping takes at the amplitude of sqrt(2 * 0.6 * torque / (teeth * damping * w)). "arbor", the
    wheel, is actuated and has a torque of its own; "pendulum" starts at `swing`. Surfaces: "entry" and "exit"
    of the anchor, "pin 0" ... of the wheel.

    Args:
        teeth: Of the wheel, 8 to 30.
        radius: Of the circle of its pins [m].
        length: From the axis of the pendulum to its bob [m].
        bob: Mass of the bob [kg].
        torque: Of the wheel, clockwise [N m].
        damping: Of the pendulum [N m s/rad].
        swing: Angle of the pendulum at the start [rad], 0.04 to 0.3.
        friction: Coefficient of friction between pins and pallets.
    """
    if not (8 <= teeth <= 30 and 0.04 <= swing <= 0.3):
        raise InputError(
            "escapement needs 8 to 30 teeth and a swing of 0.04 to 0.3 rad at the start, got"
            f" teeth = {teeth}, swing = {swing:g}."
        )
    pitch = 2 * math.pi / teeth
    spread = (math.floor(0.2 * teeth) + 0.5) * pitch / 2  # of a pallet from the line of axes, from the arbor
    axis, arm, thick = radius / math.cos(spread), radius * math.tan(spread), 0.3 * pitch * radius
    tip = 0.02 * pitch * radius
    spec = MechanismSpec(gravity=(0.0, -9.81, 0.0), name="escapement")
    hub = Cylinder(0.85 * radius, 0.002, mass=3e-3)
    above = Pose((0, axis, 0))
    rod = Box((0.004, length, 0.002), at=Pose((0, -0.5 * length, -WIDTH)), mass=0.01)
    weight = Cylinder(0.03, 0.02, at=Pose((0, -length, -WIDTH)), mass=bob)
    inner, outer = arm - 0.5 * thick, arm + 0.5 * thick
    start = math.pi - _pin_angle(radius, axis, outer + tip + OPEN)
    places = [Pose((*on_circle(radius, start + k * pitch), 0)) for k in range(teeth)]
    spec.part("wheel", shape=[hub, *(Box((tip, tip, WIDTH), at=place, mass=1e-5) for place in places)])
    spec.joint("arbor", "ground", "wheel", HINGE, at=(0, 0, 0))
    for k, place in enumerate(places):
        spec.surface(f"pin {k}", "wheel", Cylinder(tip, WIDTH), at=place, friction=friction)
    pallets = _pallets(radius, axis, (inner, outer), tip)
    spec.part("anchor", at=above, shape=[rod, weight, *pallets])
    spec.joint("pendulum", "ground", "anchor", HINGE, at=(0, axis, 0), damping=damping)
    for name, pallet in zip(("entry", "exit"), pallets, strict=True):
        spec.surface(name, "anchor", pallet, at=above, friction=friction)
    spec.contact("pin*", "entry").contact("pin*", "exit").actuate("arbor")
    spec.force("weight", ConstantWrench("wheel", (0, 0, 0, 0, 0, -torque)))
    return compile_at(spec, [0.0, swing])


def _pin_angle(radius: float, axis: float, away: float) -> float:
    """Angle on the wheel, on the right, of what is `away` from the axis of the anchor [rad]."""
    return math.asin((radius**2 + axis**2 - away**2) / (2 * radius * axis))


def _pallets(radius: float, axis: float, ring: tuple[float, float], tip: float) -> list[Profile]:
    """Entry and exit pallet about the axis of an anchor: pieces of a ring whose ends are inclined.

    A pin is locked on the outside of the entry and on the inside of the exit, each until the anchor has come
    to PUSHED - LOCKED of the middle, and leaves them PUSHED beyond it.
    """
    inner, outer = ring

    def seen(away: float, left: bool) -> float:
        angle = _pin_angle(radius, axis, away)
        x, y = on_circle(radius, math.pi - angle if left else angle)
        return math.atan2(y - axis, x)

    def piece(o0: float, o1: float, i1: float, i0: float) -> Profile:
        corners = [
            (*on_circle(outer, o0), arc_bulge(o1 - o0)), on_circle(outer, o1),
            (*on_circle(inner, i1), arc_bulge(i0 - i1)), on_circle(inner, i0),
        ]  # fmt: skip
        return Profile(corners, WIDTH, mass=5e-3)

    lock, release = seen(outer + tip, True) - PUSHED + LOCKED, seen(inner, True) + PUSHED
    back = min(lock, release) - LONG
    entry = piece(back, lock, release, back)
    lock, release = seen(inner - tip, False) + PUSHED - LOCKED, seen(outer, False) - PUSHED
    back = max(lock, release) + LONG
    return [entry, piece(release, back, back, lock)]
