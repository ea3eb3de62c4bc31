"""SDF -> FileSpec, read by a small parser of our own.

The joints of an SDF are a graph. The first joint that leads to a link carries it in the tree, every further
one closes a loop (Gazebo's way); `drake:ball_constraint` closes one too. Links without a joint are free. All
joint positions are zero as drawn, unless the file says otherwise in `<sarrus:position>`, which `save` writes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.formats.collisions.hulls import CORNERS, corners_wanted
from sarrus.formats.collisions.read_collisions import CollisionReader
from sarrus.formats.reading.file_spec import LOOP_TOLERANCE, FileSpec
from sarrus.formats.reading.joint_limits import effort_limits, note_passive
from sarrus.formats.reading.link_frames import GROUND, Links, TreeJoint, named
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.meshes import Places
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.reading.outside import Outside
from sarrus.formats.sdf.axes import axis_properties, bound
from sarrus.formats.sdf.collisions import read_collisions
from sarrus.formats.sdf.couplings import Couplings, Turning, drawn_position
from sarrus.formats.sdf.frames import Frames, pose_in
from sarrus.formats.sdf.models import PLACED, flattened, is_static
from sarrus.formats.sdf.parts import inertia_of, note_extras, read_visual
from sarrus.formats.urdf.tree import by_name
from sarrus.formats.writing.bodies import moved
from sarrus.formats.writing.kept_declarations import SDF_TAG, ReadDeclarations
from sarrus.models.base.axes import direction
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import ConstantWrench, JointSpring
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joint import NODE_NQ, Joint
from sarrus.models.tree.joints import Fixed, Free, Helical, Prismatic, Revolute, Spherical, Universal

WORLD = "world"
GEARBOX = "gearbox"
ONE_AXIS = ("revolute", "continuous", "prismatic", "screw")
TYPES = (*ONE_AXIS, "ball", "universal", "revolute2", "fixed", GEARBOX)


@dataclass(frozen=True)
class SdfOptions:
    """How to read an SDF.

    Attributes:
        packages: Folders that model:// addresses are looked up in.
        gravity: Gravity [m/s^2], (3,); None: that of the world in the file, else (0, 0, -9.81).
        loop_tolerance: Largest misfit of loops that is corrected [rad], or times L [m].
        strict: Whether constraints and actuators that are not modelled are an error.
        contacts: Whether collision shapes become surfaces and pairs.
        hull_corners: How many corners hulls of collision meshes keep; None: all.
        outside: Whether, or in which further folders, files outside of its own folder may be opened.
    """

    packages: str | Path | Sequence[str | Path] = ()
    gravity: tuple[float, float, float] | None = None
    loop_tolerance: float = LOOP_TOLERANCE
    strict: bool = False
    contacts: bool = False
    hull_corners: int | None = CORNERS
    outside: Outside = False

    def __post_init__(self) -> None:
        corners_wanted(self.hull_corners)

    @property
    def folders(self) -> list[Path]:
        """`packages` as paths."""
        if isinstance(self.packages, str | Path):
            return [Path(self.packages)]
        return [Path(folder) for folder in self.packages]


def read_sdf(root: Element, folder: Path | None, options: SdfOptions) -> FileSpec:
    """Read an SDF: a model, or all models of a world.

    Args:
        root: Its root element, <sdf>.
        folder: Where the file is, for included models and meshes; None for text that is not in a file.
        options: How to read it.

    Raises:
        FormatError: With the line and the reason.
    """
    omitted = Omitted()
    places = Places(folder, options.folders, options.outside)
    model, gravity = flattened(root, places, omitted)
    given = options.gravity if options.gravity is not None else gravity
    spec = FileSpec(given, model.attributes.get("name", "").strip() or "robot", options.loop_tolerance)
    _Reader(model, spec, omitted, places, options).read()
    omitted.warn(root.source, options.strict)
    spec.omitted = omitted.listed()
    return spec


class _Reader:
    """One reading of one flat model."""

    def __init__(
        self, model: Element, spec: FileSpec, omitted: Omitted, places: Places, options: SdfOptions
    ) -> None:
        self.model, self.spec, self.omitted, self.places = model, spec, omitted, places
        self.options = options
        self.found = CollisionReader(spec, omitted, options.hull_corners)
        self.links, declared = by_name(model.all("link")), by_name(model.all("joint"))
        self.joints = {name: one for name, one in declared.items() if one.text("type") != GEARBOX}
        self.gearboxes = [one for one in declared.values() if one.text("type") == GEARBOX]
        if not self.links:
            model.fail("a model needs at least one <link>")
        self.frames = Frames(model, self.links, declared, by_name(model.all("frame")))
        self.tree = Links(spec, tuple(self.links), omitted)
        self.bodies = {WORLD: GROUND} | {name: name for name in self.links}
        if GROUND in self.links:
            self.bodies[GROUND] = claim("ground_link", self.tree.taken)
        self.carriers: dict[str, list[str]] = {}
        self.kept = ReadDeclarations(model.first(SDF_TAG))

    def read(self) -> None:
        for link, joint in self._order():
            self._add_link(link, joint)
        for joint in self.joints.values():
            if joint.text("name") not in self.carriers and not self._is_held(joint):
                self._add_loop(joint)
        self._add_couplings()
        for ball in self.model.all("drake:ball_constraint"):
            self._add_ball(ball)
        for tag in ("drake:linear_bushing_rpy", "gripper", "plugin"):
            for one in self.model.all(tag):
                note = self.omitted.drop if tag.startswith("drake") else self.omitted.add
                note(tag, one.attributes.get("name", ""), one.line)
        self._add_actuators()
        self._add_frames()
        self.kept.declare(self.spec, self.bodies)
        self._add_visuals()
        if self.options.contacts:
            self._add_contacts()
        note_extras(self.model, self.omitted, self.options.contacts)

    def _add_visuals(self) -> None:
        for name, element in self.links.items():
            for shape in element.all("visual"):
                found = read_visual(shape, self.bodies[name], self.places, self.omitted)
                self.spec.visuals += [] if found is None else [found]

    def _add_contacts(self) -> None:
        """Surfaces and pairs: those that `save` kept, else of the collision shapes of the links."""
        if self.kept.surfaces(self.spec, self.bodies):
            return
        for name, element in self.links.items():
            read_collisions(element, self.bodies[name], self.places, self.found)
        self.found.declare(lambda one, two: bool(one.group.meets(two.group)))

    # ------------------------------------------------------------------ tree

    def _ends(self, joint: Element) -> tuple[str, str]:
        parent, child = (self.frames.link_of(joint.word(tag), joint.one(tag)) for tag in ("parent", "child"))
        if child == WORLD:
            joint.fail("the world cannot be the child of a joint; exchange parent and child")
        if parent == child:
            joint.fail(f"it joins link {child!r} with itself")
        return parent, child

    def _order(self) -> list[tuple[str, Element | None]]:
        """Links, each with the joint that carries it, parents first."""
        ends = {name: self._ends(joint) for name, joint in self.joints.items()}
        first: dict[str, str] = {}
        for name, (_, child) in ends.items():
            if not is_static(self.links[child]):
                first.setdefault(child, name)
        roots = [name for name in self.links if name not in first]
        order: list[tuple[str, Element | None]] = []
        reached = {WORLD}
        waiting = [*self.links]
        while waiting:
            ready = (x for x in waiting if x in first and ends[first[x]][0] in reached)
            link = next(ready, None)
            if link is None:
                link = next((name for name in waiting if name in roots), waiting[0])
                order.append((link, None))
            else:
                order.append((link, self.joints[first[link]]))
            reached.add(link)
            waiting.remove(link)
        return order

    def _add_link(self, link: str, joint: Element | None) -> None:
        element, X_link = self.links[link], self.frames.of(link, self.links[link])
        inertia = inertia_of(element)
        with element.context():
            if joint is None:
                if is_static(element):
                    self.found.fix(self.bodies[link], GROUND)
                    self.tree.mount(self.bodies[link], GROUND, (), X_link, inertia)
                else:
                    own = self.kept.of_joint(Free(), self.bodies[link])
                    chain = (TreeJoint(self.bodies[link], Free(), Pose(), own),)
                    carrier = self.tree.mount(self.bodies[link], GROUND, chain, Pose(), inertia)[0]
                    self.spec.rest[carrier] = (*X_link.xyz.tolist(), *X_link.quat.tolist())
            else:
                self._add_joint(joint, link, X_link, inertia)
        if element.word("gravity", "true").strip() in ("false", "0") and inertia["mass"]:
            lift = [-inertia["mass"] * x for x in self.spec.gravity]
            wrench = ConstantWrench(self.bodies[link], (*lift, 0, 0, 0), inertia["com"])
            self.spec.force(f"{link}.gravity", wrench)

    def _is_held(self, joint: Element) -> bool:
        """Whether a joint joins what a static model holds already."""
        return all(end == WORLD or is_static(self.links[end]) for end in self._ends(joint))

    def _add_joint(self, joint: Element, link: str, X_link: Pose, inertia: dict[str, Any]) -> None:
        name, parent = joint.text("name"), self._ends(joint)[0]
        X_joint = self.frames.joint(name)
        X_parent = Pose() if parent == WORLD else self.frames.of(parent, joint)
        made = self._joint_of(joint)
        offset, body = self._offset(joint, link, X_joint, X_link), self.bodies[link]
        with joint.context():
            (self.found.fix if made is None else self.found.join)(body, self.bodies[parent])
            if made is None:
                self.tree.mount(body, self.bodies[parent], (), X_parent.inverse() @ X_link, inertia)
                self.carriers[name] = []
                return
            start, at = drawn_position(joint), X_parent.inverse() @ X_joint
            size = sum(NODE_NQ[node.kind] for node in made.primitives())
            if start and len(start) != size:
                joint.one("sarrus:position").fail(f"it must be {size} numbers here, got {len(start)}")
            properties = axis_properties(joint, made, start, self.omitted)
            called = joint.word("sarrus:name", name)
            if joint.first("drake:rotor_inertia") is not None and made.nv == 1:
                ratio = joint.value("drake:gear_ratio", 1.0)
                properties["armature"] = joint.value("drake:rotor_inertia") * ratio**2
            properties |= self.kept.of_joint(made, called)
            chain = (TreeJoint(called, made, at @ _back(made, start), properties),)
            carriers = self.tree.mount(body, self.bodies[parent], chain, offset, inertia)
            self.carriers[name] = carriers
            if start:
                self.spec.rest[carriers[0]] = start
            self._add_spring(joint, carriers[0], start)

    def _offset(self, joint: Element, link: str, X_joint: Pose, X_link: Pose) -> Pose:
        """The link in the frame of its joint; without rounding where the file says so directly."""
        pose = joint.first("pose")
        if (pose is None or "relative_to" not in pose.attributes) and joint.word("child").strip() == link:
            return pose_in(joint).inverse()
        return X_joint.inverse() @ X_link

    def _add_spring(self, joint: Element, body: str, start: tuple[float, ...]) -> None:
        axis = joint.first("axis")
        dynamics = None if axis is None else axis.first("dynamics")
        stiffness = 0.0 if dynamics is None else dynamics.value("spring_stiffness", 0.0)
        if dynamics is not None and stiffness and joint.text("type") in ONE_AXIS:
            rest = dynamics.value("spring_reference", 0.0) + (start[0] if start else 0.0)
            self.spec.force(f"{body}.spring", JointSpring(body, stiffness, rest))

    def _joint_of(self, joint: Element) -> Joint | None:
        """The joint; None for a fixed one."""
        kind = joint.text("type")
        if kind == "fixed":
            return None
        if kind == "ball":
            return Spherical()
        if kind not in TYPES:
            joint.fail(f"unknown joint type {kind!r}; known types: {', '.join(TYPES)}")
        axis = self._axis(joint, "axis")
        with joint.context():
            if kind in ("universal", "revolute2"):
                return Universal(axis, self._axis(joint, "axis2"))
            if kind == "screw":
                if joint.first("screw_thread_pitch") is not None:
                    return Helical(axis, joint.value("screw_thread_pitch") / (2.0 * math.pi))
                pitch = joint.value("thread_pitch")  # radians per metre, with the opposite sign
                if pitch == 0.0:
                    joint.fail("thread_pitch must not be zero")
                return Helical(axis, -1.0 / pitch)
            return Prismatic(axis) if kind == "prismatic" else Revolute(axis)

    def _axis(self, joint: Element, tag: str) -> Any:
        """The axis in the frame of the joint."""
        xyz = joint.one(tag).first("xyz")
        direction = (0.0, 0.0, 1.0) if xyz is None else xyz.values(3)
        if math.hypot(*direction) < 1e-6:
            joint.one(tag).fail(f"the axis must have a direction, got {direction}")
        base = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
        if base:
            turn = self.frames.joint(joint.text("name")).inverse() @ self.frames.of(base, joint)
            direction = tuple((turn.rotation @ direction).tolist())
        return named(direction)

    def _add_frames(self) -> None:
        """The frames of the file, but those of nested models."""
        for name, frame in self.frames.frames.items():
            if PLACED in frame.attributes:
                continue
            with frame.context():
                link = self.frames.link_of(name, frame)
                pose = frame.first("pose")
                if frame.attributes.get("attached_to", "").strip() == link and (
                    pose is None or "relative_to" not in pose.attributes
                ):
                    at = pose_in(frame)
                else:
                    X_link = Pose() if link == WORLD else self.frames.of(link, frame)
                    at = X_link.inverse() @ self.frames.of(name, frame)
                self.tree.frame(name, self.bodies[link], at)

    # ------------------------------------------------------------------ loops, couplings, actuators

    def _add_loop(self, joint: Element) -> None:
        parent, child = self._ends(joint)
        name, X_joint = joint.text("name"), self.frames.joint(joint.text("name"))
        made = self._joint_of(joint) or Fixed()
        with joint.context():
            ends = []
            for link in (parent, child):
                X_link = Pose() if link == WORLD else self.frames.of(link, joint)
                ends.append(X_link.inverse() @ X_joint)
            back = _back(made, drawn_position(joint))
            self.found.join(self.bodies[parent], self.bodies[child])
            self.spec.close(name, self.bodies[parent], self.bodies[child], made, ends[0] @ back, ends[1])

    def _add_ball(self, ball: Element) -> None:
        words = [f"drake:ball_constraint_{part}" for part in ("body_A", "p_AP", "body_B", "p_BQ")]
        a, b = (self.frames.link_of(ball.word(words[k]), ball.one(words[k])) for k in (0, 2))
        p_a, p_b = (Pose(ball.one(words[k]).values(3)) for k in (1, 3))
        name = claim(f"{a}-{b}", {one for one, _ in self.spec.constraints})
        with ball.context():
            self.spec.close(name, self.bodies[a], self.bodies[b], Spherical(), p_a, p_b)
            self.found.join(self.bodies[a], self.bodies[b])

    def _add_couplings(self) -> None:
        found = {}
        for name, joint in self.joints.items():
            if joint.text("type") in ONE_AXIS and len(self.carriers.get(name, ())) == 1:
                start = (drawn_position(joint) or (0.0,))[0]
                found[name] = Turning(self.carriers[name][0], start, self._ends(joint), self._turns(joint))
        couplings = Couplings(self.spec, self.omitted, found)
        for joint in self.joints.values():
            couplings.add_mimic(joint)
        for box in self.gearboxes:
            reference = self.frames.link_of(box.word("gearbox_reference_body"), box)
            axes = self._turns(box), self._turns(box, "axis2")
            couplings.add_gearbox(box, reference, self._ends(box), axes)

    def _turns(self, joint: Element, tag: str = "axis") -> Array:
        """An axis of a joint in the frame of the model, (3,)."""
        return self.frames.joint(joint.text("name")).rotation @ direction(self._axis(joint, tag))

    def _add_actuators(self) -> None:
        """Joints with an effort limit above zero; there is no other sign of an actuator in SDF."""
        self.spec.actuate()
        passive = []
        for name, carriers in self.carriers.items():
            axes = _driven_axes(self.joints[name]) if carriers else []
            names = (
                carriers if len(axes) == 1 else [f"{carriers[0]}.angle{k}" for k in range(1, 1 + len(axes))]
            )
            for coordinate, axis in zip(names, axes, strict=True):
                limit = axis.first("limit")
                effort = -1.0 if limit is None else bound(limit, "effort", -1.0)
                if effort > 0.0:
                    self.spec.actuate(coordinate, limits=effort_limits(effort))
                else:
                    passive.append(coordinate)
        note_passive(passive, "an effort limit", self.omitted)


def _back(joint: Joint, start: tuple[float, ...]) -> Pose:
    """Moves the joint frame back by its position as drawn."""
    pose, q = Pose(), list(start)
    if len(start) != sum(NODE_NQ[node.kind] for node in joint.primitives()):
        return pose
    for node in joint.primitives():
        n = NODE_NQ[node.kind]
        pose, q = pose @ moved(node, np.array(q[:n])), q[n:]
    return pose.inverse()


def _driven_axes(joint: Element) -> list[Element]:
    """The axes of a joint that an actuator can drive; none where it is a ball or mimics another."""
    axes = [axis for tag in ("axis", "axis2") for axis in joint.all(tag)[:1]]
    mimics = any(axis.first("mimic") for axis in axes)
    return [] if joint.text("type") == "ball" or mimics else axes
