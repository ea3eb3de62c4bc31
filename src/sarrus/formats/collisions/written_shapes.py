"""Shapes of surfaces in the words that robot files share."""

from __future__ import annotations

from dataclasses import dataclass

from sarrus.models.base.pose import Pose
from sarrus.models.shapes.convex_shapes import Capsule, Ellipsoid, HalfSpace
from sarrus.models.shapes.shapes import Box, Cylinder, Shape, Sphere

WORDS: dict[type[Shape], str] = {
    Box: "box", Sphere: "sphere", Cylinder: "cylinder", Capsule: "capsule", Ellipsoid: "ellipsoid"
}  # fmt: skip


@dataclass(frozen=True)
class WrittenShape:
    """A shape as files say it.

    Attributes:
        kind: "box", "sphere", "cylinder", "capsule", "ellipsoid", "halfspace" or "hull".
        size: Edges; radius; radius and length; radii; nothing; corners x y z one after the other [m].
        at: Its frame in that of the surface; a half space lies below the plane z = 0 of it.
    """

    kind: str
    size: tuple[float, ...]
    at: Pose


def written_shape(shape: Shape) -> WrittenShape | None:
    """The shape; None for one that is no convex solid."""
    if type(shape) in WORDS:
        return WrittenShape(WORDS[type(shape)], tuple(map(float, shape.sizes())), shape.at)
    known = shape.in_kernel()
    at = shape.at @ known.at
    if isinstance(shape, HalfSpace):
        return WrittenShape("halfspace", (), at)
    if known.kind == "Polyhedron":
        corners = 3 * int(known.parameters["corners"])
        return WrittenShape("hull", tuple(map(float, list(known.data)[:corners])), at)
    return None
