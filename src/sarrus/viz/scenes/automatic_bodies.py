"""Bodies without shapes of their own: links, plates, rods, springs, wheels and balls at the ends of bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from ...arrays import Array
from ...models.shapes.drawing import Disc
from ...models.tree.bodies import GROUND
from . import triangles as tri
from .boxes import Box
from .layout import Layout
from .skeleton import Part
from .solids import DARK, FOOT, TIMBER, Solid, meshed


def part(layout: Layout, part: Part) -> Iterator[Solid]:
    """A part of the stick figure as a solid; stems to centres of mass are left out."""
    body, ends, r = part.anchors[0][0], part.anchors, layout.radius
    color, _ = layout.look(body)
    if part.kind == "link" and layout.plane is None:
        for pair in pairwise(ends):
            yield Solid("bar", pair, color, r, name=part.owner)
    elif part.kind == "link":
        flat = [layout.slab(body, pair) for pair in pairwise(ends)]
        yield meshed(body, tri.joined(flat), color, part.owner)
    elif part.kind == "plate":
        yield meshed(body, layout.slab(body, ends), color, part.owner)
    elif part.kind == "rod":
        for pair in pairwise(ends):
            yield Solid("bar", layout.lifted(pair, part.owner), DARK, 0.45 * r, name=part.owner)
    elif part.kind == "spring":
        spring = None if part.stiffness is None or part.rest is None else (part.stiffness, part.rest)
        lifted = layout.lifted(ends, part.owner)
        yield Solid("coil", lifted, DARK, 0.6 * r, name=part.owner, spring=spring)
        for anchor in lifted:
            if layout.roots[anchor[0]] == GROUND:
                yield Solid("ball", (anchor,), FOOT, 0.9 * r, name="ground")


def wheels(layout: Layout, seen: set[str]) -> Iterator[Solid]:
    """A wheel for bodies that turn about their own mass and have nothing else to show."""
    shown = {layout.roots.get(name, name) for name in seen}
    for body in layout.mech.model.shown_bodies:
        if body.name in shown or not body.joint.is_hinge or body.mass <= 0.0:
            continue
        axis = body.joint.primitives()[0].axis
        square = float(axis @ np.array(body.inertia_rows) @ axis) / body.mass
        radius = float(np.clip(np.sqrt(2.0 * square), 1.5 * layout.radius, 0.5 * layout.mech.length))
        yield wheel(layout, Disc((body.name, np.array(body.com)), np.array(axis), radius))


def point_masses(layout: Layout) -> Iterator[Solid]:
    """A ball where a bar reaches out to a mass at its end."""
    held = layout.placed.points(layout.figure.pins)[0]
    masses = {body: (point, mass) for (body, point), mass in layout.figure.masses}
    for part in layout.parts:
        body, end = part.anchors[-1]
        if part.kind != "link" or part.is_declared or body not in masses:
            continue
        com, mass = masses[body]
        own = layout.mech.model.bodies[layout.mech.model.body_index(body)]
        spread = float(np.sqrt(np.trace(np.array(own.inertia_rows)) / mass))
        length = float(np.linalg.norm(end - part.anchors[0][1]))
        at = layout.placed.points([(body, end)])[0, 0]
        free = np.linalg.norm(held - at, axis=1).min(initial=np.inf) > 1e-6 * length
        if free and np.linalg.norm(com - end) < 1e-9 * length and spread < 0.35 * length:
            color, name = layout.look(body)
            yield Solid("ball", ((body, com + layout.shift(body)),), color, 2.4 * layout.radius, name=name)


def wheel(layout: Layout, disc: Disc) -> Solid:
    """A rim, spokes and a hub."""
    color, name = layout.look(disc.centre[0])
    (body, centre), turn, radius = disc.centre, tri.turn_to(disc.axis), disc.radius
    wide, thin = 0.2 * radius, 0.08 * radius
    rim = tri.cylinder(radius, wide, 0.86 * radius, 48)
    hub = tri.cylinder(0.18 * radius, 1.2 * wide)
    spokes = [
        tri.box((0.74 * radius, 0.09 * radius, thin)).moved(
            _about_z(angle), _about_z(angle)[:, 0] * 0.5 * radius
        )
        for angle in 2.0 * np.pi * np.arange(5) / 5.0
    ]
    lift = centre + layout.shift(body)
    return meshed(body, tri.joined([rim, hub, *spokes]).moved(turn, lift), color, name)


def cuboid(box: Box, names: Mapping[str, str]) -> Solid:
    half = (float(box.half[0]), float(box.half[1]), float(box.half[2]))
    name = names.get(box.body, box.body)
    return Solid("box", ((box.body, box.middle),), TIMBER, half=half, turn=box.turn, alpha=0.75, name=name)


def _about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
