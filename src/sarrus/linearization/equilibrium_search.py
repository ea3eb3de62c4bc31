"""Searches for equilibria: that of the kernel, and one for systems whose dynamics are functions of Python.

At rest the acceleration a is tangent, and vanishes with N.T (h - S.T u). With dq = N y, a step

    (s - A) y = N^+ a,   A = N^+ da/dq N                                                              (1)

is Newton's for s = 0. With s above every eigenvalue of A it is a damped step along a, which descends like a
slow, overdamped motion. `Search` leaves all of it to kernels/derivatives/equilibrium.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from .._kernel import REST
from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..constraints.evaluate import Evaluator
from ..errors import AssemblyError, EquilibriumError, SingularConstraintError
from ..mechanism.core.access import actuated_columns, queries_of
from ..mechanism.mechanism import Mechanism
from ..projection.assembly import rows_and_columns
from ..projection.decomposition import full_svd
from .finite_differences import finite_variation
from .operating_point import OperatingPoint, operating_point, vector

NEAR = 0.5  # an equilibrium within this distance of the guess [rad, or times L] is accepted, stable or not
LONGEST = 0.25  # step [rad, or times L]
BALANCED = 1e-14  # tangent force relative to all forces
SETTLED = 1e-11  # Newton step [rad, or times L] at which the iteration has converged
NEWTON_STEPS, DESCENT_STEPS = 30, 200


class WithForces:
    """The functions of an evaluator that the kernel's search asks for; user rows come with user forces."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self.drive = evaluator, evaluator.drive

    def rows_at(self, t: float) -> Callable[[Array, Array], Array]:
        """User rows and forces as a function of (q, v)."""
        return lambda q, v: self._evaluator.user(q[None], v[None], t)[0]


class Search:
    """The search of the kernel, and its failures in words."""

    def __init__(self, mech: Mechanism, u: Any, fixed: Mapping[str, Any] | None, tau: Any, t: float) -> None:
        self._mech, self._u, self._fixed, self._tau, self._t = mech, u, dict(fixed or {}), tau, t
        self._held = [k for name in self._fixed for k in mech.model.tree.coordinates(name, "fixed")]

    def close(self, q: Array) -> Array:
        """The nearest pose that closes the constraints, held coordinates at their values."""
        found = self._mech.assemble(q, self._fixed or None, self._t)
        if not found.success:
            raise AssemblyError(f"the guess of an equilibrium cannot be assembled. {found.message}")
        return found.q

    def run(self, q: Array) -> tuple[Array, Array, float]:
        """Pose, inputs and what is left unbalanced, from a closed pose."""
        mech = self._mech
        u = np.zeros(mech.nu) if self._u is None else vector(mech, self._u, "u", mech.nu)
        tau = np.zeros(mech.nv) if self._tau is None else vector(mech, self._tau, "tau", mech.nv)
        held = np.array(self._held, dtype=np.int32)
        which = rows_and_columns(mech.evaluator, tuple(self._held)), rows_and_columns(mech.evaluator)
        found, inputs, a, residual, (end, status) = queries_of(mech).equilibrium(
            q, (WithForces(mech.evaluator), self._t), (tau, u), (actuated_columns(mech), held), which
        )
        if end == REST["FOUND"]:
            return found, inputs, float(residual)
        if end == REST["NOT_FOUND"]:
            raise EquilibriumError(self._why_not(a, float(residual)))
        self._explain(found, inputs, status)

    def _explain(self, q: Array, u: Array, status: int) -> NoReturn:
        """Why the search stopped at a pose."""
        mech = self._mech
        if status == REST["NOT_ASSEMBLED"]:
            self.close(q)
        try:
            point = operating_point(
                mech, q, np.zeros(mech.nv), u, tau=self._tau, t=self._t, what="equilibrium"
            )
        except SingularConstraintError as error:
            rank = error.rank
        else:
            rank = point.rank
        raise self._singular(q, rank)

    def _singular(self, q: Array, rank: int) -> EquilibriumError:
        return EquilibriumError(
            f"the search for an equilibrium of {self._mech.name!r} came to a singular pose (rank {rank}),"
            f" q = {np.array2string(q, precision=4)}, where branches meet and forces at rest do not say"
            " how it moves on. Start from a q_guess nearer to the pose you mean."
        )

    def _why_not(self, a: Array, residual: float) -> str:
        """The unbalanced force and the coordinates it acts on, in words."""
        mech, size = self._mech, np.abs(a / self._mech.units.unit)
        moving = [mech.names[i] for i in np.argsort(-size)[:4] if size[i] > 0.1 * np.max(size)]
        return (
            f"no equilibrium of {mech.name!r} found: {residual:.3g} (N m or N) stays"
            f" unbalanced along {', '.join(moving)}. Nothing holds the mechanism there: give inputs u, hold"
            " coordinates with fixed={name: value}, add a spring, or start from another q_guess."
        )


