"""Gains: a number, one per output component, or a symmetric positive definite matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array, fixed_shape
from ...errors import InputError

SYMMETRIC = 1e-9


def gain_matrix(value: Any, size: int, what: str, zero_allowed: bool = False) -> Array:
    """A gain as a matrix (size, size), refused unless it is symmetric and positive definite.

    Args:
        value: a number, (size,) or (size, size).
        size: number of components that it acts on.
        what: its name in messages.
        zero_allowed: whether positive semidefinite will do.
    """
    ndim = np.ndim(value)
    if ndim == 0:
        gain = float(fixed_shape(value, what, ())) * np.eye(size)
    elif ndim == 1:
        gain = np.diag(fixed_shape(value, what, (size,)))
    else:
        gain = fixed_shape(value, what, (size, size))
    worst = float(np.max(np.abs(gain - gain.T), initial=0.0))
    if worst > SYMMETRIC * float(np.max(np.abs(gain), initial=1.0)):
        raise InputError(f"{what} must be symmetric; it differs from its transpose by {worst:.3g}.")
    least = float(np.linalg.eigvalsh(gain)[0]) if size else 1.0
    if least < 0.0 or (least == 0.0 and not zero_allowed):
        rule = "positive semidefinite" if zero_allowed else "positive definite"
        raise InputError(f"{what} must be {rule}: its smallest eigenvalue is {least:.3g}, got {value!r}.")
    return gain


def critical_damping(kp: Array) -> Array:
    """K_D = 2 sqrt(K_P): errors decay without overshoot."""
    from scipy.linalg import sqrtm

    if np.array_equal(kp, np.diag(np.diagonal(kp))):
        return np.asarray(2.0 * np.sqrt(kp))
    return np.asarray(2.0 * np.real(sqrtm(kp)))
