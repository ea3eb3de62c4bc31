"""Bodies as a machine: shapes from files or descriptions, else links, plates, wheels and cylinders.

A body with shapes looks like them. Every other one is made from the places where something holds on to it: a
bar between two, a plate between more, a barrel and a rod around a slide whose ends are on its axis, a wheel
where a body has one hinge and its mass around it.
"""

from __future__ import annotations

from itertools import chain

from .automatic_bodies import cuboid, part, point_masses, wheels
from .automatic_ground import brackets, frame_of_ground
from .automatic_joints import guide, joints
from .layout import Layout
from .solids import Solid


def machine_solids(layout: Layout) -> list[Solid]:
    """Everything that stands for the bodies, joints and springs of a mechanism."""
    sliding = {id(cylinder.rail) for cylinder in layout.telescopes}
    rails = [rail for rail in layout.figure.rails if id(rail) not in sliding]
    out = [
        *chain.from_iterable(layout.shaped.values()),
        *(cuboid(box, layout.names) for box in layout.boxes.values()),
        *chain.from_iterable(part(layout, one) for one in layout.parts),
        *chain.from_iterable(
            one.solids(layout.radius, layout.shift, layout.look) for one in layout.telescopes
        ),
        *chain.from_iterable(guide(layout, rail) for rail in rails),
        *point_masses(layout),
        *(brackets(layout) if layout.plane is not None else frame_of_ground(layout)),
    ]
    out.extend(wheels(layout, {solid.body for solid in out if solid.body}))
    out.extend(joints(layout))
    return out
