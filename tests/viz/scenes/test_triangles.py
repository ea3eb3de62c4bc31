"""Surfaces: closed, of the volume of the solid that they stand for, with normals that point outwards."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sarrus.models.shapes.surface_mesh import _check_closed, enclosed
from sarrus.viz.scenes import triangles as tri

L_SHAPE = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)]
# area of a regular polygon with AROUND corners over that of its circle: what a faceted cylinder lacks
FACETED = math.sin(2.0 * math.pi / tri.AROUND) * tri.AROUND / (2.0 * math.pi)


@pytest.mark.parametrize(
    ("surface", "volume", "tolerance"),
    [
        (tri.box((1.0, 2.0, 3.0)), 6.0, 1e-12),
        (tri.slab(L_SHAPE, 0.5), 2.0, 1e-12),
        (tri.slab(L_SHAPE[::-1], 0.5), 2.0, 1e-12),
        (tri.cylinder(0.5, 2.0), math.pi / 2.0 * FACETED, 1e-12),
        (tri.cylinder(0.5, 2.0, 0.3), math.pi * 0.32 * FACETED, 1e-12),
        (tri.ball(1.0), 4.0 / 3.0 * math.pi, 0.05),
        (tri.capsule(0.5, 2.0), math.pi / 2.0 + math.pi / 6.0, 0.05),
        (tri.bar(np.zeros(3), np.array([0.0, 3.0, 4.0]), 0.1), math.pi * 0.05, 0.05),
        (tri.ball(1.0).scaled((1.0, 2.0, -3.0)), 8.0 * math.pi, 0.05),
    ],
)
def test_surfaces_are_closed_and_of_the_right_volume(
    surface: tri.Triangles, volume: float, tolerance: float
) -> None:
    corners = surface.points[surface.faces]
    _check_closed(corners, "it")
    assert enclosed(corners, "it")[0] == pytest.approx(volume, rel=tolerance)
    middle = corners.reshape(-1, 3).mean(axis=0)
    assert np.sum(np.linalg.det(corners - middle)) > 0.0  # faces are seen from outside
    normals = tri.corner_normals(surface.points, surface.faces)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=2), 1.0, atol=1e-12)


def test_normals_are_smooth_where_it_is_round_and_not_at_edges() -> None:
    ball = tri.ball(2.0)
    normals = tri.corner_normals(ball.points, ball.faces)
    outwards = ball.points[ball.faces] / 2.0
    assert np.min(np.sum(normals * outwards, axis=2)) > 0.97
    box = tri.box((1.0, 1.0, 1.0))
    assert set(np.abs(tri.corner_normals(box.points, box.faces)).ravel().round(12)) == {0.0, 1.0}


def test_springs_and_arrows_reach_their_ends() -> None:
    a, b = np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 0.5])
    for surface in (tri.coil(a, b, 0.1, 0.01), tri.arrow(a, b, 0.02)):
        for end in (a, b):
            assert np.linalg.norm(surface.points - end, axis=1).min() < 0.03


def test_large_meshes_are_coarsened_and_small_ones_are_not(tmp_path: Path) -> None:
    n = 90
    fine = tri.revolved([(math.sin(s), -math.cos(s)) for s in np.linspace(0.0, math.pi, n)], n)
    for name, surface, most in (("fine", fine, tri.MOST), ("box", tri.box((1, 1, 1)), 12)):
        path = tmp_path / f"{name}.obj"
        lines = [f"v {x} {y} {z}" for x, y, z in surface.points.tolist()]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in surface.faces.tolist()]
        path.write_text("\n".join(lines))
        read = tri.file_surface(str(path))
        assert len(read.faces) <= most and tri.file_surface(str(path)) is read
        # a ball of 16,000 triangles keeps its volume to 2 %, a box all of it
        found = enclosed(read.points[read.faces], "it")[0]
        assert found == pytest.approx(4.0 / 3.0 * math.pi if name == "fine" else 1.0, rel=0.02)


def test_moments_turn_by_the_right_hand() -> None:
    """Three quarters of a circle across the moment, whose ends go around it in its sense."""
    middle, moment = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.6, 0.8])
    line, way = tri.turning_line(middle, moment)
    np.testing.assert_allclose(np.linalg.norm(line - middle, axis=1), 0.5)
    np.testing.assert_allclose((line - middle) @ moment, 0.0, atol=1e-15)
    swept = np.cross(line[:-1] - middle, line[1:] - middle) @ moment
    assert np.all(swept > 0.0)
    assert np.arcsin(swept / 0.25).sum() == pytest.approx(1.5 * np.pi)
    assert np.cross(line[-1] - middle, way) @ moment > 0.0
    surface = tri.turning_arrow(middle, moment, 0.02)
    far = np.linalg.norm(surface.points - middle, axis=1)
    assert far.max() < 0.56 and far.min() > 0.45
    assert np.all(np.isfinite(tri.turning_arrow(middle, np.zeros(3), 0.02).points))


@pytest.mark.parametrize("largest", [50, 2**21 + 7])  # one integer for each row, or rows
def test_rows_are_numbered_as_numpy_does(largest: int) -> None:
    rows = np.random.default_rng(3).integers(0, largest, (400, 3))
    rows = np.concatenate([rows, rows[::3], [[largest, 0, 1]]])
    first, number = tri._numbered(rows)
    _, wanted, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, wanted)
    np.testing.assert_array_equal(number, inverse.ravel())


def test_a_fine_mesh_keeps_its_volume_with_few_triangles(tmp_path: Path) -> None:
    """76,800 triangles of a cylinder as a file become at most MOST."""
    fine = tri.revolved([(0.0, 0.0), *((0.4, z) for z in np.linspace(0, 1, 60)), (0.0, 1.0)], 640)
    corners = fine.points[fine.faces].astype("<f4")
    record = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    record["corners"] = corners
    path = tmp_path / "fine.stl"
    path.write_bytes(b"\0" * 80 + np.uint32(len(corners)).tobytes() + record.tobytes())
    assert len(corners) > 70_000
    found = tri.file_surface(str(path))
    assert 1000 < len(found.faces) <= tri.MOST
    assert enclosed(found.points[found.faces], "it")[0] == pytest.approx(np.pi * 0.16, rel=0.05)
