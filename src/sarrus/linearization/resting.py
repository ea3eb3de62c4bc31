"""Equilibria on contacts: where a mechanism comes to rest on surfaces, and the forces there.

Steps with contacts whose speeds are taken away where the kinetic energy falls [Cundall1976], until the law of
contacts finds no acceleration; then Newton's steps with sticking contacts as joints.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..arrays import Array
from ..dynamics.forward import Motion
from ..errors import EquilibriumError, InputError, SarrusError, SarrusWarning
from ..mechanism.core.access import applied_force
from ..mechanism.core.contact_refusals import TOUCHES
from ..mechanism.core.core import State
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.sticking import held_by_contacts
from .equilibrium_search import Search

STEPS = 20_000
STEP = 0.02  # of the time in which L is fallen through
AT_REST = 1e-9  # of gravity, or of the largest acceleration without contacts
NEARLY = 1e-3  # from here Newton's steps are tried
GONE = 100.0  # times L: nothing holds it


class Resting:
    """The search for a pose at rest on contacts.

    Args:
        mech: the mechanism.
        u: inputs (nu,).
        tau: applied generalized force (nv,), or None.
        t: time of the drives [s].
    """

    def __init__(self, mech: Mechanism, u: Array, tau: Any, t: float) -> None:
        self._mech, self._u, self._tau, self._t = mech, u, tau, t
        gravity = float(np.linalg.norm(mech.model.gravity))
        self._rate = (gravity if gravity > 0.0 else 1.0) / mech.length
        self._dt = STEP / np.sqrt(self._rate)

    def run(self, start: Array) -> tuple[Array, Motion]:
        """Pose and motion (without acceleration) there."""
        q, v, mode, last = start, np.zeros(self._mech.nv), None, 0.0
        for _ in range(STEPS):
            if last == 0.0 and (found := self._at_rest(q)) is not None:
                return found
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SarrusWarning)  # of the accuracy of steps
                after = self._mech.step(q, v, self._u, self._dt, self._t, tau=self._tau, mode=mode)
            kinetic = float(self._mech.energy(after.q, after.v).kinetic)
            q, v, mode = np.array(after.q), np.array(after.v), after.mode
            if kinetic <= last:
                v, mode, kinetic = 0.0 * v, None, 0.0
            last = kinetic
            if np.max(np.abs(self._mech.difference(start, q) / self._mech.units.unit)) > GONE:
                break
        raise EquilibriumError(
            f"no equilibrium of {self._mech.name!r} on its contacts was found: it keeps moving. Start above a"
            " floor, hold coordinates with fixed={name: value}, or give inputs u."
        )

    def motion(self, q: Array) -> Motion:
        """Accelerations and forces at rest."""
        return self._mech.forward_dynamics(q, np.zeros(self._mech.nv), self._tau, self._u, self._t)

    def _size(self, motion: Motion) -> float:
        """Largest acceleration, of gravity over L."""
        return float(np.max(np.abs(motion.a / self._mech.units.unit), initial=0.0)) / self._rate

    def _at_rest(self, q: Array) -> tuple[Array, Motion] | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SarrusWarning)
            motion = self.motion(q)
        touches = np.any(self._mech.contacts(q).gap <= TOUCHES * self._mech.length)
        size = self._size(motion) if motion.contact_status == "SOLVED" else np.inf
        if size <= AT_REST:
            return q, motion
        if not (touches and size <= NEARLY):
            return None
        try:
            force = applied_force(self._mech, q, self._tau, self._u)
            held = held_by_contacts(self._mech, State(q, 0.0 * motion.a), force, self._t, "equilibrium")
            assert held is not None
            finer = Search(held, self._u, None, self._tau, self._t).run(q)[0]
        except (InputError, SarrusError):  # it goes on to move
            return None
        again = self.motion(finer)
        return (finer, again) if self._size(again) <= AT_REST else None
