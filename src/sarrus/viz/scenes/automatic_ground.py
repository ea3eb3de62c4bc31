"""What mechanisms stand on: brackets under the pins of plane ones, a bar or a plate for those in space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arrays import Array
from ...models.tree.bodies import GROUND, Body
from . import triangles as tri
from .layout import Layout
from .shown_parts import joint_drawing
from .solids import FOOT, Solid, meshed


def frame_of_ground(layout: Layout) -> Iterator[Solid]:
    """The link of a mechanism in space that does not move: a bar or a plate through its joints on it."""
    points = _points_on_ground(layout)
    if points is None:
        return
    ends = tuple((GROUND, point) for point in points)
    if len(points) == 2:
        yield Solid("bar", ends, FOOT, 0.8 * layout.radius, name="ground")
    elif np.linalg.svd(points - np.mean(points, axis=0))[1][2] < 1e-6 * layout.mech.length:
        yield meshed(GROUND, layout.slab(GROUND, ends), FOOT, "ground")


def _points_on_ground(layout: Layout) -> list[Array] | None:
    """Where joints stand on the ground; None where these are too few, or all are upright hinges."""
    hanging = [body for body in layout.mech.model.shown_bodies if body.parent == GROUND]
    own = [body for body in hanging if body.joint.nv and not body.joint.is_free]
    if len(own) == len(hanging):  # nothing floats
        on_ground = (point for body, point in layout.figure.supports if layout.roots[body] == GROUND)
        points = list(map(np.array, on_ground))
    else:
        drawn = [body for body in own if joint_drawing(body, layout.copies, layout.bare).supports]
        points = [np.array(body.at.xyz) for body in drawn]
    upright = sum(_is_upright(body, layout.mech.model.gravity) for body in own)
    return points if len(points) >= 2 and upright < len(points) else None


def _is_upright(body: Body, gravity: Array) -> bool:
    """Whether a body turns about the vertical."""
    if not body.joint.is_hinge:
        return False
    axis = body.at.rotation @ body.joint.primitives()[0].axis
    return bool(np.linalg.norm(np.cross(axis, -np.array(gravity))) < 1e-3)


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
