"""Closure: two frames that a joint ties together, and the rows that remain of it.

Frame A on body a, frame B on body b; the joint keeps its freedoms of B relative to A (axes given in A), all
others become rows: phi is B relative to A, expressed in A, linear rows [m] first, then angular ones [rad].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..arrays import Array, names
from ..errors import InputError, require_all_known
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


def without(rows: ClosureRows, left_out: Sequence[str]) -> ClosureRows:
    """The rows of a closure but some, by their names: any linear ones, angular ones together only."""
    if not left_out:
        return rows
    known = [row.name for row in closure_row_names(rows)]
    require_all_known("row of the loop", left_out, known, "left_out")
    kept = _without_linear(rows, left_out)
    if _leaves_out_angular(rows, left_out):
        kept = replace(kept, angular="ANY", turned=())
    if not kept.linear and not kept.turned:
        raise InputError("left_out of a loop names all of its rows; leave the loop out instead.")
    return kept


def _leaves_out_angular(rows: ClosureRows, left_out: Sequence[str]) -> bool:
    """Whether the angular rows of a closure are left out; some of them alone cannot be."""
    angular = [ANGULAR_NAMES[i] for i in rows.turned]
    gone = [name for name in angular if name in left_out]
    if gone and len(gone) < len(angular):
        raise InputError(
            "left_out of a loop: angular rows can be left out together only, those of this joint are"
            f" {', '.join(angular)}; got {', '.join(left_out)}."
        )
    return bool(gone)


def _without_linear(rows: ClosureRows, left_out: Sequence[str]) -> ClosureRows:
    """The rows of a closure but some linear ones; a pitch goes with its row."""
    linear = tuple(i for i in rows.linear if LINEAR_NAMES[i] not in left_out)
    pitch_row = rows.pitch_row if rows.pitch_row in linear else -1
    return replace(rows, linear=linear, pitch_row=pitch_row)


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
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, "a loop")
        closure_rows_of(check_joint(self.joint, "joint of a loop"))  # refuses Free, which leaves none
        for name in ("at_a", "at_b"):
            pose = getattr(self, name)
            if not isinstance(pose, Pose):
                raise InputError(f"{name} of a loop must be a Pose, got {pose!r}; write sr.Pose((x, y, z)).")
        object.__setattr__(self, "left_out", tuple(names(self.left_out, "left_out of a loop")))
        without(closure_rows_of(self.joint), self.left_out)  # refuses what cannot be left out

    def ends(self) -> tuple[Frame, Frame]:
        return Frame(self.a, self.at_a), Frame(self.b, self.at_b)

    def rows(self) -> tuple[RowName, ...]:
        return closure_row_names(self._kept)

    def parameters(self, R_aA: Array, R_bB: Array) -> dict[str, Any]:
        return self._kept.parameters(R_aA, R_bB)

    @property
    def _kept(self) -> ClosureRows:
        return without(closure_rows_of(self.joint), self.left_out)

    def label(self) -> str:
        return type(self.joint).__name__

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Closure:
        return replace(self, at_a=pose(self.a).inverse() @ pose(self.b) @ self.at_b)

    @property
    def is_rigid(self) -> bool:
        return self.joint.nv == 0

    @property
    def is_point_contact(self) -> bool:
        return self.joint.is_ball

    def frames(self) -> tuple[Frame, Frame]:
        return self.ends()

    def moved(self, a: Frame, b: Frame) -> Closure:
        return replace(self, a=a.body, b=b.body, at_a=a.at, at_b=b.at)

    def drawing(self) -> Drawing:
        return self.joint.drawing(*self.frames(), in_tree=False)
