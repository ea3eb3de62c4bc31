"""What a controller did on the plant of another library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sarrus.arrays import Array

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
    """

    t: Array
    q: Array
    v: Array
    u: Array
    data: Any


def run_of(rows: list[tuple[float, Array, Array, Array]], data: Any) -> PlantRun:
    """The run whose control steps were (t, q, v, u)."""
    t, q, v, u = (np.array([row[k] for row in rows]) for k in range(4))
    return PlantRun(t, q, v, u, data)
