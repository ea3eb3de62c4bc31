"""What runs whose mode changes refuse, and why they stop, in words."""

from __future__ import annotations

import numpy as np

from ...dynamics.dry_friction import DryFriction
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ...projection.system_kinematics import drift
from ..stepping.options import Options
from ..system.step_records import Steps
from .run_modes import RunModes

MOST_CHANGES = 60  # of a mode within one step, kernels/integrate/modes/mode_step.hpp


def refuse_unknown(mech: Mechanism, options: Options) -> None:
    """Refuse options that runs with dry friction do not know."""
    friction = DryFriction(mech.model)
    if not len(friction.coordinates):
        return
    if not isinstance(options.coordinates, str):
        raise InputError(
            "simulate: charts and coordinates of one's own have no place for rows of velocities, which"
            " coordinates that stick are. Let the library choose: coordinates='partition' or 'tangent'."
        )
    if friction.by_load and options.coordinates != "full":
        raise InputError(
            f"simulate: friction that depends on bearing loads needs coordinates='full', whose stages know"
            f" the loads; got {options.coordinates!r}."
        )
    if options.external and friction.by_load:
        raise InputError(
            "simulate: friction that depends on bearing loads knows no external wrenches, of which a run"
            " keeps only their generalized force. Declare them: ConstantWrench or UserForce."
        )


def open_gap(modes: RunModes, group: int, last: Steps) -> str:
    """A constraint, by its number among the groups of rows, was to close in the last state but is open."""
    mech, name = modes.mech, modes.modes.names[group]
    phi = mech.evaluator.constraints(last.q[-1], np.zeros(mech.nv), float(last.t[-1]))[0]
    rows = np.zeros(mech.nc, dtype=bool)
    rows[modes.modes.model.groups[group].rows] = True
    gap = drift(mech.evaluator, np.where(rows & mech.model.holonomic.astype(bool), phi, 0.0))
    return (
        f"{name!r} was to close there, but is open by {gap:.3g} m (angles times L). Close it where it is with"
        " latch=True, or by an event that comes when it is closed."
    )


def chatter(modes: RunModes) -> str:
    """The mode changed too often within one step."""
    if modes.names:
        contacts = modes.plan.contacts
        loose = [name for name, one in contacts.items() if not one.latch]
        stick = f"Let them stick (latch=True: {', '.join(loose)}), or give" if loose else "Give"
        way = f"{stick} the bodies surfaces that touch (spec.surface, spec.contact), which have impacts, too"
        return (
            f"contacts or friction changed {MOST_CHANGES} times within one step: they chatter."
            f" {way if contacts else 'Use stiff stops (stop_stiffness) instead'}."
        )
    names = ", ".join(modes.modes.friction.names)
    return (
        f"friction of {names} changed {MOST_CHANGES} times in one step; no motion sticks or slides there for"
        " any length of time, or dt is too long for the load: leave it out, or take a shorter one."
    )