class CustomSearch(Search):
    """The same for a CustomSystem, by differences."""

    _last: OperatingPoint | None = None

    @one_blas_thread
    def run(self, q: Array) -> tuple[Array, Array, float]:
        """Pose, inputs and what is left unbalanced, from a closed pose."""
        found = self._limit(q, NEWTON_STEPS, damped=False)
        if found is None or self._distance(q, found.q) > NEAR:
            found = self._limit(q, DESCENT_STEPS, damped=True) or found
        if found is None:
            assert self._last is not None
            raise EquilibriumError(self._why_not(self._last.a, self._residual(self._last)))
        return found.q, found.u, self._residual(found)

    def _at(self, q: Array) -> OperatingPoint:
        """The state at rest, with the inputs that balance the held coordinates."""
        point = self._at_rest(q, self._u)
        if self._held:
            N = point.at.N_q
            S = np.zeros((self._mech.nv, self._mech.nu))
            S[[x.index for x in self._mech.model.actuators], np.arange(self._mech.nu)] = 1.0
            more = np.linalg.lstsq(N.T @ S, N.T @ self._imbalance(point), rcond=1e-12)[0]
            point = self._at_rest(q, point.u + more)
        self._last = point
        return point

    def _at_rest(self, q: Array, u: Any) -> OperatingPoint:
        mech, force = self._mech, {"tau": self._tau, "t": self._t}
        try:
            return operating_point(mech, q, np.zeros(mech.nv), u, **force, what="equilibrium")
        except SingularConstraintError as error:
            raise self._singular(q, error.rank) from error

    def _freedoms(self, point: OperatingPoint) -> Array:
        """Tangent directions without motion of the held coordinates (nv, k)."""
        N = point.at.N_q
        if not self._held:
            return np.asarray(N)
        _, s, Vt = full_svd(N[self._held])
        return np.asarray(N @ Vt[int(np.sum(s > 1e-9)) :].T)

    def _limit(self, q: Array, most: int, damped: bool) -> OperatingPoint | None:
        """The limit of at most so many steps; None if they do not converge.

        Newton's steps lead to the equilibrium nearby and are given up where one is very long. Damped steps
        lead to a minimum of the potential.
        """
        point = self._at(q)
        for _ in range(most):
            if self._balanced(point):
                return point
            slow, newton, settled = self._steps(point)
            if settled:
                return self._next(point, newton)
            if not damped and np.max(np.abs(newton / self._unit), initial=0.0) > 4.0 * LONGEST:
                return None
            point = self._next(point, slow if damped else newton)
        return None

    def _residual(self, point: OperatingPoint) -> float:
        """Largest entry of the tangent part of the force, held coordinates left out."""
        N = self._freedoms(point) / self._unit[:, None]
        force = N @ (N.T @ (self._unit * self._imbalance(point))) / self._unit
        return float(np.max(np.abs(force), initial=0.0))

    @property
    def _unit(self) -> Array:
        return self._mech.units.unit

    def _imbalance(self, point: OperatingPoint) -> Array:
        """h - tau (nv,)."""
        return self._mech.bias(point.q, point.v) - point.tau

    def _balanced(self, point: OperatingPoint) -> bool:
        scale = float(np.max(np.abs(self._mech.bias(point.q, point.v)) + np.abs(point.tau), initial=0.0))
        M = self._mech.mass_matrix(point.q)
        return self._residual(point) <= BALANCED * (scale + float(np.max(np.abs(M))))

    def _steps(self, point: OperatingPoint) -> tuple[Array, Array, bool]:
        """Damped step, no longer than LONGEST, and Newton's step (nv,); whether Newton's has converged."""
        N = self._freedoms(point)
        inverse = np.linalg.pinv(N / self._unit[:, None]) / self._unit
        A, a = inverse @ self._slope(point, N), inverse @ point.a
        shift = max(0.0, float(np.max(np.linalg.eigvals(A).real, initial=0.0)))
        shift += float(np.linalg.norm(a)) / LONGEST
        steps = [np.linalg.lstsq(s * np.eye(len(A)) - A, a, rcond=1e-12)[0] for s in (shift, 0.0)]
        damped, newton = (N @ y for y in steps)
        small = float(np.max(np.abs(newton / self._unit), initial=0.0)) <= SETTLED
        settled = small and float(np.linalg.norm(A @ steps[1] + a)) <= 1e-6 * float(np.linalg.norm(a))
        return damped, newton, settled

    def _next(self, point: OperatingPoint, step: Array) -> OperatingPoint:
        size = float(np.max(np.abs(step / self._unit), initial=0.0))
        part = 1.0 if size <= LONGEST else LONGEST / size
        return self._at(self.close(self._mech.integrate(point.q, part * step)))

    def _slope(self, point: OperatingPoint, N: Array) -> Array:
        """da/dq N (nv, k) at rest."""
        R, R_v = (np.asarray(np.linalg.pinv(N), dtype=float) for N in (point.at.N_q, point.at.N_v))
        x = finite_variation(point, R, R_v, np.zeros(0, dtype=np.int32))
        return np.asarray(x.rate[point.mech.nv :, : len(R)] @ (R @ N))

    def _distance(self, q0: Array, q1: Array) -> float:
        """Largest change of a coordinate, lengths divided by L."""
        return float(np.max(np.abs(self._mech.difference(q0, q1) / self._unit), initial=0.0))
