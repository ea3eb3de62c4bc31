"""What a run that failed says."""

from __future__ import annotations

from ..._kernel import StepStatus
from ..system.step_records import Steps
from ..system.system import System

DEAD_CENTRE = 1e-2  # a smaller pivot at the end of a driven run that failed
TROUBLE = {
    StepStatus.SINGULAR_INERTIA: "the mass matrix is not positive definite along the directions that the"
    " constraints leave free; give what moves there mass or inertia",
    StepStatus.NOT_FINITE: "numbers grew beyond all bounds; the step is too long for this motion, or the"
    ' system is unstable: take a smaller dt, or method="dopri5"',
    StepStatus.NOT_CLOSED: "the constraints could not be closed at the end of a step; it is too long for this"
    " motion, or drives ask for what the mechanism cannot do: take a smaller dt",
    StepStatus.STEP_COLLAPSED: "the step size fell below the resolution of time; the solution is not smooth"
    " there, or the tolerances rtol, atol cannot be met",
    StepStatus.UNRESOLVED: "the motion passes close to a singular pose that is not on the constraints, and"
    " steps of this size would jump to another branch there: take a smaller dt, or an adaptive method",
}


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
