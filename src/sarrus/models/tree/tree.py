"""Tree: bodies in topological order, each lowered to a chain of primitive nodes.

A hinge, slide or screw node is turned so that its axis is z: with A e_z = axis, N = J A X(q), where J is the
joint frame in the parent, and the body frame is B = N A^T. A Fixed body has no node: it is a constant frame
on its parent's node. Composite joints are chains of nodes of which only the last one carries the body.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...errors import ModelError, require_known, unknown_name
from ...varied import is_varied
from ..base.axes import turn_z_to
from ..base.pose import Pose, known_pose
from .bodies import GROUND, Body, ground_body
from .coordinates import CoordinateNames
from .joint import NODE_NQ, NODE_NV, NodeKind, coordinate_is_angle, primitives_of


@dataclass(frozen=True)
class Node:
    """One moving frame: primitive joint, parent node, joint frame X_PJ in it, first indices into q and v."""

    kind: NodeKind
    parent: int
    X_PJ: Pose
    iq: int
    iv: int
    pitch: float = 0.0

    @property
    def columns(self) -> range:
        """Indices into v."""
        return range(self.iv, self.iv + NODE_NV[self.kind])


@dataclass(frozen=True)
class Place:
    """Place of a body in the tree: its node, its frame X_NB on it, its coordinates."""

    node: int
    X_NB: Pose
    q: slice
    v: slice


@dataclass(frozen=True)
class Tree:
    """Bodies (ground first, parents before children, else in the order of declaration) and their nodes."""

    bodies: tuple[Body, ...]
    nodes: tuple[Node, ...]
    places: tuple[Place, ...]

    @property
    def nq(self) -> int:
        """Length of q."""
        return sum(NODE_NQ[node.kind] for node in self.nodes)

    @property
    def nv(self) -> int:
        """Length of v."""
        return sum(NODE_NV[node.kind] for node in self.nodes)

    @cached_property
    def names(self) -> dict[str, int]:
        """Index of each body."""
        return {body.name: i for i, body in enumerate(self.bodies)}

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of v, (nv,)."""
        return tuple(self.by_name.index)

    @cached_property
    def coordinate_is_angle(self) -> tuple[bool, ...]:
        """For each entry of v whether it is an angle rather than a length, (nv,)."""
        return tuple(x for node in self.nodes for x in coordinate_is_angle(node.kind))

    @cached_property
    def coordinate_q(self) -> tuple[int, ...]:
        """For each entry of v the entry of q that it changes, -1 where there is no single one, (nv,)."""
        return tuple(node.iq if len(node.columns) == 1 else -1 for node in self.nodes for _ in node.columns)

    @cached_property
    def first_order(self) -> tuple[bool, ...]:
        """For each entry of v whether it is a state of first order, (nv,)."""
        return tuple(self.each("first_order"))

    def each(self, name: str) -> list[Any]:
        """A property of the joints, such as "armature", for each entry of v, (nv,)."""
        return [x for body in self.bodies for x in getattr(body, name)]

    def body_index(self, name: object, where: str = "") -> int:
        """Index of a body, or an error that lists the bodies."""
        return self.names[require_known("body", name, self.names, where)]

    def frame(self, body: str, X_BF: Pose, where: str = "") -> tuple[int, Pose]:
        """A frame given on a body: its node and X_NF."""
        place = self.places[self.body_index(body, where)]
        return place.node, place.X_NB @ X_BF

    def point(self, body: str, p_BP: ArrayLike, where: str = "") -> tuple[int, Array]:
        """A point given in a body frame: its node and p_NP."""
        place = self.places[self.body_index(body, where)]
        return place.node, place.X_NB.apply(p_BP)

    @cached_property
    def by_name(self) -> CoordinateNames:
        """Coordinates by name."""
        return CoordinateNames(self.bodies)

    def coordinates(self, name: object, where: str = "") -> tuple[int, ...]:
        """Indices into v of a coordinate, or of all coordinates of a joint."""
        return self.by_name.find_all(name, where)

    def coordinate(self, name: object, where: str = "") -> int:
        """Index into v of one coordinate."""
        return self.by_name.find(name, where)

    def scalar(self, name: object, where: str = "") -> tuple[int, int]:
        """Indices into q and v of a coordinate that is an angle or a displacement."""
        k = self.by_name.find(name, where, scalar=True)
        return self.coordinate_q[k], k

    def path(self, node: int) -> list[int]:
        """Nodes from `node` up to, not including, the ground."""
        nodes = []
        while node > 0:
            nodes.append(node)
            node = self.nodes[node].parent
        return nodes


