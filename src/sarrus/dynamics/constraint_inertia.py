"""Constraint inertia matrices [Aghili2005] V-A: the three ways to solve (13) and (21) for the acceleration.

With the projector P of velocities in a metric W, eq. (15) and VII-B, and a = P a + a_normal, eq. (13),

    "projection"   M + P.T M - M P                    a = M_c^-1 (P.T f + M a_normal)               (22)-(24)
    "symmetric"    P.T M P + (1 - P).T M (1 - P)      a = M_c'^-1 (P.T f + (1 - 2 P.T) M a_normal)  (27), (28)
    "gamma"        P.T M + g W (1 - P)                a = M_c''^-1 (P.T f + g W a_normal)           (29)

with f = tau - h. In the Euclidean metric W = 1 and P.T = P, which is how the paper prints them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..projection.decomposition import Decomposition

FORMS = ("projection", "symmetric", "gamma")
DECADES, PER_DECADE = 3.0, 8  # of the search for the best gamma: beyond the eigenvalues of M, and its grid


@dataclass(frozen=True)
class ConstraintInertia:
    """A constraint inertia matrix of one pose [Aghili2005] V-A.

    Attributes:
        matrix: (nv, nv), invertible whatever the rank of J; maps accelerations to forces.
        condition: its condition number in the 2-norm, in coordinates in which the metric is the identity.
        form: "projection", "symmetric" or "gamma".
        gamma: the scalar of form "gamma" [kg m^2 or kg, as M in the metric]; None for the others.
    """

    matrix: Array
    condition: float
    form: str
    gamma: float | None


def constraint_inertia(
    M: Array, split: Decomposition, form: str, gamma: float | str | None
) -> ConstraintInertia:
    """The matrix of one form from the mass matrix (nv, nv) and the split of its constraints."""
    M_w, N, L = _in_metric(M, split)
    P = N @ N.T
    Q = np.eye(len(M)) - P
    g: float | None = None
    if form == "projection":
        bare = M_w + P @ M_w - M_w @ P
    elif form == "symmetric":
        bare = P @ M_w @ P + Q @ M_w @ Q
    else:
        g = _gamma(M_w, P, Q, gamma)
        bare = P @ M_w + g * Q
    return ConstraintInertia(L @ bare @ L.T, condition(bare), form, g)


def condition(A: Array) -> float:
    """Condition number in the 2-norm; 1 of an empty matrix."""
    return float(np.linalg.cond(A)) if A.size else 1.0


def _in_metric(M: Array, split: Decomposition) -> tuple[Array, Array, Array]:
    """M and an orthonormal basis of the tangent directions where the metric L L.T is the identity, and L."""
    if split.metric is None:
        return M, split.N, np.eye(len(M))
    L: Array = np.asarray(np.linalg.cholesky(split.metric), dtype=float)
    inverse = np.linalg.inv(L)
    return inverse @ M @ inverse.T, L.T @ split.N, L


def _gamma(M: Array, P: Array, Q: Array, wanted: float | str | None) -> float:
    """The scalar of (29): |M| by default, the one of the smallest condition number if `wanted` is "best"."""
    values = np.linalg.eigvalsh(M)
    if wanted is None:
        return float(values[-1])
    if not isinstance(wanted, str):
        return float(wanted)
    from scipy.optimize import minimize_scalar

    def of_logarithm(x: float) -> float:
        return condition(P @ M + 10.0**x * Q)

    low, high = np.log10(values[[0, -1]])
    grid = np.linspace(low - DECADES, high + DECADES, int(PER_DECADE * (high - low + 2 * DECADES)) + 1)
    best = int(np.argmin([of_logarithm(x) for x in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(10.0 ** minimize_scalar(of_logarithm, bounds=around, method="bounded").x)
