"""StageChart: the constraint manifold about one state, in as many coordinates as there are freedoms.

    q = integrate(q0, N_q y_q + Z_q mu),  phi(q, t) = 0           v = N_v y_v + Z_v nu,  J(q) v = b        (1)

N spans the tangent directions at q0, Z the others; mu and nu are found by Newton. With u = difference(q0, q),

    dy_q/dt = R_q T(u)^-1 v,   dy_v/dt = R_v a,   R N = 1, R Z = 0       [Spencer2004] eq. (2.15), (2.33)  (2)

T is dexp (models/twists.py). Made for the stages of one step: several states at once, which start their
iteration where the last one ended.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..dynamics.derivatives import Derivatives
from ..models.twists import ad_all, twist_slices
from ..projection.local import lift, tangents
from .interpolate import Manifold
from .plant import Plant

Array = npt.NDArray[np.float64]

CLOSED = 1e-13  # largest |phi| without units
CLOSED_ENOUGH = 1e-10  # where rounding does not allow more
MOST_CLOSING = 15
RCOND = 1e-12


class NotClosedError(Exception):
    """No state of the mechanism has these local coordinates: they reach too far."""


@dataclass(frozen=True)
class States:
    """k states in a chart: q (k, nq), v (k, nv), u = difference(q0, q) (k, nv), mu (k, normal directions)."""

    q: Array
    v: Array
    u: Array
    mu: Array


class StageChart:
    """Local coordinates y = [y_q; y_v] (n,) about the state q0 at which J has the given rank."""

    def __init__(self, plant: Plant, manifold: Manifold, t: float, q: Array, v: Array, rank: int) -> None:
        self._plant, self._manifold, self._q0, self._v0 = plant, manifold, q, v
        self._free = plant.nc == 0
        self._holonomic = np.asarray(plant.model.holonomic, dtype=bool)
        J = plant.constraints(np.array([t]), q[None], v[None])[1][0]
        unit = plant.units.unit
        self.at = tangents(plant.evaluator, J, rank)
        self.R_q = self.at.bare(self.at.N_q).T / unit
        self.R_v = self.R_q if self.at.N_v is self.at.N_q else self.at.bare(self.at.N_v).T / unit
        self.split = self.at.N_q.shape[1]
        self.size = self.split + self.at.N_v.shape[1]
        self.start = np.concatenate([np.zeros(self.split), self.R_v @ v])
        self.lift = np.zeros((2 * plant.nv, self.size))  # [dq; dv] of small increments of y
        self.lift[: plant.nv, : self.split], self.lift[plant.nv :, self.split :] = self.at.N_q, self.at.N_v

    def states(self, t: Array, y: Array, mu: Array | None = None) -> States:
        """States (1) at times t (k,) of local coordinates y (k, n), from a guess of mu."""
        plant, rest = self._plant, np.zeros((len(t), self._plant.nv))
        mu = np.zeros((len(t), self.at.Z_q.shape[1])) if mu is None else mu
        inverse, before = None, np.inf
        for _ in range(MOST_CLOSING):
            u = y[:, : self.split] @ self.at.N_q.T + mu @ self.at.Z_q.T
            q = self._manifold.integrate(np.tile(self._q0, (len(t), 1)), u)
            if self._free:
                return States(q, y[:, self.split :] @ self.at.N_v.T, u, mu)
            phi, J, b, _ = plant.constraints(t, q, rest)
            r = (phi / plant.units.row_unit)[:, self._holonomic]
            gap = float(np.max(np.abs(r), initial=0.0))
            if not np.isfinite(gap) or gap > 1e3 * max(before, 1.0):
                break
            if gap <= CLOSED or (gap <= CLOSED_ENOUGH and gap > 0.5 * before):
                return States(q, self._velocity(J, b, y[:, self.split :]), u, mu)
            if inverse is None or gap > 0.1 * before:
                inverse = np.linalg.pinv(self._bare(J, self.at.Z_q)[:, self._holonomic], rcond=RCOND)
            mu = mu - np.einsum("kij,kj->ki", inverse, r)
            before = gap
        raise NotClosedError

    def rates(self, at: States, a: Array) -> Array:
        """dy/dt (k, n), eq. (2)."""
        u_rate = self._manifold.rate(at.u, at.v)
        return np.hstack([u_rate @ self.R_q.T, a @ self.R_v.T])

    def slope(self, d: Derivatives) -> Array:
        """d(dy/dt)/dy (n, n) at the state itself, inputs held; [Spencer2004] section 4.2."""
        nv = self._plant.nv
        T = lift(self.at, self.R_q, self.R_v, d.Jv_q).matrix
        dq, dv = T[:nv], T[nv:]
        # T(u)^-1 v = v - ad_v u / 2 + ...
        turning = ad_all(twist_slices(self._plant.model), self._v0) @ dq
        return np.vstack([self.R_q @ (dv - 0.5 * turning), self.R_v @ (d.a_q @ dq + d.a_v @ dv)])

    def reduced(self, z: Array) -> Array:
        """y (..., n) of small [dq; dv] (..., 2 nv)."""
        nv = self._plant.nv
        return np.concatenate([z[..., :nv] @ self.R_q.T, z[..., nv:] @ self.R_v.T], axis=-1)

    def _bare(self, J: Array, Z: Array) -> Array:
        """J Z without units (k, nc, normal directions)."""
        return np.asarray(J @ Z / self._plant.units.row_unit[:, None])

    def _velocity(self, J: Array, b: Array, y_v: Array) -> Array:
        tangent = y_v @ self.at.N_v.T
        miss = (b - np.einsum("kij,kj->ki", J, tangent)) / self._plant.units.row_unit
        inverse = np.linalg.pinv(self._bare(J, self.at.Z_v), rcond=RCOND)
        return np.asarray(tangent + np.einsum("kij,kj->ki", inverse, miss) @ self.at.Z_v.T)
