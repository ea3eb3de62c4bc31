"""Mechanism -> MJCF, drawn at its default state: MuJoCo starts with closed loops.

Hinges and slides keep the coordinates of the mechanism (`ref`), balls turn from the drawn pose, a free body
has world coordinates. `write_loops` writes the constraints, `write_parts` actuators, springs and
shapes.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sarrus.arrays import Array, positive
from sarrus.errors import InputError
from sarrus.formats.mjcf.sensors import write_sensors
from sarrus.formats.mjcf.write_contacts import write_contacts
from sarrus.formats.mjcf.write_loops import needs_helper, write_equalities
from sarrus.formats.mjcf.write_parts import (
    JointExtras,
    limits_in_words,
    write_actuators,
    write_springs,
    write_visuals,
)
from sarrus.formats.mjcf.write_tendons import fixed_tendons, write_tendons
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.writing.bodies import WrittenBodies, WrittenBody, WrittenJoint, write_bodies
from sarrus.formats.writing.helper_bodies import HELPER, Helper, make_helpers
from sarrus.formats.writing.inertias import NOTHING, written_inertias
from sarrus.formats.writing.xml_text import add, document, nonzero, number, numbers, wxyz
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.tree.bodies import GROUND
from sarrus.models.tree.joint import NodeKind

SECTIONS = ("asset", "contact", "tendon", "equality", "actuator", "sensor", "keyframe")
TAGS = {NodeKind.HINGE: "hinge", NodeKind.SLIDE: "slide", NodeKind.SCREW: "hinge", NodeKind.BALL: "ball"}
LEAST = 2e-15  # [kg], [kg m^2]: MuJoCo refuses moving bodies with less than 1e-15
STEP = 2e-3  # [s], MuJoCo's own
SHORTEST = 2.0  # time constant of equalities in steps; MuJoCo raises shorter ones, for stability
# The impedance of equalities is the largest that MuJoCo takes: a loop under load opens by (1 - d) times the
# square of the time constant times the acceleration that the load would give it.
SOLIMP = "0.9999 0.9999 0.001"


@dataclass(frozen=True)
class MjcfStiffness:
    """How stiff loops are in MuJoCo.

    Args:
        step: MuJoCo's timestep [s], written into the file; None: 2 ms.
        loop_time: Time constant with which open loops close [s], critically damped; None: two steps.
    """

    step: float | None = None
    loop_time: float | None = None

    def __post_init__(self) -> None:
        step = STEP if self.step is None else positive(self.step, "step")
        time = SHORTEST * step if self.loop_time is None else positive(self.loop_time, "loop_time")
        if time < (1.0 - 1e-9) * SHORTEST * step:
            raise InputError(
                f"loop_time must be at least two steps, because MuJoCo takes no shorter ones, got {time:g} s"
                f" with a step of {step:g} s; give a shorter step too."
            )
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "loop_time", time)


def mjcf_bytes(mech: Mechanism, path: Path, omitted: Omitted, stiffness: MjcfStiffness) -> bytes:
    """The content of an MJCF file.

    Args:
        mech: The mechanism.
        path: Where the file will be: meshes are named from there.
        omitted: Gets what MJCF cannot say.
        stiffness: How stiff loops are.
    """
    assert stiffness.step is not None and stiffness.loop_time is not None
    state = drawn_state(mech, omitted)
    tendons = fixed_tendons(mech)
    written = write_bodies(mech, state[0], several=True, offsets=True, without=tendons, frames_apart=True)
    helpers = make_helpers(mech, written, [one for one in mech.model.constraints if needs_helper(one[1])])
    root = ET.Element("mujoco", model=mech.name)
    add(root, "compiler", angle="radian", autolimits="true")
    add(root, "option", timestep=number(stiffness.step), gravity=numbers(mech.model.gravity))
    add(add(root, "default"), "equality", solref=numbers((stiffness.loop_time, 1.0)), solimp=SOLIMP)
    writer = _Writer(mech, written, helpers, omitted, add(root, "worldbody"))
    writer.write_bodies()
    writer.write_frames()
    sections = {tag: ET.Element(tag) for tag in SECTIONS}
    write_visuals(mech, written, writer.elements, sections["asset"], path.parent, omitted)
    write_equalities(mech, written, helpers, writer.elements, sections, omitted, tendons=tendons)
    write_tendons(mech, tendons, writer.extras, sections["tendon"])
    write_contacts(mech, written, writer.elements, sections, omitted)
    write_actuators(mech, tendons, sections["actuator"], omitted)
    write_springs(mech, written, writer.elements, sections, writer.pieces())
    writer.write_keyframe(sections["keyframe"], *state)
    write_sensors(mech, written, sections["sensor"])
    for tag, section in sections.items():
        if len(section):
            root.insert(2, section) if tag == "asset" else root.append(section)
    return document(root)


def drawn_state(mech: Mechanism, omitted: Omitted) -> tuple[Array, Array]:
    """The default state, or the neutral pose at rest where the loops do not close."""
    from sarrus.errors import AssemblyError

    try:
        q, v = mech.default
        return np.array(q), np.array(v)
    except AssemblyError:
        omitted.remark("its loops do not close; it is drawn with all joints at zero")
        return np.array(mech.neutral()), np.zeros(mech.nv)


class _Writer:
    """Elements of the bodies, by name."""

    def __init__(
        self,
        mech: Mechanism,
        written: WrittenBodies,
        helpers: list[Helper],
        omitted: Omitted,
        world: ET.Element,
    ) -> None:
        self.mech, self.written, self.helpers, self.omitted = mech, written, helpers, omitted
        self.elements = {GROUND: world}
        self.inertias = written_inertias(mech, written, helpers, omitted)
        self.extras = JointExtras(mech, omitted)
        self.order: list[tuple[ET.Element, WrittenJoint]] = []

    def write_bodies(self) -> None:
        for own in self.written.bodies.values():
            self._write_body(own)
        for helper in self.helpers:
            self._write_helper(helper)

    def write_frames(self) -> None:
        """Frames as sites."""
        for name in self.written.apart:
            owner, at = self.written.frames[name]
            add(self.elements[owner], "site", name=name, pos=nonzero(at.xyz), quat=wxyz(at))

    def _write_body(self, own: WrittenBody) -> None:
        floats = any(joint.kind is NodeKind.FREE for joint in own.joints)
        parent, at = own.parent, own.at
        if floats and self._is_fixed(parent):
            parent, at = GROUND, self.written.poses[own.name]
        element = self._body(parent, own.name, at)
        for joint in own.joints:
            if joint.kind is NodeKind.FREE and parent != GROUND:
                self._write_carried_free(element, joint)
                continue
            self.order.append((element, joint))
            self._write_joint(element, joint)
        self._write_inertia(element, own.name, bool(own.joints))

    def _is_fixed(self, name: str) -> bool:
        """Whether a written body is the ground or fixed to it."""
        while name != GROUND:
            own = self.written.bodies[name]
            if own.joints:
                return False
            name = own.parent
        return True

    def _body(self, parent: str, name: str, at: Pose) -> ET.Element:
        element = add(self.elements[parent], "body", name=name, pos=nonzero(at.xyz), quat=wxyz(at))
        self.elements[name] = element
        return element

    def _write_joint(self, element: ET.Element, joint: WrittenJoint) -> None:
        body, k = joint.body, joint.first
        values = self.extras.of(joint)
        if joint.kind is NodeKind.FREE:
            # a <freejoint> has no damping
            add(element, "joint", name=joint.name, type="free", **values)
            return
        if joint.kind is not NodeKind.BALL:
            values |= {"axis": numbers(joint.axis), "ref": nonzero(joint.q)}
            values["range"] = limits_in_words(body.limits[k])
        if joint.kind is NodeKind.SCREW:
            slide = {"type": "slide", "axis": values["axis"], "pos": nonzero(joint.place)}
            add(element, "joint", name=f"{joint.name}.slide", **slide)
        add(element, "joint", name=joint.name, type=TAGS[joint.kind], pos=nonzero(joint.place), **values)

    def _write_carried_free(self, element: ET.Element, joint: WrittenJoint) -> None:
        """A free joint on a moving body: three slides along the axes as drawn, and a ball."""
        for axis, unit in zip("xyz", np.eye(3), strict=True):
            add(element, "joint", name=f"{joint.name}.{axis}", type="slide", axis=numbers(unit))
        add(element, "joint", name=joint.name, type="ball")
        if any(joint.body.damping) or any(joint.body.armature):
            self.omitted.add("damping or armature of a free joint on a moving body", joint.name)

    def _write_helper(self, helper: Helper) -> None:
        owner, at = self.written.frame(helper.parent.body, helper.parent.at)
        name = helper.name + HELPER
        element = self._body(owner, name, at)
        for k, (kind, axis, place, _) in enumerate(helper.nodes):
            joint = {"type": TAGS[kind], "axis": numbers(axis) if kind is not NodeKind.BALL else None}
            if kind is NodeKind.SCREW:
                slide = {"type": "slide", "axis": numbers(axis), "pos": nonzero(place)}
                add(element, "joint", name=f"{helper.name}.{k}.slide", **slide)
            add(element, "joint", name=f"{helper.name}.{k}", pos=nonzero(place), **joint)
        if name not in self.inertias:
            self.omitted.remark(
                f"the helper body of {helper.name!r} has a mass of {LEAST:g} kg: what it ties has none"
            )
        self._write_inertia(element, name, True)

    def _write_inertia(self, element: ET.Element, name: str, moving: bool) -> None:
        given = self.inertias.get(name, NOTHING)
        I = given.inertia
        if not moving and given.mass == 0.0 and not np.any(I):
            return
        if np.array_equal(I, np.diag(np.diag(I))):
            moments, axes = np.diag(I).copy(), np.eye(3)
        else:
            moments, axes = np.linalg.eigh(I)
            axes[:, 0] *= np.linalg.det(axes)
        least = LEAST if moving else 0.0
        possible = _possible(moments, least)
        if np.abs(possible - moments).max() > 1e-9 * moments.max() + 2.0 * LEAST:
            self.omitted.add(
                "principal moments that violate the triangle inequality (the largest was lowered)", name
            )
        add(
            element,
            "inertial",
            pos=numbers(given.com),
            quat=wxyz(Pose(matrix=axes)),
            mass=number(max(given.mass, least)),
            diaginertia=numbers(possible),
        )

    def pieces(self) -> dict[str, list[str]]:
        """Elements that hold the mass of a body, by its name: its own and helpers; not where it is lumped."""
        found = {}
        donors = [(one.donor[0], one.name + HELPER) for one in self.helpers if one.donor is not None]
        for body in self.mech.model.bodies[1:]:
            shared = [helper for donor, helper in donors if donor == body.name]
            parts = [name for name in (body.name, *shared) if name in self.elements]
            if math.isclose(sum(self.inertias[name].mass for name in parts), body.mass, rel_tol=1e-12):
                found[body.name] = parts
        return found

    def write_keyframe(self, section: ET.Element, q: Array, v: Array) -> None:
        """The default state, in the order in which MuJoCo meets the joints."""
        at: dict[str, tuple[list[float], list[float]]] = {}
        v_slices = self.mech.model.v_slices
        for _, joint in self.order:
            speed = v[v_slices[self.mech.model.body_index(joint.body.name)]]
            if joint.kind is NodeKind.FREE:
                pose = self.written.poses[joint.body.name]
                x, y, z, w = pose.quat.tolist()
                linear = (pose.rotation @ speed[:3]).tolist()
                at[joint.name] = [*pose.xyz.tolist(), w, x, y, z], [*linear, *speed[3:].tolist()]
            elif joint.kind is NodeKind.BALL:
                at[joint.name] = [1.0, 0.0, 0.0, 0.0], speed[joint.first : joint.first + 3].tolist()
            else:
                at[joint.name] = joint.q.tolist(), [float(speed[joint.first])]
                if joint.kind is NodeKind.SCREW:
                    at[f"{joint.name}.slide"] = [0.0], [joint.pitch * float(speed[joint.first])]
        qpos: list[float] = []
        qvel: list[float] = []
        for element in self.elements[GROUND].iter("joint"):
            ball = [1.0, 0.0, 0.0, 0.0] if element.get("type") == "ball" else [0.0]
            pose_, speed_ = at.get(element.get("name", ""), (ball, [0.0] * (3 if len(ball) == 4 else 1)))
            qpos += pose_
            qvel += speed_
        moving = any(qvel) and not self.helpers
        if any(v) and not moving:
            self.omitted.add("velocity of the default state")
        add(section, "key", name="default", qpos=numbers(qpos), qvel=numbers(qvel) if moving else None)


def _possible(moments: Array, least: float) -> Array:
    """Principal moments that MuJoCo accepts: not less than `least`, none more than the two others together.

    The largest is lowered: it changes by a smaller part of itself than the smallest would.
    """
    possible = np.maximum(moments, least)
    large = int(np.argmax(possible))
    possible[large] = min(possible[large], np.delete(possible, large).sum())
    return possible
