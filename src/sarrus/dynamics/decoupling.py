"""Decoupling of motion and constraint force [Aghili2005] V-C.

The forces that move the mechanism do not reach the constraint force if M maps tangent directions to tangent
directions: (1 - P) M P = 0, proposition 3 and appendix IV.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..projection.decomposition import count_above, full_svd
from .terms import Units

DECOUPLED_TOL = 1e-9  # on |(1 - P) M P| / |M|


def coupling(M: Array, J: Array, units: Units) -> float:
    """|(1 - P) M P| / |M| in coordinates without units: 0 if decoupled, at most 1."""
    u = units.unit
    _, s, Vt = full_svd(J * u / units.row_unit[:, None])
    rank = count_above(s, units.rank_tol, absolute=True)
    bare = u[:, None] * M * u
    across = Vt[:rank] @ bare @ Vt[rank:].T
    return float(np.linalg.norm(across, 2) / np.linalg.norm(bare, 2)) if across.size else 0.0


def is_decoupled(M: Array, J: Array, units: Units) -> bool:
    """Whether the null space of J is invariant under M, [Aghili2005] proposition 3."""
    return coupling(M, J, units) <= DECOUPLED_TOL
