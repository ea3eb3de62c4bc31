"""Measures of places and motions: lengths, angles, positions, speeds, coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, point, text
from ...errors import InputError, warn
from ...models.base.axes import Axis, canonical_axis, direction
from ...models.base.kind import Checks
from ...models.kinds.point_pair import PointPair, check_pair
from ...models.twists import twist_slices
from ...stepped_numbers import direction_of, size
from .measure import Measure
from .measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["Angle", "Coordinate", "Length", "Position", "Speed"]

UNSURE_TURN = 0.25  # of a turn: number of turns between two states that is so far from whole may be wrong


@dataclass(frozen=True)
class Length(PointPair, Measure):
    """Distance between a point of body a and a point of body b [m], positive.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,), or the name of a point of the drawing.
        b: Second body.
        p_b: Likewise on b.
    """

    unit: ClassVar[str] = "m"
    of_places: ClassVar[bool] = True

    def values(self, states: MeasuredStates) -> Array:
        return np.asarray(size(states.place(self.b, self.p_b) - states.place(self.a, self.p_a)))


@dataclass(frozen=True)
class Angle(Measure):
    """Angle by which b is turned against a about an axis of a [rad]: from a direction of a to one of b.

    Signed, between -pi and pi at a single pose, continuous along a run. Directions are seen along the axis.

    Args:
        a: First body.
        b: Second body.
        axis: "x", "y", "z" or a vector (3,) in the frame of a.
        direction_a: "x", "y", "z" or a vector (3,) in the frame of a; default: the axis of that frame that
            follows `axis` in x, y, z, x (for a vector: x).
        direction_b: Likewise in the frame of b.
    """

    unit: ClassVar[str] = "rad"
    continues: ClassVar[bool] = True
    of_places: ClassVar[bool] = True
    checks: ClassVar[Checks] = dict.fromkeys(("axis", "direction_a", "direction_b"), canonical_axis)
    a: str
    b: str
    axis: Axis = "z"
    direction_a: Axis | None = None
    direction_b: Axis | None = None

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, "an Angle")
        follows = {"x": "y", "y": "z", "z": "x"}.get(self.axis if isinstance(self.axis, str) else "", "x")
        for name in ("direction_a", "direction_b"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, follows)
        super().__post_init__()
        assert self.direction_a is not None
        if np.linalg.norm(np.cross(direction(self.axis), direction(self.direction_a))) < 1e-9:
            raise InputError("direction_a of Angle must not be parallel to its axis.")

    def values(self, states: MeasuredStates) -> Array:
        assert self.direction_a is not None and self.direction_b is not None
        (R_a, _), (R_b, _) = states.frames(self.a), states.frames(self.b)
        axis, one = R_a @ direction(self.axis), R_a @ direction(self.direction_a)
        other = R_b @ direction(self.direction_b)
        along = [np.sum(axis * x, axis=-1) for x in (one, other)]
        sine = np.sum(axis * np.cross(one, other), axis=-1)
        return np.asarray(direction_of(sine, np.sum(one * other, axis=-1) - along[0] * along[1]))

    def continued(self, states: MeasuredStates) -> Array:
        """Values along a run (B,) that go on beyond pi: whole turns as the coordinates say.

        Hinges count their turns themselves; those of ball joints and free bodies follow from their velocities
        at both ends of an interval.
        """
        mech, found, dt = states.mech, self.values(states), np.diff(states.t)[:, None]
        moved = mech.difference(states.q[:-1], states.q[1:])
        for twist in twist_slices(mech.model):
            moved[:, twist] = 0.5 * dt * (states.v[:-1, twist] + states.v[1:, twist])
        axis = states.frames(self.a)[0] @ direction(self.axis)
        turns = np.zeros(len(moved))
        for q, along in ((states.q[:-1], axis[:-1]), (states.q[1:], axis[1:])):
            turning = mech.velocity(q, moved, self.b)[:, 3:] - mech.velocity(q, moved, self.a)[:, 3:]
            turns += np.sum(along * turning, axis=-1) / (4.0 * np.pi)
        missing = turns - np.diff(found) / (2.0 * np.pi)
        if np.any(np.abs(missing - np.round(missing)) > UNSURE_TURN):
            warn(
                f"The Angle from {self.a!r} to {self.b!r} turns so far between two kept states that its"
                " whole turns may be miscounted; keep more states (t_eval, store_every)."
            )
        return found + 2.0 * np.pi * np.concatenate([[0.0], np.cumsum(np.round(missing))])


@dataclass(frozen=True)
class _AtPoint(Measure, base=True):
    """Of a point of a body.

    Args:
        body: Its name.
        point: In the frame of the body [m], (3,), or the name of a point of the drawing.
    """

    columns: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    checks: ClassVar[Checks] = {"point": point}
    body: str
    point: ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Position(_AtPoint):
    """A point of a body in the world [m], (3,): Position(body, point)."""

    unit: ClassVar[str] = "m"
    of_places: ClassVar[bool] = True

    def values(self, states: MeasuredStates) -> Array:
        return states.place(self.body, self.point)


@dataclass(frozen=True)
class Speed(_AtPoint):
    """Velocity of a point of a body in the world [m/s], (3,): Speed(body, point)."""

    unit: ClassVar[str] = "m/s"

    def values(self, states: MeasuredStates) -> Array:
        return states.speed(self.body, self.point)


@dataclass(frozen=True)
class Coordinate(Measure):
    """A coordinate of a joint [rad], [m], zero as drawn: Coordinate("pin").

    Args:
        coordinate: Its name, see `Mechanism.names`; components of ball and free joints have no position.
    """

    unit: ClassVar[str] = "rad, m"
    checks: ClassVar[Checks] = {"coordinate": text}
    coordinate: str

    def check(self, mech: Mechanism, where: str) -> None:
        mech.model.structure.tree.scalar(self.coordinate, where)

    def values(self, states: MeasuredStates) -> Array:
        entry, _ = states.mech.model.structure.tree.scalar(self.coordinate, "measure")
        return states.q[:, entry]
