"""Mass properties of simple bodies, ready to be unpacked into `MechanismSpec.body`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ..arrays import nonnegative, positive

AXES = "xyz"


class Mass(TypedDict):
    """Mass [kg], centre of mass [m] (3,), principal inertia about it [kg m^2] (3,), in the body frame."""

    mass: float
    com: tuple[float, float, float]
    inertia: tuple[float, float, float]


def bar(mass: float, length: float, along: str = "x", section: float = 0.0, start: float = 0.0) -> Mass:
    """A uniform bar of square section.

    Args:
        mass: Mass [kg].
        length: Length [m].
        along: Axis of the body frame that the bar lies on: "x", "-x", "y", "-y", "z" or "-z".
        section: Side of the square section [m]; 0 is a slender rod.
        start: Where on that axis the bar begins [m].
    """
    positive(length, "length of a bar")
    side = nonnegative(section, "section of a bar")
    axis, sign = AXES.index(along[-1]), -1.0 if along.startswith("-") else 1.0
    com, inertia = [0.0] * 3, [mass * (length**2 + side**2) / 12.0] * 3
    com[axis] = sign * (start + 0.5 * length)
    inertia[axis] = mass * side**2 / 6.0
    return Mass(mass=mass, com=(com[0], com[1], com[2]), inertia=(inertia[0], inertia[1], inertia[2]))


def cuboid(mass: float, size: Sequence[float], com: Sequence[float] = (0.0, 0.0, 0.0)) -> Mass:
    """A uniform cuboid with edges `size` [m] along the body axes and its centre at `com` [m]."""
    a, b, c = (nonnegative(edge, "edge of a cuboid") ** 2 * mass / 12.0 for edge in size)
    x, y, z = com
    return Mass(mass=mass, com=(x, y, z), inertia=(b + c, c + a, a + b))


def point(mass: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Mass:
    """A point mass [kg] at `at` [m]."""
    x, y, z = at
    return Mass(mass=mass, com=(x, y, z), inertia=(0.0, 0.0, 0.0))
