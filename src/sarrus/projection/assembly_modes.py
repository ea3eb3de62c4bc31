"""Assembly modes: all poses that close a mechanism with its freedoms held, as random starts find them."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, BoolArray
from .closing import close
from .system_kinematics import Kinematics

SAME = 1e-6  # two poses whose coordinates differ by less [rad], or times L [m], are one
REACH = 2.0  # displacements of the starts, times L [m]


def assembly_modes(
    system: Kinematics, q: Array, t: float, held: Array, angles: BoolArray, starts: int
) -> Array:
    """Poses (k, nq) that close all constraints, the nearest to q first, angles between -pi and pi.

    Args:
        system: what to assemble.
        q: pose (nq,) with the held coordinates at their values.
        t: time of the drives [s].
        held: indices of the velocity coordinates that must not move.
        angles: which velocity coordinates are angles that may turn round, (nv,).
        starts: number of random poses to start from.
    """
    rows = np.flatnonzero(system.holonomic)
    columns = np.setdiff1d(np.arange(system.nv), held)
    random = np.random.default_rng(1853)
    found: list[Array] = []
    for k in range(starts + 1):
        dv = np.zeros(system.nv)
        if k:
            span = np.where(angles, np.pi, REACH) * system.unit
            dv[columns] = (span * random.uniform(-1.0, 1.0, system.nv))[columns]
        end = close(system, system.integrate(q, dv), t, rows, columns)
        if end.closed and all(_apart(system, end.q, other, angles) > SAME for other in found):
            found.append(end.q)
    found.sort(key=lambda pose: _apart(system, pose, q, angles))
    return np.array(found).reshape(len(found), len(q))


def _apart(system: Kinematics, a: Array, b: Array, angles: BoolArray) -> float:
    """Largest difference of two poses [rad], lengths divided by L; whole turns do not count."""
    d = system.difference(a, b) / system.unit
    d = np.where(angles, np.remainder(d + np.pi, 2.0 * np.pi) - np.pi, d)
    return float(np.max(np.abs(d), initial=0.0))
