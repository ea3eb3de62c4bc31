"""What a controller did on the plant of another library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sarrus.arrays import Array, numeric
from sarrus.errors import InputError
from sarrus.mechanism.core.core import State

LARGEST = 1e10  # position or speed of a plant that has not diverged; that of MuJoCo
Control = Callable[[float, Array, Array], npt.ArrayLike]  # u = law(t, q, v)


@dataclass(frozen=True)
class PlantRun:
    """What a controller did on a plant, one row for each control step.

    Attributes:
        t: Time [s], (n,).
        q: Measured positions in the coordinates of the mechanism, (n, nq).
        v: Measured velocities, (n, nv).
        u: Inputs [N m] or [N], (n, nu).
        data: Data of the other library at the end: `mujoco.MjData`, or `pinocchio.Data`.
        success: Whether the end was reached, and the other library had nothing to say against the run.
        message: The same in words. A plant that diverges, or resets itself, ends the run; rows up to there
            are kept.
    """

    t: Array
    q: Array
    v: Array
    u: Array
    data: Any
    success: bool = True
    message: str = ""


@dataclass
class PlantRecorder:
    """Rows of a run while it goes on, and what went wrong with it.

    Attributes:
        nu: Number of inputs.
        trouble: Why the run ended early or is not to be trusted, in words; empty while all is well.
    """

    nu: int
    trouble: str = ""
    _rows: list[tuple[float, Array, Array, Array]] = field(default_factory=list)

    def measure(self, t: float, measured: State, law: Control) -> Array | None:
        """Record a state and the inputs (nu,) that the law answers with; None where they end the run.

        Raises:
            InputError: Where the law has no usable answer at the first state.
        """
        u = numeric(law(t, *measured), f"what the law returns at t = {t:.9g} s", f"{self.nu} finite numbers")
        if u.shape != (self.nu,) or not np.all(np.isfinite(u)):
            self.trouble = f"the law must return {self.nu} finite numbers, got {u} at t = {t:.9g} s"
            if not self._rows:
                raise InputError(f"{self.trouble}.")
            return None
        self._rows.append((t, *measured, u))
        return u

    def run(self, t_end: float, data: Any) -> PlantRun:
        """The run up to here; `t_end` is where it was to end [s]."""
        t, q, v, u = (np.array([row[k] for row in self._rows]) for k in range(4))
        message = f"Reached the end, t = {t_end:.9g} s."
        if self.trouble:
            message = f"{self.trouble[0].upper()}{self.trouble[1:]}."
        return PlantRun(t, q, v, u, data=data, success=not self.trouble, message=message)


def diverged(*state: Array) -> bool:
    """Whether positions or velocities are not finite, or absurdly large."""
    return not all(np.all(np.abs(part) < LARGEST) for part in state)
