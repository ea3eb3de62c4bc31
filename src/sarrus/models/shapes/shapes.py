"""Shapes of parts: what a solid of uniform density weighs, and where and how its mass lies."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, nonnegative, positive, triple
from ...errors import InputError
from ...varied import hypot, total
from ..base.kind import Checks, Kind
from ..base.pose import Pose
from .kernel_shape import KernelShape, prism
from .visual import Visual

__all__ = ["Box", "Cylinder", "Sphere", "Tube"]

STEEL = 7850.0  # [kg/m^3]


class MassProperties(NamedTuple):
    """Mass [kg], centre of mass [m] (3,), inertia about it [kg m^2] (3, 3), in the frame of the part."""

    mass: float
    com: Array
    inertia: Array


def combined(pieces: list[MassProperties]) -> MassProperties:
    """Mass properties of several pieces together, by the parallel axis theorem."""
    if len(pieces) == 1:
        return pieces[0]
    mass = total(piece.mass for piece in pieces)
    if mass == 0.0:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    com = sum(piece.mass * piece.com for piece in pieces) / mass
    inertia = np.zeros((3, 3))
    for piece in pieces:
        r = piece.com - com
        inertia = inertia + piece.inertia + piece.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return MassProperties(mass, np.asarray(com), inertia)


@dataclass(frozen=True)
class Shape(Kind):
    """Base of all shapes.

    Args:
        density: [kg/m^3]; default steel.
        mass: [kg], instead of a density.
        at: Frame of the shape on its part.
    """

    density: float | None = field(default=None, kw_only=True)
    mass: float | None = field(default=None, kw_only=True)
    at: Pose = field(default_factory=Pose, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.density is not None and self.mass is not None:
            raise InputError(f"{type(self).__name__} takes a density or a mass, not both.")

    @abstractmethod
    def solid(self) -> tuple[float, Array, Array]:
        """Volume [m^3], centroid (3,) [m], inertia about it for unit mass (3, 3) [m^2], in its own frame."""

    @abstractmethod
    def in_kernel(self) -> KernelShape:
        """As a surface that touches others."""

    @abstractmethod
    def sizes(self) -> tuple[float, ...]:
        """What `Visual.size` says of it."""

    def visual(self, body: str, extent: float = 1.0) -> Visual:
        """The shape on a body, for pictures; what has no end is shown as far as the extent [m]."""
        return Visual(
            body, type(self).__name__.lower(), self.sizes(), self.at, str(getattr(self, "path", ""))
        )

    def mass_properties(self) -> MassProperties:
        """Of the shape where it stands on its part."""
        volume, com, inertia = self.solid()
        mass = (STEEL if self.density is None else self.density) * volume if self.mass is None else self.mass
        R = self.at.rotation
        return MassProperties(mass, self.at.apply(com), mass * (R @ inertia @ R.T))


def _placed(value: object, what: str) -> Pose:
    if not isinstance(value, Pose):
        raise InputError(f"{what} must be a Pose on the part, got {value!r}; write sr.Pose((x, y, z)).")
    return value


def _weight(value: object, what: str) -> float | None:
    return None if value is None else nonnegative(value, what)


MATERIAL: Checks = {"density": _weight, "mass": _weight, "at": _placed}


@dataclass(frozen=True)
class Box(Shape):
    """A cuboid, centred on its frame.

    Args:
        size: Edges along x, y, z [m], (3,).
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"size": triple, **MATERIAL}
    size: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        for edge in np.asarray(self.size).tolist():
            positive(edge, "an edge of Box")

    def solid(self) -> tuple[float, Array, Array]:
        x, y, z = np.asarray(self.size).tolist()
        squares = np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
        return x * y * z, np.zeros(3), squares / 12.0

    def sizes(self) -> tuple[float, ...]:
        x, y, z = np.asarray(self.size).tolist()
        return x, y, z

    def in_kernel(self) -> KernelShape:
        x, y, z = (0.5 * edge for edge in self.sizes())
        return prism(np.array([[-x, -y], [x, -y], [x, y], [-x, y]]), z)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A round bar along z, centred on its frame.

    Args:
        radius: [m].
        length: Along z [m].
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"radius": positive, "length": positive, **MATERIAL}
    radius: float
    length: float

    def solid(self) -> tuple[float, Array, Array]:
        return _hollow(self.radius, 0.0, self.length)

    def sizes(self) -> tuple[float, ...]:
        return self.radius, self.length

    def in_kernel(self) -> KernelShape:
        half = 0.5 * self.length
        sizes = {"radius": self.radius, "half": half}
        return KernelShape("Cylinder", sizes, radius=hypot(self.radius, half))


@dataclass(frozen=True)
class Tube(Shape):
    """A round tube along z, centred on its frame.

    Args:
        radius: Outside [m].
        inner_radius: [m], smaller.
        length: Along z [m].
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {
        "radius": positive, "inner_radius": nonnegative, "length": positive, **MATERIAL,
    }  # fmt: skip
    radius: float
    inner_radius: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.inner_radius < self.radius:
            raise InputError(
                f"inner_radius of Tube must be smaller than its radius {self.radius:g} m, got"
                f" {self.inner_radius:g} m."
            )

    def solid(self) -> tuple[float, Array, Array]:
        return _hollow(self.radius, self.inner_radius, self.length)

    def sizes(self) -> tuple[float, ...]:
        return self.radius, self.inner_radius, self.length

    def in_kernel(self) -> KernelShape:
        raise InputError("a Tube is hollow and cannot be a surface; use a Cylinder.")


def _hollow(outer: float, inner: float, length: float) -> tuple[float, Array, Array]:
    squares = outer**2 + inner**2
    across = squares / 4.0 + length**2 / 12.0
    volume = math.pi * (outer**2 - inner**2) * length
    return volume, np.zeros(3), np.diag([across, across, squares / 2.0])


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball, centred on its frame.

    Args:
        radius: [m].
        density, mass, at: By name, as of every shape: [kg/m^3], or [kg]; its frame on the part.
    """

    checks: ClassVar[Checks] = {"radius": positive, **MATERIAL}
    radius: float

    def solid(self) -> tuple[float, Array, Array]:
        return 4.0 / 3.0 * math.pi * self.radius**3, np.zeros(3), 0.4 * self.radius**2 * np.eye(3)

    def sizes(self) -> tuple[float, ...]:
        return (self.radius,)

    def in_kernel(self) -> KernelShape:
        return KernelShape("Sphere", {"radius": self.radius}, radius=self.radius)


def rod(p: Array, q: Array, mass: float, radius: float) -> MassProperties:
    """A straight rod from p to q (3,) [m]: m l^2/12 across, m r^2/2 about its own axis [kg m^2]."""
    along = q - p
    square = along @ along
    lengthwise = along[:, None] * along / square
    inertia = mass * (square / 12.0 * (np.eye(3) - lengthwise) + 0.5 * radius**2 * lengthwise)
    return MassProperties(mass, 0.5 * (p + q), inertia)
