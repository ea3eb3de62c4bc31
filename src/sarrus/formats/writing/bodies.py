"""The bodies of a mechanism as robot files want them: drawn at a pose, with joints anywhere on a link.

Readers make a massless body of each joint of a file and fix the link to the last one (`link_frames`). Here
this is undone: such a body is merged into the one body that it carries, whose joints are then several, each
with its axis and its place in the frame of the link at the drawn pose q0. Links without mass between two
joints, which simulators want none of, are merged too where nothing refers to them:

    X(q) = X(q0) exp(S_1 (q_1 - q0_1)) exp(S_2 (q_2 - q0_2)) ...

with the screws S_k in the frame of the link, as in MuJoCo's kinematics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from sarrus.arrays import Array
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.tree.bodies import GROUND, Body
from sarrus.models.tree.joint import NODE_NQ, NODE_NV, NodeKind, Primitive

SCREW, HINGE, SLIDE, BALL, FREE = (
    NodeKind.SCREW, NodeKind.HINGE, NodeKind.SLIDE, NodeKind.BALL, NodeKind.FREE
)  # fmt: skip


@dataclass(frozen=True)
class WrittenJoint:
    """A primitive joint of a written body.

    Attributes:
        name: Name of its coordinate, or of its body where it has several coordinates.
        kind: Hinge, slide, screw, ball or free.
        axis: Its axis in the frame of the written body, (3,).
        place: A point of that axis in the frame of the written body [m], (3,).
        q: Its position at the drawn pose, (1,), (4,) or (7,).
        body: The declared body that it carries.
        first: Its first coordinate among those of `body`.
        pitch: Of a screw [m/rad].
    """

    name: str
    kind: NodeKind
    axis: Array
    place: Array
    q: Array
    body: Body
    first: int
    pitch: float = 0.0


@dataclass
class WrittenBody:
    """A body of the file: `at` is its frame in that of its parent at the drawn pose."""

    body: Body
    parent: str
    at: Pose
    joints: list[WrittenJoint] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name."""
        return self.body.name


@dataclass(frozen=True)
class WrittenBodies:
    """All bodies, parents first.

    Attributes:
        bodies: By name, without the ground.
        frames: For every declared body the written body that has it, and its frame there.
        poses: Of every declared body in the world at the drawn pose.
        apart: Names of the frames that are written as such.
    """

    bodies: dict[str, WrittenBody]
    frames: dict[str, tuple[str, Pose]]
    poses: dict[str, Pose]
    apart: tuple[str, ...] = ()

    def frame(self, body: str, at: Pose) -> tuple[str, Pose]:
        """A frame on a declared body as one on the body of the file that has it."""
        owner, offset = self.frames[body]
        return owner, offset @ at if not offset.is_identity else at


def write_bodies(
    mech: Mechanism,
    q: Array,
    several: bool,
    offsets: bool,
    without: Collection[str] = (),
    frames_apart: bool = False,
) -> WrittenBodies:
    """The bodies of the file.

    Args:
        mech: The mechanism.
        q: The pose that is drawn, (nq,).
        several: Whether a body of the file may have several joints.
        offsets: Whether a joint may be elsewhere than in the origin of its body.
        without: Bodies that are left out; nothing hangs on them.
        frames_apart: Whether the format has frames on bodies: those of the mechanism are no bodies then.
    """
    apart = mech.frames if frames_apart else {}
    left_out = {*without, *apart}
    chains = {name: chain for name, chain in _chains(mech, several, offsets, apart).items()
              if name not in left_out}  # fmt: skip
    poses = {name: mech.pose(q, name) for name in mech.body_names}
    slices = mech.model.q_slices
    frames: dict[str, tuple[str, Pose]] = {GROUND: (GROUND, Pose())}
    written: dict[str, WrittenBody] = {}
    for name, chain in chains.items():
        at = poses[chain[0].parent].inverse() @ poses[name]
        own = WrittenBody(chain[-1], chain[0].parent, at if np.any(q) else _neutral(chain))
        to_link = Pose()
        for body in reversed(chain):
            frames[body.name] = (name, to_link.inverse())
            values = q[slices[mech.model.body_index(body.name)]]
            to_link = body.at @ _add_joints(own, body, values, to_link)
        own.joints.reverse()
        written[name] = own
    for name, frame in apart.items():
        owner, offset = frames[frame.body]
        frames[name] = owner, offset @ frame.at if not offset.is_identity else frame.at
    return WrittenBodies(written, frames, poses, tuple(apart))


