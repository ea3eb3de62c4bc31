"""Least inputs: among all inputs that produce the wanted outputs, the shortest, and what it leaves open.

    G x = g,   x = pinv(G) g + Z z,   G Z = 0                                                      (1)

G maps inputs (in the metric, `metric.py`) to accelerations of the outputs. Z spans everything that the
outputs do not see: forces that load the constraints only [Aghili2005] eq. (54), and motions that the
outputs leave free. Outputs that the constraints forbid, or that no actuator reaches, are met in the
least-squares sense.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

Array = npt.NDArray[np.float64]

LOST = 1e-9  # singular values of G below this, relative to the largest, are zero


class Least(NamedTuple):
    """x (n,) of least norm, the directions Z (n, n - rank) left open, the rank, whether it was damped."""

    x: Array
    Z: Array
    rank: int
    damped: bool


def least_inputs(G: Array, g: Array, sharpness: float, threshold: float) -> Least:
    """Solve (1).

    Where `sharpness` (1: regular, 0: a motion is lost) falls below `threshold`, the singular values are
    damped, s / (s^2 + d^2) with d^2 growing smoothly from zero to (threshold s_max)^2 [Chiaverini1997]:
    inputs stay bounded through singular poses and outputs are met a little less well.

    Args:
        G: (k, n).
        g: (k,).
        sharpness: how far from a singular pose.
        threshold: where damping begins; 0 never damps.
    """
    k, n = G.shape
    if k == 0 or n == 0:
        return Least(np.zeros(n), np.eye(n), 0, False)
    U, s, Vt, info = lapack.dgesdd(G)
    if info:
        raise np.linalg.LinAlgError("the singular values of the task matrix did not converge.")
    rank = int(np.count_nonzero(s > LOST * s[0])) if s[0] > 0.0 else 0
    kept = s[:rank]
    damped = rank > 0 and sharpness < threshold
    if damped:
        d = threshold * float(s[0])
        gains = kept / (kept * kept + (1.0 - (sharpness / threshold) ** 2) * d * d)
    else:
        gains = 1.0 / kept
    x = (gains * (g @ U[:, :rank])) @ Vt[:rank]
    return Least(x, Vt[rank:].T, rank, damped)


def smallest_share(A: Array) -> tuple[float, int]:
    """About the smallest nonzero singular value of A over the largest, and the rank of A.

    From the diagonal of a QR factorization with column pivoting: within a small factor, in two microseconds.
    """
    if A.shape[0] == 0 or A.shape[1] == 0:
        return 1.0, 0
    d = [abs(x) for x in lapack.dgeqp3(A)[0].diagonal().tolist()]
    if d[0] == 0.0:
        return 1.0, 0
    kept = [x for x in d if x > LOST * d[0]]
    return kept[-1] / d[0], len(kept)
