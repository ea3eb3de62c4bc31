"""Forces and moments that a mechanism is declared with, as arrows with values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from . import triangles as tri
from .view import Placed

FORCE, MOMENT = "#b3541e", "#6a4c93"
LONGEST = 0.25  # of an arrow, over the size of the machine


@dataclass(frozen=True)
class ShownLoad:
    """An arrow that ends where the force acts, or turns about the moment.

    Attributes:
        name: Of the force.
        color: As "#rrggbb".
        unit: "N" or "N m".
        tips: Where it acts in the world [m], (n, 3).
        vectors: In world axes [N, N m], (n, 3).
    """

    name: str
    color: str
    unit: str
    tips: Array
    vectors: Array

    @property
    def is_moment(self) -> bool:
        """Whether it turns."""
        return self.unit == "N m"

    def line(self, scale: float, i: int = 0) -> Array:
        """The arrow as a line (n, 3) [m] at pose number i; that of a moment has a head."""
        if not self.is_moment:
            return np.array([self.tips[i] - scale * self.vectors[i], self.tips[i]])
        moment = scale * self.vectors[i]
        ring, way = tri.turning_line(self.tips[i], moment)
        back, aside = 0.1 * np.linalg.norm(moment) * way, 0.18 * (ring[-1] - self.tips[i])
        return np.array([*ring, ring[-1] - back + aside, ring[-1], ring[-1] - back - aside])

    def surface(self, scale: float, thick: float, i: int = 0) -> tri.Triangles:
        """The arrow as triangles at pose number i."""
        if self.is_moment:
            return tri.turning_arrow(self.tips[i], scale * self.vectors[i], thick)
        foot, tip = self.line(scale, i)
        return tri.arrow(foot, tip, thick)

    def text(self, i: int = 0) -> str:
        """Name and value at pose number i."""
        return f"{self.name}: {float(np.linalg.norm(self.vectors[i])):.4g} {self.unit}"


def given_loads(mech: Mechanism, placed: Placed) -> list[ShownLoad]:
    """Those of all forces of a mechanism that say what a picture shows."""
    found = []
    for name, force in mech.model.forces:
        for load in force.drawing().loads:
            tips = placed.points([load.at])[:, 0]
            still = np.broadcast_to(load.vector, tips.shape)
            vectors = placed.along(load.at[0], load.vector) if load.follows else still
            color, unit = (MOMENT, "N m") if load.is_moment else (FORCE, "N")
            found.append(ShownLoad(name, color, unit, tips, np.array(vectors)))
    return found


def arrow_scales(loads: list[ShownLoad], size: float) -> dict[str, float]:
    """Length of arrows per newton and per newton metre: the longest of each unit have the same length [m]."""
    most: dict[str, float] = {}
    for load in loads:
        largest = float(np.linalg.norm(load.vectors, axis=1).max())
        most[load.unit] = max(most.get(load.unit, 0.0), largest)
    return {unit: LONGEST * size / value if value > 0.0 else 0.0 for unit, value in most.items()}
