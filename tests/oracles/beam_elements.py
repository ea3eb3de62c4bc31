"""Independent finite elements of a straight beam along x: consistent matrices with six freedoms a node."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def beam_element(
    L: float, E: float, G: float, rho: float, A: float, Iy: float, Iz: float, J: float
) -> tuple[Array, Array]:
    """M and K (12, 12) of an Euler-Bernoulli element without rotary inertia of its sections."""
    M, K = np.zeros((12, 12)), np.zeros((12, 12))
    line_m, line_k = rho * L / 6.0 * np.array([[2, 1], [1, 2]]), np.array([[1, -1], [-1, 1]]) / L
    for k, (mass, stiff) in {0: (A, E * A), 3: (Iy + Iz, G * J)}.items():
        at = np.ix_([k, k + 6], [k, k + 6])
        M[at] += mass * line_m
        K[at] += stiff * line_k
    for at, sign, EI in (([1, 5, 7, 11], 1.0, E * Iz), ([2, 4, 8, 10], -1.0, E * Iy)):
        S = np.diag([1.0, sign * L, 1.0, sign * L])
        k4 = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
        m4 = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
        K[np.ix_(at, at)] += EI / L**3 * S @ k4 @ S
        M[np.ix_(at, at)] += rho * A * L / 420.0 * S @ m4 @ S
    return M, K


def beam_matrices(count: int, length: float, **section: float) -> tuple[Array, Array, Array]:
    """M, K (6 N, 6 N) and nodes (N, 3) of a beam of `count` elements from the origin along x."""
    n = 6 * (count + 1)
    M, K = np.zeros((n, n)), np.zeros((n, n))
    m, k = beam_element(length / count, **section)
    for i in range(count):
        at = slice(6 * i, 6 * i + 12)
        M[at, at] += m
        K[at, at] += k
    return M, K, np.column_stack([np.linspace(0, length, count + 1), np.zeros((count + 1, 2))])
