"""Energy across passes of singular poses: what a run that went wrong there cannot keep.

Constraint forces do no work, however large they are, unless drives move. So the energy before and after a
pass may differ only by the work of everything else, which is bounded. Within rounding of a singular pose,
and with a velocity across the branches through it, the turn onto a branch is sharper than numbers resolve:
accelerations are then rounding, every error estimate with them, and energy is won or lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._kernel import NEAR_SINGULAR
from ..system.step_records import Steps
from ..system.system import System
from .interpolation import Manifold

UNTESTED = 5.0 * NEAR_SINGULAR  # fixed steps with a smaller pivot are tested by their energy alone
CLOSE = 1e-4  # steps with a smaller pivot, or lost rank, belong to a pass
MOST_LOST = 1e-3  # of the kinetic energy: a larger change by a pass is a wrong one,
LOST_BY_FIXED_STEPS = 1e-2  # which are not asked for more, run/accuracy.py
MOST_WORK = 10.0  # over the power after the pass times its duration
PER_TOLERANCE = 1e4  # times rtol: a pass that changes the kinetic energy by more is less accurate than asked
ROUNDING = 1e-10  # of energies, whose zero may be far away
SLOWEST = 1e-150  # rate of change of a state [1/s], without units, below which it is at rest
DELTA = 1e-4  # change of state from which the power is computed, relative to one radian or L


class PassEnergy:
    """Looks at the steps of a run, piece by piece.

    Attributes:
        losses: changes of energy by passes that no work explains.
    """

    def __init__(
        self, system: System, manifold: Manifold, first: Steps, most: float, close: float = CLOSE
    ) -> None:
        """
        Args:
            system, manifold: what moves.
            first: the start.
            most: change of the kinetic energy by one pass from which it is wrong.
            close: steps with a smaller pivot belong to a pass.
        """
        self._system, self._manifold, self._allowed, self._close = system, manifold, most, close
        self.losses: list[Loss] = []
        self._before = self._last = first
        self._most = int(first.rank[0])
        self._worst: Loss | None = None
        self._across: Loss | None = None

    def look(self, new: Steps) -> None:
        """The next steps."""
        self._most = max(self._most, int(new.rank.max()))
        known = Steps.joined([self._last, new])
        close = (known.pivot < self._close) | (known.rank < self._most)
        for i in 1 + np.flatnonzero(np.diff(close.astype(int))):
            if close[i]:
                self._before = known[i - 1 : i]
            else:
                self._compare(known[i : i + 1])
        self._last = known[-1:]

    def finish(self) -> None:
        """The run has ended, perhaps within a pass."""
        if self._last.pivot[0] < self._close or self._last.rank[0] < self._most:
            self._compare(self._last)

    def cross(self, before: Steps, after: Steps) -> None:
        """One step passes a singular pose from afar: its error is that of a step, but may be rounding."""
        self._across = _larger(self._across, energy_lost(self._system, self._manifold, before, after))

    def _compare(self, after: Steps) -> None:
        lost = energy_lost(self._system, self._manifold, self._before, after)
        self._worst = _larger(self._worst, lost)
        self.losses += [] if lost is None else [lost]

    def sentence(self) -> str:
        """What went wrong, in words; empty where nothing did."""
        worst = self._worst
        return "" if worst is None or worst.part <= self._allowed else worst.wrong()

    def doubt(self, rtol: float) -> str:
        """That a pass was less accurate than asked for, in words; empty where none was."""
        worst = _larger(self._worst, self._across)
        return "" if worst is None or worst.part <= PER_TOLERANCE * rtol else worst.inaccurate(rtol)


@dataclass(frozen=True)
class Loss:
    """Change of energy by a pass that no work explains: times [s], energies [J], part of the kinetic one."""

    t: tuple[float, float]
    energy: tuple[float, float]
    part: float

    def wrong(self) -> str:
        """That the states after the pass are wrong."""
        return (
            f"It passes a singular pose between t = {self.t[0]:.9g} and {self.t[1]:.9g} s, and the energy is"
            f" {self.energy[0]:.4g} J before and {self.energy[1]:.4g} J after, though nothing does so much"
            " work: the turn onto a branch is sharper than rounding or the steps resolve, and the states"
            " after it are wrong. mech.branches(q) lists the velocities that continue through a singular"
            " pose; start with one of them, or further from the pose."
        )

    def inaccurate(self, rtol: float) -> str:
        """That the pass is less accurate than rtol."""
        return (
            f"The singular pose at t = {self.t[1]:.6g} s is passed less accurately than rtol = {rtol:.1g}"
            f" asks for: the energy changes by {self.energy[1] - self.energy[0]:.1e} J. Compare with a run of"
            " another rtol."
        )


def _larger(one: Loss | None, other: Loss | None) -> Loss | None:
    return other if one is None or (other is not None and other.part > one.part) else one


def energy_lost(system: System, manifold: Manifold, before: Steps, after: Steps) -> Loss | None:
    """The energy of two states around a pass, where it changes by more than work and rounding explain."""
    if system.has_drives or not after.t[0] > before.t[0]:
        return None
    two = Steps.joined([before, after])
    energy = system.energy(two.t, two.q, two.v)
    kinetic = energy - system.energy(two.t, two.q, np.zeros_like(two.v))
    power = max(_power(system, manifold, state) for state in (before, after))
    work = MOST_WORK * power * (two.t[1] - two.t[0])
    rounding = ROUNDING * float(np.max(np.abs(energy)))
    lost = float(abs(energy[1] - energy[0]) - work - rounding)
    if not lost > 0.0:
        return None
    (t0, t1), (e0, e1) = two.t.tolist(), energy.tolist()
    return Loss((t0, t1), (e0, e1), lost / max(float(np.max(kinetic)), 1e-300))


def _power(system: System, manifold: Manifold, at: Steps) -> float:
    """|dE/dt| [W] at a state, by a central difference along its velocity and acceleration."""
    speed, rise = (float(np.max(np.abs(x / system.units.unit), initial=0.0)) for x in (at.v, at.a))
    rate = speed + np.sqrt(rise)
    if not SLOWEST < rate < np.inf:
        return 0.0
    h = DELTA / rate
    q = np.concatenate([manifold.integrate(at.q, sign * h * at.v) for sign in (1.0, -1.0)])
    v = np.concatenate([at.v + sign * h * at.a for sign in (1.0, -1.0)])
    energy = system.energy(np.repeat(at.t, 2), q, v)
    return float(abs(energy[0] - energy[1]) / (2.0 * h))
