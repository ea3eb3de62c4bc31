"""Surfaces and contacts of a description."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Self

from numpy.typing import ArrayLike

from ...arrays import text
from ...errors import InputError, ModelError, unknown_name
from ...models.base.pose import Pose
from ...models.contacts.surfaces import ContactPair, Surface
from ...models.shapes.shapes import Shape
from .flexible_bodies import FlexibleBodies
from .recipe import declares


class ContactDeclarations(FlexibleBodies):
    """Shapes that can touch, and which of them do."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._surfaces: dict[str, Surface] = {}
        self._contacts: dict[str, ContactPair] = {}

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """Surfaces so far."""
        return tuple(self._surfaces.values())

    @property
    def contacts(self) -> tuple[ContactPair, ...]:
        """Pairs of surfaces that may touch so far."""
        return tuple(self._contacts.values())

    @declares
    def surface(
        self,
        name: str,
        body: str,
        shape: Shape,
        at: Pose | str | ArrayLike | None = None,
        friction: float | None = None,
        restitution: float | None = None,
        torsion: float = 0.0,
        rolling: float = 0.0,
    ) -> Self:
        """Give a body a shape that can touch others; `contact` says which of them do.

        Args:
            name: Unique among surfaces.
            body: Body, part, frame or "ground".
            shape: Sphere, Capsule, Cylinder, Box, Ellipsoid, HalfSpace, ConvexMesh, Profile, Plate or Mesh
                (its convex hull). It stands at `at`, and there at its own; density and mass do not count.
            at: Pose in the frame of the body, of a part of a drawing in the world; or a point of the drawing,
                its name or in the world [m] (3,), with axes of the world as drawn; default: the body's frame.
            friction: Coefficient of friction, not negative. Of two surfaces that touch the smaller counts;
                None: that of the other one.
            restitution: 0 (no rebound) to 1 (no loss). Of two surfaces the larger counts; None: that of the
                other one, 0 where none has one.
            torsion: Largest moment about the normal, divided by the normal force [m].
            rolling: Largest moment that resists rolling, divided by the normal force [m].

        Returns:
            This spec.
        """
        what = f"surface {text(name, 'the name of a surface')!r}"
        self._require_bodies([body], what)
        if name in self._surfaces:
            raise ModelError(f"a surface called {name!r} exists already; names must differ.")
        if "*" in name or "/" in name:
            raise InputError(f"{what}: a name of a surface has no '*' and no '/', which stand for others.")
        X_BS = self._pose_on(body, at, what)
        law: dict[str, Any] = {"friction": friction, "restitution": restitution}
        surface = Surface(name, body, shape, X_BS, **law, torsion=torsion, rolling=rolling)
        surface.in_kernel()  # refuses shapes that cannot touch
        self._surfaces[name] = surface
        return self

    @declares
    def contact(
        self,
        a: str,
        b: str,
        name: str | None = None,
        friction: float | None = None,
        restitution: float | None = None,
    ) -> Self:
        """Say that two surfaces may touch. Surfaces that no contact names go through each other.

        Normals point from a to b, forces are those on b. The contact points of a pair are its slots: their
        number is fixed, their names are "a/b.0", "a/b.1" ...

        Args:
            a: Name of a surface, or a pattern: "foot*" stands for all whose names begin with foot. Pairs on
                one body are left out then.
            b: Another one.
            name: Of the pair; default "a/b".
            friction, restitution: Of this pair, instead of those of its surfaces.

        Returns:
            This spec.
        """
        pairs = list(self._pairs(text(a, "a surface of a contact"), text(b, "a surface of a contact")))
        if name is not None and len(pairs) > 1:
            raise InputError(
                f"contact {name!r}: {a!r} and {b!r} are {len(pairs)} pairs, one name is for one."
            )
        found = [ContactPair(name or f"{x}/{y}", x, y, friction, restitution) for x, y in pairs]
        known = {frozenset((one.a, one.b)): one.name for one in self.contacts}
        for one in found:
            if one.name in self._contacts or frozenset((one.a, one.b)) in known:
                raise ModelError(
                    f"contact {one.name!r}: {one.a!r} and {one.b!r} may touch already; say it once."
                )
        self._contacts |= {one.name: one for one in found}
        return self

    def _pairs(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """The pairs that two names or patterns stand for, each once."""
        many, seen = "*" in a or "*" in b, set()
        for x, y in itertools.product(self._matching(a), self._matching(b)):
            pair, body = frozenset((x, y)), self._surfaces[x].body
            on_one_body = body == self._surfaces[y].body
            if on_one_body and not many:
                raise ModelError(
                    f"contact of {x!r} and {y!r}: both are on {body!r}; a contact needs two bodies."
                )
            if not on_one_body and pair not in seen:
                seen.add(pair)
                yield x, y
        if not seen:
            raise InputError(f"contact of {a!r} and {b!r}: the surfaces of either are all on one body.")

    def _matching(self, pattern: str) -> list[str]:
        text(pattern, "a surface of a contact")
        found = [name for name in self._surfaces if fnmatchcase(name, pattern.replace("[", "[[]"))]
        if not found:
            raise unknown_name("surface", pattern, self._surfaces, "contact")
        return found
