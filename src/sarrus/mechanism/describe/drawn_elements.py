"""Elements of machines, as drawn: cylinders, linear actuators, bushings, planetary sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import mapping, number, numbers, positive, positive_whole, text
from ...constraints.couplings import Drive
from ...constraints.gears import Gear
from ...constraints.moving_distances import Span
from ...errors import InputError, warn
from ...models.base.pose import Pose
from ...models.kinds.bushing import Bushing
from ...models.kinds.point_pair import check_pair
from ...models.shapes.shapes import STEEL, Cylinder, Tube
from ...models.tree.bodies import check_limits
from ...models.tree.joints import Prismatic, Revolute, Spherical, Universal
from ...varied import hypot, is_varied
from .contact_declarations import ContactDeclarations
from .recipe import declares

BARREL, ROD, GUIDE = (
    0.6,
    0.5,
    0.55,
)  # ends of barrel and rod and place of the slide, of the distance of the eyes
SAME_LENGTH = 1e-6  # of the drawn length


@dataclass(frozen=True)
class _Extension:
    """Length of a cylinder beyond that in the drawing, as a function of time."""

    length: Callable[[float], float]
    drawn: float

    def __call__(self, t: float) -> float:
        return self.length(t) - self.drawn


def _extension(length: object, drawn: float, what: str) -> _Extension:
    """The drive of a cylinder by length, checked at t = 0."""
    if not callable(length):
        raise InputError(
            f"length of {what} must be a function f(t) of the time [s], the distance of the eyes [m], got"
            f" {length!r:.80}; for a constant give `lambda t: value`."
        )
    start = number(length(0.0), f"length of {what} at t = 0")
    if is_varied(drawn):
        return _Extension(length, drawn)
    if not 0.5 * drawn <= start <= 2.0 * drawn:
        raise InputError(
            f"{what} is drawn {drawn:.6g} m long, but its length at t = 0 is {start:.6g} m, not within half"
            " and twice of that; give the distance of the eyes, in metres, not how much longer it becomes."
        )
    if abs(start - drawn) > SAME_LENGTH * drawn:
        warn(
            f"{what} is drawn {drawn:.9g} m long, but its length at t = 0 is {start:.9g} m: it starts there,"
            " not as drawn."
        )
    return _Extension(length, drawn)


def _within(stroke: Sequence[float | None], drawn: float, what: str) -> tuple[float, float]:
    """Limits of the coordinate of a drive from those of its length, of which `drawn` [m] is one."""
    low, high = check_limits(stroke, f"stroke of {what}")
    if -math.inf < low < 0.0:
        raise InputError(
            f"stroke of {what} must be distances of its eyes, shortest and longest [m], not negative, got"
            f" {low:g} to {high:g}; it is drawn {drawn:.6g} m long."
        )
    if not low <= drawn <= high:
        raise InputError(f"{what} is drawn {drawn:.6g} m long, outside its stroke {low:g} to {high:g} m.")
    return low - drawn, high - drawn


class DrawnElements(ContactDeclarations):
    """Cylinders, actuators, bushings and planetary sets."""

    @declares
    def cylinder(
        self,
        name: str,
        a: str,
        base: str | ArrayLike,
        b: str,
        eye: str | ArrayLike,
        *,
        axis: ArrayLike | str | None = None,
        mass: Sequence[float] | None = None,
        stroke: Sequence[float | None] | None = None,
        length: Callable[[float], float] | None = None,
        slide: Mapping[str, Any] | None = None,
    ) -> Self:
        """Add a hydraulic cylinder or another linear drive between two points.

        It has a barrel "name_barrel" on body a, a rod "name_rod" on body b, pins "name_base" and "name_eye"
        and the coordinate `name`: how much longer it is than in the drawing [m]. By default it is driven by
        force: `name` is actuated, positive where it pushes. Pressure p on a piston of area A gives p A.
        `ForceIn(name)` is the force in it, whatever drives it.

        Args:
            name: Unique among bodies, parts and joints.
            a: Body, part or "ground" that holds the barrel.
            base: Where, name of a point or a point in the world [m], (3,).
            b: Body, part or "ground" that holds the rod.
            eye: Where, likewise.
            axis: Pins at both ends turn about this axis: "x", "y", "z" or a vector in the world. None: a
                universal joint at the base and a ball at the eye.
            mass: Of barrel and rod [kg]; default: steel bars of a twentieth of their length.
            stroke: Shortest and longest distance of the eyes [m], limits of the coordinate.
            length: Distance of the eyes as a function of time [s] -> [m], twice differentiable: driven by
                length instead of by force, as by a `Drive` called "name_length". It begins as long as drawn.
            slide: Options of the slide, as of `joint`: damping, friction, friction_model, ....

        Returns:
            This spec.
        """
        what = f"cylinder {text(name, 'the name of a cylinder')!r}"
        p, q = (np.array(self._place(end, f"an end of {what}")) for end in (base, eye))
        drawn = hypot(*(q - p).tolist())
        if drawn == 0.0:
            raise InputError(f"{what}: its two eyes coincide.")
        masses: Sequence[Any] = (None, None) if mass is None else numbers(mass, f"mass of {what}", 1).tolist()
        if len(masses) != 2:
            raise InputError(f"mass of {what} must be two numbers, of barrel and rod, got {mass!r}.")
        options = dict(
            mapping({} if slide is None else slide, f"slide of {what}", "{option of joint: value}")
        )
        if stroke is not None:
            options["limits"] = _within(stroke, drawn, what)
        ends = (Universal("y", "z"), Spherical()) if axis is None else (Revolute(axis), Revolute(axis))  # type: ignore[arg-type]
        barrel, rod = f"{name}_barrel", f"{name}_rod"
        self.link(barrel, p, p + BARREL * (q - p), mass=masses[0]).link(
            rod, p + ROD * (q - p), q, mass=masses[1]
        )
        along = Pose.looking_at(p + GUIDE * (q - p), q, "x")
        at_base: Any = Pose.looking_at(p, q, "x") if axis is None else p
        self.joint(f"{name}_base", a, barrel, ends[0], at=at_base)
        self.joint(name, barrel, rod, Prismatic("x"), at=along, **options)
        self.joint(f"{name}_eye", rod, b, ends[1], at=q, coordinate=axis is not None)
        if length is None:
            return self.actuate(name)
        return self.constrain(f"{name}_length", Drive(name, _extension(length, drawn, what)))

    @declares
    def actuator(
        self,
        name: str,
        a: str,
        base: str | ArrayLike,
        b: str,
        eye: str | ArrayLike,
        *,
        armature: float,
        limits: Sequence[float | None] | None = None,
        stroke: Sequence[float | None] | None = None,
    ) -> Self:
        """Add an actuator along the line between two points, without bodies of its own.

        The coordinate `name` is how much further apart the points are than in the drawing [m]. It is
        actuated: force in N, positive where it pushes them apart. `Drive`, `CoulombFriction`, `EndStop` and
        forces on coordinates act along the line by that name; `ForceIn("name_line")` is the force in it.

        Args:
            name: Unique among bodies, parts and joints.
            a: Body, part or "ground".
            base: Point of it in the drawing, by name or in the world [m], (3,).
            b: Another body, part or "ground".
            eye: Point of it, likewise.
            armature: Mass that moves along the line [kg], positive: the rod, and behind a screw the motor,
                its inertia times (2 pi / lead)^2.
            limits: Of the force [N], (lower, upper), as of `actuate`.
            stroke: Shortest and longest distance of the points [m], limits of the coordinate.

        Returns:
            This spec.
        """
        what = f"actuator {text(name, 'the name of an actuator')!r}"
        check_pair(a, b, what)
        p, q = (np.array(self._place(end, f"an end of {what}")) for end in (base, eye))
        drawn = hypot(*(q - p).tolist())
        options: dict[str, Any] = {} if stroke is None else {"limits": _within(stroke, drawn, what)}
        world, free = self._drawn_places(), Pose()
        p_a, p_b = (world.get(body, free).inverse().apply(end) for body, end in ((a, p), (b, q)))
        slide = {"mass": 0.0, "armature": positive(armature, f"armature of {what}"), **options}
        self.body(name, joint=Prismatic("x"), at=Pose.looking_at(p, q, "x"), **slide)
        self.actuate(name, limits=limits)
        return self.constrain(f"{name}_line", Span(a, p_a, b, p_b, name, drawn), frame="body")

    @declares
    def bushing(
        self,
        name: str,
        a: str,
        b: str,
        at: str | ArrayLike | Pose,
        stiffness: ArrayLike,
        damping: ArrayLike = (0.0,) * 6,
    ) -> Self:
        """Add an elastic joint where it is drawn; it pulls nothing in the drawing. See `Bushing`.

        Args:
            name: Unique among forces.
            a: Body, part or "ground" whose axes count.
            b: Another one.
            at: Name of a point, or a point in the world [m] (3,): axes are the world's; or a Pose there.
            stiffness: Three translations, then three rotations [N/m, N m/rad], (6,), or coupled (6, 6).
            damping: Likewise [N s/m, N m s/rad].

        Returns:
            This spec.
        """
        for end in (a, b):
            text(end, f"a body of bushing {name!r:.80}")
        X_W = at if isinstance(at, Pose) else Pose(self._place(at, f"at of bushing {name!r}"))
        world = self._drawn_places()
        frames = [world[end].inverse() @ X_W if end in world else Pose() for end in (a, b)]
        return self.force(name, Bushing(a, b, frames[0], frames[1], stiffness, damping))

    @declares
    def planetary(
        self,
        name: str,
        at: str | ArrayLike | Pose,
        *,
        sun: int,
        planet: int,
        module: float,
        planets: int = 3,
        width: float | None = None,
        density: float = STEEL,
        carrier: str = "ground",
    ) -> Self:
        """Add a planetary gear set about the z axis of `at`: sun, ring, arm and planets.

        Its coordinates are "name_sun", "name_ring" and "name_arm", relative to the carrier, and those of
        the planets on the arm, "name_planet0", .... It has two freedoms: hold one of the three by a Coupling
        or a Drive. With teeth z_s and z_r = z_s + 2 z_p, [Shigley2011] section 13-13:

            z_s w_sun + z_r w_ring = (z_s + z_r) w_arm

        Args:
            name: Of the set.
            at: Centre, name of a point, or a point in the world [m] (3,), or a Pose whose z is the axis.
            sun: Teeth of the sun.
            planet: Teeth of a planet.
            module: Pitch diameter over teeth [m].
            width: Of the gears [m]; default ten modules.
            planets: Number of planets, evenly spaced; (sun + ring teeth) must be a multiple of it, and the
                tips of their teeth must not touch.
            density: Of all parts [kg/m^3].
            carrier: Body, part or "ground" that carries the shafts.

        Returns:
            This spec.
        """
        what = f"of planetary set {name!r}"
        z_s, z_p = positive_whole(sun, f"sun {what}"), positive_whole(planet, f"planet {what}")
        count = positive_whole(planets, f"planets {what}")
        ring = z_s + 2 * z_p
        if (z_s + ring) % count:
            raise InputError(
                f"planetary set {name!r} cannot be assembled with {count} planets: the teeth of sun and ring,"
                f" {z_s} + {ring}, must be a multiple of {count}."
            )
        least = math.asin((z_p + 2) / (z_s + z_p)) if z_s > 2 else math.pi / 2  # half of a planet's angle
        if count > 1 and count * least >= math.pi:
            raise InputError(
                f"planetary set {name!r}: {count} planets of {z_p} teeth do not fit beside each other: tips"
                f" of their teeth, {z_p} + 2 modules across, leave room for at most"
                f" {max(1, math.ceil(math.pi / least) - 1)}."
            )
        m, b = positive(module, "module"), 10.0 * module if width is None else positive(width, "width")
        centre = at if isinstance(at, Pose) else Pose(self._place(at, f"at of planetary set {name!r}"))
        r_s, r_p, r_arm = 0.5 * m * z_s, 0.5 * m * z_p, 0.5 * m * (z_s + z_p)
        r_r = 0.5 * m * ring

        def shaft(part: str, solid: Any, where: Pose, on: str) -> None:
            self.part(f"{name}_{part}_body", at=where, shape=solid)
            self.joint(f"{name}_{part}", on, f"{name}_{part}_body", Revolute("z"), at=where)

        behind = Pose((0.0, 0.0, -0.625 * b))  # the arm is a disc behind the gears
        shaft("sun", Cylinder(r_s, b, density=density), centre, carrier)
        shaft("ring", Tube(r_r + 2 * m, r_r, b, density=density), centre, carrier)
        shaft("arm", Cylinder(r_arm, 0.25 * b, density=density, at=behind), centre, carrier)
        for i in range(count):
            turn = Pose(rpy=(0.0, 0.0, 2 * math.pi * i / count)) @ Pose((r_arm, 0.0, 0.0))
            shaft(f"planet{i}", Cylinder(r_p, b, density=density), centre @ turn, f"{name}_arm_body")
            mesh: dict[str, Any] = {"module": m, "teeth_a": z_p}
            self.constrain(
                f"{name}_mesh{i}_sun", Gear(f"{name}_planet{i}", f"{name}_sun", teeth_b=z_s, **mesh)
            )
            inner = Gear(f"{name}_planet{i}", f"{name}_ring", teeth_b=ring, kind="internal", **mesh)
            self.constrain(f"{name}_mesh{i}_ring", inner)
        return self
