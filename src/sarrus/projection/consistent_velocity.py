"""Consistent velocities: the velocity nearest to a given one that satisfies J v = b, some entries prescribed.

    min (v - v0).T W (v - v0)   subject to   [J; E] v = [b; values]                             (1)

E selects the prescribed coordinates. Rows that restrict velocities only (rolling) are included. The kernel
solves it (kernels/solve/search/consistent_velocity.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..errors import AssemblyError


def no_velocity(
    row_names: Sequence[str], coordinate_names: Sequence[str], miss: Array, held: Sequence[int]
) -> AssemblyError:
    """The error where no velocity satisfies all rows; miss (nc,) is |J v - b| with lengths divided by L."""
    rows = [i for i in np.argsort(-miss)[:4] if miss[i] > 0.1 * np.max(miss)]
    worst = [f"{row_names[i]} by {miss[i]:.2g}" for i in rows]
    fixed = ", ".join(coordinate_names[i] for i in held) or "none"
    return AssemblyError(
        "No velocity satisfies the constraints and the velocities that were fixed together; missed: "
        f"{'; '.join(worst)} (lengths divided by L). Fixed: {fixed}; fix fewer, or other values."
    )
