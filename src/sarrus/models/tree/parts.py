"""Parts and joints as a designer knows them, from the bodies of a tree that was made of a drawing.

A drawn joint became a body without mass that carries a part, and a part that closes a loop a second copy that
shares its mass (`mechanism.describe.as_drawn`). Here the part is one again, and its joints lie between parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bodies import COPY, GROUND, Body, copies


@dataclass(frozen=True)
class PartJoint:
    """A joint between two parts.

    Attributes:
        name: of the joint, or of one of its coordinates where it is a chain.
        kind: in words.
        a, b: parts.
        coordinates: their names.
    """

    name: str
    kind: str
    a: str
    b: str
    coordinates: tuple[str, ...]


def parts_of(bodies: Sequence[Body]) -> list[tuple[str, float]]:
    """Parts and their masses [kg], in the order of the tree."""
    known = {body.name: body for body in bodies}
    shown = [body for body in bodies if body.name != GROUND and COPY not in body.name]
    carriers = _carriers(bodies)
    whole = [body.name for body in shown if body.name not in carriers]
    return [(name, sum(known[one].mass for one in copies(name, known))) for name in whole]


def joints_of(bodies: Sequence[Body]) -> list[PartJoint]:
    """Joints that move, between parts; of a joint that became a chain each of its coordinates."""
    carriers, known = _carriers(bodies), {body.name: body for body in bodies}
    found = []
    for body in bodies:
        if body.joint.nv:
            below, above = body.name, body.parent
            while below in carriers:
                below = carriers[below]
            while above in carriers:
                above = known[above].parent
            a, b = (name.partition(COPY)[0] for name in (above, below))
            ends = (b, a) if body.backwards else (a, b)
            found.append(PartJoint(body.name, body.joint.label(), *ends, body.coordinate_names))
    return found


def _carriers(bodies: Sequence[Body]) -> dict[str, str]:
    """Bodies without mass that stand for a joint: the body that each of them carries."""
    known, found = {body.name: body for body in bodies}, dict[str, str]()
    for body in bodies:
        on = known.get(body.parent, body)
        if _stands_for_joint(on) and _goes_on(on, body):
            found.setdefault(on.name, body.name)
    return found


def _stands_for_joint(body: Body) -> bool:
    """Whether a body has no mass and moves, or ends the chain of a joint that was turned around."""
    ends_chain = body.parent.startswith(f"{body.name}.")
    return not body.mass and body.name != GROUND and bool(body.joint.nv or ends_chain)


def _goes_on(on: Body, body: Body) -> bool:
    """Whether a body is fixed to the one below it, or moves by a further coordinate of the same joint."""
    return not body.joint.nv or _joint_name(body) == _joint_name(on) != ""


def _joint_name(body: Body) -> str:
    """Of the joint that a link of a chain belongs to; "" for other bodies."""
    return body.name.rpartition(".")[0]
