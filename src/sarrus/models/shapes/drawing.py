"""What pictures show of joints, constraints and forces: points fixed on bodies, and marks between them.

Each kind returns a `Drawing` in the frames of its bodies; viz/ alone knows how that becomes lines or solids.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ..base.pose import Pose

Anchor = tuple[str, Array]  # a body and a point in its frame [m], (3,)
RIM = np.linspace(0.0, 2.0 * np.pi, 49)


@dataclass(frozen=True)
class Frame:
    """A frame fixed on a body: its name, and the pose of the frame in the body frame."""

    body: str
    at: Pose = field(default_factory=Pose)

    @property
    def origin(self) -> tuple[str, Array]:
        """The point of the body where the frame is."""
        return self.body, self.at.xyz


@dataclass(frozen=True)
class Line:
    """A line through points.

    Attributes:
        kind: "rod" or "spring" (between two points).
        points: In the order in which they are joined.
        stiffness, rest: Of a spring whose force is stiffness (length - rest) [N/m], [m]; else None.
    """

    kind: str
    points: tuple[Anchor, ...]
    stiffness: float | None = None
    rest: float | None = None


@dataclass(frozen=True)
class Load:
    """A given force [N] or moment [N m].

    Attributes:
        at: Where it acts.
        vector: (3,), in world axes, or in those of the body if it follows it.
        is_moment, follows: Which of the two it is; whether it follows the body.
    """

    at: Anchor
    vector: Array
    is_moment: bool = False
    follows: bool = False


@dataclass(frozen=True)
class Rail:
    """The line or the plane in which a point of one body slides on another.

    Attributes:
        at: A point of the guide, on the body that carries it.
        follower: The point that runs in it.
        direction: Of the line, or the normal of the plane, in the frame of the carrying body, (3,).
        is_plane: Which of the two it is.
        is_block: Whether the follower cannot turn freely: drawn as a block rather than a pin.
    """

    at: Anchor
    follower: Anchor
    direction: Array
    is_plane: bool = False
    is_block: bool = False


@dataclass(frozen=True)
class Bearing:
    """Where two bodies turn on each other: about an axis (3,) in the frame of the body, or about a point."""

    at: Anchor
    axis: Array | None = None


@dataclass(frozen=True)
class Disc:
    """A thin disc on a body: its centre, unit axis (3,) in the body frame, radius [m]."""

    centre: Anchor
    axis: Array
    radius: float

    def rim(self) -> Array:
        """Points around it in the body frame [m], (49, 3), the last one equal to the first."""
        across = np.eye(3)[int(np.argmin(np.abs(self.axis)))]
        x = across - (across @ self.axis) * self.axis
        x /= np.linalg.norm(x)
        turns = np.outer(np.cos(RIM), x) + np.outer(np.sin(RIM), np.cross(self.axis, x))
        return np.asarray(np.asarray(self.centre[1]) + self.radius * turns)


@dataclass(frozen=True)
class Drawing:
    """What a picture shows of one joint, constraint or force; nothing, as it stands.

    Attributes:
        held: Points where it holds on to bodies; the outlines of the bodies go through them.
        pins: Points that get a small circle.
        supports: Points that get the sign of a fixed support if their body stands still.
        lines, rails, discs, loads: Marks.
        bearings: Marks of pages in space only; stick figures show pins.
    """

    held: tuple[Anchor, ...] = ()
    pins: tuple[Anchor, ...] = ()
    supports: tuple[Anchor, ...] = ()
    lines: tuple[Line, ...] = ()
    rails: tuple[Rail, ...] = ()
    bearings: tuple[Bearing, ...] = ()
    discs: tuple[Disc, ...] = ()
    loads: tuple[Load, ...] = ()
