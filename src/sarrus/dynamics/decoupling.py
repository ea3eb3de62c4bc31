"""Coupling of motion and constraint force [Aghili2005] V-C.

A force f along the tangent directions, which moves the mechanism, changes the constraint force by mu f,
eq. (32):

    mu = (1 - P) M M_c^-1            mu P = (1 - P) M N (N.T M N)^-1 N.T                                  (1)

It vanishes if M maps tangent directions to tangent directions, (1 - P) M P = 0: proposition 3, appendix IV.
All of it is meant in coordinates without units (lengths divided by L), the metric of eq. (48).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..projection.decomposition import ranked_svd
from ..projection.system_kinematics import dimensionless
from .terms import Units

DECOUPLED_TOL = 1e-9  # on |(1 - P) M P| / |M|


@dataclass(frozen=True)
class Coupling:
    """How strongly the forces that move a mechanism load its constraints, at one pose.

    Attributes:
        matrix: mu P (nv, nv). An applied force f (nv,) changes `constraint_force` by matrix @ f, through the
            acceleration that it causes, less its own normal part, eq. (32).
        strength: the largest normal force that a tangential force of norm 1 causes, |mu P| in the 2-norm,
            lengths divided by L; 0 if decoupled.
    """

    matrix: Array
    strength: float


def coupling(M: Array, J: Array, units: Units) -> Coupling:
    """The cross-coupling channel of [Aghili2005] figure 1, from M (nv, nv) and J (nc, nv)."""
    u = units.unit
    normal, tangent, across = _across(M, J, units)
    if across.size == 0:
        return Coupling(np.zeros_like(M), 0.0)
    within = tangent.T @ (u[:, None] * M * u) @ tangent
    channel = np.linalg.solve(within, across.T).T  # (1)
    mu = normal @ channel @ tangent.T
    return Coupling(mu / u[:, None] * u, float(np.linalg.norm(channel, 2)))


def is_decoupled(M: Array, J: Array, units: Units) -> bool:
    """Whether the null space of J is invariant under M, [Aghili2005] proposition 3."""
    _, _, across = _across(M, J, units)
    bare = units.unit[:, None] * M * units.unit
    return not across.size or bool(np.linalg.norm(across, 2) <= DECOUPLED_TOL * np.linalg.norm(bare, 2))


def _across(M: Array, J: Array, units: Units) -> tuple[Array, Array, Array]:
    """Orthonormal bases of normal and tangent directions, and M between them, without units."""
    u, svd = units.unit, ranked_svd(dimensionless(units, J), units.rank_tol)
    normal = svd.Vt[: svd.rank].T
    return normal, svd.N, normal.T @ (u[:, None] * M * u) @ svd.N
