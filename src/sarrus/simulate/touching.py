"""One-sided rows: what does not pull, and how loads that can be shared in many ways are shared.

Contacts push or let go. Of all velocities that enter none of them, an inelastic impact leaves the one nearest
to the velocity before, in the mass metric (Moreau's impact); of all accelerations, the motion has the one
nearest to that without contacts (Gauss' principle). With x_p any vector that satisfies all rows as equations
and M = L L.T, the multipliers are those of a bounded least-squares problem, redundant rows or not:

    min |x+ - x|_M   s.t.  J x+ = r,  side (J x+ - r) >= 0 for one-sided rows                          (1)
    min |L^-1 J.T lam - L.T (x_p - x)|   s.t.  side lam >= 0,     M (x+ - x) = J.T lam                 (2)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.optimize import lsq_linear

from ..projection.decomposition import decompose, metric_factor

Array = npt.NDArray[np.float64]

FEASIBLE = 1e-9  # of the force: what a sharing of the load may leave over
REGULAR = 1e-8  # weight of lam in (2), relative
SHARED = 1e-3  # of the largest multiplier: what a contact counts as pushing where the load can be shared


def nearest(M: Array, J: Array, right: Array, x: Array, signs: Mapping[int, float], rank: int) -> Array:
    """x+ (nv,) of (1).

    Args:
        M: mass matrix (nv, nv).
        J: rows (nc, nv), of known rank.
        right: right side (nc,).
        x: velocity or acceleration without the rows (nv,).
        signs: side of each one-sided row, by its index.
        rank: rank of J.
    """
    L = metric_factor(M, len(M))
    meets_all = decompose(J, M, rank=rank).solve(right - J @ x)
    B = solve_triangular(L, J.T, lower=True)
    lam = _bounded(B, L.T @ meets_all, signs)
    return np.asarray(x + solve_triangular(L, B @ lam, trans="T", lower=True))


def pushes(J: Array, lam: Array, unique: bool, signs: Mapping[int, float]) -> dict[int, float]:
    """side * lam of each one-sided row, positive where it pushes.

    Where rows depend on each other a set pulls only if no sharing of the load pushes everywhere.

    Args:
        J: Jacobian (nc, nv).
        lam: multipliers (nc,) of least norm.
        unique: whether the motion determines them.
        signs: side of each one-sided row, by its index.
    """
    plain = {row: side * float(lam[row]) for row, side in signs.items()}
    if unique or min(plain.values(), default=0.0) >= 0.0:
        return plain
    force, size = J.T @ lam, float(np.max(np.abs(lam)))
    shared = _bounded(J.T, force, signs)
    if float(np.linalg.norm(J.T @ shared - force)) > FEASIBLE * float(np.linalg.norm(force)):
        return plain
    return {row: max(side * float(shared[row]), SHARED * size) for row, side in signs.items()}


def _bounded(A: Array, b: Array, signs: Mapping[int, float]) -> Array:
    """lam with least |A lam - b| and the signs asked for; of several, one of least norm.

    A little weight on lam itself keeps redundant columns apart; it moves the others by less than rounding.
    """
    n = A.shape[1]
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for row, side in signs.items():
        (low if side > 0.0 else high)[row] = 0.0
    weight = REGULAR * float(np.linalg.norm(A, 2)) * np.eye(n)
    rows, right = np.vstack([A, weight]), np.concatenate([b, np.zeros(n)])
    return np.asarray(lsq_linear(rows, right, (low, high), method="bvls", max_iter=20 * n + 100).x)
