"""DeviceCopies: the copies of a rollout on a CUDA device, with the interface of the compiled `Copies`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import StepStatus
from ...arrays import Array
from ...errors import InputError
from ...mechanism.core.access import actuated_columns
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.device_steps import device_kernels, general_step
from ...tracing.cuda_device import SHARE, free_memory
from ...tracing.entries import varied_entries
from ...tracing.recorded_copies import Inputs, RecordedCopies


class DeviceCopies:
    """B copies that a recorded program steps; see `RecordedCopies`."""

    def __init__(self, mech: Mechanism, variants: tuple[Mechanism, ...], dt: float, dtype: str) -> None:
        self._mech, self._dt, self._dtype = mech, dt, dtype
        models = [one.model for one in variants]
        self._entries = varied_entries([mech.model, *models], 'rollout with device="cuda"')
        self._kernels = device_kernels(mech, dtype, self._entries)
        self._parameters = None
        if len(self._entries):
            self._parameters = self._kernels.cupy.asarray(self._entries.values(models))
        self._copies: RecordedCopies

    def start(self, q: Array, v: Array, which: None, step: int, threads: int) -> None:
        """Put all copies at q (B, nq), v (B, nv); NaN does not start."""
        cupy, mech = self._kernels.cupy, self._mech
        state = cupy.asarray(q), cupy.asarray(v.astype(self._dtype))
        general = general_step(mech, self._entries, self._parameters)
        units = cupy.asarray(_position_units(mech)), cupy.asarray(mech.units.unit)
        self._copies = RecordedCopies(cupy, self._kernels, general, actuated_columns(mech), state, units)

    def advance(
        self, first: int, last: int, inputs: tuple[Any, ...], out: tuple[Any, ...], threads: int
    ) -> None:
        """Steps [first, last) with inputs (u, None, None, None); out: (q, v, u, every), as of `Copies`.

        Where inputs and kept states do not fit into the memory of the device, it goes in several pieces.
        """
        q, v, u_out, every = out
        a_step = (q.shape[2] + v.shape[2]) * 8 * len(q) / every
        a_step += 0 if inputs[0] is None or inputs[0].shape[1] == 1 else 8 * inputs[0][:, 0].size
        most = int(SHARE * free_memory(self._kernels.cupy) / max(a_step, 1))
        if most < 1:
            raise InputError(
                f"{len(q)} copies need {a_step / 1e9:.3g} GB a step on the device, which has"
                f" {free_memory(self._kernels.cupy) / 1e9:.3g} GB left; keep fewer states (every=), or roll"
                " out fewer copies at a time."
            )
        for begin in range(first, last, most):
            self._advance(first, (begin, min(begin + most, last)), inputs[0], (q, v, every))
        for step in range(-(-first // every) * every, last, every):
            u_out[:, step // every] = (
                0.0 if inputs[0] is None else inputs[0][:, min(step - first, inputs[0].shape[1] - 1)]
            )

    def _advance(self, first: int, piece: tuple[int, int], u: Any, out: tuple[Any, Any, int]) -> None:
        """Some of the steps from `first` on, whose inputs are u."""
        cupy, (begin, end), (q, v, every) = self._kernels.cupy, piece, out
        if u is not None:
            part = u if u.shape[1] == 1 else u[:, begin - first : end - first]
            u = cupy.asarray(np.ascontiguousarray(part, dtype=self._dtype))
        row, rows = begin // every + 1, end // every - begin // every
        kept = None
        if rows:
            kept = (
                cupy.full((len(q), rows, q.shape[2]), np.nan),
                cupy.full((len(q), rows, v.shape[2]), np.nan, dtype=self._dtype),
                every,
            )
        given = Inputs(begin, u, parameters=self._real_parameters)
        self._copies.advance(end, self._dt, given, kept)
        if kept is not None:
            q[:, row : row + rows], v[:, row : row + rows] = kept[0].get(), kept[1].get()

    @property
    def _real_parameters(self) -> Any:
        return None if self._parameters is None else self._parameters.astype(self._dtype)

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
        copies, cupy = self._copies, self._kernels.cupy
        finite = cupy.isfinite(copies.q).all(axis=1) & cupy.isfinite(copies.v).all(axis=1)
        status = cupy.where(finite, copies.status, StepStatus.NOT_FINITE.value).get()
        return np.asarray(status, dtype=np.int_)

    @property
    def single(self) -> npt.NDArray[np.int64]:
        """Steps of each by the general kernel (B,)."""
        return np.asarray(self._copies.general_steps.get())

    @property
    def step_error(self) -> Array:
        """What the lengths of all steps have cost, relative to 1 rad, L and the largest speed (B,)."""
        _, _, moved, faster, speed = self._copies.errors.get().T
        return np.asarray(moved + faster / np.maximum(speed, 1e-150), dtype=float)

    @property
    def drift(self) -> Array:
        """Largest |phi| without units (B,)."""
        return np.asarray(self._copies.drifts[:, 0].get(), dtype=float)

    @property
    def velocity_drift(self) -> Array:
        """Largest |J v - b| without units (B,)."""
        return np.asarray(self._copies.drifts[:, 1].get(), dtype=float)


def _position_units(mech: Mechanism) -> Array:
    """Change of each entry of q that weighs as much as one radian (nq,); half of it in a quaternion."""
    q, unit = mech.default.q, np.asarray(mech.units.unit)
    small = 1e-6
    moved = [np.abs(mech.integrate(q, small * one) - q) / small for one in np.diag(unit)]
    size = np.max(moved, axis=0, initial=0.0)
    return np.where(size > small, size, 0.5)
