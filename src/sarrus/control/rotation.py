"""Rotations as the controllers need them: exponential, logarithm, and how an error of orientation moves.

The error of an orientation R_WB against R_WD is e = log(R_WD R_WB.T), the turn in world axes that is still to
be made. With E = exp(e), w and w_d the angular velocities of B and D, and Jl the left Jacobian of SO(3),

    Jl(e) e' = w_E = w_d - E w                                                                     (1)
    Jl(e) e'' + Jl' e' = w_d' - w_E x (E w) - E w'                                                 (2)

so the error obeys any chosen e'' exactly if w' = E.T (w_d' - w_E x (E w) - Jl' e' - Jl e'').        (3)

Vectors are three floats here: NumPy costs a microsecond per operation, and there are many.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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


def _coefficients(angle: float) -> tuple[float, float, float]:
    """sin(x)/x, (1 - cos x)/x^2, (x - sin x)/x^3."""
    if angle < SMALL:
        s = angle * angle
        a = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0))))
        b = 0.5 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0))))
        c = (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0)))) / 6.0
        return a, b, c
    sine = math.sin(angle)
    return sine / angle, (1.0 - math.cos(angle)) / angle**2, (angle - sine) / angle**3


def _slopes(angle: float) -> tuple[float, float]:
    """Derivatives of (1 - cos x)/x^2 and (x - sin x)/x^3, divided by x."""
    s = angle * angle
    if angle < SMALL:
        db = -(1.0 - s / 15.0 * (1.0 - s * 3.0 / 112.0 * (1.0 - s * 4.0 / 270.0))) / 12.0
        dc = -(1.0 - s / 21.0 * (1.0 - s / 48.0 * (1.0 - s * 2.0 / 165.0))) / 60.0
        return db, dc
    sine, cosine = math.sin(angle), math.cos(angle)
    db = (angle * sine - 2.0 * (1.0 - cosine)) / s**2
    dc = (3.0 * sine - angle * (2.0 + cosine)) / (s * s * angle)
    return db, dc


def exp(e: Array) -> Array:
    """The rotation (3, 3) by the rotation vector e (3,) [rad]."""
    a, b, _ = _coefficients(float(np.linalg.norm(e)))
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


def left_jacobian(e: Array) -> Array:
    """Jl(e) (3, 3): angular velocity in world axes = Jl(e) e'."""
    _, b, c = _coefficients(float(np.linalg.norm(e)))
    K = hat(e)
    return np.eye(3) + b * K + c * (K @ K)


def jacobian_rate(e: Vector, rate: Vector) -> Vector:
    """Jl' e' (3,), the derivative of the left Jacobian along e' = rate, applied to the rate itself."""
    angle = math.sqrt(_dot(e, e))
    c = _coefficients(angle)[2]
    db, dc = _slopes(angle)
    once, along = _cross(e, rate), _dot(e, rate)
    return _sum(db * along, once, dc * along, _cross(e, once), c, _cross(rate, once))


class TurnError(NamedTuple):
    """Error of an orientation and the map from its wanted second derivative to w': w' = c - T e''."""

    e: Array
    rate: Array
    T: Array
    c: Array


def turn_error(R: Array, w: Array, R_d: Array, w_d: Array, dw_d: Array) -> TurnError:
    """Error of R (3, 3), turning at w (3,), against R_d, turning at w_d, accelerating at dw_d; (1)-(3)."""
    E = R_d @ R.T
    e = _log(E.ravel().tolist())
    angle = math.sqrt(_dot(e, e))
    a, b, c = _coefficients(angle)
    Ew = tuple((E @ w).tolist())
    w_E = tuple((w_d - Ew).tolist())
    # e' = Jl^-1 w_E = w_E - e x w_E / 2 + k e x (e x w_E)
    s = angle * angle
    k = (
        1.0 / 12.0 * (1.0 + s / 60.0 * (1.0 + s / 42.0 * (1.0 + s / 40.0)))
        if angle < SMALL
        else (1.0 - a / (2.0 * b)) / s
    )
    once = _cross(e, w_E)
    rate = _sum(1.0, w_E, -0.5, once, k, _cross(e, once))
    rest = _sum(1.0, tuple(dw_d.tolist()), -1.0, _cross(w_E, Ew), -1.0, jacobian_rate(e, rate))
    x, y, z = e
    Jl = np.array(
        [
            [1.0 - c * (y * y + z * z), c * x * y - b * z, c * x * z + b * y],
            [c * x * y + b * z, 1.0 - c * (x * x + z * z), c * y * z - b * x],
            [c * x * z - b * y, c * y * z + b * x, 1.0 - c * (x * x + y * y)],
        ]
    )
    return TurnError(np.array(e), np.array(rate), E.T @ Jl, E.T @ rest)


def _dot(x: Vector, y: Vector) -> float:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def _cross(x: Vector, y: Vector) -> Vector:
    return x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]


def _sum(a: float, x: Vector, b: float, y: Vector, c: float, z: Vector) -> Vector:
    """a x + b y + c z."""
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
    )
