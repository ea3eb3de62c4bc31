"""Messages of what knows no friction that sticks, or not at rest, and how to do without it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..models.model import Model
from .dry_friction import DryFriction, sticks


def _ways_out(model: Model) -> str:
    """How to leave out dry friction that a model has, by its names."""
    joints = [body.name for body in model.bodies if body.friction_model == "coulomb" and any(body.friction)]
    declared = [f"{name!r} ({type(force).__name__})" for name, force in model.forces if force.sticks]
    ways = []
    if joints:
        names = ", ".join(f"{name!r}: 0" for name in joints)
        ways.append(
            "that of joints by friction_model='smooth' or"
            f" mech.with_(friction={{{names}}}, breakaway={{{names}}})"
        )
    if declared:
        words = "force" if len(declared) == 1 else "forces"
        ways.append(
            f"the {words} {', '.join(declared)} by a description without, or as smooth friction of the joint"
        )
    return "Leave it out: " + "; ".join(ways) + "."


def refuse_dry_friction(model: Model, what: str) -> None:
    """Refuse a model whose friction sticks; `what` cannot deal with it."""
    if sticks(model):
        names = ", ".join(map(repr, DryFriction(model).names))
        raise InputError(
            f"{what} knows no friction that sticks, which {model.name!r} has along {names}; simulate and"
            f" forward_dynamics do. {_ways_out(model)}"
        )


def refuse_rest(model: Model, v: npt.ArrayLike | None, what: str) -> None:
    """Refuse states v (..., nv), None: at rest, in which dry friction has no direction."""
    if not sticks(model):
        return
    rows = DryFriction(model)
    resting = rows.resting(np.zeros(model.nv) if v is None else np.asarray(v, dtype=np.float64))
    if any(force.by_load for _, force in model.forces):
        raise InputError(
            f"{what} knows no friction that depends on bearing loads, which {model.name!r} has; simulate and"
            " forward_dynamics do. Take a constant friction: CoulombFriction."
        )
    if np.any(resting):
        names = [
            name
            for name, rests in zip(rows.names, resting.reshape(-1, len(rows.names)).T, strict=True)
            if rests.any()
        ]
        raise InputError(
            f"{what}: {', '.join(map(repr, names))} of {model.name!r} are at rest, where friction that sticks"
            f" is no smooth function. Take a state that slides. {_ways_out(model)} To lock what sticks, as"
            f" friction does for small loads, add Coupling({{{names[0]!r}: 1.0}}, offset=its value) then."
        )


def refuse_stops(model: Model, before: npt.ArrayLike, after: Array, what: str) -> None:
    """Refuse steps from velocities `before` to `after` (..., nv) in which a row of friction turns round."""
    at = DryFriction(model).coordinates
    turned = (np.sign(np.asarray(before, dtype=np.float64)) * np.sign(after))[..., at] < 0.0
    if np.any(turned):
        which = np.any(turned.reshape(-1, len(at)), axis=0)
        names = ", ".join(repr(model.coordinate_names[k]) for k in at[which])
        raise InputError(
            f"{what}: {names} of {model.name!r} stop within the step, where friction begins to stick, and the"
            " step has no derivatives. Take a smaller dt, or a state that slides through it."
        )
