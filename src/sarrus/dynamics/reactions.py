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
from ..models.model import Model
from ..models.shapes.drawing import Frame

FRAMES = ("A", "B", "a", "b", "world")


@dataclass(frozen=True)
class RowWrenches:
    """Wrenches at one pose, or at a batch of them (batch axes in front), world axes.

    Attributes:
        W: Wrench of each row on b about B for a multiplier of one, (nc, 6); zero for rows without bodies.
        at: Point B of each element, (ne, 3).
    """

    W: Array
    at: Array

    def of_rows(self, rows: slice, lam: Array) -> Array:
        """Wrench (6,) of some rows with the multipliers lam (nc,)."""
        return np.asarray(np.einsum("...r,...rk->...k", lam[..., rows], self.W[..., rows, :]))


def reaction(model: Model, R_WB: Array, wrenches: RowWrenches, lam: Array, name: str, *, frame: str) -> Array:
    """Wrench [force; moment] (6,) on b at B of a constraint, in the axes of `frame`. Batch axes allowed.

    Args:
        model: whose constraint.
        R_WB: rotations of the bodies, (nb, 3, 3).
        wrenches: of its rows at that pose.
        lam: multipliers (nc,).
        name: of a loop, or of another constraint between two bodies.
        frame: axes to express it in: "A", "B" (the constraint's frames), "a", "b" (the bodies) or "world".
    """
    group = {one.name: one for one in model.groups}.get(name)
    if group is None or group.element < 0:
        wrenchless = "" if group is None else f" ({group.kind} has no wrench; its multiplier is in lam); got"
        raise unknown_name(f"loop{wrenchless}", name, [one.name for one in model.groups if one.element >= 0])
    wrench = wrenches.of_rows(group.rows, lam)
    return in_axes(model, R_WB, dict(model.constraints)[name].ends(), frame, wrench)


def in_axes(model: Model, R_WB: Array, ends: tuple[Frame, Frame], frame: str, wrench: Array) -> Array:
    """A wrench (6,) in world axes, in those of frame "A" or "B", of their body "a" or "b", or "world"."""
    one_of(frame, "`frame`", FRAMES)
    axes = np.eye(3)
    if frame != "world":
        end = ends["AaBb".index(frame) // 2]
        axes = R_WB[..., model.body_index(end.body), :, :] @ (end.at.rotation if frame in "AB" else axes)
    parts = [np.einsum("...ij,...i->...j", axes, x) for x in (wrench[..., :3], wrench[..., 3:])]
    return np.concatenate(parts, axis=-1)
