"""Inertias and shapes of SDF links, and what else a model contains."""

from __future__ import annotations

from typing import Any

import numpy as np

from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.meshes import Places
from sarrus.formats.reading.messages import MISSING_MESH, OUTSIDE_MESH, Omitted
from sarrus.formats.sdf.frames import pose_in
from sarrus.formats.urdf.inertia import check_inertia
from sarrus.models.shapes.visual import Visual

LEAST = 1e-14  # [kg], [kg m^2]: of links without mass, which SDF does not have
MASSLESS = "sarrus:massless"
OF_LINKS = (
    "inertial", "visual", "pose", "gravity", "self_collide", "must_be_base_link", "enable_wind", MASSLESS
)  # fmt: skip
GREY = (0.7, 0.7, 0.7, 1.0)


def inertia_of(link: Element) -> dict[str, Any]:
    """Mass, centre of mass and inertia about it in the axes of the link; by default 1 kg and 1 kg m^2."""
    inertial = link.first("inertial")
    if inertial is None:
        return {"mass": 1.0, "com": (0.0, 0.0, 0.0), "inertia": np.eye(3)}
    at, tensor = pose_in(inertial), inertial.first("inertia")
    xx, yy, zz = (1.0 if tensor is None else tensor.value(name, 1.0) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (0.0 if tensor is None else tensor.value(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turned = at.rotation @ I @ at.rotation.T
    mass = inertial.value("mass", 1.0)
    check_inertia(inertial, link.text("name"), mass, I.tolist())
    if link.first(MASSLESS) is not None:  # what `save` added so that Gazebo has a link with mass
        mass, turned = 0.0, turned if np.max(np.abs(turned)) > LEAST else np.zeros((3, 3))
    return {"mass": mass, "com": tuple(at.xyz.tolist()), "inertia": 0.5 * (turned + turned.T)}


def read_visual(shape: Element, body: str, places: Places, omitted: Omitted) -> Visual | None:
    """A `<visual>`; None where its geometry is none that we know. Meshes are looked for in the places."""
    geometry = shape.first("geometry")
    if geometry is None or not geometry.children:
        return None
    one, file, at = geometry.children[0], "", pose_in(shape)
    size: tuple[float, ...]
    if one.tag == "box":
        size = one.one("size").values(3)
    elif one.tag == "sphere":
        size = (one.value("radius"),)
    elif one.tag in ("cylinder", "capsule"):
        size = (one.value("radius"), one.value("length"))
    elif one.tag == "ellipsoid":
        size = one.one("radii").values(3)
    elif one.tag == "mesh":
        scale = one.first("scale")
        size = (1.0, 1.0, 1.0) if scale is None else scale.values(3)
        name = one.word("uri").strip()
        near, refused = places.find(name)
        file = name if near is None else near
        if near is None and not places.nowhere:
            omitted.add(OUTSIDE_MESH if refused else MISSING_MESH, name, one.line)
    else:
        return None
    material = shape.first("material")
    colour = None if material is None else material.first("diffuse")
    rgba = GREY if colour is None else tuple([*colour.values(len(colour.content.split())), 1.0][:4])
    return Visual(body, one.tag, size, at, file, rgba=rgba)


def note_extras(model: Element, omitted: Omitted, contacts: bool) -> None:
    """List what links contain besides inertia and shapes, and collision shapes where `contacts` are read."""
    known = (*OF_LINKS, *(("collision",) if contacts else ()))
    for link in model.all("link"):
        for child in link.children:
            if child.tag not in known:
                omitted.add(child.tag, line=child.line)
