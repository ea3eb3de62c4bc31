"""Latching: the constraint that holds two bodies, or a coordinate, just where they are now.

A loop that closes during a run rarely finds its frames exactly on top of each other. A latched copy has its
frame A, its length or its offset moved to where B, the distance or the sum of the coordinates is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ..errors import InputError
from ..models.pose import Pose
from .closures import Closure
from .couplings import Coupling
from .points import Distance, PointOnLine, PointOnPlane
from .rows import Constraint


def latched(
    name: str, constraint: Constraint, pose: Callable[[str], Pose], position: Callable[[str], float]
) -> Constraint:
    """A copy of a constraint for which phi = 0 at the present pose.

    Args:
        name: of the constraint, for messages.
        constraint: to copy.
        pose: X_WB of a body, by its name.
        position: of a coordinate [rad, m], by its name.
    """
    if isinstance(constraint, Closure):
        X_aB = pose(constraint.a).inverse() @ pose(constraint.b) @ constraint.at_b
        return dataclasses.replace(constraint, at_a=X_aB)
    if isinstance(constraint, Distance):
        ends = pose(constraint.b).apply(constraint.p_b) - pose(constraint.a).apply(constraint.p_a)
        return dataclasses.replace(constraint, length=float(np.linalg.norm(ends)))
    if isinstance(constraint, (PointOnLine, PointOnPlane)):
        p_a = pose(constraint.a).inverse().apply(pose(constraint.b).apply(constraint.p_b))
        return dataclasses.replace(constraint, p_a=p_a)
    if isinstance(constraint, Coupling):
        total = sum(c * position(coordinate) for coordinate, c in dict(constraint.terms).items())
        return dataclasses.replace(constraint, offset=total)
    raise InputError(
        f"constraint {name!r} ({type(constraint).__name__}) cannot be latched: only loops, Distance,"
        " PointOnLine, PointOnPlane and Coupling can hold what they find. Use latch=False."
    )
