"""Closure: two frames that a joint ties together, and the rows that remain of it.

Frame A on body a, frame B on body b; the joint keeps its freedoms of B relative to A (axes given in A), all
others become rows: phi is B relative to A, expressed in A, linear rows [m] first, then angular ones [rad].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from ..errors import InputError
from ..models.axes import nearest_frame
from ..models.drawing import Drawing, Frame
from ..models.forces import check_pair
from ..models.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
    check_joint,
)
from ..models.pose import Pose
from ..models.tree import Tree
from .rows import Constraint, RowName, Rows


class Angular(IntEnum):
    """Kinds of angular rows; the numbers are those of `kernels/tree/model.hpp`."""

    ANY = 0
    ACROSS = 1
    ROTATION = 2
    COSINE = 3


DISTANCE = 8  # bit of cl_linear: one row for the distance of the two points
LINEAR_NAMES = ("tx", "ty", "tz")
ANGULAR_NAMES = ("rx", "ry", "rz")


@dataclass(frozen=True)
class Pattern:
    """What a closure keeps: rows by index of axis, and the axes themselves as columns, in frame A (and B).

    Attributes:
        linear: Indices of the directions whose displacement is zero.
        angular: Kind of the angular rows.
        turned: Indices that name the angular rows.
        directions: Orthonormal columns, of which the linear rows take theirs.
        across: The two axes of A (columns, (3, 2)) that B's axis must be perpendicular to.
        axis: B's axis.
        pitch: Advance along the axis [m/rad], measured about across[0] x across[1].
        length: Distance to keep [m], or None.
    """

    linear: tuple[int, ...]
    angular: Angular = Angular.ANY
    turned: tuple[int, ...] = ()
    directions: FloatArray = field(default_factory=lambda: np.eye(3))
    across: FloatArray = field(default_factory=lambda: np.zeros((3, 2)))
    axis: FloatArray = field(default_factory=lambda: np.zeros(3))
    pitch: float = 0.0
    pitch_row: int = -1
    length: float | None = None

    def row_names(self, name: str) -> list[RowName]:
        """Names and units of the rows."""
        if self.length is not None:
            return [RowName(f"{name}.distance", None)]
        rows = [RowName(f"{name}.{LINEAR_NAMES[i]}", None) for i in self.linear]
        return rows + [RowName(f"{name}.{ANGULAR_NAMES[i]}") for i in self.turned]


def closure_pattern(joint: Joint) -> Pattern:
    """The rows that a joint leaves when it closes a loop."""
    every = (0, 1, 2)
    if isinstance(joint, Fixed):
        return Pattern(every, Angular.ROTATION, every)
    if isinstance(joint, Spherical):
        return Pattern(every)
    if isinstance(joint, Universal):
        first, second = joint.directions
        k = int(np.argmax(np.abs(np.cross(first, second))))
        return Pattern(every, Angular.COSINE, (k,), across=np.column_stack([first, np.zeros(3)]), axis=second)
    if isinstance(joint, (Revolute, Prismatic, Helical, Cylindrical, Planar)):
        return _axis_pattern(joint)
    raise InputError(f"a loop cannot be closed by {joint!r}: it keeps every freedom and adds no row.")


def _axis_pattern(joint: Revolute | Prismatic | Helical | Cylindrical | Planar) -> Pattern:
    axis = joint.direction
    k, columns = nearest_frame(axis)
    others = tuple(i for i in range(3) if i != k)
    across = columns[:, others]
    if isinstance(joint, Prismatic):
        return Pattern(others, Angular.ROTATION, (0, 1, 2), columns)
    if isinstance(joint, Cylindrical):
        return Pattern(others, Angular.ACROSS, others, columns, across, axis)
    if isinstance(joint, Planar):
        return Pattern((k,), Angular.ACROSS, others, columns, across, axis)
    if isinstance(joint, Helical) and joint.pitch != 0.0:
        # the kernel measures the angle about across[0] x across[1], which may be the opposite of the axis
        about = float(np.cross(across[:, 0], across[:, 1]) @ axis)
        pitch = joint.pitch if about > 0.0 else -joint.pitch
        return Pattern((0, 1, 2), Angular.ACROSS, others, columns, across, axis, pitch, k)
    return Pattern((0, 1, 2), Angular.ACROSS, others, across=across, axis=axis)


@dataclass(frozen=True)
class Closure(Constraint):
    """A loop closed by a joint. `MechanismSpec.close` explains every argument."""

    plural: ClassVar[str] = "loops"
    a: str
    b: str
    joint: Joint
    at_a: Pose = field(default_factory=Pose)
    at_b: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, "a loop")
        joint = check_joint(self.joint, "joint of a loop")
        if isinstance(joint, Free):
            raise InputError("a loop cannot be closed by Free(): it keeps every freedom and adds no row.")
        for name in ("at_a", "at_b"):
            pose = getattr(self, name)
            if not isinstance(pose, Pose):
                raise InputError(f"{name} of a loop must be a Pose, got {pose!r}; write sr.Pose((x, y, z)).")

    def bodies(self) -> tuple[str, ...]:
        return (self.a, self.b)

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        kind = type(self.joint).__name__
        lower_pair(name, kind, self.a, self.at_a, self.b, self.at_b, closure_pattern(self.joint), tree, rows)

    def latched(self, name: str, pose: Callable[[str], Pose], position: Callable[[str], float]) -> Closure:
        return replace(self, at_a=pose(self.a).inverse() @ pose(self.b) @ self.at_b)

    @property
    def is_point_contact(self) -> bool:
        return self.joint.is_ball

    def frames(self) -> tuple[Frame, Frame]:
        return Frame(self.a, self.at_a), Frame(self.b, self.at_b)

    def moved(self, a: Frame, b: Frame) -> Closure:
        return Closure(a.body, b.body, self.joint, a.at, b.at)

    def drawing(self) -> Drawing:
        return self.joint.drawing(*self.frames(), in_tree=False)


def lower_pair(
    name: str, kind: str, a: str, at_a: Pose, b: str, at_b: Pose, pattern: Pattern, tree: Tree, rows: Rows
) -> None:
    """Write the fields cl_* of one closure between frame A = at_a on a and frame B = at_b on b."""
    where = f"constraint {name!r}"
    node_a, X_aA = tree.frame(a, at_a, where)
    node_b, X_bB = tree.frame(b, at_b, where)
    here = rows.add(name, kind, pattern.row_names(name), a, b, rows.count("cl_a"))
    linear = DISTANCE if pattern.length is not None else sum(1 << i for i in pattern.linear)
    rows.append(
        cl_a=node_a, cl_b=node_b, cl_row=here.start, cl_linear=linear, cl_angular=int(pattern.angular)
    )
    rows.append(cl_R_aA=X_aA.rotation, cl_p_aA=X_aA.xyz, cl_R_bB=X_bB.rotation, cl_p_bB=X_bB.xyz)
    rows.append(
        cl_directions=(X_aA.rotation @ pattern.directions).T,
        cl_across_a=(X_aA.rotation @ pattern.across).T,
        cl_across_b=(X_bB.rotation @ pattern.across).T,
        cl_axis_b=X_bB.rotation @ pattern.axis,
    )
    rows.append(cl_pitch=pattern.pitch, cl_pitch_row=pattern.pitch_row, cl_length=pattern.length or 0.0)
    rows.add_support(tree, node_a, node_b)
    rows.anchors += [(node_a, X_aA.xyz), (node_b, X_bB.xyz)]
