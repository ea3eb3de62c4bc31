"""Truncated power series in time, as arrays whose first axis is the order.

A series x(t) = x[0] + x[1] t + ... + x[K] t^K is an array of shape (K + 1, ...). Everything that the twin
differentiates is differentiated here, exactly, without a single hand-written derivative.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def times(x: Array, y: Array) -> Array:
    """Elementwise product x(t) y(t)."""
    return np.stack([sum(x[i] * y[k - i] for i in range(k + 1)) for k in range(len(x))])


def matmul(x: Array, y: Array) -> Array:
    """Matrix product x(t) y(t)."""
    return np.stack([sum(x[i] @ y[k - i] for i in range(k + 1)) for k in range(len(x))])


def apply(x: Array, y: Array) -> Array:
    """Matrix times vector x(t) y(t), the last axis of y being the vector."""
    return matmul(x, y[..., None])[..., 0]


def dot(x: Array, y: Array) -> Array:
    """Scalar product over the last axis."""
    return times(x, y).sum(axis=-1)


def transpose(x: Array) -> Array:
    """Swap the two matrix axes."""
    return np.swapaxes(x, -1, -2)


def constant(x: Array, like: Array) -> Array:
    """The series of a number or array that does not depend on time; `like` gives order and directions."""
    out = np.zeros(like.shape[:2] + np.shape(x))
    out[0] = x
    return out


def derivative(x: Array) -> Array:
    """dx/dt, one order shorter."""
    k = np.arange(1, len(x)).reshape((-1,) + (1,) * (x.ndim - 1))
    return x[1:] * k


def integral(x0: Array, rate: Array) -> Array:
    """The series with value x0 and derivative `rate`, one order longer than `rate`."""
    k = np.arange(1, len(rate) + 1).reshape((-1,) + (1,) * (rate.ndim - 1))
    return np.concatenate([np.asarray(x0)[None], rate / k])


def divide(x: Array, y: Array) -> Array:
    """Elementwise quotient x(t) / y(t)."""
    out = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for k in range(len(x)):
        out[k] = (x[k] - sum(out[i] * y[k - i] for i in range(k))) / y[0]
    return out


def sqrt(x: Array) -> Array:
    """Positive root, for x(0) > 0."""
    out = np.zeros_like(x)
    out[0] = np.sqrt(x[0])
    for k in range(1, len(x)):
        out[k] = (x[k] - sum(out[i] * out[k - i] for i in range(1, k))) / (2 * out[0])
    return out


def atan2(y: Array, x: Array) -> Array:
    """Angle of the point (x, y), by integration of its rate."""
    if len(x) == 1:
        return np.arctan2(y, x)
    short = slice(0, len(x) - 1)
    turned = times(x[short], derivative(y)) - times(y[short], derivative(x))
    rate = divide(turned, times(x[short], x[short]) + times(y[short], y[short]))
    return integral(np.arctan2(y[0], x[0]), rate)


def rotation_vector(R: Array) -> Array:
    """Logarithm of a rotation matrix (angle up to pi), by way of its half-angle vector."""
    half, half_cosine = _half_angle(R)
    s2 = dot(half, half)
    ratio = _asin_over(s2) if np.all(s2[0] < 0.06) else _atan_over(s2, half_cosine)
    return 2 * times(half, ratio[..., None])


def _half_angle(R: Array) -> tuple[Array, Array]:
    """axis sin(angle / 2) and cos(angle / 2) >= 0: the longest row of 4 q q', normalised."""
    K = np.zeros((*R.shape[:-2], 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        K[..., i, i] = R[..., i, i] - R[..., j, j] - R[..., k, k]
        K[..., i, j] = K[..., j, i] = R[..., i, j] + R[..., j, i]
        K[..., i, 3] = K[..., 3, i] = R[..., k, j] - R[..., j, k]
    K[..., 3, 3] = np.trace(R, axis1=-2, axis2=-1)
    K[0] += np.eye(4)
    longest = int(np.argmax(np.diagonal(K[0, 0])))
    q = K[..., longest, :]
    q = divide(q, sqrt(dot(q, q))[..., None]) * (-1.0 if q[0, 0, 3] < 0 else 1.0)
    return q[..., :3], q[..., 3]


def _asin_over(x: Array) -> Array:
    """asin(s) / s as a power series in x = s^2: regular at the identity."""
    coefficients = [1.0]
    for n in range(1, 24):
        coefficients.append(coefficients[-1] * (2 * n - 1) ** 2 / (2 * n * (2 * n + 1)))
    out = np.zeros_like(x)
    for c in reversed(coefficients):
        out = times(out, x)
        out[0] += c
    return out


def _atan_over(s2: Array, c: Array) -> Array:
    """asin(s) / s away from the identity."""
    s = sqrt(s2)
    return divide(atan2(s, c), s)
