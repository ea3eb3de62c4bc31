"""Inertias of URDF links, as files have them: some not positive semidefinite, some missing.

Exporters write inertias of small fixed parts (antennas, covers) that no body can have. Only what moves as one
piece matters for dynamics, so links that are welded together are then lumped into the first of them, which
changes nothing in the motion. Joints that carry nothing with mass would make the mass matrix singular.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sarrus._kernel import principal_moments
from sarrus.arrays import LARGEST, Array
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import Omitted
from sarrus.models.base.pose import PARALLEL, Pose

ROUNDING = 1e-18  # [kg m^2]: smaller entries are rounding of the exporter
NEGATIVE = -1e-12  # relative size of a principal moment that is negative beyond rounding
GRAIN = 1e-13  # armature of a joint that carries no mass, relative to the moving mass [m^2]


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], centre of mass [m] (3,) and inertia about it [kg m^2] (3, 3), in the axes of a link."""

    mass: float
    com: tuple[float, ...]
    tensor: tuple[tuple[float, ...], ...]

    @property
    def is_possible(self) -> bool:
        """Whether no principal moment is negative."""
        size = max(abs(x) for row in self.tensor for x in row)
        return bool(principal_moments(self.tensor)[0] >= NEGATIVE * size)

    @property
    def is_nothing(self) -> bool:
        """Whether it has neither mass nor moments."""
        return self.mass == 0.0 and not any(map(any, self.tensor))

    def arguments(self) -> dict[str, Any]:
        """For `MechanismSpec.body`."""
        return {"mass": self.mass, "com": self.com, "inertia": self.tensor}


ZERO = (0.0, 0.0, 0.0)
NOTHING = Inertia(0.0, ZERO, (ZERO, ZERO, ZERO))
HERE = Pose()
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def pose_of(origin: Element | None) -> Pose:
    """xyz and rpy of an <origin>, or of an element that has them itself."""
    if origin is None:
        return HERE
    xyz, rpy = origin.vector("xyz", 3, ZERO), origin.vector("rpy", 3, ZERO)
    with origin.context():
        return Pose(xyz, rpy=None if rpy == ZERO else rpy)


def inertia_of(link: Element) -> Inertia:
    """What <inertial> says."""
    inertial = link.first("inertial")
    if inertial is None:
        return NOTHING
    at, tensor = pose_of(inertial.first("origin")), inertial.first("inertia")
    given = [0.0 if tensor is None else tensor.number(name, 0.0) for name in MOMENTS]
    if max(map(abs, given)) >= LARGEST:
        inertial.fail(f"moments of inertia must be below {LARGEST:g} kg m^2 in size")
    xx, xy, xz, yy, yz, zz = (x if abs(x) >= ROUNDING else 0.0 for x in given)
    rows: tuple[tuple[float, ...], ...] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    if at.rotation is not PARALLEL:
        rows = _symmetric(at.rotation @ rows @ at.rotation.T)
    return Inertia(inertial.one("mass").number("value"), tuple(at.xyz.tolist()), rows)


def check_inertia(inertial: Element, name: str, mass: float, tensor: Sequence[Sequence[float]]) -> None:
    """Refuse a negative mass or moment with the line of the element."""
    if mass < 0.0:
        inertial.fail(f"mass of body {name!r} must not be negative, got {mass:g}")
    moments = principal_moments(tensor)
    size = max(abs(x) for row in tensor for x in row)
    if moments[0] < NEGATIVE * size:
        inertial.fail(
            f"inertia of body {name!r} must be positive semidefinite, got principal moments"
            f" {', '.join(f'{x:g}' for x in moments)}; give it about the centre of mass"
        )


def _symmetric(tensor: Array) -> tuple[tuple[float, ...], ...]:
    """Rows of a matrix (3, 3) that is symmetric up to rounding."""
    return tuple(map(tuple, (0.5 * (tensor + tensor.T)).tolist()))


def lumped(
    inertias: Mapping[str, Inertia], welds: Mapping[str, Sequence[tuple[str, Pose]]], omitted: Omitted
) -> dict[str, Inertia]:
    """Inertias with those of welded links put together where one of them is impossible.

    Args:
        inertias: What the file says, by link.
        welds: For each link that moves, or "" for the ground, the links of its piece and their poses in it.
        omitted: Where to say so.
    """
    result = dict(inertias)
    for first, piece in welds.items():
        impossible = [name for name, _ in piece if not inertias[name].is_possible]
        if not impossible:
            continue
        result.update({name: NOTHING for name, _ in piece})
        if first:
            result[first] = _sum([(inertias[name], pose) for name, pose in piece])
            where = f"lumped into {first!r}"
        else:
            where = "left out, because it never moves"
        omitted.remark(
            f"the inertia of {', '.join(map(repr, impossible))} is not positive semidefinite: {where}"
        )
    return result


def _sum(parts: Sequence[tuple[Inertia, Pose]]) -> Inertia:
    """Parts as one piece, by the parallel axis theorem."""
    mass = sum(part.mass for part, _ in parts)
    weighted = sum((part.mass * pose.apply(part.com) for part, pose in parts), np.zeros(3))
    com = weighted / mass if mass > 0.0 else np.zeros(3)
    tensor = np.zeros((3, 3))
    for part, pose in parts:
        d = pose.apply(part.com) - com
        turned = pose.rotation @ part.tensor @ pose.rotation.T
        tensor += turned + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia(mass, tuple(com.tolist()), _symmetric(tensor))


def grains(
    inertias: Mapping[str, Inertia],
    edges: Sequence[tuple[str, str, str]],
    welds: Mapping[str, Sequence[tuple[str, Pose]]],
    omitted: Omitted,
) -> dict[str, float]:
    """Armature [kg m^2, kg] for joints that carry nothing with mass, so that the mass matrix stays regular.

    Args:
        inertias: By link.
        edges: (joint, parent link, child link) of joints, parents first; the joint is "" where it is fixed.
        welds: As for `lumped`.
        omitted: Where to say so.
    """
    heavy = {name for name, inertia in inertias.items() if not inertia.is_nothing}
    moving = [inertias[name].mass for first, piece in welds.items() if first for name, _ in piece]
    total = sum(max(mass, 0.0) for mass in moving) or 1.0
    added: dict[str, float] = {}
    for joint, parent, child in reversed(edges):
        if child in heavy:
            heavy.add(parent)
        elif joint:
            added[joint] = GRAIN * total
            omitted.add("joint that moves nothing with mass (a speck of armature was added)", joint)
    return added
