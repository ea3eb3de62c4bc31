"""The methods of `kernels/integrate/methods.hpp` for steps taken in Python: explicit Runge-Kutta tableaus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """A (stages, stages), b, c, and e = b - b_hat (None without an error estimate), with the order."""

    A: Array
    b: Array
    c: Array
    order: int
    e: Array | None = None


def _lower(*rows: tuple[float, ...]) -> Array:
    out = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


TABLEAUS = {
    # [Hairer1993] table II.1.2
    "rk4": Tableau(
        _lower((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
        np.array([0.0, 0.5, 0.5, 1.0]),
        4,
    ),
    "semi_implicit_euler": Tableau(np.zeros((1, 1)), np.ones(1), np.zeros(1), 1),
    # [Hairer1993] table II.5.2
    "dopri5": Tableau(
        _lower(
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
            (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        ),
        np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0]),
        np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]),
        5,
        np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]),
    ),
}
