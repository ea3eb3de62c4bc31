"""Decoupling of motion and constraint force [Aghili2005] V-C.

The forces that move the mechanism do not reach the constraint force if M maps tangent directions to tangent
directions: (1 - P) M P = 0, proposition 3 and appendix IV.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..projection.decomposition import ranked_svd
from ..projection.system_kinematics import dimensionless
from .terms import Units

DECOUPLED_TOL = 1e-9  # on |(1 - P) M P| / |M|


def coupling(M: Array, J: Array, units: Units) -> float:
    """|(1 - P) M P| / |M| in coordinates without units: 0 if decoupled, at most 1."""
    u, svd = units.unit, ranked_svd(dimensionless(units, J), units.rank_tol)
    bare = u[:, None] * M * u
    across = svd.Vt[: svd.rank] @ bare @ svd.N
    return float(np.linalg.norm(across, 2) / np.linalg.norm(bare, 2)) if across.size else 0.0


def is_decoupled(M: Array, J: Array, units: Units) -> bool:
    """Whether the null space of J is invariant under M, [Aghili2005] proposition 3."""
    return coupling(M, J, units) <= DECOUPLED_TOL
