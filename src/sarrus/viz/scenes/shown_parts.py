"""Bodies as pictures show them: parts of a drawing once, by their names, in colours of their own.

A part is carried by a body without mass that has the name of its joint; where a joint closes a loop, it
carries a copy of a part (mechanism/describe/as_drawn.py). Pictures show neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...mechanism.mechanism import Mechanism
from ...models.shapes.drawing import Drawing, Frame
from ...models.tree.bodies import COPY, GROUND, Body
from . import style


def copies_on_parts(mech: Mechanism) -> dict[str, Frame]:
    """Where copies of parts, and the bodies that carry them, are on the parts themselves."""
    names, found = set(mech.body_names), {}
    for body in mech.model.shown_bodies:
        part, at, joint = body.name.partition(COPY)
        if at and joint == body.parent and part in names:
            found[body.name], found[joint] = Frame(part), Frame(part, body.at.inverse())
    return found


def shown_constraints(mech: Mechanism) -> list[tuple[str, Any]]:
    """Constraints by name, without those that hold copies to their parts."""
    copies = set(copies_on_parts(mech))
    return [(name, one) for name, one in mech.model.constraints if not copies & set(one.bodies())]


def bare_coordinates(mech: Mechanism) -> frozenset[str]:
    """Bodies that only carry a coordinate (of a `Span`, of a tendon): no mass, no part, nothing held."""
    bodies = mech.model.shown_bodies
    used = mech.model.bodies_in_use | {body.parent for body in bodies}
    for _, measure in mech.model.measures:
        used.update(body for body, _ in measure.places())
    unused = [body for body in bodies if body.name not in used]
    return frozenset(
        body.name for body in unused if not (body.mass or np.any(body.inertia_matrix) or body.outline)
    )


def joint_drawing(body: Body, copies: Mapping[str, Frame], bare: frozenset[str]) -> Drawing:
    """What the joint that carries a body shows; nothing where it carries a coordinate only."""
    if body.name in bare:
        return Drawing()
    own = copies.get(body.name, Frame(body.name))
    return body.joint.drawing(Frame(body.parent, body.at), own, in_tree=True)


def shown_names(mech: Mechanism) -> dict[str, str]:
    """What each body is called: a copy like its part, one without mass like the only part fixed to it."""
    copies = copies_on_parts(mech)
    children: dict[str, list[Body]] = {body.name: [] for body in mech.model.bodies}
    for body in mech.model.shown_bodies:
        children[body.parent].append(body)
    names = {name: frame.body for name, frame in copies.items()}
    for body in mech.model.bodies:
        only = children[body.name][0] if len(children[body.name]) == 1 else body
        carries = body.joint.nv > 0 and not body.mass and not only.joint.nv
        names.setdefault(body.name, only.name if carries else body.name)
    return names


def body_colors(mech: Mechanism) -> dict[str, str]:
    """A colour for each body; those with one name share it."""
    names = shown_names(mech)
    order: dict[str, int] = {}
    return {
        body: style.cycle(order.setdefault(names[body], len(order)))
        for body in mech.body_names
        if body != GROUND
    }
