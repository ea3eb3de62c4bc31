"""Projector: one state brought onto the constraints, with all that the compiled run keeps of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .callbacks import Answer
from .options import Options
from .step_records import Steps
from .system import Plant

Array = npt.NDArray[np.float64]


class Projector:
    """States between steps get what states at steps have: closed loops, acceleration, drift, rank."""

    def __init__(self, plant: Plant, options: Options) -> None:
        from ..._kernel import Run

        self._plant, self._outside = plant, _Outside(plant)
        compiled = options.compiled() | {"keep_energy": False}
        self._run: Any = Run(plant.kernel, compiled, self._outside, None, plant.supplies_inertia)

    def __call__(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> Steps:
        """One step from an interpolated state q, v, a and the force tau (nv,) applied there."""
        self._outside.tau = np.ascontiguousarray(tau)
        if self._run.start(t, np.ascontiguousarray(q), np.ascontiguousarray(v)):
            return Steps.of_record(self._run.take())
        # nothing to project on (so close to a singular pose that Newton fails): the state as it is
        phi, J, b, _ = self._plant.constraints(np.array([t]), q[None], v[None])
        rank = self._plant.rank(J[0])
        unit = self._plant.units.row_unit
        drift, rate = (np.max(np.abs(x) / unit, axis=1, initial=0.0) for x in (phi, (J @ v - b)))
        none = np.zeros(1)
        return Steps(np.array([t]), q[None], v[None], a[None], tau[None], drift, rate, none, np.array([rank]))


class _Outside:
    """The inputs of the state that is projected. Knows nothing of the run: the compiled side owns it."""

    def __init__(self, plant: Plant) -> None:
        self._plant, self.tau = plant, np.zeros(plant.nv)

    def __call__(self, t: float, q: Array, v: Array, stage: int) -> Answer:
        plant = self._plant
        M, h = plant.system.inertia(q, v, t) if plant.supplies_inertia else (None, None)
        return self.tau, plant.drive(t), plant.user(t, q, v), M, h
