"""Constrained accelerations from Terms, one function per formulation, all equal where all are defined.

Every formulation works on terms without units: coordinates divided by `unit`, rows by `row_unit`. This is the
metric W = diag(unit)^-2 of [Aghili2005] eq. (48); accelerations do not depend on it. The symbols below are

    x = a / unit,   f = unit (tau - h),   M = unit M unit,   J = J unit / row_unit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._kernel import LIMIT_TOL, UNIQUE_TOL
from ..arrays import Array
from ..errors import InputError, SingularConstraintError, require_known
from ..projection.decomposition import full_svd, ranked_svd
from ..projection.mobility import dependent_rows
from ..projection.system_kinematics import dimensionless
from .terms import Terms, Units


@dataclass(frozen=True)
class LimitRows:
    """Rows E a = e that replace those lost at a singular pose (`singular_limit.py`); speed is |v / unit|."""

    E: Array  # (k, nv)
    e: Array  # (k,)
    speed: float


@dataclass(frozen=True)
class Split:
    """One state without units, split at its constraints: x = x_normal + N y."""

    M: Array
    f: Array
    J: Array
    gamma: Array
    rank: int
    lost: Array  # orthonormal basis (nc, nc - rank) of {w: w.T J = 0}
    N: Array  # (nv, dof), orthonormal
    x_normal: Array

    @property
    def P(self) -> Array:
        """Projector onto the tangent directions [Aghili2005] eq. (4)."""
        return self.N @ self.N.T


def split(terms: Terms, tau: Array, units: Units, rank: int | None = None) -> Split:
    """Terms without units, the rank of J, its null space and the normal acceleration pinv(J) gamma.

    [Aghili2005] eq. (15), (16); [Spencer2004] eq. (3.2), (3.3). Conflicting rows: least squares.
    """
    u, gamma = units.unit, terms.gamma / units.row_unit
    J = dimensionless(units, terms.J)
    svd = ranked_svd(J, units.rank_tol, rank)
    U, s, Vt, r = svd
    x_normal = Vt[:r].T @ (U[:, :r].T @ gamma / s[:r])
    M, f = u[:, None] * terms.M * u, u * (tau - terms.h)
    return Split(M=M, f=f, J=J, gamma=gamma, rank=r, lost=svd.lost, N=svd.N, x_normal=x_normal)


def softened(state: Split, softness: float) -> Split:
    """The state with x_normal by the damped inverse of J, s / (s^2 + softness^2) instead of 1 / s.

    The damped least-squares inverse of [Spencer2004] 3.3: constraints give way where s is small.
    """
    U, s, Vt = full_svd(state.J)
    k = len(s)
    x = Vt[:k].T @ (s / (s**2 + softness**2) * (U[:, :k].T @ state.gamma))
    return replace(state, x_normal=x)


def with_limit(state: Split, limit: LimitRows, units: Units) -> Split:
    """The state with lost rows replaced by their limits; rows that are redundant at all poses add none."""
    E = limit.E * units.unit
    U, s, Vt = full_svd(E @ state.N)
    kept = int(np.sum(s > LIMIT_TOL * limit.speed))
    y = Vt[:kept].T @ (U[:, :kept].T @ (limit.e - E @ state.x_normal) / s[:kept])
    return replace(state, N=state.N @ Vt[kept:].T, x_normal=state.x_normal + state.N @ y)


def solve(A: Array, b: Array) -> Array:
    """x with A x = b."""
    return np.asarray(np.linalg.solve(A, b), dtype=np.float64)


def svd(state: Split) -> Array:
    """x = x_n + N (N.T M N)^-1 N.T (f - M x_n), [Spencer2004] eq. (3.5b)."""
    from scipy.linalg import cho_factor, cho_solve

    N, x_n = state.N, state.x_normal
    if N.shape[1] == 0:
        return x_n
    factor = cho_factor(N.T @ state.M @ N)
    return np.asarray(x_n + N @ cho_solve(factor, N.T @ (state.f - state.M @ x_n)))


def projection(state: Split) -> Array:
    """M_c x = P f + M x_n with M_c = M + P M - (P M).T, [Aghili2005] eq. (22)-(25)."""
    PM = state.P @ state.M
    return solve(state.M + PM - PM.T, state.P @ state.f + state.M @ state.x_normal)


def projection_symmetric(state: Split) -> Array:
    """M_c' x = P f + (1 - 2 P) M x_n with M_c' = P M P + (1 - P) M (1 - P), [Aghili2005] eq. (27), (28)."""
    from scipy.linalg import cho_factor, cho_solve

    P, M = state.P, state.M
    Q = np.eye(len(M)) - P
    x = cho_solve(cho_factor(P @ M @ P + Q @ M @ Q), P @ state.f + (Q - P) @ (M @ state.x_normal))
    return np.asarray(x)


def projection_gamma(state: Split) -> Array:
    """M_c'' x = P f + g x_n with M_c'' = P M + g (1 - P), g = |M|, [Aghili2005] eq. (29)."""
    P, M = state.P, state.M
    g = float(np.linalg.norm(M, 2)) if len(M) else 1.0
    return solve(P @ M + g * (np.eye(len(M)) - P), P @ state.f + g * state.x_normal)


def lagrange(state: Split) -> Array:
    """(J M^-1 J.T) lam = gamma - J M^-1 f, then M x = f + J.T lam; [Aghili2005] eq. (78), (79).

    Needs independent rows, which `require_independent` checks.
    """
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(state.M)
    free: Array = cho_solve(factor, state.f)
    response: Array = cho_solve(factor, state.J.T)
    if len(state.J) == 0:
        return free
    lam = solve(state.J @ response, state.gamma - state.J @ free)
    return free + response @ lam


def partition(state: Split, independent: Sequence[int] | None = None) -> Array:
    """x = K y + x_0 with K = R - S (G S)^-1 G R, x_0 = S (G S)^-1 G x_n, [Spencer2004] eq. (2.46), (2.47).

    R and S select independent and dependent coordinates; G holds as many combinations of the rows as are
    independent. Without a choice S comes from a factorization of G with column pivoting (2.3.3, remark 2).
    """
    from scipy.linalg import qr

    nv = len(state.M)
    G = full_svd(state.N.T)[2][state.N.shape[1] :]  # orthonormal, spans the normal directions
    if independent is None:
        dependent = np.sort(qr(G, mode="r", pivoting=True)[1][: len(G)]) if len(G) else np.zeros(0, dtype=int)
    else:
        dependent = np.setdiff1d(np.arange(nv), np.asarray(independent, dtype=int))
    free = np.setdiff1d(np.arange(nv), dependent)
    K, x_0 = np.zeros((nv, len(free))), np.zeros(nv)
    K[free] = np.eye(len(free))
    if len(dependent):
        K[dependent] = -solve(G[:, dependent], G[:, free])
        x_0[dependent] = solve(G[:, dependent], G @ state.x_normal)
    if len(free) == 0:
        return x_0
    return x_0 + K @ solve(K.T @ state.M @ K, K.T @ (state.f - state.M @ x_0))


EACH = (svd, lagrange, projection, projection_symmetric, projection_gamma, partition)
FORMULATIONS: dict[str, Callable[[Split], Array]] = {each.__name__: each for each in EACH}


def require_independent(state: Split, units: Units) -> None:
    """Refuse dependent rows, with their names."""
    nc = len(state.J)
    if state.rank == nc:
        return
    rows = tuple(units.row_names[i] for i in dependent_rows(state.J, units.rank_tol, state.rank))
    shown = ", ".join(rows[:12]) + (", ..." if len(rows) > 12 else "")
    raise SingularConstraintError(
        f'formulation "lagrange" needs independent constraint rows, but the {nc} rows have rank {state.rank}'
        f" at this pose; dependent rows: {shown}."
        ' Use "nullspace" (the default), which does not need them independent.',
        state.rank,
        rows,
    )


def independent_indices(state: Split, names: Sequence[str], units: Units) -> list[int]:
    """Indices of coordinates chosen as independent, refused where they do not determine the others."""
    indices = []
    for name in names:
        require_known("coordinate", name, units.coordinate_names, "independent")
        indices.append(units.coordinate_names.index(name))
    dof = state.N.shape[1]
    if len(set(indices)) != dof or len(indices) != dof:
        raise InputError(
            f"independent must name {dof} different coordinates, the degrees of freedom; got {list(names)}."
        )
    if dof and np.linalg.svd(state.N[indices], compute_uv=False)[-1] <= units.rank_tol:
        raise SingularConstraintError(
            f"the coordinates {list(names)} do not determine the motion at this pose: the mechanism can move"
            " while they stand still. Choose others, or leave `independent` out.",
            state.rank,
        )
    return indices


def multipliers(terms: Terms, state: Split, force: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """lam of least norm with J.T lam = force, and which entries no redundancy can change.

    [Aghili2005] V-B, remark 4; an entry is unique when every w with w.T J = 0 vanishes there.
    """
    return least_multipliers(terms.J, force, state.rank), np.linalg.norm(state.lost, axis=1) < UNIQUE_TOL


def least_multipliers(J: Array, force: Array, rank: int) -> Array:
    """lam (nc,) of least norm with J.T lam = force (nv,)."""
    U, s, Vt = full_svd(J)
    return np.asarray(U[:, :rank] @ (Vt[:rank] @ force / s[:rank]))
