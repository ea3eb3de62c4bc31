"""What the solids of a mechanism share: which bodies move together, their colours, layers and thickness.

Links of plane mechanisms lie in layers, so that they pass each other, and pins go through them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from ...models.shapes.drawing import Anchor, Rail
from ...models.tree.bodies import GROUND
from . import style
from . import triangles as tri
from .body_shapes import shape_solids
from .boxes import body_boxes
from .layers import choose_layers
from .shown_parts import bare_coordinates, body_colors, copies_on_parts, shown_names
from .skeleton import Part, skeleton
from .solids import STEEL
from .telescopes import find_telescopes
from .view import PARALLEL, Placed, Plane

# radius of bars over the length of the mechanism; the same of arms; least number of hinges of an arm
SLENDER, STURDY, ARM = 0.05, 0.17, 6
THIN, SHORT = 0.011, 0.21  # least radius over the size of the picture, largest over a short link
FLAT, PITCH = 0.8, 1.0  # thickness of flat links and distance of their layers, over the radius


class Layout:
    """How a mechanism is made into solids.

    Args:
        mech: The mechanism.
        placed: Its poses, which guides have to be long enough for.
        plane: The plane in which it moves, if it does.
        shapes: Edges (3,) [m] of cuboids around the centre of mass, in body axes, for bodies by name.
        thickness: Of bars [m]; default from the sizes of the mechanism.
    """

    def __init__(
        self,
        mech: Mechanism,
        placed: Placed,
        plane: Plane | None,
        shapes: Mapping[str, npt.ArrayLike] | None = None,
        thickness: float | None = None,
    ) -> None:
        self.mech, self.placed, self.plane = mech, placed, plane
        self.names, self.colors = shown_names(mech), picture_colors(mech)
        self.copies, self.roots = copies_on_parts(mech), rigid_roots(mech)
        self.bare = bare_coordinates(mech)
        self.shaped = shape_solids(mech, self.colors, self.names)
        self.boxes = body_boxes(mech, shapes)
        boxed = {self.roots[name] for name in self.boxes}
        self.whole = boxed | {self.roots[name] for name in self.shaped} - {GROUND}
        self.figure = skeleton(mech)
        self.radius = self._radius() if thickness is None else 0.5 * thickness
        drawn = [
            part
            for part in self.figure.parts
            if self.root(part) not in self.whole or (part.is_declared and self.root(part) not in boxed)
        ]
        self.covered = self.whole - {self.root(part) for part in drawn}
        self.telescopes = find_telescopes(self.figure.rails, drawn, self.roots, placed)
        replaced = {id(part) for one in self.telescopes for part in one.parts}
        self.parts = [part for part in drawn if id(part) not in replaced]
        self.layers = self._layers()

    # ------------------------------------------------------------------ sizes, layers

    def root(self, part: Part) -> str:
        return self.roots.get(part.anchors[0][0], GROUND)

    def _radius(self) -> float:
        """Of bars: slender, but thick enough to be seen, and no short link is a lump."""
        points = [self.placed.points(part.anchors)[0] for part in self.figure.parts]
        spans = [np.linalg.norm(np.diff(p, axis=0), axis=1) for p in points if len(p) > 1]
        lengths = np.concatenate(spans or [np.array([self.mech.length])])
        lengths = lengths[lengths > 1e-9]
        everything = np.concatenate([*points, self.placed.p[0]])
        size = max(float(np.linalg.norm(np.ptp(everything, axis=0))), 1e-9)
        slenderness, share = (STURDY, 0.5) if longest_chain(self.mech) >= ARM else (SLENDER, 0.2)
        wanted = slenderness * self.mech.length
        short = float(np.quantile(lengths, share)) if len(lengths) else size
        return float(np.clip(wanted, THIN * size, max(SHORT * short, THIN * size)))

    def _layers(self) -> dict[str, float]:
        """How far each body lies above the plane of the mechanism [m]; all of them in it in space."""
        if self.plane is None:
            return {}
        some = np.unique(np.linspace(0, len(self.placed.p) - 1, 5).astype(int))
        lines: dict[str, list[Array]] = {}
        for part in self.parts:
            key = self.root(part) if part.kind in ("link", "plate") else part.owner
            if part.kind == "disc":
                continue
            flat = self.plane.project(self.placed.points(part.anchors))[some]
            ends = list(pairwise(range(flat.shape[1])))
            if part.kind == "plate":
                middle = flat.mean(axis=1, keepdims=True)
                flat = np.concatenate([flat, middle], axis=1)
                ends += [(k, flat.shape[1] - 1) for k in range(flat.shape[1] - 1)]
            lines.setdefault(key, []).extend(flat[:, pair] for pair in ends)
        for one in self.telescopes:
            lines.setdefault(one.outer, []).append(self.plane.project(one.ends(self.placed))[some])
        for rail in self.figure.rails:  # a block takes part like a short link
            body = self.roots[rail.follower[0]]
            if rail.is_block and body not in lines:
                at = self.plane.project(self.placed.points([rail.follower] * 2))[some]
                lines[body] = [at]
        found = choose_layers(lines, 2.0 * self.radius)
        found |= {one.inner: found[one.outer] for one in self.telescopes}
        top = max(found.values(), default=0)
        return {name: (k - 0.5 * top) * PITCH * self.radius for name, k in found.items()}

    def shift(self, body: str, owner: str | None = None) -> Array:
        """From the plane of the mechanism to the layer of a body, in its frame [m], (3,)."""
        if self.plane is None:
            return np.zeros(3)
        key = owner if owner in self.layers else self.roots.get(body, body)
        above = self.layers.get(key, self.lowest() if key == GROUND else 0.0)
        return np.asarray(above * self.axes(body)[:, 2])

    def lowest(self) -> float:
        return min(self.layers.values(), default=0.0) - 1.15 * PITCH * self.radius

    def axes(self, body: str) -> Array:
        """Right, up and normal of the plane in the frame of a body, as columns (3, 3)."""
        assert self.plane is not None
        world = np.column_stack([self.plane.right, self.plane.up, self.plane.normal])
        return self.placed.rotation(body).T @ world

    def look(self, body: str) -> tuple[str, str]:
        """Colour and name of a body."""
        return self.colors.get(body, STEEL), self.names.get(body, body)

    def lifted(self, ends: tuple[Anchor, ...], owner: str) -> tuple[Anchor, ...]:
        return tuple((body, point + self.shift(body, owner)) for body, point in ends)

    def slab(self, body: str, ends: tuple[Anchor, ...]) -> tri.Triangles:
        """A flat bar or plate with round corners through points, in its layer or in their plane."""
        points = np.array([point for _, point in ends])
        if self.plane is not None:
            axes, shift = self.axes(body), self.shift(body)
        else:
            spread = np.linalg.svd(points - points.mean(axis=0))[2]
            axes, shift = np.column_stack([spread[0], spread[1], np.cross(spread[0], spread[1])]), np.zeros(3)
        flat = points @ axes
        outline = tri.rounded_outline(flat[:, :2], self.radius)
        height = float(flat[:, 2].mean())
        return tri.slab(outline, FLAT * self.radius).moved(axes, height * axes[:, 2] + shift)

    def is_pin(self, rail: Rail) -> bool:
        along = self.placed.along(rail.at[0], rail.direction)[0]
        return self.plane is not None and bool(np.linalg.norm(np.cross(along, self.plane.normal)) <= PARALLEL)


def rigid_roots(mech: Mechanism) -> dict[str, str]:
    """The moving body (or the ground) that each body is fixed to; copies of parts count as the parts."""
    copies, roots = copies_on_parts(mech), {GROUND: GROUND}
    for body in mech.model.shown_bodies:
        roots[body.name] = body.name if body.joint.nv else roots[body.parent]
    return {name: roots[copies[name].body] if name in copies else root for name, root in roots.items()}


def longest_chain(mech: Mechanism) -> int:
    """Most hinges between the ground and a body: six or more make an arm."""
    hinges = {GROUND: 0}
    for body in mech.model.shown_bodies:
        hinges[body.name] = hinges[body.parent] + body.joint.is_hinge
    return max(hinges.values())


def picture_colors(mech: Mechanism) -> dict[str, str]:
    """One for each body or, where there are many, one for each tree on the ground, in two shades."""
    if len(set(shown_names(mech).values())) <= 2 * len(style.CYCLE) + 1:  # with the ground
        return body_colors(mech)
    roots: dict[str, tuple[int, int]] = {}
    for body in mech.model.shown_bodies:
        trunk = len({tree for tree, _ in roots.values()})
        tree, depth = roots.get(body.parent, (trunk, 0))
        roots[body.name] = tree, depth + 1
    return {name: mixed(style.cycle(tree), 0.35 * (depth % 2)) for name, (tree, depth) in roots.items()}


def mixed(color: str, white: float) -> str:
    """A colour "#rrggbb" with a share of white."""
    channels = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + white * (255 - c)):02x}" for c in channels)
