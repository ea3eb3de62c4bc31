"""BearingFriction: dry friction of a joint that grows with the load on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array, nonnegative, number, text
from ...errors import ModelError
from ..base.kind import Checks
from ..tree.tree import Tree
from .forces import Force, ForceTable

__all__ = ["BearingFriction"]

LARGEST_MU = 1.5  # rubber on dry asphalt is near 1
LARGEST_RADIUS = 10.0  # of the mechanism's length: millimetres taken for metres are far beyond
SHORTEST_GUIDE = 1e-3  # of the mechanism's length


@dataclass(frozen=True)
class BearingFriction(Force):
    """Dry friction of a joint, mu times the load on it; it sticks. Adds to other friction of the joint.

    Of a hinge with journal radius r under the radial force F: torque up to mu r |F|. Of a slide under the
    force F across it: force up to mu |F|. A hinge with two bearings a distance b apart and a slide with a
    guide of length b also carry the moment M across the axis, at the middle between them: the factor |F|
    becomes |F/2 + e x M/b| + |F/2 - e x M/b|, e the direction of the axis.

    Args:
        coordinate: Name of a Revolute or Prismatic joint.
        mu: Coefficient of friction, not negative; from 1.5 on `compile` warns.
        radius: Of the journal of a hinge [m]; `compile` warns of one beyond ten times the mechanism's length.
        length: Distance of the two bearings of a hinge, or length of the guide of a slide [m]; 0: moments do
            not count, and `simulate` and `hold` warn of large ones. `compile` warns of one below 1/1000 of
            the mechanism's length.
        middle: Where the middle between the bearings, or of the guide, is along the axis, from the origin of
            the frame of the joint that moves [m].
    """

    needs_position: ClassVar[bool] = False
    sticks: ClassVar[bool] = True
    across_axis: ClassVar[bool] = True
    checks: ClassVar[Checks] = {
        "coordinate": text, "mu": nonnegative, "radius": nonnegative, "length": nonnegative, "middle": number
    }  # fmt: skip
    coordinate: str
    mu: float
    radius: float = 0.0
    length: float = 0.0
    middle: float = 0.0

    @property
    def size(self) -> float:
        """Friction per unit of load."""
        return self.mu * (self.radius or 1.0)

    @property
    def by_load(self) -> bool:  # type: ignore[override]
        """Whether there is any."""
        return self.mu > 0.0

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        k = tree.coordinate(self.coordinate, where)
        owner = tree.by_name.owners[k]
        kind = type(owner.joint).__name__
        if kind not in ("Revolute", "Prismatic"):
            raise ModelError(
                f"{where}: a BearingFriction needs a Revolute or Prismatic joint, got {kind}. A shaft in two"
                " bearings is one Revolute joint whose BearingFriction has length=, their distance."
            )
        if (kind == "Revolute") != (self.radius > 0.0):
            raise ModelError(
                f"{where}: BearingFriction of a {kind} joint takes"
                f" {'the radius of its journal' if kind == 'Revolute' else 'no radius'}; got radius"
                f" {self.radius:g} and length {self.length:g}."
            )
        if self.middle and not self.length:
            raise ModelError(
                f"{where}: middle of a BearingFriction says where the middle of its length is, but it has no"
                f" length; got middle {self.middle:g}. Give length= too."
            )
        if k in table.journals:
            raise ModelError(
                f"{where}: {self.coordinate!r} has a BearingFriction already, and each would carry the whole"
                " load of the joint. Give one, with the mean of mu radius over its bearings."
            )
        place = tree.places[tree.body_index(owner.name)]
        size = {"mu": self.mu, "radius": self.radius, "length": self.length}
        along = -self.middle if owner.backwards else self.middle
        joint: Any = owner.joint
        p = place.X_NB.apply(along * joint.direction)
        directed = dict.fromkeys(("source", "with", "against"), 0.0)
        parameters = {"direction": 0.0, "node": place.node, **size, "p": p, **directed}
        table.journals.add(k)
        table.coordinates.add("BearingFriction", parameters, q=max(tree.coordinate_q[k], 0), v=k)

    def doubt(self, length: float) -> str:
        if self.mu >= LARGEST_MU:
            return f"mu is {self.mu:g}; dry surfaces have 0.05 to 1, a percentage must be divided by 100"
        if self.radius > LARGEST_RADIUS * length:
            return (
                f"the radius of the journal, {self.radius:g} m, exceeds {LARGEST_RADIUS:g} times the"
                f" mechanism's length {length:.3g}"
            )
        if 0.0 < self.length < SHORTEST_GUIDE * length:
            return (
                f"the length of the bearing, {self.length:g} m, is below 1/1000 of the mechanism's length"
                f" {length:.3g}, so that moments jam it"
            )
        return ""

    def tension(self, states: Any) -> Array:
        """Its part (B,) [N m, N] of the dry friction of the joint, positive against positive speed."""
        return np.asarray(states.dry_friction(self.coordinate))

    def work(self) -> str:
        return "joints have friction" if self.mu else ""
