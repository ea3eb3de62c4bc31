"""Force feedback: proportional-integral regulation of constraint forces without an algebraic loop.

[Aghili2005] eq. (50) sets the modelled force to y_d + K_F e + K_I I with e = y_d - y, I' = e. The actual
force is the modelled one plus a disturbance d, y = y_model + d; solved for y_model,

    y_model = y_d + (1 + K_F)^-1 (K_I I - K_F d)          (1 + K_F) e' + K_I e = -d'                 (1)

d is estimated as the measured force less the modelled force for the input that was applied at that time. The
measured force itself is not fed back, so the loop is stable for every K_F; (50) with a sampled force needs
K_F < 1. Without a measurement d = 0, and the modelled force is regulated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _kernel
from ...arrays import nonnegative
from ...errors import InputError
from ..core.gains import gain_matrix


class ForceFeedback(_kernel.ForceFeedback):
    """Integral, disturbance estimate and gains for forces y (p,): kernels/control/force_feedback.hpp.

    `command(t, desired, measured_less_model)` is the modelled force y_model (p,) to be commanded at time t
    [s], (1), with the newest d (p,), or None without a measurement. `settle(desired, commanded, modelled)`
    sets the rate of the integral from the forces that the inputs achieve and returns the force error (p,).
    Anti-windup: the integral of a force that limits or the motion keep from its command stands still.

    Args:
        size: number p of regulated forces.
        kf: proportional gain [1], a number, (p,) or a matrix.
        ki: integral gain [1/s], the same.
        filter_time: time constant [s] of the filter on d.
        integral_limit: largest size of each entry of K_I I [N, N m].
    """

    def __init__(self, size: int, kf: Any, ki: Any, filter_time: float, integral_limit: float) -> None:
        by_error = gain_matrix(kf, size, "kf", zero_allowed=True)
        by_integral = gain_matrix(ki, size, "ki", zero_allowed=True)
        inverse = np.linalg.inv(np.eye(size) + by_error)
        filter_time = nonnegative(filter_time, "filter_time")
        if not isinstance(integral_limit, (int, float)) or not integral_limit > 0.0:
            raise InputError(f"integral_limit must be positive, got {integral_limit!r}.")
        gains = np.abs(np.diagonal(by_integral))
        cap = np.divide(float(integral_limit), gains, out=np.full(size, np.inf), where=gains > 0.0)
        super().__init__(by_error, by_integral, inverse, cap, filter_time)
