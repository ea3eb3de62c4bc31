"""Collision shapes of URDF, SDF and USD as surfaces, and which of them may touch.

These files say what the shapes are, and hardly which of them meet. As in most simulators shapes do not touch
whose bodies are fixed to each other or joined by a joint, also by one that closes a loop. Nor do shapes of a
robot that are inside each other at its rest pose: `FileSpec.compile` finds them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sarrus.errors import SarrusError
from sarrus.formats.collisions.hulls import CORNERS, collision_hull
from sarrus.formats.reading.file_spec import FileSpec
from sarrus.formats.reading.messages import Omitted
from sarrus.models.base.pose import Pose
from sarrus.models.contacts.table import Touchable
from sarrus.models.shapes.convex_shapes import ConvexMesh, HalfSpace
from sarrus.models.shapes.mesh_files import read_triangles
from sarrus.models.shapes.shapes import Shape
from sarrus.models.tree.coordinates import claim

FRICTION = 1.0  # where a file says none: the default of SDF
BODILESS = "collision shape that is not modelled"


@dataclass(frozen=True)
class CollisionShape:
    """One collision shape of a file.

    Attributes:
        name: What the file calls it; "" where it does not.
        body: Its body here.
        shape: What touches.
        at: Its frame in that of the body.
        law: friction, restitution, torsion and rolling of the surface.
        group: What the format says of who touches whom.
    """

    name: str
    body: str
    shape: Shape
    at: Pose
    law: dict[str, float] = field(default_factory=dict)
    group: Any = None


def surface_name(wanted: str, taken: set[str]) -> str:
    """A free name of a surface: without "*" and "/", which stand for others; taken from now on."""
    return claim(wanted.replace("*", "_").replace("/", "_"), taken)


class CollisionReader:
    """Gathers the collision shapes of a file and declares surfaces and pairs.

    Args:
        spec: The description that grows.
        omitted: Gets what is not modelled.
        corners: How many corners hulls of meshes keep; None: all.
    """

    def __init__(self, spec: FileSpec, omitted: Omitted, corners: int | None = CORNERS) -> None:
        self._spec, self._omitted, self._corners = spec, omitted, corners
        self._shapes: list[CollisionShape] = []
        self._fixed_to: dict[str, str] = {}
        self._joined: list[tuple[str, str]] = []

    def fix(self, body: str, parent: str) -> None:
        """Note that a body is fixed to another."""
        self._fixed_to[self._whole(body)] = self._whole(parent)

    def join(self, body: str, other: str) -> None:
        """Note that a joint leads from one body to another."""
        self._joined.append((body, other))

    def add(self, one: CollisionShape) -> None:
        """A shape that may touch."""
        self._shapes.append(one)

    def drop(self, kind: str, name: str, line: int = 0) -> None:
        """List a shape that is no surface."""
        self._omitted.drop(f"{BODILESS} ({kind})", name, line)

    def hull_of_file(self, path: str, scale: Sequence[float], name: str, line: int = 0) -> Shape | None:
        """The hull of a mesh file times a scale (3,); None, and listed, where it cannot be read."""
        try:
            return self.hull(read_triangles(path).reshape(-1, 3) * scale, name)
        except SarrusError as error:
            self.drop(f"mesh: {str(error).rstrip('.')}", name, line)
            return None

    def hull(self, points: Any, name: str) -> Shape | None:
        """The hull of points (n, 3) [m]; None, and listed, where they span no volume."""
        try:
            corners, inside = collision_hull(points, self._corners)
            shape = ConvexMesh(corners)
        except SarrusError:
            self.drop("a flat mesh", name)
            return None
        if inside > 0.0:
            self._omitted.simplified(name, inside)
        return shape

    def declare(self, may_touch: Callable[[CollisionShape, CollisionShape], bool]) -> None:
        """Declare all surfaces, and those pairs of two bodies that the format lets touch."""
        taken: set[str] = set()
        can_touch = Touchable()
        named = [(self._declared(one, taken), one) for one in self._shapes]
        surfaces = {one.name: one for one in self._spec.surfaces}
        apart = {frozenset(map(self._whole, pair)) for pair in self._joined}
        for (a, one), (b, two) in itertools.combinations(named, 2):
            if not self._are_separate(one, two, apart) or not may_touch(one, two):
                continue
            if isinstance(two.shape, HalfSpace):  # normals point away from it
                a, b, one, two = b, a, two, one
            if not can_touch(surfaces[a], surfaces[b]):
                kinds = f"{type(one.shape).__name__} and a {type(two.shape).__name__}"
                self._omitted.drop(f"contact of a {kinds}", f"{a}/{b}")
                continue
            self._spec.contact(a, b)
            if not isinstance(one.shape, HalfSpace):
                self._spec.not_inside.add(f"{a}/{b}")

    def _declared(self, one: CollisionShape, taken: set[str]) -> str:
        """Declare a surface; what it is called."""
        name = surface_name(one.name or f"{one.body}_collision", taken)
        self._spec.surface(name, one.body, one.shape, one.at, **{"friction": FRICTION, **one.law})
        return name

    def _are_separate(self, one: CollisionShape, two: CollisionShape, apart: set[frozenset[str]]) -> bool:
        """Whether two shapes are on two bodies that no joint joins; planes touch neighbours, too."""
        a, b = self._whole(one.body), self._whole(two.body)
        planes = isinstance(one.shape, HalfSpace) or isinstance(two.shape, HalfSpace)
        return a != b and (planes or frozenset((a, b)) not in apart)

    def _whole(self, body: str) -> str:
        """The body that stands for all that is fixed to it."""
        while body in self._fixed_to:
            body = self._fixed_to[body]
        return body
