"""Flexibility: inertia, elasticity and damping of the deflections of a flexible body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...arrays import fixed_shape, numbers, text, whole
from ...errors import InputError, ModelError
from ..base.kind import Checks
from ..flexible.deflections import Deflections
from ..tree.tree import Tree
from .forces import Force, ForceTable

__all__ = ["Flexibility"]

SAME_INERTIA = 1e-9  # relative: mass and first moment of the body and of its deflections


def _names(value: object, what: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InputError(f"{what} must be names of bodies, got {value!r}.")
    return tuple(text(one, f"a name in {what}") for one in value)


def _flat(value: object, what: str) -> tuple[float, ...]:
    return tuple(numbers(value, what, 1).tolist())


@dataclass(frozen=True)
class Flexibility(Force):
    """What makes bodies that are tied by `Deflection` joints one flexible body.

    `MechanismSpec.flexible` declares it; its numbers are those of `kernels/tree/flexible.hpp`. The body has
    the mass, the centre of mass and the inertia of the whole when nothing is deflected.

    Args:
        body: Body whose frame floats with it.
        nodes: Bodies on Deflection joints, each on the one before, the first on `body`.
        stretches: Number of coordinates that stretch it.
        values: Mass [kg] (0: not said), first moment [kg m] (3,), then s (n, 3), c (n, 3), J (n, 6), M, K, D
            (n, n), s2 (n, n, 3), c2 (n, n, 3), J2 (n, n, 6), and of each stretch its coordinate and G (n, n),
            one behind the other, in the frame of the body.
    """

    deflects: ClassVar[bool] = True
    checks: ClassVar[Checks] = {"body": text, "nodes": _names, "stretches": whole, "values": _flat}
    body: str
    nodes: Sequence[str]
    stretches: int
    values: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = [n for n in range(1, 400) if self._size(n) == len(self.values)]
        if not fits:
            raise InputError(
                f"values of Flexibility must be 4 + 12 n + 15 n^2 + {self.stretches} (1 + n^2) numbers for n"
                f" deflections, got {len(self.values)}."
            )

    def _size(self, n: int) -> int:
        return 4 + 12 * n + 15 * n * n + self.stretches * (1 + n * n)

    @cached_property
    def deflections(self) -> Deflections:
        """Its numbers by name."""
        n = next(n for n in range(1, 400) if self._size(n) == len(self.values))
        return Deflections.of_flat(n, self.stretches, np.array(self.values))

    def data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("body", "nodes", "stretches", "values")}

    def bodies(self) -> tuple[str, ...]:
        return (self.body, *self.nodes)

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        place = tree.places[tree.body_index(self.body, where)]
        columns, q = self._coordinates(where, tree)
        moved = self.deflections.moved(place.X_NB)
        self._check_inertia(where, tree)
        table.flexible.add(
            moved.flat(), node=place.node, q=q, v=columns[0], n=len(columns), stretches=self.stretches
        )

    def _coordinates(self, where: str, tree: Tree) -> tuple[list[int], int]:
        """Entries of v, and the first one of q; each node hangs on the one before."""
        found: list[int] = []
        q = 0
        for before, name in zip((self.body, *self.nodes), self.nodes, strict=False):
            k = tree.body_index(name, where)
            body, place = tree.bodies[k], tree.places[k]
            if not body.joint.deflects or body.parent != before:
                raise ModelError(
                    f"{where}: node {name!r} must hang on {before!r} by a Deflection joint, got"
                    f" {body.joint.label()} on {body.parent!r}."
                )
            q = q if found else place.q.start
            found += range(place.v.start, place.v.stop)
        if found != list(range(found[0], found[0] + self.deflections.n)):
            raise ModelError(
                f"{where}: its nodes have {len(found)} coordinates for {self.deflections.n} deflections, or"
                " other bodies are declared between them; declare it by spec.flexible()."
            )
        return found, q

    def _check_inertia(self, where: str, tree: Tree) -> None:
        """The mass of the body belongs to its deflections."""
        body, given = tree.bodies[tree.body_index(self.body)], self.deflections
        if not given.mass:
            return
        first = fixed_shape(body.com, f"com of {self.body!r}", (3,)) * body.mass
        size = given.mass + abs(body.mass)
        reach = float(np.linalg.norm(given.first)) + float(np.linalg.norm(first))
        same = abs(body.mass - given.mass) <= SAME_INERTIA * size
        if not same or np.linalg.norm(first - given.first) > SAME_INERTIA * reach:
            raise InputError(
                f"{where}: mass and centre of mass of the flexible body {self.body!r} follow from its beam or"
                f" its matrices, {given.mass:g} kg, got {body.mass:g} kg at {body.com}. Change what it is"
                " made of (spec.parameter), or add a rigid body on one of its nodes."
            )

    def work(self) -> str:
        return "flexible bodies have damping" if self.deflections.D.any() else ""
