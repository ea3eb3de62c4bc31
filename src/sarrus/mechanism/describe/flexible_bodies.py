"""Flexible bodies of a description: a body, its nodes on Deflection joints, and what ties them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...arrays import text
from ...errors import InputError
from ...models.base.pose import Pose
from ...models.flexible.deflections import Deflections
from ...models.flexible.flexible_part import Element, FlexiblePart
from ...models.kinds.flexibility import Flexibility
from ...models.tree.bodies import GROUND
from ...models.tree.joint import Joint
from ...models.tree.joints import Fixed
from ...models.tree.node_deflection import Deflection
from .frames_and_floor import FramesAndFloor
from .recipe import declares


class FlexibleBodies(FramesAndFloor):
    """Beams and reduced finite-element models."""

    @declares
    def flexible(
        self,
        name: str,
        parent: str,
        part: FlexiblePart,
        joint: Joint | None = None,
        at: Pose | None = None,
    ) -> Self:
        """Add a flexible body: it bends, and is otherwise a body like others.

        Its frame floats with its first interface node (`a` of a beam). The other nodes are bodies without
        mass of their own called NAME.NODE ("beam.b"): joints, loops, forces and measures hold on to them.
        Their deflections are coordinates: "beam.b.x", ..., "beam.b.rz" and amplitudes "beam.b.mode1", ... A
        Flexibility called NAME (of a beam of several pieces NAME.NODE) has inertia, stiffness and damping.

        Args:
            name: Unique among bodies.
            parent: Body that carries it, or "ground".
            part: `Beam` or `ModalBody`.
            joint: That carries its frame; None: clamped to its parent.
            at: Joint frame in the parent's body frame; default: they coincide.

        Returns:
            This spec.
        """
        what = f"flexible body {text(name, 'the name of a body')!r}"
        if not isinstance(part, FlexiblePart):
            raise InputError(f"{what} must be one of {', '.join(FlexiblePart.kinds)}, got {part!r}.")
        place = Pose() if at is None else at
        part = part.at_points(lambda p: self._on_flexible(p, parent, place, what))
        elements = part.cut()
        if not self._replayed:
            part.doubt(elements, what)
        taken = {GROUND, *self._coordinates.bodies}
        for node in (name, *(f"{name}.{n}" for one in elements for n in one.nodes)):
            if node in taken:
                raise InputError(f"{what}: a body called {node!r} exists already; names must differ.")
        carried = {one.body: one.constants for one in elements}
        self.body(name, parent, joint=Fixed() if joint is None else joint, at=place, **_mass(carried[""]))
        for one in elements:
            self._piece(name, one, carried, len(elements) == 1)
        return self

    def _on_flexible(self, point: Any, parent: str, at: Pose, what: str) -> Any:
        """A point of the drawing in the frame of the body; others are given in it."""
        if not isinstance(point, str):
            return point
        world = self._place(point, f"a point of {what}")
        places = self._drawn_places() | {GROUND: Pose()}
        self._require_bodies([parent], what)
        return tuple((places[parent] @ at).inverse().apply(world).tolist())

    def _piece(self, name: str, one: Element, carried: dict[str, Deflections], alone: bool) -> None:
        """Nodes of an element, and what ties them."""
        nodes = tuple(f"{name}.{node}" for node in one.nodes)
        x, y = (tuple(column.tolist()) for column in one.axes.T[:2])
        before = body = f"{name}.{one.body}" if one.body else name
        for k, (node, place) in enumerate(zip(nodes, one.places, strict=True)):
            joint = Deflection(x, y, 0 if k else one.modes)
            mass = _mass(carried[one.nodes[k]]) if one.nodes[k] in carried else {}
            self.body(node, before, joint=joint, at=place, **mass)
            before = node
        constants = one.constants
        force = Flexibility(body, nodes, len(constants.stretches), tuple(constants.flat()))
        self.force(name if alone else nodes[-1], force)


def _mass(constants: Deflections) -> dict[str, Any]:
    """Mass, centre of mass and inertia about it of what is not deflected."""
    m, first = constants.mass, constants.first
    com = first / m
    inertia = constants.inertia - m * (com @ com * np.eye(3) - np.outer(com, com))
    return {"mass": m, "com": com.tolist(), "inertia": 0.5 * (inertia + inertia.T)}
