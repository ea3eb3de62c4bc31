"""Rows: where constraints write what they contribute, in the order of their declaration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..arrays import BoolArray
from ..errors import InputError, ModelError
from ..models.drawing import Drawing, Frame
from ..models.kinds import Kind
from ..models.model import Driver, RowGroup, UserRows
from ..models.pose import Pose
from ..models.tree import Tree


@dataclass(frozen=True)
class Constraint(Kind):
    """Base of everything that adds rows to phi, J, b, gamma.

    Attributes:
        needs_position: Whether its coordinates must be entries of q (angles or displacements).
        undefined: The poses at which its rows are not defined, for a message; "" if there are none.
        plural: What messages call several of them; default the name of the class.
    """

    needs_position: ClassVar[bool] = True
    undefined: ClassVar[str] = ""
    plural: ClassVar[str] = ""

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it holds on to."""
        return ()

    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that it relates."""
        return ()

    @property
    def is_point_contact(self) -> bool:
        """Whether its rows are displacements of a point of its second body along axes fixed in its first."""
        return False

    def frames(self) -> tuple[Frame, Frame] | tuple[()]:
        """Frames A and B of a loop; () for everything else."""
        return ()

    def moved(self, a: Frame, b: Frame) -> Constraint:
        """A copy of a loop with other frames A and B."""
        raise NotImplementedError(f"{type(self).__name__} has no frames to move.")

    def drawing(self) -> Drawing:
        """What a picture shows of it; by default nothing."""
        return Drawing()

    @abstractmethod
    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        """Write the rows of this constraint, called `name`."""

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Constraint:
        """A copy of this constraint, called `name`, for which phi = 0 at the present pose.

        A loop that closes during a run rarely finds its frames exactly on top of each other: its latched copy
        has frame A, the length or the offset where B, the distance or the sum of the coordinates is now.

        Args:
            name: For the message of a kind that cannot do this.
            pose: X_WB of a body, by its name.
            position: Of a coordinate [rad, m], by its name.
        """
        able = [k.plural or n for n, k in self.kinds.items() if k.latched is not Constraint.latched]
        raise InputError(
            f"constraint {name!r} ({type(self).__name__}) cannot be latched: only {', '.join(able[:-1])} and"
            f" {able[-1]} can hold what they find. Use latch=False."
        )


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
