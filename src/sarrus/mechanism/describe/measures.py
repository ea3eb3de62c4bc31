"""Measures: what a user wants to read off a mechanism by name, at a pose, along a sweep or a run.

Every measure is computed for a batch of states at once, in the world unless it says otherwise.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, one_of, point, takes, text
from ...dynamics.reactions import FRAMES
from ...errors import InputError, SarrusWarning, require_known
from ...models.base.axes import Axis, canonical_axis, direction
from ...models.base.kind import Checks, Kind
from ...models.kinds.point_pair import PointPair, check_pair
from ...models.model import Model
from ...models.tree.bodies import GROUND
from ...models.twists import twist_slices
from ...stepped_numbers import direction_of, size
from .measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["Angle", "Coordinate", "ForceIn", "Length", "Position", "Reaction", "Speed"]

POINTS = (("p_a", "a"), ("p_b", "b"), ("point", "body"))  # fields that are points, and the body they are on
STILL = 1e-9  # of gravity over L: accelerations below are rounding
SMALL_LOAD = 1e-6  # of the largest entry of a reaction
UNSURE_TURN = 0.25  # of a turn: number of turns between two states that is so far from whole may be wrong


def points_on_bodies(entry: Any) -> list[tuple[str, ArrayLike]]:
    """Points (3,) of bodies that a force or a measure names."""
    named = [(point, body) for point, body in POINTS if getattr(entry, point, None) is not None]
    return [(getattr(entry, body), getattr(entry, point)) for point, body in named]


@dataclass(frozen=True)
class Measure(Kind):
    """Base of all measures.

    Attributes:
        unit: Of its values.
        columns: Names of the entries of a value that is an array.
        continues: Whether it is an angle that goes on beyond pi along runs and sweeps.
        of_places: Whether it needs nothing but frames of bodies.
        needs_motion: Whether it needs accelerations or forces.
        of_reactions: Whether it needs what joints carry.
    """

    unit: ClassVar[str] = ""
    columns: ClassVar[tuple[str, ...]] = ()
    continues: ClassVar[bool] = False
    of_places: ClassVar[bool] = False
    needs_motion: ClassVar[bool] = False
    of_reactions: ClassVar[bool] = False

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it looks at."""
        return tuple(getattr(self, name) for name in ("a", "b", "body") if hasattr(self, name))

    def places(self) -> list[tuple[str, ArrayLike]]:
        """Points (3,) of bodies that it looks at, which pictures show as places of these bodies."""
        return [(body, point) for body, point in points_on_bodies(self) if body != GROUND]

    def check(self, mech: Mechanism, where: str) -> None:
        """Refuse names that the mechanism does not have."""
        for body in self.bodies():
            mech.model.body_index(body, where)

    @abstractmethod
    def values(self, states: MeasuredStates) -> Array:
        """Its value for each state, (B,) or (B, n)."""

    def takes_steps(self, model: Model) -> bool:
        """Whether it can be evaluated for numbers with imaginary parts, which gives exact derivatives."""
        return True

    def warn(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of what the values of a measure of this name leave open."""
        return None

    def along_sweep(self, values: Array) -> Array:
        """Values along a sweep (..., n); angles go on beyond pi, less than half a turn each."""
        return np.unwrap(values) if self.continues else values


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
            warnings.warn(
                f"The Angle from {self.a!r} to {self.b!r} turns so far between two kept states that its"
                " whole turns may be miscounted; keep more states (t_eval, store_every).",
                SarrusWarning,
                stacklevel=4,
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


def _forces_with_tension(model: Model) -> list[str]:
    """Forces of one number, which is a tension; the others are wrenches."""
    return [name for name, force in model.forces if hasattr(force, "tension")]


def _constraints_of_one_row(model: Model) -> list[str]:
    return [group.name for group in model.groups if group.rows.stop - group.rows.start == 1]


@dataclass(frozen=True)
class ForceIn(Measure):
    """Force in a spring, a damper, friction, a rod, a coupling, a drive or an actuator [N], [N m].

    Of a PointSpring and a Distance: positive in tension. Of a spring, damper or friction on a coordinate:
    what it resists with; where several dry frictions stick, constant ones take the load first. Of a
    UserForce: what its function returns, an array where that is several forces. Of a Coupling, a Drive, a
    PointOnPlane: the multiplier of its row. Of a coordinate, as that of a cylinder: the force that actuators
    (`u`, `tau`) and Drives apply along it. Forces such as a Motor and friction are read by their own names; a
    coordinate that nothing drives warns.

    Args:
        element: Name of a force, a constraint of one row, or a coordinate.
    """

    unit: ClassVar[str] = "N, N m"
    needs_motion: ClassVar[bool] = True
    checks: ClassVar[Checks] = {"element": text}
    element: str

    def check(self, mech: Mechanism, where: str) -> None:
        forces = _forces_with_tension(mech.model)
        known = [*forces, *_constraints_of_one_row(mech.model), *mech.names]
        force = dict(mech.model.forces).get(self.element)
        if force is not None and self.element not in forces:
            raise InputError(
                f"{where}: {self.element!r} is a {type(force).__name__}, a wrench, which ForceIn does not"
                " read; Reaction reads the joints that carry it."
            )
        require_known("force, constraint of one row or coordinate", self.element, known, where)

    def values(self, states: MeasuredStates) -> Array:
        model = states.mech.model
        force = dict(model.forces).get(self.element)
        if force is not None:
            return np.asarray(force.tension(states))  # type: ignore[attr-defined]
        total = 0.0 if self.of_row(model) else states.tau[:, states.mech.names.index(self.element)]
        for row, factor in self.rows(model):
            total = total + factor * np.asarray(states.motion.lam)[:, row]
        return np.asarray(total)

    def of_motion(self, model: Model) -> bool:
        """Whether it depends on the motion: that in a spring does not."""
        return self.element not in dict(model.forces)

    def takes_steps(self, model: Model) -> bool:
        force = dict(model.forces).get(self.element)
        return force is None or not (force.holds_functions or force.sticks)

    def of_row(self, model: Model) -> bool:
        """Whether it is the force of a constraint; otherwise that of a force or along a coordinate."""
        return self.element not in dict(model.forces) and self.element in dict(model.constraints)

    def rows(self, model: Model) -> list[tuple[int, float]]:
        """Rows whose multipliers, times a factor, add to it: of a constraint, or Drives of a coordinate."""
        if self.element in dict(model.forces):
            return []
        each = [(g.rows.start, dict(model.constraints)[g.name], g.name) for g in model.groups]
        if self.of_row(model):
            return [(row, -1.0 if c.pulls else 1.0) for row, c, name in each if name == self.element]
        return [(row, c.driven()[self.element]) for row, c, _ in each if self.element in c.driven()]

    def warn(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of a coordinate without drive, and of multipliers at first that are one choice of many."""
        mech, rows = states.mech, self.rows(states.mech.model)
        self._warn_of_friction(states, values, name)
        declared = self.element in mech.actuators and bool(mech.passive)
        if not (rows or declared or np.any(values)) and self.element not in dict(mech.model.forces):
            warnings.warn(
                f"measure {name!r}: nothing drives {self.element!r}, so that the force in it is zero."
                f"{self._acting(mech.model)} Give inputs, spec.actuate({self.element!r}) or a Drive.",
                SarrusWarning,
                stacklevel=4,
            )
        if np.any(values[:1]) and not all(states.motion.lam_unique[0, row] for row, _ in rows):
            warnings.warn(
                f"measure {name!r}: redundant rows leave open how constraints share this load; the force is"
                " one of many, that with the least multipliers. Motion.lam_unique tells which are unique.",
                SarrusWarning,
                stacklevel=4,
            )

    def _warn_of_friction(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of friction at rest at first that the motion does not determine."""
        mech = states.mech
        force = dict(mech.model.forces).get(self.element)
        if force is None or not force.sticks or not np.any(values[:1]):
            return
        if not all(states.motion.friction_unique[0, mech.names.index(name)] for name in force.coordinates()):
            warnings.warn(
                f"measure {name!r}: joints at rest leave open how they share this load; the friction is one"
                " of many, that of least norm. Motion.friction_unique tells which are unique.",
                SarrusWarning,
                stacklevel=5,
            )

    def _acting(self, model: Model) -> str:
        """Names of the forces and constraints on a coordinate, as a sentence."""
        known = [*model.constraints, *((n, f) for n, f in model.forces if hasattr(f, "tension"))]
        found = [repr(n) for n, x in known if self.element in x.coordinates()]
        return f" What acts on it has names of its own: {', '.join(found)}." if found else ""


@dataclass(frozen=True)
class Reaction(Measure):
    """Wrench [force; moment] [N, N m], (6,), that a joint or loop exerts on its second body, at frame B.

    Args:
        element: Name of a joint or of a loop, see `Motion.reaction`.
        frame: Axes to express it in: "A", "B", "a", "b" or "world".
    """

    unit: ClassVar[str] = "N, N m"
    columns: ClassVar[tuple[str, ...]] = ("fx", "fy", "fz", "mx", "my", "mz")
    needs_motion: ClassVar[bool] = True
    of_reactions: ClassVar[bool] = True
    checks: ClassVar[Checks] = {"element": text}
    element: str
    frame: str = "A"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.frame, "frame of Reaction", FRAMES)

    def check(self, mech: Mechanism, where: str) -> None:
        loops = [group.name for group in mech.model.groups if group.element >= 0]
        known = [*loops, *(name for name in mech.body_names if name != GROUND)]
        require_known("joint or loop", self.element, known, where)

    def values(self, states: MeasuredStates) -> Array:
        if not len(states.q):
            return np.zeros((0, 6))
        return states.motion.reaction(self.element, self.frame)

    def of_motion(self, model: Model) -> bool:
        """Whether it depends on the motion."""
        return True

    def warn(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of loads in the first state that a rigid model does not determine."""
        if not len(values) or not states.mech.nc:
            return
        motion = states.mech.forward_dynamics(states.q[0], states.v[0], states.tau[0], t=float(states.t[0]))
        open_ = ~motion.reaction_unique(self.element, self.frame)
        if np.any(open_ & (np.abs(values[0]) > SMALL_LOAD * np.max(np.abs(values[0])))):
            warnings.warn(
                f"measure {name!r}: redundant rows leave open how joints share this load; the reaction is one"
                " of many. Motion.reaction_unique tells which entries are determined.",
                SarrusWarning,
                stacklevel=4,
            )


@dataclass(frozen=True)
class UserMeasure(Measure):
    """A function of the state.

    Args:
        function: f(q, v, t) -> a number or an array (n,), of one state: q (nq,), v (nv,), t [s].
    """

    holds_functions: ClassVar[bool] = True
    function: Callable[[Array, Array, float], Any]

    def __post_init__(self) -> None:
        takes(self.function, "q, v, t", "a measure")

    def values(self, states: MeasuredStates) -> Array:
        each = zip(states.q, states.v, states.t.tolist(), strict=True)
        return np.array([np.asarray(self.function(*one), dtype=np.float64) for one in each])


def _warn_of_motion(states: MeasuredStates, measure: ForceIn | Reaction, name: str) -> None:
    """Warn of forces at poses that nothing holds: they are those of a machine that begins to move."""
    mech = states.mech
    if not states.let_go or not len(states.q) or not measure.of_motion(mech.model):
        return
    a = np.max(np.abs(states.motion.a / mech.units.unit), axis=-1)
    moves = int(np.sum(a > STILL * np.max(np.abs(mech.model.gravity), initial=1.0) / mech.length))
    if moves:
        warnings.warn(
            f"measure {name!r}: nothing holds the machine at {moves} of {len(a)} poses; the force is that at"
            " the moment when it is let go. mech.hold(...) gives motor and joint forces at rest.",
            SarrusWarning,
            stacklevel=4,
        )


def measured(states: MeasuredStates, measure: Measure, name: str) -> Array:
    """Values of one measure; what a function of the user's raises names the measure."""
    if not isinstance(measure, UserMeasure):
        values = measure.values(states)
        measure.warn(states, values, name)
        if isinstance(measure, ForceIn | Reaction):
            _warn_of_motion(states, measure, name)
        return values
    try:
        return measure.values(states)
    except Exception as error:
        raise InputError(
            f"measure {name!r}: its function must return a number or an array of numbers, but failed:"
            f" {type(error).__name__}: {error}."
        ) from error
