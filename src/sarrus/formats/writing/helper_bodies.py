"""Helper bodies: closures that a format has no equality for, as a joint of the tree and a weld or a connect.

A loop from frame A on body a to frame B on body b whose joint is a chain of hinges and slides becomes a
helper body, drawn at frame B: the chain carries it on a, and a weld ties it to b. For a point of b on a
line, plane or cylinder of a, slides carry the helper and a connect ties it to the point.

The helper takes a part of the inertia of b (or of what is rigidly fixed to b), and b keeps the rest, so that
the motion stays exactly the same and no body is without mass. With Sigma, the
integral of (r, 1) (r, 1).T dm over b, and n helpers on b, the helper gets Sigma / (n + 1) if it is welded,
and a point mass of 1 / (x.T Sigma^+ x) / (n + 1) at x = (p, 1) if it is connected: no more than b consists
of. Where b has no mass, the helper of a weld hangs on b, by the chain backwards, and is welded to a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.constraints.closures import Closure
from sarrus.constraints.points import PointOnCylinder, PointOnLine, PointOnPlane
from sarrus.formats.writing.bodies import WrittenBodies
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.axes import direction, turn_z_to
from sarrus.models.base.pose import Pose
from sarrus.models.shapes.drawing import Frame
from sarrus.models.tree.bodies import GROUND, Body
from sarrus.models.tree.joint import NodeKind
from sarrus.models.tree.joints import Universal

HELPER = ".helper"  # ends the names of helper bodies
Node = tuple[NodeKind, Array, Array, float]  # kind, axis and place in the frame of the helper, pitch


@dataclass(frozen=True)
class Helper:
    """A helper body.

    Attributes:
        name: Name of the loop.
        parent: Where it hangs: a declared body, and its frame there at the drawn pose.
        tied: The frame of another body that it coincides with.
        welded: Whether the frames coincide, or their origins only.
        nodes: The chain that carries it.
        donor: The declared body whose inertia it shares, and the helper in the frame of that body; None where
            nothing near has mass.
    """

    name: str
    parent: Frame
    tied: Frame
    welded: bool
    nodes: tuple[Node, ...]
    donor: tuple[str, Pose] | None


def chain_of(entry: Any, R_AB: Array, p_AB: Array) -> list[Node] | None:
    """What carries frame B on frame A in a constraint, axes and places in B at the drawn pose; None: nothing.

    Args:
        entry: The constraint.
        R_AB: Rotation of B in A at the drawn pose, (3, 3).
        p_AB: Origin of B in A at the drawn pose [m], (3,).
    """
    here = np.zeros(3)
    if isinstance(entry, Closure):
        nodes = [(n.kind, R_AB.T @ np.array(n.axis), here, n.pitch) for n in entry.joint.primitives()]
        if isinstance(entry.joint, Universal):
            nodes[1] = (NodeKind.HINGE, entry.joint.directions[1], here, 0.0)
        return nodes
    if isinstance(entry, PointOnPlane):
        across = turn_z_to(direction(entry.normal)).T[:2]
        return [(NodeKind.SLIDE, R_AB.T @ x, here, 0.0) for x in across]
    if isinstance(entry, PointOnLine):
        return [(NodeKind.SLIDE, R_AB.T @ direction(entry.direction), here, 0.0)]
    if isinstance(entry, PointOnCylinder):
        along = R_AB.T @ direction(entry.axis)
        return [(NodeKind.HINGE, along, -R_AB.T @ p_AB, 0.0), (NodeKind.SLIDE, along, here, 0.0)]
    return None


def make_helpers(mech: Mechanism, written: WrittenBodies, looped: list[tuple[str, Any]]) -> list[Helper]:
    """Helpers for the constraints that have chains."""
    groups = rigid_groups(mech)
    return [helper for name, entry in looped if (helper := _helper(name, entry, written, groups)) is not None]


def _helper(name: str, entry: Any, written: WrittenBodies, groups: dict[str, list[Body]]) -> Helper | None:
    a, b = entry.ends()
    X_a, X_b = written.poses[a.body] @ a.at, written.poses[b.body] @ b.at
    X_AB = X_a.inverse() @ X_b
    nodes = chain_of(entry, X_AB.rotation, X_AB.xyz)
    if nodes is None:
        return None
    donor, welded = _donor(groups[b.body], written, X_b), isinstance(entry, Closure)
    if donor is not None or not welded:
        parent = Frame(a.body, written.poses[a.body].inverse() @ X_b)
        return Helper(name, parent, b, welded, tuple(nodes), donor)
    # backwards: drawn at A, axes and places from B to A
    turned = [
        (kind, X_AB.rotation @ axis, X_AB.apply(place), pitch) for kind, axis, place, pitch in nodes[::-1]
    ]
    parent = Frame(b.body, written.poses[b.body].inverse() @ X_a)
    return Helper(name, parent, a, True, tuple(turned), _donor(groups[a.body], written, X_a))


def rigid_groups(mech: Mechanism) -> dict[str, list[Body]]:
    """For each body all that are rigidly fixed to it, itself included; for the ground nothing."""
    first: dict[str, str] = {GROUND: GROUND}
    groups: dict[str, list[Body]] = {GROUND: []}
    for body in mech.model.bodies[1:]:
        first[body.name] = first[body.parent] if not body.joint.nv else body.name
        groups.setdefault(first[body.name], []).append(body)
    return {name: groups[root] if root != GROUND else [] for name, root in first.items()}


def _donor(group: list[Body], written: WrittenBodies, X_helper: Pose) -> tuple[str, Pose] | None:
    heaviest = max(group, key=lambda body: body.mass, default=None)
    if heaviest is None or heaviest.mass == 0.0:
        return None
    return heaviest.name, written.poses[heaviest.name].inverse() @ X_helper
