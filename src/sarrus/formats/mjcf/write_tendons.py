"""Coordinates that stand for fixed tendons, written as tendons again; `tendons` makes them of MJCF.

Such a coordinate is a slide on the ground without mass that carries nothing. One Coupling without an offset
holds it to a sum of hinges and slides.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from sarrus.constraints.couplings import Coupling
from sarrus.formats.mjcf.write_parts import JointExtras, limits_in_words
from sarrus.formats.writing.xml_text import add, nonzero, number
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.tree.bodies import GROUND, Body
from sarrus.models.tree.joint import NodeKind
from sarrus.models.tree.joints import Prismatic

NEGLIGIBLE = 1e-9  # inertia of a tendon, relative to the least of its joints, that only makes M regular
SINGLE = (NodeKind.HINGE, NodeKind.SLIDE)

Tendons = dict[str, dict[str, float]]  # joints and coefficients of each


def fixed_tendons(mech: Mechanism) -> Tendons:
    """Coordinates that fixed tendons can say, something pulling at them: joints and coefficients of each."""
    model = mech.model
    used, bodies = model.bodies_in_use | {body.parent for body in model.bodies}, model.bodies[1:]
    slides = [body.name for body in bodies if _is_bare(body) and body.name not in used]
    hinges_and_slides = [body for body in bodies if set(body.joint.node_kinds) <= set(SINGLE)]
    single = {name for body in hinges_and_slides for name in body.coordinate_names} - set(slides)
    found: Tendons = {}
    for name in slides:
        terms = _sum_that_holds(mech, name)
        own = terms.pop(name, 0.0)
        if terms and terms.keys() <= single and _is_pulled(mech, name):
            found[name] = {joint: -c / own for joint, c in terms.items()}
    return found


def _sum_that_holds(mech: Mechanism, name: str) -> dict[str, float]:
    """Coefficients of the only constraint on a coordinate, where that is a sum without offset; else none."""
    held = [entry for _, entry in mech.model.constraints if name in entry.coordinates()]
    if len(held) != 1 or not isinstance(held[0], Coupling) or held[0].offset != 0.0:
        return {}
    return dict(held[0].terms)


def write_tendons(mech: Mechanism, tendons: Tendons, extras: JointExtras, section: ET.Element) -> None:
    """Their joints, and armature, losses, springs and limits."""
    diagonal = np.diag(mech.mass_matrix(mech.neutral()))
    for name, terms in tendons.items():
        body = mech.model.bodies[mech.model.body_index(name)]
        least = min(float(diagonal[mech.names.index(joint)]) for joint in terms)
        armature = body.armature[0] if body.armature[0] > NEGLIGIBLE * least else 0.0
        springs, damping = extras.springs.get(name, []), body.damping[0] + extras.dampers.get(name, 0.0)
        stiffness = sum(k for k, _ in springs)
        rest = sum(k * x for k, x in springs) / stiffness if stiffness else 0.0
        element = add(
            section,
            "fixed",
            name=name,
            armature=nonzero([armature]),
            damping=nonzero([damping]),
            frictionloss=nonzero([body.friction[0]]),
            stiffness=nonzero([stiffness]),
            springlength=number(rest) if stiffness else None,
            range=limits_in_words(body.limits[0]),
        )
        for joint, coefficient in terms.items():
            add(element, "joint", joint=joint, coef=number(coefficient))


def _is_bare(body: Body) -> bool:
    """Whether it is a slide on the ground without mass."""
    return (
        isinstance(body.joint, Prismatic)
        and body.parent == GROUND
        and body.mass == 0.0
        and not np.any(body.inertia)
        and not (body.breakaway[0] or body.stop_stiffness[0])
    )


def _is_pulled(mech: Mechanism, name: str) -> bool:
    """Whether an actuator, a spring, losses or limits act along it; the reader drops others."""
    body = mech.model.bodies[mech.model.body_index(name)]
    forces = [entry for _, entry in mech.model.forces if name in entry.coordinates()]
    limited = limits_in_words(body.limits[0]) is not None
    return name in mech.actuators or bool(forces) or limited or any((*body.damping, *body.friction))
