"""OperationalSpace: the quantities of [DeSapio2010] at one step of a task hierarchy, by their names there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...arrays import Array
from ...differences import slope_of_terms, slope_terms
from ...dynamics.input_response import Response
from ...projection.decompose import decompose
from ..state.measured_state import MeasuredState
from .levels import LevelSplit
from .tasks import BoundTask

RANK_TOL = 1e-9  # singular values of task rows below this part of the largest count as lost
STEP = 0.01  # of differences along the motion, relative to a speed of 1 rad/s, or L per second


class OperationalSpace:
    """The quantities of [DeSapio2010] at one step, each made when it is first read.

        H     = (Phi M^-1 Phi.T)^-1                     inertia at the constraints           eq. (87)
        alpha = H (Phi M^-1 b - Phi' v)                 rho = H Phi M^-1 g                   eq. (88), (89)
        Q_i.T = N_(i-1).T J_i.T                         N_0.T = Theta.T                      eq. (91), (94)
        z_i   = (J_i M^-1 Q_i.T)^-1 (x_i'' - J_i' v + J_i M^-1 (b + g - eta_(i-1)))          eq. (92)
        eta_i = eta_(i-1) + Q_i.T z_i                   eta_0 = Phi.T (alpha + rho)          eq. (86), (95)
        Lambda_c = (J M^-1 Theta.T J.T)^-1              mu_c, p_c likewise                   eq. (110)-(112)

    `jacobians` and `Q` have an entry for each level, highest priority first; `N`, `z` and `eta` have one more
    in front, that of the constraints. `N` holds N_i.T, which multiplies forces. `J`, `Lambda_c`, `mu_c` and
    `p_c` are of the rows of all active tasks together.

    h = b + g: g is h at rest, gravity and declared forces; b the rest. Inverses are pseudoinverses of the
    rank that the step found. Where actuators do not control all freedoms, N_0, and with it Q, z and eta,
    leave out the others; H, alpha, rho, Theta, Lambda_c, mu_c and p_c are of all freedoms, as printed. Limits
    and damping of the law are not in these formulas.
    """

    def __init__(
        self,
        now: MeasuredState,
        response: Response,
        levels: Sequence[tuple[Sequence[BoundTask], Array, Array]],
        splits: Sequence[LevelSplit],
        E: Array,
    ) -> None:
        """
        Args:
            now: the state.
            response: to the inputs.
            levels: of each level its active tasks, their rows J (k, nv) and J a = wanted (k,).
            splits: ranks and null spaces of the levels.
            E: basis of the accelerations that the actuators can produce (nv, r), E.T M E = 1.
        """
        self._now, self._response, self._levels = now, response, levels
        self._splits, self._E, self._M, self._Phi = splits, E, response.terms.M, response.terms.J

    @cached_property
    def _W(self) -> Array:
        """M^-1 (nv, nv)."""
        return np.asarray(np.linalg.inv(self._M))

    @property
    def jacobians(self) -> tuple[Array, ...]:
        """J_i (k_i, nv) of each level."""
        return tuple(J for _, J, _ in self._levels)

    @cached_property
    def g(self) -> Array:
        """Bias force at rest (nv,): gravity and declared forces."""
        at_rest = MeasuredState(self._now.system, self._now.t, self._now.q, np.zeros_like(self._now.v))
        return at_rest.terms.h

    @property
    def b(self) -> Array:
        """Bias force of the motion (nv,): centrifugal and Coriolis terms, dampers."""
        return self._response.terms.h - self.g

    # ------------------------------------------------------------------ constraints

    @cached_property
    def H(self) -> Array:
        """Inertia at the constraints (nc, nc), eq. (87)."""
        return _inverse(self._Phi @ self._W @ self._Phi.T, self._response.rank)

    @property
    def alpha(self) -> Array:
        """Centrifugal and Coriolis forces at the constraints (nc,), eq. (88)."""
        return self.H @ (self._Phi @ self._W @ self.b + self._response.terms.gamma)

    @property
    def rho(self) -> Array:
        """Gravity forces at the constraints (nc,), eq. (89)."""
        return self.H @ self._Phi @ self._W @ self.g

    @property
    def Theta(self) -> Array:
        """Null-space matrix of the constraints (nv, nv), eq. (90); velocities are multiplied by it."""
        return np.eye(len(self._M)) - self._W @ self._Phi.T @ self.H @ self._Phi

    # ------------------------------------------------------------------ levels

    @cached_property
    def bases(self) -> list[Array]:
        """Orthonormal bases, in the mass metric, of what the levels 0, 1, ... leave open (nv, m)."""
        found = [self._E]
        for split in self._splits:
            found.append(found[-1] @ split.left)
        return found

    @property
    def N(self) -> tuple[Array, ...]:
        """N_i.T (nv, nv), i = 0 for the constraints, then each level: projectors of forces, eq. (94)."""
        return tuple(self._M @ X @ X.T for X in self.bases)

    @cached_property
    def Q(self) -> tuple[Array, ...]:
        """Q_i (k_i, nv) of each level, eq. (91)."""
        pairs = zip(self.jacobians, self.bases, strict=False)
        return tuple(np.asarray(J @ X @ (self._M @ X).T) for J, X in pairs)

    @cached_property
    def _recursion(self) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """z_0, z_1, ... and eta_0, eta_1, ..., eq. (83), (86), (92), (95)."""
        z = [self.alpha + self.rho]
        eta = [self._Phi.T @ z[0]]
        for (_, J, wanted), Q, split in zip(self._levels, self.Q, self._splits, strict=True):
            right = wanted + J @ self._W @ (self._response.terms.h - eta[-1])
            z.append(_inverse(J @ self._W @ Q.T, split.rank) @ right)
            eta.append(eta[-1] + Q.T @ z[-1])
        return tuple(z), tuple(eta)

    @property
    def z(self) -> tuple[Array, ...]:
        """z_0 = alpha + rho (nc,), then z_i (k_i,), eq. (92)."""
        return self._recursion[0]

    @property
    def eta(self) -> tuple[Array, ...]:
        """eta_0, eta_1, ... (nv,): torque and constraint force of the levels up to i, eq. (95)."""
        return self._recursion[1]

    # ------------------------------------------------------------------ all tasks as one

    @cached_property
    def J(self) -> Array:
        """Rows of all active tasks (k, nv)."""
        return np.concatenate([np.zeros((0, len(self._M))), *self.jacobians])

    @cached_property
    def Lambda_c(self) -> Array:
        """Task inertia within the constraints (k, k), eq. (110)."""
        X = decompose(self._Phi, self._M, rank=self._response.rank).N  # X X.T = M^-1 Theta.T
        U, s, _ = np.linalg.svd(self.J @ X, full_matrices=False)
        kept = s > RANK_TOL * np.max(s, initial=0.0)
        return np.asarray((U[:, kept] / s[kept] ** 2) @ U[:, kept].T)

    @property
    def mu_c(self) -> Array:
        """Centrifugal and Coriolis forces of the tasks (k,), eq. (111)."""
        at_constraints = self._W @ self._Phi.T @ self.H @ self._response.terms.gamma  # -M^-1 Phi.T H Phi' v
        inertial = self.J @ self._W @ self.Theta.T @ self.b
        return self.Lambda_c @ (inertial - self.J_rate - self.J @ at_constraints)

    @property
    def p_c(self) -> Array:
        """Gravity forces of the tasks (k,), eq. (112)."""
        return self.Lambda_c @ self.J @ self._W @ self.Theta.T @ self.g

    @cached_property
    def J_rate(self) -> Array:
        """J' v (k,), by differences along the motion."""
        now, unit = self._now, self._response.units.unit
        speed = float(np.max(np.abs(now.v / unit), initial=0.0))
        tasks = [task for group, _, _ in self._levels for task in group]
        if speed == 0.0 or not tasks:
            return np.zeros(len(self.J))

        def moving(s: float) -> Array:
            """J v at the pose moved by s v."""
            there = MeasuredState(now.system, now.t, now.system.integrate(now.q, s * now.v), now.v)
            return np.concatenate([task.rows_at(there) @ now.v for task in tasks])

        return slope_of_terms(moving, STEP / speed, slope_terms(6))


def _inverse(A: Array, rank: int) -> Array:
    """Pseudoinverse of a symmetric matrix of known rank, the largest eigenvalues counting."""
    if not A.size or rank == 0:
        return np.zeros_like(A)
    values, V = np.linalg.eigh(0.5 * (A + A.T))
    kept = slice(len(values) - rank, None)
    return np.asarray((V[:, kept] / values[kept]) @ V[:, kept].T)
