"""What a twin cannot be made of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Array, mapping, number, positive
from ..errors import AssemblyError, InputError, require_all_known
from ..mechanism.mechanism import Mechanism
from ..tracing.program import refuse_callables

OPEN = 1e-8  # of a default state [rad], lengths divided by L


def check_robot(mech: Mechanism) -> None:
    """Refuse what a twin cannot be of."""
    refuse_callables(mech.model, "a twin")
    if mech.model.drives:
        raise InputError(
            f"{mech.name!r} has parts that follow a function of time (Drive); a twin has motors instead:"
            " actuate those coordinates, spec.actuate(name)."
        )
    if not np.all(mech.model.holonomic):
        raise InputError(
            f"{mech.name!r} has rows that restrict velocities only (Rolling): positions of motors are then no"
            " function of those of joints. Leave them out, mech.with_constraints(...)."
        )
    if mech.model.undeclared_motors:
        raise InputError(mech.model.undeclared_motors)
    bad = [one.name for one in mech.model.actuators if mech.model.coordinate_q[one.index] < 0]
    if bad:
        raise InputError(
            f"the motors {', '.join(bad)} of {mech.name!r} turn a joint without an angle (Spherical, Free);"
            " a twin needs motors on angles or displacements."
        )
    gap = np.max(np.abs(mech.terms(*mech.default).phi / mech.units.row_unit), initial=0.0)
    if gap > OPEN:
        raise AssemblyError(
            f"the default state of {mech.name!r}, on whose branch its twin is, is open by {gap:.2g} (rad, or"
            " times L). Give a closed one: mech.with_default(mech.assemble(q).q)."
        )


def speeds_of(mech: Mechanism, given: Mapping[str, float] | None) -> Array:
    found = dict.fromkeys(mech.actuators, np.inf)
    speeds = mapping(given, "speeds", "{motor: rad/s or m/s}")
    require_all_known("motor", speeds, mech.actuators, "speeds of twin")
    for name, value in speeds.items():
        found[name] = positive(number(value, f"speed of {name!r}"), f"speed of {name!r}")
    return np.array(list(found.values()))
