"""Velocities that a mechanism at a singular pose can really have: tangent to a smooth path through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracles.states import null_space

Array = npt.NDArray[np.float64]


def lost_rows(mech: Any, J: Array) -> Array:
    """Left null space (nc, k) of J."""
    U, s, _ = np.linalg.svd(J * mech.model.unit / mech.model.row_unit[:, None])
    return U[:, int(np.sum(s > 1e-9)) :] / mech.model.row_unit[:, None]


def smooth_motion(mech: Any, q: Array, seed: int) -> Array:
    """A velocity v with J v = 0 and w'J'v = 0 for all lost rows w (one quadric), found on a random line."""
    rng = np.random.default_rng([seed, 50])
    terms = mech.terms(q, np.zeros(mech.nv))
    N, W = null_space(mech, terms.J), lost_rows(mech, terms.J)

    def curvature(v: Array) -> Array:
        return -W.T @ mech.terms(q, v).gamma

    for _ in range(200):
        x, y = (N @ rng.normal(size=N.shape[1]) for _ in range(2))
        c, a = curvature(x), curvature(y)
        b = curvature(x + y) - a - c
        k = int(np.argmax(np.abs(a)))
        roots = np.roots([a[k], b[k], c[k]])
        for s in roots[np.abs(roots.imag) < 1e-12].real:
            v = (x + s * y) / np.linalg.norm(x + s * y)
            if np.max(np.abs(curvature(v))) < 1e-12:
                return v
    raise AssertionError("no smooth motion found: the pose is isolated")
