"""One-sided rows: what does not pull, and how loads that can be shared in many ways are shared.

Contacts push or let go. Of all velocities that enter none of them, an inelastic impact leaves the one nearest
to the velocity before, in the mass metric (Moreau's impact); of all accelerations, the motion has the one
nearest to that without contacts (Gauss' principle). With x_p any vector that satisfies all rows as equations
and M = L L.T, the multipliers are those of a bounded least-squares problem, redundant rows or not:

    min |x+ - x|_M   s.t.  J x+ = r,  side (J x+ - r) >= 0 for one-sided rows                          (1)
    min |L^-1 J.T lam - L.T (x_p - x)|   s.t.  side lam >= 0,     M (x+ - x) = J.T lam                 (2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.optimize import lsq_linear

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from ...projection.decomposition import count_above, decompose, full_svd, metric_factor

Ints = npt.NDArray[np.int64]

FEASIBLE = 1e-9  # of the force: what a sharing of the load may leave over
REGULAR = 1e-8  # weight of lam in (2), relative
SHARED = 1e-3  # of the largest multiplier: what a contact counts as pushing where the load can be shared


def velocity_after(mech: Mechanism, t: float, q: Array, v: Array, signs: Mapping[int, float]) -> Array:
    """v+ (nv,) of (1): all rows close, one-sided ones push.

    Args:
        mech: with the rows that close.
        t, q, v: time and state before.
        signs: side of each one-sided row, by its index.
    """
    terms, every = mech.terms(q, v, t), np.arange(mech.nc)
    return nearest(mech, terms.M, terms.J, terms.b, v, signs, every)


def acceleration(
    mech: Mechanism,
    t: float,
    q: Array,
    v: Array,
    tau: Array,
    signs: Mapping[int, float],
    gone: Sequence[int] = (),
) -> tuple[Array, Array]:
    """Acceleration (nv,) of (1) under the applied force tau (nv,), rows `gone` left out; and that without any
    row (nv,)."""
    terms = mech.terms(q, v, t)
    free: Array = np.asarray(np.linalg.solve(terms.M, tau - terms.h), dtype=np.float64)
    kept = np.setdiff1d(np.arange(mech.nc), np.asarray(gone, dtype=int))
    return nearest(mech, terms.M, terms.J, terms.gamma, free, signs, kept), free


def nearest(
    mech: Mechanism, M: Array, J: Array, right: Array, x: Array, signs: Mapping[int, float], kept: Ints
) -> Array:
    """x+ of (1) for the rows `kept` of J (nc, nv)."""
    units, J, right = mech.units, J[kept], right[kept]
    bare = J * units.unit / units.row_unit[kept, None]
    rank = count_above(full_svd(bare)[1], units.rank_tol, absolute=True)
    L = metric_factor(M, len(M))
    meets_all = decompose(J, M, rank=rank).solve(right - J @ x)
    B = solve_triangular(L, J.T, lower=True)
    sides = {i: signs[int(row)] for i, row in enumerate(kept) if int(row) in signs}
    lam = _bounded(B, L.T @ meets_all, sides)
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
    if n == 0:
        return np.zeros(0)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for row, side in signs.items():
        (low if side > 0.0 else high)[row] = 0.0
    weight = REGULAR * float(np.linalg.norm(A, 2)) * np.eye(n)
    rows, right = np.vstack([A, weight]), np.concatenate([b, np.zeros(n)])
    return np.asarray(lsq_linear(rows, right, (low, high), method="bvls", max_iter=20 * n + 100).x)
