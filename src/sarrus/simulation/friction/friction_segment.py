"""What a run with dry friction is given where it is a part of a run with switches, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass

from ...dynamics.dry_friction import Directions
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ..events.events import UserWatch
from ..run.interrupts import Interrupts
from ..stepping.options import Options
from ..system.contact_friction import ContactFriction


def refuse_unknown(mech: Mechanism, options: Options) -> None:
    """Refuse options that runs with dry friction do not know."""
    if not isinstance(options.coordinates, str):
        raise InputError(
            "simulate: charts and coordinates of one's own have no place for rows of velocities, which"
            " coordinates that stick are. Let the library choose: coordinates='partition' or 'tangent'."
        )
    if mech._bearings and options.coordinates != "full":
        raise InputError(
            f"simulate: friction that depends on bearing loads needs coordinates='full', whose stages know"
            f" the loads; got {options.coordinates!r}."
        )
    if options.external and mech._bearings:
        raise InputError(
            "simulate: friction that depends on bearing loads knows no external wrenches, of which a run"
            " keeps only their generalized force. Declare them: ConstantWrench or UserForce."
        )


@dataclass(frozen=True)
class Segment:
    """A part of a run with switches, between two of them.

    Attributes:
        contacts: those that are closed.
        users: the events of the user, of which some switch.
        interrupts: of the whole run.
        before: directions before the switch; None at the start.
        breaks: whether a load just exceeded its bounds.
    """

    contacts: ContactFriction
    users: UserWatch
    interrupts: Interrupts
    before: Directions | None
    breaks: bool
