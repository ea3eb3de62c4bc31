"""FlexiblePart: what a flexible body is made of, and the nodes and deflections that follow from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...arrays import Array
from ...errors import warn
from ..base.kind import Kind
from ..base.pose import Pose
from .deflections import Deflections

FASTEST = 1e7  # rad/s: a steel rod of one millimetre


@dataclass(frozen=True)
class Element:
    """A piece of a flexible body between nodes.

    Attributes:
        body: Name of the node that carries it, "" for the body itself.
        nodes: Names of its other nodes, each carried by the one before, the first by `body`.
        places: Their poses in the frame of the node before, undeflected; axes of all nodes are parallel.
        axes: Axes of their deflections, (3, 3), as columns.
        modes: Number of modes, amplitudes of which come before the deflections of the first node.
        constants: In the frame of `body`.
    """

    body: str
    nodes: tuple[str, ...]
    places: tuple[Pose, ...]
    axes: Array
    modes: int
    constants: Deflections


@dataclass(frozen=True)
class FlexiblePart(Kind):
    """Base of what `MechanismSpec.flexible` takes."""

    @abstractmethod
    def cut(self) -> tuple[Element, ...]:
        """The pieces that it is made of."""

    def at_points(self, place: Callable[[Any], Any]) -> FlexiblePart:
        """The same with points in the frame of the body, by place(point)."""
        return self

    def doubt(self, elements: tuple[Element, ...], what: str) -> None:
        """A word about frequencies that come from wrong units."""
        fastest = max(float(one.constants.frequencies[-1]) for one in elements)
        if fastest > FASTEST:
            warn(
                f"{what} has a frequency of {fastest:.3g} rad/s, above {FASTEST:g}: are all numbers in SI"
                " units (m, kg, s, Pa)? It is used as given."
            )
