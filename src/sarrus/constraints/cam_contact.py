"""Where a cam touches its follower, and along which normal: from the law of lift alone.

The follower's point P moves by c(P) per unit of its coordinate, the cam turns about the axis z through O, and
the lift has the slope s' by the angle of the cam. Surfaces that touch do not separate: their velocities agree
along the normal n ([Norton2008] section 8.6, by instant centres):

    n . (s' c(P) - z x (P - O)) = 0                                                                       (1)

A roller about P, or a tip at P, gives n by (1); its contact lies a radius before P. A flat face gives n, and
(1) for P on the face says where it touches. A follower that is pushed with the force F along its coordinate
(the multiplier) is pressed with N = F / (n . c) along n. The pressure angle lies between n and c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..models.base.pose import Pose
from ..models.tree.joint import Joint
from ..stepped_numbers import direction_of, size, unit
from .meshing import axis_line


@dataclass(frozen=True)
class Touch:
    """Where a cam touches: the point, the normal towards the follower, and c there, (3,), in the world."""

    point: Array
    normal: Array
    path: Array

    @property
    def push(self) -> Any:
        """n . c: the force along the follower's coordinate over that along the normal."""
        return self.normal @ self.path

    @property
    def pressure_angle(self) -> Any:
        """Between the normal and the way of the follower [rad], not negative."""
        across = self.path - self.push * self.normal
        return np.arctan2(size(across).real, self.push.real)


@dataclass(frozen=True)
class Follower:
    """How the follower moves: along an axis, or about one.

    Attributes:
        origin, axis: of its joint in the world.
        turns: whether its coordinate is an angle.
    """

    origin: Array
    axis: Array
    turns: bool

    @classmethod
    def of(cls, at: Pose, joint: Joint) -> Follower:
        """That of a body with this frame and joint."""
        return cls(*axis_line(at, joint), turns=joint.is_hinge)

    def path(self, P: Array) -> Array:
        """c of a point of it, per unit of its coordinate (3,)."""
        return np.cross(self.axis, P - self.origin) if self.turns else self.axis


def roller(follower: Follower, cam: tuple[Array, Array], slope: Any, P: Array, radius: Any) -> Touch:
    """Contact of a roller about P; a tip has the radius zero."""
    O, z = cam
    c, arm = follower.path(P), P - O
    n = unit(np.cross(z, slope * c - np.cross(z, arm)))
    n = n if (n @ arm).real > 0.0 else -n
    return Touch(P - radius * n, n, c)


def face(follower: Follower, cam: tuple[Array, Array], slope: Any, P: Array, normal: Array) -> Touch:
    """Contact of a flat face through P with this normal."""
    O, z = cam
    n = normal if (normal @ (P - O)).real > 0.0 else -normal
    t, turning = np.cross(z, n), follower.axis * float(follower.turns)
    share = 1.0 + slope * (n @ np.cross(turning, t))
    along = (n @ np.cross(z, P - O) - slope * (n @ follower.path(P))) / share
    at = P + along * t
    return Touch(at, n, follower.path(at))


def slope_of(knots: list[list[Any]], angle: Any) -> Any:
    """ds/dangle of a periodic spline with knots (x, c0, c1, c2, c3)."""
    x = angle - 2.0 * np.pi * np.floor((angle.real - knots[0][0].real) / (2.0 * np.pi))
    k = int(np.searchsorted([knot[0].real for knot in knots], x.real, side="right")) - 1
    at, _, c1, c2, c3 = knots[max(k, 0)]
    d = x - at
    return c1 + d * (2.0 * c2 + 3.0 * c3 * d)


def turned(at: Pose, X_WP: Pose, X_WB: Pose, joint: Joint) -> Any:
    """Angle of a hinge from the poses of what carries it and of its body, between -pi and pi."""
    axis: Any = joint
    n = np.asarray(axis.direction)
    one = unit(np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))]))
    other = at.rotation.T @ X_WP.rotation.T @ X_WB.rotation @ one
    return direction_of(np.asarray(n @ np.cross(one, other)), np.asarray(one @ other))
