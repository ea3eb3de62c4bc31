"""Steps: what the compiled run keeps of every step, as arrays with the steps first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Steps:
    """States in the order of time.

    Attributes:
        t: time [s], (n,).
        q: positions (n, nq) [rad, m].
        v: velocities (n, nv) [rad/s, m/s].
        a: accelerations (n, nv) [rad/s^2, m/s^2].
        tau: applied generalized force (n, nv) [N m, N], inputs and wrenches included.
        drift: largest |phi|, dimensionless (n,).
        velocity_drift: largest |J v - b|, dimensionless over s (n,).
        pivot: smallest pivot of the factorization of J that counts (n,); near zero, near a singular pose.
        rank: rank of J (n,).
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    drift: Array
    velocity_drift: Array
    pivot: Array
    rank: Ints

    @staticmethod
    def of_record(record: Sequence[Any]) -> Steps:
        """From what the compiled run hands over: columns of single numbers become vectors."""
        t, q, v, a, tau, drift, velocity_drift, pivot, rank = (np.asarray(x) for x in record)
        drift, velocity_drift, pivot = drift[:, 0], velocity_drift[:, 0], pivot[:, 0]
        return Steps(t[:, 0], q, v, a, tau, drift, velocity_drift, pivot, rank.astype(np.int64))

    @staticmethod
    def undefined(t: float, q: Array, v: Array, rank: int = 0) -> Steps:
        """One state whose acceleration could not be computed."""
        nothing = np.full((1, len(v)), np.nan)
        one = np.full(1, np.nan)
        return Steps(
            np.array([t]), q[None], v[None], nothing, nothing, one, one, one, np.array([rank], dtype=np.int64)
        )

    @staticmethod
    def joined(parts: Sequence[Steps]) -> Steps:
        """One after the other."""
        return Steps(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Steps)))

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, which: slice | npt.NDArray[Any]) -> Steps:
        return Steps(*(getattr(self, f.name)[which] for f in fields(self)))
