"""Least inputs: among all inputs that produce the wanted outputs, the shortest, and what it leaves open.

    G x = g,   x = pinv(G) g + Z z,   G Z = 0                                                      (1)

G maps inputs (in the metric, `metric.py`) to accelerations of the outputs. Z spans everything that the
outputs do not see: forces that load the constraints only [Aghili2005] eq. (54), and motions that the
outputs leave free. Outputs that the constraints forbid, or that no actuator reaches, are met in the
least-squares sense. Where the rows of G are independent the kernel does all of it
(kernels/control/least_norm_inputs.hpp).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from ...dynamics.control_kernel import inputs_for
from ...dynamics.input_response import Response
from .force_metric import Factor

Array = npt.NDArray[np.float64]

LOST = 1e-9  # singular values of G below this, relative to the largest, are zero


class Least(NamedTuple):
    """What the outputs ask of the inputs.

    Attributes:
        G, g: of (1), without units, (k, n) and (k,).
        x: of least norm (n,).
        Z: the directions left open (n, n - rank).
        rank: of G.
        damped: whether x was damped.
        unfelt: number of motions that no actuator feels.
    """

    G: Array
    g: Array
    x: Array
    Z: Array
    rank: int
    damped: bool
    unfelt: int


def least_inputs(
    J: Array,
    wanted: Array,
    unit: Array,
    response: Response,
    v: Array,
    metric: Factor,
    leftover_damping: float,
    threshold: float,
    by_mass: bool = False,
) -> Least:
    """The inputs for J a = wanted, and for K a = -c K v, K the directions that these rows do not see.

    Sharpness is the smallest share of a motion that the actuators feel or the outputs reach (1: regular, 0: a
    motion is lost). Where it falls below `threshold`, the singular values are damped.

    Args:
        J: (k, nv).
        wanted: (k,).
        unit: of the rows (k,).
        response: to the inputs.
        v: velocities (nv,).
        metric: of the inputs.
        leftover_damping: c [1/s]; 0 adds no rows.
        threshold: where damping begins; 0 never damps.
        by_mass: whether K is such that forces on the outputs do not excite it [Khatib1987].
    """
    mass = response.terms.M if by_mass else None
    columns, own = response.columns, response.units.unit
    G, g, sharpness, felt, x, Z = inputs_for(
        J, wanted, unit, response.N, response.B, response.a0, own, v, columns, metric, mass, leftover_damping
    )
    unfelt = response.dof - felt
    if Z is None or sharpness < threshold:
        return Least(G, g, *_damped(G, g, sharpness, threshold), unfelt)
    return Least(G, g, x, Z, len(g), False, unfelt)


def _damped(G: Array, g: Array, sharpness: float, threshold: float) -> tuple[Array, Array, int, bool]:
    """x, Z, rank and whether x is damped, through singular values.

    They are damped, s / (s^2 + d^2), with d^2 growing smoothly from zero to (threshold s_max)^2
    [Chiaverini1997]: inputs stay bounded through singular poses and outputs are met a little less well.
    """
    k, n = G.shape
    if k == 0 or n == 0:
        return np.zeros(n), np.eye(n), 0, False
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
    return x, np.ascontiguousarray(Vt[rank:].T), rank, damped
