"""Closure: two frames that a joint ties together, and the rows that remain of it.

Frame A on body a, frame B on body b; the joint keeps its freedoms of B relative to A (axes given in A), all
others become rows: phi is B relative to A, expressed in A, linear rows [m] first, then angular ones [rad].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..arrays import Array
from ..errors import InputError
from ..models.base.pose import Pose
from ..models.kinds.point_pair import check_pair
from ..models.shapes.drawing import Drawing, Frame
from ..models.tree.closure_rows import ClosureRows
from ..models.tree.joint import Joint, check_joint, closure_rows_of
from .element import Element
from .rows import RowName

LINEAR_NAMES = ("tx", "ty", "tz")
ANGULAR_NAMES = ("rx", "ry", "rz")


def closure_row_names(kept: ClosureRows) -> tuple[RowName, ...]:
    """Names of the rows of a closure, within it."""
    linear = tuple(RowName(LINEAR_NAMES[i]) for i in kept.linear)
    return linear + tuple(RowName(ANGULAR_NAMES[i], "rad") for i in kept.turned)


@dataclass(frozen=True)
class Closure(Element):
    """A loop closed by a joint. `MechanismSpec.close` explains every argument."""

    kernel: ClassVar[str] = "Closure"
    plural: ClassVar[str] = "loops"
    a: str
    b: str
    joint: Joint
    at_a: Pose = field(default_factory=Pose)
    at_b: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, "a loop")
        closure_rows_of(check_joint(self.joint, "joint of a loop"))  # refuses Free, which leaves none
        for name in ("at_a", "at_b"):
            pose = getattr(self, name)
            if not isinstance(pose, Pose):
                raise InputError(f"{name} of a loop must be a Pose, got {pose!r}; write sr.Pose((x, y, z)).")

    def ends(self) -> tuple[Frame, Frame]:
        return Frame(self.a, self.at_a), Frame(self.b, self.at_b)

    def rows(self) -> tuple[RowName, ...]:
        return closure_row_names(closure_rows_of(self.joint))

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return closure_rows_of(self.joint).parameters(R_aA, R_bB)

    def label(self) -> str:
        return type(self.joint).__name__

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Closure:
        return replace(self, at_a=pose(self.a).inverse() @ pose(self.b) @ self.at_b)

    @property
    def is_point_contact(self) -> bool:
        return self.joint.is_ball

    def frames(self) -> tuple[Frame, Frame]:
        return self.ends()

    def moved(self, a: Frame, b: Frame) -> Closure:
        return Closure(a.body, b.body, self.joint, a.at, b.at)

    def drawing(self) -> Drawing:
        return self.joint.drawing(*self.frames(), in_tree=False)
