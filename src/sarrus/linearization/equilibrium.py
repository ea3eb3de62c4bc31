"""equilibrium: a static pose on the constraints, and its stability.

At rest the acceleration a is tangent, and vanishes with N.T (h - S.T u). With dq = N y, a step

    (s - A) y = N^+ a,   A = N^+ da/dq N                                                              (1)

is Newton's for s = 0. With s above every eigenvalue of A it is a damped step along a, which descends like a
slow, overdamped motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..dynamics.derivatives import derivatives
from ..errors import AssemblyError, EquilibriumError, InputError, SingularConstraintError
from ..mechanism.mechanism import Mechanism
from ..projection.decomposition import full_svd
from ..simulation.system.custom_system import CustomSystem
from .finite_differences import finite_variation
from .operating_point import OperatingPoint, by_differences, operating_point, require_mechanism
from .stability import stability

NEAR = 0.5  # an equilibrium within this distance of the guess [rad, or times L] is accepted, stable or not
LONGEST = 0.25  # step [rad, or times L]
BALANCED = 1e-14  # tangent force relative to all forces
SETTLED = 1e-11  # Newton step [rad, or times L] at which the iteration has converged
NEWTON_STEPS, DESCENT_STEPS = 30, 200


@dataclass(frozen=True)
class Equilibrium:
    """A static pose.

    Attributes:
        q: positions (nq,) [rad, m].
        u: inputs of the actuators (nu,) [N m, N] that hold it.
        residual: largest entry of the force that is not balanced (its tangent part) [N m, N].
        stable: True (comes back, or oscillates about it), False (leaves), None (neutral: can move off
            without force, so linear terms do not decide).
        message: the same in words.
        eigenvalues: of the minimal linear model there [1/s].
    """

    q: Array
    u: Array
    residual: float
    stable: bool | None
    message: str
    eigenvalues: npt.NDArray[np.complex128]


@one_blas_thread
def equilibrium(
    mech: Mechanism | CustomSystem,
    q_guess: npt.ArrayLike | None = None,
    u: npt.ArrayLike | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    tau: npt.ArrayLike | None = None,
    t: float = 0.0,
) -> Equilibrium:
    """A static pose under gravity, springs and given inputs; see `Equilibrium`.

    The equilibrium near the guess, stable or not (0.5 rad, or 0.5 L); where there is none so near, the one at
    which the mechanism comes to rest when it slides slowly down from the guess.

    Args:
        mech: a Mechanism or a CustomSystem.
        q_guess: where to look (nq,) [rad, m]; default `mech.default.q`. Closed first where it is open.
        u: inputs of the actuators (nu,) [N m, N]; default zero.
        fixed: coordinates to hold at these values, {name: value}: the least inputs that do so are found and
            added to u.
        tau: applied generalized force besides u (nv,) [N m, N].
        t: time of the drives [s].

    Raises:
        EquilibriumError: there is none, or none was found; the message says what keeps moving.
        AssemblyError: the guess cannot be closed.
    """
    require_mechanism(mech, "equilibrium")
    if fixed is not None and not isinstance(fixed, Mapping):
        raise InputError(f"fixed must be a mapping {{name: value}} of coordinates to hold, got {fixed!r}.")
    system: Any = mech
    search = _Search(system, u, fixed, tau, t)
    start = search.close(np.array(mech.default.q) if q_guess is None else mech._one_pose(q_guess, "q_guess"))
    found = search.run(start, NEWTON_STEPS, damped=False)
    if found is None or _distance(system, start, found.q) > NEAR:
        found = search.run(start, DESCENT_STEPS, damped=True) or found
    if found is None:
        raise EquilibriumError(search.why_not())
    said = stability(found)
    holding = f" Held by u = {np.array2string(found.u, precision=6)}." if fixed else ""
    message = said.message + holding
    return Equilibrium(found.q, found.u, search.residual(found), said.stable, message, said.eigenvalues)


class _Search:
    """The iteration: states at rest and steps between them."""

    def __init__(self, mech: Mechanism, u: Any, fixed: Mapping[str, Any] | None, tau: Any, t: float) -> None:
        self._mech, self._u, self._fixed, self._tau, self._t = mech, u, dict(fixed or {}), tau, t
        self._held = [k for name in self._fixed for k in mech.model.tree.coordinates(name, "fixed")]
        self._last: OperatingPoint | None = None

    def close(self, q: Array) -> Array:
        """The nearest pose that closes the constraints, held coordinates at their values."""
        found = self._mech.assemble(q, self._fixed, self._t)
        if not found.success:
            raise AssemblyError(f"the guess of an equilibrium cannot be assembled. {found.message}")
        return found.q

    def at(self, q: Array) -> OperatingPoint:
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
        mech = self._mech
        try:
            force = {"tau": self._tau, "t": self._t}
            return operating_point(mech, q, np.zeros(mech.nv), u, **force, what="equilibrium")
        except SingularConstraintError as error:
            raise EquilibriumError(
                f"the search for an equilibrium of {mech.name!r} came to a singular pose (rank {error.rank}),"
                f" q = {np.array2string(q, precision=4)}, where branches meet and forces at rest do not say"
                " how it moves on. Start from a q_guess nearer to the pose you mean."
            ) from error

    def freedoms(self, point: OperatingPoint) -> Array:
        """Tangent directions without motion of the held coordinates (nv, k)."""
        N = point.at.N_q
        if not self._held:
            return N
        _, s, Vt = full_svd(N[self._held])
        return np.asarray(N @ Vt[int(np.sum(s > 1e-9)) :].T)

    def run(self, q: Array, most: int, damped: bool) -> OperatingPoint | None:
        """The limit of at most so many steps; None if they do not converge.

        Newton's steps lead to the equilibrium nearby and are given up where one is very long. Damped steps
        lead to a minimum of the potential.
        """
        point = self.at(q)
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

    def residual(self, point: OperatingPoint) -> float:
        """Largest entry of the tangent part of the force, held coordinates left out."""
        N = self.freedoms(point) / self._unit[:, None]
        force = N @ (N.T @ (self._unit * self._imbalance(point))) / self._unit
        return float(np.max(np.abs(force), initial=0.0))

    def why_not(self) -> str:
        """The unbalanced force and the coordinates it acts on, in words."""
        assert self._last is not None
        mech, size = self._mech, np.abs(self._last.a / self._unit)
        moving = [mech.names[i] for i in np.argsort(-size)[:4] if size[i] > 0.1 * np.max(size)]
        return (
            f"no equilibrium of {mech.name!r} found: {self.residual(self._last):.3g} (N m or N) stays"
            f" unbalanced along {', '.join(moving)}. Nothing holds the mechanism there: give inputs u, hold"
            " coordinates with fixed={name: value}, add a spring, or start from another q_guess."
        )

    # ------------------------------------------------------------------ steps

    @property
    def _unit(self) -> Array:
        return self._mech.units.unit

    def _imbalance(self, point: OperatingPoint) -> Array:
        """h - tau (nv,)."""
        return self._mech.bias(point.q, point.v) - point.tau

    def _balanced(self, point: OperatingPoint) -> bool:
        scale = float(np.max(np.abs(self._mech.bias(point.q, point.v)) + np.abs(point.tau), initial=0.0))
        M = self._mech.mass_matrix(point.q)
        return self.residual(point) <= BALANCED * (scale + float(np.max(np.abs(M))))

    def _steps(self, point: OperatingPoint) -> tuple[Array, Array, bool]:
        """Damped step, no longer than LONGEST, and Newton's step (nv,); whether Newton's has converged."""
        N = self.freedoms(point)
        inverse = np.linalg.pinv(N / self._unit[:, None]) / self._unit
        A, a = inverse @ _acceleration_slope(point, N), inverse @ point.a
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
        return self.at(self.close(self._mech.integrate(point.q, part * step)))


def _acceleration_slope(point: OperatingPoint, N: Array) -> Array:
    """da/dq N (nv, k) at rest."""
    system = point.mech.evaluator
    if not by_differences(point.mech):
        drive = system.drive(point.t, 1)
        states = point.q[None], point.v[None], point.tau[None]
        d = derivatives(system, *states, drive, multipliers=False)
        return np.asarray(d.a_q[0] @ N)
    R, R_v = (np.asarray(np.linalg.pinv(N), dtype=float) for N in (point.at.N_q, point.at.N_v))
    x = finite_variation(point, R, R_v, [])
    return np.asarray(x.rate[point.mech.nv :, : len(R)] @ (R @ N))


def _distance(mech: Mechanism, q0: Array, q1: Array) -> float:
    """Largest change of a coordinate, lengths divided by L."""
    return float(np.max(np.abs(mech.difference(q0, q1) / mech.units.unit), initial=0.0))
