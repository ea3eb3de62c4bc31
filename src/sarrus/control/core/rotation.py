"""Rotations as the controllers need them: exponential, logarithm, cross products.

How errors of orientations and poses move is in `models/pose_error.py`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

SMALL = 0.2  # [rad] below this series are used; what they leave out is below 1e-12


def hat(x: Array) -> Array:
    """The matrix (3, 3) with hat(x) y = x cross y."""
    a, b, c = x.tolist()
    return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def cross(x: Array, y: Array) -> Array:
    """x cross y of two vectors (3,), without the cost of the general function."""
    a, b, c = x.tolist()
    d, e, f = y.tolist()
    return np.array([b * f - c * e, c * d - a * f, a * e - b * d])


def _coefficients(angle: float) -> tuple[float, float]:
    """sin(x)/x, (1 - cos x)/x^2."""
    if angle < SMALL:
        s = angle * angle
        a = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0))))
        b = 0.5 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0))))
        return a, b
    return math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle**2


def exp(e: Array) -> Array:
    """The rotation (3, 3) by the rotation vector e (3,) [rad]."""
    a, b = _coefficients(float(np.linalg.norm(e)))
    K = hat(e)
    return np.eye(3) + a * K + b * (K @ K)


def log(R: Array) -> Array:
    """The rotation vector (3,) [rad] of a rotation (3, 3), its length at most pi."""
    return np.array(_log(R.ravel().tolist()))


def _log(R: list[float]) -> Vector:
    """Through the quaternion whose largest component comes first: half a turn is no special case."""
    a, b, c, d, e, f, g, h, i = R
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
    return scale * x, scale * y, scale * z
