"""Options of runs that do not go with surfaces that touch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dynamics.dry_friction import DryFriction, sticks
from ...errors import InputError
from ..stepping.methods import METHODS
from ..stepping.options import Options

ONLY = {
    "formulation": ("nullspace", "the forces of contacts are those of the kernel"),
    "coordinates": ("full", "contacts are found in full coordinates"),
    "correction": ("project", "contacts stay closed by projection"),
    "energy": (False, "impacts and friction take energy"),
}


def refuse_with_contacts(mech: Any, given: Mapping[str, Any]) -> None:
    """Refuse arguments of `simulate` that surfaces which touch do not know, each by its name."""
    for name, (only, why) in ONLY.items():
        if given[name] != only:
            raise InputError(f"{name}={given[name]!r} does not go with surfaces that touch: {why}. {WAY_OUT}")
    if given["method"] in METHODS and METHODS[given["method"]].implicit and given["method"] != "auto":
        raise InputError(
            f"method={given['method']!r} does not go with surfaces that touch: implicit steps would need the"
            f' derivatives of their forces. Take "dopri5". {WAY_OUT}'
        )
    if DryFriction(mech.model).by_load:
        raise InputError(
            "friction by load (BearingFriction) does not go with surfaces that touch in this version: loads"
            f" of bearings would have to know the forces of contacts. Constant dry friction does. {WAY_OUT}"
        )
    if given["contacts"] == "steps" and (given["switches"] or given["stops"] or sticks(mech.model)):
        raise InputError(
            'switches, stops and dry friction of joints do not go with contacts="steps", whose steps locate'
            ' no changes; they go with contacts="events".'
        )


def refuse_without_fixed_steps(options: Options) -> None:
    """Refuse options of contacts="steps" without a dt, or with a method that chooses its steps."""
    if options.integrator.adaptive:
        fixed = ", ".join(f'"{name}"' for name, one in METHODS.items() if not (one.adaptive or one.implicit))
        raise InputError(
            f'contacts="steps" needs dt and a method of fixed steps ({fixed}), and method={options.method!r}'
            ' chooses them; method="auto" with dt alone, without rtol and atol, is "rk4".'
        )
    if options.first_step == 0.0:
        raise InputError(
            'contacts="steps" needs dt: changes count at the ends of steps, so the error is about'
            " dt times the speed."
        )


WAY_OUT = 'contacts="ignore" lets surfaces go through each other.'
