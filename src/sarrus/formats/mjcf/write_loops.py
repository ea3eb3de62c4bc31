"""Constraints -> <equality> of MJCF, between sites.

| here | there |
| --- | --- |
| Spherical, Fixed | connect, weld |
| Revolute | two connects on the axis |
| Coupling | joint; of three or more coordinates, or of one: fixed tendon with an equality |
| Distance | spatial tendon with an equality |
| other joints, point on line, plane, cylinder | a helper body, welded or connected (`helper_bodies`) |
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import numpy as np

from sarrus.constraints.closures import Closure
from sarrus.constraints.couplings import Coupling
from sarrus.constraints.points import Distance, PointOnCylinder, PointOnLine, PointOnPlane
from sarrus.constraints.polynomials import PolynomialCoupling
from sarrus.constraints.rows import Constraint
from sarrus.formats.mjcf.sites import HELPING
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.writing.bodies import WrittenBodies
from sarrus.formats.writing.helper_bodies import HELPER, Helper
from sarrus.formats.writing.xml_text import add, nonzero, numbers, wxyz
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.tree.bodies import GROUND
from sarrus.models.tree.joint import NodeKind
from sarrus.models.tree.joints import Fixed, Revolute, Spherical

CLOSED = 1e-13  # gap of a loop as drawn, times L, that is rounding
OWN = (Fixed, Revolute, Spherical)  # joints of loops that MJCF has equalities for


def needs_helper(entry: Any) -> bool:
    """Whether a constraint is written with a helper body."""
    if isinstance(entry, Closure):
        return not isinstance(entry.joint, OWN)
    return isinstance(entry, PointOnLine | PointOnPlane | PointOnCylinder)


def write_equalities(
    mech: Mechanism,
    written: WrittenBodies,
    helpers: list[Helper],
    elements: dict[str, ET.Element],
    sections: dict[str, ET.Element],
    omitted: Omitted,
    *,
    tendons: Mapping[str, object],
) -> None:
    """Write all constraints but the sums that are written as tendons; `omitted` gets what MJCF cannot say."""
    writer = _Equalities(mech, written, elements, sections)
    by_name = {helper.name: helper for helper in helpers}
    for name, entry in mech.model.constraints:
        if tendons.keys() & set(entry.coordinates()):
            continue
        if name in by_name:
            writer.tie_helper(by_name[name])
        else:
            writer.write(name, entry, omitted)
    for joint in (joint for own in written.bodies.values() for joint in own.joints):
        if joint.kind is NodeKind.SCREW:
            writer.screw(joint.name, joint.pitch)


class _Equalities:
    def __init__(
        self,
        mech: Mechanism,
        written: WrittenBodies,
        elements: dict[str, ET.Element],
        sections: dict[str, ET.Element],
    ) -> None:
        self.mech, self.written, self.elements = mech, written, elements
        self.equality, self.tendon = sections["equality"], sections["tendon"]
        self.drawn = {
            joint.name: float(joint.q[0])
            for own in written.bodies.values()
            for joint in own.joints
            if joint.kind not in (NodeKind.BALL, NodeKind.FREE)
        }

    def write(self, name: str, entry: Constraint, omitted: Omitted) -> None:
        """Write a constraint; `omitted` gets what MJCF cannot say."""
        if isinstance(entry, Closure):
            self.close(name, entry)
        elif isinstance(entry, Coupling):
            self.couple(name, dict(entry.terms), entry.offset)
        elif isinstance(entry, PolynomialCoupling):
            self.follow(name, entry, omitted)
        elif isinstance(entry, Distance):
            self.rod(name, entry)
        else:
            omitted.drop(f"constraint of type {type(entry).__name__}", name)

    def site(self, name: str, body: str, at: Pose) -> str:
        """A site on a declared body (or on a helper); returns its name."""
        owner, frame = self.written.frame(body, at) if body in self.written.frames else (body, at)
        place = {"pos": nonzero(frame.xyz), "quat": wxyz(frame)}
        add(self.elements[owner], "site", name=name, group=str(HELPING), **place)
        return name

    def close(self, name: str, entry: Closure) -> None:
        kind = "weld" if isinstance(entry.joint, Fixed) else "connect"
        ends = [Pose()]
        if isinstance(entry.joint, Revolute):
            half = 0.5 * self.mech.length * entry.joint.direction
            ends = [Pose(-half), Pose(half)]
        for k, end in enumerate(ends, start=1):
            called = name if len(ends) == 1 else f"{name}.{k}"
            at_a, at_b = entry.at_a @ end, entry.at_b @ end
            if kind == "connect" and self._is_closed(entry, at_a, at_b):
                self._connect(called, (entry.a, at_a), (entry.b, at_b))
                continue
            a, b = self.site(f"{called}.a", entry.a, at_a), self.site(f"{called}.b", entry.b, at_b)
            add(self.equality, kind, name=called, site1=a, site2=b)

    def _is_closed(self, entry: Closure, at_a: Pose, at_b: Pose) -> bool:
        ends = [(self.written.poses[body] @ at).xyz for body, at in ((entry.a, at_a), (entry.b, at_b))]
        return float(np.abs(ends[0] - ends[1]).max()) < CLOSED * self.mech.length

    def _connect(self, name: str, a: tuple[str, Pose], b: tuple[str, Pose]) -> None:
        """A connect of bodies, which more readers know than that of sites; the second anchor is as drawn."""
        one, two = self.written.frame(*a), self.written.frame(*b)
        if one[0] == GROUND:
            one, two = two, one
        other = None if two[0] == GROUND else two[0]
        add(self.equality, "connect", name=name, body1=one[0], body2=other, anchor=numbers(one[1].xyz))

    def tie_helper(self, helper: Helper) -> None:
        a = self.site(f"{helper.name}.a", helper.name + HELPER, Pose())
        b = self.site(f"{helper.name}.b", helper.tied.body, helper.tied.at)
        add(self.equality, "weld" if helper.welded else "connect", name=helper.name, site1=a, site2=b)
        for k, (kind, _, _, pitch) in enumerate(helper.nodes):
            if kind is NodeKind.SCREW:
                self.screw(f"{helper.name}.{k}", pitch)

    def screw(self, name: str, pitch: float) -> None:
        """The slide of a screw follows its hinge."""
        coefficients = numbers((0.0, pitch, 0.0, 0.0, 0.0))
        add(
            self.equality,
            "joint",
            name=f"{name}.pitch",
            joint1=f"{name}.slide",
            joint2=name,
            polycoef=coefficients,
        )

    def couple(self, name: str, terms: dict[str, float], offset: float) -> None:
        """sum of c q = offset, written from the drawn pose: sum of c (q - q0) = offset - sum of c q0."""
        gap = offset - sum(c * self.drawn[coordinate] for coordinate, c in terms.items())
        names, c = list(terms), np.array(list(terms.values()))
        if len(terms) <= 2:
            ratio = -float(c[1] / c[0]) if len(terms) == 2 else 0.0
            coefficients = numbers((gap / float(c[0]), ratio, 0.0, 0.0, 0.0))
            leader = names[1] if len(terms) == 2 else None
            add(self.equality, "joint", name=name, joint1=names[0], joint2=leader, polycoef=coefficients)
            return
        tendon = add(self.tendon, "fixed", name=name)
        for coordinate, coefficient in terms.items():
            add(tendon, "joint", joint=coordinate, coef=numbers([coefficient]))
        self._hold(name, gap)

    def follow(self, name: str, entry: PolynomialCoupling, omitted: Omitted) -> None:
        """y - y0 = p(x - x0), with the drawn positions x0, y0 for reference."""
        x0, y0 = self.drawn[entry.leader], self.drawn[entry.follower]
        shifted = np.polynomial.Polynomial(entry.coefficients)(
            np.polynomial.Polynomial((x0 - entry.origin, 1.0))
        ).coef
        shifted[0] -= y0
        if len(shifted) > 5:
            omitted.drop("PolynomialCoupling of degree above 4", name)
            return
        coefficients = numbers([*shifted, *[0.0] * (5 - len(shifted))])
        ends = {"joint1": entry.follower, "joint2": entry.leader}
        add(self.equality, "joint", name=name, polycoef=coefficients, **ends)

    def rod(self, name: str, entry: Distance) -> None:
        tendon = add(self.tendon, "spatial", name=name)
        ends = []
        for side, frame in zip("ab", entry.ends(), strict=True):
            add(tendon, "site", site=self.site(f"{name}.{side}", frame.body, frame.at))
            ends.append((self.written.poses[frame.body] @ frame.at).xyz)
        self._hold(name, entry.length - float(np.linalg.norm(ends[1] - ends[0])))

    def _hold(self, tendon: str, gap: float) -> None:
        """Keep the length of a tendon: that at the drawn pose, and the gap there."""
        add(self.equality, "tendon", name=tendon, tendon1=tendon, polycoef=numbers((gap, 0, 0, 0, 0)))
