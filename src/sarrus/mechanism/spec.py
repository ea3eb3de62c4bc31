"""MechanismSpec: the description of a mechanism, part by part, and its compilation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..arrays import positive, text, triple
from ..constraints.closures import Closure
from ..constraints.rows import Constraint
from ..errors import InputError, ModelError, unknown_name
from ..models.bodies import (
    FRICTION_SPEED,
    GROUND,
    UNLIMITED,
    Body,
    Limit,
    PerCoordinate,
    check_limits,
    warn_of_inertia,
)
from ..models.coordinates import CoordinateNames
from ..models.forces import Force
from ..models.joint import Joint
from ..models.model import Model
from ..models.pose import Pose
from .as_drawn import lower
from .compile import build_model, default_actuated
from .drawn_spec import DrawnSpec
from .mechanism import Mechanism
from .report import outline
from .schema import decode, encode

COMPILERS: dict[str, Callable[..., Mechanism]] = {}  # filled by a room above: fits loops of rounded data


class MechanismSpec(DrawnSpec):
    """The description of a mechanism. Every method checks its arguments; one that raises changes nothing.

    Args:
        gravity: Gravity [m/s^2], (3,), in world axes.
        name: Name of the mechanism, for reports and messages.
        length: Characteristic length L [m]; None: the mean distance between joints.

    Attributes:
        omitted: What the file that it comes from contains and it does not, what changes the motion first.
    """

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
        self.omitted: tuple[str, ...] = ()

    def __repr__(self) -> str:
        bodies = len(self._coordinates.bodies) - len(self._joints)
        sizes = {"bodies": bodies, "constraints": len(self._constraints), "forces": len(self._forces)}
        counts = [f"{kind}={size}" for kind, size in sizes.items()]
        return f"MechanismSpec({self.name!r}, {', '.join(counts)})"

    def __str__(self) -> str:
        return outline(self)

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
    def bodies(self) -> tuple[Body, ...]:
        """Bodies of the tree so far, without the ground."""
        return self._tree()[0]

    @property
    def constraints(self) -> tuple[tuple[str, Constraint], ...]:
        """Loops and constraints so far, by name."""
        return self._tree()[1]

    @property
    def forces(self) -> tuple[tuple[str, Force], ...]:
        """Forces declared so far, by name."""
        return tuple(self._forces.items())

    @property
    def actuated(self) -> tuple[tuple[str, Limit], ...] | None:
        """Names given to actuate() with their limits; None if it was never called."""
        return None if self._actuated is None else tuple(self._actuated)

    @property
    def declared(self) -> dict[str, Any]:
        """All of it: arguments of `build_model` and `from_declared`."""
        bodies, constraints = self._tree()
        names = ("name", "gravity", "length", "forces", "actuated", "omitted")
        return {name: getattr(self, name) for name in names} | {"bodies": bodies, "constraints": constraints}

    def _tree(self) -> tuple[tuple[Body, ...], tuple[tuple[str, Constraint], ...]]:
        """Bodies and constraints; those of parts and joints as drawn lowered to a tree and loops."""
        declared, owners = self._coordinates.bodies, self._coordinates.owners
        if not self._parts and not self._joints:
            return tuple(declared.values()), tuple(self._constraints.items())
        plain = [body for name, body in declared.items() if name not in self._parts | self._joints]
        asked = [name for name, _ in self._actuated or ()]
        for entries in (self._constraints, self._forces):
            asked += [name for entry in entries.values() for name in entry.coordinates()]
        needed = {owners[k].name for name in asked for k in self._coordinates.find_all(name)}
        bodies, loops = lower(plain, self._parts, list(self._joints.values()), needed)
        return tuple(bodies), (*loops.items(), *self._constraints.items())

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
    ) -> MechanismSpec:
        """Add a rigid body, carried by a joint that gets the body's name.

        The body frame is the joint frame after its motion. Where a joint has several coordinates, `armature`,
        `damping`, `friction`, `friction_speed`, `stop_stiffness`, `stop_damping` may be given one for each.

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
            friction: Coulomb friction [N m] or [N], smoothed: friction * tanh(v / friction_speed).
            limits: (lower, upper) [rad] or [m], None leaving a side open; one pair for each coordinate. They
                stop nothing by themselves: `stop_stiffness`, or simulate(..., stops=True), does. `simulate`
                reports where they are passed, `assemble` and `sweep` name coordinates beyond them, and the
                controllers that say so keep within them.
            friction_speed: Speed of that smoothing [rad/s] or [m/s].
            stop_stiffness: Stiffness of one-sided stops at the limits [N m/rad] or [N/m]; 0: no stops.
            stop_damping: Damping of the stops [N m s/rad] or [N s/m].

        Returns:
            This spec.
        """
        given: dict[str, Any] = {
            "mass": mass, "com": com, "inertia": inertia, "armature": armature, "damping": damping,
            "friction": friction, "friction_speed": friction_speed, "limits": limits,
            "stop_stiffness": stop_stiffness, "stop_damping": stop_damping,
        }  # fmt: skip
        body = Body(name, parent, joint, Pose() if at is None else at, **given)
        if parent not in (GROUND, name) and parent not in self._coordinates.bodies:
            raise unknown_name(
                "body", parent, [GROUND, *self._coordinates.bodies], f"parent of body {name!r}"
            )
        return self.add(body, stacklevel=2)

    def add(self, body: Body, stacklevel: int = 1) -> MechanismSpec:
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

    def close(
        self, name: str, a: str, b: str, joint: Joint, at_a: Pose | None = None, at_b: Pose | None = None
    ) -> MechanismSpec:
        """Close a loop: frame A on body a and frame B on body b are tied by a joint.

        The joint keeps its freedoms of B relative to A (axes given in A), all others become rows.

        Args:
            name: Name of the loop, unique among loops and constraints.
            a: First body, or "ground".
            b: Second body, or "ground".
            joint: Any joint but Free.
            at_a: Frame A in the body frame of a.
            at_b: Frame B in the body frame of b.

        Returns:
            This spec.
        """
        closure = Closure(a, b, joint, Pose() if at_a is None else at_a, Pose() if at_b is None else at_b)
        return self.constrain(name, closure)

    def constrain(self, name: str, constraint: Constraint) -> MechanismSpec:
        """Add a constraint.

        Args:
            name: Its name, unique among loops and constraints.
            constraint: Coupling, Drive, Distance, PointOnLine, PointOnPlane, PointOnCylinder, Rolling or
                CustomConstraint.

        Returns:
            This spec.
        """
        self._constraints[name] = self._checked("constraint", name, constraint, Constraint, self._constraints)
        return self

    def force(self, name: str, force: Force) -> MechanismSpec:
        """Add a force.

        Args:
            name: Its name, unique among forces.
            force: PointSpring, JointSpring, JointDamper or ConstantWrench.

        Returns:
            This spec.
        """
        self._forces[name] = self._checked("force", name, force, Force, self._forces)
        return self

    def actuate(self, *names: str, limits: Sequence[float | None] | None = None) -> MechanismSpec:
        """Declare which coordinates have an actuator; the order of the calls is the order of u.

        Without any call every coordinate is actuated except those of Free joints; `actuate()` without names
        says that none is.

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
        self._actuated = [*(self._actuated or []), *((name, pair) for name in each)]
        return self

    def compile(self, loop_tolerance: float | None = None) -> Mechanism:
        """The compiled mechanism: immutable, thread-safe, picklable. Loops are not assembled here.

        Args:
            loop_tolerance: Data with few digits (float32, six decimals) leave loops open by their last digit,
                and taken literally these bind. Misfits up to this [rad], or times L [m], are corrected by
                displacing frames, with a warning that says by how much, as for files (1e-4 there); `default`
                is assembled then. None: the description is taken literally.
        """
        if loop_tolerance is None:
            return Mechanism(self.model())
        tolerance = positive(loop_tolerance, "loop_tolerance")
        return COMPILERS["loop_tolerance"](self, Mechanism.neutral, tolerance)

    def model(self) -> Model:
        """The flat arrays that compile() hands to the kernel."""
        return build_model(**self.declared)

    def to_dict(self) -> dict[str, Any]:
        """The description as plain lists, numbers and strings, ready for JSON; carries a version."""
        return encode(self)

    @classmethod
    def from_declared(cls, declared: Mapping[str, Any]) -> MechanismSpec:
        """A description from what another one, or a model, has `declared`: nothing is checked again."""
        spec = cls(declared["gravity"], declared["name"], declared["length"])
        for body in declared["bodies"]:
            spec._coordinates.add(body)
        spec._constraints.update(declared["constraints"])
        spec._forces.update(declared["forces"])
        spec._actuated = None if declared["actuated"] is None else list(declared["actuated"])
        spec.omitted = tuple(declared.get("omitted", ()))
        return spec

    @classmethod
    def from_model(cls, model: Model) -> MechanismSpec:
        """The description that a model was compiled from, with later changes of parameters."""
        spec, names = cls.from_declared(model.declared), model.coordinate_names
        if spec._actuated == [(names[k], UNLIMITED) for k in default_actuated(model.tree)]:
            spec._actuated = None
        return spec

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MechanismSpec:
        """A description from the result of to_dict()."""
        return decode(data, MechanismSpec)

    def _checked(self, kind: str, name: str, entry: Any, base: type[Any], entries: Mapping[str, Any]) -> Any:
        """A constraint or force with named points located, after checks of all names in it."""
        text(name, f"the name of a {kind}")
        where = f"{kind} {name!r}"
        if not isinstance(entry, base):
            raise InputError(f"{where} must be an instance of a {kind} class, got {entry!r}.")
        if name in entries or (kind == "constraint" and name in self._joints):
            raise ModelError(f"a {kind} called {name!r} exists already; names must differ.")
        entry = self._located(entry, where)
        bodies = self._coordinates.bodies
        for body in entry.bodies():
            if body != GROUND and (body not in bodies or body in self._joints):
                raise unknown_name(
                    "body", body, [GROUND, *(n for n in bodies if n not in self._joints)], where
                )
        for coordinate in entry.coordinates():
            self._coordinates.find(coordinate, where, scalar=entry.needs_position)
        return entry
