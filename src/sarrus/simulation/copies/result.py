"""Rollout: the motion of many copies, and how each of them ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from ..events.events import Event
from ..run.outcome import Status

MOST_NAMED = 5  # copies that a message says something about


@dataclass(frozen=True, eq=False)
class Rollout:
    """The motion of B copies of one mechanism, n = 1 + steps // every states each.

    A copy that failed is NaN after its last good state; the others are not touched by it.

    Attributes:
        t: times of the states [s], (n,).
        q: positions (B, n, nq) [rad, m].
        v: velocities (B, n, nv) [rad/s, m/s].
        u: inputs (B, n, nu) [N m, N], held from t[i] on; the last one is that of the last step.
        status: how each copy ended, a `Status` (B,): 0 at the end, -1 failed, -2 interrupted, -3 stopped by
            an error in the policy.
        drift: largest |phi| of each copy over all its steps [m], angles times L (B,).
        velocity_drift: largest |J v - b| of each copy [m/s], angles times L (B,).
        length: number of good states of each copy (B,): q[b, :length[b]].
        general_steps: steps of each copy that were taken by themselves, because a singular pose was near or
            guards did not pass, and not in a pack or by recorded code (B,).
        events: singular poses passed and near misses, in the order of time, for each copy (B).
        message: how it went, in words; names copies that failed by their index.
        messages: the same for each copy (B).
    """

    t: Array
    q: Array
    v: Array
    u: Array
    status: npt.NDArray[np.int_]
    drift: Array
    velocity_drift: Array
    length: npt.NDArray[np.int_]
    general_steps: npt.NDArray[np.int_]
    events: tuple[tuple[Event, ...], ...]
    message: str
    messages: tuple[str, ...]

    @property
    def success(self) -> bool:
        """Whether all copies reached the end."""
        return bool(np.all(self.status == Status.END))

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"Rollout({len(self.q)} copies, {len(self.t)} states each: {self.message})"

    @staticmethod
    def joined(mech: Mechanism, parts: Sequence[Rollout]) -> Rollout:
        """Copies of several rollouts of the same mechanism, in order."""
        together: dict[str, Any] = {"t": parts[0].t}
        for name in ("q", "v", "u", "status", "drift", "velocity_drift", "length", "general_steps"):
            together[name] = np.concatenate([getattr(part, name) for part in parts])
        for name in ("events", "messages"):
            together[name] = tuple(one for part in parts for one in getattr(part, name))
        assert set(together) | {"message"} == {f.name for f in fields(Rollout)}
        return Rollout(**together, message=summary(together["status"], together["messages"]))


def summary(status: npt.NDArray[np.int_], messages: Sequence[str]) -> str:
    """The message of all copies."""
    bad = np.flatnonzero(status != Status.END)
    if len(bad) == 0:
        return f"All {len(status)} copies: {messages[0]}"
    named = " ".join(f"Copy {i}: {messages[i]}" for i in bad[:MOST_NAMED].tolist())
    more = f" And {len(bad) - MOST_NAMED} more, see messages." if len(bad) > MOST_NAMED else ""
    return f"{len(bad)} of {len(status)} copies did not reach the end. {named}{more}"
