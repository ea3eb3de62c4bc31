"""Drives whose parts touch by their surfaces: a Geneva drive, and a cam whose follower may fly."""

from __future__ import annotations

import math

from ..errors import InputError
from ..mechanism.describe.measures import Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import JointSpring
from ..models.shapes.convex_shapes import HalfSpace
from ..models.shapes.profile import Profile
from ..models.shapes.shapes import Box, Cylinder
from ..models.tree.joints import Prismatic
from .argument_checks import checked
from .default_state import compile_at
from .plane_geometry import HINGE, arc_bulge, on_circle

WIDTH = 0.01  # of all profiles [m]
ABOVE = 1e-5  # how far from its cam a follower starts [m]


@checked
def geneva_drive(
    slots: int = 4,
    distance: float = 0.1,
    pin: float = 0.004,
    play: float = 2e-5,
    speed: float = 2 * math.pi,
    flywheel: float = 0.1,
    friction: float = 0.05,
) -> Mechanism:
    """Geneva drive: a pin on a crank turns a slotted wheel by one slot each turn; a disc locks it.

    The pin enters the slots along their walls, at the radius r = distance sin(pi / slots), so that nothing
    hits but what play leaves. With m = r / distance, the crank at theta from the line of shafts turns the
    wheel at m (cos theta - m) / (1 + m^2 - 2 m cos theta) times its speed, at most m / (1 - m), and does so
    while it turns by pi - 2 pi / slots; for the rest of a turn the wheel is locked, [Norton2008] section 2.
    "crank_shaft", which starts at `speed` on the far side, is actuated; "wheel_shaft" is the angle of the
    wheel. Surfaces: "pin" and "disc" of the crank, "wheel".

    Args:
        slots: Of the wheel, 3 to 12.
        distance: Between the shafts [m].
        pin: Radius of the pin [m].
        play: Between pin and walls, and between disc and wheel [m].
        speed: Of the crank at the start [rad/s].
        flywheel: Inertia on the shaft of the crank [kg m^2].
        friction: Coefficient of friction of all surfaces.
    """
    arm = distance * math.sin(math.pi / slots)
    lock, bottom = arm - 3 * pin, distance - arm - 2 * pin
    if not (3 <= slots <= 12 and pin > 0 and lock > 2 * pin and bottom > 1.2 * pin and 0 < play < 0.1 * pin):
        raise InputError(
            "geneva_drive needs 3 to 12 slots, a pin that is small for crank and wheel, and 0 < play <"
            f" pin / 10, got slots = {slots}, pin = {pin:g}, play = {play:g} at distance = {distance:g}."
        )
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="geneva_drive")
    wheel = Profile(_slotted(slots, distance, pin + play, lock + play, bottom), WIDTH, density=2700.0)
    open_by = math.pi / 2 - math.pi / slots
    far = arc_bulge(math.pi - open_by)
    cut = (0.0, 0.0)  # a wedge: the rim of the wheel passes through all of it
    locking = [(*on_circle(lock, open_by), far), (-lock, 0.0, far), on_circle(lock, -open_by), cut]
    disc, round_pin = Profile(locking, WIDTH, density=2700.0), Cylinder(pin, 2 * WIDTH)
    bar = Box((arm, 2 * pin, 0.5 * WIDTH), at=Pose((0.5 * arm, 0, -WIDTH)), density=2700.0)
    at_pin = Pose((arm, 0, 0))
    spec.part("crank", shape=[disc, bar, Cylinder(pin, 2 * WIDTH, at=at_pin, density=7800.0)])
    spec.part("wheel", at=Pose((distance, 0, 0)), shape=wheel)
    spec.joint("crank_shaft", "ground", "crank", HINGE, at=(0, 0, 0), armature=flywheel)
    spec.joint("wheel_shaft", "ground", "wheel", HINGE, at=(distance, 0, 0), damping=1e-4)
    spec.surface("pin", "crank", round_pin, at=at_pin, friction=friction)
    spec.surface("disc", "crank", disc, friction=friction)
    spec.surface("wheel", "wheel", wheel, at=Pose((distance, 0, 0)), friction=friction)
    spec.contact("pin", "wheel").contact("disc", "wheel").actuate("crank_shaft")
    return compile_at(spec, [math.pi, 0.0], [speed, 0.0])


