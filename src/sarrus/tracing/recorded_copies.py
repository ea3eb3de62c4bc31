"""Copies of one mechanism on a device, stepped by its recorded program.

The general kernel takes the steps whose guards do not pass, on the device too; then the program goes on with
these copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

TESTED = 128  # one step in so many is taken in two halves as well
HALVES = 16.0 / 15.0  # error of a step of order 4 over what it differs from two halves
ROUNDING = 100.0  # roundings of a step of a closed loop, after two Newton steps: not an error of its length

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
        lost: what the lengths of all steps have cost positions and velocities so far, without units, if they
            are tested (B, 2).
        speed: largest velocity of a tested state so far, without units (B,).
    """

    def __init__(
        self,
        xp: Any,
        launch: Launch,
        general: GeneralStep,
        actuated: Any,
        state: tuple[Any, Any],
        units: tuple[Any, Any] | None = None,
    ):
        """xp: numpy or cupy; state: q (B, nq), v (B, nv) in C order, which the steps overwrite.

        units: those of q (nq,) and v (nv,), where steps shall be tested.
        """
        self._xp, self._launch, self._general, self._units = xp, launch, general, units
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
        self._actuated = actuated
        self.lost, self.speed = xp.zeros((count, 2)), xp.zeros(count)
        # of the last tested step: what it differs from its halves, and whether all three were recorded ones
        self._tested = xp.zeros((count, 2)), xp.zeros(count, dtype=bool)

    def advance(self, last: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None = None) -> None:
        """Steps of dt [s] up to number `last` of all copies that are fine.

        kept: q (B, rows, nq) and v (B, rows, nv), which get the states after every so many steps from step
            `inputs.first` on, and that number.
        """
        if self._units is None:
            self._advance(last, dt, inputs, kept)
            return
        begin = inputs.first
        while begin < last:
            end = min(last, begin - begin % TESTED + TESTED)
            before = self.general_steps.copy()
            if begin % TESTED == 0:
                self._test(begin, dt, inputs, kept)
            self._advance(end, dt, inputs, kept)
            apart, recorded = self._tested
            taken = self._xp.where(recorded, end - begin, self.general_steps - before)
            self.lost += taken[:, None] * apart
            begin = end

    def _test(self, step: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None) -> None:
        """Take a step, and its halves beside."""
        halves, before = self._two_halves(step, dt, inputs), self.general_steps.copy()
        self._advance(step + 1, dt, inputs, kept)
        both = (self.reached == step + 1) & (halves.reached == 2)
        recorded = (self.general_steps == before) & (halves.general_steps == 0)
        self._tested = self._apart(halves, both), recorded

    def _two_halves(self, step: int, dt: float, inputs: Inputs) -> RecordedCopies:
        """All copies after two halves of this step."""
        state = self.q.copy(), self.v.copy()
        halves = RecordedCopies(self._xp, self._launch, self._general, self._actuated, state)
        halves._fine = self._fine & (self.reached == step)
        u = inputs.u
        if u is not None and u.shape[1] > 1:
            u = self._xp.ascontiguousarray(u[:, step - inputs.first : step - inputs.first + 1])
        halves._advance(2, 0.5 * dt, Inputs(0, u, inputs.tau, inputs.parameters), None)
        return halves

    def _apart(self, halves: RecordedCopies, both: Any) -> Any:
        """What a step differs from its halves, in positions and velocities without units (B, 2)."""
        xp = self._xp
        assert self._units is not None
        rounding = ROUNDING * float(np.finfo(self.v.dtype).eps)
        speed = xp.abs(self.v / self._units[1]).max(axis=1)
        self.speed = xp.maximum(self.speed, xp.where(both, speed, 0.0))
        turned = xp.maximum(xp.abs(self.q / self._units[0]).max(axis=1), 1.0)
        states = (self.q, halves.q, turned), (self.v, halves.v, speed)
        found = [
            xp.maximum(HALVES * xp.abs((x - y) / unit).max(axis=1) - rounding * size, 0.0)
            for (x, y, size), unit in zip(states, self._units, strict=True)
        ]
        return xp.where(both[:, None], xp.stack(found, axis=1), 0.0)

    def _advance(self, last: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None) -> None:
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
