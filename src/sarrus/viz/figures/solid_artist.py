"""The solids of a scene on axes of matplotlib, flat or in space: painted when the axes are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays import Array
from ..scenes.picture import lit
from ..scenes.raster import SUPER, Canvas, Surfaces
from ..scenes.scene import Scene

DEPTH = 1e-3  # nearness of parallel projections varies by this much, so that weights of corners stay equal
DRAWN = ("coil",)  # kinds of solids that lines show on axes


def add_solids(scene: Scene, ax: Any, color: Any, alpha: float) -> Any:
    """Put the solids of a scene on axes, in one colour if given; returns the artist, with `pose`."""
    import matplotlib.artist

    base: Any = matplotlib.artist.Artist

    class Solids(base):  # type: ignore[misc]
        """Solids at pose number `pose`; pointing at one shows its name in the toolbar."""

        def __init__(self) -> None:
            super().__init__()
            self.pose, self.numbers, self.finer = 0, np.full((1, 1), -1), 1.0
            self.set_zorder(1.8)
            self.set_mouseover(True)

        def draw(self, renderer: Any) -> None:
            if not self.get_visible():
                return
            box, finer = self.axes.bbox, float(renderer.get_image_magnification())  # pixels per unit of axes
            canvas = _painted(scene, self.axes, self.pose, color, finer)
            self.numbers, self.finer = canvas.number, finer
            image = canvas.picture()
            image[..., 3] = np.round(image[..., 3] * alpha)
            gc = renderer.new_gc()
            self._set_gc_clip(gc)
            renderer.draw_image(gc, round(box.x0), round(box.y0), image[::-1])
            gc.restore()

        def get_window_extent(self, renderer: Any = None) -> Any:
            return self.axes.bbox

        def get_tightbbox(self, renderer: Any = None) -> Any:
            return None  # axes already have room for it

        def contains(self, event: Any) -> tuple[bool, dict[str, Any]]:
            return self._number(event) >= 0, {}

        def get_cursor_data(self, event: Any) -> str | None:
            k = self._number(event)
            return scene.solids[k].name if k >= 0 else None

        def format_cursor_data(self, data: str) -> str:
            return data

        def _number(self, event: Any) -> int:
            box, (rows, columns) = self.axes.bbox, self.numbers.shape
            scale = SUPER * self.finer
            row, column = int(rows - scale * (event.y - box.y0)), int(scale * (event.x - box.x0))
            inside = 0 <= row < rows and 0 <= column < columns
            return int(self.numbers[row, column]) if inside else -1

    artist = Solids()
    ax.add_artist(artist)
    return artist


def _painted(scene: Scene, ax: Any, pose: int, color: Any, finer: float) -> Canvas:
    """The solids at a pose, `finer` pixels for each unit of the axes."""
    width, height = max(1, int(finer * ax.bbox.width)), max(1, int(finer * ax.bbox.height))
    canvas, (project, towards) = Canvas(width, height), _projection(scene, ax, finer)
    sun = _sun(scene, towards)

    def light(points: Array, normals: Array) -> tuple[Array, Array]:
        return lit(normals, np.broadcast_to(towards, points.shape), sun)

    canvas.paint(_shown(scene, pose, color, not hasattr(ax, "get_zlim")), project, light)
    return canvas


def _shown(scene: Scene, pose: int, color: Any, flat: bool) -> Surfaces:
    """Triangles of those solids that axes show as solids, in their colours or in one."""
    surfaces = scene.painted(pose)
    lines = [one.kind in DRAWN or (flat and one.name == "ground") for one in scene.solids]
    surfaces = surfaces.only(~np.array(lines)[surfaces.number])
    if color is not None:
        from matplotlib.colors import to_rgb

        surfaces.color[:] = to_rgb(color)
    return surfaces


def _projection(scene: Scene, ax: Any, finer: float) -> tuple[Callable[[Array], Array], Array]:
    """World points (n, 3) to column, row and nearness in the buffer; the direction to the eye (3,)."""
    box, scale = ax.bbox, SUPER * finer

    def pixels(x: Array, y: Array, depth: Array) -> Array:
        at = ax.transData.transform(np.column_stack([x, y])) - (box.x0, box.y0)
        near = 1.0 + DEPTH * (depth - depth.min()) / max(float(np.ptp(depth)), 1e-300)
        return np.column_stack([scale * at[:, 0], scale * (box.height - at[:, 1]), near])

    if hasattr(ax, "get_zlim"):
        from mpl_toolkits.mplot3d import proj3d

        M = ax.get_proj()
        azimuth, height = np.radians(ax.azim), np.radians(ax.elev)
        flat = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        towards = np.cos(height) * flat + np.array([0.0, 0.0, np.sin(height)])

        def in_space(points: Array) -> Array:
            x, y, z = proj3d.proj_transform(*points.T, M)
            return pixels(np.asarray(x), np.asarray(y), -np.asarray(z))

        return in_space, towards
    plane = scene.plane
    assert plane is not None

    def in_plane(points: Array) -> Array:
        x, y = plane.project(points).T
        return pixels(x, y, points @ plane.normal)

    return in_plane, plane.normal


def _sun(scene: Scene, towards: Array) -> Array:
    """Unit vector to the light: from above, and from behind the eye."""
    sun = scene.up + 1.2 * towards + 0.4 * np.cross(scene.up, towards)
    return np.asarray(sun / max(float(np.linalg.norm(sun)), 1e-12))
