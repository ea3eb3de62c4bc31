"""Collision shapes of URDF links, with the friction that Gazebo, Drake and Bullet let a file say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sarrus.formats.collisions.read_collisions import CollisionReader, CollisionShape
from sarrus.formats.reading.markup import Element
from sarrus.formats.urdf.inertia import pose_of
from sarrus.models.shapes.convex_shapes import Capsule
from sarrus.models.shapes.shapes import Box, Cylinder, Shape, Sphere

BULLET = {"lateral_friction": "friction", "restitution": "restitution", "spinning_friction": "torsion",
          "rolling_friction": "rolling"}  # fmt: skip


def read_collisions(
    robot: Element, bodies: Mapping[str, str], meshes: Mapping[str, str], into: CollisionReader
) -> None:
    """The shapes of all links.

    Args:
        robot: The root element.
        bodies: Names of the bodies by link.
        meshes: Files of meshes by what the file calls them, where they were found.
        into: Gets the shapes.
    """
    gazebo = dict(_gazebo_laws(robot))
    for link in robot.all("link"):
        body, law = bodies[link.text("name")], gazebo.get(link.text("name"), {}) | _bullet_law(link)
        for one in link.all("collision"):
            with one.context():
                name = one.attributes.get("name", "").strip()
                shape = _shape(one, name or body, meshes, into)
                if shape is not None:
                    at = pose_of(one.first("origin"))
                    into.add(CollisionShape(name, body, shape, at, law | _drake_law(one)))


def _shape(one: Element, name: str, meshes: Mapping[str, str], into: CollisionReader) -> Shape | None:
    """The shape of a collision element; None, and listed, where it is none that is modelled."""
    geometry = one.first("geometry")
    if geometry is None or not geometry.children:
        into.drop("no geometry", name, one.line)
        return None
    made = geometry.children[0]
    if made.tag == "box":
        return Box(made.vector("size", 3))
    if made.tag == "sphere":
        return Sphere(made.number("radius"))
    if made.tag in ("cylinder", "capsule"):
        kind = Cylinder if made.tag == "cylinder" else Capsule
        return kind(made.number("radius"), made.number("length"))
    if made.tag != "mesh":
        into.drop(made.tag, name, made.line)
        return None
    file = meshes.get(made.attributes.get("filename", ""))
    if file is None:
        into.drop("mesh that was not found", name, made.line)
        return None
    return into.hull_of_file(file, made.vector("scale", 3, (1.0, 1.0, 1.0)), name, made.line)


def _gazebo_laws(robot: Element) -> Iterator[tuple[str, dict[str, float]]]:
    """Friction of links by the <gazebo> elements: mu1, the first of two directions."""
    for one in robot.all("gazebo"):
        mu = one.first("mu1") or one.first("mu")
        if mu is None or "reference" not in one.attributes:
            continue
        given = mu.attributes.get("value", mu.content).strip()
        mu.attributes["value"] = given
        yield one.text("reference"), {"friction": mu.number("value")}


def _bullet_law(link: Element) -> dict[str, float]:
    """Of <contact> in a link."""
    contact = link.first("contact")
    found = {} if contact is None else {BULLET[one.tag]: one for one in contact.children if one.tag in BULLET}
    return {name: one.number("value") for name, one in found.items()}


def _drake_law(one: Element) -> dict[str, float]:
    """Friction while it slides, of Drake's proximity properties."""
    properties = one.first("drake:proximity_properties")
    mu = None if properties is None else properties.first("drake:mu_dynamic")
    return {} if mu is None else {"friction": mu.number("value")}
