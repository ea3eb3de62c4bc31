"""Core of Mechanism: an immutable model with its kernel, sizes and names, and the checks of arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from ..._kernel import Queries
from ...arrays import Array, frozen, mapping, state
from ...constraints.evaluate import Evaluator
from ...dynamics.bearings import External
from ...dynamics.dry_friction import sticks
from ...dynamics.terms import Units
from ...errors import InputError, require_known
from ...models.kinds.actuator_law import ActuatorLaw
from ...models.model import Model
from ...models.shapes.visual import Visual
from .arguments import Arguments
from .modes import Modes

if TYPE_CHECKING:
    from ..mechanism import Mechanism


class _Pair(NamedTuple):
    q: Array
    v: Array


class State(_Pair):
    """A consistent state: the pair of positions q (nq,) and velocities v (nv,), read-only.

    `mech.project` and `mech.step` return what they found out as attributes; arrays where q and v have batch
    axes.

    Attributes:
        gap: largest |phi| [m] of the pose that was projected, angles multiplied by the length L.
        status: 0, or why there is no state, a key of `sarrus.projection.nearest_state.TROUBLE`.
        mode: which rows act after a step of a mechanism whose rows can change, a `Mode`; else None.
        step_error: estimate of what `mech.step` has lost, relative to 1 rad, to L and to the speed. Steps of
            fixed size are held against the equations of motion, with a mode against steps of half the
            length; adaptive ones lose what their tolerances allow. NaN where no step was taken
            (`project`), where it failed, where surfaces touch, and on a device.
    """

    gap: float | Array
    status: int | npt.NDArray[np.int_]
    mode: Any
    step_error: float | Array

    def __new__(
        cls,
        q: Array,
        v: Array,
        gap: float | Array = 0.0,
        status: int | npt.NDArray[np.int_] = 0,
        mode: Any = None,
        step_error: float | Array = math.nan,
    ) -> State:
        self = super().__new__(cls, q, v)
        self.gap, self.status, self.mode, self.step_error = gap, status, mode, step_error
        return self


class Slices(NamedTuple):
    """Where a joint or a coordinate stands: its slice of q and its slice of v."""

    q: slice
    v: slice


@cache
def _cached_names(owner: type) -> frozenset[str]:
    """Names of the cached properties of a class, whose values belong to one model."""
    found = {name for one in owner.__mro__ for name, x in vars(one).items() if isinstance(x, cached_property)}
    return frozenset(found)


class Core:
    """Base of the parts of `Mechanism`: sizes, names and checks of arguments.

    Attributes:
        name: Name of the mechanism.
        nq, nv, nc, nu: Numbers of positions, velocities, constraint rows and actuators.
        names: Names of the velocity coordinates (nv).
        body_names: Names of the bodies, "ground" first (nb).
        row_names: Names of the constraint rows (nc).
        actuators: Names of the actuated coordinates, in the order of u (nu).
        passive: Names of the coordinates without an actuator.
        states: Names of the states of first order (`spec.state`), whose values are entries of v.
        length: Characteristic length L [m], which makes metres and radians comparable.
        model: Declarations and arrays that it was compiled to.
        evaluator: Its constraints as functions.
        units: Units of coordinates and rows.
        omitted: What the file that it was loaded from contains and it does not, in words: constraints and
            actuators that were dropped, then what else changes the motion, then the rest.
        laws: Laws of actuators by the coordinate that they drive, where its file gives them.
        visuals: Shapes for pictures.
    """

    name: str
    nq: int
    nv: int
    nc: int
    nu: int
    names: tuple[str, ...]
    body_names: tuple[str, ...]
    row_names: tuple[str, ...]
    actuators: tuple[str, ...]
    passive: tuple[str, ...]
    states: tuple[str, ...]
    length: float
    model: Model
    evaluator: Evaluator
    units: Units
    omitted: tuple[str, ...]
    laws: Mapping[str, tuple[ActuatorLaw, ...]]
    visuals: tuple[Visual, ...]
    _kernel: Any
    _arguments: Arguments
    _queries: Queries
    _owner: str
    _actuated: npt.NDArray[np.int32]
    _default: State | None
    _near: Array | None  # where to assemble the default state; None: at neutral()
    _free: Any
    _may_be_undefined: bool

    def __init__(self, model: Model, default: State | None = None, near: Array | None = None) -> None:
        evaluator, arguments = Evaluator(model), Arguments(model)
        names, row_names = model.coordinate_names, model.row_names
        actuators = tuple(actuator.name for actuator in model.actuators)
        is_state = model.structure.tree.first_order
        states = tuple(name for name, first in zip(names, is_state, strict=True) if first)
        self.__dict__.update(
            model=model,
            evaluator=evaluator,
            units=Units(model.unit, model.row_unit, evaluator.rank_tol, names, row_names),
            name=model.name,
            **{size: getattr(model, size) for size in ("nq", "nv", "nc", "nu", "body_names")},
            names=names,
            row_names=row_names,
            actuators=actuators,
            passive=tuple(name for name in names if name not in (*actuators, *states)),
            length=evaluator.length,
            states=states,
            omitted=model.omitted,
            laws=model.laws,
            visuals=model.visuals,
            _kernel=evaluator.kernel,
            _arguments=arguments,
            _queries=Queries(evaluator.kernel, arguments),
            _owner=arguments.owner,
            _actuated=np.array([actuator.index for actuator in model.actuators], dtype=np.int32),
            _default=default,
            _near=near,
            _free=None,
            _may_be_undefined=any(one.undefined for _, one in model.structure.constraints),
        )

    def _of_variant(self, model: Model, default: State | None, near: Array | None) -> Self:
        """A copy whose model differs in numbers only."""
        evaluator, arguments = self.evaluator.of_variant(model), self._arguments.of_variant(model)
        copy = object.__new__(type(self))
        computed = _cached_names(cast(type, type(self)))
        copy.__dict__.update(
            {name: value for name, value in self.__dict__.items() if name not in computed},
            model=model,
            evaluator=evaluator,
            units=replace(self.units, unit=model.unit, row_unit=model.row_unit),
            length=evaluator.length,
            visuals=model.visuals,
            _kernel=model.kernel,
            _arguments=arguments,
            _queries=Queries(model.kernel, arguments),
            _default=default,
            _near=near,
        )
        return copy

    @cached_property
    def _modes(self) -> Modes | None:
        """What can change along any motion: whether dry friction sticks; None where nothing can."""
        return Modes(self.model) if sticks(self.model) else None

    @property
    def rest(self) -> Array:
        """Velocities at rest (nv,): zero, but states of first order are where they begin."""
        bodies = self.model.tree.bodies
        return np.array([body.start for body in bodies for _ in range(body.joint.nv)])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a Mechanism cannot be changed: use with_() to get a changed copy, not {name!r} = ..."
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Mechanism cannot be changed: {name!r} stays.")

    # ------------------------------------------------------------------ checks of arguments

    def _positions(self, q: npt.ArrayLike, what: str = "q") -> Array:
        """q as an array (..., nq), finite, quaternions of unit length."""
        return self._arguments.positions(q, what)

    def _tangent(self, x: npt.ArrayLike, what: str) -> Array:
        """A vector of the size of v, (..., nv), finite."""
        return self._arguments.tangent(x, what)

    def _time(self, t: float) -> float:
        return self._arguments.time(t)

    def _one_pose(self, q: npt.ArrayLike, what: str = "q") -> Array:
        return self._arguments.one_pose(q, what)

    def _one_tangent(self, x: npt.ArrayLike, what: str) -> Array:
        return self._arguments.one_tangent(x, what)

    def _indices(self, given: Sequence[str], what: str) -> list[int]:
        return self._arguments.indices(given, what)

    def _require_defined(self, J: Array, gamma: Array) -> None:
        """Refuse poses (batched or not) at which some constraint row is NaN or infinite."""
        fine = np.isfinite(J).all(axis=-1) & np.isfinite(gamma)
        bad = np.asarray(~fine.reshape(-1, self.nc).all(axis=0))
        if not np.any(bad):
            return
        rows = ", ".join(np.array(self.row_names)[bad].tolist())
        declared = zip(self.model.groups, self.model.constraints, strict=True)
        why = dict.fromkeys(kind.undefined for group, (_, kind) in declared if np.any(bad[group.rows]))
        raise InputError(
            f"the constraint rows {rows} of {self._owner} are not defined at this pose"
            f" ({', or '.join(filter(None, why))}). Choose another pose."
        )

    def _applied(
        self,
        q: npt.ArrayLike,
        tau: npt.ArrayLike | None,
        u: npt.ArrayLike | None,
        external: Mapping[str, Any] | None,
    ) -> Array:
        """tau + S.T u + wrenches on bodies, (..., nv); batch axes as they come."""
        total = np.zeros(self.nv) if tau is None else self._tangent(tau, "tau")
        if u is not None:
            inputs = state(u, "u", self.nu, f"{self._owner}, which has the actuators {list(self.actuators)}")
            spread = np.zeros((*inputs.shape[:-1], self.nv))
            spread[..., self._actuated] = inputs
            total = total + spread
        for body, wrench, point in self._external(external):
            J = self._queries.jacobian(q, self.body_names[body], point, "world_aligned")
            total = total + np.einsum("...ij,...i->...j", J, wrench)
        return total

    def _external(self, external: Mapping[str, Any] | None) -> list[External]:
        """Wrenches on bodies as (body, wrench (..., 6), point in the body frame (3,))."""
        given = mapping(external, "external", "{body: wrench}")
        return [
            (self.model.body_index(body, "external"), *self._wrench_at(body, one))
            for body, one in given.items()
        ]

    def _wrench_at(self, body: str, given: Any) -> tuple[Array, Array]:
        """(wrench, point) of an external load: a wrench at the origin, or a pair."""
        what = f"external wrench on {body!r}"
        if isinstance(given, tuple) and len(given) == 2:
            point = state(self._point(body, given[1]), f"point of the {what}", 3)
            return state(given[0], what, 6), np.ascontiguousarray(point)
        return state(given, f"{what} (force, then moment, world axes)", 6), np.zeros(3)

    def _point(self, body: str, point: Any) -> Any:
        """A point of a body, given by coordinates in its frame or by the name of a point of the drawing."""
        if not isinstance(point, str):
            return point
        named = dict(self.model.points)
        require_known("point", point, named, f"a point of {body!r}")
        p, R = self._queries.pose(self.model.neutral(), body)  # the drawing
        return R.T @ (np.array(named[point]) - p)


def whole(part: Core) -> Mechanism:
    """The mechanism that a part belongs to, for type checkers."""
    return cast("Mechanism", part)


def frozen_state(q: npt.ArrayLike, v: npt.ArrayLike) -> State:
    """A State whose arrays are read-only copies."""
    return State(frozen(q), frozen(v))
