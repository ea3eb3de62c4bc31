"""How coordinates that stick may share a load: with the least norm, or in proportion to what each can hold.

Where rows that stick, and contacts, depend on each other their forces f are some of many with the same effect
A.T f on the motion, A the tangent directions along them. The share of least sum of (f_k / c_k)^2,

    f = C B (B.T B)^+ A.T f,     B = C A,  C = diag(c)                                                   (1)

is that of least norm for c = 1, which is reported. With the bounds c it is within these long before: a proof
that they hold, for many states in one call. Close to the limit it proves nothing, and a linear program
decides.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array

SINGULAR = 1e-9  # of the largest singular value of B
ROUNDS = 4  # in which bounds by load follow the shares


def tangents(J: Array, rank_tol: float) -> Array | None:
    """Directions (n, nv, dof) that dimensionless J (n, nc, nv) leaves free; None where its rank varies."""
    n, nc, nv = J.shape
    if nc == 0:
        return np.broadcast_to(np.eye(nv), (n, nv, nv))
    values, Vt = np.linalg.svd(J)[1:]
    rank = np.sum(values > rank_tol, axis=1)
    if np.any(rank != rank[0]):
        return None
    return np.asarray(np.swapaxes(Vt[:, rank[0] :], 1, 2))


def shared(A: Array, f: Array, bounds: Array) -> Array:
    """(1) for forces f and their bounds (n, k), without units, and A (n, k, dof)."""
    B = A * bounds[..., None]
    effect = np.einsum("nkd,nk->nd", A, f)
    return np.asarray(bounds * np.einsum("ndk,nd->nk", np.linalg.pinv(B, rcond=SINGULAR), effect))


def without_effect(along: Array) -> Array:
    """Orthonormal forces (k, n) that do nothing along the directions (k, dof)."""
    _, values, Vt = np.linalg.svd(along.T)
    rank = int(np.sum(values > SINGULAR * max(float(values[0]), 1e-300))) if len(values) else 0
    return np.asarray(Vt[rank:].T)


def least_load(f: Array, p: Array, Z: Array) -> tuple[float, Array]:
    """Least x such that some y has |f + Z_f y| <= x and p - Z_p y <= x, by a linear program; and f + Z_f y.

    Args:
        f: friction relative to its bounds (k,).
        p: 1 less the pushes of contacts, relative to the pull at which they open (m,).
        Z: changes without effect (k + m, n).
    """
    from scipy.optimize import linprog

    most = float(np.max(np.concatenate([np.abs(f), p])))
    if Z.shape[1] == 0:
        return most, f
    Zf, Zp = Z[: len(f)], Z[len(f) :]
    rows = np.hstack([-np.ones((2 * len(f) + len(p), 1)), np.vstack([Zf, -Zf, -Zp])])
    cost = np.concatenate([[1.0], np.zeros(Z.shape[1])])
    found = linprog(cost, rows, np.concatenate([-f, f, -p]), bounds=(None, None), method="highs")
    if not found.success:
        return most, f
    return float(found.fun), f + Zf @ found.x[1:]
