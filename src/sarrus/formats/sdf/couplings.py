"""Joints of an SDF that follow others: mimics and gearboxes, as couplings of coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sarrus.arrays import Array
from sarrus.constraints.couplings import Coupling
from sarrus.formats.reading.file_spec import FileSpec
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import Omitted


@dataclass(frozen=True)
class Turning:
    """A joint of one coordinate in the tree: its coordinate, that as drawn, its links, its axis (3,)."""

    coordinate: str
    start: float
    ends: tuple[str, str]
    axis: Array


def drawn_position(joint: Element) -> tuple[float, ...]:
    """Positions as drawn that `save` wrote; () where there are none."""
    given = joint.first("sarrus:position")
    return () if given is None else given.values(len(given.content.split()))


class Couplings:
    """Adds them to a description.

    Args:
        spec: The description.
        omitted: Gets those that are not modelled.
        joints: The joints with a coordinate, by their names in the file.
    """

    def __init__(self, spec: FileSpec, omitted: Omitted, joints: Mapping[str, Turning]) -> None:
        self.spec, self.omitted, self.joints = spec, omitted, joints

    def add_mimic(self, joint: Element) -> None:
        """What <mimic> of the axis says, if there is one."""
        axis = joint.first("axis")
        mimic = None if axis is None else axis.first("mimic") or axis.first("drake:mimic")
        if mimic is None:
            return
        name = joint.text("name")
        leader = mimic.attributes.get("joint", mimic.attributes.get("drake:joint", ""))
        follower, leading = self.joints.get(name), self.joints.get(leader)
        if follower is None or leading is None:
            self.omitted.drop("mimic between joints that have no coordinate in the tree", name)
            return
        multiplier, offset = mimic.value("multiplier", 1.0), mimic.value("offset", 0.0)
        offset += follower.start - multiplier * (leading.start + mimic.value("reference", 0.0))
        terms = {follower.coordinate: 1.0} | ({leading.coordinate: -multiplier} if multiplier else {})
        with mimic.context():
            self.spec.constrain(f"{name}.mimic", Coupling(terms, offset=offset))

    def add_gearbox(
        self, box: Element, reference: str, ends: tuple[str, str], axes: tuple[Array, Array]
    ) -> None:
        """The child turns by -ratio times the angle of the parent, both as seen from the reference body.

        Args:
            box: The joint of type "gearbox".
            reference: The link that carries both.
            ends: Its parent and its child.
            axes: Axis of the parent and of the child, in the frame of the model.
        """
        name, terms, offset = box.text("name"), {}, 0.0
        factors = box.value("gearbox_ratio", 1.0), 1.0
        for link, axis, factor in zip(ends, axes, factors, strict=True):
            joint = next((one for one in self.joints.values() if {*one.ends} == {reference, link}), None)
            if joint is None or joint.coordinate in terms:
                self.omitted.drop("gearbox whose links do not turn about its reference body", name)
                return
            backwards = joint.ends[0] != reference
            factor *= math.copysign(1.0, float(axis @ joint.axis)) * (-1.0 if backwards else 1.0)
            if factor:
                terms[joint.coordinate] = factor
                offset += factor * joint.start
        with box.context():
            self.spec.constrain(f"{name}.gearbox", Coupling(terms, offset=offset))
