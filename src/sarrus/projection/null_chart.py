"""Differentiable null space: a basis of the tangent velocities that is a smooth function of the pose.

With N_0 the basis at the origin of the chart and P(q) the projector onto the tangent directions,

    P N_0 = N R  (Gram-Schmidt),   v = N z + J^+ b,   z' = N.T a + N'.T v       [Spencer2004] 2.4     (1)

N' follows from differentiating both decompositions along the motion, P' = -(J^+ J' P) - (J^+ J' P).T and

    N' = (1 - N N.T) P' N_0 R^-1 + N K,   K = L - L.T,  L the strict lower part of N.T P' N_0 R^-1    (2)

J' is a central difference of sixth order along v. Positions use the tangent space at the origin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from .charts import ChartError, LinearChart, NullSpaces, tangent_split
from .decomposition import full_svd
from .system_kinematics import Kinematics, dimensionless

STEP = 0.02  # of the difference for J' [rad], or times L [m]
INDEPENDENT = 1e-6  # smallest diagonal entry of R


class NullspaceChart(LinearChart):
    """Velocities in the basis N(q) of (1), positions in the tangent space at the origin."""

    def __init__(self, system: Kinematics, twists: Sequence[slice], q: Array, J: Array) -> None:
        at = NullSpaces.of(system, J)
        super().__init__(system, twists, "differentiable null space", q, tangent_split(at))
        self._N_0, self._rank = at.N_v, system.nv - at.N_v.shape[1]

    def rates(self, t: float, q: Array, v: Array, a: Array, J: Array) -> Array:
        system, bare = self._system, dimensionless(self._system, J)
        N, R, pinv = self._basis(bare)
        x = v / system.unit
        slope = pinv @ self._slope(t, q, v) @ (np.eye(system.nv) - pinv @ bare)
        turned = np.linalg.solve(R.T, (-(slope + slope.T) @ self._N_0).T).T  # P' N_0 R^-1
        inside = np.tril(N.T @ turned, -1)
        rate = turned - N @ (N.T @ turned) + N @ (inside - inside.T)
        z_rate = N.T @ (a / system.unit) + rate.T @ x
        return np.concatenate([self._R_q @ self._increment_rate(v), z_rate])

    def _velocity(self, y_v: Array, J: Array, b: Array) -> Array:
        N, _, pinv = self._basis(dimensionless(self._system, J))
        return np.asarray(N @ y_v + pinv @ (b / self._system.row_unit))

    def _velocity_coordinates(self, x: Array, J: Array) -> Array:
        return np.asarray(self._basis(dimensionless(self._system, J))[0].T @ x)

    def _basis(self, bare: Array) -> tuple[Array, Array, Array]:
        """N and R of (1), and the pseudoinverse of J without units."""
        U, s, Vt = full_svd(bare)
        r = self._rank
        tangent = Vt[r:].T
        N, R = np.linalg.qr(tangent @ (tangent.T @ self._N_0))
        sign = np.where(np.diag(R) < 0.0, -1.0, 1.0)
        if np.min(np.abs(np.diag(R)), initial=1.0) < INDEPENDENT:
            raise ChartError
        return N * sign, sign[:, None] * R, (Vt[:r].T / s[:r]) @ U[:, :r].T

    def _slope(self, t: float, q: Array, v: Array) -> Array:
        """J' without units, along the motion."""
        system = self._system
        speed = float(np.linalg.norm(v / system.unit))
        if speed == 0.0:
            return np.zeros((system.nc, system.nv))

        def J(s: float) -> Array:
            return system.constraints(system.integrate(q, s * v), np.zeros(system.nv), t + s)[1]

        return dimensionless(system, slope_of_terms(J, STEP / max(speed, 1.0), slope_terms(6)))
