"""What a wrench on one body does to it within the constraints, and what stands on a state besides them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ..._kernel import eigenvalues
from ...arrays import Array
from ...dynamics.input_response import Response

SHOWN = 0.02  # least mobility over the middle one at which a body still shows what forces do to it
LOST = 1e-9  # mobility over the largest one of a direction in which a body cannot move


def inverse_inertia(response: Response, J: Array) -> Array:
    """J N (N.T M N)^-1 N.T J.T (k, k), the inverse of the operational space inertia of [Lin2018] eq. (15).

    Acceleration of the task x' = J v per unit of force on it. It exists at singular poses too, where the
    inertia does not.
    """
    return np.asarray(J @ response.inverse_inertia @ J.T)


def solve_small(A: Array, b: Array) -> Array:
    """x with A x = b, without the cost of the general function."""
    _, _, x, info = lapack.dgesv(A, b)
    if info:
        raise np.linalg.LinAlgError("a matrix that has to be solved is singular.")
    return np.asarray(x)


def inertia_of(inverse: Array, size: Array) -> Array:
    """The inertia (k, k) as far as motion shows it; `size` (k, k), products of units, makes it comparable.

    Directions in which the body hardly moves, less than SHOWN of the middle one, fade to zero: there a small
    error of an acceleration would look like a large force.
    """
    bare = inverse / size
    least = SHOWN * sorted(bare.diagonal().tolist())[len(bare) // 2]
    s, U = eigenvalues(bare)
    if s[0] > least:
        return np.asarray((U / s) @ U.T / size)
    fading = np.maximum(least - s, 0.0)
    kept = np.where(s > 1e-9 * s[-1], s / np.maximum(s * s + fading * fading, 1e-300), 0.0)
    return np.asarray((U * kept) @ U.T / size)


def attainable(inverse: Array, unit: Array, wanted: Array, threshold: float) -> Array:
    """The part of an acceleration (k,) that forces on the task can reasonably produce.

    Where the smallest eigenvalue of the dimensionless inverse inertia falls below `threshold` times the
    middle one, an arm is about to be stretched: accelerations along such directions would need forces
    without bound and fade, s^2 / (s^2 + d^2) as in `least_norm_inputs.py`. Elsewhere nothing is lost.
    """
    s, U = eigenvalues(inverse / unit / unit[:, None])
    middle = float(s[len(s) // 2])
    if middle <= LOST * float(s[-1]):  # most directions are lost: measured by the easiest one
        middle = float(s[-1])
    if middle <= 0.0:
        return np.zeros_like(wanted)  # nothing moves
    share = max(float(s[0]), 0.0) / middle
    if share >= threshold:
        return wanted
    d = (1.0 - (share / threshold) ** 2) * (threshold * middle) ** 2
    return np.asarray(unit * (U @ (s * s / (s * s + d) * (U.T @ (wanted / unit)))))


def damping_of(inertia: Array, stiffness: Array, ratio: float) -> Array:
    """D with modes of this damping ratio: D = 2 ratio L U sqrt(k) U.T L.T, inertia = L L.T, [Ott2008] 3.3.

    k and U are the eigenvalues and eigenvectors of L^-1 stiffness L^-T.
    """
    L = np.linalg.cholesky(inertia)
    half = np.linalg.solve(L, np.linalg.solve(L, stiffness).T)
    k, U = np.linalg.eigh(0.5 * (half + half.T))
    both = L @ U
    return np.asarray((both * (2.0 * ratio * np.sqrt(np.maximum(k, 0.0)))) @ both.T)
