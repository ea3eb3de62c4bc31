"""Cylinders: a slide whose two bodies hold on to others on its axis alone is a barrel and a rod."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...models.shapes.drawing import Rail
from ...models.tree.bodies import GROUND
from . import triangles as tri
from .skeleton import Part
from .solids import DARK, STEEL, Solid
from .view import Placed

STRAIGHT = 0.02  # of the length of a cylinder: how far its eyes may lie beside its axis
FILLED, LEAST = 0.58, 0.94  # length of the barrel over that of the cylinder now, and where it is shortest


@dataclass(frozen=True)
class Telescope:
    """A barrel on the body `outer` and a rod on `inner`.

    Attributes:
        rail: The slide.
        parts: Of the stick figure, which it replaces.
        outer, inner: Bodies.
        axis, origin: Unit axis and a point of it, in the frame of `outer`, (3,).
        inner_axis, inner_origin: The same in the frame of `inner`.
        eye: Where the barrel's eye is along the axis [m]; the rod's eye is at `tip` along its own.
        tip: See eye.
        travel: How far origins are from each other along the axis at each pose [m], (n,).
    """

    rail: Rail
    parts: tuple[Part, ...]
    outer: str
    inner: str
    axis: Array
    origin: Array
    inner_axis: Array
    inner_origin: Array
    eye: float
    tip: float
    travel: Array

    def ends(self, placed: Placed) -> Array:
        """Both eyes in the world [m], (n, 2, 3)."""
        eye = self.outer, self.origin + self.eye * self.axis
        return placed.points([eye, (self.inner, self.inner_origin + self.tip * self.inner_axis)])

    def solids(
        self, radius: float, shift: Callable[[str], Array], look: Callable[[str], tuple[str, str]]
    ) -> list[Solid]:
        """Barrel with its eye and gland, rod with its eye; a thin line between bodies that have no links."""
        if not self.parts:
            eye, tip = self.origin + self.eye * self.axis, self.inner_origin + self.tip * self.inner_axis
            ends = ((self.outer, eye + shift(self.outer)), (self.inner, tip + shift(self.inner)))
            return [Solid("bar", ends, DARK, 0.22 * radius, name=look(self.inner)[1])]
        spans = self.travel + self.tip - self.eye
        sign = float(np.sign(spans[0])) or 1.0
        lengths = np.abs(spans)
        thick = min(1.0 * radius, 0.12 * float(lengths[0]))
        barrel = max(min(FILLED * float(lengths[0]), LEAST * float(lengths.min())), 2.0 * thick)
        rod = min(float(lengths.max()) - 0.85 * barrel, LEAST * float(lengths.min()))
        out = []
        for body, axis, origin, at, pieces, color in (
            (self.outer, sign * self.axis, self.origin, sign * self.eye,
             ((1.0, 0.6 * thick, barrel), (1.18, barrel - 0.9 * thick, barrel)), look(self.outer)[0]),
            (self.inner, -sign * self.inner_axis, self.inner_origin, -sign * self.tip,
             ((0.5, 0.0, rod),), STEEL),
        ):  # fmt: skip
            place, turn, name = origin + at * axis + shift(body), tri.turn_to(axis), look(body)[1]
            out.append(Solid("ball", ((body, place),), color, 0.95 * thick, name=name))
            for wide, low, high in pieces:
                middle = (body, place + 0.5 * (low + high) * axis)
                out.append(
                    Solid("drum", (middle,), color, wide * thick, (0.5 * (high - low),), turn, name=name)
                )
        return out


def find_telescopes(
    rails: Sequence[Rail], parts: Sequence[Part], roots: Mapping[str, str], placed: Placed
) -> list[Telescope]:
    """Those slides that look like cylinders."""
    own: dict[str, list[Part]] = {}
    for part in parts:
        if part.kind in ("link", "plate", "stem"):
            own.setdefault(roots.get(part.anchors[0][0], GROUND), []).append(part)
    found = []
    for rail in rails:
        outer, inner = roots[rail.at[0]], roots[rail.follower[0]]
        if rail.is_block and GROUND not in (outer, inner):
            one = _telescope(rail, outer, inner, (own.get(outer, []), own.get(inner, [])), placed)
            if one is not None:
                found.append(one)
    return found


def _telescope(
    rail: Rail, outer: str, inner: str, parts: tuple[list[Part], list[Part]], placed: Placed
) -> Telescope | None:
    way = placed.along(rail.at[0], rail.direction)
    at, run = placed.points([rail.at])[:, 0], placed.points([rail.follower])[:, 0]
    axes, origins, eyes = [], [], []
    for body, origin, lines in ((outer, at, parts[0]), (inner, run, parts[1])):
        axis, start = placed.local(body, way)[0], placed.local_point(body, origin[0])
        points = np.array([point for part in lines for _, point in part.anchors] or [start]) - start
        along = points @ axis
        beside = np.linalg.norm(points - along[:, None] * axis, axis=1)
        if np.any(beside > STRAIGHT * max(float(np.ptp(along)), float(np.ptp(np.append(along, 0.0))), 1e-9)):
            return None
        axes.append(axis)
        origins.append(start)
        eyes.append(along)
    travel = np.sum((run - at) * way, axis=-1)
    pairs = [(abs(travel[0] + tip - eye), eye, tip) for eye in eyes[0] for tip in eyes[1]]
    length, eye, tip = max(pairs)
    reach = travel[0] + tip
    if length < 1e-9 or min(eyes[0]) + 1e-9 < reach < max(eyes[0]) - 1e-9:
        return None  # what slides along a link between its ends runs in a slot
    every = tuple(parts[0]) + tuple(parts[1])
    ends: dict[str, Any] = {"axis": axes[0], "origin": origins[0], "eye": float(eye), "tip": float(tip)}
    ends |= {"inner_axis": axes[1], "inner_origin": origins[1]}
    return Telescope(rail, every, outer, inner, travel=travel, **ends)
