"""FrictionCompensation: the dry friction that a control law adds to h.

Along a coordinate that moves it is the friction, against the velocity. Along one at rest it is a share of the
friction to overcome, in the direction of the acceleration that the law demands,

    share = a / (RAMP c / M_kk), within -1 and 1                                                          (1)

a: acceleration that the law asks for, c: friction at rest, c / M_kk: acceleration that a force c gives to the
coordinate alone. (1) is continuous: an error that is rounding gives a torque that is rounding. A law that
keeps a coordinate at rest leaves it within a dead zone that is RAMP times that without compensation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, BoolArray
from ...dynamics.dry_friction import DryFriction

CHOICES = ("compensate", "ignore")
AT_REST = 1e-3  # of the Stribeck speed of a coordinate: slower ones are at rest
RAMP = 1e-2  # of the acceleration that friction can give: from it on all friction at rest is compensated


@dataclass(frozen=True)
class FrictionCompensation:
    """Of one mechanism; friction by load is no part of it."""

    friction: DryFriction

    def resting(self, v: Array) -> BoolArray:
        """Which rows of friction (k,) are at rest, by measured velocities v (nv,)."""
        return np.asarray(np.abs(v[self.friction.coordinates]) <= AT_REST * self.friction.speeds)

    def moving(self, v: Array) -> Array:
        """Resistance (nv,) [N m, N] of the coordinates that move."""
        at, out = self.friction.coordinates, np.zeros(len(v))
        out[at] = np.where(self.resting(v), 0.0, np.sign(v[at]) * self._level(v))
        return out

    def _level(self, v: Array) -> Array:
        """`DryFriction.level` of one state by the mathematics of C, which exported laws have too, (k,)."""
        rows, found = self.friction.of_row.tolist(), np.zeros(len(self.friction.coordinates))
        speeds = v[self.friction.coordinates].tolist()
        for row, (coulomb, breakaway, speed) in zip(rows, self.friction.levels.tolist(), strict=True):
            x = speeds[row] / speed
            found[row] += coulomb + (breakaway - coulomb) * math.exp(-(x * x))
        return found

    def starting(self, q: Array, v: Array, a: Array) -> Array:
        """Resistance (nv,) of coordinates at rest, by (1), to the accelerations a (nv,) of a law."""
        at, bounds = self.friction.coordinates, self.friction.bounds
        inertia = np.diagonal(self.friction.model.kernel.mass_matrix(q[None])[0])[at]
        ramp = RAMP * np.where(bounds > 0.0, bounds, 1.0) / inertia
        out = np.zeros(len(v))
        out[at] = np.where(self.resting(v), bounds * np.clip(np.nan_to_num(a[at]) / ramp, -1.0, 1.0), 0.0)
        return out
