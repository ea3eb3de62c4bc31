"""Which bodies of a closed robot make its tree, and which belong to linkages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import names
from ..errors import InputError, unknown_name
from ..models.base.pose import Pose
from ..models.model import RowGroup
from ..models.tree.bodies import GROUND, Body
from ..models.tree.joints import Fixed


@dataclass(frozen=True)
class Chain:
    """Bodies of the tree.

    Attributes:
        bodies: Those that hang on the ground by joints of the tree alone, in order, without the ground.
        welded: Bodies that a closure fixes to one of them: {name: (its body, pose in its frame)}.
        linkage: All others.
    """

    bodies: tuple[Body, ...]
    welded: dict[str, tuple[str, Pose]]
    linkage: tuple[Body, ...]

    @property
    def names(self) -> list[str]:
        return [body.name for body in self.bodies]

    @property
    def joints(self) -> list[str]:
        """Bodies of the tree whose joints move."""
        return [body.name for body in self.bodies if body.joint.nv]


def chain_of(mech: Any, serial: Sequence[str], used: npt.NDArray[np.bool_]) -> Chain:
    """The tree on some joints, on all joints that no constraint knows of, and on what is fixed to them.

    Args:
        mech: The closed robot.
        serial: Names of joints, or of coordinates of joints.
        used: Which coordinates occur in constraints (nv,).
    """
    bodies = {body.name: body for body in mech.model.bodies[1:]}
    chosen = _joints_named(mech, serial, bodies)
    inside: dict[str, Body] = {}
    for name, body in bodies.items():
        v = mech.index(name).v if body.joint.nv else slice(0)
        free = not np.any(used[v])
        hangs = body.parent == GROUND or body.parent in inside
        if hangs and (name in chosen or free):
            inside[name] = body
    for name in chosen:
        if name not in inside:
            _refuse(bodies, inside, name)
    welded = _welded(mech, inside, bodies)
    rest = tuple(body for name, body in bodies.items() if name not in inside and name not in welded)
    return Chain(tuple(inside.values()), welded, rest)


def _joints_named(mech: Any, serial: Sequence[str], bodies: dict[str, Body]) -> list[str]:
    """Bodies whose joints are named, wholly."""
    given = names([serial] if isinstance(serial, str) else serial, "serial")
    owner = {one: body.name for body in bodies.values() for one in body.coordinate_names}
    chosen: dict[str, set[str]] = {}
    for name in given:
        if name in bodies and bodies[name].joint.nv:
            chosen[name] = set(bodies[name].coordinate_names)
        elif name in owner:
            chosen.setdefault(owner[name], set()).add(name)
        else:
            known = dict.fromkeys([*(b.name for b in bodies.values() if b.joint.nv), *mech.names])
            raise unknown_name("joint or coordinate", name, list(known), "serial of twin")
    for name, found in chosen.items():
        if missing := set(bodies[name].coordinate_names) - found:
            raise InputError(
                f"serial of twin names some coordinates of the joint {name!r} and not"
                f" {', '.join(sorted(missing))}; a tree has the joint or not: name the joint."
            )
    return list(chosen)


def _refuse(bodies: dict[str, Body], inside: dict[str, Body], name: str) -> None:
    above = bodies[name].parent
    while above not in inside and bodies[above].parent != GROUND and bodies[above].parent not in inside:
        above = bodies[above].parent
    raise InputError(
        f"the joint {name!r} cannot be one of a tree: it hangs on {above!r}, whose joint is not in `serial`."
        f" Name {above!r} too; or describe the robot so that its main chain is the tree and linkages close"
        " its loops (spec.close)."
    )


def _welded(mech: Any, inside: dict[str, Body], bodies: dict[str, Body]) -> dict[str, tuple[str, Pose]]:
    """Bodies that Fixed closures hold on bodies of the tree, and what is fixed to those."""
    place: dict[str, tuple[str, Pose]] = {name: (name, Pose()) for name in (GROUND, *inside)}
    welds = [
        one
        for (_, one), group in zip(mech.model.constraints, mech.model.groups, strict=True)
        if _is_weld(group)
    ]
    before = -1
    while before != len(place):
        before = len(place)
        for loop in welds:
            a, b = loop.ends()
            for one, other in ((a, b), (b, a)):
                if one.body in place and other.body not in place:
                    owner, at = place[one.body]
                    place[other.body] = owner, at @ one.at @ other.at.inverse()
        for name, body in bodies.items():
            if not body.joint.nv and body.parent in place and name not in place:
                owner, at = place[body.parent]
                place[name] = owner, at @ body.at
    return {name: found for name, found in place.items() if name not in inside and name != GROUND}


def _is_weld(group: RowGroup) -> bool:
    """Whether a closure holds its bodies in all directions."""
    return group.kind == Fixed.__name__ and group.rows.stop - group.rows.start == 6
