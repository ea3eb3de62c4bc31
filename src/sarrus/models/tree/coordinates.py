"""Coordinates by name: a joint with one coordinate lends it its name, others add a suffix ("hip.angle1")."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import InputError, ModelError, unknown_name
from .bodies import Body


class CoordinateNames:
    """Names of the velocity coordinates of a list of bodies, in its order.

    Attributes:
        index: Index into v of each coordinate name.
        bodies: Body of each joint name.
        owners: Body of each coordinate, (nv,).
    """

    def __init__(self, bodies: Iterable[Body] = ()) -> None:
        self.index: dict[str, int] = {}
        self.bodies: dict[str, Body] = {}
        self.owners: list[Body] = []
        for body in bodies:
            self.add(body)

    def add(self, body: Body) -> None:
        """Append the coordinates of a body; a name that exists already is refused before anything changes."""
        names = body.coordinate_names
        for name in names:
            if name in self.index:
                raise ModelError(
                    f"body {body.name!r} would add a second coordinate called {name!r}; rename it."
                )
        self.bodies[body.name] = body
        for name in names:
            self.index[name] = len(self.owners)
            self.owners.append(body)

    def find_all(self, name: object, where: str = "") -> tuple[int, ...]:
        """Indices into v of a coordinate, or of all coordinates of a joint."""
        if isinstance(name, str) and name in self.index:
            return (self.index[name],)
        if not isinstance(name, str) or name not in self.bodies:
            raise unknown_name("coordinate", name, self.index, where)
        found = tuple(map(self.index.__getitem__, self.bodies[name].coordinate_names))
        if not found:
            names = ", ".join(map(repr, self.index))
            prefix = f"{where}: " if where else ""
            raise InputError(f"{prefix}{name!r} is Fixed and has no coordinate; existing names: {names}.")
        return found

    def find(self, name: object, where: str = "", scalar: bool = False) -> int:
        """Index into v of one coordinate.

        Args:
            name: Its name.
            where: Who asks, for the message.
            scalar: Refuse velocity components of Spherical and Free joints, which are not entries of q.
        """
        found = self.find_all(name, where)
        prefix = f"{where}: " if where else ""
        owner = self.owners[found[0]]
        if scalar and owner.joint.has_quaternion:
            raise InputError(
                f"{prefix}{name!r} belongs to a {type(owner.joint).__name__} joint, whose position has no "
                "coordinates; use a joint with angles or displacements (Revolute, Universal, Planar, ...)."
            )
        if len(found) > 1:
            raise InputError(
                f"{prefix}joint {name!r} ({type(owner.joint).__name__}) has {len(found)} coordinates; "
                f"name one of them: {', '.join(repr(n) for n in owner.coordinate_names)}."
            )
        return found[0]


def claim(wanted: str, taken: set[str]) -> str:
    """The wanted name, or the first of wanted_2, wanted_3, ... that is free; taken from now on."""
    name, k = wanted, 2
    while name in taken:
        name, k = f"{wanted}_{k}", k + 1
    taken.add(name)
    return name
