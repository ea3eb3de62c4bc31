"""Bodies as solids: bars between joints, drums at hinges, boxes of the size that the inertia tells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..mechanism.mechanism import Mechanism
from ..models.bodies import GROUND
from ..models.drawing import Anchor, Bearing, Disc, Rail
from . import style
from .boxes import EYE, Box, body_boxes
from .shown_parts import body_colors, copies_on_parts, joint_drawing, shown_constraints, shown_names
from .skeleton import Part, skeleton
from .view import Placed

# radius of bars over the length of the mechanism; the same of arms; least number of hinges of an arm
SLENDER, STURDY, ARM = 0.05, 0.17, 6
HINGE, STEEL, TIMBER, FOOT = 1.25, "#59626b", "#d9a441", "#8a939c"


@dataclass(frozen=True)
class Solid:
    """Something that can be painted.

    Attributes:
        kind: "bar" (round, between two points), "coil" (a spring between them), "ball", "box", "drum" (a
            short cylinder about z) or "face" (a flat outline).
        anchors: Its ends, its middle, or its corners.
        color: As "#rrggbb".
        radius: Of bars, coils, balls and drums [m].
        half: Half edges of a box (3,) or half width of a drum (1,) [m].
        turn: Rotation of box or drum in the frame of its body, (3, 3).
        alpha: Opacity.
    """

    kind: str
    anchors: tuple[Anchor, ...]
    color: str
    radius: float = 0.0
    half: tuple[float, ...] = ()
    turn: Array | None = None
    alpha: float = 1.0


def solids(
    mech: Mechanism,
    placed: Placed,
    shapes: Mapping[str, npt.ArrayLike] | None = None,
    thickness: float | None = None,
) -> list[Solid]:
    """What stands for the bodies, constraints and springs of a mechanism.

    Args:
        mech: The mechanism.
        placed: Its poses, which guides have to be long enough for.
        shapes: Edges (3,) [m] of cuboids around the centre of mass, in body axes, for bodies by name.
        thickness: Of bars [m]; default from the mechanism's length.
    """
    relative = STURDY if _longest_chain(mech) >= ARM else SLENDER
    radius = relative * mech.length if thickness is None else 0.5 * thickness
    colors = _colors(mech)
    boxes = body_boxes(mech, shapes)
    found = skeleton(mech)
    out = [_cuboid(box) for box in boxes.values()]
    for part in found.parts:
        if part.owner not in boxes:
            out.extend(_part(part, radius, colors.get(part.owner, STEEL)))
    out.extend(_joints(mech, radius, boxes, colors))
    for rail in found.rails:
        out.extend(_guide(rail, placed, radius))
    return out


def _longest_chain(mech: Mechanism) -> int:
    """Most hinges between the ground and a body: six or more make an arm."""
    hinges = {GROUND: 0}
    for body in mech.model.bodies[1:]:
        hinges[body.name] = hinges[body.parent] + body.joint.is_hinge
    return max(hinges.values())


def _colors(mech: Mechanism) -> dict[str, str]:
    """One for each body or, where there are many, one for each tree on the ground, in two shades."""
    if len(set(shown_names(mech).values())) <= len(style.CYCLE) + 1:  # with the ground
        return body_colors(mech)
    roots: dict[str, tuple[int, int]] = {}
    for body in mech.model.bodies[1:]:
        trunk = len({tree for tree, _ in roots.values()})
        tree, depth = roots.get(body.parent, (trunk, 0))
        roots[body.name] = tree, depth + 1
    return {name: _mixed(style.cycle(tree), 0.35 * (depth % 2)) for name, (tree, depth) in roots.items()}


def _mixed(color: str, white: float) -> str:
    channels = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + white * (255 - c)):02x}" for c in channels)


# ---------------------------------------------------------------------- boxes, bars, hinges, guides


def _cuboid(box: Box) -> Solid:
    half = (float(box.half[0]), float(box.half[1]), float(box.half[2]))
    return Solid("box", ((box.body, box.middle),), TIMBER, half=half, turn=box.turn, alpha=0.75)


def _part(part: Part, radius: float, color: str) -> Iterator[Solid]:
    """A part of the stick figure, thick; stems to centres of mass are left out."""
    ends = part.anchors
    if part.kind == "link":
        for pair in pairwise(ends):
            yield Solid("bar", pair, color, radius)
    elif part.kind == "rod":
        for pair in pairwise(ends):
            yield Solid("bar", pair, STEEL, 0.45 * radius)
    elif part.kind == "spring":
        yield Solid("coil", ends, STEEL, 0.6 * radius)
    elif part.kind == "plate":
        yield Solid("face", ends, color)
        for a, b in zip(ends, (*ends[1:], ends[0]), strict=True):
            yield Solid("bar", (a, b), color, 0.6 * radius)


def _joints(
    mech: Mechanism, radius: float, boxes: Mapping[str, object], colors: Mapping[str, str]
) -> Iterator[Solid]:
    """Drums about the axes of hinges, balls at other joints, rolling discs."""
    copies = copies_on_parts(mech)
    for body in mech.model.bodies[1:]:
        if body.name not in boxes:
            yield from (_bearing(one, radius) for one in joint_drawing(body, copies).bearings)
    for _, given in shown_constraints(mech):
        drawing = given.drawing()
        if not any(body in boxes for body in given.bodies()):
            yield from (_bearing(one, radius) for one in drawing.bearings)
        for disc in drawing.discs:
            yield from _disc(disc, colors.get(disc.centre[0], STEEL))


def _bearing(bearing: Bearing, radius: float) -> Solid:
    """A drum about an axis, or a ball."""
    size = HINGE * radius
    if bearing.axis is None:
        return Solid("ball", (bearing.at,), STEEL, size)
    return Solid("drum", (bearing.at,), STEEL, size, (1.2 * radius,), _turn_to(bearing.axis))


def _disc(disc: Disc, color: str) -> Iterator[Solid]:
    """A flat drum and a spoke."""
    (body, centre), turn, radius = disc.centre, _turn_to(disc.axis), disc.radius
    yield Solid("drum", (disc.centre,), color, radius, half=(0.06 * radius,), turn=turn, alpha=0.8)
    spoke = (disc.centre, (body, centre + radius * turn[:, 0]))
    yield Solid("bar", spoke, STEEL, 0.05 * radius)


def _guide(rail: Rail, placed: Placed, radius: float) -> Iterator[Solid]:
    """A thin bar as long as the follower's way, and a block on it; planes are not shown."""
    if rail.is_plane:
        return
    at, run = (placed.points([anchor])[:, 0] for anchor in (rail.at, rail.follower))
    way = placed.along(rail.at[0], rail.direction)
    travel = np.sum((run - at) * way, axis=-1)
    ends = [min(0.0, float(travel.min())), max(0.0, float(travel.max()))]
    if rail.at[0] == GROUND:
        ends = [ends[0] - 6.0 * radius, ends[1] + 6.0 * radius]
    carrier, point = rail.at
    guide = ((carrier, point + ends[0] * rail.direction), (carrier, point + ends[1] * rail.direction))
    yield Solid("bar", guide, FOOT, 0.4 * radius)
    if rail.is_block:
        turn = _turn_to(placed.local(rail.follower[0], way)[0])
        half = (1.4 * radius, 1.4 * radius, 2.2 * radius)
        yield Solid("box", (rail.follower,), STEEL, half=half, turn=turn)


def _turn_to(axis: Array) -> Array:
    """A rotation (3, 3) that takes z onto an axis."""
    z = axis / math.sqrt(float(axis @ axis))
    x = np.cross(EYE[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
