"""Mechanism -> SDF, drawn at its default state: Gazebo starts with closed loops.

Loops are joints between links that exist already, as Gazebo has them. A link is written for every body, and
helper links (`helper_bodies`) for loops whose joint SDF does not have. Joint positions of SDF are zero as
drawn; `<sarrus:position>` keeps those of the mechanism for our reader, others ignore it.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.constraints.closures import Closure
from sarrus.constraints.couplings import Coupling
from sarrus.constraints.points import PointOnCylinder, PointOnLine, PointOnPlane
from sarrus.formats.mjcf.write import drawn_state
from sarrus.formats.mjcf.write_parts import gravity_compensation
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.sdf.elements import write_geometry, write_numbers, write_pose
from sarrus.formats.sdf.parts import LEAST, MASSLESS
from sarrus.formats.sdf.write_collisions import pairs_of_bodies, write_collision
from sarrus.formats.writing.bodies import WrittenBody, WrittenJoint, write_bodies
from sarrus.formats.writing.helper_bodies import HELPER, Helper, make_helpers
from sarrus.formats.writing.inertias import NOTHING, Inertia, written_inertias
from sarrus.formats.writing.kept_declarations import SDF_TAG, KeptDeclarations
from sarrus.formats.writing.xml_text import add, document
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import ConstantWrench, JointDamper, JointSpring
from sarrus.models.shapes.visual import Visual
from sarrus.models.tree.bodies import GROUND, UNLIMITED, Limit
from sarrus.models.tree.joint import NodeKind
from sarrus.models.tree.joints import Cylindrical, Planar, Universal

VERSION = "1.11"
NAMESPACE = "https://sarrus.readthedocs.io/sdf"
OPEN = 1e16  # SDF's own number for no limit
WHOLE = 1e-12  # share of a weight that differs from 1 by rounding
MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
KINDS = {
    NodeKind.HINGE: "revolute",
    NodeKind.SLIDE: "prismatic",
    NodeKind.SCREW: "screw",
    NodeKind.BALL: "ball",
}


def needs_helper(entry: Any) -> bool:
    """Whether a constraint is written with a helper link."""
    if isinstance(entry, Closure):
        return isinstance(entry.joint, Cylindrical | Planar)
    return isinstance(entry, PointOnLine | PointOnPlane | PointOnCylinder)


def sdf_bytes(mech: Mechanism, path: Path, omitted: Omitted) -> bytes:
    """The content of an SDF file; what SDF cannot say goes to `omitted`."""
    q, _ = drawn_state(mech, omitted)
    root = ET.Element("sdf", {"version": VERSION, "xmlns:sarrus": NAMESPACE})
    holder = root
    if tuple(mech.model.gravity.tolist()) != (0.0, 0.0, -9.81):
        holder = add(root, "world", name="default")
        write_numbers(holder, "gravity", mech.model.gravity)
    writer = _Writer(mech, q, add(holder, "model", name=mech.name), omitted)
    for own in writer.written.bodies.values():
        writer.write_body(own)
    for helper in writer.helpers:
        writer.write_helper(helper)
    writer.write_frames()
    for name, entry in mech.model.constraints:
        writer.write_constraint(name, entry)
    for one in mech.visuals:
        writer.write_visual(one.simplified())
    writer.write_surfaces()
    for name in writer.driven:
        if name not in writer.axes:
            writer.kept.actuators("actuator of a ball or a free joint", name)
    for name, force in mech.model.forces:
        if not isinstance(force, JointDamper | JointSpring) and not writer.write_weightless(force):
            writer.kept.force(name, force)
    writer.kept.laws()
    writer.kept.write(writer.model, SDF_TAG)
    return document(root)


class _Writer:
    def __init__(self, mech: Mechanism, q: Array, model: ET.Element, omitted: Omitted) -> None:
        self.mech, self.model, self.omitted = mech, model, omitted
        self.written = write_bodies(mech, q, several=False, offsets=True, frames_apart=True)
        self.kept = KeptDeclarations(mech, self.written, omitted, "world")
        looped = [one for one in mech.model.constraints if needs_helper(one[1])]
        self.helpers = make_helpers(mech, self.written, looped)
        self.inertias = written_inertias(mech, self.written, self.helpers, omitted)
        self.links: dict[str, ET.Element] = {}
        self.axes: dict[str, ET.Element] = {}
        self.joint_names: dict[str, str] = {}
        self.driven = {one.name: (one.lower, one.upper) for one in mech.model.actuators}
        self.dampers: dict[str, float] = {}
        self.springs: dict[str, JointSpring] = {}
        for name, force in mech.model.forces:
            if isinstance(force, JointDamper):
                self.dampers[force.coordinate] = self.dampers.get(force.coordinate, 0.0) + force.damping
            if isinstance(force, JointSpring):
                if force.coordinate in self.springs:
                    self.kept.force(name, force)
                self.springs.setdefault(force.coordinate, force)

    # ------------------------------------------------------------------ links

    def _link(self, name: str, at: Pose, inertia: Inertia | None) -> str:
        link = add(self.model, "link", name=name)
        self.links[name] = link
        write_pose(link, at)
        given = inertia or NOTHING
        inertial = add(link, "inertial")
        write_pose(inertial, Pose(given.com))
        tiny = given.mass == 0.0
        write_numbers(inertial, "mass", [LEAST if tiny else given.mass])
        tensor = add(inertial, "inertia")
        I = LEAST * np.eye(3) if tiny and not np.any(given.inertia) else given.inertia
        for entry, place in MOMENTS.items():
            write_numbers(tensor, entry, [I[place]])
        if not given.is_possible:
            self.omitted.add("moments that violate the triangle inequality (Gazebo and Drake refuse)", name)
        if tiny:
            add(link, MASSLESS)
            self.omitted.add(f"link without mass ({LEAST:g} kg was added)", name)
        return name

    def write_body(self, own: WrittenBody) -> None:
        """A link with its joints; joints with several axes go by way of links between."""
        X = self.written.poses[own.name]
        free = any(joint.kind is NodeKind.FREE for joint in own.joints)
        universal = bool(own.joints) and isinstance(own.joints[0].body.joint, Universal)
        parent = own.parent
        if not free and not universal:
            for joint in own.joints[:-1]:
                between = self._link(
                    f"{joint.name}.link", X, None
                )  # joints and links share one list of names
                self._write_joint(joint, parent, between, Pose(joint.place))
                parent = between
        self._link(own.name, X, self.inertias[own.name])
        if free:
            self.kept.joint(own.joints[0].body, 0, 6, ("damping", "friction"), own.name)
        if universal:
            self._write_universal(own, parent)
        elif own.joints and not free:
            self._write_joint(own.joints[-1], parent, own.name, Pose(own.joints[-1].place))
        elif not own.joints:
            self._joint(f"{own.name}_fixed", "fixed", parent, own.name, Pose())

    def _joint(self, name: str, kind: str, parent: str, child: str, at: Pose) -> ET.Element:
        taken = name in self.links or name in self.mech.body_names  # SDF has one list of names for all
        joint = add(self.model, "joint", name=f"{name}_joint" if taken else name, type=kind)
        if taken:
            add(joint, "sarrus:name").text = name
        write_pose(joint, at)
        add(joint, "parent").text = "world" if parent == GROUND else parent
        add(joint, "child").text = child
        return joint

    def _write_joint(self, joint: WrittenJoint, parent: str, child: str, at: Pose) -> None:
        element = self._joint(joint.name, KINDS[joint.kind], parent, child, at)
        if joint.kind is NodeKind.BALL:
            write_numbers(element, "sarrus:position", joint.q)
            self.kept.joint(joint.body, joint.first, 3, ("damping", "friction"))
            return
        self._write_axis(element, "axis", joint)
        if joint.kind is NodeKind.SCREW:
            write_numbers(element, "screw_thread_pitch", [2.0 * math.pi * joint.pitch])
        if np.any(joint.q):
            write_numbers(element, "sarrus:position", joint.q)

    def _write_universal(self, own: WrittenBody, parent: str) -> None:
        first, second = own.joints
        element = self._joint(first.body.name, "universal", parent, own.name, Pose(first.place))
        self._write_axis(element, "axis", first)
        self._write_axis(element, "axis2", second)
        if np.any([*first.q, *second.q]):
            self.omitted.remark(f"the angles of {first.body.name!r} are zero in the file as it is drawn")

    def _write_axis(self, element: ET.Element, tag: str, joint: WrittenJoint) -> None:
        body, k = joint.body, joint.first
        axis = add(element, tag)
        self.axes[joint.name], self.joint_names[joint.name] = axis, element.get("name", "")
        write_numbers(axis, "xyz", joint.axis)
        limit, lower, upper = add(axis, "limit"), -OPEN, OPEN
        if body.limits[k] != UNLIMITED:
            lower, upper = (
                x - float(joint.q[0]) if math.isfinite(x) else math.copysign(OPEN, x) for x in body.limits[k]
            )
        write_numbers(limit, "lower", [lower])
        write_numbers(limit, "upper", [upper])
        bounds: Limit | None = self.driven.get(joint.name)
        effort = 0.0 if bounds is None else min(max(-bounds[0], bounds[1]), OPEN)
        write_numbers(limit, "effort", [effort])
        dynamics = add(axis, "dynamics")
        write_numbers(dynamics, "damping", [body.damping[k] + self.dampers.get(joint.name, 0.0)])
        write_numbers(dynamics, "friction", [body.friction[k]])
        spring = self.springs.get(joint.name)
        if spring is not None:
            write_numbers(dynamics, "spring_reference", [spring.rest - float(joint.q[0])])
            write_numbers(dynamics, "spring_stiffness", [spring.stiffness])
        self.kept.joint(body, k, 1)
        if bounds is not None and bounds[0] != -bounds[1]:
            self.kept.actuators("limits of an actuator that are not symmetric", joint.name)

    def write_frames(self) -> None:
        """Frames, each attached to its link."""
        for name in self.written.apart:
            owner, at = self.written.frames[name]
            write_pose(
                add(self.model, "frame", name=name, attached_to="world" if owner == GROUND else owner), at
            )

    def write_helper(self, helper: Helper) -> None:
        """The helper link on its chain, and the joint that ties it."""
        owner, _ = self.written.frame(helper.parent.body, helper.parent.at)
        name, X = helper.name + HELPER, self.written.poses[helper.parent.body] @ helper.parent.at
        parent = owner
        for k, (kind, axis, place, _) in enumerate(helper.nodes):
            last = k == len(helper.nodes) - 1
            child = self._link(name if last else f"{name}.{k}", X, self.inertias.get(name) if last else None)
            element = self._joint(f"{helper.name}.{k}", KINDS[kind], parent, child, Pose(place))
            write_numbers(add(element, "axis"), "xyz", axis)
            parent = child
        tied, frame = self.written.frame(helper.tied.body, helper.tied.at)
        kind_ = "fixed" if helper.welded else "ball"
        if tied == GROUND:
            self._joint(helper.name, kind_, GROUND, name, Pose())
        else:
            self._joint(helper.name, kind_, name, tied, frame)

    # ------------------------------------------------------------------ constraints and shapes

    def write_constraint(self, name: str, entry: Any) -> None:
        if needs_helper(entry):
            return
        if isinstance(entry, Closure):
            self._write_loop(name, entry)
        elif not (isinstance(entry, Coupling) and self._write_mimic(dict(entry.terms), entry.offset)):
            self.kept.constraint(name, entry)

    def _write_loop(self, name: str, entry: Closure) -> None:
        """A joint between two links; the world is the parent where it is one of them."""
        a, b = entry.ends()
        X_AB = (self.written.poses[a.body] @ a.at).inverse() @ (self.written.poses[b.body] @ b.at)
        (parent, at_a), (child, at_b) = (self.written.frame(frame.body, frame.at) for frame in (a, b))
        R = X_AB.rotation
        axes = [R.T @ np.array(node.axis) for node in entry.joint.primitives()]
        if isinstance(entry.joint, Universal):
            axes[1] = np.array(entry.joint.primitives()[1].axis)
        if child == GROUND:  # SDF wants the world as the parent: the joint backwards
            parent, child, at_b = GROUND, parent, at_a
            axes = [R @ axis for axis in axes][::-1]
        nodes = entry.joint.primitives()
        kind = "universal" if len(axes) == 2 else KINDS[nodes[0].kind] if nodes else "fixed"
        element = self._joint(name, kind, parent, child, at_b)
        for tag, axis in zip(("axis", "axis2"), axes if kind != "ball" else (), strict=False):
            write_numbers(add(element, tag), "xyz", axis)
        if kind == "screw":
            write_numbers(element, "screw_thread_pitch", [2.0 * math.pi * nodes[0].pitch])
            turned = math.atan2(*_sine_and_cosine(R, axes[0]))
            write_numbers(element, "sarrus:position", [turned])

    def _write_mimic(self, terms: dict[str, float], offset: float) -> bool:
        """q_1 = multiplier q_2 + offset, counted from the drawn pose; False where SDF has no way."""
        drawn = {
            joint.name: float(joint.q[0])
            for own in self.written.bodies.values()
            for joint in own.joints
            if len(joint.q) == 1
        }
        if len(terms) != 2:
            return False
        pairs = sorted((list(terms), list(terms)[::-1]), key=lambda pair: pair[0] in self.driven)
        for follower, leader in pairs:  # what is actuated does not follow
            axis = self.axes.get(follower)
            if axis is not None and leader in self.axes and axis.find("mimic") is None:
                ratio = -terms[leader] / terms[follower]
                mimic = add(axis, "mimic", joint=self.joint_names[leader])
                write_numbers(mimic, "multiplier", [ratio])
                write_numbers(
                    mimic, "offset", [offset / terms[follower] + ratio * drawn[leader] - drawn[follower]]
                )
                write_numbers(mimic, "reference", [0.0])
                return True
        return False

    def write_weightless(self, force: Any) -> bool:
        """A wrench that carries the whole weight of a body, as the link says it; False for other forces."""
        if not isinstance(force, ConstantWrench) or force.body not in self.links:
            return False
        share = gravity_compensation(self.mech, force)
        own = self.mech.model.bodies[self.mech.model.body_index(force.body)].mass
        if share is None or abs(share - 1.0) > WHOLE or self.inertias[force.body].mass != own:
            return False
        add(self.links[force.body], "gravity").text = "false"
        return True

    def write_surfaces(self) -> None:
        """Surfaces of links, and whether they touch each other; all of it for our reader."""
        if any(GROUND not in bodies for bodies in pairs_of_bodies(self.mech)):
            add(self.model, "self_collide").text = "true"
        for one in self.mech.model.surfaces:
            owner, at = self.written.frame(one.body, one.at)
            if owner == GROUND or not write_collision(self.links[owner], one, at):
                where = "the ground" if owner == GROUND else f"the shape {type(one.shape).__name__}"
                self.omitted.keep(f"surface of {where}", one.name)
        self.kept.contacts()

    def write_visual(self, one: Visual) -> None:
        owner, at = self.written.frame(one.body, one.at)
        if owner == GROUND:
            self.omitted.count("shape on the ground", 1)
            return
        visual = add(self.links[owner], "visual", name=f"visual{len(self.links[owner])}")
        write_pose(visual, at)
        write_geometry(visual, one.shape, one.size, one.file)
        write_numbers(add(visual, "material"), "diffuse", one.rgba)


def _sine_and_cosine(R: Array, axis: Array) -> tuple[float, float]:
    """Of the angle of a rotation about an axis."""
    skew = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return 0.5 * float(skew @ axis), 0.5 * (float(np.trace(R)) - 1.0)
