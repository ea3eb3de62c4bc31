"""Belts: relations between two pulleys that also load their bearings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, nonnegative, number, positive, text, truth
from ..errors import InputError, ModelError
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.tree.joint import Joint
from ..stepped_numbers import size
from .meshing import MESHES, Line, Meshing, across_axis, axis_line

__all__ = ["Belt"]


@dataclass(frozen=True)
class Belt(Meshing):
    """A toothed belt or a chain between two pulleys with parallel axes, on joints called a and b.

    It neither stretches nor slips. Each strand pulls with the pretension, one of them with half of the
    tangential force more, the other with half less.

    Args:
        a: Name of the joint (a hinge) of the first pulley.
        b: Name of the joint of the second one.
        radius_a: Pitch radius [m].
        radius_b: Likewise.
        crossed: Whether the strands cross, so that the pulleys turn in opposite senses.
        pretension: Force in each strand without load [N].
        offset: How far a is ahead of b where all coordinates are zero, along the belt [m].
    """

    checks: ClassVar[Checks] = {
        "a": text, "b": text, "radius_a": positive, "radius_b": positive, "crossed": truth,
        "pretension": nonnegative, "offset": number,
    }  # fmt: skip
    radius_a: float
    radius_b: float
    crossed: bool = False
    pretension: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a == self.b:
            raise InputError(f"a Belt must join two different joints, got {self.a!r} twice.")

    def rates(self, a: Line, b: Line, where: str) -> tuple[float, float]:
        same = a[1] @ b[1]
        apart: Any = np.linalg.norm(across_axis(b[0] - a[0], a[1]))
        least = self.radius_a + self.radius_b
        if abs(abs(same) - 1.0) > MESHES or apart <= least:
            turned = math.degrees(math.acos(min(abs(float(same)), 1.0)))
            raise ModelError(
                f"{where}: a belt needs parallel axes that are more than {least:.9g} m apart, the sum of"
                f" the radii, got {apart:.9g} m and an angle of {turned:.3g} degrees."
            )
        return self.radius_a, self.radius_b if (same > 0.0) != self.crossed else -self.radius_b

    def loads(
        self,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        lam: Array,
        angles: Callable[[str], Any] = float,
    ) -> Iterator[tuple[str, Array, Array]]:
        (p_a, n), (p_b, _) = (axis_line(places(end), joints(end)) for end in (self.a, self.b))
        line = across_axis(p_b - p_a, n)
        distance = size(line)
        along, up = line / distance, np.cross(n, line / distance)
        for side in (1.0, -1.0):
            r_b = -self.radius_b if self.crossed else self.radius_b
            sine = (
                side * (r_b - self.radius_a) / distance
            )  # of the angle of the strand to the line of centres
            pull = np.sqrt(1.0 - sine * sine) * along + sine * up
            normal = np.cross(n, pull)  # from the centres to the strand, for side = 1
            strand = self.pretension - 0.5 * side * lam[0]
            yield self.a, strand * pull, p_a + side * self.radius_a * normal
            yield self.b, -strand * pull, p_b + side * r_b * normal
