"""Steps: the recorded states of a run, as arrays whose first axis is the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array


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
    rank: npt.NDArray[np.int64]

    @staticmethod
    def taken(run: Any) -> Steps:
        """The records of a run since the last call."""
        return Steps.of_record(run.take())

    @staticmethod
    def of_record(record: Mapping[str, Any]) -> Steps:
        """The records of a run, by name."""
        known = {field.name: record[field.name] for field in fields(Steps)}
        return Steps(**known | {"rank": record["rank"].astype(np.int64)})

    @staticmethod
    def of(states: Sequence[Mapping[str, Any]], nq: int, nv: int) -> Steps:
        """From single states, each with these fields by name; other fields are ignored."""
        widths = {"q": (nq,), "v": (nv,), "a": (nv,), "tau": (nv,)}
        columns = {f.name: np.array([state[f.name] for state in states]) for f in fields(Steps)}
        shaped = {name: x.reshape(-1, *widths.get(name, ())) for name, x in columns.items()}
        return Steps(**shaped | {"rank": shaped["rank"].astype(np.int64)})

    @staticmethod
    def undefined(t: float, q: Array, v: Array, rank: int = 0) -> Steps:
        """One state whose acceleration could not be computed."""
        nothing = np.full(len(v), np.nan)
        known = {"t": t, "q": q, "v": v, "a": nothing, "tau": nothing, "rank": rank}
        residuals = dict.fromkeys(("drift", "velocity_drift", "pivot"), np.nan)
        return Steps.of([known | residuals], len(q), len(v))

    @staticmethod
    def joined(parts: Sequence[Steps]) -> Steps:
        """All parts in one, in the given order."""
        return Steps(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Steps)))

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, which: slice | npt.NDArray[Any]) -> Steps:
        return Steps(*(getattr(self, f.name)[which] for f in fields(self)))

    def __setitem__(self, which: slice | npt.NDArray[Any], values: Steps) -> None:
        for f in fields(self):
            getattr(self, f.name)[which] = getattr(values, f.name)
