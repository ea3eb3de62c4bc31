"""Element: rows between a frame A on one body and a frame B on another, computed by a kind of the kernel."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from ..arrays import Array
from ..models.shapes.drawing import Frame
from ..models.tree.tree import Tree
from .rows import Constraint, RowName, Rows


@dataclass(frozen=True)
class Element(Constraint, base=True):
    """Base of the constraints between two bodies.

    Attributes:
        kernel: Name of its kind in kernels/constraints/kinds.hpp.
        measured: Which ends count as places of joints for the mechanism's length L.
    """

    kernel: ClassVar[str]
    measured: ClassVar[slice] = slice(0, 2)

    @abstractmethod
    def ends(self) -> tuple[Frame, Frame]:
        """A and B; multipliers act on b at B, their reaction on a."""

    @abstractmethod
    def rows(self) -> tuple[RowName, ...]:
        """Its rows, named without the name of the constraint."""

    @abstractmethod
    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        """What the kernel wants to know beside the points A and B, in the axes of the nodes.

        Args:
            R_aA: Rotation of frame A on its node, (3, 3).
            R_bB: Rotation of frame B on its node, (3, 3).
        """

    def label(self) -> str:
        """What reports call it."""
        return type(self).__name__

    def bodies(self) -> tuple[str, ...]:
        return tuple(end.body for end in self.ends())

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        self.lower_with(name, tree, rows, {})

    def lower_with(self, name: str, tree: Tree, rows: Rows, more: dict[str, Any], column: int = -1) -> None:
        """`lower`, with parameters that depend on the tree and the rows, and a column beside the bodies."""
        where = f"constraint {name!r}"
        a, b = self.ends()
        (node_a, X_aA), (node_b, X_bB) = (tree.frame(end.body, end.at, where) for end in (a, b))
        parameters = self.parameters(X_aA.rotation, X_bB.rotation)
        parameters |= {"p_a": X_aA.xyz, "p_b": X_bB.xyz, **more}
        support = rows.add_support(tree, node_a, node_b, column)
        rows.add_element(name, self, (node_a, node_b), support, parameters)
        rows.anchors += [(node_a, X_aA.xyz), (node_b, X_bB.xyz)][self.measured]
