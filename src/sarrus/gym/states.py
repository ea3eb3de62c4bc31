"""What tasks ask of batches of states."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..mechanism.mechanism import Mechanism


def closeness(*errors: Array) -> Array:
    """1 where all errors (B, k) are zero, falling with their squares."""
    return np.asarray(np.exp(-sum(np.sum(e * e, axis=1) for e in errors)))


def origins(mech: Mechanism, q: Array, body: str) -> Array:
    """Origins of a body (B, 3) in the world."""
    places: Array = mech.evaluator.kernel.poses(np.ascontiguousarray(q))[1]
    return places[:, mech.body_names.index(body)]
