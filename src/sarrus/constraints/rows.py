"""Rows: where constraints write what they contribute, in the order of their declaration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..arrays import Array
from ..errors import InputError, ModelError
from ..models.base.kind import Kind
from ..models.base.pose import Pose
from ..models.kinds.parameters import ELEMENTS, ParameterTable
from ..models.model import Driver, RowGroup, UserRows
from ..models.shapes.drawing import Drawing, Frame
from ..models.tree.joint import Joint
from ..models.tree.tree import Tree

if TYPE_CHECKING:
    from .element import Element


@dataclass(frozen=True)
class Constraint(Kind):
    """Base of everything that adds rows to phi, J, b, gamma.

    Attributes:
        needs_position: Whether its coordinates must be entries of q (angles or displacements).
        undefined: The poses at which its rows are not defined, for a message; "" if there are none.
        plural: What messages call several of them; default the name of the class.
        loads_bodies: Whether it relates coordinates, but stands for forces on bodies, see `loads`.
        loads_by_kernel: Whether friction by load knows these forces.
        pulls: Whether it is a rod: its force is read as positive in tension, the opposite of its multiplier.
    """

    needs_position: ClassVar[bool] = True
    undefined: ClassVar[str] = ""
    plural: ClassVar[str] = ""
    loads_bodies: ClassVar[bool] = False
    loads_by_kernel: ClassVar[bool] = False
    pulls: ClassVar[bool] = False

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it holds on to."""
        return ()

    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that it relates."""
        return ()

    def driven(self) -> Mapping[str, float]:
        """Coefficients of the coordinates that it moves as a function of time; by default none."""
        return {}

    @property
    def is_rigid(self) -> bool:
        """Whether it is a loop that leaves its two frames no motion."""
        return False

    @property
    def is_point_contact(self) -> bool:
        """Whether its rows are displacements of a point of its second body along axes fixed in its first."""
        return False

    def frames(self) -> tuple[Frame, Frame] | tuple[()]:
        """Frames A and B of a loop; () for everything else."""
        return ()

    def moved(self, a: Frame, b: Frame) -> Constraint:
        """A copy of a loop with other frames A and B."""
        raise InputError(f"{type(self).__name__} has no frames to move.")

    def drawing(self) -> Drawing:
        """What a picture shows of it; by default nothing."""
        return Drawing()

    def loads(
        self,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        lam: Array,
        angles: Callable[[str], Any] = float,
    ) -> Iterable[tuple[str, Array, Array]]:
        """Forces on bodies that a relation between coordinates stands for; by default none.

        Args:
            places: X_WB of a body, by its name.
            joints: Its joint, likewise.
            lam: Multipliers of its rows (n,).
            angles: The angle of a hinge [rad], by the name of its body.

        Returns:
            (body, force (3,) [N], point (3,) [m]), in the world.
        """
        return ()

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
        raise self._cannot_be_latched(name)

    def check_latch(self, name: str) -> None:
        """Refuses kinds that cannot be latched, at whatever pose."""
        if type(self).latched is Constraint.latched:
            raise self._cannot_be_latched(name)

    def _cannot_be_latched(self, name: str) -> InputError:
        able = [k.plural or n for n, k in self.kinds.items() if k.latched is not Constraint.latched]
        return InputError(
            f"constraint {name!r} ({type(self).__name__}) cannot be latched: only {', '.join(able[:-1])} and"
            f" {able[-1]} can hold what they find. Use latch=False."
        )


@dataclass(frozen=True)
class RowName:
    """One row.

    Attributes:
        name: Its name, within its constraint where that has several.
        kind: "m", "rad" or "" (a user's own unit).
        holonomic: Whether it has a phi; otherwise it restricts velocities only.
        scale: Size of what the row measures; a row in metres is measured by the mechanism's length L instead.
    """

    name: str
    kind: str = "m"
    holonomic: bool = True
    scale: float = 1.0


@dataclass
class Rows:
    """Rows gathered so far.

    Attributes:
        names: One entry for each row.
        groups: The rows by constraint.
        columns: Fields of the kernel's model, as growing lists.
        elements: Those of the elements between bodies.
        anchors: Points (node, p in its frame) where constraints hold on to the tree.
        drives: Prescribed motions.
        customs: Rows computed by callables.
        taken: Row names in use.
    """

    names: list[RowName] = field(default_factory=list)
    groups: list[RowGroup] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    elements: ParameterTable = field(default_factory=lambda: ParameterTable(ELEMENTS, "el"))
    anchors: list[tuple[int, Any]] = field(default_factory=list)
    drives: list[Driver] = field(default_factory=list)
    customs: list[UserRows] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def add(self, group: RowGroup, rows: Sequence[RowName]) -> RowGroup:
        """Take the next rows for a constraint and return the group with their place."""
        here = slice(len(self.names), len(self.names) + len(rows))
        for row in rows:
            if row.name in self.taken:
                twice = f"constraint {group.name!r} would add a second row called {row.name!r}"
                raise ModelError(f"{twice}; rename one of them.")
            self.taken.add(row.name)
        self.names.extend(rows)
        placed = RowGroup(group.name, group.kind, here, group.a, group.b, group.element)
        self.groups.append(placed)
        return placed

    def add_element(
        self,
        name: str,
        given: Element,
        nodes: tuple[int, int],
        support: tuple[int, int],
        parameters: dict[str, Any],
    ) -> None:
        """The rows of an element between two nodes, with the columns of its support, and its fields el_*."""
        a, b = (end.body for end in given.ends())
        named = [RowName(f"{name}.{row.name}", row.kind, row.holonomic, row.scale) for row in given.rows()]
        here = self.add(RowGroup(name, given.label(), a=a, b=b, element=len(self.elements)), named).rows
        of_rows = {"row": here.start, "rows": len(named), "sup_begin": support[0], "sup_end": support[1]}
        self.elements.add(given.kernel, parameters, a=nodes[0], b=nodes[1], **of_rows)

    def append(self, **values: Any) -> None:
        """Append one value to each of these fields."""
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value)

    def count(self, name: str) -> int:
        """Number of values that a field has so far."""
        return len(self.columns.get(name, ()))

    def add_support(self, tree: Tree, a: int, b: int, column: int) -> tuple[int, int]:
        """Columns of v that move node b relative to node a: +1 on b's side, -1 on a's, ascending.

        A column that moves neither (-1: there is none) has the sign 0.
        """
        above_a, above_b = set(tree.path(a)), set(tree.path(b))
        moved = [(k, 1.0) for n in above_b - above_a for k in tree.nodes[n].columns]
        moved += [(k, -1.0) for n in above_a - above_b for k in tree.nodes[n].columns]
        moved += [(column, 0.0)] * (column >= 0)
        columns, signs = (self.columns.setdefault(name, []) for name in ("sup_col", "sup_sign"))
        begin = len(columns)
        for column, sign in sorted(moved):
            columns.append(column)
            signs.append(sign)
        return begin, len(columns)

    def fields(self, length: float) -> dict[str, Any]:
        """Fields of the kernel's model that rows fill, for a mechanism of this length L [m]."""
        return {
            **self.columns,
            **self.elements.columns,
            "row_unit": [length if row.kind == "m" else row.scale for row in self.names],
            "row_holonomic": [int(row.holonomic) for row in self.names],
        }

    def declarations(self) -> dict[str, Any]:
        """What the model says of its rows beside the fields of the kernel."""
        return {
            "row_names": tuple(row.name for row in self.names),
            "row_kinds": tuple(row.kind for row in self.names),
            "groups": tuple(self.groups),
            "drives": tuple(self.drives),
            "customs": tuple(self.customs),
        }


def lower_constraints(tree: Tree, constraints: Sequence[tuple[str, Constraint]]) -> Rows:
    """Rows of all constraints, in the order of declaration."""
    rows = Rows()
    for name, constraint in constraints:
        constraint.lower(name, tree, rows)
    return rows
