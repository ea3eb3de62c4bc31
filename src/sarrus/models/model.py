"""Model: an immutable mechanism as flat arrays for the kernel, with the names that users know them by."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernel import Kernel
from ..arrays import Array, BoolArray, fixed_shape
from ..errors import InputError, unknown_name
from .base.restore import restore
from .contacts.surfaces import ContactPair, Surface
from .contacts.table import slot_names
from .kinds.actuator_law import ActuatorLaw
from .kinds.forces import Force, force_arrays
from .kinds.parameters import ELEMENTS, unpacked
from .shapes.floor import Floor
from .shapes.visual import Visual
from .tree.bodies import COPY, GROUND, Body, copies, warn_of_inertia
from .tree.inertia import check_mass_matrix, inertia_arrays
from .tree.joint import Joint, NodeKind
from .tree.layout import COUNTED, SIZES, TABLE, Arrays, shaped
from .tree.tree import Tree

BODY_VALUES = ("mass", "com", "inertia", "armature", "damping", "friction", "breakaway")
FORCE_VALUES = ("stiffness", "damping", "friction", "breakaway")
RESERVED = ("gravity", *dict.fromkeys((*BODY_VALUES, *FORCE_VALUES)))  # keywords of with_, no parameters


@dataclass(frozen=True)
class RowGroup:
    """The rows of one constraint.

    Attributes:
        name: Name given to close() or constrain().
        kind: Joint of a closure ("Revolute", ...) or type of a constraint ("Coupling", ...).
        rows: Its rows in phi, J, b, gamma.
        a: First body, or None.
        b: Second body, or None.
        element: Index into the arrays el_* of a constraint between two bodies, or -1.
    """

    name: str
    kind: str
    rows: slice = field(default_factory=lambda: slice(0))
    a: str | None = None
    b: str | None = None
    element: int = -1


@dataclass(frozen=True)
class Actuator:
    """An actuated coordinate: its name, its index into v, the limits of its input [N m] or [N]."""

    name: str
    index: int
    lower: float = -math.inf
    upper: float = math.inf


class Driver(Protocol):
    """A prescribed motion of time: f(t), and its derivatives where they are given."""

    @property
    def function(self) -> Callable[[float], float]: ...
    @property
    def rate(self) -> Callable[[float], float] | None: ...
    @property
    def acceleration(self) -> Callable[[float], float] | None: ...

    def values(self, t: float) -> tuple[float, float, float]:
        """f, f' and f'' at time t [s]."""


@dataclass(frozen=True)
class UserRows:
    """Rows that a CustomConstraint computes: where they stand in the kernel's `user` array and in phi."""

    name: str
    user: slice
    rows: slice
    constraint: Any


