"""FrictionCopies: the copies of a rollout with friction that sticks, with the interface of `Copies`.

Each step is `mech.step`, a short run with its events: right, and far slower than compiled copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import StepStatus
from ...arrays import Array
from ...errors import SarrusError
from ...mechanism.mechanism import Mechanism


class FrictionCopies:
    """B copies, stepped one after the other.

    Attributes:
        q, v: where they are (B, nq), (B, nv).
        steps: that each has taken (B,).
        status: a StepStatus of each (B,).
        drift, velocity_drift: largest |phi| and |J v - b| so far, without units (B,).
    """

    def __init__(self, mechs: list[Mechanism], time: tuple[float, float], method: str) -> None:
        """
        Args:
            mechs: one for all copies, or one for each.
            time: start and step [s].
            method: integrator.
        """
        self._mechs, (self._t0, self._dt), self._method = mechs, time, method

    def start(self, q: Array, v: Array, which: None, step: int, threads: int) -> None:
        """Put all copies at q (B, nq), v (B, nv); NaN does not start."""
        self.q, self.v, count = q.copy(), v.copy(), len(q)
        fine = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
        self.status = np.where(fine, StepStatus.FINE.value, StepStatus.NOT_FINITE.value)
        self.steps: npt.NDArray[np.int64] = np.zeros(count, dtype=np.int64)
        self.drift, self.velocity_drift = np.zeros(count), np.zeros(count)
        for i in np.flatnonzero(fine):
            self._watch(int(i))

    def advance(
        self, first: int, last: int, inputs: tuple[Any, ...], out: tuple[Any, ...], threads: int
    ) -> None:
        """Steps [first, last) with inputs (u, K, q, v); out: (q, v, u, every), as of `Copies`."""
        q, v, u_out, every = out
        for step in range(first, last):
            for i in np.flatnonzero(self.status == StepStatus.FINE.value):
                u = self._inputs(int(i), step - first, inputs)
                if step % every == 0:
                    u_out[i, step // every] = u
                self._step(int(i), step, u)
                if self.status[i] == StepStatus.FINE.value and (step + 1) % every == 0:
                    q[i, (step + 1) // every], v[i, (step + 1) // every] = self.q[i], self.v[i]

    def _inputs(self, i: int, step: int, inputs: tuple[Any, ...]) -> Array:
        """u (nu,) of copy i in a step."""
        mech = self._of(i)
        now: list[Any] = [
            None if x is None else x[min(i, len(x) - 1), min(step, x.shape[1] - 1)] for x in inputs
        ]
        u, K, q, v = now
        if u is None:
            return np.zeros(mech.nu)
        if K is None:
            return np.asarray(u)
        error = np.concatenate([mech.difference(q, self.q[i]), self.v[i] - v])
        return np.asarray(u - K.reshape(mech.nu, 2 * mech.nv) @ error)

    def _step(self, i: int, step: int, u: Array) -> None:
        if not np.isfinite(u).all():
            self.status[i] = StepStatus.NOT_FINITE.value
            return
        t = self._t0 + step * self._dt
        try:
            found = self._of(i).step(self.q[i], self.v[i], u, self._dt, t, method=self._method)
        except SarrusError:
            self.status[i] = StepStatus.STEP_COLLAPSED.value
            return
        self.q[i], self.v[i], self.steps[i] = found.q, found.v, step + 1
        self._watch(i)

    def _watch(self, i: int) -> None:
        """Keep the largest errors of the constraints."""
        mech = self._of(i)
        if mech.nc:
            terms = mech.terms(self.q[i], self.v[i], self._t0 + int(self.steps[i]) * self._dt)
            size = mech.units.row_unit
            for worst, x in ((self.drift, terms.phi), (self.velocity_drift, terms.J @ self.v[i] - terms.b)):
                worst[i] = max(worst[i], float(np.max(np.abs(x) / size)))

    def _of(self, i: int) -> Mechanism:
        return self._mechs[min(i, len(self._mechs) - 1)]

    def passes(self) -> Array:
        """No singular poses are reported."""
        return np.zeros((0, 3, 4))

    @property
    def single(self) -> npt.NDArray[np.int64]:
        """Steps of each by the general kernel (B,)."""
        return self.steps
