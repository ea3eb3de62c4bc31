"""Mass and hulls of convex shapes. Oracles: sums of simpler solids, sampling, Qhull's volume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import sarrus as sr


def test_a_capsule_is_a_bar_and_two_half_balls() -> None:
    """Half balls by many thin discs."""
    r, h, n = 0.2, 0.7, 20000
    capsule = sr.Capsule(r, h, density=1000.0).mass_properties()
    edges = np.linspace(0.0, r, n + 1)
    z, dz = 0.5 * (edges[1:] + edges[:-1]), edges[1]
    mass = 1000.0 * np.pi * (r * r - z * z) * dz
    across = 2.0 * np.sum(mass * ((r * r - z * z) / 4.0 + (z + h / 2.0) ** 2))
    along = 2.0 * np.sum(mass * (r * r - z * z) / 2.0)
    bar = sr.Cylinder(r, h, density=1000.0).mass_properties()
    wanted = np.diag(bar.inertia) + np.array([across, across, along])
    np.testing.assert_allclose(np.diag(capsule.inertia), wanted, rtol=1e-7)
    assert capsule.mass == pytest.approx(bar.mass + 2.0 * np.sum(mass), rel=1e-8)


def test_an_ellipsoid_is_a_stretched_ball() -> None:
    ball = sr.Sphere(0.3, density=10.0).mass_properties()
    round_one = sr.Ellipsoid((0.3, 0.3, 0.3), density=10.0).mass_properties()
    np.testing.assert_allclose(round_one.inertia, ball.inertia)
    m, a, b, c = 2.0, 0.1, 0.2, 0.3
    found = sr.Ellipsoid((a, b, c), mass=m).mass_properties()
    np.testing.assert_allclose(
        np.diag(found.inertia), m / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    )


def test_a_hull_of_points() -> None:
    """A box by its corners and points inside, on faces and on edges: six faces, its mass."""
    box = sr.Box((0.4, 0.2, 0.6), density=100.0)
    corners = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.1, 0.1) for z in (-0.3, 0.3)])
    more = [[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0.05], [0.1, 0.1, 0.3]]
    mesh = sr.ConvexMesh([*corners.tolist(), *more], density=100.0)
    assert len(mesh.hull()[0]) == 8 and sorted(map(len, mesh.hull()[1])) == [4] * 6
    a, b = mesh.mass_properties(), box.mass_properties()
    assert a.mass == pytest.approx(b.mass, rel=1e-13)
    np.testing.assert_allclose(a.inertia, b.inertia, atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_faces_of_random_hulls(seed: int) -> None:
    """Every edge has two faces, faces look outwards, corners lie on or below all planes."""
    points = np.random.default_rng(seed).normal(size=(40, 3))
    mesh = sr.ConvexMesh(points, density=1.0)
    assert mesh.mass_properties().mass == pytest.approx(ConvexHull(points).volume, rel=1e-12)
    shape, (corners, faces) = mesh.in_kernel(), mesh.hull()
    counts = [shape.parameters[name] for name in ("corners", "faces", "edges")]
    assert counts[0] - counts[2] + counts[1] == 2 and counts[0] == len(corners)  # Euler
    planes = np.array(shape.data[3 * counts[0] : 3 * counts[0] + 4 * counts[1]]).reshape(-1, 4)
    assert np.max(corners @ planes[:, :3].T - planes[:, 3]) < 1e-13
    edges = np.array(shape.data[3 * counts[0] + 4 * counts[1] :][: 4 * counts[2]], dtype=int).reshape(-1, 4)
    for i, j, left, right in edges:
        assert {i, j} <= set(faces[left]) and {i, j} <= set(faces[right]) and left != right
    reach = np.linalg.norm(corners - shape.centre, axis=1)
    assert reach.max() == pytest.approx(shape.radius, rel=1e-14)


def test_meshes_and_plates_as_surfaces(tmp_path: Path) -> None:
    """The hull of a mesh with a warning; a plate that is convex as it is, another one as its hull."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    facets = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in facets]
    (tmp_path / "corner.obj").write_text("\n".join(lines) + "\n")
    with pytest.warns(sr.SarrusWarning, match="its convex hull touches"):
        shape = sr.Mesh(tmp_path / "corner.obj", scale=0.1).in_kernel()
    assert shape.parameters["corners"] == 4 and max(shape.data[:12]) == pytest.approx(0.1)
    assert sr.ConvexMesh(tmp_path / "corner.obj").in_kernel().parameters["corners"] == 4
    square = [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert sr.Plate(square, 0.1).in_kernel().parameters["corners"] == 8
    with pytest.warns(sr.SarrusWarning, match="outline is not convex"):
        dented = sr.Plate([*square, (0.5, 0.5)], 0.1).in_kernel()
    assert dented.parameters["corners"] == 8


def test_pictures_show_them() -> None:
    from sarrus.viz.scenes.body_shapes import visual_surface

    shapes: list[Any] = [sr.Capsule(0.1, 0.5), sr.Ellipsoid((0.1, 0.2, 0.3))]
    shapes += [sr.ConvexMesh(np.random.default_rng(1).normal(size=(12, 3)))]
    for shape in shapes:
        drawn = visual_surface(shape.visual("part"))
        volume = np.sum(np.linalg.det(drawn.points[drawn.faces])) / 6.0
        assert volume == pytest.approx(shape.solid()[0], rel=0.05)
    box = shapes[-1].visual("part").simplified()
    corners = shapes[-1].hull()[0]
    np.testing.assert_allclose(box.size, np.ptp(corners, axis=0))
    np.testing.assert_allclose(box.at.xyz, 0.5 * (corners.min(axis=0) + corners.max(axis=0)))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (lambda: sr.Capsule(0.1, 0.0), "length of Capsule must be positive"),
        (lambda: sr.Ellipsoid((1, 0, 1)), "a radius of Ellipsoid must be positive"),
        (lambda: sr.HalfSpace((0, 0, 0)), "normal of HalfSpace must not be zero"),
        (lambda: sr.ConvexMesh([(0, 0, 0), (1, 0, 0)]), "must be at least four points"),
        (lambda: sr.ConvexMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]), "lie in a plane"),
        (lambda: sr.ConvexMesh(""), "path of an STL or OBJ file"),
        (lambda: sr.HalfSpace().sizes(), "a HalfSpace has no size"),
    ],
)
def test_bad_shapes(shape: Any, message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        shape()
