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

from sarrus.arrays import LARGEST, Array
from sarrus.formats.markup import Element
from sarrus.formats.messages import Omitted
from sarrus.models.pose import Pose

ROUNDING = 1e-18  # [kg m^2]: smaller entries are rounding of the exporter
NEGATIVE = -1e-12  # relative size of a principal moment that is negative beyond rounding
GRAIN = 1e-13  # armature of a joint that carries no mass, relative to the moving mass [m^2]


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], centre of mass [m] (3,) and inertia about it [kg m^2] (3, 3), in the axes of a link."""

    mass: float
    com: Array
    tensor: Array

    @property
    def is_possible(self) -> bool:
        """Whether no principal moment is negative."""
        return bool(np.linalg.eigvalsh(self.tensor)[0] >= NEGATIVE * np.abs(self.tensor).max())

    def arguments(self) -> dict[str, Any]:
        """For `MechanismSpec.body`."""
        return {"mass": self.mass, "com": tuple(self.com.tolist()), "inertia": self.tensor}


NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def pose_of(origin: Element | None) -> Pose:
    """xyz and rpy of an <origin>, or of an element that has them itself."""
    if origin is None:
        return Pose()
    zero = (0.0, 0.0, 0.0)
    rpy = origin.vector("rpy", 3, zero)
    with origin.context():
        return Pose(origin.vector("xyz", 3, zero), rpy=None if rpy == zero else rpy)


def inertia_of(link: Element) -> Inertia:
    """What <inertial> says."""
    inertial = link.first("inertial")
    if inertial is None:
        return NOTHING
    at, tensor = pose_of(inertial.first("origin")), inertial.first("inertia")
    I_C: Array = np.zeros((3, 3))
    if tensor is not None:
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            I_C[i, j] = I_C[j, i] = tensor.number(f"i{'xyz'[i]}{'xyz'[j]}", 0.0)
    I_C[np.abs(I_C) < ROUNDING] = 0.0
    if not np.all(np.abs(I_C) < LARGEST):
        inertial.fail(f"moments of inertia must be below {LARGEST:g} kg m^2 in size")
    turned = at.rotation @ I_C @ at.rotation.T
    return Inertia(inertial.one("mass").number("value"), at.xyz, 0.5 * (turned + turned.T))


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
    return Inertia(mass, com, 0.5 * (tensor + tensor.T))


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
    heavy = {name for name, inertia in inertias.items() if inertia.mass != 0.0 or np.any(inertia.tensor)}
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
