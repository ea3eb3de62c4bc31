"""Projector: projects states onto the constraints and records them like steps of the compiled run."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..._kernel import Run
from ...arrays import Array
from ..events.interpolation import Hermite, Manifold
from ..system.step_records import Steps
from ..system.system import Supplied, System
from .options import Options


class Projector:
    """States between steps, interpolated and projected; acceleration, drift and rank as at steps."""

    def __init__(self, system: System, options: Options, manifold: Manifold) -> None:
        self._system, self._manifold = system, manifold
        self._held = options.control_dt is not None
        compiled = options.compiled()
        # the forces are given: only functions of the system are called
        compiled.sampled, compiled.sample_dt = not system.called_at_every_stage, math.inf
        self._run = Run(system.kernel, compiled, _Called(system), supplies_inertia=system.supplies_inertia)

    def __call__(self, steps: Steps, t: Array) -> Steps:
        """The records of the states at times t (k,) within the range of the steps."""
        q, v, a = Hermite(self._manifold, steps, self._held)(t)
        tau = self.inputs(steps, steps.tau, t)
        before, after = _neighbours(steps, t)
        closed = self._run.start_each(t, q, v, tau, np.maximum(steps.rank[before], steps.rank[after]))
        out = Steps.taken(self._run)
        for i in np.flatnonzero(closed == 0):
            # Newton fails this close to a singular pose: the state is not projected
            here = self._system.record(float(t[i]), q[i], v[i], a[i], tau[i]) | {"pivot": 0.0}
            out[i : i + 1] = Steps.of([here], self._system.nq, self._system.nv)
        return out

    def inputs(self, steps: Steps, u: Array, t: Array) -> Array:
        """Inputs (k, n) at times t (k,) from those at the steps: held from the step before, or linear."""
        before, after = _neighbours(steps, t)
        if self._held:
            return u[before]
        part = (t - steps.t[before]) / np.where(after > before, steps.t[after] - steps.t[before], 1.0)
        return np.asarray(u[before] + part[:, None] * (u[after] - u[before]))


def _neighbours(steps: Steps, t: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The steps before and after times t (k,)."""
    after = np.clip(np.searchsorted(steps.t, t), min(1, len(steps) - 1), len(steps) - 1)
    return np.maximum(after - 1, 0), after


class _Called:
    """The values of Python functions at a state. It holds no reference to the run, which holds one to it."""

    def __init__(self, system: System) -> None:
        self._system = system

    def __call__(self, t: float, q: Array, v: Array, stage: int) -> Supplied:
        return Supplied(None, *self._system.called(t, q, v))
