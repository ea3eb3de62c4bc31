"""Derivatives of `project`, at states on the constraints and off them.

`project` (kernels/solve/search/nearest_state.hpp) finds q1 and v1 with

  min |difference(q, q1)|_M  s.t.  phi(q1) = 0          min |v1 - v|_M  s.t.  J(q1) v1 = b           (1)

M at the given q. With multipliers lam, mu its conditions are N.T F = 0 and N.T H = 0, N the null space of J,

  F(q, q1) = grad 1/2 |difference(q, q1)|_M^2 + J(q1).T lam,     H(q, q1) = M(q) (v1 - v) + J(q1).T mu   (2)

lam and mu held. Their derivatives give those of q1 and v1 by the implicit function theorem. How F and H
change with poses is found by differences of order six: off the constraints only, and as exact as rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...differences import slope_terms
from ...dynamics.step_derivatives import projection_slopes
from ..core.core import State

if TYPE_CHECKING:
    from ..mechanism import Mechanism

CLOSED = 1e-12  # moved by the projection less than that [rad, L]: the state is on the constraints
NEAR = 1e-12  # of the largest eigenvalue: null space
APART = 1e-2  # [rad, L] of the differences
TERMS = slope_terms(6)


def projected_slopes(mech: Mechanism, q: Array, v: Array, after: State, t: float) -> Array:
    """Derivatives (B, 2 nv, 2 nv) of [position increment; velocity] of `project` at states (B, nq), (B, nv).

    Args:
        mech: the mechanism.
        q, v: the given states, quaternions of unit length.
        after: what `project` made of them.
        t: time [s].
    """
    if not mech.nc:
        return np.tile(np.eye(2 * mech.nv), (len(q), 1, 1))
    zero = np.zeros_like(after.v)
    Jv_q = mech.derivatives(after.q, after.v, zero, t=t).Jv_q
    found = projection_slopes(mech.terms(after.q, after.v, t), Jv_q, mech.model.holonomic.astype(bool))
    moved = np.abs(mech.difference(q, after.q)) / mech.units.unit
    speed = np.abs(after.v - v) / mech.units.unit
    off = np.maximum(moved.max(axis=-1), speed.max(axis=-1)) > CLOSED
    for i in np.flatnonzero(off):
        one = _Projection(mech, q[i], v[i], State(after.q[i], after.v[i]), t)
        found[i] = one.slopes(Jv_q[i])
    return found


class _Projection:
    """One state that the projection has moved."""

    def __init__(self, mech: Mechanism, q: Array, v: Array, after: State, t: float) -> None:
        self.mech, self.q, self.t, self.q1 = mech, q, t, after.q
        J, self.moved = self._J(after.q[None])[0], after.v - v
        self.M, self.N, self.back = mech.mass_matrix(q), _null_space(J), np.linalg.pinv(J, rcond=1e-9)
        held = J * mech.model.holonomic[:, None]
        self.N_q = _null_space(held)
        self.lam = -np.linalg.pinv(held.T, rcond=1e-9) @ self._gradient(q[None], after.q[None])[0]
        self.lam = self.lam * mech.model.holonomic
        self.mu = -np.linalg.pinv(J.T, rcond=1e-9) @ (self.M @ self.moved)

    def slopes(self, Jv_q: Array) -> Array:
        """(2 nv, 2 nv)."""
        n, N = self.mech.nv, self.N
        F0, H0 = self._along(first=True)
        F1, H1 = self._along(first=False)
        N_q = self.N_q
        e = -N_q @ np.linalg.solve(N_q.T @ F1 @ N_q, N_q.T @ F0)  # dq1 / dq
        part = -self.back @ Jv_q @ e  # of dv1 / dq, across the constraints
        inertia = N.T @ self.M @ N
        by_q = part - N @ np.linalg.solve(inertia, N.T @ (H0 + H1 @ e + self.M @ part))
        by_v = N @ np.linalg.solve(inertia, N.T @ self.M)
        return np.block([[e, np.zeros((n, n))], [by_q, by_v]])

    def _along(self, first: bool) -> tuple[Array, Array]:
        """Derivatives (nv, nv) of F and H by increments of q, or of q1."""
        n, unit = self.mech.nv, np.asarray(self.mech.units.unit)
        F, H = np.zeros((n, n)), np.zeros((n, n))
        for k, weight in TERMS:
            apart = np.diag(k * APART * unit)
            q, q1 = (np.tile(x, (n, 1)) for x in (self.q, self.q1))
            q, q1 = (self.mech.integrate(q, apart), q1) if first else (q, self.mech.integrate(q1, apart))
            f, h = self._conditions(q, q1)
            F += weight / APART * (f / unit[:, None]).T
            H += weight / APART * (h / unit[:, None]).T
        return F, H

    def _conditions(self, q: Array, q1: Array) -> tuple[Array, Array]:
        """F and H (n, nv), (2), of n pairs of poses."""
        J = self._J(q1)
        F = self._gradient(q, q1) + self.lam @ J
        return np.asarray(F), np.asarray(self.mech.mass_matrix(q) @ self.moved + self.mu @ J)

    def _gradient(self, q: Array, q1: Array) -> Array:
        """Gradient (n, nv) of 1/2 |difference(q, q1)|_M^2 by increments of q1."""
        mech, d = self.mech, self.mech.difference(q, q1)
        weighted: Array = np.einsum("nij,nj->ni", mech.mass_matrix(q), d)
        if mech.nq == mech.nv:
            return weighted
        found, unit = np.zeros_like(d), np.asarray(mech.units.unit)
        for j in range(mech.nv):
            for k, weight in TERMS:
                apart = np.zeros(mech.nv)
                apart[j] = k * APART * unit[j]
                change = mech.difference(q, mech.integrate(q1, np.tile(apart, (len(q1), 1))))
                found[:, j] += weight / (APART * unit[j]) * np.sum(weighted * change, axis=-1)
        return found

    def _J(self, q: Array) -> Array:
        return np.asarray(self.mech.terms(q, np.zeros((len(q), self.mech.nv)), self.t).J)


def _null_space(J: Array) -> Array:
    """Orthonormal directions (nv, dof) that J leaves free."""
    values, vectors = np.linalg.eigh(J.T @ J)
    return np.asarray(vectors[:, values <= NEAR * max(float(values[-1]), 1e-300)])
