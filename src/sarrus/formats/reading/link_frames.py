"""Links that keep their own frames and names, on joints that keep theirs; frames on links.

In a `MechanismSpec` a joint has the name of its body and sits at the body's origin. Files name joints and
links separately, hang several joints on one link, or put the joint elsewhere on it. Then each joint becomes
a massless body with the joint's name, and the link is fixed to the last one: coordinates are called as the
file calls its joints, bodies as it calls its links, and fixed bodies cost nothing after compilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sarrus.formats.reading.messages import Omitted
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.axes import NAMED
from sarrus.models.base.pose import Pose
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Fixed

GROUND = "ground"


def named(axis: Sequence[float]) -> str | tuple[float, ...]:
    """ "x", "y" or "z" where an axis is one of them exactly, else the axis."""
    given = tuple(axis)
    return next((name for name, unit in NAMED.items() if unit == given), given)


@dataclass(frozen=True)
class TreeJoint:
    """A joint of the file: its name there, and where it sits on the body before it in the chain."""

    name: str
    joint: Joint
    at: Pose
    properties: dict[str, Any]


class Links:
    """Adds links with their joints to a description.

    Links keep their names; a joint whose name a body has already is renamed, and that is said.

    Args:
        spec: The description that grows.
        names: Names of all links.
        omitted: Where to say what was renamed.
    """

    def __init__(self, spec: MechanismSpec, names: Sequence[str], omitted: Omitted) -> None:
        self.spec, self.omitted = spec, omitted
        self.taken = {GROUND, *names}

    def _carrier(self, wanted: str, link: str, shares_frame: bool) -> str:
        """Name of the body that carries a joint of a link: the link itself where name and frame agree."""
        if wanted == link and shares_frame:
            return link
        if wanted not in self.taken:
            return claim(wanted, self.taken)
        name = claim(f"{wanted}_joint", self.taken)
        if wanted != link:
            self.omitted.remark(f"joint {wanted!r} is called {name!r} here, because a body has its name")
        return name

    def frame(self, name: str, body: str, at: Pose) -> str:
        """Name a frame on a body; where a body or joint has the name, NAME_frame, and that is said.

        Returns what it is called here.
        """
        called = claim(name if name not in self.taken else f"{name}_frame", self.taken)
        if called != name:
            self.omitted.remark(f"frame {name!r} is called {called!r} here, because another has its name")
        self.spec.frame(called, body, at)
        return called

    def mount(
        self, link: str, parent: str, joints: Sequence[TreeJoint], offset: Pose, inertia: dict[str, Any]
    ) -> list[str]:
        """Add a link with its joints.

        Args:
            link: Name of the link.
            parent: Name of the body it hangs on.
            joints: Its joints, the one next to the parent first; none: the link is fixed at `offset`.
            offset: Frame of the link in the frame of its last joint after its motion (or in the parent).
            inertia: mass, com and inertia in the frame of the link.

        Returns:
            The names of the bodies that carry the joints.
        """
        carriers: list[str] = []
        for k, one in enumerate(joints, start=1):
            name = self._carrier(one.name, link, offset.is_identity and k == len(joints))
            own = one.properties | (inertia if name == link else {})
            self.spec.body(name, parent, joint=one.joint, at=one.at, **own)
            carriers.append(name)
            parent = name
        if parent != link:
            self.spec.body(link, parent, joint=Fixed(), at=offset, **inertia)
        return carriers
