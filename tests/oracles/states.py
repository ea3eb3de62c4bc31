"""Mechanisms made from descriptions, consistent velocities, and comparisons, for the tests of them all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .description import Description, to_spec

Array = npt.NDArray[np.float64]


def mechanism(description: Description) -> Any:
    """The compiled mechanism."""
    return to_spec(description).compile()


def null_space(mech: Any, J: Array) -> Array:
    """Basis (nv, dof) of the velocities that J allows, by an SVD of J without units."""
    scaled = J * mech.model.unit / mech.model.row_unit[:, None]
    _, s, Vt = np.linalg.svd(scaled) if J.size else (None, np.zeros(0), np.eye(mech.nv))
    return mech.model.unit[:, None] * Vt[int(np.sum(s > 1e-9)) :].T


def tangent_velocity(mech: Any, q: Array, seed: int, t: float = 0.0) -> Array:
    """A random velocity (nv,) of order one with J v = b, where b can be met."""
    rng = np.random.default_rng([seed, 11])
    terms = mech.terms(q, np.zeros(mech.nv), t)
    N = null_space(mech, terms.J)
    start = np.linalg.lstsq(terms.J, terms.b, rcond=1e-10)[0] if terms.J.size else np.zeros(mech.nv)
    return start + N @ rng.normal(size=N.shape[1])


def random_force(mech: Any, seed: int) -> Array:
    """Applied generalized force (nv,) of order ten."""
    return np.random.default_rng([seed, 12]).normal(scale=10.0, size=mech.nv)


def relative(x: Array, y: Array, floor: float = 1.0) -> float:
    """Largest difference divided by the size of y, at least `floor`."""
    x, y = np.asarray(x), np.asarray(y)
    assert x.shape == y.shape, (x.shape, y.shape)
    if not x.size:
        return 0.0
    assert np.all(np.isfinite(x)), "not finite"
    return float(np.max(np.abs(x - y)) / max(floor, float(np.max(np.abs(y)))))