def _slotted(slots: int, distance: float, half: float, lock: float, bottom: float) -> list[tuple[float, ...]]:
    """Outline of a Geneva wheel about its shaft: arcs around the crank's disc, and slots between them."""
    step = math.pi / slots
    rim = distance * math.cos(step)
    wide = math.acos((distance**2 + rim**2 - lock**2) / (2 * distance * rim))  # half an arc, from the shaft
    seen = math.atan2(rim * math.sin(wide), distance - rim * math.cos(wide))  # the same from the crank
    mouth = math.asin(half / rim)
    land = arc_bulge(step - wide - mouth)
    outline: list[tuple[float, ...]] = []
    for k in range(slots):
        towards = math.pi + 2 * step * k
        slot = towards + step
        c, s = math.cos(slot), math.sin(slot)
        outline += [
            (*on_circle(rim, towards - wide), -arc_bulge(2 * seen)),
            (*on_circle(rim, towards + wide), land),
            on_circle(rim, slot - mouth),
            (bottom * c + half * s, bottom * s - half * c, -1.0),
            (bottom * c - half * s, bottom * s + half * c),
            (*on_circle(rim, slot + mouth), land),
        ]
    return outline


@checked
def flying_follower(
    eccentricity: float = 0.01,
    radius: float = 0.03,
    mass: float = 0.2,
    stiffness: float = 2000.0,
    preload: float = 10.0,
    speed: float = 100.0,
    flywheel: float = 0.05,
    friction: float = 0.0,
    restitution: float = 0.0,
    gravity: float = 9.81,
) -> Mechanism:
    """A round eccentric cam that lifts a flat-faced follower against a spring, and loses it above a speed.

    With e = eccentricity, the face moves by e sin(angle). The cam pushes with preload + m g + k (e + e sin)
    - m e w^2 sin, which is zero first at the top: above

        w_c = sqrt((2 k e + preload + m g) / (m e))

    the follower lifts off there, flies and lands on the way up, [Norton2008] section 15. "shaft", which
    starts at `speed` with the follower at mid height, is actuated; "guide" is the follower. Surfaces: "cam"
    and "face". Measure: "height" of the face.

    Args:
        eccentricity: Of the cam [m]; half the lift.
        radius: Of the cam [m].
        mass: Of the follower [kg].
        stiffness: Of the spring [N/m].
        preload: Force of the spring where the follower is lowest [N].
        speed: Of the cam at the start [rad/s].
        flywheel: Inertia on the shaft [kg m^2].
        friction: Coefficient of friction between cam and face.
        restitution: Of the face where it lands.
        gravity: Gravity along -y [m/s^2].
    """
    if not 0 < eccentricity < radius:
        raise InputError(
            "flying_follower needs 0 < eccentricity < radius, got"
            f" eccentricity = {eccentricity:g}, radius = {radius:g}."
        )
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="flying_follower")
    cam = Profile(
        [(-radius, 0.0, 1.0), (radius, 0.0, 1.0)], WIDTH, at=Pose((eccentricity, 0, 0)), density=7800.0
    )
    face = Box((2.4 * radius, 0.004, WIDTH), at=Pose((0, 0.002, 0)), mass=0.5 * mass)
    stem = Box((0.01, 2 * radius, WIDTH), at=Pose((0, radius, 0)), mass=0.5 * mass)
    spec.part("cam", shape=cam)
    spec.part("follower", at=Pose((0, radius + ABOVE, 0)), shape=[face, stem])
    spec.joint("shaft", "ground", "cam", HINGE, at=(0, 0, 0), armature=flywheel)
    spec.joint("guide", "ground", "follower", Prismatic("y"), at=(0, radius + ABOVE, 0))
    lowest = -eccentricity - ABOVE
    spec.force("spring", JointSpring("guide", stiffness, rest=lowest - preload / stiffness))
    spec.surface("cam", "cam", cam, friction=friction)
    upside_down = Pose((0, radius + ABOVE, 0))
    spec.surface("face", "follower", HalfSpace((0, -1, 0)), at=upside_down, restitution=restitution)
    spec.contact("cam", "face").actuate("shaft")
    spec.measure("height", Position("follower", (0, 0, 0)), frame="body")
    return compile_at(spec, [0.0, 0.0], [speed, eccentricity * speed])
