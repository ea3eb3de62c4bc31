"""Constrained acceleration of the twin by the null space of an SVD, limit rows included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .twin import Twin

Array = npt.NDArray[np.float64]


def forward_one(
    twin: Twin, q: Array, v: Array, tau: Array, drive: Array, user: Array, rank: int
) -> tuple[Array, Array, Array, npt.NDArray[np.bool_], int, int]:
    """a, constraint force (nv,), lam (nc,) of least norm, lam_unique (nc,), rank, status, for one state."""
    M, h = twin._mass_matrix(q), twin._bias(q, v)
    _, J, _, gamma = twin._constraints(q, v, drive, user)
    unit, row_unit = twin.field["unit"].ravel(), twin.field["row_unit"].ravel()
    s = np.linalg.svd(J * unit / row_unit[:, None], compute_uv=False)
    if rank < 0:
        rank = int(np.sum(s > float(twin.field["rank_tol"].ravel()[0])))
    U, s, Vt = np.linalg.svd(J * unit)  # conflicting rows: least squares in the rows' own units
    a_normal = unit * (Vt[:rank].T @ (U[:, :rank].T @ gamma / s[:rank]))
    N = unit[:, None] * Vt[rank:].T
    if rank < twin.nc and np.any(v):
        a_normal, N = limit_rows(twin, q, v, a_normal, N, U[:, rank:])
    y = np.linalg.solve(N.T @ M @ N, N.T @ (tau - h - M @ a_normal))
    a = a_normal + N @ y
    force = M @ a + h - tau
    return a, force, *multipliers(J, force, rank, unit, row_unit), rank, 0


def limit_rows(twin: Twin, q: Array, v: Array, a_normal: Array, N: Array, W: Array) -> tuple[Array, Array]:
    """Replace rows lost at a singular pose by 3 w'J' a + w'(D2J[v,v]) v = 0 (third derivative of phi).

    W (nc, k) spans the left null space of J. Rows that are redundant all along vanish on the tangent space
    and are dropped by their singular values. A velocity outside the tangent cone (w'gamma != 0) has no
    smooth continuation: then nothing is replaced.
    """
    directions = np.vstack([v, np.eye(twin.nv), np.eye(twin.nv) + v])
    c = twin.derivatives(q, directions, 3)
    nv = twin.nv
    # polarisation: phi''(v + e) - phi''(v) - phi''(e) = 2 J'(v) e, symmetric on the left null space
    rate = (c[2, 1 + nv :] - c[2, 0] - c[2, 1 : 1 + nv]).T
    L = 3 * W.T @ rate
    speed = np.linalg.norm(v / twin.field["unit"].ravel())
    if np.max(np.abs(W.T @ c[2, 0])) * 2 > 1e-6 * speed**2:
        return a_normal, N
    rest = -(W.T @ (6 * c[3, 0]) + L @ a_normal)
    U, s, Vt = np.linalg.svd(L @ N)
    kept = int(np.sum(s > 1e-6 * speed))
    y = Vt[:kept].T @ (U[:, :kept].T @ rest / s[:kept])
    return a_normal + N @ y, N @ Vt[kept:].T


def multipliers(
    J: Array, force: Array, rank: int, unit: Array, row_unit: Array
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Least-norm lam with J' lam = force, and which of its entries no redundancy can change."""
    U, s, Vt = np.linalg.svd(J)
    lam = U[:, :rank] @ (Vt[:rank] @ force / s[:rank])
    lost = np.linalg.svd(J * unit / row_unit[:, None])[0][:, rank:]
    return lam, np.linalg.norm(lost, axis=1) < 1e-7
