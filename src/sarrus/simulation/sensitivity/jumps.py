"""Jumps of the acceleration along a run: there derivatives by parameters jump too.

Between steps the acceleration of the model differs from that of the polynomial of the run by h^4 times a
derivative. A step where it differs by far more than its neighbours, scaled like that, is looked into: the
half with the larger change is halved again and again. A jump stays, a corner does not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...arrays import Array

NEIGHBOURS = 3  # steps on either side
SUSPECT = 100.0  # times what the neighbours say
ROUNDING = 1e-9  # of the largest acceleration, or of the largest speed squared
HALVINGS = 40
LEFT = 1e-4  # of the change over the step: what is left after the halvings is a jump


def suspects(t: Array, apart: Array, largest: float) -> npt.NDArray[np.intp]:
    """Steps between times (n + 1,) whose differences (n,) are far above those of their neighbours."""
    h = np.diff(t)
    rate = apart / h**4
    around = np.zeros(len(h))
    for shift in range(1, NEIGHBOURS + 1):
        around[shift:] = np.maximum(around[shift:], rate[:-shift])
        around[:-shift] = np.maximum(around[:-shift], rate[shift:])
    expected = np.maximum(SUSPECT * around * h**4, ROUNDING * largest)
    return np.flatnonzero(apart > expected)


def jumps(acceleration: Callable[[Array], Array], begin: float, end: float, largest: float) -> bool:
    """Whether acceleration(t (n,)) -> (n, nv), without units, jumps between two times."""
    ends = np.array([begin, end])
    a, b = acceleration(ends)
    whole = float(np.max(np.abs(b - a)))
    for _ in range(HALVINGS):
        middle = 0.5 * (ends[0] + ends[1])
        if not ends[0] < middle < ends[1]:
            break
        c = acceleration(np.array([middle]))[0]
        if np.max(np.abs(c - a)) >= np.max(np.abs(b - c)):
            ends, b = np.array([ends[0], middle]), c
        else:
            ends, a = np.array([middle, ends[1]]), c
    return float(np.max(np.abs(b - a))) > max(LEFT * whole, ROUNDING * largest)
