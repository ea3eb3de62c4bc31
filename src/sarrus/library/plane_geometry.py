"""Plane geometry of linkages in the x-y plane: pins that close loops, intersections of circles, angles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, one_of
from ..constraints.points import PointOnLine
from ..errors import AssemblyError
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.tree.joint import Joint
from ..models.tree.joints import Fixed, Revolute, Spherical
from .mass_properties import bar

HINGE = Revolute("z")
CLOSURES: dict[str, Joint] = {"point": Spherical(), "revolute": HINGE, "weld": Fixed()}
PIN_KINDS = ("pin", *CLOSURES)

Point = Sequence[float] | Array
DrawnPoint = Sequence[Any]  # numbers or expressions of parameters, (2,) or (3,) [m]


def spatial(point: Point) -> tuple[float, float, float]:
    """A point of the plane, or of space, as a point of space [m], (3,)."""
    return (float(point[0]), float(point[1]), float(point[2]) if len(point) > 2 else 0.0)


def pin(
    spec: MechanismSpec,
    name: str,
    a: str,
    p_a: Point,
    b: str,
    p_b: Point,
    *,
    kind: str = "pin",
    turn: float = 0.0,
) -> None:
    """Close a planar loop: point p_b of body b stays at point p_a of body a.

    Args:
        spec: Description that gets the loop.
        name: Name of the loop.
        a: First body.
        p_a: Point on it [m], (2,) or (3,).
        b: Second body.
        p_b: Point on it [m], (2,) or (3,).
        kind: "pin" (the two rows that matter in a plane), "point" (3 rows), "revolute" (5) or "weld" (6).
        turn: Angle of b relative to a about z at which a weld holds it [rad].
    """
    one_of(kind, f"closure of loop {name!r}", PIN_KINDS)
    if kind == "pin":
        spec.constrain(name, PointOnLine(a, spatial(p_a), b, spatial(p_b), direction=(0.0, 0.0, 1.0)))
        return
    at_a = Pose(spatial(p_a), rpy=(0.0, 0.0, turn) if kind == "weld" else None)
    spec.close(name, a, b, joint=CLOSURES[kind], at_a=at_a, at_b=Pose(spatial(p_b)))


def circles_meet(p: Point, r: float, q: Point, s: float, side: int = 1) -> Array:
    """Where the circle of radius r about p meets the circle of radius s about q.

    Args:
        p: Centre of the first circle [m], (2,).
        r: Its radius [m].
        q: Centre of the second circle [m], (2,).
        s: Its radius [m].
        side: +1 for the point left of the line from p to q, -1 for the one right of it.

    Returns:
        The point [m], (2,).
    """
    start, line = np.array(p[:2], dtype=float), np.subtract(q[:2], p[:2])
    distance = float(np.hypot(*line))
    if not abs(r - s) <= distance <= r + s or distance == 0.0:
        raise AssemblyError(
            f"links of {r:g} m and {s:g} m cannot join two pins that are {distance:g} m apart; "
            "change a length or the angle of the crank."
        )
    along = 0.5 * (distance**2 + r**2 - s**2) / distance
    across = math.sqrt(max(r**2 - along**2, 0.0))
    x, y = line / distance
    return start + along * np.array([x, y]) + side * across * np.array([-y, x])


def drawn_circles_meet(p: DrawnPoint, r: Any, q: DrawnPoint, s: Any) -> tuple[Any, Any]:
    """The point left of the line from p to q at distance r from p and s from q; of expressions, (2,) [m]."""
    x, y = q[0] - p[0], q[1] - p[1]
    square = x * x + y * y
    along = (square + r * r - s * s) / (2 * square)
    across = np.sqrt(r * r / square - along * along)
    return p[0] + along * x - across * y, p[1] + along * y + across * x


def heading(p: Point, q: Point) -> float:
    """Angle of the line from p to q [rad]."""
    return math.atan2(q[1] - p[1], q[0] - p[0])


def wrap(angle: float) -> float:
    """The same angle in (-pi, pi] [rad]."""
    turned = math.remainder(angle, 2.0 * math.pi)
    return math.pi if turned == -math.pi else turned


def rotated(angle: float, point: Point) -> Array:
    """A point of the plane [m], (2,), turned about the origin by an angle [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def chain(
    spec: MechanismSpec, names: Sequence[str], lengths: Sequence[float], masses: Sequence[float], base: Pose
) -> None:
    """Uniform slender links hinged one after the other."""
    parent, at = "ground", base
    for name, length, mass in zip(names, lengths, masses, strict=True):
        spec.body(name, parent=parent, joint=HINGE, at=at, **bar(mass, length))
        parent, at = name, Pose((length, 0.0, 0.0))


def joint_angles(headings: Sequence[float]) -> list[float]:
    """Angles of the joints from the headings of the links [rad]."""
    return [wrap(q) for q in np.diff(headings, prepend=0.0)]


def on_circle(radius: float, angle: float) -> tuple[float, float]:
    """A point of a circle about the origin, at an angle from the x axis [rad]."""
    return radius * math.cos(angle), radius * math.sin(angle)


def arc_bulge(angle: float) -> float:
    """Bulge of an arc of a Profile over an angle, counterclockwise where it is positive [rad]."""
    return math.tan(angle / 4)
