"""Outlines of lines and arcs. Oracles: solids of the same form, sums of parts, geometry of circles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.shapes.outline import chains_of, features_of
from sarrus.models.shapes.shapes import combined

QUARTER = math.sqrt(2) - 1
SQUARE = [(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)]
SLOTTED = [(-1, -1), (1, -1), (1, 1), (0.2, 1), (0.2, 0, -1), (-0.2, 0), (-0.2, 1), (-1, 1)]


def test_mass_of_known_forms() -> None:
    """A box, a bar, a bar with half round ends: either way round, wherever they stand."""
    for outline in (SQUARE, SQUARE[::-1]):
        a, b = sr.Profile(outline, 0.3, density=10.0), sr.Box((0.4, 0.2, 0.3), density=10.0)
        np.testing.assert_allclose(a.mass_properties().inertia, b.mass_properties().inertia, atol=1e-15)
    for bulges in ((1, 1), (QUARTER, math.tan(3 * math.pi / 8))):  # two halves; a quarter and the rest
        end = 4 * math.atan(bulges[0])
        points = [(0.5, 0.0, bulges[0]), (0.5 * math.cos(end), 0.5 * math.sin(end), bulges[1])]
        disc = sr.Profile([(x + 3, y - 2, b) for x, y, b in points], 0.2, mass=2.0).mass_properties()
        np.testing.assert_allclose(disc.com, [3, -2, 0], atol=1e-13)
        np.testing.assert_allclose(
            disc.inertia, sr.Cylinder(0.5, 0.2, mass=2.0).mass_properties().inertia, atol=1e-13
        )
    stadium = sr.Profile(
        [(-1, -0.5), (1, -0.5, 1), (1, 0.5), (-1, 0.5, 1)], 0.1, density=1.0
    ).mass_properties()
    box = sr.Box((2, 1, 0.1), density=1.0).mass_properties()
    half = math.pi * 0.25 / 2 * 0.1
    assert stadium.mass == pytest.approx(box.mass + 2 * half, rel=1e-14)
    holes = combined([stadium, box._replace(mass=-box.mass, inertia=-box.inertia)])
    middle = 4 * 0.5 / (3 * math.pi)  # centroid of a half disc from its side
    along = half * 2 * (0.25 / 4 - middle**2 + (1 + middle) ** 2 + 0.1**2 / 12)
    assert holes.inertia[1, 1] == pytest.approx(along, rel=1e-12)


def test_a_notch_takes_away() -> None:
    whole = sr.Profile([(-1, -1), (1, -1), (1, 1), (-1, 1)], 0.1, density=1.0).mass_properties()
    cut = sr.Profile(SLOTTED, 0.1, density=1.0).mass_properties()
    assert whole.mass - cut.mass == pytest.approx((0.4 + math.pi * 0.02) * 0.1, rel=1e-13)


def test_features_and_chains() -> None:
    """What is convex; where a pin can touch twice."""
    slot = sr.Profile(SLOTTED).elements()
    assert [one.kind for one in slot].count("concave") == 1
    assert sorted(f.radius for f in features_of(slot)) == [0.0] * 6
    chains = chains_of(slot)
    walls = [
        one.chain
        for one in chains
        if abs(one.start.real) == abs(one.end.real) == 0.2 and one.start.imag != one.end.imag
    ]
    assert len(chains) == 10 and sorted(walls) == [0, 1]
    disc = sr.Profile([(-0.5, 0, 1), (0.5, 0, 1)])
    (feature,) = features_of(disc.elements())
    assert feature.radius == pytest.approx(0.5) and disc.in_kernel().parameters["chains"] == 1
    star = sr.Profile([(1, 0), (0.1, 0.1), (0, 1), (-0.1, 0.1), (-1, 0), (0, -0.1)]).in_kernel().parameters
    assert star["features"] == 4 and star["chains"] == 2
    smooth = sr.Profile([(-1, -0.5), (1, -0.5, 1), (1, 0.5), (-1, 0.5, 1)]).in_kernel().parameters
    assert smooth["features"] == 2 and smooth["chains"] == 1


def test_balls_around_and_pictures() -> None:
    thick = sr.Profile(SQUARE, 0.3)
    assert thick.in_kernel().radius == pytest.approx(math.hypot(0.2, 0.1, 0.15), rel=1e-2)
    assert sr.Profile(SQUARE).in_kernel().radius < 0.0
    picture = thick.visual("cam")
    assert picture.shape == "plate" and len(picture.size) == 9
    disc = sr.Profile([(-0.5, 0, 1), (0.5, 0, 1)])
    np.testing.assert_allclose(np.hypot(*disc.polygon().T), 0.5)


@pytest.mark.parametrize(
    ("outline", "message"),
    [
        ([(0, 0)], "must be two or more corners"),
        ([(0, 0), (1, 0, 1, 1)], "got the corner"),
        ([(0, 0), (1, 0)], "encloses no area"),
        ([(0, 0), (0, 0), (1, 1)], "corners 0 and 1 coincide"),
        ([(0, 0), (1, 0), (1, 1), (0.5, -0.2), (0, 1)], r"crosses itself at \(0.583333, 0\)"),
        ([(0, 0), (2, 0), (2, 1), (1, 0, 0.5), (0, 1)], "crosses itself at"),
        ([(0, 0, -3), (1, 0), (1, 0.2, -3), (0, 0.2)], "crosses itself at"),
    ],
)
def test_bad_outlines(outline: Any, message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        sr.Profile(outline)


def test_a_mass_needs_a_width() -> None:
    with pytest.raises(sr.InputError, match="Profile without a width has no mass"):
        sr.Profile(SQUARE).mass_properties()
    with pytest.raises(sr.InputError, match="width of Profile must be positive"):
        sr.Profile(SQUARE, 0.0)
