"""Modes of copies: what can change in a rollout, and how its copies start."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array, truth
from ...errors import InputError
from ...mechanism.core.access import friction_modes
from ...mechanism.core.modes import Mode, Modes
from ...mechanism.mechanism import Mechanism
from ...mechanism.query.contact_steps import IGNORED, start_mode
from ..events.switches import make_plan


def copies_modes(mech: Mechanism, switches: Any, stops: Any, mode: Any, dt: float) -> Modes | None:
    """What can change along the motion of copies; None: nothing.

    Args:
        mech: the mechanism.
        switches, stops: as those of `rollout`.
        mode: in which they start, or None.
        dt: step [s].
    """
    if mode is not None and not isinstance(mode, Mode):
        raise InputError(f"mode0 must be a Mode, as State.mode and Rollout.mode are; got {mode!r:.80}.")
    nothing = switches is None or (isinstance(switches, (list, tuple)) and not switches)
    if nothing and not truth(stops, "`stops`"):
        return friction_modes(mech) if mode is None else mode.modes
    plan = make_plan(mech, switches, stops)
    if plan.events:
        event, name, _ = plan.events[0]
        raise InputError(
            f"rollout runs compiled code in several threads and cannot call the function {event.name} of"
            f" Switch({name!r}); switch by the clock, by contact, or use simulate."
        )
    return plan.modes(mech, dt)


def touching_modes(mech: Mechanism, given: dict[str, Any], count: int) -> Array | None:
    """Numbers (B, n) of the modes of contacts in which B copies start; None: as (q, v) says.

    Args:
        mech: the mechanism.
        given: arguments of `rollout` by name.
        count: B.
    """
    if given["switches"] or given["stops"]:
        raise InputError(
            f"rollout: switches and stops do not go with surfaces that touch in this version. {IGNORED}"
        )
    mode = start_mode(mech, given["mode0"], "mode0")
    if mode is None:
        return None
    numbers = mode.numbers.reshape(-1, mode.numbers.shape[-1])
    if len(numbers) not in (1, count):
        raise InputError(f"mode0 has {len(numbers)} modes, there are {count} copies.")
    return np.ascontiguousarray(np.broadcast_to(numbers, (count, numbers.shape[-1])))


def start_modes(
    modes: Modes, mode: Mode | None, t0: float, mechs: tuple[Mechanism, ...], count: int
) -> Array:
    """Numbers (B, n) of the modes in which B copies start."""
    begun = modes.begin(t0, [one.model for one in mechs]) if mode is None else mode
    numbers = begun.numbers.reshape(-1, begun.numbers.shape[-1])
    if len(numbers) not in (1, count):
        raise InputError(f"mode0 has {len(numbers)} modes, there are {count} copies.")
    if mode is not None and begun.numbers.shape[-1] != modes.begin(t0, [mechs[0].model]).numbers.shape[-1]:
        raise InputError("mode0 is of a rollout with other switches or stops; give the same.")
    return np.ascontiguousarray(np.broadcast_to(numbers, (count, numbers.shape[-1])))
