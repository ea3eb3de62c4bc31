"""Surfaces and pairs as the kernel stores them, and the names of their contact points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._kernel import contact_slots
from ...errors import ModelError
from ...varied import Varied
from ..kinds.parameters import kind_number, packed
from ..shapes.kernel_shape import KernelShape
from ..tree.layout import TABLE
from ..tree.tree import Tree
from .surfaces import ContactPair, Surface, law_of_pair

SHAPES = "shapes"  # family of kinds of the kernel


class ContactTable:
    """Fields of the kernel's model that surfaces and pairs fill, as growing lists."""

    def __init__(self, tree: Tree, surfaces: Sequence[Surface]) -> None:
        self._tree = tree
        self._surfaces = {one.name: k for k, one in enumerate(surfaces)}
        self._declared = surfaces
        self._shapes: list[tuple[int, list[Any]]] = []
        self.columns: dict[str, list[Any]] = {name: [] for name in TABLE if name.startswith(PREFIXES)}
        for one in surfaces:
            self._add(one)

    def _add(self, surface: Surface) -> None:
        shape, columns = surface.in_kernel(), self.columns
        node, X_NS = self._tree.frame(surface.body, shape.at, f"surface {surface.name!r}")
        values = values_of(shape)
        number = kind_number(SHAPES, shape.kind)
        self._shapes.append((number, values))
        centre = X_NS.xyz + X_NS.rotation @ np.asarray(shape.centre)
        added = {
            "sf_kind": number, "sf_node": node, "sf_R": X_NS.rotation, "sf_p": X_NS.xyz,
            "sf_ball": [*centre.tolist(), shape.radius], "sf_begin": len(columns["sf_values"]),
        }  # fmt: skip
        for name, value in added.items():
            columns[name].append(value)
        columns["sf_values"] += values

    def add_pair(self, pair: ContactPair) -> None:
        """Append a pair and its slots."""
        a, b = (self._surfaces[name] for name in (pair.a, pair.b))
        columns, count = self.columns, self._slots(pair, a, b)
        if columns["sf_node"][a] == columns["sf_node"][b]:
            raise ModelError(
                f"contact {pair.name!r}: {pair.a!r} and {pair.b!r} never move against each other."
            )
        law = law_of_pair(pair, self._declared[a], self._declared[b])
        added = {"pair_a": a, "pair_b": b, "pair_slot": len(columns["slot_pair"]), "pair_slots": count}
        columns["slot_pair"] += [len(columns["pair_a"])] * count
        for name, value in (added | {"pair_law": list(law)}).items():
            columns[name].append(value)

    def _slots(self, pair: ContactPair, a: int, b: int) -> int:
        (kind_a, values_a), (kind_b, values_b) = (self._shapes[k] for k in (a, b))
        count = contact_slots(kind_a, _plain(values_a), kind_b, _plain(values_b))
        if count < 0:
            names = [type(self._declared[k].shape).__name__ for k in (a, b)]
            raise ModelError(
                f"contact {pair.name!r}: a {names[0]} and a {names[1]} cannot touch in this version;"
                " the table of docs/contacts.md says which shapes can."
            )
        return count


PREFIXES = ("sf_", "pair_", "slot_")


def values_of(shape: KernelShape) -> list[Any]:
    """Parameters of a shape in the order of the kernel, and what lies behind them."""
    return [*packed(SHAPES, shape.kind, shape.parameters), *shape.data]


def _plain(values: list[Any]) -> Any:
    return np.array([x.value if type(x) is Varied else x for x in values], dtype=np.float64)


class Touchable:
    """Which surfaces can touch each other: for which pairs of shapes contact points can be computed."""

    def __init__(self) -> None:
        self._shapes: dict[str, tuple[int, Any]] = {}

    def __call__(self, a: Surface, b: Surface) -> bool:
        """Whether two surfaces can touch; their shapes are looked at once."""
        return bool(contact_slots(*self._shape(a), *self._shape(b)) >= 0)

    def _shape(self, one: Surface) -> tuple[int, Any]:
        if one.name not in self._shapes:
            shape = one.in_kernel()
            self._shapes[one.name] = kind_number(SHAPES, shape.kind), _plain(values_of(shape))
        return self._shapes[one.name]


def contact_arrays(
    tree: Tree, surfaces: Sequence[Surface], contacts: Sequence[ContactPair]
) -> dict[str, list[Any]]:
    """The fields of the kernel's model that surfaces and pairs fill."""
    if not surfaces:
        return {}
    table = ContactTable(tree, surfaces)
    for pair in contacts:
        table.add_pair(pair)
    return table.columns


def slot_names(contacts: Sequence[ContactPair], counts: Sequence[int]) -> tuple[str, ...]:
    """Names of the contact points of all pairs, in the order of the kernel."""
    pairs = zip(contacts, counts, strict=True)
    return tuple(f"{pair.name}.{k}" for pair, count in pairs for k in range(count))
