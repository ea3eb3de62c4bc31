"""Shapes of URDF links: read, and written."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

from sarrus.formats.reading.markup import Element
from sarrus.formats.urdf.inertia import pose_of
from sarrus.formats.writing.xml_text import add, number, numbers
from sarrus.models.base.pose import Pose
from sarrus.models.shapes.visual import Visual

GREY = (0.7, 0.7, 0.7, 1.0)


def read_visuals(robot: Element, bodies: Mapping[str, str], meshes: Mapping[str, str]) -> list[Visual]:
    """Shapes of all links.

    Args:
        robot: The root element.
        bodies: Names of the bodies by link.
        meshes: Files of meshes by what the file calls them, where they were found.
    """
    colours = {one.attributes.get("name", ""): one for one in robot.all("material")}
    found = []
    for link in robot.all("link"):
        for shape in link.all("visual"):
            one = _read(shape, bodies[link.text("name")], colours, meshes)
            if one is not None:
                found.append(one)
    return found


def _read(
    shape: Element, body: str, colours: Mapping[str, Element], meshes: Mapping[str, str]
) -> Visual | None:
    geometry = shape.first("geometry")
    if geometry is None or not geometry.children:
        return None
    one, file = geometry.children[0], ""
    size: tuple[float, ...]
    if one.tag == "box":
        size = one.vector("size", 3)
    elif one.tag == "sphere":
        size = (one.number("radius"),)
    elif one.tag in ("cylinder", "capsule"):
        size = (one.number("radius"), one.number("length"))
    elif one.tag == "mesh":
        size, file = one.vector("scale", 3, (1.0, 1.0, 1.0)), one.attributes.get("filename", "")
        file = meshes.get(file, file)
    else:
        return None
    material = shape.first("material")
    if material is not None and material.first("color") is None:
        material = colours.get(material.attributes.get("name", ""), material)
    colour = None if material is None else material.first("color")
    rgba = GREY if colour is None else colour.vector("rgba", 4, GREY)
    return Visual(body, one.tag, size, pose_of(shape.first("origin")), file, rgba=rgba)


def write_visual(link: ET.Element, one: Visual, at: Pose, folder: Path) -> None:
    """A `<visual>`; an ellipsoid, which URDF does not have, as a sphere of its mean radius."""
    visual = add(link, "visual")
    if not at.is_identity:
        add(visual, "origin", xyz=numbers(at.xyz), rpy=numbers(at.rpy))
    geometry = add(visual, "geometry")
    if one.shape == "box":
        add(geometry, "box", size=numbers(one.size))
    elif one.shape == "mesh":
        file = os.path.relpath(one.file, folder) if os.path.isfile(one.file) else one.file
        add(geometry, "mesh", filename=file, scale=numbers(one.size))
    elif one.shape in ("sphere", "ellipsoid"):
        add(geometry, "sphere", radius=number(sum(one.size) / len(one.size)))
    else:
        add(geometry, one.shape, radius=number(one.size[0]), length=number(one.size[1]))
    add(add(visual, "material", name=""), "color", rgba=numbers(one.rgba))
