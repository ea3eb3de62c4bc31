"""`<constraint>`: loops in URDF as proposed for urdfdom (pull request 264), between two links of the tree.

    <constraint name="" type="revolute">
      <parent link=""/> <parent_origin xyz="" rpy=""/> <parent_axis xyz=""/>
      <child link=""/>  <child_origin xyz="" rpy=""/>  <child_axis xyz=""/>
    </constraint>

Types are those of joints, with universal, cylindrical, spherical and helical ones. The axis of one-axis
joints is given in both frames, which are turned until it is one; a universal joint has its first axis on the
parent and its second one on the child.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sarrus.arrays import Array
from sarrus.constraints.closures import Closure
from sarrus.formats.reading.link_frames import named
from sarrus.formats.reading.markup import Element
from sarrus.formats.urdf.inertia import pose_of
from sarrus.formats.writing.xml_text import add, number, numbers
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import Joint, NodeKind
from sarrus.models.tree.joints import Helical, Universal

TAG = "constraint"
DEFAULT_AXIS = (1.0, 0.0, 0.0)
SMALL = 1e-9  # sine of an angle that counts as none


@dataclass(frozen=True)
class ReadLoop:
    """A loop as `MechanismSpec.close` takes it, between links.

    Attributes:
        links: Parent and child.
        joint: What closes it.
        at: Frames on both.
        left_out: Rows that it has not.
    """

    links: tuple[str, str]
    joint: Joint
    at: tuple[Pose, Pose]
    left_out: tuple[str, ...]


def read_constraint(element: Element, kinds: Mapping[str, Callable[..., Joint]]) -> ReadLoop:
    """The loop that a `<constraint>` declares; kinds: joints by type, made of an axis."""
    kind = element.text("type").lower()
    if kind not in kinds:
        element.fail(f"unknown constraint type {kind!r}; known types: {', '.join(kinds)}")
    links = element.one("parent").text("link"), element.one("child").text("link")
    at_a, at_b = (pose_of(element.first(f"{end}_origin")) for end in ("parent", "child"))
    first = _axis(element, "parent_axis", DEFAULT_AXIS)
    second = _axis(element, "child_axis", first)
    left_out = tuple(element.text("left_out", "").split())
    if kind == "universal":
        across = _perpendicular(first)
        joint: Joint = Universal(named(first), named(across))
        return ReadLoop(links, joint, (at_a, at_b @ _turn(across, second)), left_out)
    if kind == "helical":
        joint = Helical(named(first), element.one("parent_axis").number("pitch"))
    else:
        joint = kinds[kind](named(first))
    turned = _turn(first, second) if kind not in ("fixed", "spherical") else Pose()
    return ReadLoop(links, joint, (at_a, at_b @ turned), left_out)


def write_constraint(
    parent: ET.Element, name: str, entry: Closure, links: Mapping[str, tuple[str, Pose]]
) -> None:
    """Write a loop; links: of both bodies, and its frame there, by end ("parent", "child")."""
    gone = " ".join(entry.left_out) or None
    element = add(parent, TAG, name=name, type=type(entry.joint).__name__.lower(), left_out=gone)
    nodes = entry.joint.primitives()
    axes = _axes_of(entry.joint)
    for end, axis in zip(("parent", "child"), axes, strict=True):
        link, at = links[end]
        add(element, end, link=link)
        add(element, f"{end}_origin", xyz=numbers(at.xyz), rpy=numbers(at.rpy))
        if axis is not None:
            pitch = nodes[0].pitch if nodes and end == "parent" else 0.0
            add(element, f"{end}_axis", xyz=numbers(axis), pitch=number(pitch) if pitch else None)


def _axes_of(joint: Joint) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    """Axes on the parent and on the child."""
    nodes = joint.primitives()
    if not nodes or nodes[0].kind is NodeKind.BALL:
        return None, None
    direction = tuple(getattr(joint, "direction", nodes[0].axis))
    second = nodes[1].axis if type(joint).__name__ == Universal.__name__ else direction
    return direction, tuple(second)


def _axis(element: Element, tag: str, default: tuple[float, ...]) -> tuple[float, ...]:
    found = element.first(tag)
    xyz = default if found is None else found.vector("xyz", 3, default)
    if found is not None and np.linalg.norm(xyz) < SMALL:
        found.fail(f"the axis must have a direction, got xyz {xyz}")
    x, y, z = (np.array(xyz) / np.linalg.norm(xyz)).tolist()
    return x, y, z


def _perpendicular(axis: tuple[float, ...]) -> tuple[float, ...]:
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    x, y, z = (across / np.linalg.norm(across)).tolist()
    return x, y, z


def _turn(first: tuple[float, ...], second: tuple[float, ...]) -> Pose:
    """The shortest rotation that takes the first axis to the second one."""
    a, b = np.array(first), np.array(second)
    across, c = np.cross(a, b), float(a @ b)
    if np.linalg.norm(across) < SMALL:
        return Pose() if c > 0 else Pose(matrix=_half_turn(np.array(_perpendicular(first))))
    K = np.array([[0, -across[2], across[1]], [across[2], 0, -across[0]], [-across[1], across[0], 0]])
    return Pose(matrix=np.eye(3) + K + K @ K / (1.0 + c))


def _half_turn(axis: Array) -> Array:
    return np.asarray(2.0 * np.outer(axis, axis) - np.eye(3))
