"""Operational space inertia of a body within the constraints, and damping for it."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...dynamics.input_response import Response


def inverse_inertia(response: Response, J: Array) -> Array:
    """J N (N.T M N)^-1 N.T J.T (k, k), the inverse of the operational space inertia of [Lin2018] eq. (15).

    Acceleration of the task x' = J v per unit of force on it. It exists at singular poses too, where the
    inertia does not.
    """
    return np.asarray(J @ response.inverse_inertia @ J.T)


def damping_of(inertia: Array, stiffness: Array, ratio: float) -> Array:
    """D with modes of this damping ratio: D = 2 ratio L U sqrt(k) U.T L.T, inertia = L L.T, [Ott2008] 3.3.

    k and U are the eigenvalues and eigenvectors of L^-1 stiffness L^-T.
    """
    L = np.linalg.cholesky(inertia)
    half = np.linalg.solve(L, np.linalg.solve(L, stiffness).T)
    k, U = np.linalg.eigh(0.5 * (half + half.T))
    both = L @ U
    return np.asarray((both * (2.0 * ratio * np.sqrt(np.maximum(k, 0.0)))) @ both.T)
