"""Copies of one mechanism on a device, stepped by its recorded program.

The general kernel takes the steps whose guards do not pass, on the device too; then the program goes on with
these copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

# (copies (k,), q, v, force (k, nv), dt) -> q, v, status of one step each, in float64, arrays of the device
GeneralStep = Callable[[Any, Any, Any, Any, float], tuple[Any, Any, Any]]


class Launch(Protocol):
    """A compiled kernel, called with arrays and NumPy scalars; None is a null pointer."""

    def __call__(self, name: str, count: int, arguments: tuple[Any, ...]) -> None: ...


@dataclass
class Inputs:
    """What acts from step `first` on.

    Attributes:
        first: number of that step.
        u: inputs (B or 1, steps or 1, nu), or None.
        tau: applied forces (B or 1, nv), or None.
        parameters: entries of the model of each copy (B, n), or None.
    """

    first: int = 0
    u: Any = None
    tau: Any = None
    parameters: Any = None


class RecordedCopies:
    """B copies. All arrays are on the device.

    Attributes:
        q, v: states (B, nq) in float64, (B, nv) in the precision of the program.
        reached: number of steps that each has taken (B,).
        drifts: largest residuals of positions and velocities before the last Newton step, without units
            (B, 2).
        status: why a copy has stopped, 0 where it has not (B,).
        general_steps: steps by the general kernel (B,).
        guards: how often each combination of guard bits did not pass.
    """

    def __init__(self, xp: Any, launch: Launch, general: GeneralStep, actuated: Any, state: tuple[Any, Any]):
        """xp: numpy or cupy; state: q (B, nq), v (B, nv) in C order, which the steps overwrite."""
        self._xp, self._launch, self._general = xp, launch, general
        self.q, self.v = state
        count, nv = self.v.shape
        self._columns = xp.zeros((len(actuated), nv))  # of the forces that inputs are
        self._columns[xp.arange(len(actuated)), xp.asarray(actuated)] = 1.0
        self.reached = xp.zeros(count, dtype=xp.int32)
        self._guards = xp.zeros(count, dtype=xp.uint32)
        self.drifts = xp.zeros((count, 2), dtype=self.v.dtype)
        self._fine = xp.isfinite(self.q).all(axis=1) & xp.isfinite(self.v).all(axis=1)
        self.status = xp.zeros(count, dtype=xp.int32)
        self.general_steps = xp.zeros(count, dtype=xp.int64)
        self.guards: dict[int, int] = {}

    def advance(self, last: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None = None) -> None:
        """Steps of dt [s] up to number `last` of all copies that are fine.

        kept: q (B, rows, nq) and v (B, rows, nv), which get the states after every so many steps from step
            `inputs.first` on, and that number.
        """
        xp = self._xp
        going = xp.flatnonzero(self._fine & (self.reached < last))
        while len(going):
            self._launch_steps(going, last, dt, inputs, kept)
            behind = going[self.reached[going] < last]
            if len(behind):
                self._step_generally(behind, dt, inputs, kept)
            going = behind[self._fine[behind] & (self.reached[behind] < last)]

    def _launch_steps(
        self, which: Any, last: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None
    ) -> None:
        real, i64 = self.v.dtype.type, np.int64
        u, tau = inputs.u, inputs.tau
        u_copy = 0 if u is None or len(u) == 1 else u.shape[1] * u.shape[2]
        u_step = 0 if u is None or u.shape[1] == 1 else u.shape[2]
        tau_copy = 0 if tau is None or len(tau) == 1 else tau.shape[1]
        q_kept, v_kept, every = kept or (None, None, 1)
        rows = 0 if kept is None else kept[0].shape[1]
        steps = np.int32(inputs.first), np.int32(last), real(dt)
        forces = u, i64(u_copy), i64(u_step), tau, i64(tau_copy), inputs.parameters
        storage = q_kept, v_kept, np.int32(every), np.int32(rows)
        found = self.reached, self._guards, self.drifts
        self._launch(
            "advance",
            len(which),
            (
                np.int32(len(which)),
                which.astype(self._xp.int64),
                *steps,
                self.q,
                self.v,
                *forces,
                *storage,
                *found,
            ),
        )

    def _step_generally(
        self, which: Any, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None
    ) -> None:
        """One step by the general kernel of these copies."""
        xp = self._xp
        q, v = self.q[which], self.v[which].astype(float)
        q1, v1, status = self._general(which, q, v, self._force(which, inputs), dt)
        good = status == 0
        self.status[which], self._fine[which] = status, good
        bits, times = xp.unique(self._guards[which], return_counts=True)
        for one, often in zip(bits.tolist(), times.tolist(), strict=True):
            self.guards[one] = self.guards.get(one, 0) + often
        moved = which[good]
        self.q[moved], self.v[moved] = q1[good], v1[good].astype(self.v.dtype)
        self.reached[moved] += 1
        self.general_steps[moved] += 1
        if kept is None:
            return
        q_kept, v_kept, every = kept
        store = moved[self.reached[moved] % every == 0]
        row = self.reached[store] // every - inputs.first // every - 1
        q_kept[store, row], v_kept[store, row] = self.q[store], self.v[store]

    def _force(self, copies: Any, inputs: Inputs) -> Any:
        """Applied forces (k, nv) of these copies at their next steps."""
        force = self._xp.zeros((len(copies), self.v.shape[1]))
        if inputs.tau is not None:
            force += inputs.tau[copies if len(inputs.tau) > 1 else copies * 0].astype(float)
        if inputs.u is not None:
            u, steps = inputs.u, self.reached[copies] - inputs.first
            rows = copies if len(u) > 1 else copies * 0, steps if u.shape[1] > 1 else steps * 0
            force += u[rows].astype(float) @ self._columns
        return force
