"""What a studio needs to edit a planar mechanism: its description, and how the kernel's table is laid out."""

from __future__ import annotations

from typing import Any

from ..errors import SarrusError
from ..formats.json import spec_of
from ..mechanism.mechanism import Mechanism
from ..models.binary_table import table_layout
from .scenes.view import Plane

# Kinds whose points have other names than those that pointsIn() of studio/description.js knows
POINTS_OF_THEIR_OWN = {"Rolling"}


def edit_data(mech: Mechanism, plane: Plane | None) -> dict[str, Any] | None:
    """Description and layout, or the reason why there is no editing; None where it moves in space."""
    if plane is None:
        return None
    try:
        spec = spec_of(mech)
        if spec.actuated is None:  # what is drawn in the page adds no motors
            for motor in mech.model.actuators:
                spec.actuate(motor.name, limits=(motor.lower, motor.upper))
        document = spec.to_dict()
    except SarrusError as error:
        return {"why": str(error)}
    for name, one in (*mech.model.constraints, *mech.model.forces):
        if type(one).__name__ in POINTS_OF_THEIR_OWN:
            return {"why": f"{name!r} ({type(one).__name__}) cannot be edited in a page."}
    axes = {"right": plane.right.tolist(), "up": plane.up.tolist(), "labels": list(plane.labels())}
    return {"document": document} | axes | table_layout()
