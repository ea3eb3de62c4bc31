"""Pixels of triangles, against a loop over all pixels; framing; the PNG file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sarrus.viz.scenes.camera import framed
from sarrus.viz.scenes.picture import png
from sarrus.viz.scenes.raster import SUPER, Canvas, Surfaces, covered

SHAPE = (24, 32)


def test_covered_pixels_are_those_whose_middle_is_inside() -> None:
    rng = np.random.default_rng(1)
    flat = rng.uniform(-8.0, 40.0, (40, 3, 3))
    flat[..., 2] = rng.uniform(0.5, 1.0, (40, 3))
    found = [set() for _ in flat]
    for pixel, face, near in covered(flat, SHAPE):
        for p, f, d in zip(pixel.tolist(), face.tolist(), near.tolist(), strict=True):
            found[f].add(p)
            assert flat[f, :, 2].min() - 1e-9 <= d <= flat[f, :, 2].max() + 1e-9
    for f, corners in enumerate(flat[..., :2]):
        wanted = set()
        for row, column in np.ndindex(*SHAPE):
            sides = [
                np.linalg.det(
                    [corners[k] - corners[k - 1], np.array([column + 0.5, row + 0.5]) - corners[k - 1]]
                )
                for k in range(3)
            ]
            if min(sides) > 1e-9 or max(sides) < -1e-9:
                wanted.add(row * SHAPE[1] + column)
        assert found[f] == wanted


def test_the_nearest_surface_is_seen_and_others_through_glass() -> None:
    square = np.array([[[0, 0], [8, 0], [8, 8]], [[0, 0], [8, 8], [0, 8]]], dtype=float) * SUPER
    colors = np.eye(3)

    def surfaces(alpha: float) -> Surfaces:
        points = np.concatenate(
            [np.concatenate([square, np.full((2, 3, 1), near)], axis=2) for near in (0.2, 0.9, 0.5)]
        )
        owner = np.repeat([0, 1, 2], 2)
        opacity = np.where(owner == 1, alpha, 1.0)
        return Surfaces(points, np.tile([0.0, 0.0, 1.0], (6, 3, 1)), colors[owner], opacity, owner)

    for alpha, wanted in ((1.0, (0.0, 1.0, 0.0)), (0.25, (0.0, 0.25, 0.75))):
        canvas = Canvas(8, 8)
        canvas.paint(surfaces(alpha), lambda x: x, lambda p, n: (np.ones(len(p)), np.zeros(len(p))))
        assert set(canvas.number.ravel().tolist()) == {1}
        np.testing.assert_allclose(canvas.picture()[4, 4] / 255.0, (*wanted, 1.0), atol=1 / 255)


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
def test_everything_is_in_the_frame_and_fills_it(aspect: float) -> None:
    rng = np.random.default_rng(7)
    width, height = round(300 * aspect), 300
    for _ in range(20):
        points = rng.normal(size=(30, 3)) * rng.uniform(0.01, 3.0, 3) + rng.normal(size=3)
        camera = framed(points, np.array([0.0, 0.0, 1.0]), tuple(rng.uniform(-1.2, 1.2, 2)), aspect)
        seen = camera.project(points, width, height)
        assert np.all(seen[:, 2] > 0.0)
        share = np.ptp(seen[:, :2], axis=0) / (width, height)
        assert np.all(seen[:, :2] > 0.0) and np.all(seen[:, :2] < (width, height))
        assert 0.88 < share.max() < 0.95  # 1 / ROOM is 0.926


def test_a_png_holds_its_pixels(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(3).integers(0, 256, (7, 5, 4)).astype(np.uint8)
    for part in (pixels, pixels[..., :3]):
        (tmp_path / "x.png").write_bytes(png(part))
        np.testing.assert_array_equal(np.asarray(image.open(tmp_path / "x.png")), part)
