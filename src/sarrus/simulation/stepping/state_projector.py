"""Projector: projects one state onto the constraints and records it like a step of the compiled run."""

from __future__ import annotations

import numpy as np

from ..._kernel import Run
from ...arrays import Array
from ..system.step_records import Steps
from ..system.system import Supplied, System
from .options import Options


class Projector:
    """Projects interpolated states; acceleration, drift and rank are computed as at steps."""

    def __init__(self, system: System, options: Options) -> None:
        self._system, self._applied = system, _Applied(system)
        inertia = system.supplies_inertia
        self._run = Run(system.kernel, options.compiled(), self._applied, supplies_inertia=inertia)

    def __call__(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> Steps:
        """The record of an interpolated state q, v, a with the force tau (nv,) applied there."""
        self._applied.tau = np.ascontiguousarray(tau)
        if self._run.start(t, np.ascontiguousarray(q), np.ascontiguousarray(v)):
            return Steps.taken(self._run)
        # Newton fails this close to a singular pose: the state is not projected
        here = self._system.record(t, q, v, a, tau) | {"pivot": 0.0}
        return Steps.of([here], self._system.nq, self._system.nv)


class _Applied:
    """A constant applied force. It holds no reference to the run, which holds one to it."""

    def __init__(self, system: System) -> None:
        self._system, self.tau = system, np.zeros(system.nv)

    def __call__(self, t: float, q: Array, v: Array, stage: int) -> Supplied:
        return Supplied(self.tau, *self._system.called(t, q, v))
