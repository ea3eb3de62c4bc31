"""Mass properties of shapes. Oracles: textbook formulas, one shape put together from others, sampling."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.shapes.shapes import MassProperties, combined


def same(a: MassProperties, b: MassProperties) -> None:
    """To rounding."""
    assert a.mass == pytest.approx(b.mass, rel=1e-13)
    np.testing.assert_allclose(a.com, b.com, atol=1e-14)
    np.testing.assert_allclose(a.inertia, b.inertia, atol=1e-13 * np.abs(b.inertia).max())


def test_textbook() -> None:
    ball = sr.Sphere(0.1, mass=2.0).mass_properties()
    np.testing.assert_allclose(ball.inertia, 0.4 * 2.0 * 0.01 * np.eye(3))
    bar = sr.Cylinder(0.05, 0.4, density=1000.0).mass_properties()
    m = 1000 * np.pi * 0.05**2 * 0.4
    assert bar.mass == pytest.approx(m)
    across = m * (3 * 0.05**2 + 0.4**2) / 12
    np.testing.assert_allclose(np.diag(bar.inertia), [across, across, m * 0.05**2 / 2])


def test_shapes_from_others() -> None:
    box = sr.Box((0.4, 0.2, 0.1), density=500.0).mass_properties()
    same(
        sr.Plate([(-0.2, -0.1), (-0.2, 0.1), (0.2, 0.1), (0.2, -0.1)], 0.1, density=500.0).mass_properties(),
        box,
    )
    halves = [
        sr.Box((0.2, 0.2, 0.1), density=500.0, at=sr.Pose((x, 0, 0))).mass_properties() for x in (-0.1, 0.1)
    ]
    same(combined(halves), box)
    inside, outside = (sr.Cylinder(r, 0.3, density=900.0).mass_properties() for r in (0.1, 0.2))
    tube = sr.Tube(0.2, 0.1, 0.3, density=900.0).mass_properties()
    same(MassProperties(outside.mass - inside.mass, tube.com, outside.inertia - inside.inertia), tube)


@pytest.mark.parametrize(
    "corners", [[(0, 0), (1, 0), (0.2, 0.9)], [(0, 0), (2, 0), (2, 1), (1, 0.3), (0, 1)]]
)
def test_a_polygon_against_triangles(corners: Any) -> None:
    """A fan of triangles with signed areas, each by the formula of a triangle's second moments."""
    outline, moved = np.array(corners, dtype=float), np.array([3.0, -2.0])
    plate = sr.Plate(outline + moved, 0.01, density=1.0).mass_properties()
    area, first, second = 0.0, np.zeros(2), np.zeros((2, 2))
    for p, q in itertools.pairwise(outline[1:]):
        tri = np.array([outline[0], p, q])
        signed = 0.5 * float(np.linalg.det([tri[1] - tri[0], tri[2] - tri[0]]))
        area, first = area + signed, first + signed * tri.mean(axis=0)
        s = tri.sum(axis=0)
        second += signed / 12.0 * (tri.T @ tri + np.outer(s, s))
    centre = first / area
    second -= area * np.outer(centre, centre)
    assert plate.mass == pytest.approx(area * 0.01)
    np.testing.assert_allclose(plate.com, [*(centre + moved), 0.0], atol=1e-13)
    inertia = 0.01 * np.array([[second[1, 1], -second[0, 1]], [-second[0, 1], second[0, 0]]])
    inertia += plate.mass * 0.01**2 / 12 * np.eye(2)
    np.testing.assert_allclose(plate.inertia[:2, :2], inertia, atol=1e-14)
    same(sr.Plate((outline + moved)[::-1], 0.01, density=1.0).mass_properties(), plate)


def test_turned_shapes() -> None:
    turned = sr.Cylinder(0.1, 1.0, mass=1.0, at=sr.Pose((1, 2, 3), rpy=(0, np.pi / 2, 0))).mass_properties()
    np.testing.assert_allclose(turned.com, (1, 2, 3))
    assert turned.inertia[0, 0] == pytest.approx(0.5 * 0.01)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (lambda: sr.Box((1, 0, 1)), "edge of Box must be positive"),
        (lambda: sr.Sphere(0.1, mass=1.0, density=1.0), "Sphere takes a density or a mass, not both"),
        (lambda: sr.Sphere(-1.0), "radius of Sphere must be positive"),
        (lambda: sr.Tube(0.1, 0.1, 1.0), "inner_radius of Tube must be smaller"),
        (lambda: sr.Plate([(0, 0), (1, 1)], 0.1), "at least three corners"),
        (lambda: sr.Plate([(0, 0), (1, 1), (2, 2)], 0.1), "encloses no area"),
        (lambda: sr.Cylinder(0.1, 1.0, density=-1.0), "density of Cylinder must not be negative"),
        (lambda: sr.Sphere(0.1, at=(0, 0, 0)), "must be a Pose"),  # type: ignore[arg-type]
    ],
)
def test_bad_shapes(shape: Any, message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        shape()
