"""Parts and joints drawn in the world, lowered to a tree of bodies and loops that close it.

The tree is chosen: welds first, then joints whose coordinate something needs (an actuator, a drive, limits, a
force), else the shallowest. The body of a part keeps the frame that it was drawn in: it is welded to a body
without mass that has the name of the joint and moves with it.

Every joint keeps its coordinates. Where one closes a loop, a second copy of the part b hangs on it and is
welded to b by six rows; the copies share the mass of the part, so that the motion is that of one. A joint
that says coordinate=False closes its loop by the rows of the joint instead: fewer rows, no coordinate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...constraints.closures import Closure
from ...errors import ModelError
from ...models.base.pose import Pose
from ...models.tree.bodies import COPY, GROUND, PER_COORDINATE, UNLIMITED, Body
from ...models.tree.joints import Fixed

NO_COORDINATES: dict[str, Any] = dict.fromkeys((*PER_COORDINATE, "limits"), ())
WELD = "weld"  # "D.weld": the rows that tie it to the part


@dataclass(frozen=True)
class DrawnJoint:
    """A joint between two bodies.

    Attributes:
        body: Its name, kind, frame in the world and what belongs to its coordinates.
        a: The body on which its axes are fixed.
        b: The body that moves relative to a.
        coordinate: Whether it keeps its coordinates where it closes a loop.
    """

    body: Body
    a: str
    b: str
    coordinate: bool = True

    @property
    def name(self) -> str:
        """Its name."""
        return self.body.name

    @property
    def is_weld(self) -> bool:
        """Whether it leaves no freedom."""
        return not self.body.joint.nv

    def carriers(self, parent: str, X_PJ: Pose, backwards: bool) -> list[Body]:
        """Bodies without mass that move with it; the last one has its name."""
        own, joint = self.body.again(backwards=backwards), self.body.joint
        chain = joint.turned_around(self.name) if backwards else ((self.name, joint),)
        if len(chain) == 1:
            return [own.again(parent=parent, at=X_PJ, joint=chain[0][1])]
        found = []
        for name, one in chain:
            i = own.coordinate_names.index(name)
            each: dict[str, Any] = {key: (getattr(own, key)[i],) for key in (*PER_COORDINATE, "limits")}
            found.append(own.again(name=name, parent=parent, joint=one, at=X_PJ, **each))
            parent, X_PJ = name, Pose()
        return [*found, own.again(parent=parent, at=X_PJ, joint=Fixed(), **NO_COORDINATES)]


@dataclass
class _Lowering:
    """The tree as it grows. `world` gives the frame of each body in the drawing, `root` what carries it."""

    parts: Mapping[str, Body]
    world: dict[str, Pose]
    root: dict[str, str]
    depth: dict[str, int] = field(default_factory=lambda: {GROUND: 0})
    bodies: list[Body] = field(default_factory=list)

    def attach(self, joint: DrawnJoint, parent: str, child: str) -> None:
        """Hang a part on a body of the tree."""
        part, X_WP = self.parts[child], self.world[child]
        X_WJ, X_parent = joint.body.at, self.world[parent].inverse()
        self.depth[child] = self.depth[self.root[parent]] + (not joint.is_weld)
        if joint.is_weld:
            self.bodies.append(part.again(parent=parent, at=X_parent @ X_WP))
            return
        self.bodies += joint.carriers(parent, X_parent @ X_WJ, backwards=joint.a == child)
        self.bodies.append(part.again(parent=joint.name, at=X_WJ.inverse() @ X_WP))

    def candidates(self, joints: Sequence[DrawnJoint]) -> list[tuple[int, str, str]]:
        """Joints between the tree and a part outside it: index, parent, child."""
        found = []
        for i, joint in enumerate(joints):
            for parent, child in ((joint.a, joint.b), (joint.b, joint.a)):
                if self.root[parent] in self.depth and child in self.parts and child not in self.depth:
                    found.append((i, parent, child))
        return found


def lower(
    bodies: Sequence[Body], parts: Mapping[str, Body], joints: Sequence[DrawnJoint], needed: Collection[str]
) -> tuple[list[Body], dict[str, Closure]]:
    """Bodies of the tree and the loops that close it.

    Args:
        bodies: declared with their parents; a parent may be a part.
        parts: by name, `at` being their frame in the world.
        joints: between bodies and parts.
        needed: names of joints whose coordinate something needs.
    """
    world, root = places(bodies, parts)
    tree = _Lowering(parts, world, root)
    limited = {joint.name for joint in joints if set(joint.body.limits) - {UNLIMITED}}
    strong = _strong(joints, root, {*needed, *limited})
    cut = dict(enumerate(joints))
    while found := tree.candidates(joints):
        i, parent, child = min(found, key=lambda c: (c[0] not in strong, tree.depth[root[c[1]]], c[0]))
        tree.attach(joints[i], parent, child)
        del cut[i]
    if loose := [name for name in parts if name not in tree.depth]:
        raise ModelError(
            f"part {loose[0]!r} is tied to the ground by no joint, nor by other parts; give it one:"
            f" spec.joint(name, 'ground', {loose[0]!r}, sr.Free(), at=...) lets it move freely."
        )
    lowered, loops = _close(tree, [*bodies, *tree.bodies], list(cut.values()))
    order = {joint.name: i for i, joint in enumerate(joints)}
    return sorted(lowered, key=lambda body: _rank(body, order)), loops


def places(bodies: Sequence[Body], parts: Mapping[str, Body]) -> tuple[dict[str, Pose], dict[str, str]]:
    """Frame in the world of every body with all coordinates zero, and the part (or ground) it hangs on."""
    world = {GROUND: Pose()} | {name: part.at for name, part in parts.items()}
    root = {name: name for name in world}
    waiting = list(bodies)
    while waiting:
        rest = []
        for body in waiting:
            if body.parent in world:
                world[body.name], root[body.name] = world[body.parent] @ body.at, root[body.parent]
            else:
                rest.append(body)
        if len(rest) == len(waiting):
            break  # an unknown parent, which the tree refuses with a better message
        waiting = rest
    return world, root


def _strong(joints: Sequence[DrawnJoint], root: Mapping[str, str], needed: Collection[str]) -> set[int]:
    """Joints to have in the tree in any case: welds, then those that something needs, without a loop."""
    group = {name: name for name in root.values()}

    def top(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    found = set()
    order = sorted(range(len(joints)), key=lambda i: (not joints[i].is_weld, joints[i].name not in needed, i))
    for i in order:
        joint = joints[i]
        a, b = top(root[joint.a]), top(root[joint.b])
        if (joint.is_weld or joint.name in needed) and a != b:
            group[a] = b
            found.add(i)
    return found


def _close(
    tree: _Lowering, bodies: list[Body], cut: Sequence[DrawnJoint]
) -> tuple[list[Body], dict[str, Closure]]:
    """The loops of the joints that are not in the tree, and copies of parts for their coordinates."""
    own = {body.name: body for body in bodies}
    copied: dict[str, list[str]] = {}
    loops: dict[str, Closure] = {}
    for joint in cut:
        X_A, X_B = (tree.world[end].inverse() @ joint.body.at for end in (joint.a, joint.b))
        if joint.body.joint.is_free:
            raise ModelError(
                f"joint {joint.name!r} is Free and ties two bodies that are joined; leave it out."
            )
        if joint.is_weld or not joint.coordinate:
            loops[joint.name] = Closure(joint.a, joint.b, joint.body.joint, X_A, X_B)
            continue
        twice = _copied(joint, own)
        carrier, at_carrier, at_part = (joint.a, X_A, X_B) if twice == joint.b else (joint.b, X_B, X_A)
        chain = joint.carriers(carrier, at_carrier, backwards=twice == joint.a)
        copy = f"{twice}{COPY}{joint.name}"
        copied_part = {"name": copy, "parent": joint.name, "joint": Fixed(), "at": at_part.inverse()}
        bodies += [*chain, own[twice].again(**copied_part, **NO_COORDINATES)]
        copied.setdefault(twice, [twice]).append(copy)
        loops[f"{joint.name}.{WELD}"] = Closure(copy, twice, Fixed(), at_part, at_part)
    share = {name: 1.0 / len(copies) for copies in copied.values() for name in copies}
    return [_lighter(body, share.get(body.name, 1.0)) for body in bodies], loops


def _copied(joint: DrawnJoint, own: Mapping[str, Body]) -> str:
    """The body of which a copy hangs on a joint that closes a loop: b, unless it has no mass."""
    for name in (joint.b, joint.a):
        if (
            name in own
            and own[name].mass > 0.0
            and any(r[i] > 0.0 for i, r in enumerate(own[name].inertia_rows))
        ):
            return name
    raise ModelError(
        f"joint {joint.name!r} closes a loop between {joint.a!r} and {joint.b!r}, of which none has mass and"
        " inertia. Give one of them mass, or say coordinate=False: the joint has no coordinate then."
    )


def _rank(body: Body, order: Mapping[str, int]) -> int:
    """Coordinates come in the order in which joints were declared, as far as parents come first."""
    name = body.name if body.name in order else body.name.rpartition(".")[0]
    return order.get(name, order.get(body.parent, -1))


def _lighter(body: Body, share: float) -> Body:
    if share == 1.0:
        return body
    inertia = tuple(tuple(share * x for x in row) for row in body.inertia_rows)
    return body.again(mass=share * body.mass, inertia=inertia)
