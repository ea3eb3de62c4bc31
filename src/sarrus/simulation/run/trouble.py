"""What a run that failed says."""

from __future__ import annotations

import numpy as np

from ..._kernel import StepStatus
from ...dynamics.bearing_friction import no_force
from ...mechanism.query.time_steps import TROUBLE
from ..events.singular_start import off_branch
from ..system.step_records import Steps
from ..system.system import System

DEAD_CENTRE = 1e-2  # a smaller pivot at the end of a driven run that failed
AT_ONCE = 1e-2  # [rad, or times L]: a run that ends after so little motion failed because of its start
STILL = 1e-7  # of the time since 0: shorter steps,
ROUNDING = 1e-14  # [rad, or times L], in which nothing moves further than this,
MANY = 200  # so many of them one after another, make no progress


def trouble(status: StepStatus, system: System, first: Steps, last: Steps | None) -> str:
    """Why the steps of a run ended, in words.

    Args:
        status: of the step that failed.
        system: what moved.
        first: where it started.
        last: the last state; None where the run could not start.
    """
    end = first if last is None else last
    if status == StepStatus.UNSETTLED:
        return f"Stopped after t = {end.t[-1]:.9g} s: {no_force(system.model)}"
    said = f"Stopped after t = {end.t[-1]:.9g} s: {TROUBLE[status]}."
    if last is None or system.nc == 0:
        return said
    if system.has_drives and not last.pivot[-1] > DEAD_CENTRE:
        drives = system.model.drives
        names = ", ".join(repr(name) for name, one in system.model.constraints if one in drives)
        return said + (
            f" There the mechanism is next to a singular pose (smallest pivot {last.pivot[-1]:.0e}), such as"
            f" a dead centre, and driven by {names}: it cannot follow a drive beyond its reach."
            " mech.assemble(t=...) shows where it can."
        )
    travel = (last.t[-1] - first.t[0]) * np.max(np.abs(first.v[0] / system.units.unit), initial=0.0)
    if not travel < AT_ONCE or not (why := off_branch(system, first[:1])):
        return said
    return f"{said} {why}"


def stand_still(before: Steps, now: Steps, count: int, system: System) -> bool:
    """Whether the last steps, so many, were so short that none moved a coordinate by more than its rounding.

    Args:
        before: the state before them.
        now: the last state.
        count: how many there were.
        system: what moves.
    """
    h = float(now.t[0] - before.t[0]) / max(count, 1)
    speed = max(float(np.max(np.abs(at.v / system.units.unit), initial=0.0)) for at in (before, now))
    return count >= MANY and h < STILL * abs(now.t[0]) and h * speed < ROUNDING
