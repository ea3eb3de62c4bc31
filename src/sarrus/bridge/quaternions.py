"""Quaternions in arrays, scalar last (..., 4): products, conjugates, rotated vectors, MuJoCo's order."""

from __future__ import annotations

import numpy as np

from sarrus.arrays import Array


def product(a: Array, b: Array) -> Array:
    """a b, the rotation b first."""
    va, vb, wa, wb = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    vector = wa * vb + wb * va + np.cross(va, vb)
    return np.concatenate([vector, wa * wb - np.sum(va * vb, axis=-1, keepdims=True)], axis=-1)


def conjugate(q: Array) -> Array:
    """The inverse rotation."""
    return np.concatenate([-q[..., :3], q[..., 3:]], axis=-1)


def rotated(q: Array, x: Array) -> Array:
    """Vectors x (..., 3) turned by q."""
    twice = 2.0 * np.cross(q[..., :3], x)
    turned: Array = x + q[..., 3:] * twice + np.cross(q[..., :3], twice)
    return turned


def unit(q: Array) -> Array:
    """Of unit length."""
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def scalar_last(wxyz: Array) -> Array:
    """From MuJoCo's order."""
    return np.asarray(wxyz[..., [1, 2, 3, 0]])


def scalar_first(xyzw: Array) -> Array:
    """To MuJoCo's order."""
    return np.asarray(xyzw[..., [3, 0, 1, 2]])
