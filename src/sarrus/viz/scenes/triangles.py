"""Surfaces as triangles: boxes, cylinders, balls, plates, springs, arrows, and those of mesh files.

Every painter (rasterizer, viser, page) draws these; all lengths in metres, in the frame of a body.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...models.shapes.mesh_files import read_triangles

AROUND = 24  # corners of a circle
CREASE = 0.8  # cosine of the angle between faces up to which an edge looks round
MOST = 6000  # triangles of a mesh file in a picture
FINEST = 1e-6  # of the extent of a mesh: corners nearer to each other are one
EYE = np.eye(3)

Faces = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface.

    Attributes:
        points: Corners [m], (n, 3).
        faces: Triangles by numbers of corners, counterclockwise seen from outside, (m, 3).
    """

    points: Array
    faces: Faces

    def moved(self, turn: Array, shift: npt.ArrayLike) -> Triangles:
        """Turned by a rotation (3, 3) and then shifted (3,) [m]."""
        return Triangles(self.points @ turn.T + np.asarray(shift, dtype=float), self.faces)

    def scaled(self, factors: npt.ArrayLike) -> Triangles:
        """Stretched along its axes by factors (3,); mirrored surfaces keep their outside."""
        by = np.asarray(factors, dtype=float)
        return Triangles(self.points * by, self.faces if np.prod(by) > 0.0 else self.faces[:, ::-1])


def joined(parts: list[Triangles]) -> Triangles:
    """Several surfaces as one."""
    first = np.cumsum([0, *(len(part.points) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, first, strict=False)]
    return Triangles(np.concatenate([part.points for part in parts]), np.concatenate(faces))


def corner_normals(points: Array, faces: Faces) -> Array:
    """Outward unit normals at the corners of each triangle (m, 3, 3), smooth across edges that look round."""
    a, b, c = points[faces].swapaxes(0, 1)
    weighted = np.cross(b - a, c - a)
    flat = weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-300)
    order = np.argsort(faces, axis=None, kind="stable")
    corner, face = faces.ravel()[order], order // 3
    first = np.searchsorted(corner, np.arange(len(points) + 1))
    most = int(np.max(np.diff(first), initial=1))
    out = np.zeros((3 * len(faces), 3))
    own = flat[np.arange(3 * len(faces)) // 3]
    start, size = first[faces.ravel()], np.diff(first)[faces.ravel()]
    for k in range(min(most, 64)):  # neighbours of every corner, one after the other
        other = face[np.minimum(start + k, len(face) - 1)]
        near = (k < size) & (np.sum(own * flat[other], axis=1) > CREASE)
        out += np.where(near[:, None], weighted[other], 0.0)
    size_of = np.linalg.norm(out, axis=1, keepdims=True)
    return np.asarray(np.where(size_of > 0.0, out / np.maximum(size_of, 1e-300), own).reshape(-1, 3, 3))


def across(z: Array) -> tuple[Array, Array]:
    """Two unit vectors across z, so that x, y, z is right-handed; the same as on the page."""
    z = z / np.linalg.norm(z)
    x = np.cross(EYE[0] if abs(z[0]) < 0.7 else EYE[1], z)
    x /= np.linalg.norm(x)
    return x, np.cross(z, x)


def turn_to(axis: npt.ArrayLike) -> Array:
    """A rotation (3, 3) that takes z onto an axis (3,)."""
    z = np.asarray(axis, dtype=float)
    return np.column_stack([*across(z), z / np.linalg.norm(z)])


# ---------------------------------------------------------------------- solids about their own frame


@lru_cache(maxsize=64)
def _circle(count: int) -> Array:
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angles), np.sin(angles)])


def revolved(profile: npt.ArrayLike, count: int = AROUND) -> Triangles:
    """A profile of (radius, height) from bottom to top, turned about z; closed where the radius is zero."""
    rings = np.asarray(profile, dtype=float)
    circle = _circle(count)
    points = np.concatenate([np.column_stack([r * circle, np.full(count, z)]) for r, z in rings])
    i, j = (x.ravel() for x in np.meshgrid(np.arange(len(rings) - 1), np.arange(count), indexing="ij"))
    a, b = count * i + j, count * i + (j + 1) % count
    faces = np.concatenate([np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)])
    return _without_slivers(Triangles(points, faces))


def _without_slivers(surface: Triangles) -> Triangles:
    """Without the triangles of no area at the poles of a revolved profile."""
    a, b, c = surface.points[surface.faces].swapaxes(0, 1)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return Triangles(surface.points, surface.faces[area > 1e-12 * max(float(area.max(initial=0.0)), 1e-300)])


