"""The box problem: forces within bounds, of rows whose accelerations they change.

    min_f  f.T G f / 2 + g.T f    with  low_k <= f_k <= high_k                                            (1)

g are the accelerations without these forces, G what the forces add to them. Friction at rest has the bounds
-c and c, a contact that pushes 0 and infinity. The accelerations g + G f are unique: zero along rows within
their bounds, not negative on the lower one, not positive on the upper one. Where G is singular several f give
them: of these the one of least norm is taken.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, BoolArray

STILL = 1e-9  # of the largest acceleration, also that by the forces: less counts as zero
SINGULAR = 1e-10  # of the largest eigenvalue of G: those below count as zero
REGULAR = 1e-11  # of the same: weight of |f|^2 that selects the solution of least norm
ON = 1e-12  # of the size of a force: distance from a bound that is rounding
LOOSE = 1e-6  # entry of a null vector of G from which on a force is not unique


def box_minimum(G: Array, g: Array, low: Array, high: Array) -> tuple[Array, BoolArray, Array]:
    """f (k,) of (1) of least norm, which entries are the same in every solution, and g + G f (k,).

    Accelerations that are rounding are zero.

    Args:
        G: positive semidefinite (k, k).
        g: (k,).
        low, high: bounds (k,), low < high; finite, or low alone is.
    """
    n, size = len(g), float(np.max(np.abs(G), initial=0.0))
    one_sided = np.isinf(high)
    stiff = one_sided & (np.diag(G) <= SINGULAR * size)  # what other rows prescribe: no push changes it
    rest = ~stiff
    f = np.where(stiff, low, 0.0)
    if np.any(rest):
        given = g[rest] + G[np.ix_(rest, stiff)] @ f[stiff]
        f[rest] = _nearest(G[np.ix_(rest, rest)], given, low[rest], high[rest])
    rate = np.where(stiff, np.maximum(g, 0.0), g + G @ f)
    by_forces = np.abs(G) @ _sizes(f, low, high)
    most = float(np.max(np.maximum(np.abs(g), by_forces), initial=0.0))
    rate[np.abs(rate) <= STILL * most] = 0.0
    if n == 1 and rest[0] and low[0] < f[0] < high[0]:
        rate[0] = 0.0
    still, unique = rate == 0.0, np.ones(n, dtype=bool)
    values, vectors = np.linalg.eigh(G[np.ix_(still, still)])
    unique[still] = np.abs(vectors[:, values <= SINGULAR * size]).max(axis=1, initial=0.0) <= LOOSE
    return f, unique, rate


def _sizes(f: Array, low: Array, high: Array) -> Array:
    """How large forces can be (k,): finite bounds, or what a contact pushes with."""
    return np.where(np.isinf(high), np.abs(f), np.maximum(np.abs(low), np.abs(high)))


def _nearest(G: Array, g: Array, low: Array, high: Array) -> Array:
    """f (k,) of (1), of least norm."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import lsq_linear

    size = float(np.max(np.abs(G)))
    if len(g) == 1 and size > 0.0:
        return np.asarray(np.clip(-g / G[0], low, high))
    bounded = np.where(np.isinf(high), 0.0, np.maximum(np.abs(low), np.abs(high)))
    push = np.abs(low) + (np.abs(g) + np.abs(G) @ bounded) / np.maximum(np.diag(G), SINGULAR * size or 1.0)
    c = np.where(np.isinf(high), np.where(push > 0.0, push, 1.0), bounded)  # f / c is of order one
    weight = REGULAR * max(size, float(np.max(np.abs(g) / c)))
    if weight == 0.0:
        return np.clip(np.zeros(len(g)), low, high)
    R = np.linalg.cholesky(G * np.outer(c, c) + weight * np.diag(c * c)).T  # in y = f / c
    b = solve_triangular(R, -c * g, trans="T")
    y = lsq_linear(R, b, (low / c, high / c), method="bvls", max_iter=20 * len(g) + 100).x
    f = np.where(y <= low / c + ON, low, np.where(y >= high / c - ON, high, c * y))
    free = (f > low) & (f < high)
    exact = f.copy()
    if np.any(free):  # without the weight of |f|^2, where this stays within the bounds
        right = -(g + G[:, ~free] @ f[~free])[free]
        exact[free] = np.linalg.lstsq(G[np.ix_(free, free)], right, rcond=SINGULAR)[0]
    return exact if np.all((exact >= low) & (exact <= high)) else f
