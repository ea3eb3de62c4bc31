"""Triangles into pixels with NumPy alone: nearest surface, light, shadow, outlines. Needs no display.

A triangle is filled row by row: the span between its edges in each row of pixels, all triangles at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrays import Array

SUPER = 2  # pixels of the buffer per pixel of the picture, each way
CHUNK = 4_000_000  # covered pixels that are looked at together
OUTLINE = 0.55  # brightness of edges between bodies

Index = npt.NDArray[np.int64]
# world points (n, 3) to columns and rows of the buffer and nearness (larger is nearer), (n, 3)
Projection = Callable[[Array], Array]


@dataclass(frozen=True)
class Surfaces:
    """Triangles of everything that is painted.

    Attributes:
        points: Corners in the world [m], (m, 3, 3).
        normals: At the corners, (m, 3, 3).
        color: Of each triangle, 0 to 1, (m, 3).
        alpha: Opacity of each triangle, (m,).
        number: Of the solid that each triangle belongs to, (m,).
    """

    points: Array
    normals: Array
    color: Array
    alpha: Array
    number: Index

    def only(self, which: npt.NDArray[np.bool_]) -> Surfaces:
        """Some of the triangles."""
        return Surfaces(
            self.points[which], self.normals[which], self.color[which], self.alpha[which], self.number[which]
        )


class Canvas:
    """Pixels that surfaces are painted on.

    Args:
        width, height: Of the picture, in pixels.
        background: Colour 0 to 1 (3,), or None for a transparent picture.

    Attributes:
        color: (h, w, 4) of the buffer, which has SUPER times as many pixels each way.
        near: Nearness of what is seen, (h, w).
        number: Of the solid that is seen, -1 where there is none, (h, w).
    """

    def __init__(self, width: int, height: int, background: npt.ArrayLike | None = None) -> None:
        shape = (SUPER * height, SUPER * width)
        self.shape = shape
        self.color = np.zeros((*shape, 4), dtype=np.float32)
        if background is not None:
            self.color[:] = (*np.asarray(background, dtype=float), 1.0)
        self.near = np.full(shape, -np.inf)
        self.number = np.full(shape, -1, dtype=np.int64)

    def shadow(self, points: Array, project: Projection, darkness: float) -> None:
        """Darken what triangles (m, 3, 3), already flattened onto the floor, cover."""
        hit = np.zeros(self.shape, dtype=bool)
        for pixel, _, _ in covered(project(points.reshape(-1, 3)).reshape(-1, 3, 3), self.shape):
            hit.ravel()[pixel] = True
        self.blend(hit, np.zeros(3), darkness)

    def blend(self, where: npt.NDArray[np.bool_], color: Array, alpha: float | Array) -> None:
        """Lay a colour (3,) or colours (k, 3) over pixels."""
        if np.all(np.asarray(alpha) >= 1.0):
            self.color[where, :3], self.color[where, 3] = color, 1.0
            return
        under = self.color[where]
        cover = np.broadcast_to(np.asarray(alpha, dtype=np.float32), len(under))[:, None]
        total = cover + under[:, 3:] * (1.0 - cover)
        mixed = cover * color + under[:, :3] * under[:, 3:] * (1.0 - cover)
        self.color[where] = np.hstack([mixed / np.maximum(total, 1e-12), total])

    def paint(
        self, given: Surfaces, project: Projection, light: Callable[[Array, Array], tuple[Array, Array]]
    ) -> None:
        """Solid surfaces, then those that are seen through, nearest first of each.

        Args:
            given: The surfaces.
            project: World to pixels.
            light: Points and normals (k, 3) to brightness and shine (k,).
        """
        clear = given.alpha >= 1.0
        for part in (given.only(clear), given.only(~clear)):
            if len(part.points):
                self._paint(part, project, light)
        self._outlines()

    def _paint(
        self, given: Surfaces, project: Projection, light: Callable[[Array, Array], tuple[Array, Array]]
    ) -> None:
        flat = project(given.points.reshape(-1, 3)).reshape(-1, 3, 3)
        corners, towards = given.points.astype(np.float32), given.normals.astype(np.float32)
        near, which = self.near.ravel().copy(), np.full(self.near.size, -1)
        for pixel, face, depth in covered(flat, self.shape):
            np.maximum.at(near, pixel, depth)
            won = depth >= near[pixel]
            which[pixel[won]] = face[won]
        seen = np.flatnonzero(which >= 0)
        face = which[seen]
        rows, columns = np.divmod(seen, self.shape[1])
        share = _barycentric(flat[face], columns + 0.5, rows + 0.5)
        weights = share * np.maximum(
            flat[face, :, 2], 1e-12
        )  # nearness is 1 / distance: true shares in space
        weights /= weights.sum(axis=1, keepdims=True)
        weights = weights.astype(np.float32)
        points, normals = (
            sum(weights[:, c, None] * values[face, c] for c in range(3)) for values in (corners, towards)
        )
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        bright, shine = light(points, normals)
        color = np.clip(given.color[face] * bright[:, None] + shine[:, None], 0.0, 1.0)
        where = np.zeros(self.shape, dtype=bool)
        where.ravel()[seen] = True
        self.blend(where, color, given.alpha[face])
        self.number.ravel()[seen] = given.number[face]
        self.near = near.reshape(self.shape)

    def _outlines(self) -> None:
        """Dark lines between bodies, and around them."""
        edge = np.zeros(self.shape, dtype=bool)
        for axis in (0, 1):
            other = np.diff(self.number, axis=axis) != 0
            first, second = [slice(None)] * 2, [slice(None)] * 2
            first[axis], second[axis] = slice(0, -1), slice(1, None)
            edge[tuple(first)] |= other
            edge[tuple(second)] |= other & (self.number[tuple(first)] < 0)
        edge &= self.number >= 0
        self.color[edge, :3] *= OUTLINE

    def picture(self) -> npt.NDArray[np.uint8]:
        """Red, green, blue, opacity of the picture, (height, width, 4)."""
        h, w = (n // SUPER for n in self.shape)
        cells = self.color.reshape(h, SUPER, w, SUPER, 4)
        alpha = cells[..., 3:].mean(axis=(1, 3))
        color = (cells[..., :3] * cells[..., 3:]).mean(axis=(1, 3)) / np.maximum(alpha, 1e-12)
        return np.round(255.0 * np.concatenate([color, alpha], axis=2)).astype(np.uint8)


def covered(flat: Array, shape: tuple[int, int]) -> list[tuple[Index, Index, Array]]:
    """Pixels whose middle lies in a triangle, in chunks: number of pixel and triangle, nearness there.

    Args:
        flat: Column, row and nearness of the corners, (m, 3, 3).
        shape: Rows and columns of the buffer.
    """
    height, width = shape
    keep = np.all(np.isfinite(flat), axis=(1, 2)) & np.all(flat[..., 2] > 0.0, axis=1)
    faces = np.flatnonzero(keep)
    x, y = flat[faces, :, 0], flat[faces, :, 1]
    low = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    high = np.clip(np.floor(y.max(axis=1) - 0.5) + 1, 0, height).astype(np.int64)
    rows = np.maximum(high - low, 0)
    which, row = _expanded(rows)
    row = row + low[which]
    left, right = _spans(x[which], y[which], row + 0.5)
    start = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    count = np.maximum(np.clip(np.floor(right - 0.5) + 1, 0, width).astype(np.int64) - start, 0)
    slope = _gradients(flat[faces])
    out, total = [], np.cumsum(count)
    first = 0
    while first < len(count):
        base = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, base + CHUNK, side="right")))
        span, column = _expanded(count[first:last])
        span, column = span + first, column + start[first + span]
        face = which[span]
        depth = slope[face, 0] + slope[face, 1] * (column + 0.5) + slope[face, 2] * (row[span] + 0.5)
        out.append((row[span] * width + column, faces[face], depth))
        first = last
    return out


def _expanded(counts: Index) -> tuple[Index, Index]:
    """For counts (n,): which of them each of their units belongs to, and its number there from 0 on."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)


