"""Operational space inertia of a body within the constraints, and damping for it."""

from __future__ import annotations

import numpy as np

from ..._kernel import eigenvalues
from ...arrays import Array
from ...dynamics.input_response import Response

SHOWN = 0.02  # eigenvalues of the inverse inertia below this share of the median one are faded out


def inverse_inertia(response: Response, J: Array) -> Array:
    """J N (N.T M N)^-1 N.T J.T (k, k), the inverse of the operational space inertia of [Lin2018] eq. (15).

    Acceleration of the task x' = J v per unit of force on it. It exists at singular poses too, where the
    inertia does not.
    """
    return np.asarray(J @ response.inverse_inertia @ J.T)


def solve_small(A: Array, b: Array) -> Array:
    """x with A x = b by LAPACK, without the overhead of numpy.linalg.solve."""
    from scipy.linalg import lapack

    _, _, x, info = lapack.dgesv(A, b)
    if info:
        raise np.linalg.LinAlgError("a matrix that has to be solved is singular.")
    return np.asarray(x)


def inertia_of(inverse: Array, size: Array) -> Array:
    """The inertia (k, k), regularized; `size` (k, k), products of units, makes its inverse dimensionless.

    Eigenvalues of the inverse below SHOWN times the median one are faded out: along these directions the body
    hardly moves, and a small error of its acceleration would appear as a large force.
    """
    bare = inverse / size
    least = SHOWN * sorted(bare.diagonal().tolist())[len(bare) // 2]
    s, U = eigenvalues(bare)
    if s[0] > least:
        return np.asarray((U / s) @ U.T / size)
    fading = np.maximum(least - s, 0.0)
    kept = np.where(s > 1e-9 * s[-1], s / np.maximum(s * s + fading * fading, 1e-300), 0.0)
    return np.asarray((U * kept) @ U.T / size)


def damping_of(inertia: Array, stiffness: Array, ratio: float) -> Array:
    """D with modes of this damping ratio: D = 2 ratio L U sqrt(k) U.T L.T, inertia = L L.T, [Ott2008] 3.3.

    k and U are the eigenvalues and eigenvectors of L^-1 stiffness L^-T.
    """
    L = np.linalg.cholesky(inertia)
    half = np.linalg.solve(L, np.linalg.solve(L, stiffness).T)
    k, U = np.linalg.eigh(0.5 * (half + half.T))
    both = L @ U
    return np.asarray((both * (2.0 * ratio * np.sqrt(np.maximum(k, 0.0)))) @ both.T)
