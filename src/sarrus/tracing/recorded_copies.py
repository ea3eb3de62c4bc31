"""Copies of one mechanism on a device, stepped by its recorded program.

The general kernel takes the steps whose guards do not pass: these copies are gathered, stepped on the host
and put back, and the device goes on with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import Array

# (q, v, force (k, nv), dt) -> q, v, status of one step on the host, in float64
GeneralStep = Callable[[Array, Array, Array, float], tuple[Array, Array, Any]]


class Launch(Protocol):
    """A compiled kernel, called with arrays and NumPy scalars; None is a null pointer."""

    def __call__(self, name: str, count: int, arguments: tuple[Any, ...]) -> None: ...


@dataclass
class Inputs:
    """What acts from step `first` on: u (B or 1, steps or 1, nu) or None, tau (B or 1, nv) or None."""

    first: int = 0
    u: Any = None
    tau: Any = None


class RecordedCopies:
    """B copies.

    Attributes:
        q, v: states on the device (B, nq), (B, nv).
        reached: number of steps that each has taken, on the device (B,).
        drifts: largest residuals of positions and velocities before the last Newton step, without units
            (B, 2).
        status: why a copy has stopped, 0 where it has not, on the host (B,).
        general_steps: steps by the general kernel, on the host (B,).
        guards: how often each combination of guard bits did not pass.
    """

    def __init__(self, xp: Any, launch: Launch, general: GeneralStep, actuated: Any, state: tuple[Any, Any]):
        """xp: numpy or cupy; state: q (B, nq), v (B, nv) in C order, which the steps overwrite."""
        self._xp, self._launch, self._general, self._actuated = xp, launch, general, actuated
        self.q, self.v = state
        count = len(self.q)
        self.reached = xp.zeros(count, dtype=xp.int32)
        self._guards = xp.zeros(count, dtype=xp.uint32)
        self.drifts = xp.zeros((count, 2), dtype=self.q.dtype)
        self._fine = xp.isfinite(self.q).all(axis=1) & xp.isfinite(self.v).all(axis=1)
        self.status = np.zeros(count, dtype=int)
        self.general_steps = np.zeros(count, dtype=np.int64)
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
                self._step_on_host(behind, dt, inputs, kept)
            going = behind[self._fine[behind] & (self.reached[behind] < last)]

    def _launch_steps(
        self, which: Any, last: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None
    ) -> None:
        real, i64 = self.q.dtype.type, np.int64
        u, tau = inputs.u, inputs.tau
        u_copy = 0 if u is None or len(u) == 1 else u.shape[1] * u.shape[2]
        u_step = 0 if u is None or u.shape[1] == 1 else u.shape[2]
        tau_copy = 0 if tau is None or len(tau) == 1 else tau.shape[1]
        q_kept, v_kept, every = kept or (None, None, 1)
        rows = 0 if kept is None else kept[0].shape[1]
        steps = np.int32(inputs.first), np.int32(last), real(dt)
        forces = u, i64(u_copy), i64(u_step), tau, i64(tau_copy)
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

    def _step_on_host(self, which: Any, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None) -> None:
        """One step by the general kernel of these copies."""
        xp = self._xp
        copies, steps = self.host(which), self.host(self.reached[which])
        q, v = (self.host(x[which]).astype(float) for x in (self.q, self.v))
        force = self._force(copies, steps, inputs, v.shape[1])
        q1, v1, status = self._general(q, v, force, dt)
        good = np.asarray(status) == 0
        self.status[copies[~good]] = np.asarray(status)[~good]
        self._fine[which[xp.asarray(~good)]] = False
        self.general_steps[copies[good]] += 1
        for bits, times in zip(*np.unique(self.host(self._guards[which]), return_counts=True), strict=True):
            self.guards[int(bits)] = self.guards.get(int(bits), 0) + int(times)
        moved = which[xp.asarray(good)]
        self.q[moved] = xp.asarray(q1[good].astype(self.q.dtype))
        self.v[moved] = xp.asarray(v1[good].astype(self.v.dtype))
        self.reached[moved] += 1
        if kept is None:
            return
        q_kept, v_kept, every = kept
        store = moved[self.reached[moved] % every == 0]
        row = self.reached[store] // every - inputs.first // every - 1
        q_kept[store, row], v_kept[store, row] = self.q[store], self.v[store]

    def _force(self, copies: Any, steps: Any, inputs: Inputs, nv: int) -> Array:
        """Applied forces (k, nv) of these copies at their steps, on the host."""
        force = np.zeros((len(copies), nv))
        if inputs.tau is not None:
            force += self.host(inputs.tau[copies if len(inputs.tau) > 1 else copies * 0]).astype(float)
        if inputs.u is not None:
            u = inputs.u
            at = (
                (copies if len(u) > 1 else copies * 0),
                (steps - inputs.first if u.shape[1] > 1 else steps * 0),
            )
            np.add.at(force.T, self._actuated, self.host(u[at]).astype(float).T)
        return force

    def host(self, x: Any) -> Any:
        """An array as NumPy's."""
        return x.get() if hasattr(x, "get") else np.asarray(x)
