"""Meshing: what couples the joints of two bodies and loads these bodies where teeth or strands touch them.

The row relates coordinates, as a Coupling does, in metres of pitch line, so that its multiplier is the
tangential force [N]. What it loads the bodies with is constant in the frame of what carries the axes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..models.base.pose import Pose
from ..models.model import RowGroup
from ..models.tree.joint import Joint, NodeKind
from ..models.tree.tree import Tree
from ..stepped_numbers import unit
from .couplings import lower_coupling
from .rows import Constraint, Rows

MESHES = 1e-6  # of the centre distance
Line = tuple[Array, Array]  # a point and the unit vector of an axis, in the world


@dataclass(frozen=True)
class Meshing(Constraint, base=True):
    """Base of what couples the joints of two bodies and loads these bodies; it has an `offset` [m]."""

    loads_bodies: ClassVar[bool] = True
    loads_by_kernel: ClassVar[bool] = True
    a: str
    b: str

    def coordinates(self) -> tuple[str, ...]:
        return (self.a, self.b)

    @abstractmethod
    def rates(self, a: Line, b: Line, where: str) -> tuple[float, float]:
        """Pitch-line velocity per unit of both coordinates, in the pose with all coordinates zero."""

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        where = f"constraint {name!r}"
        lines = []
        for end, kinds in ((self.a, (NodeKind.HINGE,)), (self.b, self.ends_with())):
            i = tree.body_index(end, where)
            joint = tree.bodies[i].joint
            if joint.node_kinds not in [(kind,) for kind in kinds] or tree.bodies[i].backwards:
                words = " or ".join(kind.name.lower() for kind in kinds)
                raise ModelError(
                    f"{where}: {end!r} must be carried by a {words} joint that is declared from what carries"
                    f" it, got {joint.label()}."
                )
            lines.append(axis_line(neutral_place(tree, i), joint))
        k_a, k_b = self.rates(lines[0], lines[1], where)
        terms = {self.a: k_a, self.b: -k_b}
        carrier, k = self._carrier(tree, lines, (k_a, -k_b), where)
        if carrier:
            terms[carrier] = -k
        group, offset = RowGroup(name, type(self).__name__), vars(self)["offset"]
        self._lower_wrench(tree, rows, carrier or moving_parent(tree, self.a))
        lower_coupling(group, terms, tree, rows, offset=offset, drive=-1, kind="m")

    def _lower_wrench(self, tree: Tree, rows: Rows, carrier: str) -> None:
        """What a is loaded with at lam = 0, by lam and by |lam|, in the frame of the node that carries the
        axes, in which it is constant; b bears the opposite."""
        where, i = tree.names, tree.names[carrier] if carrier else 0
        X_NW = tree.places[i].X_NB @ neutral_place(tree, i).inverse()

        def wrench(lam: float) -> Array:
            loads = self.loads(
                lambda name: neutral_place(tree, where[name]),
                lambda name: tree.bodies[where[name]].joint,
                np.array([lam]),
            )
            each = [(X_NW.rotation @ f, X_NW.apply(p)) for body, f, p in loads if body == self.a]
            return np.asarray(np.sum([np.concatenate([f, np.cross(p, f)]) for f, p in each], axis=0))

        none, forwards, backwards = wrench(0.0), wrench(1.0), wrench(-1.0)
        parts = none, 0.5 * (forwards - backwards), 0.5 * (forwards + backwards) - none
        a, b = (tree.places[where[end]].node for end in (self.a, self.b))
        rows.append(mesh_id=len(rows.columns.get("mesh_id", ())))
        rows.append(mesh_row=len(rows.names), mesh_frame=tree.places[i].node, mesh_a=a, mesh_b=b)
        rows.append(mesh_wrench=np.concatenate(parts))

    def ends_with(self) -> tuple[NodeKind, ...]:
        """Kinds of joints that can carry b."""
        return (NodeKind.HINGE,)

    def _carrier(
        self, tree: Tree, lines: list[Line], rates: tuple[float, float], where: str
    ) -> tuple[str, float]:
        """The joint of a planet carrier with the rate of the gear that it is coaxial with; ("", 0): none."""
        up_a, up_b = (moving_parent(tree, end) for end in (self.a, self.b))
        if up_a == up_b:
            return "", 0.0
        for arm, other, (p, n), rate in ((up_b, up_a, lines[0], rates[0]), (up_a, up_b, lines[1], rates[1])):
            if not arm or moving_parent(tree, arm) != other:
                continue
            i = tree.names[arm]
            if not tree.bodies[i].joint.is_hinge:
                continue
            p_arm, n_arm = axis_line(neutral_place(tree, i), tree.bodies[i].joint)
            aside: Any = np.linalg.norm(np.cross(p_arm - p, n))
            if aside < MESHES * (1.0 + np.linalg.norm(p)) and abs(abs(n_arm @ n) - 1.0) < MESHES:
                turned: Any = n_arm @ n
                return arm, rate * turned
        raise ModelError(
            f"{where}: {self.a!r} and {self.b!r} must be carried by the same body, or one of them by a"
            " carrier that turns about the axis of the other."
        )


def neutral_place(tree: Tree, i: int) -> Pose:
    """Frame of a body in the world with all coordinates zero."""
    body = tree.bodies[i]
    return body.at if i == 0 else neutral_place(tree, tree.names[body.parent]) @ body.at


def moving_parent(tree: Tree, name: str) -> str:
    """The nearest body above this one that a joint moves, "" for the ground."""
    i = tree.names[tree.bodies[tree.names[name]].parent]
    while i and tree.bodies[i].joint.nv == 0:
        i = tree.names[tree.bodies[i].parent]
    return tree.bodies[i].name if i else ""


def axis_line(at: Pose, joint: Joint) -> Line:
    axis = at.rotation @ np.array(joint.primitives()[0].axis)
    return np.array(at.xyz), unit(axis)


def across_axis(x: Array, n: Array) -> Array:
    """The part of x at right angles to n."""
    return np.asarray(x - (x @ n) * n)
