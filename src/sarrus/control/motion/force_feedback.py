"""Force feedback: proportional-integral regulation of constraint forces without an algebraic loop.

[Aghili2005] eq. (50) sets the modelled force to y_d + K_F e + K_I I with e = y_d - y, I' = e. The actual
force is the modelled one plus a disturbance d, y = y_model + d; solved for y_model,

    y_model = y_d + (1 + K_F)^-1 (K_I I - K_F d)          (1 + K_F) e' + K_I e = -d'                 (1)

d is estimated as the measured force less the modelled force for the input that was applied at that time. The
measured force itself is not fed back, so the loop is stable for every K_F; (50) with a sampled force needs
K_F < 1. Without a measurement d = 0, and the modelled force is regulated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array, nonnegative
from ...errors import InputError
from ..core.gains import gain_matrix

UNREACHED = 1e-6  # relative distance from the command above which a force counts as saturated (anti-windup)


class ForceFeedback:
    """Integral, disturbance estimate and gains for forces y (p,).

    Args:
        size: number p of regulated forces.
        kf: proportional gain [1], a number, (p,) or a matrix.
        ki: integral gain [1/s], the same.
        filter_time: time constant [s] of the filter on d.
        integral_limit: largest size of each entry of K_I I [N, N m].
    """

    def __init__(self, size: int, kf: Any, ki: Any, filter_time: float, integral_limit: float) -> None:
        self._kf = gain_matrix(kf, size, "kf", zero_allowed=True)
        self._ki = gain_matrix(ki, size, "ki", zero_allowed=True)
        self._inverse = np.linalg.inv(np.eye(size) + self._kf)
        self._filter_time = nonnegative(filter_time, "filter_time")
        if not isinstance(integral_limit, (int, float)) or not integral_limit > 0.0:
            raise InputError(f"integral_limit must be positive, got {integral_limit!r}.")
        self._limit, self._size = float(integral_limit), size
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self.integral, self.disturbance = np.zeros(self._size), np.zeros(self._size)
        self._rate = np.zeros(self._size)
        self._last = math.nan

    def command(self, t: float, desired: Array, measured_less_model: Array | None) -> Array:
        """The modelled force y_model (p,) to be commanded at time t [s]; (1).

        Args:
            t: time [s].
            desired: y_d (p,).
            measured_less_model: the newest d (p,); None without a measurement.
        """
        dt = 0.0 if math.isnan(self._last) else max(t - self._last, 0.0)
        self._last = t if math.isnan(self._last) else max(t, self._last)
        self.integral = np.clip(self.integral + dt * self._rate, -self._cap, self._cap)
        if measured_less_model is not None:
            share = 1.0 if self._filter_time == 0.0 else dt / (dt + self._filter_time)
            self.disturbance = self.disturbance + share * (measured_less_model - self.disturbance)
        return np.asarray(desired + self._inverse @ (self._ki @ self.integral - self._kf @ self.disturbance))

    def settle(self, desired: Array, commanded: Array, modelled: Array) -> Array:
        """Set the rate of the integral from the forces that the inputs achieve; returns the force error (p,).

        Anti-windup: the integral of a force that limits or the motion keep from its command stands still.

        Args:
            desired: y_d (p,).
            commanded: result of `command` (p,).
            modelled: forces of the chosen inputs according to the model (p,).
        """
        error = desired - modelled - self.disturbance
        short = commanded - modelled
        held = (np.abs(short) > UNREACHED * (1.0 + np.abs(commanded))) & (short * error > 0.0)
        self._rate = np.where(held, 0.0, error)
        return np.asarray(error)

    @property
    def _cap(self) -> Array:
        """Largest size of each entry of the integral (p,)."""
        gains = np.abs(np.diagonal(self._ki))
        return np.asarray(np.divide(self._limit, gains, out=np.full(self._size, np.inf), where=gains > 0.0))
