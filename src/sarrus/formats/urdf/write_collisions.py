"""Surfaces as <collision> of URDF links."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path

from sarrus.formats.collisions.written_shapes import written_shape
from sarrus.formats.writing.xml_text import add, number, numbers
from sarrus.models.base.pose import Pose
from sarrus.models.contacts.surfaces import Surface
from sarrus.models.shapes.convex_shapes import ConvexMesh


def write_collision(link: ET.Element, one: Surface, at: Pose, folder: Path) -> bool:
    """A <collision>; False for a shape that URDF does not have."""
    shape = written_shape(one.shape)
    file = _file_of(one, folder)
    if shape is None or shape.kind in ("halfspace", "ellipsoid") or (shape.kind == "hull" and not file):
        return False
    collision = add(link, "collision", name=one.name)
    place = at @ (one.shape.at if file else shape.at)
    if not place.is_identity:
        add(collision, "origin", xyz=numbers(place.xyz), rpy=numbers(place.rpy))
    geometry = add(collision, "geometry")
    if file:
        add(geometry, "mesh", filename=file)
    elif shape.kind == "box":
        add(geometry, "box", size=numbers(shape.size))
    else:
        length = number(shape.size[1]) if len(shape.size) > 1 else None
        add(geometry, shape.kind, radius=number(shape.size[0]), length=length)
    return True


def _file_of(one: Surface, folder: Path) -> str:
    """The mesh file of a surface, named from a folder; "" where it is none."""
    points = one.shape.points if isinstance(one.shape, ConvexMesh) else None
    return os.path.relpath(points, folder) if isinstance(points, str) else ""
