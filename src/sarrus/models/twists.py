"""Increments of Spherical and Free joints, which do not commute: bracket and derivative of the exponential.

q moves as X' = X exp(u), u a rotation vector (3) or a twist [linear; angular] (6) in body axes; ad_u is the
matrix of the bracket. An increment dq between a motion and its neighbour changes as

    d(dq)/dt = dv - ad_v dq                                                                            (1)

and the increment u itself, where X = X0 exp(u) moves with the body twist v, as

    v = T(u) u',   T(u) = sum_k (-ad_u)^k / (k + 1)!          [Hairer1993] III.4, dexp               (2)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .base.rotation import hat
from .model import Model
from .tree.joint import NodeKind

WIDTH = {NodeKind.BALL: 3, NodeKind.FREE: 6}
SERIES = 24  # terms of (2): enough for turns of one revolution


def twist_slices(model: Model) -> list[slice]:
    """Where the rotation vectors and twists stand in v."""
    return [slice(n.iv, n.iv + WIDTH[n.kind]) for n in model.tree.nodes if n.kind in WIDTH]


def ad(u: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Matrices of ad_u (k, n, n) for rotation vectors (k, n = 3) or twists (k, n = 6); u may be complex."""
    w = u[:, -3:]
    if u.shape[1] == 3:
        return hat(w)
    out = np.zeros((len(u), 6, 6), dtype=u.dtype)
    out[:, :3, :3] = out[:, 3:, 3:] = hat(w)
    out[:, :3, 3:] = hat(u[:, :3])
    return out


def ad_all(slices: list[slice], v: Array) -> Array:
    """ad_v of all coordinates (nv, nv): zero except at Spherical and Free joints."""
    out = np.zeros((len(v), len(v)))
    for where in slices:
        out[where, where] = ad(v[None, where])[0]
    return out


def dexp(u: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """T(u) of (2), (k, n, n), for rotation vectors or twists u (k, n); u may be complex.

    Powers above the fourth follow from ad^5 = -2 w^2 ad^3 - w^4 ad, w^2 = the square of the rotation vector.
    """
    bracket, square = ad(u), np.sum(u[:, -3:] ** 2, axis=1)
    powers = [bracket]
    for _ in range(3):
        powers.append(powers[-1] @ bracket)
    largest = float(np.linalg.norm(u.real, axis=1).max(initial=0.0))
    # the first terms below rounding, in the derivative (k times larger) too
    needed = (k for k in range(2, SERIES) if 2.0 * (2.0 * largest) ** (k - 1) <= 1e-18 * math.factorial(k))
    zero = np.zeros(len(u), dtype=u.dtype)
    term, total = [zero - 1.0, zero, zero, zero], [zero, zero, zero, zero]  # of (-ad)^k in these powers
    for k in range(1, next(needed, SERIES)):
        total = [x + y / math.factorial(k + 1) for x, y in zip(total, term, strict=True)]
        one, two, three, four = term
        term = [square * square * four, -one, 2.0 * square * four - two, -three]
    ones = np.broadcast_to(np.eye(u.shape[1], dtype=u.dtype), bracket.shape)
    parts = (x[:, None, None] * power for x, power in zip(total, powers, strict=True))
    return np.asarray(sum(parts, ones))