def cylinder(radius: float, length: float, inner: float = 0.0, count: int = AROUND) -> Triangles:
    """About z, centred; with an inner radius a tube."""
    half = 0.5 * length
    if inner > 0.0:
        ring = [(inner, -half), (radius, -half), (radius, half), (inner, half), (inner, -half)]
    else:
        ring = [(0.0, -half), (radius, -half), (radius, half), (0.0, half)]
    return revolved(ring, count)


def ball(radius: float, count: int = AROUND) -> Triangles:
    """Centred."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, count // 2 + 1)
    return revolved(np.column_stack([np.cos(angles).clip(0.0), np.sin(angles)]) * radius, count)


def capsule(radius: float, length: float, count: int = AROUND) -> Triangles:
    """About z, centred; `length` is that of the straight part."""
    angles = np.linspace(0.0, 0.5 * np.pi, count // 4 + 1)
    cap = np.column_stack([np.cos(angles).clip(0.0), np.sin(angles)]) * radius
    middle = np.array([0.0, 0.5 * length])
    return revolved(np.concatenate([cap[::-1] * (1.0, -1.0) - middle, cap + middle]), count)


def box(size: npt.ArrayLike) -> Triangles:
    """Whole edges (3,) [m], centred."""
    corners = np.array(list(np.ndindex(2, 2, 2))) - 0.5
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return Triangles(corners * np.asarray(size, dtype=float), np.array(faces))


def hull(points: npt.ArrayLike) -> Triangles:
    """The convex hull of points (n, 3), each triangle with corners of its own: its edges are sharp."""
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    corners = found.points[found.simplices]
    turned = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.sum(turned * found.equations[:, :3], axis=1) < 0.0
    corners[inwards] = corners[inwards, ::-1]
    return Triangles(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def slab(outline: npt.ArrayLike, thickness: float) -> Triangles:
    """A polygon (n, 2) in the plane z = 0, half its thickness to either side."""
    flat = np.asarray(outline, dtype=float)
    x, y = flat.T
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) < 0.0:
        flat = flat[::-1]
    n = len(flat)
    half = np.full((n, 1), 0.5 * thickness)
    points = np.concatenate([np.hstack([flat, -half]), np.hstack([flat, half])])
    top = _ears(flat)
    i = np.arange(n)
    j = (i + 1) % n
    sides = [np.stack([i, j, j + n], axis=1), np.stack([i, j + n, i + n], axis=1)]
    return Triangles(points, np.concatenate([top[:, ::-1], top + n, *sides]))


def _ears(flat: Array) -> Faces:
    """A simple polygon (n, 2), counterclockwise, cut into triangles (n - 2, 3) by cutting off ears."""
    left, out = list(range(len(flat))), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            if _turns_left(flat[a], flat[b], flat[c]) and not _holds(flat, (a, b, c), left):
                break
        else:
            k, (a, b, c) = 0, (left[-1], left[0], left[1])  # sides that cross: any ear will do
        out.append((a, b, c))
        del left[k]
    return np.array([*out, tuple(left)])


def _turns_left(a: Array, b: Array, c: Array) -> bool:
    return bool((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) >= 0.0)


def _holds(flat: Array, ear: tuple[int, int, int], left: list[int]) -> bool:
    """Whether a corner that is not one of the ear's lies inside it."""
    rest = flat[[i for i in left if i not in ear]]
    inside = np.ones(len(rest), dtype=bool)
    for a, b in zip(ear, (*ear[1:], ear[0]), strict=True):
        side = flat[b] - flat[a]
        inside &= side[0] * (rest[:, 1] - flat[a][1]) - side[1] * (rest[:, 0] - flat[a][0]) > 1e-15
    return bool(inside.any())


def rounded_outline(corners: npt.ArrayLike, radius: float, count: int = AROUND) -> Array:
    """Convex outline (n, 2) around discs of a radius at corners (k, 2): a bar or a plate with eyes."""
    from scipy.spatial import ConvexHull

    discs = np.asarray(corners, dtype=float)[:, None] + radius * _circle(count)
    every = discs.reshape(-1, 2)
    return np.asarray(every[ConvexHull(every).vertices])


# ---------------------------------------------------------------------- between two points


def bar(a: Array, b: Array, radius: float, count: int = 16) -> Triangles:
    """A round bar with round ends."""
    length = float(np.linalg.norm(b - a))
    if length < 1e-12:
        return ball(radius, count).moved(EYE, a)
    return capsule(radius, length, count).moved(turn_to(b - a), 0.5 * (a + b))


def coil(a: Array, b: Array, radius: float, wire: float, turns: float = 8.0) -> Triangles:
    """A helical spring with straight ends from a to b."""
    line = b - a
    x, y = across(line) if np.linalg.norm(line) > 1e-12 else (EYE[0], EYE[1])
    s = np.linspace(0.0, 1.0, int(14 * turns) + 1)
    wide = radius * np.clip(10.0 * np.minimum(s - 0.06, 0.94 - s), 0.0, 1.0)
    angle = 2.0 * np.pi * turns * np.clip((s - 0.06) / 0.88, 0.0, 1.0)
    spine = a + s[:, None] * line + wide[:, None] * (np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * y)
    return swept(spine, wire)


