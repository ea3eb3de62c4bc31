"""BearingFriction: dry friction of a joint that grows with the load on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array, nonnegative, text
from ..errors import ModelError
from .axes import direction
from .bodies import FRICTION_SPEED
from .forces import Force, ForceTable
from .kinds import Checks
from .tree import Tree

__all__ = ["BearingFriction"]


@dataclass(frozen=True)
class BearingFriction(Force):
    """Dry friction of a joint, mu times the load on it; it sticks. Adds to other friction of the joint.

    Of a hinge with journal radius r under the radial force F: torque up to mu r |F|. Of a slide under the
    force F across it: force up to mu |F|. With a guide of length b, which also carries the moment M across
    the slide at the middle of the guide: mu (|F/2 + e x M/b| + |F/2 - e x M/b|), e its direction.

    Args:
        coordinate: Name of a Revolute or Prismatic joint. The middle of a guide is the origin of its body
            frame.
        mu: Coefficient of friction, not negative.
        radius: Of the journal of a hinge [m].
        length: Of the guide of a slide [m]; 0: moments do not count.
    """

    needs_position: ClassVar[bool] = False
    checks: ClassVar[Checks] = {
        "coordinate": text, "mu": nonnegative, "radius": nonnegative, "length": nonnegative
    }  # fmt: skip
    coordinate: str
    mu: float
    radius: float = 0.0
    length: float = 0.0

    @property
    def by_load(self) -> bool:  # type: ignore[override]
        """Whether there is any."""
        return self.mu > 0.0

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        k = tree.coordinate(self.coordinate, where)
        joint = tree.by_name.owners[k].joint
        kind = type(joint).__name__
        if kind not in ("Revolute", "Prismatic"):
            raise ModelError(f"{where}: a BearingFriction needs a Revolute or Prismatic joint, got {kind}.")
        given, other = ("radius", "length") if kind == "Revolute" else ("length", "radius")
        if getattr(self, other) or (kind == "Revolute" and not self.radius):
            raise ModelError(
                f"{where}: BearingFriction of a {kind} joint takes {given}, and no {other}; got radius"
                f" {self.radius:g} and length {self.length:g}."
            )
        table.add_dry_friction(k, 0.0, 0.0, FRICTION_SPEED)

    def work(self) -> str:
        return "joints have friction" if self.mu else ""

    def bound(self, wrench: Array, axis: Array) -> Array:
        """Largest friction (...) [N m, N] under wrenches (..., 6) of the joint, whose axis is (3,).

        Args:
            wrench: [force; moment] at the origin of its body, in its axes.
            axis: in the same axes.
        """
        force, moment = (x - (x @ axis)[..., None] * axis for x in (wrench[..., :3], wrench[..., 3:]))
        if self.radius:
            return np.asarray(self.mu * self.radius * np.linalg.norm(force, axis=-1))
        couple = np.cross(axis, moment) / self.length if self.length else np.zeros_like(force)
        ends = (np.linalg.norm(0.5 * force + sign * couple, axis=-1) for sign in (1.0, -1.0))
        return np.asarray(self.mu * sum(ends))

    def axis(self, tree: Tree) -> Array:
        """Direction (3,) of the axis in the axes of the joint."""
        joint = tree.by_name.owners[tree.coordinate(self.coordinate, "")].joint
        return direction(joint.axis)  # type: ignore[attr-defined]
