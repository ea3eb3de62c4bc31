"""What a URDF contains besides links and joints: listed, and meshes looked for."""

from __future__ import annotations

from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.meshes import Places
from sarrus.formats.reading.messages import MISSING_MESH, OUTSIDE_MESH, Omitted
from sarrus.formats.writing.kept_declarations import URDF_TAG

KNOWN = ("joint", "loop_joint", "constraint", "default_state", "transmission", "material", URDF_TAG)


def note_extras(robot: Element, omitted: Omitted, contacts: bool) -> None:
    """List elements that have no meaning here; refuse a xacro file that was not expanded.

    Collision shapes, and what else concerns them, have one where `contacts` are read.
    """
    known = ("inertial", "visual", *(("collision", "contact") if contacts else ()))
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            element.fail("this is a xacro file: expand it with the xacro tool first")
        if element.tag == "link":
            _note_parts(element, known, omitted)
        elif element.tag not in KNOWN:
            omitted.add(element.tag, element.attributes.get("name", ""), element.line)


def _note_parts(link: Element, known: tuple[str, ...], omitted: Omitted) -> None:
    """List what stands in a link and has no meaning here."""
    for child in link.children:
        if child.tag not in known:
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


def find_meshes(robot: Element, places: Places, omitted: Omitted) -> dict[str, str]:
    """Files of meshes by what the URDF calls them; one that is not there is worth a word and nothing more."""
    found: dict[str, str] = {}
    if places.nowhere:
        return found
    for link in robot.all("link"):
        for shape in (*link.all("visual"), *link.all("collision")):
            geometry = shape.first("geometry")
            mesh = None if geometry is None else geometry.first("mesh")
            if mesh is None or mesh.attributes.get("filename", "") in found:
                continue
            filename = mesh.attributes.get("filename", "")
            file, refused = places.find(filename)
            if file is not None:
                found[filename] = file
            else:
                omitted.add(OUTSIDE_MESH if refused else MISSING_MESH, filename, mesh.line)
    return found
