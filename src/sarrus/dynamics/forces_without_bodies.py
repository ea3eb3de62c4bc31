"""Forces between coordinates that load no bearing: what a Coupling stands for is not known to the bodies.

A Coupling of two coordinates says how they move together, not what ties them: teeth, a rope or a lever. Its
multiplier acts along the coordinates, so that the motion is right, but joints that would carry the tooth or
the rope do not. These are the joints on the way between the coupled bodies: those that carry some of them,
and not all from below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..models.model import Model
from .bearings import carried_bodies

SMALL = 1e-9  # of the largest force: smaller ones are rounding
CURE = (
    "Gear, Belt, a Cam with point= and elements between bodies load their bearings; add what is missing as a"
    " wrench (external=, ConstantWrench)"
)


def between_coordinates(model: Model, by_kernel: bool = False) -> dict[str, tuple[str, ...]]:
    """Constraints and forces that tie two coordinates or more, and no bodies: their coordinates by name.

    `by_kernel`: also those whose loads on bodies friction by load does not know.
    """
    declared = model.structure  # the names of a variant
    found = {
        name: constraint.coordinates()
        for group, (name, constraint) in zip(declared.groups, declared.constraints, strict=True)
        if group.element < 0 and not (constraint.loads_by_kernel if by_kernel else constraint.loads_bodies)
    }
    found |= {name: force.coordinates() for name, force in declared.user_forces if not force.bodies()}
    return {name: which for name, which in found.items() if len(which) > 1}


def passed_over(model: Model, coordinates: Iterable[str], joint: str) -> bool:
    """Whether the joint of a body lies between the bodies that these coordinates move."""
    tree = model.structure.tree
    owners = {tree.by_name.owners[tree.coordinate(name, "")].name for name in coordinates}
    index = model.body_index(joint)
    below = {model.body_names[k] for k in carried_bodies(model, index)}
    return bool(owners & below) and not owners <= below - {joint}


def worms_beside(model: Model, joint: str) -> list[str]:
    """Worms with friction between their teeth whose force the joint of a body bears, and friction by load of
    that joint leaves out."""
    given = dict(model.structure.constraints)
    found: list[Any] = [force for _, force in model.structure.forces if force.of_worm]
    gears = [force.gear for force in found]
    return [gear for gear in gears if passed_over(model, (given[gear].a, given[gear].b), joint)]


def unloading(model: Model, joint: str, lam: Array | None = None) -> list[str]:
    """Constraints and forces whose load the joint of a body lacks; with lam (..., nc) those that act.

    Without lam: whose load the friction of the joint lacks.
    """
    rows = {group.name: group.rows for group in model.groups}
    size = SMALL * float(np.max(np.abs(lam), initial=0.0)) if lam is not None else 0.0
    return [
        name
        for name, which in between_coordinates(model, by_kernel=lam is None).items()
        if passed_over(model, which, joint)
        and (lam is None or name not in rows or np.max(np.abs(lam[..., rows[name]]), initial=0.0) > size)
    ]


def without_loads(joint: str, names: Sequence[str]) -> str:
    """The sentence about a joint that lacks the load of these."""
    what = ", ".join(map(repr, names))
    return (
        f"the reaction of {joint!r} lacks the load of {what}: relations between coordinates move bodies and"
        f" load none of their bearings. {CURE}."
    )
