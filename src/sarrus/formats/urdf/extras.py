"""What a URDF contains besides links and joints: listed, and meshes looked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import MISSING_MESH, Omitted
from sarrus.formats.writing.kept_declarations import URDF_TAG

KNOWN = ("joint", "loop_joint", "default_state", "transmission", "material", URDF_TAG)


def note_extras(robot: Element, omitted: Omitted) -> None:
    """List elements that have no meaning here; refuse a xacro file that was not expanded."""
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            element.fail("this is a xacro file: expand it with the xacro tool first")
        if element.tag == "link":
            _note_parts(element, omitted)
        elif element.tag not in KNOWN:
            omitted.add(element.tag, element.attributes.get("name", ""), element.line)


def _note_parts(link: Element, omitted: Omitted) -> None:
    """List what stands in a link and has no meaning here."""
    for child in link.children:
        if child.tag not in ("inertial", "visual"):
            omitted.add(child.tag, line=child.line)


def reflected_rotor(transmission: Element) -> tuple[str, float]:
    """Joint of a transmission, and the inertia of its rotor there: ratio^2 times its own (Drake)."""
    joint, actuator = transmission.first("joint"), transmission.first("actuator")
    rotor = None if actuator is None else actuator.first("drake:rotor_inertia")
    if joint is None or actuator is None or rotor is None:
        return "", 0.0
    gear = actuator.first("drake:gear_ratio")
    ratio = 1.0 if gear is None else gear.number("value")
    return joint.text("name"), rotor.number("value") * ratio**2


def find_meshes(
    robot: Element, folder: Path | None, packages: Sequence[Path], omitted: Omitted
) -> dict[str, str]:
    """Files of meshes by what the URDF calls them; one that is not there is worth a word and nothing more."""
    found: dict[str, str] = {}
    if folder is None and not packages:
        return found
    near = [*map(str, packages), *([] if folder is None else [str(folder)])]
    above = [*near, *([] if folder is None else map(str, folder.resolve().parents))]
    for link in robot.all("link"):
        for shape in (*link.all("visual"), *link.all("collision")):
            geometry = shape.first("geometry")
            mesh = None if geometry is None else geometry.first("mesh")
            if mesh is None:
                continue
            filename = mesh.attributes.get("filename", "")
            if filename.startswith("package://"):  # package:///arm.stl: no package, beside the file
                place = _place(above, filename.removeprefix("package://").lstrip("/"))
            else:
                place = _place(near, filename.removeprefix("file://"))
            if place is None:
                omitted.add(MISSING_MESH, filename, mesh.line)
            else:
                found[filename] = place
    return found


def _place(places: list[str], path: str) -> str | None:
    """A file in one of the folders, or None; that folder is the first to be asked next time."""
    for k, place in enumerate(places):
        file = os.path.join(place, path)
        if os.path.isfile(file):
            places.insert(0, places.pop(k))
            return file
    return None
