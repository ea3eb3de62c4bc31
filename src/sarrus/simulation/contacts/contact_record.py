"""ContactRecord: forces, slip, modes and work of contacts along a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import contact_forces
from ...arrays import Array, frozen
from ...mechanism.core.modes import Modes
from ...mechanism.core.slot_modes import CLOSED, SLIDES, STATE, WAY, words
from ...mechanism.mechanism import Mechanism
from ..system.system import System


@dataclass(frozen=True)
class ContactRecord:
    """Contact points of surfaces along a run of n_t states; read-only.

    Attributes:
        names: of the n contact points, "a/b.0" ...
        force: on b, in the world [N], (n_t, n, 3); of least norm where the motion leaves it open.
        moment: on b there, of torsion and rolling [N m], (n_t, n, 3).
        point: of contact, in the world [m], (n_t, n, 3); 0 while open.
        slip: velocity of b relative to a along the surfaces, in the world [m/s], (n_t, n, 3); 0 while open.
        mode: "open", "stick" or "slip" (n_t, n).
        work: of friction at each point [J], (n,), torsion and rolling included, without impacts: what the
            machine loses is negative.
        generalized: generalized force of all contacts (n_t, n_v) [N m, N].
    """

    names: tuple[str, ...]
    force: Array
    moment: Array
    point: Array
    slip: Array
    mode: npt.NDArray[np.str_]
    work: Array
    generalized: Array

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        """A line for each point that has closed: for how many states, the largest force, the work."""
        size = np.linalg.norm(self.force, axis=2)
        lines = [repr(self)]
        for k in np.flatnonzero((self.mode != "open").any(axis=0)):
            closed, slides = self.mode[:, k] != "open", self.mode[:, k] == "slip"
            lines.append(
                f"  {self.names[k]}: closed in {closed.mean():.0%} of the states, slides in"
                f" {slides.mean():.0%}, force up to {size[:, k].max():.4g} N,"
                f" work of friction {self.work[k]:.3g} J"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"ContactRecord({len(self)} contact points, {len(self.mode)} states)"


def contact_record(kept: Sequence[Any]) -> ContactRecord:
    """The record of a run.

    Args:
        kept: stretches of the run, each in one mode.
    """
    found = [stretch_contacts(one.part.touching, one.steps) for one in kept]
    force, moment, point, slip, generalized, mode = (
        np.concatenate(parts) for parts in zip(*found, strict=True)
    )
    work = sum(_work(one, x[0], x[1], x[3]) for one, x in zip(kept, found, strict=True))
    mode.flags.writeable = False
    arrays = {"force": force, "moment": moment, "point": point, "slip": slip, "work": work}
    kept_arrays = {name: frozen(x) for name, x in (arrays | {"generalized": generalized}).items()}
    names = tuple(kept[0].part.touching.mech.model.structure.slots)
    return ContactRecord(names=names, mode=mode, **kept_arrays)


def _drives_and_user_rows(system: System, steps: Any) -> tuple[Array, Array]:
    """What drives and rows of users give at each state, as the kernel takes them."""
    n = len(steps)
    drives, rows = system.no_user_rows(n)
    if not (system.has_drives or system.has_user_rows):
        return drives, rows
    called = [system.called(*one) for one in zip(steps.t.tolist(), steps.q, steps.v, strict=True)]
    driven = [np.zeros((0, 3)) if x[0] is None else x[0] for x in called]
    user = [rows[0] if x[1] is None else x[1] for x in called]
    return np.stack(driven).reshape(n, -1, 3), np.stack(user).reshape(rows.shape)


@dataclass(frozen=True)
class Touching:
    """The mode of contacts in a stretch of a run.

    Attributes:
        mech: the mechanism with all rows.
        modes: which of them can change.
        rows: numbers of the mode of all rows.
        slots: those of the contact points (slots, k).
    """

    mech: Mechanism
    modes: Modes
    rows: Array
    slots: Array


def stretch_contacts(one: Touching, steps: Any) -> tuple[Any, ...]:
    """Force, moment, point, slip, generalized force and words of the states of one mode.

    The side to which friction slides is that of the state before: of the first one it is in the mode.
    """
    n, slots = len(steps), one.slots
    if slots.shape[1] == 1 or not np.any(slots[:, STATE] == CLOSED):
        zeros = np.zeros((n, len(slots), 3))
        return zeros, zeros, zeros, zeros, np.zeros_like(steps.v), np.full((n, len(slots)), "open")
    modes = np.tile(slots, (n, 1, 1))
    system = System(one.mech)
    given = steps.q, steps.v, steps.tau, *_drives_and_user_rows(system, steps)
    states = tuple(np.ascontiguousarray(x) for x in given)
    rows = one.modes.plan, np.ascontiguousarray(one.rows)
    force, moment, point, slip, _, generalized, *_ = contact_forces(system.kernel, states, modes, *rows)
    slides = slots[:, SLIDES] != 0.0
    if n > 1 and np.any(slides):
        size = np.linalg.norm(slip[:-1], axis=-1, keepdims=True)
        way = slip[:-1] / np.where(size > 0.0, size, 1.0)
        modes[1:, :, WAY] = np.where(slides[:, None] & (size > 0.0), way, modes[1:, :, WAY])
        force, moment, point, slip, _, generalized, *_ = contact_forces(system.kernel, states, modes, *rows)
    return force, moment, point, slip, generalized, words(modes)


def _work(one: Any, force: Array, moment: Array, slip: Array) -> Any:
    """Work of friction between the states of one mode (n,), by the trapezoidal rule."""
    power = np.sum(force * slip, axis=-1)
    if moment.any():
        power = power + np.sum(moment * _turning(one.part.touching.mech, one.steps), axis=-1)
    return np.sum(0.5 * np.diff(one.steps.t)[:, None] * (power[1:] + power[:-1]), axis=0)


def _turning(mech: Mechanism, steps: Any) -> Array:
    """Angular velocity of b relative to a of each slot, in the world (n_t, n, 3) [rad/s]."""
    model = mech.model
    twist = {name: _angular(mech, name, steps) for name in {one.body for one in model.surfaces}}
    body = {one.name: twist[one.body] for one in model.surfaces}
    sides = [(body[pair.a], body[pair.b]) for pair in model.contacts]
    pair_of_slot = np.repeat(np.arange(len(sides)), np.asarray(model.pair_slots))
    return np.stack([sides[k][1] - sides[k][0] for k in pair_of_slot], axis=1)


def _angular(mech: Mechanism, body: str, steps: Any) -> Array:
    if body == "ground":
        return np.zeros((len(steps), 3))
    return np.stack([mech.velocity(q, v, body)[3:] for q, v in zip(steps.q, steps.v, strict=True)])
