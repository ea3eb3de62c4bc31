"""Reactions: the wrench that a constraint between two bodies exerts on body b at B, from its multipliers.

Row i does the power lam_i phi_i' on the relative twist of b, so lam_i W_i acts on b, with the wrench W_i of
which the kernel makes J (kernels/constraints/row.hpp), taken about B. a receives the opposite wrench at the
same point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, one_of
from ..errors import unknown_name
from ..models.drawing import Frame
from ..models.model import Model

FRAMES = ("A", "B", "a", "b", "world")


@dataclass(frozen=True)
class RowWrenches:
    """Wrenches at one pose, world axes.

    Attributes:
        W: Wrench of each row on b about B for a multiplier of one, (nc, 6); zero for rows without bodies.
        at: Point B of each element, (ne, 3).
    """

    W: Array
    at: Array


def reaction(model: Model, R_WB: Array, wrenches: RowWrenches, lam: Array, name: str, *, frame: str) -> Array:
    """Wrench [force; moment] (6,) on b at B of the constraint `name`, in the axes of `frame`.

    Args:
        model: whose constraint.
        R_WB: rotations of the bodies, (nb, 3, 3).
        wrenches: of its rows at that pose.
        lam: multipliers (nc,).
        name: of a loop, or of another constraint between two bodies.
        frame: axes to express it in: "A", "B" (the constraint's frames), "a", "b" (the bodies) or "world".
    """
    group = next((g for g in model.groups if g.name == name), None)
    if group is None or group.element < 0:
        loops = [g.name for g in model.groups if g.element >= 0]
        kind = (
            "loop" if group is None else f"loop ({group.kind} has no wrench; its multiplier is in lam); got"
        )
        raise unknown_name(kind, name, loops)
    wrench = lam[group.rows] @ wrenches.W[group.rows]
    return in_axes(model, R_WB, dict(model.constraints)[name].ends(), frame, wrench)


def in_axes(model: Model, R_WB: Array, ends: tuple[Frame, Frame], frame: str, wrench: Array) -> Array:
    """A wrench (6,) in world axes, in those of frame "A" or "B", of their body "a" or "b", or "world"."""
    one_of(frame, "`frame`", FRAMES)
    axes = np.eye(3)
    if frame != "world":
        end = ends["AaBb".index(frame) // 2]
        axes = R_WB[model.body_index(end.body)] @ (end.at.rotation if frame in "AB" else axes)
    return np.concatenate([axes.T @ wrench[:3], axes.T @ wrench[3:]])