@dataclass(frozen=True, eq=False, init=False)
class Model(Arrays):
    """Flat arrays (see `Arrays`), names and declarations. Built by `MechanismSpec.compile`.

    Attributes:
        name: Name of the mechanism.
        tree: Bodies and nodes.
        row_names: Names of the constraint rows, (nc,).
        row_kinds: "m", "rad" or "" (a user's own unit) for each row, (nc,).
        groups: The rows by constraint.
        constraints: Declarations by name, in order.
        forces: Declarations by name, in order.
        surfaces: Shapes that can touch others, in order.
        contacts: Pairs of surfaces that may touch, in order.
        actuators: Actuated coordinates, in the order of u.
        drives: Prescribed motions, in the order of the kernel's drive array, (nd,).
        customs: Rows computed by callables.
        omitted: What the file that it comes from contains and it does not.
        measures: Declarations by name, in order.
        points: Points of the drawing by name, in the world [m] (3,) where all coordinates are zero.
        recipe: How to make it with other values of its parameters; None without any.
        laws: Laws of actuators by coordinate, where a file gives them.
        visuals: Shapes for pictures.
        floor: Where pictures show the floor; None: below everything that they show.
        actuators_declared: Whether the description says which coordinates have actuators; else all but those
            of Free joints count as actuated.
    """

    name: str
    tree: Tree
    row_names: tuple[str, ...]
    row_kinds: tuple[str, ...]
    groups: tuple[RowGroup, ...]
    constraints: tuple[tuple[str, Any], ...]
    forces: tuple[tuple[str, Force], ...]
    actuators: tuple[Actuator, ...]
    drives: tuple[Driver, ...]
    customs: tuple[UserRows, ...]
    points: tuple[tuple[str, tuple[float, float, float]], ...]
    omitted: tuple[str, ...] = ()
    measures: tuple[tuple[str, Any], ...] = ()
    recipe: Any = None
    surfaces: tuple[Surface, ...] = ()
    contacts: tuple[ContactPair, ...] = ()
    laws: Mapping[str, tuple[ActuatorLaw, ...]] = field(default_factory=dict)
    visuals: tuple[Visual, ...] = ()
    floor: Floor | None = None
    actuators_declared: bool = True

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)  # the constructor of a dataclass sets its sixty fields one by one

    @property
    def declared(self) -> dict[str, Any]:
        """What the model is compiled from, with later changes of parameters: arguments of `build_model`."""
        actuated: Any = [(actuator.name, (actuator.lower, actuator.upper)) for actuator in self.actuators]
        if not self.actuators_declared:
            actuated = None
        declarations = {"bodies": self.bodies[1:], "constraints": self.constraints, "forces": self.forces}
        numbers = {"gravity": tuple(self.gravity.tolist()), "length": float(self.length)}
        said: dict[str, Any] = {"omitted": self.omitted, "measures": self.measures, "recipe": self.recipe}
        said |= {"laws": getattr(self, "laws", {}), "visuals": self.visuals}  # pickles of 0.1 have no laws
        said |= {"surfaces": getattr(self, "surfaces", ()), "contacts": getattr(self, "contacts", ())}
        said |= {"points": getattr(self, "points", ()), "floor": getattr(self, "floor", None)}
        return {"name": self.name, **numbers, **declarations, "actuated": actuated, **said}

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Model", self.declared)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle of version 0.1, which held arrays: those of this version, from its declarations."""
        self.__dict__.update(state)
        self.__dict__.update(vars(restore("Model", self.declared)))

    # ------------------------------------------------------------------ sizes

    @property
    def structure(self) -> Model:
        """A model with the same names, coordinates and kinds; its numbers may be others."""
        return self

    @property
    def nq(self) -> int:
        """Length of q."""
        return self.structure.tree.nq

    @property
    def nv(self) -> int:
        """Length of v."""
        return len(self.unit)

    @property
    def nc(self) -> int:
        """Number of constraint rows."""
        return len(self.row_unit)

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.actuators)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Sizes for the kernel, by the names of `kernels/tree/model.hpp`."""
        counts = {"nq": self.nq, "nd": len(self.drives), "one": 1}
        return {size: counts[size] if size in counts else len(getattr(self, COUNTED[size])) for size in SIZES}

    @property
    def fields(self) -> dict[str, NDArray[Any]]:
        """Arrays for the kernel, by name."""
        return {name: getattr(self, name) for name in TABLE}

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled kernel of the model."""
        return Kernel(self.sizes, vars(self))

    @property
    def bodies_in_use(self) -> set[str]:
        """Names of the bodies that constraints, forces and shapes for pictures name."""
        shown = {one.body for one in self.visuals} | {one.body for one in self.surfaces}
        return shown.union(*(one.bodies() for _, one in (*self.constraints, *self.forces)))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the contact points of all pairs, (nslot,)."""
        return slot_names(self.contacts, self.pair_slots.tolist())

    @property
    def user_forces(self) -> tuple[tuple[str, Force], ...]:
        """Forces that Python functions compute, by name."""
        if len(self.u_row) == 0 or self.u_row[-1] >= 0:
            return ()
        return tuple((name, force) for name, force in self.forces if force.holds_functions)

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the constraints and forces whose values Python functions compute at every state."""
        return (*(custom.name for custom in self.customs), *(name for name, _ in self.user_forces))

    @property
    def holonomic(self) -> BoolArray:
        """Whether a row constrains positions (False: velocities only), (nc,)."""
        return self.row_holonomic.astype(bool)

    def element_parameters(self, element: int) -> dict[str, Array]:
        """Parameters of a constraint between two bodies, by the names of its kind in the kernel."""
        return unpacked(ELEMENTS, int(self.el_kind[element]), self.el_values[self.el_begin[element] :])

    @property
    def undeclared_motors(self) -> str:
        """What is doubtful where nobody said which joints of a closed chain have motors; "" if nothing is."""
        if self.actuators_declared or self.nu <= self.nv - self.nc:
            return ""
        first = self.actuators[0].name
        return (
            f"mechanism {self.name!r} does not say which joints have motors, so that all {self.nu} count as"
            " actuated, more than it has freedoms: forces of least norm are spread over them. Name the motors"
            f" in its description, spec.actuate({first!r}), or here, actuated=[{first!r}]."
        )

    # ------------------------------------------------------------------ names

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Declarations of the bodies, ground first, (nb,)."""
        return self.tree.bodies

    @property
    def shown_bodies(self) -> tuple[Body, ...]:
        """Bodies that move, without ground and states of first order."""
        return tuple(body for body in self.bodies[1:] if not body.is_state)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, "ground" first, (nb,)."""
        return tuple(self.structure.tree.names)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of v, (nv,)."""
        return self.structure.tree.coordinate_names

    @property
    def coordinate_q(self) -> tuple[int, ...]:
        """For each entry of v its entry of q, -1 for those of Spherical and Free joints, (nv,)."""
        return self.structure.tree.coordinate_q

    @property
    def q_slices(self) -> tuple[slice, ...]:
        """Where the joint of each body stands in q, (nb,)."""
        return tuple(place.q for place in self.structure.tree.places)

    @property
    def v_slices(self) -> tuple[slice, ...]:
        """Where the joint of each body stands in v, (nb,)."""
        return tuple(place.v for place in self.structure.tree.places)

    @property
    def limits(self) -> Array:
        """Lower and upper limit of each coordinate [rad, m], infinite where there is none, (nv, 2)."""
        return np.array(self.tree.each("limits"), dtype=np.float64).reshape(-1, 2)

    @property
    def has_stop(self) -> BoolArray:
        """Whether a coordinate has stops that push back, (nv,)."""
        stiffness, damping = (np.array(self.tree.each(f"stop_{name}")) for name in ("stiffness", "damping"))
        return (stiffness > 0.0) | (damping > 0.0)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """First index into q of every quaternion."""
        offset = {NodeKind.BALL: 0, NodeKind.FREE: 3}
        nodes = self.structure.tree.nodes
        return tuple(node.iq + offset[node.kind] for node in nodes if node.kind in offset)

    def neutral(self) -> Array:
        """All coordinates zero, all quaternions the identity, (nq,)."""
        q = np.zeros(self.nq)
        q[[i + 3 for i in self.quaternions]] = 1.0
        return q

    def body_index(self, name: object, where: str = "") -> int:
        """Index of a body, or an error that lists the bodies."""
        return self.structure.tree.body_index(name, where)

    def joint_of(self, name: str) -> Joint:
        """The joint that carries a body."""
        return self.bodies[self.body_index(name)].joint

    def group(self, name: object) -> RowGroup:
        """The rows of a constraint, or an error that lists the constraints."""
        for group in self.groups:
            if group.name == name:
                return group
        raise unknown_name("constraint", name, [group.name for group in self.groups])

    def drive_values(self, t: float) -> Array:
        """Prescribed motions at time t [s]: f, f', f'' of each drive, (nd, 3)."""
        return np.array([drive.values(t) for drive in self.drives], dtype=np.float64).reshape(-1, 3)

    # ------------------------------------------------------------------ changes

    def replace(self, gravity: ArrayLike | None = None, **values: Mapping[str, Any] | None) -> Model:
        """A copy with other parameters and the same structure.

        Args:
            gravity: Gravity [m/s^2], (3,).
            **values: mass, com, inertia, armature, damping, friction, breakaway: {body: value}, as in
                `MechanismSpec.body`; stiffness, damping, friction, breakaway: {force: value}.
        """
        tree, forces, columns = changed_columns(self.tree, self.forces, self.constraints, gravity, **values)
        changed: dict[str, Any] = {key: shaped(key, column) for key, column in columns.items()}
        copy = dataclasses.replace(self, **changed, tree=tree, forces=forces)
        check_mass_matrix(tree, copy.kernel)
        return copy


