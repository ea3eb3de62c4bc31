"""How joints share loads that a rigid model leaves open: by their compliances instead of by least norm.

Multipliers lam + Z y with Z of the left null space of J give the same motion. The wrench that joint j carries
is w_j + D_j y, and the elastic energy of all joints with compliances C_j is least (Castigliano's second
theorem) for

    sum_j D_j.T C_j D_j y = - sum_j D_j.T C_j w_j                                                         (1)

Joints without a compliance are rigid. What (1) leaves open stays as small as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..arrays import Array
from ..models.model import Model

NEGLIGIBLE = 1e-10  # singular values of (1), of the largest: directions that load no compliance

Reaction = Callable[[Array, str], Array]  # lam (k, nc), joint -> wrenches (k, 6) in frame A


def left_null_space(model: Model, q: Array, t: float = 0.0) -> Array:
    """Z: columns w with w.T J = 0 at a pose (nq,), (nc, k); lengths divided by L."""
    nothing = np.zeros((1, len(model.drives), 3)), np.zeros((1, len(model.u_row), 3 + model.nv))
    J = model.kernel.constraints(q[None], np.zeros((1, model.nv)), *nothing)[1][0]
    values, Vt = np.linalg.svd((J * model.unit / model.row_unit[:, None]).T)[1:]
    return np.asarray((Vt[int(np.sum(values > float(model.rank_tol))) :] / model.row_unit).T)


def shared(lam: Array, Z: Array, compliances: Mapping[str, Array], wrench: Reaction) -> tuple[Array, bool]:
    """Multipliers (nc,) by (1), and whether the compliances determine them.

    Args:
        lam: any that belong to the motion (nc,).
        Z: as of `left_null_space` (nc, k).
        compliances: of joints, along and about the axes of their frame A (6,) [m/N, rad/(N m)].
        wrench: reactions for several multipliers.
    """
    if not Z.shape[1]:
        return lam, True
    size = max(
        float(np.max(np.abs(lam), initial=0.0)), 1.0
    )  # columns as large as the loads: no digits are lost
    columns = Z * (size / np.max(np.abs(Z), axis=0))
    A, b = np.zeros((Z.shape[1],) * 2), np.zeros(Z.shape[1])
    for joint, C in compliances.items():
        found = wrench(np.vstack([lam, lam + columns.T]), joint)
        D = found[1:] - found[0]
        A += D @ (C * D).T
        b -= D @ (C * found[0])
    values, vectors = np.linalg.eigh(A)
    large = values > NEGLIGIBLE * max(float(values[-1]), 1e-300)
    y = vectors[:, large] @ (vectors[:, large].T @ b / values[large])
    free = columns @ vectors[:, ~large]
    out = lam + columns @ y
    if free.shape[1]:
        out = out - free @ np.linalg.lstsq(free, out, rcond=None)[0]
    return out, not free.shape[1]
