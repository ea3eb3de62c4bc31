"""DeviceCopies: the copies of a rollout on a CUDA device, with the interface of the compiled `Copies`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import StepStatus
from ...arrays import Array
from ...errors import InputError
from ...mechanism.device_steps import device_kernels, general_step
from ...mechanism.mechanism import Mechanism
from ...tracing.recorded_copies import Inputs, RecordedCopies

SHARE = 0.5  # of the free memory of the device that states between two pieces may take


class DeviceCopies:
    """B copies that a recorded program steps; see `RecordedCopies`."""

    def __init__(self, mech: Mechanism, dt: float, dtype: str) -> None:
        self._mech, self._dt, self._dtype = mech, dt, dtype
        self._kernels = device_kernels(mech, dtype)
        self._copies: RecordedCopies

    def start(self, q: Array, v: Array, which: None, step: int, threads: int) -> None:
        """Put all copies at q (B, nq), v (B, nv); NaN does not start."""
        cupy, mech = self._kernels.cupy, self._mech
        _fits(cupy, q.nbytes + v.nbytes, len(q))
        state = tuple(cupy.asarray(x.astype(self._dtype)) for x in (q, v))
        self._copies = RecordedCopies(cupy, self._kernels, general_step(mech), mech._actuated, state)

    def advance(
        self, first: int, last: int, inputs: tuple[Any, ...], out: tuple[Any, ...], threads: int
    ) -> None:
        """Steps [first, last) with inputs (u, None, None, None); out: (q, v, u, every), as of `Copies`."""
        cupy, copies = self._kernels.cupy, self._copies
        u = None if inputs[0] is None else cupy.asarray(np.ascontiguousarray(inputs[0].astype(self._dtype)))
        q, v, u_out, every = out
        begin, rows = first // every + 1, last // every - first // every
        kept = None
        if rows:
            shape = len(q), rows
            _fits(cupy, len(q) * rows * (q.shape[2] + v.shape[2]) * copies.q.dtype.itemsize, len(q))
            kept = *(cupy.full((*shape, x.shape[2]), np.nan, dtype=self._dtype) for x in (q, v)), every
        copies.advance(last, self._dt, Inputs(first, u), kept)
        if kept is not None:
            q[:, begin : begin + rows], v[:, begin : begin + rows] = kept[0].get(), kept[1].get()
        for step in range(-(-first // every) * every, last, every):
            u_out[:, step // every] = 0.0 if u is None else inputs[0][:, min(step - first, u.shape[1] - 1)]

    def passes(self) -> Array:
        """No singular poses are reported."""
        return np.zeros((0, 3, 4))

    @property
    def q(self) -> Array:
        """Positions (B, nq)."""
        return np.asarray(self._copies.q.get(), dtype=float)

    @property
    def v(self) -> Array:
        """Velocities (B, nv)."""
        return np.asarray(self._copies.v.get(), dtype=float)

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """Steps that each has taken (B,)."""
        return np.asarray(self._copies.reached.get(), dtype=np.int64)

    @property
    def status(self) -> npt.NDArray[np.int_]:
        """A StepStatus of each (B,)."""
        finite = np.isfinite(self.q).all(axis=1)
        return np.where(finite, self._copies.status, StepStatus.NOT_FINITE.value)

    @property
    def single(self) -> npt.NDArray[np.int64]:
        """Steps of each by the general kernel (B,)."""
        return self._copies.general_steps

    @property
    def drift(self) -> Array:
        """Largest |phi| without units (B,)."""
        return np.asarray(self._copies.drifts[:, 0].get(), dtype=float)

    @property
    def velocity_drift(self) -> Array:
        """Largest |J v - b| without units (B,)."""
        return np.asarray(self._copies.drifts[:, 1].get(), dtype=float)


def _fits(cupy: Any, needed: int, count: int) -> None:
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    if needed > SHARE * free:
        raise InputError(
            f"{count} copies need {needed / 1e9:.3g} GB at a time on the device, which has"
            f" {SHARE * free / 1e9:.3g} GB for them; keep fewer states (every=), or roll out fewer copies at"
            " a time."
        )
