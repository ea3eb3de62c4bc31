"""SteppedCopies: copies that move when they are told to, each of which may start anew at any time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..._kernel import Copies, StepStatus, all_cores
from ...arrays import Array, BoolArray
from ...mechanism.core.access import actuated_columns
from ...mechanism.core.modes import Modes
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.time_steps import step_options

NEVER = 2**60  # steps between two records


class SteppedCopies:
    """Copies of a mechanism for environments: `start`, then `step` after `step`, with inputs held over each.

    Time plays no part: mechanisms with drives are not for this.

    Attributes:
        count: number of copies B.
    """

    def __init__(
        self,
        mech: Mechanism,
        count: int,
        dt: float,
        substeps: int,
        method: str = "rk4",
        *,
        modes: Modes | None = None,
        contacts: bool = False,
    ) -> None:
        """
        Args:
            mech: the mechanism.
            count: number of copies.
            dt: length of a step [s].
            substeps: number of integration steps that it is divided into.
            method: integrator.
            modes: what can change along the motion; None: nothing.
            contacts: whether surfaces act.
        """
        self.count, self._substeps = count, substeps
        options, time = step_options(method, dt), (0.0, dt / substeps)
        kernel, plan = (mech._kernel, None) if modes is None else (modes.model.kernel, modes.plan)
        self._begun = None if modes is None else modes.begin(0.0, [mech.model]).numbers
        self._copies = Copies(
            [kernel], options, time, actuated_columns(mech), None, plan=plan, contacts=contacts
        )
        self._out = *(np.zeros((count, 1, n)) for n in (mech.nq, mech.nv, mech.nu)), NEVER
        self._threads = min(all_cores(), 1 + count // 8)
        nowhere = np.full((count, mech.nq), np.nan), np.zeros((count, mech.nv))
        self._copies.start(*nowhere, None, 0, 1, modes=self._modes(count))

    def start(self, q: Array, v: Array, which: npt.NDArray[np.int64]) -> None:
        """Start copies anew, at q (k, nq), v (k, nv); which (k,)."""
        states = np.ascontiguousarray(q), np.ascontiguousarray(v)
        self._copies.start(*states, which, 0, self._threads, modes=self._modes(len(which)))

    def _modes(self, count: int) -> Array | None:
        """Numbers of the modes in which copies start."""
        return None if self._begun is None else np.repeat(self._begun, count, axis=0)

    def step(self, u: Array) -> None:
        """One step of all copies that are fine, with the inputs u (B, nu)."""
        inputs = np.ascontiguousarray(u[:, None]), None, None, None
        self._copies.advance(0, self._substeps, inputs, self._out, self._threads)
        self._copies.passes()

    @property
    def q(self) -> Array:
        """Positions (B, nq); of copies that have failed, the last good ones."""
        return np.asarray(self._copies.q)

    @property
    def v(self) -> Array:
        """Velocities (B, nv)."""
        return np.asarray(self._copies.v)

    @property
    def fine(self) -> BoolArray:
        """Whether each copy can go on (B,)."""
        return np.asarray(self._copies.status == StepStatus.FINE.value)
