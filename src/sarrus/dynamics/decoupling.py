"""Coupling of motion and constraint force [Aghili2005] V-C.

A force f along the tangent directions, which moves the mechanism, changes the constraint force by mu f,
eq. (32):

    mu = (1 - P) M M_c^-1            mu P = (1 - P) M N (N.T M N)^-1 N.T                                  (1)

It vanishes if M maps tangent directions to tangent directions, (1 - P) M P = 0: proposition 3, appendix IV.
Which forces are tangential depends on the metric W of the split, eq. (48): bases of directions are
orthonormal in it, and W turns them into forces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..projection.decomposition import Decomposition

DECOUPLED_TOL = 1e-9  # on |(1 - P) M P| / |M|


@dataclass(frozen=True)
class Coupling:
    """How strongly the forces that move a mechanism load its constraints, at one pose.

    Attributes:
        matrix: mu P (nv, nv). An applied force f (nv,) changes `constraint_force` by matrix @ f, through the
            acceleration that it causes, less its own normal part `mech.decompose(q, metric).normal(f,
            kind="force")`, eq. (32).
        strength: the largest normal force that a tangential force of norm 1 causes, |mu P| in the 2-norm of
            the metric; 0 if decoupled.
    """

    matrix: Array
    strength: float


def coupling(M: Array, split: Decomposition) -> Coupling:
    """The cross-coupling channel of [Aghili2005] figure 1, from M (nv, nv) and the split of constraints."""
    across = split.normal_basis.T @ M @ split.N
    if across.size == 0:
        return Coupling(np.zeros_like(M), 0.0)
    channel = np.linalg.solve(split.N.T @ M @ split.N, across.T).T  # (1)
    mu = split.normal_basis @ channel @ split.N.T
    return Coupling(mu if split.metric is None else split.metric @ mu, float(np.linalg.norm(channel, 2)))


def is_decoupled(M: Array, split: Decomposition) -> bool:
    """Whether the null space of J is invariant under M in the metric, [Aghili2005] proposition 3."""
    across = split.normal_basis.T @ M @ split.N
    whole = np.hstack([split.normal_basis, split.N])
    size = np.linalg.norm(whole.T @ M @ whole, 2) if across.size else 0.0
    return not across.size or bool(np.linalg.norm(across, 2) <= DECOUPLED_TOL * size)
