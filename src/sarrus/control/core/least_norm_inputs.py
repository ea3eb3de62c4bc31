"""Least-norm inputs that give the outputs their desired accelerations, and the null space of the outputs.

    G x = g,   x = pinv(G) g + Z z,   G Z = 0                                                      (1)

G maps inputs (in the metric, `force_metric.py`) to accelerations of the outputs. Z spans its null space:
internal forces, which only load the constraints [Aghili2005] eq. (54), and null-space motions.
Outputs that the constraints forbid, or that no actuator reaches, are met in the least-squares sense. Near a
pose where a motion is lost, singular values are damped [Chiaverini1997]: inputs stay bounded and outputs are
met a little less well. kernels/control/least_norm_inputs.hpp
"""

from __future__ import annotations

from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from ... import _kernel
from ...arrays import Array
from ...dynamics.input_response import Response
from .force_metric import Factor


class LeastNormInputs(NamedTuple):
    """Inputs for the desired accelerations of the outputs.

    Attributes:
        G, g: of (1), without units, (k, n) and (k,).
        x: of least norm (n,).
        Z: null space of G (n, n - rank).
        rank: of G.
        damped: whether x was damped.
        uncontrollable: number of motions that no actuator moves.
    """

    G: Array
    g: Array
    x: Array
    Z: Array
    rank: int
    damped: bool
    uncontrollable: int


class Damping(TypedDict):
    """How least-norm inputs are damped.

    Controllability is the smallest share of a motion that actuators move and outputs see (1: regular, 0: a
    motion is lost).

    Attributes:
        damping: null-space damping c [1/s]; 0 adds no rows.
        min_controllability: controllability below which inputs are damped; 0 never damps.
        by_mass: whether K is such that forces on the outputs do not excite it [Khatib1987].
    """

    damping: float
    min_controllability: float
    by_mass: bool


def least_norm_inputs(
    response: Response, J: Array, wanted: Array, unit: Array, v: Array, metric: Factor, **how: Unpack[Damping]
) -> LeastNormInputs:
    """The inputs for J a = wanted, and for K a = -c K v, K the null-space motions of these rows.

    Args:
        response: to the inputs.
        J: (k, nv).
        wanted: (k,).
        unit: of the rows (k,).
        v: velocities (nv,).
        metric: of the inputs.
        how: damping, see `Damping`.
    """
    found = _kernel.least_norm_inputs(response, J, wanted, unit, v, metric=metric, **how)
    if found["rank"] < 0:
        raise np.linalg.LinAlgError("the singular values of the task matrix did not converge.")
    return LeastNormInputs(**found)
