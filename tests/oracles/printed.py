"""Algorithms of the papers as printed (errata applied), in 30 digits, so that none of the rounding is theirs.

Arrays hold `mpmath` numbers. Inverses stand where the papers have them; where rows depend on each other the
papers' inverses become pseudoinverses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray
DEPENDENT = 1e-9  # singular values below this part of the largest belong to dependent rows
CONTEXT = mpmath.MPContext()
CONTEXT.dps = 30


def exact(values: Any) -> Array:
    """Numbers of 30 digits."""
    values = np.asarray(values)
    return np.array([CONTEXT.mpf(float(x)) for x in values.ravel()], dtype=object).reshape(values.shape)


def rounded(values: Array) -> Array:
    """Back to double precision."""
    return np.asarray(values, dtype=np.float64)


def eye(n: int) -> Array:
    return exact(np.eye(n))


def _matrix(A: Array) -> Any:
    return CONTEXT.matrix(A.tolist())


def _array(A: Any) -> Array:
    return np.array(A.tolist(), dtype=object).reshape(A.rows, A.cols)


def inverse(A: Array) -> Array:
    return _array(_matrix(A) ** -1) if A.size else A


def pseudoinverse(A: Array) -> Array:
    """By the singular values that are not zero."""
    if not A.size:
        return A.T
    tall = A if A.shape[0] >= A.shape[1] else A.T
    U, s, V = (_array(x) for x in CONTEXT.svd_r(_matrix(tall)))
    s = s.ravel()
    kept = [i for i in range(len(s)) if s[i] > DEPENDENT * max(s)]
    found = V[kept].T @ ((U[:, kept] / s[kept]).T)
    return found if tall is A else found.T


@dataclass
class Aghili2005:
    """Direct and inverse dynamics by the projection operator: M a + h = tau + F, A a = c."""

    M: Array
    h: Array
    A: Array
    c: Array

    def __post_init__(self) -> None:
        self.M, self.h, self.A, self.c = map(exact, (self.M, self.h, self.A, self.c))
        self.one = eye(len(self.M))
        self.A_plus = pseudoinverse(self.A)
        self.P = self.one - self.A_plus @ self.A  # (15)
        self.normal = self.A_plus @ self.c  # (16)

    def constraint_inertia(self, form: str, gamma: float = 1.0) -> tuple[Array, Array]:
        """The matrix and what multiplies the normal acceleration on the right: (22)-(25), (27)-(29)."""
        M, P, one = self.M, self.P, self.one
        if form == "projection":
            return M + P @ M - (P @ M).T, M
        if form == "symmetric":
            return P @ M @ P + (one - P) @ M @ (one - P), (one - 2 * P) @ M
        return P @ M + gamma * (one - P), gamma * one

    def acceleration(self, tau: Array, form: str, gamma: float = 1.0) -> Array:
        """M_c a = P (tau - h) + ... (22), (27), (29)."""
        inertia, weight = self.constraint_inertia(form, gamma)
        return inverse(inertia) @ (self.P @ (exact(tau) - self.h) + weight @ self.normal)

    def constraint_force(self, tau: Array) -> Array:
        """(32): F = M a + h - tau, all of it normal."""
        a = self.acceleration(tau, "projection")
        return (self.one - self.P) @ (self.M @ a + self.h - exact(tau))

    def inverse_dynamics(self, a: Array) -> Array:
        """(21): the tangential torque P (M a + h)."""
        return self.P @ (self.M @ exact(a) + self.h)


def spencer2004(dynamics: Aghili2005, tau: Array, independent: list[int]) -> Array:
    """Local state-space form in some of the coordinates: K of (2.34)-(2.36), K.T M K y'' = ... (2.19)."""
    M, A = dynamics.M, dynamics.A
    others = [k for k in range(len(M)) if k not in independent]
    K = np.empty((len(M), len(independent)), dtype=object)
    K[independent], K[others] = eye(len(independent)), -pseudoinverse(A[:, others]) @ A[:, independent]
    if not independent:
        return dynamics.normal
    right = K.T @ (exact(tau) - dynamics.h - M @ dynamics.normal)
    return K @ (inverse(K.T @ M @ K) @ right) + dynamics.normal


@dataclass
class DeSapio2010:
    """Algorithm 2; algorithm 1 where there are no constraints. Lists have one entry per level."""

    M: Array
    h: Array
    Phi: Array
    gamma: Array
    tasks: list[tuple[Array, Array]]

    def __post_init__(self) -> None:
        M, h, Phi, gamma = map(exact, (self.M, self.h, self.Phi, self.gamma))
        W, one = inverse(M), eye(len(M))
        self.H = pseudoinverse(Phi @ W @ Phi.T)  # (87)
        self.Theta_T = one - Phi.T @ self.H @ Phi @ W  # (90)
        eta, N_T = Phi.T @ (self.H @ (Phi @ W @ h + gamma)), self.Theta_T  # (88), (89)
        self.Q, self.z, self.N_T, self.eta = [], [], [N_T], [eta]
        for J_i, wanted in self.tasks:
            J = exact(J_i)
            Q_T = N_T @ J.T  # line 4
            z = inverse(J @ W @ Q_T) @ (exact(wanted) + J @ W @ (h - eta))  # line 5
            bar_T = inverse(Q_T.T @ W @ Q_T) @ Q_T.T @ W  # line 6
            N_T, eta = N_T @ (one - Q_T @ bar_T), eta + Q_T @ z  # lines 7, 8
            self.Q.append(Q_T.T)
            self.z.append(z)
            self.N_T.append(N_T)
            self.eta.append(eta)

    def total(self, null: Array | None = None) -> Array:
        """eta = tau + Phi.T lam (nv,), line 11, (96)."""
        return rounded(self.eta[-1] if null is None else self.eta[-1] + self.N_T[-1] @ exact(null))


def aghili2011(dynamics: Aghili2005, Lambda: Array, wanted: Array) -> Array:
    """Tangential torque of a task Lambda a = wanted, (13) with its two corrections."""
    P, L = dynamics.P, exact(Lambda)
    a = pseudoinverse(L @ P) @ (exact(wanted) - L @ dynamics.normal) + dynamics.normal
    return P @ (dynamics.h + dynamics.M @ a)
