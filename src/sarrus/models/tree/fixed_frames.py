"""Frames: bodies without mass that are fixed to others, and on which nothing hangs but frames."""

from __future__ import annotations

from collections.abc import Sequence

from ..shapes.drawing import Frame
from .bodies import COPY, GROUND, Body


def frames_of(bodies: Sequence[Body]) -> dict[str, Frame]:
    """The bodies that are frames, by name: each with the body that carries it and its pose there.

    Args:
        bodies: Parents before children.
    """
    carriers: set[str] = set()
    for body in reversed(bodies):
        if not _may_be(body, carriers):
            carriers.add(body.parent)
    found: dict[str, Frame] = {}
    for body in bodies:
        if body.name != GROUND and _may_be(body, carriers):
            carrier = found.get(body.parent)
            at = body.at if carrier is None else carrier.at @ body.at
            found[body.name] = Frame(body.parent if carrier is None else carrier.body, at)
    return found


def _may_be(body: Body, carriers: set[str]) -> bool:
    """Whether a body has no mass, is fixed, and carries none of `carriers`."""
    light = body.mass == 0.0 and not any(x for row in body.inertia_rows for x in row)
    return light and not body.joint.nv and COPY not in body.name and body.name not in carriers
