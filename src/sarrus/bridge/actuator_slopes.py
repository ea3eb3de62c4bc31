"""Derivatives of the actuator inputs of least norm that produce an acceleration.

With P the projector onto the directions that J leaves free (Euclidean) and S the selection of actuators,

  u = B^+ (M a + h),    B = P S.T,    B^+ = B^+ P                                                   (1)

so that u depends on a along the constraints only. The derivatives of M a + h - J.T lam at held a and lam are
those of forward dynamics, times -M [Aghili2005]; and as P turns with the pose, with y = B^+.T u,

  du = B^+ d(M a + h - J.T lam) - (1 - B^+ B) S J^+ d(J y)                                          (2)
"""

from __future__ import annotations

import numpy as np

from sarrus.arrays import Array
from sarrus.differences import slope_terms
from sarrus.errors import InputError
from sarrus.mechanism.core.access import actuated_columns
from sarrus.mechanism.core.core import State
from sarrus.mechanism.mechanism import Mechanism

APART = 1e-2  # [rad, L] of differences of M
TERMS = slope_terms(6)
CONSISTENT = 1e-12  # of the acceleration: what of it is across the constraints


def input_slopes(mech: Mechanism, at: State, a: Array, t: float) -> tuple[Array, Array]:
    """Derivatives of u by [position increment; v] (B, nu, 2 nv) and by a (B, nu, nv).

    Args:
        mech: the mechanism.
        at: states on the constraints (B, nq), (B, nv).
        a: accelerations (B, nv).
        t: time [s].
    """
    torques = mech.inverse_dynamics(*at, a, t)
    if not np.all(torques.controllable):
        raise InputError(
            f"inverse_dynamics: the actuators of {mech.name!r} cannot produce this acceleration, and"
            " inputs of least error have no derivatives here. Ask for one that they can"
            " (Torques.controllable), or actuate more coordinates."
        )
    force = np.zeros_like(a)
    force[:, actuated_columns(mech)] = torques.u
    consistent = mech.acceleration(*at, force, t)
    terms, slopes = mech.terms(*at, t), mech.derivatives(*at, force, t=t)
    P, pinv = _split(mech, terms.J)
    S = np.eye(mech.nv)[actuated_columns(mech)]
    back = np.asarray(np.linalg.pinv(P @ S.T, rcond=1e-10), dtype=float)  # B^+
    residual = -terms.M @ np.concatenate([slopes.a_q, slopes.a_v], axis=-1)
    across: Array = np.asarray(a - consistent)
    load = np.einsum("bij,bj->bi", terms.M, across)  # J.T lam
    lam = np.asarray(np.einsum("bij,bi->bj", pinv, load), dtype=float)
    state = back @ residual + _of_part_across(mech, (at.q, across, lam, t), back)
    y = np.einsum("bij,bi->bj", back, torques.u)
    turning = mech.derivatives(at.q, y, np.zeros_like(y), t=t).Jv_q
    idle = np.eye(mech.nu) - back @ (P @ S.T)
    state[..., : mech.nv] -= idle @ S @ pinv @ turning
    return state, back @ terms.M


def _split(mech: Mechanism, J: Array) -> tuple[Array, Array]:
    """P (B, nv, nv) and J^+ (B, nv, nc), with the rank of the dimensionless J."""
    if not mech.nc:
        return np.tile(np.eye(mech.nv), (len(J), 1, 1)), np.zeros((len(J), mech.nv, 0))
    pinv: Array = np.linalg.pinv(J, rcond=1e-9).astype(float)
    return np.eye(mech.nv) - pinv @ J, pinv


def _of_part_across(mech: Mechanism, part: tuple[Array, Array, Array, float], back: Array) -> Array:
    """What a part of a across the constraints contributes: B^+ d(M a - J.T lam) of it, by differences.

    part: q, that part of a, its multipliers, t.
    """
    (q, across, lam, t), n, unit = part, mech.nv, np.asarray(mech.units.unit)
    found = np.zeros((len(across), back.shape[1], 2 * n))
    if not np.any(np.abs(across) > CONSISTENT * (1.0 + np.abs(across).max())):
        return found
    for j in range(n):
        for k, weight in TERMS:
            apart = np.zeros_like(across)
            apart[:, j] = k * APART * unit[j]
            terms = mech.terms(mech.integrate(q, apart), np.zeros_like(across), t)
            force = np.einsum("bij,bj->bi", terms.M, across) - np.einsum("bij,bi->bj", terms.J, lam)
            found[..., j] += weight / (APART * unit[j]) * np.einsum("bij,bj->bi", back, force)
    return found
