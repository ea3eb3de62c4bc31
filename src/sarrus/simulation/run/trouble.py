"""What a run that failed says."""

from __future__ import annotations

from ..._kernel import StepStatus
from ...mechanism.time_steps import TROUBLE
from ..system.step_records import Steps
from ..system.system import System

DEAD_CENTRE = 1e-2  # a smaller pivot at the end of a driven run that failed


def trouble(status: StepStatus, system: System, last: Steps | None, end: float) -> str:
    """Why the steps of a run ended at a time [s], in words.

    Args:
        status: of the step that failed.
        system: what moved.
        last: the last state; None where the run could not start.
        end: its time [s].
    """
    said = f"Stopped after t = {end:.9g} s: {TROUBLE[status]}."
    if last is None or not system.has_drives or last.pivot[-1] > DEAD_CENTRE:
        return said
    names = ", ".join(repr(group.name) for group in system.model.groups if group.kind == "Drive")
    return said + (
        f" There the mechanism is next to a singular pose (smallest pivot {last.pivot[-1]:.0e}), such as a"
        f" dead centre, and driven by {names}: it cannot follow a drive beyond its reach."
        " mech.assemble(t=...) shows where it can."
    )
