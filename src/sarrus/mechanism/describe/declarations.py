"""What a description takes in: bodies, loops, constraints, forces, actuators, measures, each checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from ...arrays import number, positive, text, triple
from ...constraints.closures import Closure
from ...constraints.rows import Constraint
from ...errors import InputError, ModelError, require_all_known, unknown_name
from ...models.base.expressions import Expression, Parameter
from ...models.base.pose import Pose
from ...models.kinds.actuator_law import ActuatorLaw
from ...models.kinds.forces import Force
from ...models.kinds.formula_force import as_formulas
from ...models.model import RESERVED
from ...models.shapes.visual import Visual
from ...models.tree.bodies import (
    FRICTION_MODELS,
    FRICTION_SPEED,
    GROUND,
    Body,
    Limit,
    PerCoordinate,
    check_limits,
    warn_of_inertia,
)
from ...models.tree.coordinates import CoordinateNames
from ...models.tree.joint import Joint
from .drawn_spec import DrawnSpec
from .measure import Measure, UserMeasure
from .recipe import declares


class Declarations(DrawnSpec):
    """Everything declared so far. A method that raises changes nothing."""

    def __init__(
        self, gravity: ArrayLike = (0.0, 0.0, -9.81), name: str = "mechanism", length: float | None = None
    ) -> None:
        super().__init__()
        self._gravity = triple(gravity, "gravity")
        self._name = text(name, "the name of a mechanism")
        self._length = None if length is None else positive(length, "length")
        self._coordinates = CoordinateNames()
        self._constraints: dict[str, Constraint] = {}
        self._forces: dict[str, Force] = {}
        self._actuated: list[tuple[str, Limit]] | None = None
        self._measures: dict[str, Measure] = {}
        self.omitted: tuple[str, ...] = ()
        self.laws: dict[str, tuple[ActuatorLaw, ...]] = {}
        self.visuals: list[Visual] = []

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._name

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity [m/s^2], (3,)."""
        return self._gravity

    @property
    def length(self) -> float | None:
        """Characteristic length L [m] if one was given."""
        return self._length

    @property
    def forces(self) -> tuple[tuple[str, Force], ...]:
        """Forces declared so far, by name."""
        return tuple(self._forces.items())

    @property
    def measures(self) -> tuple[tuple[str, Measure], ...]:
        """Measures declared so far, by name."""
        return tuple(self._measures.items())

    @property
    def actuated(self) -> tuple[tuple[str, Limit], ...] | None:
        """Names given to actuate() with their limits; None if it was never called."""
        return None if self._actuated is None else tuple(self._actuated)

    def parameter(self, name: str, value: float | Expression) -> Any:
        """A number that `mech.with_(name=...)` can change, to be used wherever a number is.

        Arithmetic and NumPy's functions (`np.sin(a)`, `np.hypot(a, b)`) give numbers that change with it.

        Args:
            name: A word of Python, unique, and no argument of `with_`.
            value: Its value, or an expression of other parameters, which it follows until it is given one.

        Returns:
            The parameter, a number to type checkers.
        """
        text(name, "the name of a parameter")
        if not name.isidentifier() or name in RESERVED:
            raise InputError(
                f"{name!r} cannot be a parameter: it must be a word and none of {', '.join(RESERVED)}."
            )
        if name in self._parameters:
            raise ModelError(f"a parameter called {name!r} exists already; names must differ.")
        if not isinstance(value, Expression):
            value = number(value, f"parameter {name!r}")
        self._parameters[name] = Parameter(name, value)
        return self._parameters[name]

    @declares
    def body(
        self,
        name: str,
        parent: str = GROUND,
        *,
        joint: Joint,
        at: Pose | None = None,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = (0.0, 0.0, 0.0),
        armature: PerCoordinate = 0.0,
        damping: PerCoordinate = 0.0,
        friction: PerCoordinate = 0.0,
        limits: Sequence[Any] | None = None,
        friction_speed: PerCoordinate = FRICTION_SPEED,
        stop_stiffness: PerCoordinate = 0.0,
        stop_damping: PerCoordinate = 0.0,
        friction_model: str = FRICTION_MODELS[0],
        breakaway: PerCoordinate = 0.0,
        outline: Sequence[ArrayLike] = (),
        backwards: bool = False,
    ) -> Self:
        """Add a rigid body, carried by a joint that gets the body's name.

        The body frame is the joint frame after its motion. Where a joint has several coordinates, `armature`,
        `damping`, `friction`, `friction_speed`, `breakaway` and those of stops may be given one for each.

        Args:
            name: Name of the body, unique.
            parent: Body that carries it, declared before, or "ground".
            joint: Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free or Fixed.
            at: Joint frame in the parent's body frame; default: they coincide.
            mass: [kg], not negative.
            com: Centre of mass in the body frame [m], (3,).
            inertia: Inertia about the centre of mass in body axes [kg m^2], diagonal (3,) or matrix (3, 3).
            armature: Inertia reflected by the drive [kg m^2] or [kg].
            damping: Viscous friction [N m s/rad] or [N s/m].
            friction: Coulomb friction [N m] or [N]; see `friction_model`.
            limits: (lower, upper) [rad] or [m], None leaving a side open; one pair for each coordinate. They
                stop nothing by themselves: `stop_stiffness`, or simulate(..., stops=True), does. `simulate`
                reports where they are passed, `assemble` and `sweep` name coordinates beyond them, and the
                controllers that say so keep within them.
            friction_speed: Speed [rad/s] or [m/s] of the smoothing, or v_s of "coulomb".
            stop_stiffness: Stiffness of one-sided stops at the limits [N m/rad] or [N/m]; 0: no stops.
            stop_damping: Damping of the stops [N m s/rad] or [N s/m].
            friction_model: "smooth": friction * tanh(v / friction_speed), which creeps under load. "coulomb":
                dry friction that sticks; sliding it is friction + (breakaway - friction) exp(-(v / v_s)^2);
                see docs/friction.md.
            breakaway: Of "coulomb": friction at rest [N m] or [N]; default: the same as `friction`.
            outline: Points in the body frame [m], (n, 3), along which pictures draw it.
            backwards: The joint is meant from this body to its parent: reactions are those on the parent.

        Returns:
            This spec.
        """
        given: dict[str, Any] = {
            "mass": mass, "com": com, "inertia": inertia, "armature": armature, "damping": damping,
            "friction": friction, "friction_speed": friction_speed, "limits": limits,
            "stop_stiffness": stop_stiffness, "stop_damping": stop_damping,
            "friction_model": friction_model, "breakaway": breakaway, "outline": outline,
            "backwards": backwards,
        }  # fmt: skip
        body = Body(name, parent, joint, Pose() if at is None else at, **given)
        if parent not in (GROUND, name) and parent not in self._coordinates.bodies:
            raise unknown_name(
                "body", parent, [GROUND, *self._coordinates.bodies], f"parent of body {name!r}"
            )
        return self.add(body, stacklevel=4)

    @declares
    def add(self, body: Body, stacklevel: int = 2) -> Self:
        """Add a body that is checked already; its parent may come later, as in files."""
        if not isinstance(body, Body):
            raise InputError(
                f"add takes a Body that is checked already, got {body!r:.80}; use body(name, ...)."
            )
        warn_of_inertia(body, stacklevel + 1)
        name = body.name
        if name == GROUND:
            raise ModelError(f"{GROUND!r} is the name of the fixed world and cannot be given to a body.")
        if name in self._coordinates.bodies:
            raise ModelError(f"a body called {name!r} exists already; names must differ.")
        if name == body.parent:
            raise ModelError(f"body {name!r} is its own ancestor: its parent must be another body.")
        self._coordinates.add(body)
        return self

    @declares
    def close(
        self,
        name: str,
        a: str,
        b: str,
        joint: Joint,
        at_a: Pose | None = None,
        at_b: Pose | None = None,
        left_out: Sequence[str] = (),
    ) -> Self:
        """Close a loop: frame A on body a and frame B on body b are tied by a joint.

        The joint keeps its freedoms of B relative to A (axes given in A), all others become rows.

        Args:
            name: Name of the loop, unique among loops and constraints.
            a: First body, or "ground".
            b: Second body, or "ground".
            joint: Any joint but Free.
            at_a: Frame A in the body frame of a.
            at_b: Frame B in the body frame of b.
            left_out: Rows that are not imposed, such as ("tx",), because others imply them: of data that are
                rounded, so that taken literally they lock. Angular rows are left out together.

        Returns:
            This spec.
        """
        ends = {"at_a": Pose() if at_a is None else at_a, "at_b": Pose() if at_b is None else at_b}
        return self.constrain(name, Closure(a, b, joint, **ends, left_out=tuple(left_out)))

    @declares
    def constrain(self, name: str, constraint: Constraint, frame: str | None = None) -> Self:
        """Add a constraint.

        Args:
            name: Its name, unique among loops and constraints.
            frame: Where its points without names are: "body" (each in the frame of its body) or "world" (as
                drawn). Default "body"; on parts of a drawing it must be said.
            constraint: Coupling, PolynomialCoupling, Cam, Gear, Belt, Rope, Drive, Distance,
                PointOnLine, PointOnPlane, PointOnCylinder, Rolling or CustomConstraint.

        Returns:
            This spec.
        """
        checked = self._checked("constraint", name, constraint, Constraint, self._constraints, frame)
        self._constraints[name] = checked
        return self

    def force(self, name: str, force: Force, frame: str | None = None) -> Self:
        """Add a force.

        Args:
            name: Its name, unique among forces.
            force: PointSpring, JointSpring, JointDamper, ConstantWrench, CoulombFriction, Bushing, Motor,
                UserForce, BodyForce, FormulaForce, or a table: PointSpringTable, PointDamperTable,
                JointSpringTable, JointDamperTable.
            frame: Where its points without names are, as of `constrain`; directions stay in the body frame.

        Returns:
            This spec.
        """
        if isinstance(force, Force):
            force = as_formulas(force, f"force {name!r}")
        return self._force(name, force, frame)

    @declares
    def _force(self, name: str, force: Force, frame: str | None = None) -> Self:
        """The same of a force whose functions stay functions."""
        checked = self._checked("force", name, force, Force, self._forces, frame)
        self._forces[name] = self._as_drawn(checked, f"force {name!r}")
        return self

    @declares
    def actuate(self, *names: str, limits: Sequence[float | None] | None = None) -> Self:
        """Declare which coordinates have an actuator; the order of the calls is the order of u.

        Without any call every coordinate is actuated except those of Free joints; `actuate()` without names
        says that none is, also where a file or earlier calls said otherwise.

        Args:
            *names: Names of joints (all their coordinates) or of coordinates.
            limits: Limits (lower, upper) of each input [N m] or [N], None leaving a side open. Inputs are
                never clipped: `simulate` reports those beyond, `inverse_dynamics` names the actuators that do
                not suffice, and the controllers that say so keep within them.

        Returns:
            This spec.
        """
        pair = check_limits(limits, "limits of actuate")
        each: list[str] = []
        for name in names:
            self._coordinates.find_all(name, "actuate")
            each += self._joints[name].body.coordinate_names if name in self._joints else (name,)
        before = self._actuated or [] if names else []
        self._actuated = [*before, *((name, pair) for name in each)]
        return self

    @declares
    def measure(self, name: str, measure: Measure | Callable[..., Any], frame: str | None = None) -> Self:
        """Name something to read off the mechanism: `mech.measure(q)`, `trajectory[name]`.

        Args:
            name: Its name, unique among measures.
            measure: Length, Angle, Position, Speed, Coordinate, ForceIn, Reaction, or a function f(q, v, t)
                that returns a number or an array (n,).
            frame: Where its points without names are, as of `constrain`.

        Returns:
            This spec.
        """
        one = UserMeasure(measure) if callable(measure) and not isinstance(measure, Measure) else measure
        text(name, "the name of a measure")
        if not isinstance(one, Measure):
            raise InputError(f"measure {name!r} must be one of {', '.join(Measure.kinds)}, got {measure!r}.")
        if name in self._measures:
            raise ModelError(f"a measure called {name!r} exists already; names must differ.")
        one = self._located(one, f"measure {name!r}", frame)
        known = {GROUND: None, **self._coordinates.bodies}
        require_all_known("body", one.bodies(), known, f"measure {name!r}")
        self._measures[name] = one
        return self

    def _checked(
        self,
        kind: str,
        name: str,
        entry: Any,
        base: type[Any],
        entries: Mapping[str, Any],
        frame: str | None,
    ) -> Any:
        """A constraint or force with named points located, after checks of all names in it."""
        text(name, f"the name of a {kind}")
        where = f"{kind} {name!r}"
        if not isinstance(entry, base):
            raise InputError(f"{where} must be an instance of a {kind} class, got {entry!r}.")
        if name in entries or (kind == "constraint" and name in self._joints):
            raise ModelError(f"a {kind} called {name!r} exists already; names must differ.")
        entry = self._located(entry, where, frame)
        self._require_bodies(entry.bodies(), where)
        for coordinate in entry.coordinates():
            self._coordinates.find(coordinate, where, scalar=entry.needs_position)
        return entry

    def _require_bodies(self, names: Sequence[str], where: str) -> None:
        """Refuse names that are none of bodies; joints of the drawing are none."""
        bodies = self._coordinates.bodies
        for name in names:
            text(name, f"a body of {where}")
            if name != GROUND and (name not in bodies or name in self._joints):
                raise unknown_name(
                    "body", name, [GROUND, *(n for n in bodies if n not in self._joints)], where
                )
