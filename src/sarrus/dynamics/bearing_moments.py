"""Moments across the axes of joints whose BearingFriction counts forces alone.

A bearing as wide as its journal's diameter 2 r carries a force F and a moment M with F/2 + M/(2 r) at one
edge and F/2 - M/(2 r) at the other. Up to M = r F both press the same way and mu r F is the whole friction.
Beyond that the resultant lies outside the bearing and friction grows with M. Of a slide without a length the
length L of the mechanism stands for r, in the first state alone: a face that presses on another carries a
resultant that wanders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..models.model import Model

ROUNDING = 1e-9  # of the largest force times L: moments below are rounding


def ignored_moments(model: Model, wrench: Callable[[str], Array]) -> str:
    """Which joints carry moments that their friction ignores, as a sentence; "" if none does.

    Args:
        model: whose joints.
        wrench: reaction (n, 6) of the joint of a body by its name, in the axes of the body.
    """
    L, said = float(model.length), []
    for name, force in model.forces:
        given: Any = force
        if not (force.by_load and given.across_axis) or given.length:
            continue
        owner = model.tree.by_name.owners[model.tree.coordinate(given.coordinate, "")]
        axis, loads = _axis(owner.joint), wrench(owner.name).reshape(-1, 6)
        loads = loads if given.radius else loads[:1]
        F, M = (np.linalg.norm(np.cross(axis, x), axis=-1) for x in (loads[:, :3], loads[:, 3:]))
        excess = M - (given.radius or L) * F
        if np.max(excess, initial=0.0) > ROUNDING * L * np.max(F, initial=0.0):
            k = int(np.argmax(excess))
            said.append(f"{name!r} (joint {owner.name!r}: {M[k]:.4g} N m beside {F[k]:.4g} N)")
    if not said:
        return ""
    return (
        f"moments across the axis that BearingFriction ignores: {', '.join(said)}. Friction is too small"
        " there: give length=, the distance of two bearings or the length of a guide, and middle= (where)."
    )


def _axis(hinge_or_slide: Any) -> Array:
    """Unit vector of the axis of a joint in the axes of its body, (3,)."""
    return np.asarray(hinge_or_slide.direction)
