"""Elements of drives by formulas: belts that stretch and slip, one-way clutches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ...arrays import Array, nonnegative, positive, text, truth
from ...constraints.pulleys import Belt
from ...errors import ModelError
from ...models.base.pose import Pose
from ...models.kinds.formula_force import FormulaForce
from ...models.tree.bodies import GROUND
from ...models.tree.joint import Joint
from .drawn_elements import DrawnElements
from .recipe import declares

SHARE = 1e-3  # of the relaxation of a clutch that is let go [s]
SMALL = 1e-4  # usual stretch of a belt [m], and wind-up of a clutch [rad]


class _Shaft(NamedTuple):
    """A hinge on the ground: the body that turns, a point of the axis, the axis, that point on the body."""

    body: str
    centre: Array
    axis: Array
    point: tuple[float, ...]


class DriveElements(DrawnElements):
    """Belts and clutches."""

    @declares
    def elastic_belt(
        self,
        name: str,
        a: str,
        b: str,
        radius_a: float,
        radius_b: float,
        *,
        stiffness: float,
        pretension: float,
        damping: float = 0.0,
        friction: float | None = None,
        groove: float = math.pi,
        crossed: bool = False,
    ) -> Self:
        """Add a belt that stretches, goes slack and slips between two pulleys with parallel axes.

        One strand pulls with F + k e, the other with F - k e, neither with less than nothing; e is how far a
        is ahead of b along the belt. With friction the belt slips where the ratio of both reaches
        exp(mu angle / sin(groove / 2)), [Shigley2011] section 17-2; e is a state called `name` then. Shafts
        bear the pull of both strands. `ForceIn("NAME_a")` is the wrench on a, (6,), in world axes.

        Args:
            name: Of the belt.
            a: Hinge on the ground that carries the first pulley.
            b: Hinge of the second one.
            radius_a: Pitch radius [m].
            radius_b: Likewise.
            stiffness: k of each strand [N/m].
            pretension: F, force in each strand without load [N].
            damping: Of each strand [N s/m].
            friction: mu between belt and pulleys; None: no slip.
            groove: Angle of the groove of a V-belt [rad]; default: a flat belt.
            crossed: Whether the strands cross.

        Returns:
            This spec.
        """
        what = f"belt {text(name, 'the name of a belt')!r}"
        k, F = positive(stiffness, f"stiffness of {what}"), positive(pretension, f"pretension of {what}")
        c = nonnegative(damping, f"damping of {what}")
        belt = Belt(a, b, radius_a, radius_b, truth(crossed, f"crossed of {what}"), F)
        ends = [self._shaft(end, what) for end in (a, b)]
        lines = [(end.centre, end.axis) for end in ends]
        r_a, r_b = belt.rates(lines[0], lines[1], what)
        rate = r_a * self.speed(a) - r_b * self.speed(b)
        if friction is None:
            stretch = r_a * self.coordinate(a) - r_b * self.coordinate(b)
        else:
            turned = positive(friction, f"friction of {what}") * _wrap(belt, lines)
            ratio = math.exp(turned / math.sin(0.5 * positive(groove, f"groove of {what}")))
            most = F / k * (ratio - 1.0) / (ratio + 1.0)
            rate = _sliding(self.coordinate(name), rate, most)
            stretch = self.state(name, rate, size=most)
        more = k * stretch + c * rate
        strands = [np.maximum(F + more, 0.0), np.maximum(F - more, 0.0)]
        for end, wrench in zip("ab", _pulls(belt, lines, strands), strict=True):
            shaft = ends["ab".index(end)]
            force = FormulaForce(wrench, body=shaft.body, point=shaft.point, axes="world")
            self._force(f"{name}_{end}", force)
        return self

    @declares
    def one_way_clutch(
        self,
        name: str,
        coordinate: str,
        other: str | None = None,
        *,
        stiffness: float,
        damping: float = 0.0,
    ) -> Self:
        """Add a one-way clutch: a coordinate may run ahead of another, not stay back (freewheel, sprags).

        It winds up like a spring where it holds; its wind-up is a state called `name`, zero or negative. The
        torque on `coordinate` is positive or zero, `other` gets the opposite.

        Args:
            name: Of the clutch.
            coordinate: What may run ahead.
            other: What it must not fall behind; None: the ground, so that it never turns back (a backstop).
            stiffness: [N m/rad].
            damping: [N m s/rad], where it holds.

        Returns:
            This spec.
        """
        what = f"clutch {text(name, 'the name of a clutch')!r}"
        k, c = positive(stiffness, f"stiffness of {what}"), nonnegative(damping, f"damping of {what}")
        ahead = self.speed(coordinate) - (0.0 if other is None else self.speed(other))
        wound = self.coordinate(name)
        holds = np.heaviside(0.0 - wound, 0.0)
        rate = np.minimum(ahead, 0.0) + holds * np.maximum(ahead, 0.0) - np.maximum(wound, 0.0) / SHARE
        self.state(name, rate, size=SMALL)
        torque = holds * np.maximum(0.0 - k * wound - c * ahead, 0.0)
        pair: Sequence[str] = (coordinate,) if other is None else (coordinate, other)
        return self._force(f"{name}_torque", FormulaForce([torque, -torque][: len(pair)], coordinate=pair))

    def _shaft(self, name: str, what: str) -> _Shaft:
        """A hinge on the ground, as declared or as drawn."""
        drawn = self._joints.get(name)
        if drawn is not None:
            parent, body, at, joint = drawn.a, drawn.b, drawn.body.at, drawn.body.joint
            frame = self._drawn_places()[body]
        else:
            self._require_bodies([name], what)
            one = self._coordinates.bodies[name]
            parent, body, at, joint, frame = one.parent, name, one.at, one.joint, one.at
        if parent != GROUND or not joint.is_hinge:
            raise ModelError(
                f"{what}: {name!r} must be a hinge that is declared from the ground, got {joint.label()} on"
                f" {parent!r}."
            )
        return _Shaft(body, at.xyz, _axis(at, joint), tuple(frame.inverse().apply(at.xyz).tolist()))


def _axis(at: Pose, joint: Joint) -> Array:
    return np.asarray(at.rotation @ np.array(joint.primitives()[0].axis))


def _wrap(belt: Belt, lines: Sequence[Any]) -> float:
    """The smaller angle over which a belt touches a pulley [rad]."""
    (p_a, n), (p_b, _) = lines
    apart = np.asarray(p_b - p_a) - ((p_b - p_a) @ n) * n
    least, most = sorted((float(belt.radius_a), float(belt.radius_b)))
    if belt.crossed:
        return math.pi + 2.0 * math.asin((least + most) / float(np.linalg.norm(apart)))
    return math.pi - 2.0 * math.asin((most - least) / float(np.linalg.norm(apart)))


def _sliding(stretch: Any, slip: Any, most: float) -> Any:
    """Rate of the stretch of a belt that slips beyond `most`, where it goes back."""
    over, under = stretch - most, -stretch - most
    held = np.heaviside(over, 1.0) * np.heaviside(slip, 0.0)
    held = held + np.heaviside(under, 1.0) * np.heaviside(-slip, 0.0)
    back = np.maximum(over, 0.0) - np.maximum(under, 0.0)
    return slip * (1.0 - held) - back / SHARE


def _pulls(belt: Belt, lines: Sequence[Any], strands: Sequence[Any]) -> list[list[Any]]:
    """Wrenches of two strands on both pulleys about points of their axes, world axes."""
    (p_a, n), (p_b, _) = lines
    line = np.asarray(p_b - p_a) - ((p_b - p_a) @ n) * n
    distance = float(np.linalg.norm(line))
    along, up = line / distance, np.cross(n, line / distance)
    r_b = -belt.radius_b if belt.crossed else belt.radius_b
    found: list[list[Any]] = [[0.0] * 6, [0.0] * 6]
    for side, strand in zip((1.0, -1.0), strands, strict=True):
        sine = side * (r_b - belt.radius_a) / distance
        pull = math.sqrt(1.0 - sine * sine) * along + sine * up
        normal = np.cross(n, pull)
        for k, (sign, radius) in enumerate(((1.0, belt.radius_a), (-1.0, r_b))):
            moment = np.cross(side * radius * normal, sign * pull)
            found[k] = [x + strand * y for x, y in zip(found[k], [*(sign * pull), *moment], strict=True)]
    return found
