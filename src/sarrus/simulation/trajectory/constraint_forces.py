"""Constraint forces and multipliers of stored states, from the accelerations that the run found.

    constraint_force = M a + h - tau,   J.T lam = constraint_force,  |lam| least                       (1)

The force follows from (1) for every formulation and correction. lam is computed by the kernel where the
accelerations are the kernel's, otherwise from (1) by the singular values of J up to its rank.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...constraints.user_forces import user_force
from ..system.step_records import Steps
from ..system.system import System

PIECE = 2048  # states at a time


def constraint_force(system: System, steps: Steps) -> Array:
    """Generalized force of the constraints (n, nv) [N m, N]."""
    if system.nc == 0:
        return np.zeros_like(steps.v)
    if system.supplies_inertia:
        states = zip(steps.q, steps.v, steps.t.tolist(), strict=True)
        inertia = [system.original.inertia(*state) for state in states]
        total = [M @ a + h for (M, h), a in zip(inertia, steps.a, strict=True)]
        return np.array(total).reshape(steps.v.shape) - steps.tau
    total = system.kernel.rnea(steps.q, steps.v, steps.a) - steps.tau
    if system.model.user_forces:
        states = zip(steps.q, steps.v, steps.t.tolist(), strict=True)
        total = total - np.array([user_force(system.evaluator, *state) for state in states])
    return np.asarray(total)


def multipliers(system: System, steps: Steps, force: Array, by_kernel: bool) -> Array:
    """lam (n, nc) of least norm.

    Args:
        system: the system.
        steps: states with accelerations.
        force: their constraint forces (n, nv).
        by_kernel: whether the accelerations of the steps are the kernel's.
    """
    out = np.zeros((len(steps), system.nc))
    for begin in range(0, len(steps) if system.nc else 0, PIECE):
        here = slice(begin, begin + PIECE)
        part = steps[here]
        if by_kernel and not system.called_at_every_stage:
            out[here] = system.kernel.forward(part.q, part.v, part.tau, *system.no_user_rows(len(part)))[2]
        else:
            J = system.constraints(part.t, part.q, part.v)[1]
            out[here] = least_norm(J, force[here], part.rank)
    return out


def least_norm(J: Array, force: Array, rank: npt.NDArray[np.int64]) -> Array:
    """lam (n, nc) with J.T lam nearest to force (n, nv), by the leading singular values of J (n, nc, nv)."""
    if not np.all(np.isfinite(J)):
        return np.full(J.shape[:2], np.nan)
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    kept = (np.arange(s.shape[1]) < rank[:, None]) & (s > 0.0)
    y = np.einsum("nij,nj->ni", Vt, force)
    y = np.where(kept, y / np.where(kept, s, 1.0), 0.0)
    return np.asarray(np.einsum("nij,nj->ni", U, y))
