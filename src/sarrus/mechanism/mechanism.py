"""Mechanism: a compiled mechanism. Immutable, safe to share between threads, picklable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..constraints.user_forces import user_wrenches
from ..dynamics.bearing_friction import BearingLoads
from ..dynamics.bearings import External
from ..dynamics.derivatives import Derivatives, derivatives
from ..dynamics.dry_friction import DryFriction, Friction, StatesFriction
from ..dynamics.forward import Motion, check_formulation, forward_terms, without_inertia
from ..dynamics.friction_refusals import refuse_rest
from ..dynamics.inverse import Torques, overflow
from ..dynamics.singular_limit import limit_rows
from ..dynamics.terms import Terms
from ..errors import unknown_name
from ..models.model import RESERVED, Model
from ..models.restore import MAKERS, restore
from ..projection.decomposition import metric_factor
from ..tracing.cuda_device import on_cuda
from .core import frozen_state
from .design_queries import DesignQueries
from .design_variants import variant_of
from .device_steps import device_acceleration
from .inertia_queries import InertiaQueries, Metric
from .report import report


class Mechanism(DesignQueries, InertiaQueries):
    """Rigid bodies, joints, closed loops and other constraints, compiled from a `MechanismSpec`.

    Signs: M a + h = tau + S.T u + J.T lam, phi(q, t) = 0, J v = b, J a = gamma. Rows of J may depend on each
    other. Array arguments may have leading batch axes where a method says so. `print(mech)` shows bodies,
    constraints, actuators and mobility.

    Attributes:
        name: Name of the mechanism.
        nq, nv, nc, nu: Numbers of positions, velocities, constraint rows and actuators.
        names, body_names, row_names: Names of velocity coordinates, bodies and constraint rows.
        actuators, passive: Names of the coordinates with an actuator, in the order of u, and without.
        length: Characteristic length L [m], which makes metres and radians comparable.
        omitted: What its file contains and it does not, what changes the motion first.
        laws, visuals: Laws of actuators by coordinate and shapes for pictures, where its file gives them.
    """

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, nq={self.nq}, nv={self.nv}, nc={self.nc}, nu={self.nu})"

    def __str__(self) -> str:
        return report(self)

    def __reduce__(self) -> tuple[Any, ...]:
        known = self._default if self._near is None else self.default
        default = None if known is None else (known.q.tolist(), known.v.tolist())
        return restore, ("Mechanism", {"model": self.model, "default": default})

    # ------------------------------------------------------------------ changed copies

    def with_(self, **changes: Any) -> Mechanism:
        """A changed copy of the same structure.

        Args:
            **changes: gravity=(3,), and mass, com, inertia, armature, damping, friction = {body: value},
                stiffness, damping = {force: value}, as in the description; and values of its parameters, with
                which the default state is assembled anew, near the one before.
        """
        recipe = self.model.recipe
        if recipe is None:
            return Mechanism(self.model.replace(**changes), self._default)
        for name in changes:
            if name not in recipe.parameters and name not in RESERVED:
                raise unknown_name("parameter", name, [*recipe.parameters, *RESERVED])
        values = {name: changes.pop(name) for name in list(changes) if name in recipe.parameters}
        recipe = recipe.with_values(values)
        if not values:
            model, default = self.model.replace(**changes), self._default
            return Mechanism(replace(model, recipe=recipe.with_changes(changes)), default)
        recipe = recipe.with_changes(changes) if changes else recipe
        near = self._near if self._default is None else self._default.q
        return variant_of(self, recipe, near)

    def with_default(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None) -> Mechanism:
        """A copy with another default state, not checked by the constraints: q (nq,), v (nv,) or rest."""
        pose = self._one_pose(q)
        speed = np.zeros(self.nv) if v is None else self._one_tangent(v, "v")
        return Mechanism(self.model, frozen_state(pose, speed))

    # ------------------------------------------------------------------ pictures

    def plot(self, q: npt.ArrayLike | None = None, ax: Any = None, **options: Any) -> Any:
        """Draw the mechanism at q (nq,), default `default.q`, returning Axes; see `sarrus.viz.draw`."""
        from ..viz.figures.mechanism import draw

        return draw(self, q, ax, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a report as one HTML file that prints well; see `sarrus.viz.report`."""
        from ..viz.report import report

        return report(self, path, **options)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from ..viz.notebook import mechanism_html

        return mechanism_html(self)

    def studio(self, path: str | Path, **options: Any) -> Path:
        """Write one HTML file in which it can be dragged, simulated and analysed; see `sarrus.viz.studio`."""
        from ..viz.studios import studio

        return studio(self, path, **options)

    # ------------------------------------------------------------------ motion

    def acceleration(self, q: npt.ArrayLike, v: npt.ArrayLike, tau: npt.ArrayLike, t: float = 0.0) -> Array:
        """Acceleration (nv,) under the applied force tau (nv,), constraints included. Batch axes allowed.

        The same as `forward_dynamics(q, v, tau).a`, made for tight loops. CuPy, Torch and JAX arrays on a
        CUDA device stay there (docs/code.md).

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            tau: applied generalized force (nv,) [N m, N].
            t: time [s]; matters with drives and user rows only.
        """
        if type(q) is not np.ndarray and on_cuda(q):
            return cast(Array, device_acceleration(self, q, v, tau))
        if self._sticks:
            return self.forward_dynamics(q, v, tau, t=t).a
        found = self._queries.acceleration(q, v, tau, t, self.evaluator)
        return self.forward_dynamics(q, v, tau, t=t).a if found is None else found

    def forward_dynamics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        tau: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        t: float = 0.0,
        external: Mapping[str, Any] | None = None,
        formulation: str = "nullspace",
        independent: Sequence[str] | None = None,
    ) -> Motion:
        """Accelerations and constraint forces under given forces; see `Motion`. Batch axes allowed.

        The state is taken as it is: at one off the constraints (`terms(q, v).phi` not zero) the result obeys
        J a = gamma there, and describes no motion of the mechanism. `project` measured states first.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            tau: applied generalized force (nv,) [N m, N]; default none.
            u: actuator inputs (nu,), added to tau.
            t: time [s]; matters with drives and user rows only.
            external: {body: wrench} or {body: (wrench, point)}: [force; moment] (6,) in world axes, at the
                body's origin or at a point (3,) given in the body frame.
            formulation: "nullspace" (the kernel), "svd", "projection", "projection_symmetric",
                "projection_gamma", "partition" or "lagrange" (raises SingularConstraintError
                where J loses rank).
            independent: names of the independent coordinates of "partition"; default: chosen by pivoting.
        """
        forces = tau if u is None and external is None else self._applied(q, tau, u, external)
        friction = None
        if self._sticks:
            friction = self._friction(q, v, forces, t, external)
            v, forces = friction.moving, friction.resting + (0.0 if forces is None else np.asarray(forces))
        if not isinstance(formulation, str) or formulation != "nullspace" or independent is not None:
            motion = self._by_terms(q, v, forces, t, formulation, independent)
        else:
            if self._may_be_undefined:
                self.terms(q, v, t)  # refuses poses at which rows are undefined
            found: Motion | None = self._queries.forward(Motion, q, v, forces, t, self.evaluator)
            if found is None:
                raise without_inertia()
            motion = found
        if friction is not None:
            motion = replace(motion, _friction=friction.force, _friction_unique=friction.unique)
        if external is None and not self.model.user_forces:
            return motion
        assert motion._q is not None and motion._v is not None
        times = np.full(motion.a.shape[:-1], self._time(t))
        of_user = user_wrenches(self.evaluator, motion._q, motion._v, times)
        return replace(motion, _external=(*self._external(external, motion.a.shape[:-1]), *of_user))

    def _friction_problem(self, q: Array, v: Array, t: float) -> tuple[Callable[[Array], Array], Array]:
        """The first two arguments of `DryFriction.solve` at one state."""
        outside = self.evaluator.outside(q[None], v[None], self._time(t))
        N, kernel = self.decompose(q, "mass", t).N, self._slippery.kernel

        def acceleration(tau: Array) -> Array:
            a: Array = kernel.forward(q[None], v[None], tau[None], *outside)[0][0]
            if not np.all(np.isfinite(a)):
                raise without_inertia()
            return a

        return acceleration, N

    def _solve_friction(
        self, state: tuple[Array, Array, Array], t: float, external: tuple[External, ...] = (), **options: Any
    ) -> Friction:
        """Dry friction of one state q, v, tau; options are those of `DryFriction.solve`."""
        (q, v, tau), rows = state, DryFriction(self.model)
        problem = self._friction_problem(q, v, t)
        if not self._bearings:
            return rows.solve(*problem, v, tau, **options)
        outside = self.evaluator.outside(q[None], v[None], self._time(t))
        loaded, kernel = BearingLoads(rows, self.model), self._slippery.kernel
        of_user = user_wrenches(self.evaluator, q[None], v[None], np.array([t]))

        def loads(force: Array) -> Array:
            a, _, lam, *_ = kernel.forward(q[None], v[None], (tau + force)[None], *outside)
            return np.asarray(loaded.bounds(q[None], v[None], a, lam, (*external, *of_user))[0])

        holding = rows.holding(*problem, v, tau, options.get("resting"))
        return loaded.settle(
            holding, lambda extra: rows.solve(*problem, v, tau, extra=extra, **options), loads
        )

    @property
    def _bearings(self) -> bool:
        """Whether the friction of some joint depends on its load."""
        return self._sticks and any(force.by_load for _, force in self.model.forces)

    @one_blas_thread
    def _friction(
        self, q: Any, v: Any, tau: Any, t: float, external: Mapping[str, Any] | None
    ) -> StatesFriction:
        """Dry friction: of states in which all of it slides in one call, of others state by state."""
        force = np.zeros(self.nv) if tau is None else tau
        states, batch = self._arguments.states([(q, "q", True), (v, "v", False), (force, "tau", False)])
        rows = DryFriction(self.model)
        wrenches = [(k, w.reshape(-1, 1, 6), p) for k, w, p in self._external(external, batch)]
        speeds, force = states[1].copy(), self._sliding_friction(states, t, bool(wrenches))
        unique = np.ones(force.shape, dtype=bool)
        for i in np.flatnonzero(np.isnan(force).any(axis=1)):
            outer = tuple((k, w[i], p) for k, w, p in wrenches)
            found = self._solve_friction((states[0][i], states[1][i], states[2][i]), t, outer)
            force[i], unique[i] = found.force, found.unique
        held = np.zeros(force.shape, dtype=bool)
        held[:, rows.coordinates] = rows.resting(speeds)
        speeds[held] = 0.0
        outside = np.where(held, force, 0.0)
        if self._bearings:  # h holds no friction by load
            at, v = rows.coordinates, speeds[:, rows.coordinates]
            outside[:, at] += np.where(v == 0.0, 0.0, force[:, at] + np.sign(v) * rows.level(speeds))
        parts: list[Any] = [force, unique, outside, speeds]
        return StatesFriction(*(part.reshape(*batch, self.nv) for part in parts))

    def _sliding_friction(self, states: list[Array], t: float, loaded: bool) -> Array:
        """Dry friction (n, nv) of states q, v, tau in which no row of it rests; NaN in others.

        Args:
            states: q (n, nq), v and tau (n, nv).
            t: time [s].
            loaded: whether external wrenches act, which the kernel does not see.
        """
        rows, (q, v, tau) = DryFriction(self.model), states
        force, at = np.zeros_like(v), rows.coordinates
        force[:, at] = -np.sign(v[:, at]) * rows.level(v)
        force[rows.resting(v).any(axis=1)] = np.nan
        slides = np.isfinite(force).all(axis=1)
        if self._bearings and slides.any():
            if loaded or not BearingLoads(rows, self.model).by_kernel:
                return np.full_like(force, np.nan)
            q, v, tau = (np.ascontiguousarray(x[slides]) for x in (q, v, tau))
            outside = self.evaluator.outside(q, v, self._time(t))
            force[slides] += self.model.kernel.sliding_friction(q, v, tau, *outside)
        return force

    @cached_property
    def _without_dry_friction(self) -> Mechanism:
        """The mechanism without dry friction: the same one where it has none."""
        return Mechanism(self._slippery, self._default) if self._sticks else self

    @cached_property
    def _slippery(self) -> Model:
        """The model without dry friction."""
        return DryFriction(self.model).without()

    @one_blas_thread
    def _by_terms(
        self, q: Any, v: Any, tau: Any, t: float, formulation: str, independent: Sequence[str] | None
    ) -> Motion:
        """A NumPy formulation, state by state."""
        check_formulation(formulation, independent)
        force = np.zeros(self.nv) if tau is None else tau
        states, batch = self._arguments.states([(q, "q", True), (v, "v", False), (force, "tau", False)])
        terms = self.terms(states[0], states[1], t)
        results = []
        for pose, speed, applied, *one in zip(*states, *vars(terms).values(), strict=True):
            limit = partial(limit_rows, self.evaluator, pose, speed, t)
            options: dict[str, Any] = {"independent": independent, "lost_rows": limit}
            results.append(forward_terms(Terms(*one), applied, self.units, formulation, **options))
        if results and not np.all(np.isfinite([found[0] for found in results])):
            raise without_inertia()
        sizes: list[tuple[int, ...]] = [(self.nv,), (self.nv,), (self.nc,), (self.nc,), ()]
        a, force, lam, unique, rank = (
            np.array([found[i] for found in results]).reshape((*batch, *size)) for i, size in enumerate(sizes)
        )
        pose, speed = states[0].reshape(*batch, self.nq), states[1].reshape(*batch, self.nv)
        found = a, force, lam, unique.astype(bool), rank if batch else int(rank)
        return Motion(*found, _q=pose, _v=speed, _model=self.model)

    def derivatives(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        tau: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        t: float = 0.0,
        method: str = "analytic",
    ) -> Derivatives:
        """Derivatives of the acceleration and of lam at states on the constraints; see `Derivatives`.

        They hold along directions (dq, dv) tangent to the constraints. Batch axes allowed.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            tau: applied generalized force (nv,) [N m, N]; default none.
            u: actuator inputs (nu,), added to tau.
            t: time [s]; matters with drives only.
            method: "analytic" (recursive) or "dual" (dual numbers).
        """
        refuse_rest(self.model, v, "derivatives")
        plain = u is None and tau is not None and isinstance(method, str) and method == "analytic"
        if plain and not self._may_be_undefined and not self.evaluator.calls_functions:
            state, outside = (q, v, tau), (self.evaluator, t)
            found: Derivatives | None = self._queries.derivatives(Derivatives, state, outside)
            if found is not None:
                return found
        q, v, t = self._positions(q), self._tangent(v, "v"), self._time(t)
        (qs, vs, forces), batch = self._batch(q=q, v=v, tau=self._applied(q, tau, u, None))
        drive = self.evaluator.drive(t, len(qs))
        if self._may_be_undefined:
            user = np.zeros((len(qs), len(self.model.u_row), 3 + self.nv))
            self._require_defined(*self._kernel.constraints(qs, vs, drive, user)[1::2])
        return derivatives(self.evaluator, qs, vs, forces, drive, method=method, t=t).reshaped(batch)

    def inverse_dynamics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        a: npt.ArrayLike,
        t: float = 0.0,
        actuated: Sequence[str] | None = None,
        metric: Metric = None,
    ) -> Torques:
        """Actuator forces of least norm that produce the acceleration a (nv,), loops closed; see `Torques`.

        Batch axes allowed: the torque curve along a sweep is one call. Limits of actuators are not obeyed but
        compared: `exceeded` and `message` name those that do not suffice.

        Args:
            q: positions (nq,).
            v: velocities (nv,).
            a: wanted acceleration (nv,).
            t: time [s].
            actuated: names of coordinates or joints to use; default the actuators of the description.
            metric: metric W of velocities; forces are measured by f.T W^-1 f. None (Euclidean), "mass" or a
                matrix.
        """
        refuse_rest(self.model, v, "inverse_dynamics")
        columns = self._actuated
        if actuated is not None:
            columns = np.array(self._indices(actuated, "actuated"), dtype=np.int32)
        if self._may_be_undefined:
            self.terms(q, v, t)  # refuses poses at which rows are undefined
        outside = self.evaluator, t
        found = self._queries.inverse_dynamics(Torques, (q, v, a), outside, metric, columns)
        if type(found) is not Torques:
            first = int(np.flatnonzero(found)[0])
            if found[first] == 1:
                metric_factor(self.mass_matrix(q).reshape(-1, self.nv, self.nv)[first], self.nv)
            raise overflow()
        torques: Torques = found
        return torques


def _restored(data: dict[str, Any]) -> Mechanism:
    default = data["default"]
    return Mechanism(data["model"], None if default is None else frozen_state(*default))


MAKERS["Mechanism"] = _restored