def _spans(x: Array, y: Array, row: Array) -> tuple[Array, Array]:
    """Left and right end of triangles (k, 3) in a row of pixels (k,)."""
    left, right = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        rise = y[:, j] - y[:, i]
        crosses = (
            (np.minimum(y[:, i], y[:, j]) <= row) & (row <= np.maximum(y[:, i], y[:, j])) & (rise != 0.0)
        )
        at = x[:, i] + (row - y[:, i]) / np.where(rise == 0.0, 1.0, rise) * (x[:, j] - x[:, i])
        left = np.where(crosses, np.minimum(left, at), left)
        right = np.where(crosses, np.maximum(right, at), right)
    none = left > right
    return np.where(none, 0.0, left), np.where(none, -1.0, right)


def _gradients(flat: Array) -> Array:
    """Nearness of triangles (m, 3, 3) as c + gx column + gy row: c, gx, gy (m, 3)."""
    (x0, y0, d0), (x1, y1, d1), (x2, y2, d2) = (flat[:, k].T for k in range(3))
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    area = np.where(np.abs(area) < 1e-9, np.inf, area)
    gx = ((d1 - d0) * (y2 - y0) - (d2 - d0) * (y1 - y0)) / area
    gy = ((d2 - d0) * (x1 - x0) - (d1 - d0) * (x2 - x0)) / area
    return np.stack([d0 - gx * x0 - gy * y0, gx, gy], axis=1)


def _barycentric(flat: Array, column: Array, row: Array) -> Array:
    """Shares (k, 3) of the corners of triangles (k, 3, 3) at pixels."""
    (x0, y0), (x1, y1), (x2, y2) = (flat[:, k, :2].T for k in range(3))
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    area = np.where(np.abs(area) < 1e-9, np.inf, area)
    b = ((column - x0) * (y2 - y0) - (x2 - x0) * (row - y0)) / area
    c = ((x1 - x0) * (row - y0) - (column - x0) * (y1 - y0)) / area
    return np.asarray(np.clip(np.stack([1.0 - b - c, b, c], axis=1), 0.0, 1.0))
