"""Frames that a description names on bodies, and the floor that pictures show."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from ...arrays import text
from ...models.base.axes import Axis
from ...models.base.pose import Pose
from ...models.shapes.floor import Floor
from ...models.tree.joints import Fixed
from .recipe import declares
from .states import StateDeclarations


class FramesAndFloor(StateDeclarations):
    """Frames and the floor."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._floor: Floor | None = None

    @declares
    def frame(self, name: str, body: str, at: Pose | str | ArrayLike | None = None) -> Self:
        """Name a frame on a body: a tool, a foot, a sensor. It can be used wherever the name of a body can.

        It is a body without mass that is fixed to another one and costs nothing at run time. `mech.frames`
        lists frames; files have them as sites (MJCF), links (URDF) or frames (SDF).

        Args:
            name: Unique among bodies, parts, joints and frames.
            body: Body, part, frame or "ground" on which it is fixed.
            at: Pose in the frame of the body, of a part of a drawing in the world; or a point of the drawing,
                its name or in the world [m] (3,), with axes of the world as drawn; default: the body's frame.

        Returns:
            This spec.
        """
        what = f"frame {text(name, 'the name of a frame')!r}"
        self._require_bodies([body], what)
        return self.body(name, body, joint=Fixed(), at=self._pose_on(body, at, what))

    def _pose_on(self, body: str, at: Pose | str | ArrayLike | None, what: str) -> Pose:
        """A frame as users give it, in the frame of a body."""
        if at is None:
            return Pose()
        if isinstance(at, Pose):
            return self._parts[body].at.inverse() @ at if body in self._parts else at
        return self._drawn_places()[body].inverse() @ Pose(self._place(at, f"at of {what}"))

    @declares
    def floor(self, height: float, normal: Axis = "z") -> Self:
        """Say where pictures draw the floor; it carries nothing.

        Args:
            height: Of the floor above the origin of the world, along the normal [m].
            normal: "x", "y", "z" or a vector (3,) in the world, upwards.

        Returns:
            This spec.
        """
        self._floor = Floor(height, normal)
        return self
