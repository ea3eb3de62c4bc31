"""What a description takes as it is drawn: points, parts, links, and joints between any two of them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import one_of, text, triple, truth
from ...errors import InputError, ModelError, require_known, unknown_name, warn
from ...models.base.pose import Pose
from ...models.kinds.forces import FRAMES
from ...models.kinds.point_pair import check_pair
from ...models.shapes.shapes import Shape, combined, rod
from ...models.shapes.visual import Visual
from ...models.tree.bodies import (
    COPY,
    FRICTION_MODELS,
    FRICTION_SPEED,
    GROUND,
    Body,
    PerCoordinate,
    warn_of_inertia,
)
from ...models.tree.coordinates import CoordinateNames
from ...models.tree.joint import Joint
from ...models.tree.joints import Fixed
from ...varied import total
from .as_drawn import DrawnJoint, places
from .measure import POINTS
from .recipe import Recorded, declares
from .round_bars import mass_and_radius, sides_between

Triple = tuple[float, float, float]


class DrawnSpec(Recorded):
    """Points, parts and joints in world coordinates. The drawing is the pose with all coordinates zero."""

    _coordinates: CoordinateNames
    visuals: list[Visual]

    def __init__(self) -> None:
        super().__init__()
        self._points: dict[str, Triple] = {}
        self._parts: dict[str, Body] = {}
        self._joints: dict[str, DrawnJoint] = {}

    @declares
    def point(self, name: str, xyz: ArrayLike) -> Self:
        """Name a point of the drawing.

        Args:
            name: Unique among points.
            xyz: In the world [m], (3,).

        Returns:
            This spec.
        """
        text(name, "the name of a point")
        if name in self._points:
            raise ModelError(f"a point called {name!r} exists already; names must differ.")
        self._points[name] = triple(xyz, f"point {name!r}")
        return self

    @property
    def points(self) -> tuple[tuple[str, Triple], ...]:
        """Points of the drawing so far, in the world [m], by name."""
        return tuple(self._points.items())

    @declares
    def part(
        self,
        name: str,
        *,
        at: Pose | None = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        shape: Shape | Sequence[Shape] | None = None,
    ) -> Self:
        """Add a rigid part where it is drawn. `joint` ties it to others.

        Args:
            name: Unique among bodies, parts and joints.
            at: Its frame in the world; default: the world's.
            mass: [kg].
            com: Centre of mass in its frame [m], (3,).
            inertia: About the centre of mass in its axes [kg m^2], diagonal (3,) or matrix (3, 3).
            shape: Box, Cylinder, Plate, Tube, Sphere or Mesh, or several together, instead of mass data;
                pictures show it.

        Returns:
            This spec.
        """
        what = f"part {text(name, 'the name of a part')!r}"
        shapes: list[Shape] = []
        if shape is not None:
            if mass or np.any(np.asarray(com)) or np.any(np.asarray(inertia)):
                raise InputError(f"{what} takes a shape or mass data, not both.")
            shapes = _shapes(shape, what)
            mass, com, inertia = combined([one.mass_properties() for one in shapes])
        given: dict[str, Any] = {"mass": mass, "com": com, "inertia": inertia}
        body = Body(name, GROUND, Fixed(), Pose() if at is None else at, **given)
        warn_of_inertia(body, 3)
        self._new_name(name)
        self._coordinates.add(body)
        self._parts[name] = body
        self.visuals += [one.visual(name) for one in shapes]
        return self

    @declares
    def link(
        self,
        name: str,
        *points: str | ArrayLike,
        mass: float | None = None,
        diameter: float | None = None,
        density: float | None = None,
    ) -> Self:
        """Add a part made of straight round bars from point to point.

        Its frame stands at the first point, x towards the second, z as near to the world's as that allows
        (for a vertical link: to the world's y).

        Args:
            name: Unique among bodies, parts and joints.
            *points: Two or more, names or coordinates in the world [m], (3,).
            mass: [kg], spread evenly over its length; default: from diameter and density.
            diameter: [m]; default: a twentieth of its length. With a mass it matters about the link's own
                axis only.
            density: [kg/m^3]; default: steel.

        Returns:
            This spec.
        """
        what = f"link {text(name, 'the name of a link')!r}"
        if len(points) < 2:
            raise InputError(f"{what} needs two points or more, got {len(points)}.")
        corners = [self._place(point, f"a point of {what}") for point in points]
        sides = sides_between(points, corners, what)
        weight, radius = mass_and_radius(total(sides), mass, diameter, density, what)
        frame = Pose.from_points(corners[0], corners[1])
        local = frame.inverse()
        outline = [local.apply(corner) for corner in corners]
        shares = [weight * side / total(sides) for side in sides]
        ends = zip(itertools.pairwise(outline), shares, strict=True)
        whole = combined([rod(p, q, share, radius) for (p, q), share in ends])
        self.part(name, at=frame, mass=whole.mass, com=whole.com, inertia=whole.inertia)
        self._parts[name] = self._parts[name].again(outline=tuple(tuple(p.tolist()) for p in outline))
        return self

    @declares
    def joint(
        self,
        name: str,
        a: str,
        b: str,
        joint: Joint,
        at: str | ArrayLike | Pose,
        *,
        coordinate: bool = True,
        armature: PerCoordinate = 0.0,
        damping: PerCoordinate = 0.0,
        friction: PerCoordinate = 0.0,
        limits: Sequence[Any] | None = None,
        friction_speed: PerCoordinate = FRICTION_SPEED,
        stop_stiffness: PerCoordinate = 0.0,
        stop_damping: PerCoordinate = 0.0,
        friction_model: str = FRICTION_MODELS[0],
        breakaway: PerCoordinate = 0.0,
    ) -> Self:
        """Tie two bodies by a joint where it is drawn. Its coordinates are those of b relative to a.

        They are zero in the drawing, bear the name of the joint and can be actuated, driven, limited, swept
        and read, whichever joints the library cuts to close loops.

        Args:
            name: Unique among bodies, parts and joints.
            a: Body, part or "ground".
            b: Another one.
            joint: Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free or Fixed.
            at: Name of a point, or a point in the world [m] (3,): axes are the world's; or a Pose in the
                world: axes are its own.
            coordinate: False: where it closes a loop it has no coordinate, which saves rows.
            armature, damping, friction, limits, friction_speed, stop_stiffness, stop_damping, friction_model,
                breakaway: As in `body`.

        Returns:
            This spec.
        """
        what = f"joint {text(name, 'the name of a joint')!r}"
        for end in (a, b):
            known = isinstance(end, str) and (end == GROUND or end in self._coordinates.bodies)
            if not known or end in self._joints:
                others = [n for n in self._coordinates.bodies if n not in self._joints]
                raise unknown_name("body", end, [GROUND, *others], what)
        check_pair(a, b, what)
        X_WJ = at if isinstance(at, Pose) else Pose(self._place(at, f"at of {what}"))
        given = {
            "armature": armature, "damping": damping, "friction": friction, "limits": limits,
            "friction_speed": friction_speed, "stop_stiffness": stop_stiffness, "stop_damping": stop_damping,
            "friction_model": friction_model, "breakaway": breakaway,
        }  # fmt: skip
        try:
            body = Body(name, GROUND, joint, X_WJ, **given)  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(str(error).replace(f"body {name!r}", what)) from None
        truth(coordinate, f"coordinate of {what}")
        self._new_name(name)
        self._coordinates.add(body)
        self._joints[name] = DrawnJoint(body, a, b, coordinate)
        return self

    def _new_name(self, name: str) -> None:
        if name == GROUND or COPY in name:
            raise ModelError(f"{name!r} cannot be the name of a part or joint: it is ground's or has an '@'.")
        if name in self._coordinates.bodies:
            raise ModelError(f"a body, part or joint called {name!r} exists already; names must differ.")

    def _place(self, point: object, what: str) -> Triple:
        """A point of the world, by name or coordinates."""
        if not isinstance(point, str):
            return triple(point, what)
        require_known("point", point, self._points, what)
        return self._points[point]

    def _drawn_places(self) -> dict[str, Pose]:
        """Poses of bodies and parts in the world, as drawn."""
        drawn = self._parts | self._joints
        plain = [body for name, body in self._coordinates.bodies.items() if name not in drawn]
        return places(plain, self._parts)[0]

    def _joint_places(self) -> dict[str, Pose]:
        """Frames of joints in the drawing: a Cam's follower is named as its joint."""
        return {name: joint.body.at for name, joint in self._joints.items()}

    def _located(self, entry: Any, where: str, frame: str | None = None) -> Any:
        """A force, constraint or measure with all its points in the frames of its bodies."""
        if frame is not None:
            one_of(frame, f"frame of {where}", FRAMES)
        given, named = _given_points(entry), _named_points(entry)
        known = {GROUND, *self._coordinates.bodies}
        if (
            frame is None
            and not self._replayed
            and known.issuperset(getattr(entry, x) for x in given.values())
        ):
            for key in given.keys() - named.keys():
                self._require_frame(getattr(entry, given[key]), getattr(entry, key), where)
        moved = given if frame == "world" else named
        if not moved:
            return entry
        world, changed = self._drawn_places() | self._joint_places(), {}
        for key, field in moved.items():
            body, xyz = getattr(entry, field), self._place(getattr(entry, key), where)
            require_known("body", body, world, where)
            changed[key] = tuple(world[body].inverse().apply(xyz).tolist())
        return dataclasses.replace(entry, **changed)

    def _require_frame(self, body: str, xyz: Any, where: str) -> None:
        """Refuse a point of a part without a name: joints and links of a drawing take such in the world."""
        part = self._parts.get(body)
        if part is None or not any(xyz) or np.allclose(part.at.matrix, np.eye(4), atol=1e-12):
            return
        stands = tuple(np.round(part.at.xyz, 6).tolist())
        raise InputError(
            f"{where}: the point {tuple(map(float, xyz))} of {body!r} may be meant in the frame of {body!r},"
            f" which stands at {stands} in the drawing, or in the world, as link, joint, cylinder and"
            ' actuator take points. Say which: the name of a point (spec.point), frame="world" or'
            ' frame="body".'
        )

    def _as_drawn(self, force: Any, where: str) -> Any:
        """A force whose numbers that the drawing says are known."""
        world = self._drawn_places()
        if not all(body in world for body in force.bodies()):
            return force
        parts = any(body in self._parts for body in force.bodies())
        found, doubt = force.as_drawn(world, parts)
        if doubt and not self._replayed:
            warn(f"{where}: {doubt}")
        return found


def _shapes(shape: object, what: str) -> list[Shape]:
    shapes = [shape] if isinstance(shape, Shape) else shape
    if not isinstance(shapes, (list, tuple)) or not all(isinstance(one, Shape) for one in shapes):
        raise InputError(
            f"shape of {what} must be one of {', '.join(Shape.kinds)}, or a list of them, got {shape!r}."
        )
    return list(shapes)


def _given_points(entry: Any) -> dict[str, str]:
    """Fields of an entry that are given points, and the field of the body that each is on."""
    return {key: body for key, body in POINTS if getattr(entry, key, None) is not None}


def _named_points(entry: Any) -> dict[str, str]:
    """Those of the given points that are names of points of the drawing."""
    given = _given_points(entry)
    return {key: body for key, body in given.items() if isinstance(getattr(entry, key), str)}
