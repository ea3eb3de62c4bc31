"""Rigid motions as 4 x 4 matrices, twists [linear; angular], quaternions (x, y, z, w)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from . import taylor as ts

Array = npt.NDArray[np.float64]


def hat(w: Array) -> Array:
    """Cross-product matrix of a vector (..., 3)."""
    out = np.zeros((*np.shape(w)[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    return out - np.swapaxes(out, -1, -2)


def twist_matrix(xi: Array) -> Array:
    """4 x 4 matrix of a twist [linear; angular] (..., 6)."""
    out = np.zeros((*np.shape(xi)[:-1], 4, 4))
    out[..., :3, :3] = hat(xi[..., 3:])
    out[..., :3, 3] = xi[..., :3]
    return out


def homogeneous(R: Array, p: Array) -> Array:
    """4 x 4 matrix of a frame."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = R, p
    return out


def exponential(A: Array) -> Array:
    """Matrix exponential by scaling and squaring of its series."""
    n = max(0, math.ceil(math.log2(max(np.abs(A).sum(), 1e-300))) + 4)
    A = A / 2.0**n
    out = np.eye(len(A))
    term = np.eye(len(A))
    for k in range(1, 16):
        term = term @ A / k
        out = out + term
    for _ in range(n):
        out = out @ out
    return out


def rotation_of(quat: Array) -> Array:
    """Rotation matrix of a quaternion (x, y, z, w), normalised first."""
    x, w = quat[:3], quat[3]
    return np.eye(3) + 2 * (w * hat(x) + hat(x) @ hat(x)) / (quat @ quat)


def times_quaternion(p: Array, q: Array) -> Array:
    """Hamilton product of quaternions (x, y, z, w)."""
    return np.append(p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3]), p[3] * q[3] - p[:3] @ q[:3])


def adjoint(X: Array) -> Array:
    """6 x 6 matrix that takes twists [linear; angular] out of the frame X."""
    R, p = X[:3, :3], X[:3, 3]
    return np.block([[R, hat(p) @ R], [np.zeros((3, 3)), R]])


def ad(V: Array) -> Array:
    """Lie bracket matrix of a twist [linear; angular]."""
    v, w = hat(V[:3]), hat(V[3:])
    return np.block([[w, v], [np.zeros((3, 3)), w]])


def logarithm(X: Array) -> Array:
    """Twist (6,) whose exponential is X."""
    w = ts.rotation_vector(X[None, None, :3, :3])[0, 0]
    turn = twist_matrix(np.append(np.zeros(3), w))
    # p = V(w) v with V = integral of exp(s w) over 0..1, read off an exponential of twice the size
    block = np.zeros((6, 6))
    block[:3, :3], block[:3, 3:] = turn[:3, :3], np.eye(3)
    V = exponential(block)[:3, 3:]
    return np.append(np.linalg.solve(V, X[:3, 3]), w)
