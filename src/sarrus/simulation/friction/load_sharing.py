"""How coordinates that stick may share a load: in proportion to what each can hold.

Where rows that stick depend on each other their friction f is one of many with the same effect A.T f on the
motion, A the tangent directions along these coordinates. The share of least sum of (f_k / c_k)^2,

    f = C B (B.T B)^+ A.T f,     B = C A,  C = diag(c)                                                   (1)

is within the bounds c long before the share of least norm is: a proof that they hold, for many states in one
call. Close to the limit it proves nothing, and a linear program decides (stuck_rows.py).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Array

SINGULAR = 1e-9  # of the largest singular value of B
ROUNDS = 4  # in which bounds by load follow the shares


def tangents_along(J: Array, at: npt.NDArray[np.int64], rank_tol: float) -> Array | None:
    """A (n, number of coordinates, dof) for dimensionless J (n, nc, nv); None where the rank of J varies."""
    n, nc, nv = J.shape
    if nc == 0:
        return np.broadcast_to(np.eye(nv)[at], (n, len(at), nv))
    values, Vt = np.linalg.svd(J)[1:]
    rank = np.sum(values > rank_tol, axis=1)
    if np.any(rank != rank[0]):
        return None
    return np.asarray(np.swapaxes(Vt[:, rank[0] :, at], 1, 2))


def shared(A: Array, f: Array, bounds: Array) -> Array:
    """(1) for friction f and its bounds (n, number of coordinates), without units."""
    B = A * bounds[..., None]
    effect = np.einsum("nkd,nk->nd", A, f)
    return np.asarray(bounds * np.einsum("ndk,nd->nk", np.linalg.pinv(B, rcond=SINGULAR), effect))
