"""Multipliers of rows that push and do not pull, where rows depend on each other.

Of all multipliers that give the force of lam on the motion those of contacts push, if any do:

    min |J.T lam' - J.T lam|   s.t.  side lam' >= 0 for rows of contacts                                (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanism.mechanism import Mechanism

SLACK = 1e-8  # of the largest multiplier: a contact that pulls less than this stays closed
FEASIBLE = 1e-9  # of the force: residual up to which a distribution of the load counts as a solution
REGULAR = 1e-8  # weight of lam in (1), relative


@dataclass(frozen=True)
class PushingRows:
    """Normal rows of contacts in a mechanism.

    Attributes:
        mech: the mechanism.
        rows: index and side of each row, by the name of its contact.
    """

    mech: Mechanism
    rows: Mapping[str, tuple[int, float]]

    def distributed(self, t: Array, q: Array, v: Array, lam: Array) -> Array:
        """Multipliers (n, nc) of n states with contacts that push, where lam (n, nc) can be so."""
        out = lam.copy()
        pull = np.array([side * lam[:, row] for row, side in self.rows.values()]).reshape(-1, len(lam))
        for i in np.flatnonzero(np.any(pull < -SLACK * np.max(np.abs(lam), axis=1, initial=0.0), axis=0)):
            shared = self._shared(float(t[i]), q[i], v[i], lam[i])
            out[i] = lam[i] if shared is None else shared
        return out

    def _shared(self, t: float, q: Array, v: Array, lam: Array) -> Array | None:
        """Multipliers (nc,) that give the force of lam (nc,) with contacts that push; None: not any."""
        J = self.mech.evaluator.constraints(q, v, t)[1]
        force = J.T @ lam
        shared = _bounded(J.T, force, dict(self.rows.values()))
        miss = float(np.linalg.norm(J.T @ shared - force))
        return None if miss > FEASIBLE * float(np.linalg.norm(force)) else shared


def _bounded(A: Array, b: Array, signs: Mapping[int, float]) -> Array:
    """lam of least |A lam - b| with the given signs; of several, the one of least norm.

    A small weight on lam makes it unique for redundant columns; its effect on the others is below rounding.
    """
    from scipy.optimize import lsq_linear

    n = A.shape[1]
    if n == 0:
        return np.zeros(0)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for row, side in signs.items():
        (low if side > 0.0 else high)[row] = 0.0
    weight = REGULAR * float(np.linalg.norm(A, 2)) * np.eye(n)
    rows, right = np.vstack([A, weight]), np.concatenate([b, np.zeros(n)])
    return np.asarray(lsq_linear(rows, right, (low, high), method="bvls", max_iter=20 * n + 100).x)
