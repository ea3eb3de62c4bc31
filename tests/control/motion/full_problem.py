"""The whole problem at once, for a generic convex solver: variables a, u, lam, nothing eliminated.

min |u|^2    M a + h = S' u + J' lam,   J a = gamma,   J_task a = wanted,   limits
"""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

Array = np.ndarray


def least_torque(
    mech: Any,
    q: Array,
    v: Array,
    J_task: Array,
    wanted: Array,
    u_bounds: tuple[float, float] | None = None,
    force_rows: Array | None = None,
    force_bound: float = 0.0,
    cones: list[tuple[list[int], int, float]] | None = None,
) -> Array | None:
    """u (nu,), or None if the solver says that nothing satisfies everything.

    Args:
        J_task, wanted: rows on the acceleration.
        u_bounds: (lower, upper) of every input.
        force_rows, force_bound: force_rows @ (J' lam) <= force_bound.
        cones: (tangential rows of lam, normal row, signed mu): |lam[tangential]| <= mu lam[normal].
    """
    t, nv, nu, nc = mech.terms(q, v), mech.nv, mech.nu, mech.nc
    n = nv + nu + nc
    S = np.zeros((nu, nv))
    S[np.arange(nu), [x.index for x in mech.model.actuators]] = 1.0
    # independent rows only: an interior-point method dislikes dependent equalities
    balance = np.hstack([t.M, -S.T, -t.J.T])
    rows = np.vstack(
        [np.hstack([t.J, np.zeros((nc, nu + nc))]), np.hstack([J_task, np.zeros((len(J_task), nu + nc))])]
    )
    rights = np.concatenate([t.gamma, wanted])
    U, s, Vt = np.linalg.svd(rows)
    rank = int(np.sum(s > 1e-9 * s[0]))
    equal = np.vstack([balance, Vt[:rank]])
    equal_right = np.concatenate([-t.h, (U[:, :rank].T @ rights) / s[:rank]])
    blocks, right, kinds = [equal], [equal_right], [clarabel.ZeroConeT(len(equal))]

    linear, linear_right = [], []
    if u_bounds is not None:
        pick = np.hstack([np.zeros((nu, nv)), np.eye(nu), np.zeros((nu, nc))])
        linear += [pick, -pick]
        linear_right += [np.full(nu, u_bounds[1]), np.full(nu, -u_bounds[0])]
    if force_rows is not None:
        linear.append(np.hstack([np.zeros((len(force_rows), nv + nu)), force_rows @ t.J.T]))
        linear_right.append(np.full(len(force_rows), force_bound))
    for _, normal, mu in cones or []:
        row = np.zeros((1, n))
        row[0, nv + nu + normal] = -np.sign(mu)
        linear.append(row)
        linear_right.append(np.zeros(1))
    if linear:
        blocks.append(np.vstack(linear))
        right.append(np.concatenate(linear_right))
        kinds.append(clarabel.NonnegativeConeT(len(blocks[-1])))
    for across, normal, mu in cones or []:
        block = np.zeros((1 + len(across), n))
        block[0, nv + nu + normal] = -mu
        block[np.arange(1, 1 + len(across)), [nv + nu + i for i in across]] = -1.0
        blocks.append(block)
        right.append(np.zeros(len(block)))
        kinds.append(clarabel.SecondOrderConeT(len(block)))
    H = np.zeros((n, n))
    H[nv : nv + nu, nv : nv + nu] = np.eye(nu)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    found = clarabel.DefaultSolver(
        csc_matrix(H), np.zeros(n), csc_matrix(np.vstack(blocks)), np.concatenate(right), kinds, settings
    ).solve()
    if found.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return np.asarray(found.x)[nv : nv + nu]
    return None
