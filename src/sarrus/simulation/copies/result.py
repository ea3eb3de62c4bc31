"""Rollout: the motion of many copies, and how each of them ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, frozen
from ...errors import unknown_name
from ...mechanism.core.access import actuated_columns
from ...mechanism.core.modes import Mode
from ...mechanism.core.slot_modes import ContactMode
from ...mechanism.describe.measure import measured
from ...mechanism.describe.measured_states import MeasuredStates
from ...mechanism.describe.measures import Angle
from ...mechanism.mechanism import Mechanism
from ..events.events import Event
from ..run.accuracy import INACCURATE, too_long
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
        general_steps: steps of each copy that were taken by themselves, and not in a pack or by recorded
            code, because a singular pose was near, guards did not pass, or copies are not packed (B,).
        step_error: by how much the steps of each copy violate the equations of motion in sum, relative to
            1 rad, L and the largest speed (B,). Above 0.01 they are too long and `message` says so. On a GPU
            one step in 128 is tested, by its halves, and short bursts of errors may be missed; in float32,
            errors below 1e-5 a step are not seen. NaN where steps are not tested: those of adaptive methods.
        events: singular poses passed, near misses and limits of joints and actuators that are passed, in the
            order of time, for each copy (B).
        message: how it went, in words; names copies that failed by their index.
        messages: the same for each copy (B).
        mode: which rows act at the end of each copy, a `Mode` of B states; where surfaces may touch what they
            do, a `ContactMode`; None where nothing can change.
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
    step_error: Array
    events: tuple[tuple[Event, ...], ...]
    message: str
    messages: tuple[str, ...]
    mode: Mode | ContactMode | None = None
    _mechs: tuple[Mechanism, ...] = field(default=(), repr=False)  # one for each copy, or one for all

    def __getitem__(self, name: str) -> Array:
        """A measure of the mechanism at all kept states, (B, n) or (B, n, k); NaN where a copy has none.

        Angles go on beyond pi along each copy.
        """
        known = dict(self._mechs[0].model.measures)
        if not isinstance(name, str) or name not in known:
            raise unknown_name("measure", name, known, "rollout[...]")
        parts = [self._measured(i, name) for i in range(len(self.q))]
        shape = next((part.shape[1:] for part in parts if len(part)), ())
        found = np.full((*self.q.shape[:2], *shape), np.nan)
        for i, part in enumerate(parts):
            if len(part):
                found[i, : len(part)] = part
        return frozen(found)

    def _measured(self, i: int, name: str) -> Array:
        """A measure of copy i at its good states."""
        mech, n = self._mechs[i if len(self._mechs) > 1 else 0], int(self.length[i])
        tau = np.zeros((n, mech.nv))
        tau[:, actuated_columns(mech)] = self.u[i, :n]
        times = self.t[:n] if mech.model.drives else np.full(n, self.t[0])
        states = MeasuredStates(mech, self.q[i, :n].copy(), self.v[i, :n].copy(), times, tau)
        measure = dict(mech.model.measures)[name]
        if n == 0:
            return np.zeros(0)
        return measure.continued(states) if isinstance(measure, Angle) else measured(states, measure, name)

    @property
    def success(self) -> bool:
        """Whether all copies reached the end."""
        return bool(np.all(self.status == Status.END))

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        alone = f"{int(np.sum(self.general_steps))} steps one by one"  # others: in packs
        return f"Rollout({len(self.q)} copies, {len(self.t)} states each, {alone}: {self.message})"

    @staticmethod
    def joined(mechs: tuple[Mechanism, ...], parts: Sequence[Rollout], time: tuple[float, float]) -> Rollout:
        """Copies of several rollouts of the same mechanism, in order; time: dt and the end [s]."""
        together: dict[str, Any] = {"t": parts[0].t, "_mechs": mechs}
        for name in (
            *("q", "v", "u", "status", "drift", "velocity_drift", "length", "general_steps"),
            "step_error",
        ):
            together[name] = np.concatenate([getattr(part, name) for part in parts])
        modes = [part.mode for part in parts if part.mode is not None]
        numbers = [mode.numbers for mode in modes]
        together["mode"] = replace(modes[0], numbers=np.concatenate(numbers)) if modes else None
        for name in ("events", "messages"):
            together[name] = tuple(one for part in parts for one in getattr(part, name))
        assert set(together) | {"message"} == {f.name for f in fields(Rollout)}
        return Rollout(**together, message=summary(together, time))


def summary(together: dict[str, Any], time: tuple[float, float]) -> str:
    """The message of all copies, from what a Rollout has; time: dt and the end [s]."""
    status, messages = together["status"], together["messages"]
    bad = np.flatnonzero(status != Status.END)
    said = f"All {len(status)} copies: Reached the end, t = {time[1]:.9g} s."
    if len(bad):
        named = " ".join(f"Copy {i}: {messages[i]}" for i in bad[:MOST_NAMED].tolist())
        more = f" And {len(bad) - MOST_NAMED} more, see messages." if len(bad) > MOST_NAMED else ""
        said = f"{len(bad)} of {len(status)} copies did not reach the end. {named}{more}"
    doubts = [doubt_about_steps(status, together["step_error"], time[0]), _beyond_limits(together["events"])]
    return " ".join([said, *(one for one in doubts if one)])


def doubt_about_steps(status: npt.NDArray[np.int_], step_error: Array, dt: float) -> str:
    """That steps are too long, and for which copies that reached the end; empty where they are not."""
    copies = np.flatnonzero((status == Status.END) & (step_error > INACCURATE))
    if len(copies) == 0:
        return ""
    worst = float(step_error[copies].max())
    return too_long(dt, f"the motion of {_listed(copies)}", worst, "Take a shorter dt.")


def _beyond_limits(events: tuple[tuple[Event, ...], ...]) -> str:
    copies = np.array(
        [i for i, some in enumerate(events) if any(one.kind == "limit" for one in some)], dtype=int
    )
    return (
        f"Limits of joints or actuators are passed in {_listed(copies)}, see events." if len(copies) else ""
    )


def _listed(copies: npt.NDArray[np.int_]) -> str:
    named = ", ".join(str(i) for i in copies[:MOST_NAMED].tolist())
    more = f" and {len(copies) - MOST_NAMED} more" if len(copies) > MOST_NAMED else ""
    return f"{'copy' if len(copies) == 1 else 'copies'} {named}{more}"
