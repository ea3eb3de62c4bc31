"""CustomSystem: a constrained system given by Python functions, with the solvers of `Mechanism`.

    M a + h = tau + J.T lam        phi = 0        J v = b        J a = gamma

Its manifold and its constraint rows are those of a skeleton: one hinge per coordinate (a ball joint per
quaternion) with user constraint rows. M and h of the skeleton are not used.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, fixed_shape, frozen, positive_whole, state
from ...constraints.custom import CustomConstraint, call_checked
from ...dynamics.forward import Motion, check_formulation, forward_terms
from ...dynamics.inverse import Torques
from ...dynamics.singular_limit import limit_rows
from ...dynamics.terms import Energy, Terms
from ...errors import InputError, ModelError
from ...mechanism.core.core import State
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.inertia_queries import InertiaQueries, Metric
from ...mechanism.spec import MechanismSpec
from ...models.tree.joints import Revolute, Spherical
from ...projection.assembly import Assembly
from ...projection.decomposition import Decomposition
from ...projection.decompositions import Decompositions
from ...projection.mobility import Mobility
from ...projection.nearest_state import cannot_project

Function = Callable[..., npt.ArrayLike]
Given = Function | npt.ArrayLike | None

ROWS = "phi"
SYMMETRIC = 1e-9


class CustomSystem(InertiaQueries):
    """A constrained system given by functions of (q, v, t), with the methods of `Mechanism` that apply.

    Args:
        nq: number of positions.
        nv: number of velocities; nq = nv + 1 for each quaternion.
        M: mass matrix (nv, nv), symmetric, positive definite along the free directions. A function of
            (q, v, t), or a constant, as everything below.
        h: bias force (nv,) of the equations of motion M a + h = tau + J.T lam; default zero.
        phi: residual of the constraints (nc,); default none. With J but without phi, J v = b restricts
            velocities only.
        J: constraint Jacobian (nc, nv); by central differences of phi if not given.
        gamma: right side of J a = gamma (nc,); by central differences if not given.
        b: right side of J v = b (nc,); default minus the time derivative of phi, by differences.
        potential: potential energy [J], for `Trajectory.energy`; default unknown.
        nc: number of rows; default what phi returns at the neutral position.
        names: one name per coordinate; default q0, q1, ... by the index of its first position.
        actuated: names of the coordinates that u drives; default all.
        quaternions: index into q of the first entry of each quaternion (x, y, z, w), whose three velocities
            are the angular velocity in the turned frame.
        unit: change of each coordinate that is comparable to one radian (nv,); default 1.
        scale: the same for the rows, a number or (nc,): rank is decided on J unit / scale.
        name: name of the system.

    Attributes:
        name: Name of the system.
        nq, nv, nc, nu: Numbers of positions, velocities, constraint rows and actuators.
        names: Names of the velocity coordinates (nv).
        row_names: Names of the constraint rows (nc).
        actuators: Names of the actuated coordinates, in the order of u (nu).
        length: Characteristic length, 1.
        model, evaluator, units: Of the skeleton; its constraint rows are those of the system.
    """

    supplies_inertia = True

    def __init__(
        self,
        nq: int,
        nv: int,
        M: Given = None,
        h: Given = None,
        phi: Given = None,
        J: Given = None,
        gamma: Given = None,
        *,
        b: Given = None,
        potential: Given = None,
        nc: int | None = None,
        names: Sequence[str] | None = None,
        actuated: Sequence[str] | None = None,
        quaternions: Sequence[int] = (),
        unit: npt.ArrayLike | None = None,
        scale: float | npt.ArrayLike = 1.0,
        name: str = "custom system",
    ) -> None:
        self.nq, self.nv = positive_whole(nq, "nq of CustomSystem"), positive_whole(nv, "nv of CustomSystem")
        if M is None:
            raise InputError("CustomSystem needs a mass matrix: M(q, v, t) -> (nv, nv), or a constant one.")
        h = np.zeros(self.nv) if h is None else h
        terms = {"M": M, "h": h, "phi": phi, "J": J, "gamma": gamma, "b": b, "potential": potential}
        self._given: dict[str, Any] = {key: _as_function(value) for key, value in terms.items()}
        spec = self._bodies(name, quaternions, names)
        if phi is None and J is None and any(x is not None for x in (gamma, b)):
            raise InputError("gamma and b belong to constraints: give phi(q, v, t) or J(q, v, t) too.")
        if phi is not None or J is not None:
            spec.constrain(ROWS, self._rows(self._count(nc, quaternions), scale))
        if actuated is not None:
            spec.actuate(*actuated)
        model = spec.model()
        changed: dict[str, Any] = {}
        if unit is not None:
            changed["unit"] = frozen(fixed_shape(unit, "unit", (self.nv,)))
        if phi is None:
            changed["row_holonomic"] = frozen(np.zeros(model.nc), np.int32)
        self._skeleton = skeleton = Mechanism(dataclasses.replace(model, **changed))
        self.model, self.evaluator, self.units = skeleton.model, skeleton.evaluator, skeleton.units
        self.name, self.length, self.nc, self.nu = skeleton.name, skeleton.length, skeleton.nc, skeleton.nu
        self.names, self.row_names, self.actuators = skeleton.names, skeleton.row_names, skeleton.actuators
        self.body_names = skeleton.body_names
        # checks of arguments, as in `Mechanism`
        self._one_pose, self._one_tangent, self._time = (
            skeleton._one_pose,
            skeleton._one_tangent,
            skeleton._time,
        )
        self._applied, self._indices = skeleton._applied, skeleton._indices

    def __repr__(self) -> str:
        return f"CustomSystem({self.name!r}, nq={self.nq}, nv={self.nv}, nc={self.nc}, nu={self.nu})"

    # ------------------------------------------------------------------ manifold, constraints

    @property
    def default(self) -> State:
        """A consistent State(q, v), assembled near `neutral()`, at rest, at t = 0."""
        return self._skeleton.default

    def neutral(self) -> Array:
        """All coordinates zero, all quaternions the identity, (nq,)."""
        return self._skeleton.neutral()

    def integrate(self, q: npt.ArrayLike, dv: npt.ArrayLike) -> Array:
        """q (nq,) moved by the tangent vector dv (nv,)."""
        return self._skeleton.integrate(q, dv)

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The tangent vector (nv,) that leads from q0 to q1 (nq,)."""
        return self._skeleton.difference(q0, q1)

    def mobility(self, q: npt.ArrayLike | None = None, t: float = 0.0) -> Mobility:
        """What the constraints leave free at the pose q (nq,), default `default.q`."""
        return self._skeleton.mobility(q, t)

    def decompose(
        self, q: npt.ArrayLike, metric: Metric = None, t: float = 0.0
    ) -> Decomposition | Decompositions:
        """Split velocities and forces at the constraints of the pose q (nq,); see `Mechanism.decompose`."""
        mass = isinstance(metric, str) and metric == "mass"
        return self._skeleton.decompose(q, self.mass_matrix(q, t) if mass else metric, t)

    def assemble(
        self, q_guess: npt.ArrayLike | None = None, fixed: Mapping[str, Any] | None = None, t: float = 0.0
    ) -> Assembly:
        """A pose near q_guess (nq,) at which phi = 0, some coordinates held; see `Mechanism.assemble`."""
        return self._skeleton.assemble(q_guess, fixed, t)

    def consistent_velocity(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None, t: float = 0.0) -> Array:
        """The velocity (nv,) with J v = b nearest to v (nv,) in the mass metric; v defaults to rest."""
        pose = self._one_pose(q)
        wish = np.zeros(self.nv) if v is None else self._one_tangent(v, "v")
        return self._skeleton.consistent_velocity(pose, wish, t, metric=self.inertia(pose, wish, t)[0])

    def project(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None, t: float = 0.0) -> State:
        """The consistent state nearest to (q, v) in the metric M(q); see `Mechanism.project`. One state."""
        pose = self._one_pose(q)
        speed = np.zeros(self.nv) if v is None else self._one_tangent(v, "v")
        M = self.inertia(pose, speed, t)[0]
        q1, v1, gap, status = self.evaluator.project(pose, speed, self._time(t), metric=M)
        if status:
            raise cannot_project(f"system {self.name!r}", int(status), float(gap) * self.length)
        return State(q1, v1, float(gap) * self.length, 0)

    # ------------------------------------------------------------------ motion

    def inertia(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """M (nv, nv) and h (nv,) at one state, their shapes and values checked."""
        return self._call("M", (self.nv, self.nv), q, v, t), self._call("h", (self.nv,), q, v, t)

    def mass_matrix(self, q: npt.ArrayLike, t: float = 0.0) -> Array:
        """M (nv, nv) at the pose q (nq,), at rest."""
        return self.inertia(self._one_pose(q), np.zeros(self.nv), self._time(t))[0]

    def bias(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Array:
        """h (nv,) at one state."""
        return self.inertia(self._one_pose(q), self._one_tangent(v, "v"), self._time(t))[1]

    def terms(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Terms:
        """M, h, phi, J, b, gamma at one state; see `Terms`."""
        pose, speed = self._one_pose(q), self._one_tangent(v, "v")
        M, h = self.inertia(pose, speed, t)
        if np.max(np.abs(M - M.T)) > SYMMETRIC * np.max(np.abs(M)):
            worst = float(np.max(np.abs(M - M.T)))
            raise ModelError(f"M of {self.name!r} must be symmetric; it differs from M.T by {worst:.3g}.")
        return Terms(M, h, *self.evaluator.constraints(pose, speed, self._time(t)))

    def energy(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Energy:
        """Kinetic and potential energy [J] of one state; NaN where no potential was given."""
        pose, speed = self._one_pose(q), self._one_tangent(v, "v")
        kinetic = 0.5 * speed @ self.inertia(pose, speed, t)[0] @ speed
        known = self._given["potential"] is not None
        potential = self._call("potential", (1,), pose, speed, t)[0] if known else np.nan
        return Energy(np.asarray(kinetic), np.asarray(potential))

    def forward_dynamics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        tau: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        t: float = 0.0,
        formulation: str = "nullspace",
        independent: Sequence[str] | None = None,
    ) -> Motion:
        """Accelerations and constraint forces of one state; arguments as in `Mechanism.forward_dynamics`."""
        check_formulation(formulation, independent)
        pose, speed = self._one_pose(q), self._one_tangent(v, "v")
        applied = self._applied(pose, tau, u, None)
        terms, limit = self.terms(pose, speed, t), partial(limit_rows, self.evaluator, pose, speed, t)
        how = "svd" if formulation == "nullspace" else formulation
        try:
            found = forward_terms(terms, applied, self.units, how, independent=independent, lost_rows=limit)
        except np.linalg.LinAlgError:
            raise ModelError(
                f"no acceleration: M of {self.name!r} is not positive definite along the directions that the"
                f" constraints leave free at t = {t:g} s."
            ) from None
        return Motion(*found, _q=None, _v=None, _model=self.model)

    def inverse_dynamics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        a: npt.ArrayLike,
        t: float = 0.0,
        actuated: Sequence[str] | None = None,
        metric: Metric = None,
    ) -> Torques:
        """Actuator forces of least norm that produce the acceleration a (nv,) at one state.

        Arguments as in `Mechanism.inverse_dynamics`.
        """
        terms, wanted = self.terms(q, v, t), self._one_tangent(a, "a")
        mass = isinstance(metric, str) and metric == "mass"
        needed = terms.M @ wanted + terms.h
        # the skeleton has unit inertia and no bias: there the force M a + h is an acceleration
        given = self._skeleton.inverse_dynamics(q, v, needed, t, actuated, terms.M if mass else metric)
        sizes = np.array(given._sizes)
        sizes[1] = np.max(np.abs(terms.J @ wanted - terms.gamma), initial=0.0)
        return dataclasses.replace(given, _sizes=sizes)

    def acceleration(self, q: npt.ArrayLike, v: npt.ArrayLike, tau: npt.ArrayLike, t: float = 0.0) -> Array:
        """Acceleration (nv,) under the applied force tau (nv,), constraints included."""
        return self.forward_dynamics(q, v, tau, t=t).a

    # ------------------------------------------------------------------ building

    def _bodies(self, name: str, quaternions: Sequence[int], names: Sequence[str] | None) -> MechanismSpec:
        """One body per scalar coordinate or quaternion."""
        firsts = sorted(int(i) for i in quaternions)
        if self.nq != self.nv + len(firsts):
            raise InputError(
                f"nq must be nv plus one per quaternion, got nq = {self.nq}, nv = {self.nv} and quaternions ="
                f" {tuple(firsts)}. Name the first index into q of each quaternion, or use as many positions"
                " as velocities."
            )
        starts, i = [], 0
        while i < self.nq:
            starts.append(i)
            i += 4 if i in firsts else 1
        if i != self.nq or not set(firsts) <= set(starts):
            raise InputError(f"quaternions {tuple(firsts)} do not fit into {self.nq} positions.")
        labels = [f"q{i}" for i in starts] if names is None else list(names)
        if len(labels) != len(starts):
            raise InputError(f"names must be {len(starts)} names, one per joint coordinate, got {labels}.")
        spec = MechanismSpec((0.0, 0.0, 0.0), name, 1.0)
        for label, first in zip(labels, starts, strict=True):
            joint = Spherical() if first in firsts else Revolute("z")
            spec.body(label, joint=joint, mass=1.0, inertia=(1.0, 1.0, 1.0))
        return spec

    def _count(self, nc: int | None, quaternions: Sequence[int]) -> int:
        """Number of rows: as given, or the length of phi (or J) at the neutral position."""
        if nc is not None:
            return positive_whole(nc, "nc of CustomSystem")
        q, which = np.zeros(self.nq), "phi" if self._given["phi"] is not None else "J"
        q[[int(i) + 3 for i in quaternions]] = 1.0
        try:
            with np.errstate(all="ignore"):
                return max(1, len(np.atleast_1d(np.asarray(self._given[which](q, np.zeros(self.nv), 0.0)))))
        except Exception as error:
            raise InputError(
                f"the number of constraint rows is not known: {which} raised {type(error).__name__} ({error})"
                " at the neutral position. Give nc=."
            ) from error

    def _rows(self, n: int, scale: float | npt.ArrayLike) -> CustomConstraint:
        """The constraint rows as functions of (q, t), with v only where gamma needs it."""
        given = dict(self._given)
        if given["phi"] is None:
            given["phi"] = lambda q, v, t: np.zeros(n)
            given["b"] = given["b"] or given["phi"]

        def at_rest(name: str) -> Any:
            function = given[name]
            return None if function is None else lambda q, t: function(q, np.zeros(self.nv), t)

        return CustomConstraint(at_rest("phi"), n, at_rest("J"), given["gamma"], at_rest("b"), scale)

    def _call(self, which: str, shape: tuple[int, ...], q: Array, v: Array, t: float) -> Array:
        return call_checked(self._given[which], (q.copy(), v.copy(), t), f"{which} of {self.name!r}", shape)


def _as_function(value: Given) -> Function | None:
    """A function of (q, v, t); constants become one."""
    if value is None or callable(value):
        return value
    array = np.atleast_1d(np.asarray(value))
    constant = state(array, "a constant term of CustomSystem", array.shape[-1])
    return lambda q, v, t: constant.copy()
