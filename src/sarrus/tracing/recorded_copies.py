"""Copies of one mechanism on a device, stepped by its recorded program.

The general kernel takes the steps whose guards do not pass, on the device too; then the program goes on with
these copies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .cuda_text import HALVES, ROUNDING, TESTED

TOGETHER = 128  # steps after which copies whose guards did not pass join the others again
ALONE = 8  # recorded steps of such a copy before that: a copy that is alone on the device is slow
OVERDUE = 8  # steps: where all have been general ones since a test was due, a general one is tested

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
        errors: of steps that are tested, without units (B, 5): what the last one differed from its halves in
            positions and in velocities, the sums of that over all steps, and the largest speed.
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
        self.errors, self._due = xp.zeros((count, 5)), xp.zeros(count, dtype=xp.int32)
        self._units = None if units is None else xp.concatenate(units)

    def advance(self, last: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None = None) -> None:
        """Steps of dt [s] up to number `last` of all copies that are fine.

        kept: q (B, rows, nq) and v (B, rows, nv), which get the states after every so many steps from step
            `inputs.first` on, and that number.
        """
        xp = self._xp
        for target in (*range(inputs.first + TOGETHER, last, TOGETHER), last):
            going = xp.flatnonzero(self._fine & (self.reached < target))
            while len(going):
                self._launch_steps(going, (target, target), dt, inputs, kept)
                self._help(going[self.reached[going] < target], target, dt, inputs, kept)
                behind = xp.flatnonzero(self._fine & (self.reached < target))
                going = behind if target == last else behind[:0]

    def _help(
        self, behind: Any, target: int, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None
    ) -> None:
        """General steps of copies whose guards did not pass, until ALONE recorded ones in a row do."""
        while len(behind):
            self._step_generally(behind, dt, inputs, kept)
            behind = behind[self._fine[behind] & (self.reached[behind] < target)]
            passed = self._xp.minimum(self.reached[behind] + ALONE, target)
            self._launch_steps(behind, (target, ALONE), dt, inputs, kept)
            behind = behind[self.reached[behind] < passed]

    def _launch_steps(
        self, which: Any, end: tuple[int, int], dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None
    ) -> None:
        """Recorded steps of these copies up to number end[0], at most end[1] of them."""
        if not len(which):
            return
        real, i64 = self.v.dtype.type, np.int64
        u, tau = inputs.u, inputs.tau
        u_copy = 0 if u is None or len(u) == 1 else u.shape[1] * u.shape[2]
        u_step = 0 if u is None or u.shape[1] == 1 else u.shape[2]
        tau_copy = 0 if tau is None or len(tau) == 1 else tau.shape[1]
        q_kept, v_kept, every = kept or (None, None, 1)
        rows = 0 if kept is None else kept[0].shape[1]
        steps = np.int32(inputs.first), *(np.int32(x) for x in end), real(dt)
        forces = u, i64(u_copy), i64(u_step), tau, i64(tau_copy), inputs.parameters
        storage = q_kept, v_kept, np.int32(every), np.int32(rows)
        found = self.reached, self._guards, self.drifts
        tests = self._units, self._due, self.errors
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
                *tests,
            ),
        )

    def _step_generally(
        self, which: Any, dt: float, inputs: Inputs, kept: tuple[Any, Any, int] | None
    ) -> None:
        """One step by the general kernel of these copies."""
        xp = self._xp
        q, v = self.q[which], self.v[which].astype(float)
        q1, v1, status = self._general(which, q, v, self._force(which, inputs), dt)
        if self._units is not None:
            self._test_generally(which, (q, v, q1, v1), dt, inputs)
        good = status == 0
        self.status[which], self._fine[which] = status, good
        bits, times = xp.unique(self._guards[which], return_counts=True)
        for one, often in zip(bits.tolist(), times.tolist(), strict=True):
            self.guards[one] = self.guards.get(one, 0) + often
        moved = which[good]
        self.q[moved], self.v[moved] = q1[good], v1[good].astype(self.v.dtype)
        self.reached[moved] += 1
        self.general_steps[moved] += 1
        self.errors[moved, 2:4] += self.errors[moved, :2]
        if kept is None:
            return
        q_kept, v_kept, every = kept
        store = moved[self.reached[moved] % every == 0]
        row = self.reached[store] // every - inputs.first // every - 1
        q_kept[store, row], v_kept[store, row] = self.q[store], self.v[store]

    def _test_generally(self, which: Any, step: tuple[Any, Any, Any, Any], dt: float, inputs: Inputs) -> None:
        """Compare general steps (q, v, q1, v1) with their halves, of copies that have taken no others."""
        xp = self._xp
        assert self._units is not None
        at = xp.flatnonzero(self.reached[which] >= self._due[which] + OVERDUE)
        if not len(at):
            return
        copies, (q, v, q1, v1) = which[at], (x[at] for x in step)
        force = self._force(copies, inputs)
        for _ in range(2):
            q, v, status = self._general(copies, q, v, force, 0.5 * dt)
            q, v = (xp.where((status == 0)[:, None], x, np.nan) for x in (q, v))
        rounding = ROUNDING * float(np.finfo(float).eps)
        position, velocity = self._units[: q.shape[1]], self._units[q.shape[1] :]
        speed = xp.abs(v1 / velocity).max(axis=1)
        turned = xp.maximum(xp.abs(q1 / position).max(axis=1), 1.0)
        for k, (x, y, unit, size) in enumerate(((q1, q, position, turned), (v1, v, velocity, speed))):
            apart = HALVES * xp.abs((x - y) / unit).max(axis=1) - rounding * size
            self.errors[copies, k] = xp.where(apart > 0.0, apart, 0.0)  # 0 where a half step failed
        self.errors[copies, 4] = xp.fmax(self.errors[copies, 4], speed)
        self._due[copies] = self.reached[copies] + TESTED

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