def changed_columns(
    tree: Tree,
    forces: tuple[tuple[str, Force], ...],
    constraints: tuple[tuple[str, Any], ...],
    gravity: ArrayLike | None = None,
    **values: Mapping[str, Any] | None,
) -> tuple[Tree, tuple[tuple[str, Force], ...], dict[str, Any]]:
    """Bodies and forces with other parameters, and the fields of the kernel's model that they change."""
    bodies, named = {body.name: body for body in tree.bodies}, dict(forces)
    for key, changes in values.items():
        if key not in (*BODY_VALUES, *FORCE_VALUES):
            raise unknown_name("parameter", key, RESERVED)
        if changes is not None and not isinstance(changes, Mapping):
            raise InputError(f"{key} must be a mapping from names to values, got {changes!r}.")
        for name, value in (changes or {}).items():
            _change(key, name, value, bodies, named)
    tree = dataclasses.replace(tree, bodies=tuple(bodies.values()))
    columns = inertia_arrays(tree) | force_arrays(tree, tuple(named.items()), constraints)
    if gravity is not None:
        columns["gravity"] = fixed_shape(gravity, "gravity", (3,))
    return tree, tuple(named.items()), columns


def _change(key: str, name: str, value: Any, bodies: dict[str, Body], forces: dict[str, Force]) -> None:
    """Put one value into the declaration that it belongs to."""
    if isinstance(name, str) and COPY in name and name in bodies:
        part = name.partition(COPY)[0]
        raise InputError(
            f"{key}: {name!r} is a copy of part {part!r} that the library made to close a loop; change"
            f" {part!r}, which changes both."
        )
    joints, springs = _owners(key, bodies, forces)
    if name in joints and name in springs:
        raise InputError(f"{key} of {name!r} is ambiguous: a joint and a force have that name; rename one.")
    if name in joints:
        _change_body(key, name, value, bodies)
    elif name in springs:
        forces[name] = dataclasses.replace(forces[name], **{key: value})
    else:
        raise unknown_name(f"owner of {key}", name, [*joints, *springs])


def _owners(key: str, bodies: dict[str, Body], forces: dict[str, Force]) -> tuple[list[str], list[str]]:
    """Bodies and forces that have a value of this name."""
    joints = [name for name in bodies if name != GROUND and COPY not in name]
    springs = [name for name, force in forces.items() if hasattr(force, key)]
    return joints if key in BODY_VALUES else [], springs if key in FORCE_VALUES else []


def _change_body(key: str, name: str, value: Any, bodies: dict[str, Body]) -> None:
    """Put a value into a body; copies of it share its mass."""
    same = copies(name, bodies)
    if key in ("mass", "inertia") and len(same) > 1:
        value = np.asarray(value) / len(same)
    for one in same:
        bodies[one] = dataclasses.replace(bodies[one], **{key: value})
    warn_of_inertia(bodies[name], stacklevel=6)  # the caller of Mechanism.with_
