"""Rotations: cross-product matrix, exponential and logarithm.

Errors of orientations and poses, and their rates, are in `pose_error.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array

SMALL = 1e-4  # [rad]: below this angle exp(e) is 1 + hat(e) + hat(e)^2 / 2 to rounding


def hat(x: NDArray[Any]) -> NDArray[Any]:
    """Cross-product matrices (..., 3, 3) of vectors (..., 3), real or complex: hat(x) @ y = x cross y."""
    out = np.zeros((*x.shape, 3), dtype=np.result_type(x, np.float64))
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = x[..., 0], x[..., 1], x[..., 2]
    out[..., 1, 2], out[..., 2, 0], out[..., 0, 1] = -x[..., 0], -x[..., 1], -x[..., 2]
    return out


def cross(x: Array, y: Array) -> Array:
    """x cross y of two vectors (3,); np.cross costs ten times as much."""
    a, b, c = x.tolist()
    d, e, f = y.tolist()
    return np.array([b * f - c * e, c * d - a * f, a * e - b * d])


def exp(e: Array) -> Array:
    """The rotation (3, 3) by the rotation vector e (3,) [rad].

    Operation by operation as kernels/control/law/reference.hpp, so that exported laws have the same bits.
    """
    x, y, z = e.tolist()
    xx, yy, zz = x * x, y * y, z * z
    square = xx + yy + zz
    angle, a, b = math.sqrt(square), 1.0, 0.5
    if angle > SMALL:
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    ax, ay, az = a * x, a * y, a * z
    bxy, bxz, byz = b * x * y, b * x * z, b * y * z
    return np.array(
        [
            [1.0 - b * (yy + zz), bxy - az, bxz + ay],
            [bxy + az, 1.0 - b * (xx + zz), byz - ax],
            [bxz - ay, byz + ax, 1.0 - b * (xx + yy)],
        ]
    )


def log(R: Array) -> Array:
    """The rotation vector (3,) [rad] of a rotation (3, 3), its length at most pi.

    By the quaternion, from its largest component, so that half a turn needs no special case.
    """
    a, b, c, d, e, f, g, h, i = R.ravel().tolist()
    largest = max(a + e + i, a, e, i)
    if largest == a + e + i:
        x, y, z, w = h - f, c - g, d - b, 1.0 + a + e + i
    elif largest == a:
        x, y, z, w = 1.0 + a - e - i, b + d, c + g, h - f
    elif largest == e:
        x, y, z, w = b + d, 1.0 + e - a - i, f + h, c - g
    else:
        x, y, z, w = c + g, f + h, 1.0 + i - a - e, d - b
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    size = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(size, w) / size if size > 1e-12 * w else 2.0 / w
    return np.array([scale * x, scale * y, scale * z])
