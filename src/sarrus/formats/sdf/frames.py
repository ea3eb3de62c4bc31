"""Frames of an SDF model: links, joints and frames, each posed relative to another."""

from __future__ import annotations

import math

from sarrus.errors import unknown_name
from sarrus.formats.reading.markup import Element
from sarrus.models.base.pose import Pose

MODEL = "__model__"
CANONICAL = "canonical_link"  # attribute: the link to which frames are attached that do not say another


def pose_in(element: Element) -> Pose:
    """The pose that `<pose>` of an element gives; the identity where it has none."""
    pose = element.first("pose")
    if pose is None or not pose.content.strip():
        return Pose()
    with pose.context():
        if pose.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw":
            x, y, z, *quat = pose.values(7)
            return Pose((x, y, z), quat=quat)
        x, y, z, *rpy = pose.values(6)
        if pose.attributes.get("degrees", "false").strip() in ("true", "1"):
            rpy = [math.radians(angle) for angle in rpy]
        return Pose((x, y, z), rpy=rpy if any(rpy) else None)


class Frames:
    """Poses by name. `relative_to` is followed; a circle or an unknown name is an error with its line.

    Args:
        model: The element <model>, for messages.
        links, joints, frames: Elements by name.
    """

    def __init__(
        self,
        model: Element,
        links: dict[str, Element],
        joints: dict[str, Element],
        frames: dict[str, Element],
    ) -> None:
        self.model, self.links, self.joints, self.frames = model, links, joints, frames
        self._found: dict[str, Pose] = {MODEL: Pose()}
        self._open: set[str] = set()

    def joint(self, name: str) -> Pose:
        """The frame of a joint in the frame of the model, also where a link has its name (before SDF 1.7)."""
        joint = self.joints[name]
        pose = joint.first("pose")
        base = "" if pose is None else pose.attributes.get("relative_to", "").strip()
        return self.of(base or self._default(name, joint), joint) @ pose_in(joint)

    def of(self, name: str, asked: Element) -> Pose:
        """A frame in the frame of the model; `asked` is the element that names it."""
        name = name.removesuffix(f"::{MODEL}")
        if name in ("", MODEL):
            return Pose()
        if name in self._found:
            return self._found[name]
        known = {**self.frames, **self.joints, **self.links}
        if name not in known:
            asked.fail(str(unknown_name("frame", name, known)).rstrip("."))
        if name in self._open:
            asked.fail(f"the pose of {name!r} is relative to itself, by way of other frames")
        self._open.add(name)
        element = known[name]
        pose = element.first("pose")
        base = "" if pose is None else pose.attributes.get("relative_to", "").strip()
        if not base:
            base = self._default(name, element)
        self._found[name] = self.of(base, element) @ pose_in(element)
        self._open.discard(name)
        return self._found[name]

    def _default(self, name: str, element: Element) -> str:
        if element.tag == "joint":
            child = element.word("child")
            return child if child in self.links or child in self.frames else MODEL
        return element.attributes.get("attached_to", MODEL).strip() if name in self.frames else MODEL

    def link_of(self, name: str, asked: Element) -> str:
        """The link that a frame is attached to."""
        name = name.removesuffix(f"::{MODEL}")
        for _ in range(len(self.frames) + len(self.joints) + 1):
            if name in self.links or name == "world":
                return name
            if name in self.joints:
                name = self.joints[name].word("child")
            elif name in self.frames or name == MODEL:
                told = self.frames.get(name, self.model).attributes
                name = (
                    told.get("attached_to", "").strip() or told.get(CANONICAL) or next(iter(self.links), "")
                )
            else:
                asked.fail(str(unknown_name("link", name, [*self.links, "world"])).rstrip("."))
        asked.fail(f"the frame {name!r} is attached to itself, by way of other frames")
