"""Joint: the base of all joints, and the primitive nodes that they become in the tree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import ClassVar

from ..._kernel import NODES
from ...arrays import Array
from ...errors import InputError
from ..base.kind import Kind
from ..shapes.drawing import Bearing, Drawing, Frame
from .closure_rows import ClosureRows


class NodeKind(IntEnum):
    """Primitive joints of the kernel (`kernels/tree/joints.hpp`)."""

    GROUND = 0
    HINGE = 1
    SLIDE = 2
    SCREW = 3
    BALL = 4
    FREE = 5
    AMPLITUDE = 6


NODE_NQ = {kind: NODES[kind.name][0] for kind in NodeKind}
NODE_NV = {kind: NODES[kind.name][1] for kind in NodeKind}


def coordinate_is_angle(kind: NodeKind) -> tuple[bool, ...]:
    """For each velocity coordinate of a node, whether it is an angle (True) or a length (False)."""
    if kind == NodeKind.FREE:
        return (False,) * 3 + (True,) * 3
    return (kind not in (NodeKind.SLIDE, NodeKind.AMPLITUDE),) * int(NODE_NV[kind])


@dataclass(frozen=True)
class Primitive:
    """One node of a chain: its kind, axis in the once-turned joint frame, pitch [m/rad]."""

    kind: NodeKind
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    pitch: float = 0.0

    @classmethod
    def along(cls, kind: NodeKind, axis: Array, pitch: float = 0.0) -> Primitive:
        """The node of a kind about or along an axis (3,)."""
        x, y, z = axis.tolist()
        return cls(kind, (x, y, z), pitch)


@dataclass(frozen=True)
class Joint(Kind):
    """Base of all joints.

    Attributes:
        suffixes: Names of the velocity coordinates, appended to the joint's name; ("",) for a single one.
        has_drive: Whether it counts as actuated where a description says nothing.
        deflects: Whether it is the motion of a node of a flexible body.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    has_drive: ClassVar[bool] = True
    deflects: ClassVar[bool] = False

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The chain of nodes that this joint becomes in the tree."""

    def closure_rows(self) -> ClosureRows:
        """The rows that are left when this joint closes a loop."""
        raise InputError(f"a loop cannot be closed by {self!r}: it keeps every freedom and adds no row.")

    def turned_around(self, name: str) -> tuple[tuple[str, Joint], ...]:
        """Joints that move A in B as this one moves B in A, by the names of their coordinates.

        Velocities of a quaternion are then those of A in the axes of A.
        """
        return ((name, self),)

    def label(self) -> str:
        """Short text for reports, such as "Revolute z"."""
        return type(self).__name__

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.coordinate_names(""))

    def coordinate_names(self, name: str) -> tuple[str, ...]:
        """Names of the velocity coordinates of a joint called `name`, (nv,)."""
        return tuple(f"{name}.{s}" if s else name for s in self.suffixes)

    @property
    def node_kinds(self) -> tuple[NodeKind, ...]:
        """Kinds of its nodes."""
        return _node_kinds(self)

    @property
    def is_hinge(self) -> bool:
        """Whether it turns about one axis and does nothing else."""
        return self.node_kinds == (NodeKind.HINGE,)

    @property
    def is_ball(self) -> bool:
        """Whether it turns about a point in every direction and does nothing else."""
        return self.node_kinds == (NodeKind.BALL,)

    @property
    def is_free(self) -> bool:
        """Whether it restricts nothing."""
        return self.node_kinds == (NodeKind.FREE,)

    @property
    def only_turns(self) -> bool:
        """Whether it only turns its body: about an axis, several axes or a point."""
        return all(kind in (NodeKind.HINGE, NodeKind.BALL) for kind in self.node_kinds)

    @property
    def has_quaternion(self) -> bool:
        """Whether its position contains a quaternion, so that its coordinates are not entries of q."""
        return any(NODE_NQ[kind] != NODE_NV[kind] for kind in self.node_kinds)

    @property
    def moment_axis(self) -> Array | None:
        """Axis (3,) of the moment that it transmits, in the joint frame; None where there is not just one."""
        return None

    def bearings(self, frame: Frame) -> tuple[Bearing, ...]:
        """What a picture in space shows of it, on a body."""
        if not self.is_hinge:
            return ()
        return (Bearing(frame.origin, frame.at.rotation @ self.primitives()[0].axis),)

    def drawing(self, a: Frame, b: Frame, in_tree: bool) -> Drawing:
        """What a picture shows of it between frame A and frame B; by default a pin.

        Args:
            a: Frame A, in the tree on the parent.
            b: Frame B, in the tree the frame of the body.
            in_tree: Whether it carries a body of the tree rather than closing a loop.
        """
        ends = (a.origin, b.origin)
        return Drawing(ends, (b.origin,), ends, bearings=self.bearings(b if in_tree else a))


# Joints are values, and a mechanism has few different ones: what follows from a joint is computed once.


@lru_cache(maxsize=1000)
def primitives_of(joint: Joint) -> tuple[Primitive, ...]:
    """The chain of nodes that a joint becomes in the tree."""
    return joint.primitives()


@lru_cache(maxsize=1000)
def closure_rows_of(joint: Joint) -> ClosureRows:
    """The rows that are left when a joint closes a loop."""
    return joint.closure_rows()


@lru_cache(maxsize=1000)
def _node_kinds(joint: Joint) -> tuple[NodeKind, ...]:
    return tuple(node.kind for node in primitives_of(joint))


def check_joint(joint: object, what: str) -> Joint:
    """`joint` itself, if it is one; a class given instead of an instance is a frequent slip."""
    if isinstance(joint, Joint):
        return joint
    if isinstance(joint, type) and issubclass(joint, Joint):
        raise InputError(f"{what} must be an instance, got a class; write {joint.__name__}().")
    raise InputError(f"{what} must be one of {', '.join(Joint.kinds)}, got {joint!r}.")
