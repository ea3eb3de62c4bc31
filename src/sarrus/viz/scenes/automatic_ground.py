"""What mechanisms stand on: brackets under the pins of plane ones, a bar or a plate for those in space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...models.bodies import GROUND
from . import triangles as tri
from .layout import Layout
from .shown_parts import joint_drawing
from .solids import FOOT, Solid, meshed


def frame_of_ground(layout: Layout) -> Iterator[Solid]:
    """The link of a mechanism in space that does not move: a bar or a plate through its joints on it."""
    bodies = layout.mech.model.bodies[1:]
    own = [body for body in bodies if body.parent == GROUND and body.joint.nv and not body.joint.is_free]
    points = [
        np.array(body.at.xyz) for body in own if joint_drawing(body, layout.copies, layout.bare).supports
    ]
    if len(own) == len([body for body in bodies if body.parent == GROUND]):  # nothing floats
        points = [np.array(point) for body, point in layout.figure.supports if layout.roots[body] == GROUND]
    up = -np.array(layout.mech.model.gravity)
    upright = [
        body.joint.is_hinge
        and np.linalg.norm(np.cross(body.at.rotation @ body.joint.primitives()[0].axis, up)) < 1e-3
        for body in own
    ]
    if len(points) < 2 or sum(upright) >= len(points):
        return
    if len(points) == 2:
        yield Solid(
            "bar", ((GROUND, points[0]), (GROUND, points[1])), FOOT, 0.8 * layout.radius, name="ground"
        )
    elif np.linalg.svd(points - np.mean(points, axis=0))[1][2] < 1e-6 * layout.mech.length:
        ends = tuple((GROUND, point) for point in points)
        yield meshed(GROUND, layout.slab(GROUND, ends), FOOT, "ground")


def brackets(layout: Layout) -> Iterator[Solid]:
    """What plane mechanisms stand on: a bracket under every pin on the ground, where gravity is in plane."""
    assert layout.plane is not None
    gravity, r = np.array(layout.mech.model.gravity), layout.radius
    falls = bool(np.linalg.norm(gravity - (gravity @ layout.plane.normal) * layout.plane.normal) > 1e-9)
    supports = [a for a in layout.figure.supports if layout.roots[a[0]] == GROUND]
    on_ground = [rail for rail in layout.figure.rails if layout.roots[rail.at[0]] == GROUND]
    pins = [rail.at for rail in on_ground if layout.is_pin(rail) and not rail.is_block]
    for body, point in [*supports, *pins]:
        axes = layout.axes(body)
        if falls:
            eye = tri.rounded_outline(np.zeros((1, 2)), 0.95 * r)
            feet = np.array([(-1.6, -3.0), (1.6, -3.0)]) * r
            stand = tri.slab(tri.rounded_outline(np.concatenate([eye, feet]), 1e-3 * r), 0.7 * r)
            pieces = [stand, tri.box((4.6 * r, 0.5 * r, 1.7 * r)).moved(np.eye(3), (0.0, -3.2 * r, 0.0))]
        else:
            pieces = [tri.cylinder(1.9 * r, 0.7 * r)]
        low = layout.lowest() * axes[:, 2]
        yield meshed(body, tri.joined(pieces).moved(axes, point + low), FOOT, "ground")
