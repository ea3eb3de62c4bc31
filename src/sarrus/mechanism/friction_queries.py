"""Dry friction of a Mechanism: the force at its states, and the mechanism without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..constraints.user_forces import user_wrenches
from ..dynamics.bearing_friction import BearingLoads
from ..dynamics.bearings import External
from ..dynamics.dry_friction import DryFriction, Friction, StatesFriction
from ..dynamics.forward import without_inertia
from ..models.model import Model
from .core import Core, whole

if TYPE_CHECKING:
    from .mechanism import Mechanism


class FrictionQueries(Core):
    """Dry friction."""

    def _friction_problem(self, q: Array, v: Array, t: float) -> tuple[Callable[[Array], Array], Array]:
        """The first two arguments of `DryFriction.solve` at one state."""
        outside = self.evaluator.outside(q[None], v[None], self._time(t))
        N, kernel = whole(self).decompose(q, "mass", t).N, self._slippery.kernel

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
        wrenches = [
            (body, np.broadcast_to(wrench, (*batch, 6)).reshape(-1, 1, 6), point)
            for body, wrench, point in self._external(external)
        ]
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
        mech = whole(self)
        return type(mech)(self._slippery, self._default) if self._sticks else mech

    @cached_property
    def _slippery(self) -> Model:
        """The model without dry friction."""
        return DryFriction(self.model).without()
