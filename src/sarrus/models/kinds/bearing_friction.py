"""BearingFriction: dry friction of a joint that grows with the load on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array, nonnegative, text
from ...errors import ModelError
from ..base.kind import Checks
from ..tree.tree import Tree
from .forces import Force, ForceTable
from .parameters import COORDINATE_FORCES, kind_number

__all__ = ["BearingFriction"]

LARGEST_MU = 1.5  # rubber on dry asphalt is near 1
LARGEST_RADIUS = 10.0  # of the mechanism's length: millimetres taken for metres are far beyond
SHORTEST_GUIDE = 1e-3  # of the mechanism's length


@dataclass(frozen=True)
class BearingFriction(Force):
    """Dry friction of a joint, mu times the load on it; it sticks. Adds to other friction of the joint.

    Of a hinge with journal radius r under the radial force F: torque up to mu r |F|. Of a slide under the
    force F across it: force up to mu |F|. With a guide of length b, which also carries the moment M across
    the slide at the middle of the guide: mu (|F/2 + e x M/b| + |F/2 - e x M/b|), e its direction.

    Args:
        coordinate: Name of a Revolute or Prismatic joint. The middle of a guide is the origin of its body
            frame.
        mu: Coefficient of friction, not negative; from 1.5 on `compile` warns.
        radius: Of the journal of a hinge [m]; `compile` warns of one beyond ten times the mechanism's length.
        length: Of the guide of a slide [m]; 0: moments do not count. `compile` warns of one below 1/1000 of
            the mechanism's length.
    """

    needs_position: ClassVar[bool] = False
    sticks: ClassVar[bool] = True
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
        owner = tree.by_name.owners[k]
        kind = type(owner.joint).__name__
        if kind not in ("Revolute", "Prismatic"):
            raise ModelError(f"{where}: a BearingFriction needs a Revolute or Prismatic joint, got {kind}.")
        given, other = ("radius", "length") if kind == "Revolute" else ("length", "radius")
        if getattr(self, other) or (kind == "Revolute" and not self.radius):
            raise ModelError(
                f"{where}: BearingFriction of a {kind} joint takes {given}, and no {other}; got radius"
                f" {self.radius:g} and length {self.length:g}."
            )
        kinds, at = (table.coordinates.columns.get(name, []) for name in ("cf_kind", "cf_v"))
        if (kind_number(COORDINATE_FORCES, "BearingFriction"), k) in zip(kinds, at, strict=True):
            raise ModelError(
                f"{where}: {self.coordinate!r} has a BearingFriction already, and each would carry the whole"
                " load of the joint. Give one, with the mean of mu radius over its bearings."
            )
        place = tree.places[tree.body_index(owner.name)]
        size = {"mu": self.mu, "radius": self.radius, "length": self.length}
        parameters = {"direction": 0.0, "node": place.node, **size, "p": place.X_NB.xyz}
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
                f"the length of the guide, {self.length:g} m, is below 1/1000 of the mechanism's length"
                f" {length:.3g}, so that moments jam it"
            )
        return ""

    def tension(self, states: Any) -> Array:
        """Its part (B,) [N m, N] of the dry friction of the joint, positive against positive speed."""
        return np.asarray(states.dry_friction(self.coordinate))

    def work(self) -> str:
        return "joints have friction" if self.mu else ""
