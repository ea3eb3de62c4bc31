"""Forces of surfaces that touch, for `Mechanism.forward_dynamics`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...dynamics.contact_loads import ContactLoads, unsolved
from ...dynamics.forward import Motion
from ...errors import InputError, warn

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def touching_forces(mech: Mechanism, given: tuple[Any, Any, Any], t: float, sticks: bool) -> ContactLoads:
    """Forces of contacts at states q, v under tau (None: none).

    Args:
        mech: the mechanism.
        given: q, v and tau, with batch axes or without.
        t: time [s].
        sticks: whether joints have dry friction, which is refused.
    """
    if sticks:
        raise InputError(
            'forward_dynamics: dry friction of joints (friction_model="coulomb", BearingFriction) does not go'
            " with surfaces that may touch in this version; smooth friction does."
        )
    q, v, tau = given
    force = np.zeros(mech.nv) if tau is None else tau
    states, batch = mech._arguments.states([(q, "q", True), (v, "v", False), (force, "tau", False)])
    qs, vs, forces = (np.ascontiguousarray(x) for x in states)
    outside = mech.evaluator.outside(qs, vs, mech._time(t))
    return ContactLoads.at(mech.model, (qs, vs, forces, *outside), batch)


def with_contacts(motion: Motion, contacts: ContactLoads) -> Motion:
    """The motion with forces of contacts; without an acceleration where these were not found."""
    why = unsolved(contacts.status)
    if not why:
        return replace(motion, _contacts=contacts)
    warn(f"forward_dynamics: {why}; `a` is NaN there, `contact_status` and `contact_residual` say more.")
    lost: Array = (contacts.status != "SOLVED")[..., None]
    return replace(motion, a=np.where(lost, np.nan, motion.a), _contacts=contacts)
