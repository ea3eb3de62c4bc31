"""A camera that looks at all of a scene: perspective, far enough away that nothing is cropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from .triangles import across

ANGLE = 0.6  # opening of the shorter side [rad], the same as on the page
ROOM = 1.08  # of the picture over what is in it


@dataclass(frozen=True)
class Camera:
    """Where one looks from.

    Attributes:
        target: Point in the middle of the picture [m], (3,).
        right, up, back: Unit vectors of the picture in the world, (3,) each; back points to the eye.
        distance: From the eye to the target [m].
    """

    target: Array
    right: Array
    up: Array
    back: Array
    distance: float

    @property
    def eye(self) -> Array:
        """Where it is [m], (3,)."""
        return np.asarray(self.target + self.distance * self.back)

    def project(self, points: Array, width: int, height: int) -> Array:
        """World points (n, 3) as column, row and nearness [1/m], (n, 3), in a picture of a size in pixels."""
        seen = (points - self.target) @ np.column_stack([self.right, self.up, self.back])
        away = self.distance - seen[:, 2]
        near = np.where(away > 1e-6 * self.distance, 1.0 / np.where(away == 0.0, 1.0, away), -1.0)
        scale = 0.5 * min(width, height) / np.tan(0.5 * ANGLE) * near
        return np.column_stack([0.5 * width + scale * seen[:, 0], 0.5 * height - scale * seen[:, 1], near])


def framed(points: Array, up: Array, eye: tuple[float, float], aspect: float) -> Camera:
    """A camera that has points (n, 3) in its picture, and they fill it.

    Args:
        points: What must be seen [m].
        up: Unit vector upwards in the picture (3,).
        eye: Azimuth and height of the direction to the eye [rad].
        aspect: Width over height of the picture.
    """
    azimuth, height = eye
    x, y = across(up)
    flat = np.cos(azimuth) * x + np.sin(azimuth) * y
    back = np.cos(height) * flat + np.sin(height) * up
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    axes = np.column_stack([right, np.cross(back, right), back])
    slope = np.tan(0.5 * ANGLE) * np.array([max(aspect, 1.0), max(1.0 / aspect, 1.0)]) / ROOM
    seen = points @ axes
    middle, distance = 0.5 * (seen.min(axis=0) + seen.max(axis=0)), 1.0
    for _ in range(8):  # the middle of the picture is not that of the points: near ones look larger
        local = seen - middle
        distance = float(np.max(local[:, 2] + np.max(np.abs(local[:, :2]) / slope, axis=1)))
        seen_at = local[:, :2] / np.maximum(distance - local[:, 2], 1e-9)[:, None]
        middle[:2] += 0.5 * (seen_at.min(axis=0) + seen_at.max(axis=0)) * distance
    distance = max(distance, 1e-6)
    return Camera(axes @ middle, right, axes[:, 1], back, distance)