def swept(spine: Array, radius: float, count: int = 8) -> Triangles:
    """A round wire along a line of points (n, 3)."""
    way = np.gradient(spine, axis=0)
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    x = np.array([across(w)[0] if np.any(w) else EYE[0] for w in way])
    for k in range(1, len(x)):  # without twist
        side = x[k - 1] - (x[k - 1] @ way[k]) * way[k]
        size = float(np.linalg.norm(side))
        x[k] = side / size if size > 1e-9 else x[k]
    circle = radius * _circle(count)
    rings = circle[:, :1] * x[:, None] + circle[:, 1:] * np.cross(way, x)[:, None]
    points = (spine[:, None] + rings).reshape(-1, 3)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(len(spine) - 1), np.arange(count), indexing="ij"))
    p, q = count * i + j, count * i + (j + 1) % count
    faces = np.concatenate([np.stack([p, q, q + count], axis=1), np.stack([p, q + count, p + count], axis=1)])
    return Triangles(points, faces)


def arrow(foot: Array, tip: Array, thick: float) -> Triangles:
    """A force: its head ends at the tip."""
    length = float(np.linalg.norm(tip - foot))
    head = min(5.0 * thick, 0.5 * length)
    profile = [(0.0, 0.0), (thick, 0.0), (thick, length - head), (2.4 * thick, length - head), (0.0, length)]
    return revolved(profile, 16).moved(turn_to(tip - foot), foot)


def turning_arrow(middle: Array, moment: Array, thick: float) -> Triangles:
    """A moment: three quarters of a circle around it, by the right hand, as wide as the vector is long."""
    ring, way = turning_line(middle, moment)
    length = min(5.0 * thick, 0.5 * float(np.linalg.norm(moment)))
    head = revolved([(0.0, 0.0), (2.4 * thick, 0.0), (0.0, length)], 16)
    return joined([swept(ring, thick), head.moved(turn_to(way), ring[-1])])


def turning_line(middle: Array, moment: Array, count: int = 25) -> tuple[Array, Array]:
    """The line (count, 3) of such an arrow and the direction (3,) in which it ends."""
    x, y = across(moment) if np.any(moment) else (EYE[0], EYE[1])
    angle = np.linspace(0.0, 1.5 * np.pi, count)[:, None]
    ring = middle + 0.5 * np.linalg.norm(moment) * (np.cos(angle) * x + np.sin(angle) * y)
    return ring, np.asarray(x)


# ---------------------------------------------------------------------- mesh files


def file_surface(path: str) -> Triangles:
    """The surface of an STL or OBJ file in its units, with at most MOST triangles; read once."""
    status = os.stat(path)
    return _read_surface(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _read_surface(path: str, *_: int) -> Triangles:
    soup = read_triangles(path).reshape(-1, 3)
    extent = max(float(np.max(np.ptp(soup, axis=0))), 1e-300)
    whole = _welded(Triangles(soup, np.arange(len(soup)).reshape(-1, 3)), FINEST * extent)
    if len(whole.faces) <= MOST:
        return whole
    low, high = FINEST, 0.2  # of the extent: the finest grid of corners that leaves few enough triangles
    for _step in range(12):
        cell = float(np.sqrt(low * high))
        found = _welded(whole, cell * extent)
        low, high = (cell, high) if len(found.faces) > MOST else (low, cell)
    return _welded(whole, high * extent)


def _welded(given: Triangles, cell: float) -> Triangles:
    """Points that share a cell of a grid become one, their mean; every triangle that is left is kept once."""
    places = np.round((given.points - given.points.min(axis=0)) / cell).astype(np.int64)
    number = _numbered(places)[1]
    count = np.bincount(number)
    points = np.stack([np.bincount(number, column) / count for column in given.points.T], axis=1)
    faces = number[given.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    return Triangles(points, faces[np.sort(_numbered(np.sort(faces, axis=1))[0])])


def _numbered(rows: Faces) -> tuple[Faces, Faces]:
    """First occurrence of each different row (n, 3) of integers from 0 on, and the number of each row.

    Rows become one integer where they fit: sorting rows as such takes twenty times as long.
    """
    size = int(rows.max(initial=0)) + 1
    keys = rows @ [size * size, size, 1] if size < 2**21 else rows
    _, first, number = np.unique(
        keys, return_index=True, return_inverse=True, axis=None if keys.ndim == 1 else 0
    )
    return first, number.ravel()
