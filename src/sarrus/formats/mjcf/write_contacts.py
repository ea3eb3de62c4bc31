"""Surfaces as geoms, and contacts as <pair>: who touches whom is said one by one.

By their bits (contype 0, conaffinity 1) these geoms touch none of each other, and those that a scene adds.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

from sarrus.formats.collisions.written_shapes import WrittenShape, written_shape
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.writing.bodies import WrittenBodies
from sarrus.formats.writing.xml_text import add, nonzero, numbers, wxyz
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.contacts.surfaces import Surface, law_of_pair
from sarrus.models.tree.bodies import GROUND

GROUP = "3"  # of geoms that viewers hide
LEAST = 1e-5  # friction, torsion and rolling of MuJoCo's pairs are not zero
KINDS = {"halfspace": "plane", "hull": "mesh"}
HALF = {"box": (0.5, 0.5, 0.5), "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5)}


def write_contacts(
    mech: Mechanism,
    written: WrittenBodies,
    elements: dict[str, ET.Element],
    sections: dict[str, ET.Element],
    omitted: Omitted,
) -> None:
    """Geoms and pairs.

    Args:
        mech: The mechanism.
        written: Its bodies in the file.
        elements: Their elements, by name.
        sections: "asset" gets hulls, "contact" pairs.
        omitted: Gets what MJCF cannot say.
    """
    named = {one.get("name") for root in elements.values() for one in root.iter("geom")}
    geoms: dict[str, Surface] = {}
    for one in mech.model.surfaces:
        owner, at = written.frame(one.body, one.at)
        shape = written_shape(one.shape)
        if shape is None:
            omitted.drop(f"surface of the shape {type(one.shape).__name__}", one.name)
        elif shape.kind == "halfspace" and owner != GROUND:
            omitted.drop("half space on a body that moves", one.name)
        elif one.name in named:
            omitted.drop("surface with the name of another geom", one.name)
        else:
            _write_geom(one, shape, elements[owner], at @ shape.at, sections["asset"])
            geoms[one.name] = one
    for pair in mech.model.contacts:
        if pair.a in geoms and pair.b in geoms:
            _write_pair(pair, geoms, sections["contact"], omitted)


def _write_geom(one: Surface, shape: WrittenShape, element: ET.Element, at: Any, assets: ET.Element) -> None:
    """A geom; what is a hull has its corners among the assets."""
    geom: dict[str, str | None] = {"type": KINDS.get(shape.kind, shape.kind)}
    if shape.kind == "hull":
        geom["mesh"] = f"{one.name}.hull"
        add(assets, "mesh", name=geom["mesh"], vertex=numbers(shape.size), inertia="convex")
    elif shape.kind == "halfspace":
        geom["size"] = "0 0 1"
    else:
        half = HALF.get(shape.kind, (1.0,) * len(shape.size))
        geom["size"] = numbers(x * y for x, y in zip(shape.size, half, strict=True))
    geom |= {
        "pos": nonzero(at.xyz),
        "quat": wxyz(at),
        "condim": _condim(one.friction, one.torsion, one.rolling),
    }
    if one.friction is not None:
        geom["friction"] = numbers((one.friction, one.torsion, one.rolling))
    add(element, "geom", name=one.name, contype="0", conaffinity="1", group=GROUP, mass="0", **geom)


def _condim(friction: float | None, torsion: float, rolling: float) -> str | None:
    """How many directions friction has; None where it is MuJoCo's own, 3."""
    if rolling > 0.0:
        return "6"
    if torsion > 0.0:
        return "4"
    return "1" if friction == 0.0 else None


def _write_pair(pair: Any, geoms: dict[str, Surface], section: ET.Element, omitted: Omitted) -> None:
    friction, restitution, torsion, rolling = law_of_pair(pair, geoms[pair.a], geoms[pair.b])
    if restitution:
        omitted.add("restitution of a contact", pair.name)
    sliding = [max(x, LEAST) for x in (friction, friction, torsion, rolling, rolling)]
    condim = _condim(friction, torsion, rolling) or "3"
    add(section, "pair", name=pair.name, geom1=pair.a, geom2=pair.b, condim=condim, friction=numbers(sliding))
