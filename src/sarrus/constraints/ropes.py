"""Ropes: from a drum to a load, over the falls of a tackle; drum, load and block carry their pull."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, number, positive, positive_whole, text
from ..errors import InputError, ModelError
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.tree.bodies import GROUND
from ..models.tree.joint import Joint, NodeKind
from ..models.tree.tree import Tree
from ..stepped_numbers import size
from .meshing import MESHES, Line, Meshing, across_axis, axis_line
from .rows import Rows

__all__ = ["Rope"]


@dataclass(frozen=True)
class Rope(Meshing):
    """A rope or chain that a drum winds up and a load hangs on, or slides by; it neither stretches nor sags.

    The rope leaves the drum along the way of the load. With `falls` strands between the block of the load and
    a fixed block the load moves by 1/falls of the rope and weighs falls times its tension; the fixed block
    carries all strands but one. `ForceIn` reads the tension, positive where it pulls. The rope is held in
    both directions: a `Contact` with its name lets it go slack.

    Args:
        a: Name of the joint (a hinge) of the drum.
        b: Name of the joint (a slide) of the load; its axis is the line of the rope, a radius beside the
            drum's axis and at right angles to it.
        radius: Of the drum [m], to the middle of the rope.
        falls: Number of strands on which the load hangs.
        block: Body that carries the fixed block of a tackle.
        offset: Rope that is wound up too much where all coordinates are zero [m].
    """

    pulls: ClassVar[bool] = True
    checks: ClassVar[Checks] = {
        "a": text, "b": text, "radius": positive, "falls": positive_whole, "block": text, "offset": number
    }  # fmt: skip
    radius: float
    falls: int = 1
    block: str = GROUND
    offset: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a == self.b:
            raise InputError(f"a Rope must join two different joints, got {self.a!r} twice.")

    @property
    def loads_by_kernel(self) -> bool:  # type: ignore[override]
        """Whether drum and load carry all of it."""
        return self.falls == 1

    def ends_with(self) -> tuple[NodeKind, ...]:
        return (NodeKind.SLIDE,)

    def rates(self, a: Line, b: Line, where: str) -> tuple[float, float]:
        leaves = self._leaves(a, b)
        aside: Any = size(leaves - a[0])
        if abs(float(a[1] @ b[1])) > MESHES or abs(aside - self.radius) > MESHES * self.radius:
            raise ModelError(
                f"{where}: the way of {self.b!r} must be at right angles to the axis of {self.a!r}, and pass"
                f" it at the radius {self.radius:.9g} m; it passes at {aside:.9g} m."
            )
        side = self._side(a, b, where)
        return -side * float(np.cross(a[1], leaves - a[0]) @ b[1]), -side * self.falls

    def _leaves(self, a: Line, b: Line) -> Array:
        """Where the rope leaves the drum, at the height of the load along its axis."""
        (p_a, n), (p_b, way) = a, b
        across = across_axis(p_b - p_a, n)
        return np.asarray(p_a + across - (across @ way) * way)

    def _side(self, a: Line, b: Line, where: str = "") -> float:
        """1 where the load hangs from the drum along its positive way, else -1."""
        along = float(((b[0] - a[0]) @ b[1]).real)
        if where and abs(along) <= MESHES * self.radius:
            raise ModelError(
                f"{where}: the joint of {self.b!r} lies beside the drum {self.a!r}, so that nothing says to"
                " which side the rope runs; put it where the rope ends."
            )
        return 1.0 if along > 0.0 else -1.0

    def _lower_wrench(self, tree: Tree, rows: Rows, carrier: str) -> None:
        if self.falls == 1:
            super()._lower_wrench(tree, rows, carrier)

    def loads(
        self,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        lam: Array,
        angles: Callable[[str], Any] = float,
    ) -> Iterator[tuple[str, Array, Array]]:
        a, b = (axis_line(places(end), joints(end)) for end in (self.a, self.b))
        at = self._leaves(a, b)
        pull = -lam[0] * self._side(a, b) * b[1]
        yield self.a, pull, at
        yield self.b, -self.falls * pull, at
        if self.falls > 1:
            yield self.block, (self.falls - 1) * pull, at
