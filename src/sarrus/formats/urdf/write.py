"""Mechanism -> URDF: the tree as every reader knows it, loops in the extension that `read` knows.

A link for each body; the root link is "world". Joints of two coordinates are chains with massless links.
Loops are `<loop_joint>` elements, the default state is `<default_state>`, and what else URDF has no words for
is in `<sarrus_declarations>`: readers that do not know them see the tree.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sarrus.arrays import Array
from sarrus.constraints.closures import Closure
from sarrus.constraints.couplings import Coupling
from sarrus.errors import AssemblyError, InputError
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.urdf.constraints import write_constraint
from sarrus.formats.urdf.loops_yaml import CLOSED_BY, LoopsFile, loops_text
from sarrus.formats.urdf.visuals import write_visual
from sarrus.formats.urdf.write_collisions import write_collision
from sarrus.formats.writing.bodies import WrittenBodies, WrittenBody, WrittenJoint, write_bodies
from sarrus.formats.writing.kept_declarations import GRAVITY, URDF_TAG, KeptDeclarations
from sarrus.formats.writing.xml_text import add, document, nonzero, number, numbers
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.actuator_law import ActuatorLaw
from sarrus.models.kinds.forces import JointDamper
from sarrus.models.tree.bodies import GROUND, UNLIMITED, Body
from sarrus.models.tree.joint import NodeKind
from sarrus.models.tree.joints import Planar, Universal

LOOPS = ("loop_joint", "constraint", "yaml")  # how loops are written
WORLD = "world"  # what readers call the fixed root link
OPEN = 1e9  # effort that stands for no limit, velocity for none [N m, rad/s]
INTERFACE = "hardware_interface/EffortJointInterface"
TYPES = {
    NodeKind.SLIDE: "prismatic",
    NodeKind.FREE: "floating",
}


def urdf_bytes(mech: Mechanism, path: Path, omitted: Omitted, loops: str = LOOPS[0]) -> bytes:
    """The content of a URDF file; what URDF cannot say goes to `omitted`. loops: one of LOOPS."""
    return document(_robot(mech, path, omitted, loops)[0])


def urdf_and_yaml(mech: Mechanism, path: Path, omitted: Omitted) -> tuple[bytes, bytes]:
    """The tree with links where loops are closed, and the YAML file that says which of them coincide."""
    root, writer = _robot(mech, path, omitted, "yaml")
    file = LoopsFile(tuple(writer.pairs), tuple(writer.pair_kinds), tuple(writer.driven), {})
    return document(root), loops_text(file).encode()


def urdf_and_loops(mech: Mechanism, path: Path, omitted: Omitted) -> tuple[bytes, bytes]:
    """The tree alone, and what only our reader knows: loops and the default state, for a file beside it."""
    root = _robot(mech, path, omitted)[0]
    loops = ET.Element("loops", name=mech.name)
    for element in [one for one in root if one.tag in ("loop_joint", "default_state", URDF_TAG)]:
        root.remove(element)
        loops.append(element)
    return document(root), document(loops)


def _robot(
    mech: Mechanism, path: Path, omitted: Omitted, loops: str = LOOPS[0]
) -> tuple[ET.Element, _Writer]:
    written = write_bodies(mech, np.array(mech.neutral()), several=False, offsets=False)
    root = ET.Element("robot", name=mech.name)
    writer = _Writer(mech, written, omitted, root)
    writer.loops = loops
    writer.write_tree()
    writer.write_constraints()
    writer.write_actuators()
    writer.write_state()
    for one in (shape.simplified() for shape in mech.visuals):
        owner, at = written.frame(one.body, one.at)
        write_visual(writer.links[owner], one, at, path.parent)
    for surface in mech.model.surfaces:
        owner, at = written.frame(surface.body, surface.at)
        if not write_collision(writer.links[owner], surface, at, path.parent):
            omitted.keep(f"surface of the shape {type(surface.shape).__name__}", surface.name)
    writer.kept.contacts()
    for name, force in mech.model.forces:
        if not isinstance(force, JointDamper):
            writer.kept.force(name, force)
    writer.kept.laws()
    if tuple(mech.model.gravity.tolist()) != GRAVITY:
        writer.kept.gravity()
    writer.kept.write(root, URDF_TAG)
    return root, writer


class _Writer:
    def __init__(self, mech: Mechanism, written: WrittenBodies, omitted: Omitted, root: ET.Element) -> None:
        self.mech, self.written, self.omitted, self.root = mech, written, omitted, root
        self.kept = KeptDeclarations(mech, written, omitted, WORLD)
        self.links = {GROUND: add(root, "link", name=WORLD)}
        self.joints: dict[str, ET.Element] = {}
        self.driven = {one.name: (one.lower, one.upper) for one in mech.model.actuators}
        self.loops = LOOPS[0]
        self.pairs: list[tuple[str, str]] = []  # links that a YAML file closes
        self.pair_kinds: list[str] = []
        self.dampers: dict[str, float] = {}
        for _, force in mech.model.forces:
            if isinstance(force, JointDamper):
                self.dampers[force.coordinate] = self.dampers.get(force.coordinate, 0.0) + force.damping

    # ------------------------------------------------------------------ tree

    def write_tree(self) -> None:
        for own in self.written.bodies.values():
            self._write_body(own)

    def _write_body(self, own: WrittenBody) -> None:
        parent, at, joints = own.parent, own.at, own.joints
        if joints and isinstance(joints[0].body.joint, Planar):
            self._write_planar(own)
        else:
            for k, joint in enumerate(joints):
                last = k == len(joints) - 1
                if joint.kind is NodeKind.SCREW:
                    slide = self._link(f"{joint.name}.slide")
                    element = self._joint(f"{joint.name}.slide", "prismatic", parent, slide, at)
                    add(element, "axis", xyz=numbers(joint.axis))
                    add(element, "mimic", joint=joint.name, multiplier=number(joint.pitch))
                    add(element, "limit", lower="-1000", upper="1000", effort="0", velocity=number(OPEN))
                    parent, at = slide, Pose()
                child = self._link(own.name if last else joint.name)
                if joint.kind is NodeKind.BALL:
                    self._write_ball(joint, parent, child, at)
                else:
                    self._write_joint(joint, parent, child, at)
                parent, at = child, Pose()
        if not joints:
            self._joint(f"{own.name}_fixed", "fixed", parent, self._link(own.name), at)
        self._write_inertia(own)

    def _write_planar(self, own: WrittenBody) -> None:
        declared = own.joints[0].body
        assert isinstance(declared.joint, Planar)
        element = self._joint(declared.name, "planar", own.parent, self._link(own.name), own.at)
        add(element, "axis", xyz=numbers(declared.joint.direction))
        self._write_losses(element, declared.name, declared.damping, declared.friction)
        self.kept.joint(declared, 0, declared.joint.nv)

    def _write_ball(self, joint: WrittenJoint, parent: str, child: str, at: Pose) -> None:
        """Three hinges, because URDF has no ball; our reader makes it one again."""
        names = self.kept.ball(joint.name)
        for axis, name in zip(np.eye(3), names, strict=True):
            here = child if name == names[-1] else self._link(name)
            element = self._joint(name, "continuous", parent, here, at)
            add(element, "axis", xyz=numbers(axis))
            self._write_losses(element, name, joint.body.damping, joint.body.friction)
            parent, at = here, Pose()
        self.kept.joint(joint.body, joint.first, 3)

    def _link(self, name: str) -> str:
        self.links[name] = add(self.root, "link", name=name)
        return name

    def _joint(self, name: str, kind: str, parent: str, child: str, at: Pose) -> ET.Element:
        element = add(self.root, "joint", name=name, type=kind)
        add(element, "parent", link=WORLD if parent == GROUND else parent)
        add(element, "child", link=child)
        _origin(element, at)
        self.joints[name] = element
        return element

    def _write_joint(self, joint: WrittenJoint, parent: str, child: str, at: Pose) -> None:
        body, k = joint.body, joint.first
        n = 6 if joint.kind is NodeKind.FREE else 1
        limited = n == 1 and body.limits[k] != UNLIMITED
        turning = "revolute" if limited else "continuous"
        element = self._joint(joint.name, TYPES.get(joint.kind, turning), parent, child, at)
        if n == 1:
            add(element, "axis", xyz=numbers(joint.axis))
            self._write_limit(element, joint, limited)
        self._write_losses(element, joint.name, body.damping[k : k + n], body.friction[k : k + n])
        self.kept.joint(body, k, n)

    def _write_limit(self, element: ET.Element, joint: WrittenJoint, limited: bool) -> None:
        lower, upper = self.driven.get(joint.name, (-0.0, 0.0))
        if lower != -upper:
            self.kept.actuators("limits of an actuator that are not symmetric", joint.name)
        values = {"effort": number(min(max(-lower, upper), OPEN)), "velocity": number(OPEN)}
        if limited or joint.kind is NodeKind.SLIDE:
            ends = joint.body.limits[joint.first] if limited else UNLIMITED
            values["lower"], values["upper"] = (
                number(x if math.isfinite(x) else math.copysign(OPEN, x)) for x in ends
            )
        add(element, "limit", **values)

    def _write_losses(
        self, element: ET.Element, name: str, damping: tuple[float, ...], friction: tuple[float, ...]
    ) -> None:
        extra = self.dampers.get(name, 0.0)
        losses = {"damping": [x + extra for x in damping], "friction": list(friction)}
        if any(any(values) for values in losses.values()):
            add(element, "dynamics", **{what: nonzero(values[:1]) for what, values in losses.items()})
        if any(len(set(values)) > 1 for values in losses.values()):
            self.omitted.add("losses that differ between the coordinates of a joint", name)

    def _write_inertia(self, own: WrittenBody) -> None:
        body, link = own.body, self.links[own.name]
        I = np.array(body.inertia_rows)
        if body.mass == 0.0 and not np.any(I):
            return
        inertial = add(link, "inertial")
        add(inertial, "origin", xyz=numbers(body.com), rpy="0 0 0")
        add(inertial, "mass", value=number(body.mass))
        entries = {
            "ixx": I[0, 0],
            "ixy": I[0, 1],
            "ixz": I[0, 2],
            "iyy": I[1, 1],
            "iyz": I[1, 2],
            "izz": I[2, 2],
        }
        add(inertial, "inertia", **{name: number(float(x)) for name, x in entries.items()})

    # ------------------------------------------------------------------ constraints, actuators, state

    def write_constraints(self) -> None:
        for name, entry in self.mech.model.constraints:
            if isinstance(entry, Closure):
                self._write_loop(name, entry)
            elif not (isinstance(entry, Coupling) and self._write_mimic(dict(entry.terms), entry.offset)):
                self.kept.constraint(name, entry)

    def _write_loop(self, name: str, entry: Closure) -> None:
        {
            "loop_joint": self._write_loop_joint,
            "constraint": self._write_constraint,
            "yaml": self._write_pair,
        }[self.loops](name, entry)

    def _ends(self, entry: Closure) -> list[tuple[str, Pose]]:
        """Link and frame of both ends."""
        found = [self.written.frame(one.body, one.at) for one in entry.ends()]
        return [(WORLD if owner == GROUND else owner, at) for owner, at in found]

    def _write_constraint(self, name: str, entry: Closure) -> None:
        write_constraint(
            self.root, name, entry, dict(zip(("parent", "child"), self._ends(entry), strict=True))
        )

    def _write_pair(self, name: str, entry: Closure) -> None:
        """Two links for a YAML file, where it can say how they are closed."""
        kind = next((k for k, joint in CLOSED_BY.items() if type(entry.joint) is joint), None)
        if kind is None or entry.left_out:
            raise InputError(
                f"loops='yaml': loop {name!r} is closed by a {type(entry.joint).__name__}; the YAML file"
                " knows Fixed (6d) and Spherical (3d) only; write loops='constraint'."
            )
        pair = [f"{name}_A", f"{name}_B"]
        for link, (owner, at) in zip(pair, self._ends(entry), strict=True):
            self._joint(f"{link}_fixed", "fixed", owner, self._link(link), at)
        self.pairs.append((pair[0], pair[1]))
        self.pair_kinds.append(kind)

    def _write_loop_joint(self, name: str, entry: Closure) -> None:
        kind = type(entry.joint).__name__.lower()
        gone = " ".join(entry.left_out) or None
        loop = add(self.root, "loop_joint", name=name, type=kind, left_out=gone)
        for tag, frame in zip(("link1", "link2"), entry.ends(), strict=True):
            owner, at = self.written.frame(frame.body, frame.at)
            add(loop, tag, link=WORLD if owner == GROUND else owner, xyz=numbers(at.xyz), rpy=numbers(at.rpy))
        nodes = entry.joint.primitives()
        if isinstance(entry.joint, Planar):
            add(loop, "axis", xyz=numbers(entry.joint.direction))
        elif nodes and nodes[0].kind is not NodeKind.BALL:
            pitch = nodes[0].pitch
            add(loop, "axis", xyz=numbers(nodes[0].axis), pitch=number(pitch) if pitch else None)
        if isinstance(entry.joint, Universal):
            add(loop, "axis2", xyz=numbers(nodes[1].axis))

    def _write_mimic(self, terms: dict[str, float], offset: float) -> bool:
        """c_1 q_1 + c_2 q_2 = offset as q_1 = multiplier q_2 + offset; False where URDF has no way."""
        if len(terms) != 2:
            return False
        pairs = sorted((list(terms), list(terms)[::-1]), key=lambda pair: pair[0] in self.driven)
        for follower, leader in pairs:  # what is actuated does not follow
            joint = self.joints.get(follower)
            if joint is not None and leader in self.joints and joint.find("mimic") is None:
                ratio = -terms[leader] / terms[follower]
                add(
                    joint,
                    "mimic",
                    joint=leader,
                    multiplier=number(ratio),
                    offset=number(offset / terms[follower]),
                )
                return True
        return False

    def write_actuators(self) -> None:
        """A transmission for each actuated joint; those of balls and planes move all of their coordinates."""
        for name in dict.fromkeys(
            one if one in self.joints else one.rpartition(".")[0] for one in self.driven
        ):
            if name not in self.joints:
                self.kept.actuators("actuator", name)
                continue
            transmission = add(self.root, "transmission", name=name)
            add(transmission, "type").text = "transmission_interface/SimpleTransmission"
            add(add(transmission, "joint", name=name), "hardwareInterface").text = INTERFACE
            for law in self.mech.laws.get(name) or (ActuatorLaw(name),):
                actuator = add(transmission, "actuator", name=law.name)
                add(actuator, "hardwareInterface").text = INTERFACE
                add(actuator, "mechanicalReduction").text = number(law.gear)

    def write_state(self) -> None:

        try:
            q = self.mech.default.q
        except AssemblyError:
            self.omitted.remark("its loops do not close; there is no default state in the file")
            return
        if np.array_equal(q, self.mech.neutral()):
            return
        state = add(self.root, "default_state")
        joints = (joint for own in self.written.bodies.values() for joint in own.joints)
        for declared in dict.fromkeys(joint.body for joint in joints):
            values = q[self.mech.model.q_slices[self.mech.model.body_index(declared.name)]]
            for name, part in self._said_positions(declared, values):
                add(state, "position", joint=name, value=part)

    def _said_positions(self, declared: Body, values: Array) -> Iterator[tuple[str, str]]:
        """Names and positions of the joints that a body is written with."""
        names = [name for name in declared.coordinate_names if name in self.joints]
        if names:
            yield from zip(names, map(number, values.tolist()), strict=True)
        else:
            yield declared.name, numbers(values)
        pitch = declared.joint.primitives()[0].pitch
        if pitch:  # a screw
            yield f"{declared.name}.slide", number(pitch * values[0])


def _origin(element: ET.Element, at: Pose) -> None:
    if not at.is_identity:
        add(element, "origin", xyz=numbers(at.xyz), rpy=numbers(at.rpy))
