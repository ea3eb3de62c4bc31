"""Layers of plane mechanisms: links that overlap lie on top of each other, held together by pins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...arrays import Array


def choose_layers(lines: Mapping[str, Sequence[Array]], gap: float) -> dict[str, int]:
    """A layer from 0 on for each body, different for bodies that come closer to each other than a gap.

    Args:
        lines: Segments of each body in the picture's plane [m], each (poses, 2, 2).
        gap: [m].
    """
    names = list(lines)
    owner = np.array([i for i, name in enumerate(names) for _ in lines[name]], dtype=int)
    if not len(owner):
        return dict.fromkeys(names, 0)
    every = np.stack([segment for name in names for segment in lines[name]], axis=1)
    close = np.zeros((len(names), len(names)), dtype=bool)
    for segments in every:
        first, second = np.nonzero(_distances(segments) < gap)
        close[owner[first], owner[second]] = True
    layers = np.full(len(names), -1)
    for i in range(len(names)):
        taken = {int(layers[j]) for j in np.flatnonzero(close[i])}
        layers[i] = min({*range(len(names) + 1)} - taken)
    return dict(zip(names, layers.tolist(), strict=True))


def _distances(segments: Array) -> Array:
    """Distances of all pairs of segments (n, 2, 2) in a plane, (n, n)."""
    a, b = segments[:, None, 0], segments[:, None, 1]
    c, d = segments[None, :, 0], segments[None, :, 1]
    ends = [_to_segment(p, q, r) for p, q, r in ((a, c, d), (b, c, d), (c, a, b), (d, a, b))]
    cut = (_side(a, b, c) * _side(a, b, d) < 0.0) & (_side(c, d, a) * _side(c, d, b) < 0.0)
    return np.where(cut, 0.0, np.minimum.reduce(ends))


def _side(a: Array, b: Array, c: Array) -> Array:
    u, v = b - a, c - a
    return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])


def _to_segment(p: Array, a: Array, b: Array) -> Array:
    """Distance of points from segments a b."""
    way = b - a
    square = np.maximum(np.sum(way * way, axis=-1), 1e-300)
    part = np.clip(np.sum((p - a) * way, axis=-1) / square, 0.0, 1.0)
    return np.asarray(np.linalg.norm(p - a - part[..., None] * way, axis=-1))