def _neutral(chain: list[Body]) -> Pose:
    """The last body in the parent of the first, all positions zero: no rounding."""
    at = chain[0].at
    for body in chain[1:]:
        at = at @ body.at if not body.at.is_identity else at
    return at


def _add_joints(own: WrittenBody, body: Body, values: Array, to_link: Pose) -> Pose:
    """Append the joints of a declared body, last first; returns the link in the frame before them."""
    nodes = body.joint.primitives()
    q_end, v_end = len(values), body.joint.nv
    for node in reversed(nodes):
        q_end, v_end = q_end - NODE_NQ[node.kind], v_end - NODE_NV[node.kind]
        value = values[q_end : q_end + NODE_NQ[node.kind]]
        back = to_link.inverse()
        one = NODE_NV[node.kind] == 1
        name = body.coordinate_names[v_end] if one else body.name
        axis = back.rotation @ np.array(node.axis)
        given = {"body": body, "first": v_end, "pitch": node.pitch}
        own.joints.append(WrittenJoint(name, node.kind, axis, back.xyz, value, **given))
        to_link = moved(node, value) @ to_link
    return to_link


def moved(node: Primitive, q: Array) -> Pose:
    """The motion of a primitive joint from its neutral position to q."""
    if not np.any(q):
        return Pose()
    axis = np.array(node.axis)
    if node.kind == SLIDE:
        return Pose(float(q[0]) * axis)
    if node.kind in (HINGE, SCREW):
        half = 0.5 * float(q[0])
        return Pose(node.pitch * float(q[0]) * axis, quat=(*(math.sin(half) * axis), math.cos(half)))
    return Pose(quat=q) if node.kind == BALL else Pose(q[:3], quat=q[3:])


def _chains(mech: Mechanism, several: bool, offsets: bool, apart: Collection[str]) -> dict[str, list[Body]]:
    """For each body of the file the declared bodies that it is made of, the one next to its parent first.

    Frames that are written `apart` do not keep a body from being merged into the one that it carries.
    """
    bodies = mech.model.bodies[1:]
    children = Counter(body.parent for body in bodies if body.name not in apart)
    used = mech.model.bodies_in_use
    chains: dict[str, list[Body]] = {}
    for body in bodies:
        before = chains.get(body.parent, [])
        alone = children[body.parent] == 1 and body.name not in apart
        continues = bool(before) and alone and _is_carrier(before, several)
        if continues and _may_merge(before, body, several and body.parent not in used, offsets):
            chains[body.name] = [*chains.pop(body.parent), body]
        else:
            chains[body.name] = [body]
    return chains


def _is_carrier(before: list[Body], several: bool) -> bool:
    """Whether the last of some bodies has no mass and a joint, or where allowed is a link after a joint."""
    last = before[-1]
    between = several and any(body.joint.nv for body in before)
    return last.mass == 0.0 and not np.any(last.inertia) and (last.joint.nv > 0 or between)


def _may_merge(before: list[Body], body: Body, several: bool, offsets: bool) -> bool:
    kinds = [kind for one in (*before, body) for kind in one.joint.node_kinds]
    turned = not np.array_equal(body.at.rotation, np.eye(3))
    if body.joint.nv or not before[-1].joint.nv:
        return several and FREE not in kinds and BALL not in kinds
    if FREE in kinds or (BALL in kinds and turned) or not offsets:
        return body.at.is_identity
    return True
