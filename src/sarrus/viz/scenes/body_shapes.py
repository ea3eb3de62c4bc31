"""Shapes that a file or a description gives bodies, as solids."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import InputError, warn
from ...mechanism.mechanism import Mechanism
from ...models.shapes.visual import GREY, Visual
from ...models.tree.bodies import GROUND
from . import triangles as tri
from .solids import STEEL, Solid, meshed

GROUND_SHAPE = "shape of the ground"  # its name; what stands below hinges is called ground
PLAIN = (GREY, (0.5, 0.5, 0.5, 1.0))  # what files say where they say nothing: ours and URDF's, MuJoCo's


def shape_solids(
    mech: Mechanism, colors: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, list[Solid]]:
    """Solids of bodies with shapes, by body; meshes that cannot be read are left out, with a warning."""
    found: dict[str, list[Solid]] = {}
    for one in (*mech.visuals, *surface_visuals(mech)):
        mech.model.body_index(one.body, "a visual")
        if one.rgba[3] <= 0.0:
            continue
        try:
            surface = visual_surface(one)
        except (InputError, OSError) as error:
            text = f"pictures of {mech.name!r} leave out a shape of body {one.body!r}: {error}"
            warn(text)
            continue
        color = colors.get(one.body, STEEL) if one.rgba in PLAIN else _hex(one.rgba)
        alpha = min(1.0, one.rgba[3])
        name = GROUND_SHAPE if one.body == GROUND else names.get(one.body, one.body)
        found.setdefault(one.body, []).append(meshed(one.body, surface, color, name, alpha))
    return found


def surface_visuals(mech: Mechanism) -> list[Visual]:
    """Surfaces that may touch, of bodies that have no other shapes."""
    shown = {one.body for one in mech.visuals}
    extent = 2.0 * mech.length
    return [one.visual(extent) for one in mech.model.surfaces if one.body not in shown]


def visual_surface(one: Visual) -> tri.Triangles:
    """Its triangles in the frame of its body."""
    size = one.size
    if one.shape == "mesh":
        surface = tri.file_surface(one.file).scaled(size)
    elif one.shape == "box":
        surface = tri.box(size)
    elif one.shape == "plate":
        surface = tri.slab([size[k : k + 2] for k in range(1, len(size), 2)], size[0])
    elif one.shape == "hull":
        surface = tri.hull(np.reshape(size, (-1, 3)))
    elif one.shape == "tube":
        surface = tri.cylinder(size[0], size[2], size[1], 36)
    elif one.shape == "cylinder":
        surface = tri.cylinder(size[0], size[1], count=36)
    elif one.shape == "capsule":
        surface = tri.capsule(size[0], size[1])
    else:
        radii = size * 3 if one.shape == "sphere" else size
        surface = tri.ball(1.0).scaled(radii)
    return surface.moved(one.at.rotation, one.at.xyz)


def _hex(rgba: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(255 * min(max(x, 0.0), 1.0)):02x}" for x in rgba[:3])
