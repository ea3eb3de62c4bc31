"""What the projection of a state onto the constraints reports (kernels/solve/search/nearest_state.hpp)."""

from __future__ import annotations

import numpy as np

from .._kernel import PROJECTION
from ..errors import AssemblyError, ModelError, SarrusError

LEFT_OUT, CLOSE, KEPT = (np.int8(PROJECTION[name]) for name in ("LEFT_OUT", "CLOSE", "KEPT"))
NO_INERTIA = PROJECTION["NO_INERTIA_AT"]

TROUBLE = {
    PROJECTION["NOT_CLOSED"]: (
        "the constraints do not close on the way from the given pose: the way ends where rows lose rank"
    ),
    PROJECTION["NOT_NEAREST"]: "the search for the nearest pose did not converge",
    NO_INERTIA: "the mass matrix is not positive definite",
    PROJECTION["UNDEFINED"]: "some row is not defined at the pose or on the way from it",
    PROJECTION["NO_VELOCITY"]: "no velocity satisfies all rows there: their prescribed rates contradict",
}


def cannot_project(owner: str, status: int, gap: float) -> SarrusError:
    """The error for one state that cannot be projected, open by `gap` [m]."""
    kind = ModelError if status == NO_INERTIA else AssemblyError
    return kind(
        f"project: {TROUBLE[status]} ({owner}, open by {gap:.2g} m). Give a pose nearer to a closed one;"
        " assemble(q) finds one, on whichever branch it lies."
    )
