"""Solid: something that every painter can show, fixed on one body or stretched between two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...models.shapes.drawing import Anchor
from . import triangles as tri
from .triangles import Triangles

STEEL, DARK, TIMBER, FOOT = "#8c959e", "#59626b", "#d9a441", "#a4abb3"


@dataclass(frozen=True)
class Solid:
    """Something that can be painted.

    Attributes:
        kind: "bar" (round, between two points), "coil" (a spring between them), "ball", "box", "drum" (a
            short cylinder about z), "face" (a flat outline) or "mesh" (triangles).
        anchors: Its ends, its middle, or its corners; of a mesh its middle.
        color: As "#rrggbb".
        radius: Of bars, coils, balls and drums [m].
        half: Half edges of a box (3,) or half width of a drum (1,) [m].
        turn: Rotation of box or drum in the frame of its body, (3, 3).
        alpha: Opacity.
        name: What one reads when pointing at it.
        mesh: Triangles of a mesh, in the frame of its body.
        spring: Stiffness [N/m] and length at rest [m] of a coil whose force follows from its length.
    """

    kind: str
    anchors: tuple[Anchor, ...]
    color: str
    radius: float = 0.0
    half: tuple[float, ...] = ()
    turn: Array | None = None
    alpha: float = 1.0
    name: str = ""
    mesh: Triangles | None = None
    spring: tuple[float, float] | None = None

    @property
    def body(self) -> str | None:
        """The body that it is fixed on; None if it is stretched between two."""
        bodies = {body for body, _ in self.anchors}
        return self.anchors[0][0] if len(bodies) == 1 else None

    def surface(self, points: Array | None = None) -> Triangles:
        """Triangles in the frame of its body or, given world points (n, 3) of its anchors, in the world."""
        at = np.array([point for _, point in self.anchors]) if points is None else points
        if self.kind == "bar":
            return tri.bar(at[0], at[1], self.radius)
        if self.kind == "coil":
            wide = min(3.5 * self.radius, 0.25 * float(np.linalg.norm(at[1] - at[0])))
            return tri.coil(at[0], at[1], wide, 0.35 * self.radius)
        turn = np.eye(3) if self.turn is None else self.turn
        if self.kind == "ball":
            return tri.ball(self.radius).moved(turn, at[0])
        if self.kind == "box":
            return tri.box(2.0 * np.array(self.half)).moved(turn, at[0])
        if self.kind == "drum":
            return tri.cylinder(self.radius, 2.0 * self.half[0]).moved(turn, at[0])
        if self.kind == "face":
            fan = np.array([(0, k, k + 1) for k in range(1, len(at) - 1)])
            return Triangles(at, np.concatenate([fan, fan[:, ::-1]]))
        assert self.mesh is not None
        return self.mesh


def meshed(body: str, surface: Triangles, color: str, name: str, alpha: float = 1.0) -> Solid:
    """Triangles in the frame of a body as a solid."""
    middle = 0.5 * (surface.points.min(axis=0) + surface.points.max(axis=0))
    return Solid("mesh", ((body, middle),), color, name=name, mesh=surface, alpha=alpha)
