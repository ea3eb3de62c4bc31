"""Straight round bars from point to point, of which links are made."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ...arrays import nonnegative, positive
from ...errors import InputError
from ...models.shapes.shapes import STEEL
from ...varied import hypot, largest

COINCIDE = 1e-9  # of the longest bar of a link: two of its points closer than that are one
SLENDER = 20.0  # length of a link over its diameter where none is given


def sides_between(points: Sequence[Any], corners: Sequence[Any], what: str) -> list[Any]:
    """Lengths of the bars of a link [m].

    Args:
        points: as the user gave them, two or more.
        corners: where they are (3,).
        what: the link, in words.
    """
    sides = [hypot(*(b - a for a, b in zip(p, q, strict=True))) for p, q in itertools.pairwise(corners)]
    for k, side in enumerate(sides):
        if side <= COINCIDE * largest(sides):
            raise InputError(f"{what}: points {points[k]!r} and {points[k + 1]!r} coincide; leave one out.")
    return sides


def mass_and_radius(
    length: Any, mass: float | None, diameter: float | None, density: float | None, what: str
) -> tuple[Any, Any]:
    """Mass [kg] and radius [m] of the bars of a link of this length [m]; None: the default."""
    radius = 0.5 * (length / SLENDER if diameter is None else positive(diameter, f"diameter of {what}"))
    if mass is not None and density is not None:
        raise InputError(f"{what} takes a mass or a density, not both.")
    if mass is not None:
        return nonnegative(mass, f"mass of {what}"), radius
    of = STEEL if density is None else nonnegative(density, f"density of {what}")
    return of * math.pi * radius**2 * length, radius
