"""Surfaces as <collision> of SDF links."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from sarrus.formats.collisions.written_shapes import written_shape
from sarrus.formats.sdf.elements import write_geometry, write_numbers, write_pose
from sarrus.formats.writing.xml_text import add
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.contacts.surfaces import Surface
from sarrus.models.shapes.convex_shapes import ConvexMesh


def pairs_of_bodies(mech: Mechanism) -> Iterator[tuple[str, str]]:
    """The bodies of all contacts."""
    bodies = {one.name: one.body for one in mech.model.surfaces}
    return ((bodies[pair.a], bodies[pair.b]) for pair in mech.model.contacts)


def write_collision(link: ET.Element, one: Surface, at: Pose) -> bool:
    """A <collision> with its friction; False for a shape that SDF does not have."""
    shape = written_shape(one.shape)
    if shape is None or (shape.kind == "hull" and not _is_file(one.shape)):
        return False
    collision = add(link, "collision", name=one.name)
    if shape.kind == "hull":
        write_pose(collision, at @ one.shape.at)
        write_geometry(collision, "mesh", (1.0, 1.0, 1.0), str(one.shape.points))  # type: ignore[attr-defined]
    elif shape.kind == "halfspace":
        write_pose(collision, at @ shape.at)
        write_numbers(add(add(collision, "geometry"), "plane"), "normal", (0, 0, 1))
    else:
        write_pose(collision, at @ shape.at)
        write_geometry(collision, shape.kind, shape.size)
    _write_law(collision, one)
    return True


def _is_file(shape: object) -> bool:
    return isinstance(shape, ConvexMesh) and isinstance(shape.points, (str, os.PathLike))


def _write_law(collision: ET.Element, one: Surface) -> None:
    surface = add(collision, "surface")
    if one.friction is not None:
        ode = add(add(surface, "friction"), "ode")
        for tag in ("mu", "mu2"):
            write_numbers(ode, tag, [one.friction])
    if one.restitution:
        write_numbers(add(surface, "bounce"), "restitution_coefficient", [one.restitution])
