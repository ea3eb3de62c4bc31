"""Coordinates about a reference pose: differences of angles and displacements, rotations of quaternions.

A chart is one number for each entry of v. Of a quaternion it is 2 vec / w of the rotation from the reference
(Cayley), of a Free joint also the displacement in the axes of the reference. It is smooth up to half a turn
and has a rational inverse, which generated code repeats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array


def quaternion_product(a: Array, b: Array) -> Array:
    """a b of quaternions (..., 4), xyzw."""
    u, s, v, r = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = s * v + r * u + np.cross(u, v)
    return np.concatenate([vector, s * r - np.sum(u * v, axis=-1, keepdims=True)], axis=-1)


def conjugate(a: Array) -> Array:
    """The inverse of unit quaternions (..., 4)."""
    return np.concatenate([-a[..., :3], a[..., 3:]], axis=-1)


def rotated(a: Array, x: Array) -> Array:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    t = 2.0 * np.cross(a[..., :3], x)
    return np.asarray(x + a[..., 3:] * t + np.cross(a[..., :3], t))


class Chart:
    """Charts of all coordinates of a mechanism about a pose.

    Args:
        mech: The mechanism.
        q0: The reference pose (nq,).
    """

    def __init__(self, mech: Any, q0: Array) -> None:
        self.q0 = np.array(q0)
        scalar = [(k, i) for k, i in enumerate(mech.model.coordinate_q) if i >= 0]
        self.scalar_v = np.array([k for k, _ in scalar], dtype=int)
        self.scalar_q = np.array([i for _, i in scalar], dtype=int)
        self.nv, self.nq = mech.nv, mech.nq
        self.quaternions: list[tuple[int, int]] = []  # first entry in v and in q
        self.places: list[tuple[int, int]] = []
        for at_q, at_v in zip(mech.model.q_slices, mech.model.v_slices, strict=True):
            n = at_v.stop - at_v.start
            if at_q.stop - at_q.start == n + 1:  # ball: 3, 4; free: 6, 7
                if n == 6:
                    self.places.append((at_v.start, at_q.start))
                self.quaternions.append((at_v.stop - 3, at_q.stop - 4))

    def of(self, q: Array) -> Array:
        """Charts (..., nv) of poses (..., nq)."""
        x = np.zeros((*q.shape[:-1], self.nv))
        x[..., self.scalar_v] = q[..., self.scalar_q] - self.q0[self.scalar_q]
        for k, i in self.quaternions:
            r = quaternion_product(conjugate(self.q0[i : i + 4]), q[..., i : i + 4])
            x[..., k : k + 3] = 2.0 * r[..., :3] / r[..., 3:]
        for k, i in self.places:
            turn = conjugate(self.q0[i + 3 : i + 7])
            x[..., k : k + 3] = rotated(turn, q[..., i : i + 3] - self.q0[i : i + 3])
        return x

    def pose(self, x: Array) -> Array:
        """Poses (..., nq) of charts (..., nv)."""
        q = np.empty((*x.shape[:-1], self.nq))
        q[..., self.scalar_q] = self.q0[self.scalar_q] + x[..., self.scalar_v]
        for k, i in self.quaternions:
            r = np.concatenate([0.5 * x[..., k : k + 3], np.ones((*x.shape[:-1], 1))], axis=-1)
            q[..., i : i + 4] = quaternion_product(
                self.q0[i : i + 4], r / np.linalg.norm(r, axis=-1)[..., None]
            )
        for k, i in self.places:
            q[..., i : i + 3] = self.q0[i : i + 3] + rotated(self.q0[i + 3 : i + 7], x[..., k : k + 3])
        return q

    def slopes(self, q: Array) -> Array:
        """Derivative of the chart by v (..., nv, nv)."""
        D = np.zeros((*q.shape[:-1], self.nv, self.nv))
        D[..., self.scalar_v, self.scalar_v] = 1.0
        for k, i in self.quaternions:
            r = quaternion_product(conjugate(self.q0[i : i + 4]), q[..., i : i + 4])
            y = r[..., :3] / r[..., 3:]
            # r' = r (omega, 0) / 2, so that (2 vec / w)' = omega + y x omega + y (y . omega)
            for j in range(3):
                omega = np.eye(3)[j]
                D[..., k : k + 3, k + j] = omega + np.cross(y, omega) + y * y[..., j, None]
        for k, i in self.places:
            r = quaternion_product(conjugate(self.q0[i + 3 : i + 7]), q[..., i + 3 : i + 7])
            for j in range(3):
                D[..., k : k + 3, k + j] = rotated(r, np.broadcast_to(np.eye(3)[j], r[..., :3].shape))
        return D
