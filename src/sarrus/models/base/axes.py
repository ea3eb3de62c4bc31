"""Axes as users give them ("x" or a vector), and rotations that align frames with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Array, fixed_shape
from ...errors import InputError
from ...varied import Varied
from .rotation import hat

Axis = str | Sequence[float] | Array

NAMED: dict[str, tuple[float, float, float]] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
}
ALREADY_UNIT = 1e-15
ZERO_LENGTH = 1e-12


def canonical_axis(axis: object, what: str) -> str | tuple[float, float, float]:
    """ "x", "y", "z" as they are, a vector as a tuple of unit length."""
    if isinstance(axis, str):
        if axis not in NAMED:
            raise InputError(f"{what} must be 'x', 'y', 'z' or a vector of three numbers, got {axis!r}.")
        return axis
    vector = fixed_shape(axis, what, (3,))
    length: Any = np.linalg.norm(vector)
    if length < ZERO_LENGTH:
        raise InputError(
            f"{what} must not be zero, got {vector.tolist()}; give a direction such as (0, 0, 1)."
        )
    if type(length) is Varied or abs(length - 1.0) > ALREADY_UNIT:
        vector = vector / length
    x, y, z = vector.tolist()
    return (x, y, z)


def direction(axis: Axis) -> Array:
    """Unit vector (3,) of a canonical axis."""
    return np.array(NAMED[axis] if isinstance(axis, str) else axis)


def axis_label(axis: Axis) -> str:
    """Short text of a canonical axis: "z" or "(0.6, 0.8, 0)"."""
    return axis if isinstance(axis, str) else "(" + ", ".join(f"{x:.4g}" for x in axis) + ")"


def minimal_rotation(start: Array, end: Array) -> Array:
    """Rotation by the smallest angle that turns unit vector `start` into `end`, (3, 3).

    R = I + [w] + [w][w] / (1 + c) with w = start x end, c = start . end; c must not be near -1.
    """
    c = start @ end
    W = hat(np.cross(start, end))
    rotation: Array = np.eye(3) + W + W @ W / (1.0 + c)
    return rotation


def turn_z_to(axis: Array) -> Array:
    """Rotation A (3, 3) with A e_z = axis; a cyclic permutation for the three named axes (no rounding)."""
    for k, unit in enumerate(np.eye(3)):
        if np.array_equal(axis, unit):
            return np.roll(np.eye(3), k - 2, axis=0)
    if axis[2] >= 0.0:
        turned = minimal_rotation(np.array([0.0, 0.0, 1.0]), axis)
    else:
        turned = minimal_rotation(np.array([0.0, 0.0, -1.0]), axis) @ np.diag([1.0, -1.0, -1.0])
    turned[:, 2] = axis
    return turned


def nearest_frame(axis: Array) -> tuple[int, Array]:
    """Index k of the coordinate axis nearest to `axis`, and orthonormal columns of which column k is `axis`.

    The other two columns are e_i and e_j, rotated minimally. Where `axis` points along -e_k the three columns
    are left-handed: column k keeps the sign of `axis`.
    """
    k = int(np.argmax(np.abs(axis)))
    sign = 1.0 if axis[k] > 0.0 else -1.0
    columns = minimal_rotation(sign * np.eye(3)[k], axis)
    columns[:, k] = axis
    return k, columns
