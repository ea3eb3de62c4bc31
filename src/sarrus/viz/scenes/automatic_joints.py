"""Joints: pins through the layers of hinges, drums and balls in space, guides with blocks and rollers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...models.shapes.drawing import Bearing, Rail
from ...models.tree.bodies import GROUND
from . import triangles as tri
from .automatic_bodies import wheel
from .layout import FLAT, Layout
from .shown_parts import joint_drawing, shown_constraints
from .solids import DARK, FOOT, Solid, meshed

PIN, HINGE = 0.42, 1.2  # radius of pins and of drums, over the radius of bars


def joints(layout: Layout) -> Iterator[Solid]:
    """Pins through the hinges of layers, drums about those in space, balls at others, rolling discs."""

    def is_covered(names: Iterable[str]) -> bool:
        return any(layout.roots[name] in layout.covered for name in names)

    for body in layout.mech.model.shown_bodies:
        if not is_covered((body.name, body.parent)):
            for one in joint_drawing(body, layout.copies, layout.bare).bearings:
                yield bearing(layout, one, body.parent, body.name, body.name)
    for name, given in shown_constraints(layout.mech):
        drawing, ends = given.drawing(), given.bodies()
        if not is_covered(ends):
            for one in drawing.bearings:
                yield bearing(layout, one, ends[0], ends[-1], name)
            yield from line_pins(layout, drawing.rails, name)
        yield from (wheel(layout, disc) for disc in drawing.discs)


def line_pins(layout: Layout, rails: tuple[Rail, ...], name: str) -> Iterator[Solid]:
    """A point held on a line that one looks along is a pin."""
    for rail in rails:
        if layout.plane is not None and not rail.is_plane and layout.is_pin(rail):
            pin = Bearing(rail.follower, layout.axes(rail.follower[0])[:, 2])
            yield bearing(layout, pin, rail.at[0], rail.follower[0], name)


def bearing(layout: Layout, one: Bearing, a: str, b: str, name: str) -> Solid:
    """A pin through two layers, a drum about an axis, or a ball."""
    (body, point), r = one.at, layout.radius
    if one.axis is None:
        return Solid("ball", (one.at,), DARK, HINGE * r, name=name)
    turn = tri.turn_to(one.axis)
    if layout.plane is None:
        return Solid("drum", (one.at,), DARK, HINGE * r, (1.15 * r,), turn, name=name)
    normal = layout.axes(body)[:, 2]
    heights = [float(layout.shift(end) @ layout.axes(end)[:, 2]) for end in (a, b)]
    low, high = min(heights) - 0.5 * FLAT * r, max(heights) + 0.5 * FLAT * r
    low, high = low - 0.12 * r, high + 0.12 * r
    middle = point + 0.5 * (low + high) * normal
    return Solid("drum", ((body, middle),), DARK, PIN * r, (0.5 * (high - low),), turn, name=name)


def guide(layout: Layout, rail: Rail) -> Iterator[Solid]:
    """A bar as long as the follower's way, and a block or a roller on it; planes in space are not shown."""
    if layout.is_pin(rail) or (rail.is_plane and layout.plane is None):
        return
    (carrier, point), r, direction = rail.at, layout.radius, rail.direction
    if rail.is_plane and layout.plane is not None:
        direction = np.cross(layout.axes(carrier)[:, 2], direction)
        if np.linalg.norm(direction) < 0.5:
            return
        direction = direction / np.linalg.norm(direction)
    at, run = (layout.placed.points([anchor])[:, 0] for anchor in (rail.at, rail.follower))
    way = layout.placed.along(carrier, direction)
    travel = np.sum((run - at) * way, axis=-1)
    ends = [min(0.0, float(travel.min())), max(0.0, float(travel.max()))]
    margin = 6.0 if layout.roots[carrier] == GROUND else 3.0 if rail.is_block else 1.0
    ends = [ends[0] - margin * r, ends[1] + margin * r]
    owner = layout.names.get(rail.follower[0], rail.follower[0])
    lift = layout.shift(rail.follower[0])
    height = 0.0 if layout.plane is None else float(lift @ layout.axes(rail.follower[0])[:, 2])
    start = point if layout.plane is None else point + height * layout.axes(carrier)[:, 2]
    guide = tuple((carrier, start + end * direction) for end in ends)
    color = FOOT if layout.roots[carrier] == GROUND else layout.look(carrier)[0]
    yield Solid("bar", guide, color, 0.32 * r, name=f"guide of {owner}")
    body = rail.follower[0]
    if rail.is_plane:
        roller = (body, rail.follower[1] + lift)
        turn = layout.axes(body)
        yield Solid("drum", (roller,), DARK, 0.95 * r, (0.62 * FLAT * r,), turn, name=f"roller of {owner}")
    elif rail.is_block and layout.roots[body] not in layout.whole:
        turn = tri.turn_to(layout.placed.local(body, way)[0])
        size = np.array([2.4, 2.4, 3.6]) * r
        if layout.plane is not None:
            size = np.array([2.4, 1.2 * FLAT, 3.6]) * r
            z = layout.placed.local(body, way)[0]
            y = layout.axes(body)[:, 2]
            turn = np.column_stack([np.cross(y, z), y, z])
        block = tri.box(size).moved(turn, rail.follower[1] + lift)
        yield meshed(body, block, layout.look(body)[0], owner)
