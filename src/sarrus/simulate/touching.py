"""Which contacts push: multipliers with signs, impacts of one-sided constraints, forces that would pull.

Contacts cannot pull. An impact of one-sided rows is the nearest velocity, in the mass metric, that does not
enter any of them (Moreau's inelastic impact); it is found by closing all that touch and letting go, one at a
time, of those whose impulse would pull. The same for accelerations decides what stays closed. Where rows
depend on each other, loads can be shared in many ways: a set pulls only if no sharing pushes everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.optimize import lsq_linear

Array = npt.NDArray[np.float64]

FEASIBLE = 1e-9  # of the force: what a sharing of the load may leave over
PULLS = 1e-10  # of the largest multiplier


def pushes(
    J: Array, lam: Array, unique: npt.NDArray[np.bool_], signs: Mapping[int, float]
) -> dict[int, float]:
    """side * lam of each one-sided row, positive where it pushes.

    Args:
        J: Jacobian (nc, nv).
        lam: multipliers (nc,) of least norm.
        unique: which of them the motion determines (nc,).
        signs: side of each one-sided row, by its index.
    """
    plain = {row: side * float(lam[row]) for row, side in signs.items()}
    size = float(np.max(np.abs(lam), initial=0.0))
    if all(x >= -PULLS * size for x in plain.values()) or all(unique[row] for row in signs):
        return plain
    force = J.T @ lam
    low, high = np.full(len(lam), -np.inf), np.full(len(lam), np.inf)
    for row, side in signs.items():
        (low if side > 0.0 else high)[row] = 0.0
    found = lsq_linear(J.T, force, (low, high), method="bvls")
    left = float(np.linalg.norm(J.T @ found.x - force))
    if left > FEASIBLE * float(np.linalg.norm(force)):
        return plain
    return {row: max(side * float(found.x[row]), 0.0) for row, side in signs.items()}
