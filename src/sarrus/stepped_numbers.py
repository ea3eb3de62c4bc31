"""Functions of numbers whose imaginary part, times 1e60, may be a derivative (complex steps, [Squire1998]).

f(x + i h x') = f(x) + i h f'(x) x' for arithmetic and square roots, with nothing to cancel. Sizes and angles
of complex numbers mean something else to NumPy; here they are those of the real parts, with derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def size(x: Any) -> Any:
    """Length of vectors (..., n)."""
    return np.sqrt(np.sum(x * x, axis=-1))


def unit(x: Any) -> Any:
    """A vector (n,) divided by its length."""
    return x / size(x)


def direction_of(y: Any, x: Any) -> Any:
    """Angle of (x, y) [rad], as arctan2."""
    if not np.iscomplexobj(y):
        return np.arctan2(y, x)
    slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return np.arctan2(y.real, x.real) + 1j * slope
