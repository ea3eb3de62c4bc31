"""Coordinates q (nq,) beside their increments (nv,), of which a quaternion has one less.

With n = q / |q| for each quaternion and q left as it is elsewhere, dq = E(n) d along an increment d of
`integrate`, and d = D(q) dq for a change dq of the coordinates, also across the unit length: D E = 1, and D
takes no notice of changes along a quaternion itself. Gradients go back by the transposes: what is E.T g of a
gradient g by q, and D.T of one by increments (docs/notation.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arrays import Array
from ...models.model import Model
from ...models.tree.joint import NodeKind


def rates_of_positions(model: Model, q: Array) -> Array:
    """E (..., nq, nv) at q (..., nq)."""
    E = np.zeros((*q.shape[:-1], model.nq, model.nv))
    for iq, iv in _numbers(model):
        E[..., iq, iv] = 1.0
    for at, k, free in _quaternions(model):
        E[..., at : at + 4, k : k + 3] = _turning(_unit(q[..., at : at + 4])) / 2.0
        if free:
            E[..., at - 3 : at, k - 3 : k] = _rotation(_unit(q[..., at : at + 4]))
    return E


def increments_of_positions(model: Model, q: Array) -> Array:
    """D (..., nv, nq) at q (..., nq), whose quaternions may have any length but zero."""
    D = np.zeros((*q.shape[:-1], model.nv, model.nq))
    for iq, iv in _numbers(model):
        D[..., iv, iq] = 1.0
    for at, k, free in _quaternions(model):
        x = q[..., at : at + 4]
        length = np.linalg.norm(x, axis=-1)[..., None, None]
        D[..., k : k + 3, at : at + 4] = np.swapaxes(_turning(_unit(x)), -1, -2) * 2.0 / length
        if free:
            D[..., k - 3 : k, at - 3 : at] = np.swapaxes(_rotation(_unit(x)), -1, -2)
    return D


def _numbers(model: Model) -> Iterator[tuple[int, int]]:
    """Entries of q and of v of coordinates that are numbers."""
    for node in model.structure.tree.nodes:
        if node.kind not in (NodeKind.BALL, NodeKind.FREE):
            for i, column in enumerate(node.columns):
                yield node.iq + i, column


def _quaternions(model: Model) -> Iterator[tuple[int, int, bool]]:
    """First entry in q of a quaternion, first entry in v of its rotation, and whether a position precedes."""
    for node in model.structure.tree.nodes:
        if node.kind in (NodeKind.BALL, NodeKind.FREE):
            free = node.kind == NodeKind.FREE
            yield node.iq + 3 * free, node.iv + 3 * free, free


def _unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def _turning(n: Array) -> Array:
    """n (w, 0) (..., 4, 3) for unit vectors w: products of quaternions (x, y, z, w)."""
    x, y, z, w = np.moveaxis(n, -1, 0)
    rows = [[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _rotation(n: Array) -> Array:
    """Rotation matrix (..., 3, 3) of unit quaternions."""
    x, y, z, w = np.moveaxis(n, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
