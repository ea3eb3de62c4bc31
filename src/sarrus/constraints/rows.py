"""Rows: where constraints write what they contribute, in the order of their declaration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..arrays import BoolArray
from ..errors import ModelError
from ..models.model import Driver, RowGroup, UserRows
from ..models.tree import Tree


@dataclass(frozen=True)
class Constraint(ABC):
    """Base of everything that adds rows to phi, J, b, gamma.

    Attributes:
        needs_position: Whether its coordinates must be entries of q (angles or displacements).
    """

    needs_position: ClassVar[bool] = True

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it holds on to."""
        return ()

    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that it relates."""
        return ()

    @abstractmethod
    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        """Write the rows of this constraint, called `name`."""


@dataclass(frozen=True)
class RowName:
    """One row: its name, whether it has a phi, its unit (None: the mechanism's length, else a number)."""

    name: str
    unit: float | None = 1.0
    holonomic: bool = True


@dataclass
class Rows:
    """Rows gathered so far.

    Attributes:
        names: One entry for each row.
        groups: The rows by constraint.
        columns: Fields of the kernel's model, as growing lists.
        anchors: Points (node, p in its frame) where constraints hold on to the tree.
        drives: Prescribed motions.
        customs: Rows computed by callables.
        taken: Row names in use.
    """

    names: list[RowName] = field(default_factory=list)
    groups: list[RowGroup] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    anchors: list[tuple[int, Any]] = field(default_factory=list)
    drives: list[Driver] = field(default_factory=list)
    customs: list[UserRows] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def add(
        self,
        group: str,
        kind: str,
        rows: Sequence[RowName],
        a: str | None = None,
        b: str | None = None,
        closure: int = -1,
    ) -> slice:
        """Take the next rows for a constraint and return where they are."""
        here = slice(len(self.names), len(self.names) + len(rows))
        for row in rows:
            if row.name in self.taken:
                raise ModelError(
                    f"constraint {group!r} would add a second row called {row.name!r}; rename one of them."
                )
            self.taken.add(row.name)
        self.names.extend(rows)
        self.groups.append(RowGroup(group, kind, here, a, b, closure))
        return here

    def append(self, **values: Any) -> None:
        """Append one value to each of these fields."""
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value)

    def count(self, name: str) -> int:
        """Number of values that a field has so far."""
        return len(self.columns.get(name, ()))

    def add_support(self, tree: Tree, a: int, b: int) -> None:
        """Columns of v that move node b relative to node a: +1 on b's side, -1 on a's, ascending."""
        above_a, above_b = set(tree.path(a)), set(tree.path(b))
        moved = [(k, 1.0) for n in above_b - above_a for k in tree.nodes[n].columns]
        moved += [(k, -1.0) for n in above_a - above_b for k in tree.nodes[n].columns]
        self.append(cl_sup_begin=self.count("sup_col"))
        for column, sign in sorted(moved):
            self.append(sup_col=column, sup_sign=sign)
        self.append(cl_sup_end=self.count("sup_col"))

    def row_units(self, length: float) -> list[float]:
        """Unit of each row, (nc,)."""
        return [length if row.unit is None else row.unit for row in self.names]

    def holonomic(self) -> BoolArray:
        """Whether each row has a phi, (nc,)."""
        return np.array([row.holonomic for row in self.names], dtype=bool)


def lower_constraints(tree: Tree, constraints: Sequence[tuple[str, Constraint]]) -> Rows:
    """Rows of all constraints, in the order of declaration."""
    rows = Rows()
    for name, constraint in constraints:
        constraint.lower(name, tree, rows)
    return rows