def sort_bodies(declared: Sequence[Body]) -> tuple[Body, ...]:
    """Ground, then the bodies with parents before children, otherwise in the order of declaration."""
    index = {body.name: i for i, body in enumerate(declared)}
    children: dict[str, list[int]] = {}
    for i, body in enumerate(declared):
        if body.parent != GROUND and body.parent not in index:
            raise unknown_name("parent", body.parent, [GROUND, *index], f"body {body.name!r}")
        children.setdefault(body.parent, []).append(i)
    order: list[Body] = [ground_body()]
    ready = list(children.get(GROUND, []))
    heapq.heapify(ready)
    while ready:
        body = declared[heapq.heappop(ready)]
        order.append(body)
        for i in children.get(body.name, []):
            heapq.heappush(ready, i)
    if len(order) <= len(declared):
        raise _cycle(declared, index, {body.name for body in order})
    return tuple(order)


def _cycle(declared: Sequence[Body], index: dict[str, int], reached: set[str]) -> ModelError:
    name = next(body.name for body in declared if body.name not in reached)
    seen: list[str] = []
    while name not in seen:
        seen.append(name)
        name = declared[index[name]].parent
    loop = [*seen[seen.index(name) :], name]
    return ModelError(
        f"body {name!r} is its own ancestor: parents run {' -> '.join(loop)}. "
        "Give one of these bodies another parent and close the loop with spec.close()."
    )


def build_tree(declared: Sequence[Body]) -> Tree:
    """Lower bodies to nodes."""
    bodies = sort_bodies(declared)
    nodes = [Node(NodeKind.GROUND, 0, Pose(), 0, 0)]
    places = [Place(0, Pose(), slice(0, 0), slice(0, 0))]
    index = {body.name: i for i, body in enumerate(bodies)}
    iq = iv = 0
    for body in bodies[1:]:
        parent = places[index[body.parent]]
        node, X = parent.node, parent.X_NB @ body.at  # X: the joint frame, then the body frame, on that node
        q_start, v_start = iq, iv
        for primitive in primitives_of(body.joint):
            A, X_back = _turned_to(primitive.axis)
            nodes.append(Node(primitive.kind, node, X @ A, iq, iv, primitive.pitch))
            node, X = len(nodes) - 1, X_back
            iq, iv = iq + NODE_NQ[primitive.kind], iv + NODE_NV[primitive.kind]
        places.append(Place(node, X, slice(q_start, iq), slice(v_start, iv)))
    return Tree(bodies, tuple(nodes), tuple(places))


@lru_cache(maxsize=1000)
def _turned_to(axis: tuple[float, float, float]) -> tuple[Pose, Pose]:
    """The rotation A with A e_z = axis, and its inverse; many joints share few axes."""
    rotation = turn_z_to(np.array(axis))
    A = known_pose(np.zeros(3), rotation) if is_varied(rotation) else Pose(matrix=rotation)
    return A, A.inverse()


def tree_arrays(tree: Tree) -> dict[str, Any]:
    """The fields of the kernel's model that the structure of the tree fills."""
    nodes, places = tree.nodes, tree.places
    return {
        **{name: [getattr(node, name) for node in nodes] for name in ("parent", "iq", "iv", "pitch")},
        "joint": [int(node.kind) for node in nodes],
        "R_PJ": [node.X_PJ.rotation for node in nodes],
        "p_PJ": [node.X_PJ.xyz for node in nodes],
        "body_node": [place.node for place in places],
        "R_NB": [place.X_NB.rotation for place in places],
        "p_NB": [place.X_NB.xyz for place in places],
    }
