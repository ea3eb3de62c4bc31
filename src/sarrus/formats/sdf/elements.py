"""Numbers, poses and geometries as elements of SDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

from sarrus.formats.writing.xml_text import add, numbers
from sarrus.models.base.pose import Pose


def write_numbers(parent: ET.Element, tag: str, values: Any) -> None:
    """An element with numbers inside."""
    add(parent, tag).text = numbers(values)


def write_pose(element: ET.Element, at: Pose) -> None:
    """A <pose>, where it is not the identity."""
    if at.is_identity:
        return
    quat = {"rotation_format": "quat_xyzw", "degrees": "false"}
    add(element, "pose", **quat).text = numbers((*at.xyz, *at.quat))


def write_geometry(parent: ET.Element, kind: str, size: Sequence[float], file: str = "") -> None:
    """A <geometry> with a shape; `size` as of a `Visual`."""
    shape = add(add(parent, "geometry"), kind)
    if kind == "mesh":
        add(shape, "uri").text = file
        write_numbers(shape, "scale", size)
    elif kind in ("box", "ellipsoid"):
        write_numbers(shape, "size" if kind == "box" else "radii", size)
    else:
        for tag, value in zip(("radius", "length"), size, strict=False):
            write_numbers(shape, tag, [value])
