"""Which joints leave given freedoms, and where they stand as drawn.

A joint of USD leaves some of six freedoms of frame 1 in frame 0: displacements along and rotations about the
axes of frame 0. Displacements come first, rotations follow in the order of the axes, as in Newton and MuJoCo:
two rotations are a universal joint whose first axis is fixed in frame 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sarrus.arrays import Array
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Cylindrical, Planar, Prismatic, Revolute, Spherical, Universal

FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
CYCLIC = {"X": ("Y", "Z"), "Y": ("Z", "X"), "Z": ("X", "Y")}


@dataclass(frozen=True)
class Part:
    """A joint of the chain that leaves some freedoms.

    Attributes:
        name: Its name.
        joint: What it is.
        freedoms: What its coordinates are.
    """

    name: str
    joint: Joint
    freedoms: tuple[str, ...]


def parts_of(name: str, free: Sequence[str]) -> tuple[Part, ...]:
    """The chain of joints that leaves these freedoms; one joint where there is one."""
    slides, turns = _of_kind("trans", free), _of_kind("rot", free)
    if len(turns) == 1:
        one = _sliding_and_turning(name, slides, turns[0])
        if one is not None:
            return (one,)
    groups: list[tuple[str, ...]] = [(x,) for x in slides]
    if turns:
        groups.append(turns)
    if len(groups) == 1:
        return (Part(name, _joint_of(groups[0]), groups[0]),)
    return tuple(Part(f"{name}.{_called(group)}", _joint_of(group), group) for group in groups)


def _of_kind(kind: str, free: Sequence[str]) -> tuple[str, ...]:
    """Those of the freedoms that are displacements ("trans") or rotations ("rot")."""
    return tuple(x for x in free if x.startswith(kind))


def _joint_of(group: tuple[str, ...]) -> Joint:
    """The joint of one displacement, or of the rotations."""
    return Prismatic(group[0][-1].lower()) if group[0].startswith("trans") else _turning(group)


def _called(group: tuple[str, ...]) -> str:
    """How the joint of a group of freedoms is called in a chain."""
    return group[0] if len(group) == 1 else "rot"


def _sliding_and_turning(name: str, slides: Sequence[str], turn: str) -> Part | None:
    """The one joint that slides and turns about one axis, cylindrical or planar; None where there is none."""
    axes, about = [x[-1] for x in slides], turn[-1]
    if axes == [about]:
        return Part(name, Cylindrical(about.lower()), (slides[0], turn))
    if set(axes) == set(CYCLIC[about]):
        along = tuple(f"trans{axis}" for axis in CYCLIC[about])
        return Part(name, Planar(about.lower()), (*along, turn))
    return None


def _turning(turns: Sequence[str]) -> Joint:
    axes = [x[-1].lower() for x in turns]
    return Revolute(axes[0]) if len(axes) == 1 else Universal(*axes) if len(axes) == 2 else Spherical()


def positions(parts: Sequence[Part], between: Pose) -> dict[str, float]:
    """Positions of the freedoms but those of balls [rad, m] where frame 1 is at a pose in frame 0."""
    found = {}
    for part in parts:
        for freedom in part.freedoms:
            if freedom.startswith("trans"):
                found[freedom] = float(between.xyz["XYZ".index(freedom[-1])])
        turns = [freedom for freedom in part.freedoms if freedom.startswith("rot")]
        axes = [np.eye(3)["XYZ".index(freedom[-1])] for freedom in turns]
        if len(turns) == 1:
            twist = 2.0 * math.atan2(float(axes[0] @ between.quat[:3]), float(between.quat[3]))
            found[turns[0]] = math.remainder(twist, 2.0 * math.pi)
        elif len(turns) == 2:
            R, (a, b) = between.rotation, axes
            found[turns[0]] = _angle(a, b, R @ b)
            found[turns[1]] = _angle(b, R.T @ a, a)
    return found


def _angle(axis: Array, start: Array, end: Array) -> float:
    """By which a rotation about an axis turns one vector into another, both across the axis."""
    return math.atan2(float(axis @ np.cross(start, end)), float(start @ end))
