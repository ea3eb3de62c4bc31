"""Energy across passes of singular poses: what a run that went wrong there cannot keep.

Constraint forces do no work, however large they are, unless drives move. So the energy before and after a
pass may differ only by the work of everything else, which is bounded. Within rounding of a singular pose,
and with a velocity across the branches through it, the turn onto a branch is sharper than numbers resolve:
accelerations are then rounding, every error estimate with them, and energy is won or lost.
"""

from __future__ import annotations

import numpy as np

from ..system.step_records import Steps
from ..system.system import System
from .interpolation import Manifold

CLOSE = 1e-4  # steps with a smaller pivot, or lost rank, belong to a pass
MOST_LOST = 1e-3  # of the kinetic energy: a larger change by a pass is a wrong one
MOST_WORK = 10.0  # over the power after the pass times its duration
DELTA = 1e-4  # change of state from which the power is computed, relative to one radian or L


class PassEnergy:
    """Looks at the steps of a run, piece by piece."""

    def __init__(self, system: System, manifold: Manifold, first: Steps) -> None:
        self._system, self._manifold = system, manifold
        self._before = self._last = first
        self._most = int(first.rank[0])
        self._worst = 0.0
        self._said = ""

    def look(self, new: Steps) -> None:
        """The next steps."""
        if self._system.has_drives or self._system.nc == 0:
            return
        self._most = max(self._most, int(new.rank.max()))
        known = Steps.joined([self._last, new])
        close = (known.pivot < CLOSE) | (known.rank < self._most)
        for i in 1 + np.flatnonzero(np.diff(close.astype(int))):
            if close[i]:
                self._before = known[i - 1 : i]
            else:
                self._compare(known[i : i + 1])
        self._last = known[-1:]

    def finish(self) -> None:
        """The run has ended, perhaps within a pass."""
        if self._last.pivot[0] < CLOSE or self._last.rank[0] < self._most:
            self._compare(self._last)

    def sentence(self) -> str:
        """What went wrong, in words; empty where nothing did."""
        return self._said

    def _compare(self, after: Steps) -> None:
        """Energy at a state after a pass and at the one before it."""
        if not after.t[0] > self._before.t[0]:
            return
        two = Steps.joined([self._before, after])
        energy = self._system.energy(two.t, two.q, two.v)
        kinetic = energy - self._system.energy(two.t, two.q, np.zeros_like(two.v))
        change, scale = abs(energy[1] - energy[0]), float(np.max(kinetic))
        work = MOST_WORK * self._power(after) * (two.t[1] - two.t[0])
        rounding = 1e-10 * float(np.max(np.abs(energy)))
        if not change > MOST_LOST * scale + work + rounding or change / scale <= self._worst:
            return
        self._worst = change / scale
        self._said = (
            f"It passes a singular pose between t = {two.t[0]:.9g} and {two.t[1]:.9g} s, and the energy is"
            f" {energy[0]:.4g} J before and {energy[1]:.4g} J after, though nothing does so much work: the"
            " turn onto a branch is sharper than rounding resolves, and the states after it are wrong."
            " mech.branches(q) lists the velocities that continue through a singular pose; start with one of"
            " them, or further from the pose."
        )

    def _power(self, at: Steps) -> float:
        """|dE/dt| [W] at a state, by a central difference along its velocity and acceleration."""
        unit = self._system.units.unit
        rate = float(
            np.max(np.abs(at.v / unit), initial=0.0) + np.sqrt(np.max(np.abs(at.a / unit), initial=0.0))
        )
        if not 0.0 < rate < np.inf:
            return 0.0
        h = DELTA / rate
        q = np.concatenate([self._manifold.integrate(at.q, sign * h * at.v) for sign in (1.0, -1.0)])
        v = np.concatenate([at.v + sign * h * at.a for sign in (1.0, -1.0)])
        energy = self._system.energy(np.repeat(at.t, 2), q, v)
        return float(abs(energy[0] - energy[1]) / (2.0 * h))
