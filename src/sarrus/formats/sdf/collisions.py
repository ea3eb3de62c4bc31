"""Collision shapes of SDF links: links of one model touch each other only where it says <self_collide>."""

from __future__ import annotations

from dataclasses import dataclass

from sarrus.formats.collisions.read_collisions import CollisionReader, CollisionShape
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.meshes import Places
from sarrus.formats.sdf.frames import pose_in
from sarrus.formats.sdf.models import ROOT, says, selves_collide
from sarrus.models.shapes.convex_shapes import Capsule, Ellipsoid, HalfSpace
from sarrus.models.shapes.shapes import Box, Cylinder, Shape, Sphere

ALL_BITS = 0xFFFF


@dataclass(frozen=True)
class CollisionGroup:
    """Who touches whom: the outermost model, whether its links touch each other, and bits to share."""

    model: str
    selves: bool
    bits: int

    def meets(self, other: CollisionGroup) -> bool:
        """Whether shapes of two groups may touch."""
        return bool(self.bits & other.bits) and (self.model != other.model or self.selves or other.selves)


def read_collisions(link: Element, body: str, places: Places, into: CollisionReader) -> None:
    """The shapes of a link."""
    for one in link.all("collision"):
        with one.context():
            name = one.attributes.get("name", "").strip()
            shape = _shape(one, name or body, places, into)
            if shape is not None:
                called = f"{body}_{name}" if name else ""
                into.add(CollisionShape(called, body, shape, pose_in(one), _law(one), _group(one, link)))


def _shape(one: Element, name: str, places: Places, into: CollisionReader) -> Shape | None:
    """The shape of a collision element; None, and listed, where it is none that is modelled."""
    geometry = one.first("geometry")
    made = None if geometry is None or not geometry.children else geometry.children[0]
    if made is None or made.tag == "empty":
        return None
    if made.tag == "box":
        return Box(made.one("size").values(3))
    if made.tag == "sphere":
        return Sphere(made.value("radius"))
    if made.tag in ("cylinder", "capsule"):
        kind = Cylinder if made.tag == "cylinder" else Capsule
        return kind(made.value("radius"), made.value("length"))
    if made.tag == "ellipsoid":
        return Ellipsoid(made.one("radii").values(3))
    if made.tag == "plane":
        normal = made.first("normal")
        return HalfSpace("z" if normal is None else normal.values(3))
    if made.tag == "mesh":
        return _mesh(made, name, places, into)
    into.drop(made.tag, name, made.line)
    return None


def _mesh(made: Element, name: str, places: Places, into: CollisionReader) -> Shape | None:
    file, refused = places.find(made.word("uri"))
    scale = made.first("scale")
    if file is None:
        into.drop(f"mesh {refused}" if refused else "mesh that was not found", name, made.line)
        return None
    return into.hull_of_file(file, (1.0, 1.0, 1.0) if scale is None else scale.values(3), name, made.line)


def _within(element: Element, *tags: str) -> Element | None:
    """The element that a path of tags leads to."""
    found: Element | None = element
    for tag in tags:
        found = None if found is None else found.first(tag)
    return found


def _law(one: Element) -> dict[str, float]:
    """Friction and restitution."""
    found: dict[str, float] = {}
    ode, bullet = (_within(one, "surface", "friction", engine) for engine in ("ode", "bullet"))
    if ode is not None and ode.first("mu") is not None:
        found["friction"] = ode.value("mu")
    elif bullet is not None and bullet.first("friction") is not None:
        found["friction"] = bullet.value("friction")
    bounce = _within(one, "surface", "bounce")
    if bounce is not None:
        found["restitution"] = bounce.value("restitution_coefficient", 0.0)
    return found


def _group(one: Element, link: Element) -> CollisionGroup:
    contact = _within(one, "surface", "contact")
    mask = "" if contact is None else contact.word("collide_bitmask", "").strip()
    selves = says(link, "self_collide") or selves_collide(link)
    try:
        bits = int(mask, 0) if mask else ALL_BITS
    except ValueError:
        one.fail(f"collide_bitmask must be an integer, got {mask!r}")
    return CollisionGroup(link.attributes.get(ROOT, ""), selves, bits)
