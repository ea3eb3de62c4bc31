"""StepDerivatives: the linear model of one step in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, BoolArray
from .terms import Terms


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """Derivatives of a step, exact to the step that is computed: stages and projections included.

    With dx = [position increment; velocity], increments as of `integrate`:  dx1 = A dx + B du. They are those
    of the step after `project`: directions across the constraints count by their part along them, and A maps
    tangents to tangents. Batches have their axes in front.

    Attributes:
        A: (2 nv, 2 nv).
        B: (2 nv, nu).
        q, v: the state after the step (nq,), (nv,).
        status: 0 (B,), or why a step of a batch has no derivatives; they are then NaN.
    """

    A: Array
    B: Array
    q: Array
    v: Array
    status: Array


def projection_slopes(terms: Terms, Jv_q: Array, holonomic: BoolArray) -> Array:
    """Derivative (..., 2 nv, 2 nv) of [position increment; velocity] of `project` at a consistent state.

    Positions are projected with the rows that restrict them, velocities with all, in the metric of M:
    dq1 = P_h dq, dv1 = P dv - X Jv_q dq1 with X = M^-1 J.T (J M^-1 J.T)^+ and P = 1 - X J.

    Args:
        terms: at the state.
        Jv_q: of J v - b with respect to q (..., nc, nv).
        holonomic: rows that restrict positions (nc,).
    """
    eye = np.eye(terms.M.shape[-1])

    def least(J: Array) -> Array:
        weighted = np.linalg.solve(terms.M, np.swapaxes(J, -1, -2))
        return np.asarray(weighted @ np.linalg.pinv(J @ weighted, hermitian=True, rcond=1e-12))

    J_held, X = terms.J * holonomic[:, None], least(terms.J)
    along = eye - least(J_held) @ J_held
    top = np.concatenate([along, np.zeros_like(along)], axis=-1)
    bottom = np.concatenate([-X @ Jv_q @ along, eye - X @ terms.J], axis=-1)
    return np.concatenate([top, bottom], axis=-2)
