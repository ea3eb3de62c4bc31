"""Projector: one state projected onto the constraints, with all that the compiled run records of a step."""

from __future__ import annotations

import numpy as np

from ..._kernel import Run
from ...arrays import Array
from ..system.step_records import Steps
from ..system.system import Supplied, System
from .options import Options


class Projector:
    """States between steps get what states at steps have: closed loops, acceleration, drift, rank."""

    def __init__(self, system: System, options: Options) -> None:
        self._system, self._applied = system, _Applied(system)
        inertia = system.supplies_inertia
        self._run = Run(system.kernel, options.compiled(), self._applied, supplies_inertia=inertia)

    def __call__(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> Steps:
        """One step from an interpolated state q, v, a and the force tau (nv,) applied there."""
        self._applied.tau = np.ascontiguousarray(tau)
        if self._run.start(t, np.ascontiguousarray(q), np.ascontiguousarray(v)):
            return Steps.taken(self._run)
        # so close to a singular pose that Newton fails: the state as it is
        here = self._system.record(t, q, v, a, tau) | {"pivot": 0.0}
        return Steps.of([here], self._system.nq, self._system.nv)


class _Applied:
    """A constant applied force. Knows nothing of the run: the compiled side owns it."""

    def __init__(self, system: System) -> None:
        self._system, self.tau = system, np.zeros(system.nv)

    def __call__(self, t: float, q: Array, v: Array, stage: int) -> Supplied:
        return Supplied(self.tau, *self._system.called(t, q, v))
