"""URDF -> MechanismSpec, read by a small parser of our own.

Links and joints keep their names. `<mimic>` becomes a `Coupling`, `<dynamics>` damping and friction,
`<limit>` joint limits and actuator limits, `<transmission>` says which joints are actuated, and the
`<loop_joint>` dialect (two `<link1>`, `<link2>` frames and an axis in the first) becomes a closed loop.
Where there are no transmissions, joints with an effort limit are actuated. `<default_state>` gives the rest
pose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sarrus.constraints.couplings import Coupling
from sarrus.errors import InputError, require_known, unknown_name
from sarrus.formats.collisions.hulls import CORNERS, corners_wanted
from sarrus.formats.collisions.read_collisions import CollisionReader
from sarrus.formats.reading.file_spec import LOOP_TOLERANCE, FileSpec
from sarrus.formats.reading.joint_limits import ENDLESS, effort_limits, limit_ends, note_degrees, note_passive
from sarrus.formats.reading.link_frames import GROUND, Links, TreeJoint, named
from sarrus.formats.reading.markup import Element, parse
from sarrus.formats.reading.meshes import Places
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.reading.outside import Outside
from sarrus.formats.urdf.collisions import read_collisions
from sarrus.formats.urdf.constraints import TAG, read_constraint
from sarrus.formats.urdf.extras import find_meshes, note_extras, reflected_rotor
from sarrus.formats.urdf.inertia import HERE, Inertia, check_inertia, grains, inertia_of, lumped, pose_of
from sarrus.formats.urdf.loops_yaml import CLOSED_BY, LoopsFile, loops_beside
from sarrus.formats.urdf.tree import by_name, ends_of, tree_order
from sarrus.formats.urdf.visuals import read_visuals
from sarrus.formats.writing.kept_declarations import URDF_TAG, ReadDeclarations
from sarrus.models.base.pose import Pose
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

Axis = str | tuple[float, ...]
TREE_JOINTS: dict[str, Callable[[Axis], Joint]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "planar": Planar,
    "floating": lambda _: Free(),
    "spherical": lambda _: Spherical(),
    "fixed": lambda _: Fixed(),
}
LOOP_JOINTS = {k: make for k, make in TREE_JOINTS.items() if k != "floating"} | {
    "cylindrical": Cylindrical,
    "universal": Universal,
    "helical": Helical,
}
BESIDE = ".loops.xml"  # ends the name of the file with the loops that `save` writes beside a URDF
ONE_COORDINATE = ("revolute", "continuous", "prismatic")
ROOTS = ("fixed", "free")
WORLD = "world"  # a root link of this name is the ground; Drake wants no <link> for it
DEFAULT_AXIS = (1.0, 0.0, 0.0)
UNIT = 1e-3  # deviation of an axis from unit length that is worth a word


@dataclass(frozen=True)
class UrdfOptions:
    """How to read a URDF.

    Attributes:
        root: "fixed" welds the root link to the ground, "free" lets it float (a Free joint).
        packages: Folders that package:// addresses are looked up in.
        gravity: Gravity [m/s^2], (3,); None: what `save` kept in the file, else (0, 0, -9.81).
        loop_tolerance: Largest misfit of loops that is corrected [rad], or times L [m].
        strict: Whether constraints and actuators that are not modelled are an error.
        contacts: Whether collision shapes become surfaces and pairs.
        hull_corners: How many corners hulls of collision meshes keep; None: all.
        outside: Whether, or in which further folders, meshes outside of its own folder may be opened.
    """

    root: str = "fixed"
    packages: str | Path | Sequence[str | Path] = ()
    gravity: tuple[float, float, float] | None = None
    loop_tolerance: float = LOOP_TOLERANCE
    strict: bool = False
    contacts: bool = False
    hull_corners: int | None = CORNERS
    outside: Outside = False

    def __post_init__(self) -> None:
        corners_wanted(self.hull_corners)
        if not isinstance(self.root, str) or self.root not in ROOTS:
            raise InputError(f"root must be one of {', '.join(map(repr, ROOTS))}, got {self.root!r}.")

    @property
    def folders(self) -> list[Path]:
        """`packages` as paths."""
        if isinstance(self.packages, str | Path):
            return [Path(self.packages)]
        return [Path(folder) for folder in self.packages]


def read_urdf(robot: Element, folder: Path | None, options: UrdfOptions) -> FileSpec:
    """Read a URDF.

    Args:
        robot: Its root element, <robot>.
        folder: Where the file is, for meshes; None for text that is not in a file.
        options: How to read it.

    Returns:
        A description that more loops, forces and actuators can be added to.

    Raises:
        FormatError: With the line and the reason.
    """
    omitted = Omitted()
    beside = None if folder is None else folder / f"{Path(robot.source).stem}{BESIDE}"
    if beside is not None and beside.is_file():
        robot.children += parse(beside.read_bytes(), beside.name).children
    loops = None if folder is None else loops_beside(folder / robot.source)
    for joint in robot.all("joint") if loops is not None else ():
        kind = loops.joints.get(joint.attributes.get("name", "")) if loops else None
        joint.attributes |= {"type": kind} if kind else {}
    kept = ReadDeclarations(robot.first(URDF_TAG))
    kept.merge_balls(robot)
    note_extras(robot, omitted, options.contacts)
    meshes = find_meshes(robot, Places(folder, options.folders, options.outside), omitted)
    reader = _Reader(robot, options, omitted, kept)
    spec = reader.read(loops)
    spec.visuals = read_visuals(robot, reader.body_of_link, meshes)
    if options.contacts:
        reader.add_contacts(meshes)
    omitted.warn(robot.source, options.strict)
    spec.omitted = omitted.listed()
    return spec


class _Reader:
    """One reading of one robot."""

    def __init__(
        self, robot: Element, options: UrdfOptions, omitted: Omitted, kept: ReadDeclarations
    ) -> None:
        self.robot, self.options, self.omitted, self.kept = robot, options, omitted, kept
        self.spec = FileSpec(
            kept.gravity if options.gravity is None else options.gravity,
            robot.attributes.get("name", "").strip() or "robot",
            options.loop_tolerance,
        )
        self.links = by_name(robot.all("link"))
        self.joints = by_name(robot.all("joint"))
        if not self.links:
            robot.fail("a robot needs at least one <link>")
        if WORLD not in self.links and any(ends_of(joint)[0] == WORLD for joint in self.joints.values()):
            self.links[WORLD] = Element("link", {"name": WORLD}, robot.line, robot.source)
        self.root, self.order = tree_order(robot, self.links, self.joints)
        self.tree = Links(self.spec, tuple(self.links), omitted)
        self.body_of_link = {name: name for name in self.links}
        self.body_of_joint: dict[str, str] = {}
        if GROUND in self.links and (self.root != GROUND or options.root == "free"):
            self.body_of_link[GROUND] = claim("ground_link", self.tree.taken)
            omitted.remark(f"link {GROUND!r} is called 'ground_link' here, because the world has its name")
        if self.root == WORLD and options.root == "fixed":
            self.body_of_link[WORLD] = GROUND
        self.origins = {child: pose_of(joint.first("origin")) for joint, _, child in self.order}
        self.inertias, self.armature = self._inertias()
        self.rotors = dict(map(reflected_rotor, robot.all("transmission")))

    def read(self, loops: LoopsFile | None) -> FileSpec:
        """The description; loops: what a file beside it says."""
        self._add_root()
        for joint, parent, child in self.order:
            self._add_joint(joint, parent, child)
        for joint in self.joints.values():
            self._add_mimic(joint)
        for loop in self.robot.all("loop_joint"):
            self._add_loop(loop)
        for constraint in self.robot.all(TAG):
            self._add_constraint(constraint)
        self._add_actuators()
        if loops is not None:
            self._add_beside(loops)
        self.kept.declare(self.spec, self.body_of_link)
        self._add_state()
        return self.spec

    def add_contacts(self, meshes: Mapping[str, str]) -> None:
        """Surfaces and pairs: those that `save` kept, else of the collision shapes of the links."""
        if self.kept.surfaces(self.spec, self.body_of_link):
            return
        found = CollisionReader(self.spec, self.omitted, self.options.hull_corners)
        self._note_neighbours(found)
        read_collisions(self.robot, self.body_of_link, meshes, found)
        found.declare(lambda one, two: True)

    def _note_neighbours(self, found: CollisionReader) -> None:
        """Which links are fixed to each other or joined."""
        bodies = self.body_of_link
        if self.options.root == "fixed" and bodies[self.root] != GROUND:
            found.fix(bodies[self.root], GROUND)
        for joint, parent, child in self.order:
            note = found.fix if _kind(joint, TREE_JOINTS) == "fixed" else found.join
            note(bodies[child], bodies[parent])
        for tag, ends in (("loop_joint", ("link1", "link2")), (TAG, ("parent", "child"))):
            for loop in self.robot.all(tag):
                found.join(*(bodies[loop.one(end).text("link")] for end in ends))

    def _inertias(self) -> tuple[dict[str, Inertia], dict[str, float]]:
        """Inertias of the links, and the armature of joints that carry none."""
        inertias = {name: inertia_of(link) for name, link in self.links.items()}
        place = {self.root: ("" if self.options.root == "fixed" else self.root, HERE)}
        edges = []
        for joint, parent, child in self.order:
            fixed = _kind(joint, TREE_JOINTS) == "fixed"
            first, X = place[parent]
            place[child] = (first, X @ self.origins[child]) if fixed else (child, HERE)
            known = fixed or self.kept.has_armature(joint.text("name"))
            edges.append(("" if known else joint.text("name"), parent, child))
        welds: dict[str, list[tuple[str, Pose]]] = {}
        for link, (first, X) in place.items():
            welds.setdefault(first, []).append((link, X))
        whole = lumped(inertias, welds, self.omitted)
        for name, one in whole.items():
            if not one.is_nothing:
                where = self.links[name].first("inertial") or self.links[name]
                check_inertia(where, name, one.mass, one.tensor)
        return whole, grains(whole, edges, welds, self.omitted)

    def _add_root(self) -> None:
        link, name = self.links[self.root], self.body_of_link[self.root]
        free = self.options.root == "free"
        if not free and all(_kind(joint, TREE_JOINTS) == "fixed" for joint, _, _ in self.order):
            self.robot.fail("no joint of it moves; load it with root='free' to let it float")
        if name != GROUND:
            with link.context():
                joint = Free() if free else Fixed()
                self.spec.body(name, parent=GROUND, joint=joint, **self.inertias[self.root].arguments())

    def _add_joint(self, joint: Element, parent: str, child: str) -> None:
        name, kind = joint.text("name"), _kind(joint, TREE_JOINTS)
        at, inertia = self.origins[child], self.inertias[child].arguments()
        bodies = self.body_of_link[child], self.body_of_link[parent]
        with joint.context():
            if kind == "fixed":
                self.tree.mount(*bodies, (), at, inertia)
                return
            made = TREE_JOINTS[kind](_axis(joint, self.omitted))
            chain = (TreeJoint(name, made, at, self._properties(joint, kind)),)
            self.body_of_joint[name] = self.tree.mount(*bodies, chain, HERE, inertia)[-1]

    def _properties(self, joint: Element, kind: str) -> dict[str, Any]:
        """Damping, friction and limits; those of joints with several coordinates hold for each of them."""
        rotor = self.rotors.get(joint.text("name"), 0.0)
        properties: dict[str, Any] = {"armature": self.armature.get(joint.text("name"), 0.0) + rotor}
        properties |= self.kept.of_joint(TREE_JOINTS[kind]("x"), joint.text("name"))
        dynamics, limit = joint.first("dynamics"), joint.first("limit")
        if dynamics is not None:
            properties["damping"] = dynamics.number("damping", 0.0)
            properties["friction"] = dynamics.number("friction", 0.0)
        if limit is not None:
            if 0.0 < limit.number("velocity", 0.0) < ENDLESS:
                self.omitted.count("velocity limit", 1)
            if kind in ("revolute", "prismatic") and {"lower", "upper"} & limit.attributes.keys():
                lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
                if lower > upper:
                    limit.fail(f"lower must not exceed upper, got {lower:g} and {upper:g}")
                if kind == "revolute":
                    note_degrees(joint, (lower, upper), self.omitted)
                if lower < upper:
                    properties["limits"] = limit_ends(lower, upper)
                else:
                    self.omitted.add("limit with lower = upper", joint.text("name"))
        for tag in ("safety_controller", "calibration"):
            self.omitted.count(tag, len(joint.all(tag)))
        return properties

    def _add_mimic(self, joint: Element) -> None:
        mimic = joint.first("mimic")
        if mimic is None:
            return
        name, leader = joint.text("name"), mimic.text("joint")
        if leader not in self.joints:
            mimic.fail(str(unknown_name("joint", leader, self.joints)).rstrip("."))
        if leader == name:
            mimic.fail("a joint cannot mimic itself")
        for each in (joint, self.joints[leader]):
            if _kind(each, TREE_JOINTS) not in ONE_COORDINATE:
                self.omitted.drop("mimic between joints that are not revolute or prismatic", name)
                return
        # q - multiplier q_leader = offset
        follower, leading = self.body_of_joint[name], self.body_of_joint[leader]
        terms, multiplier = {follower: 1.0}, mimic.number("multiplier", 1.0)
        if multiplier != 0.0:
            terms[leading] = -multiplier
        with mimic.context():
            self.spec.constrain(f"{name}.mimic", Coupling(terms, offset=mimic.number("offset", 0.0)))

    def _add_loop(self, loop: Element) -> None:
        kind = _kind(loop, LOOP_JOINTS)
        ends = [loop.one("link1"), loop.one("link2")]
        for end in ends:
            if end.text("link") not in self.links:
                end.fail(str(unknown_name("link", end.text("link"), self.links)).rstrip("."))
        with loop.context():
            name, joint = loop.text("name"), _loop_joint(loop, kind, self.omitted)
            a, b = (self.body_of_link[end.text("link")] for end in ends)
            gone = tuple(loop.text("left_out", "").split())
            at_a, at_b = map(pose_of, ends)
            self.spec.close(name, a, b, joint, at_a=at_a, at_b=at_b, left_out=gone)

    def _add_constraint(self, element: Element) -> None:
        """A loop by `<constraint>`."""
        with element.context():
            loop = read_constraint(element, LOOP_JOINTS)
            for link in loop.links:
                require_known("link", link, self.links, "<constraint>")
            a, b = (self.body_of_link[link] for link in loop.links)
            at_a, at_b = loop.at
            name, gone = element.text("name"), loop.left_out
            self.spec.close(name, a, b, loop.joint, at_a=at_a, at_b=at_b, left_out=gone)

    def _add_beside(self, loops: LoopsFile) -> None:
        """Loops and motors by the YAML file beside the URDF."""
        for i, ((a, b), kind) in enumerate(zip(loops.pairs, loops.kinds, strict=True), start=1):
            for link in (a, b):
                require_known("link", link, self.links, "closed_loop of the YAML file")
            self.spec.close(f"closed_loop{i}", self.body_of_link[a], self.body_of_link[b], CLOSED_BY[kind]())
        if loops.motors is not None:
            self.spec.actuate()
            for name in loops.motors:
                require_known("joint", name, self.body_of_joint, "name_mot of the YAML file")
                self.spec.actuate(self.body_of_joint[name], limits=self._effort_of(name))

    def _effort_of(self, name: str) -> tuple[float, float] | None:
        limit = self.joints[name].first("limit")
        return effort_limits(0.0 if limit is None else limit.number("effort", 0.0))

    def _add_state(self) -> None:
        """Positions of `<default_state>`, which `save` writes."""
        state = self.robot.first("default_state")
        for entry in () if state is None else state.all("position"):
            body = self.body_of_joint.get(entry.text("joint"))
            if body is None:
                entry.fail(str(unknown_name("joint", entry.text("joint"), self.body_of_joint)).rstrip("."))
            n = len(entry.text("value").split())
            self.spec.rest[body] = entry.vector("value", n)

    def _add_actuators(self) -> None:
        """Joints of transmissions if there are any, else those with an effort that do not mimic others."""
        passive: list[str] = []
        driven = {
            end.text("name") for one in self.robot.all("transmission") for end in one.all("joint")
        } & self.body_of_joint.keys()
        for name, body in self.body_of_joint.items():
            joint = self.joints[name]
            if _kind(joint, TREE_JOINTS) == "floating" or (driven and name not in driven):
                continue
            if not driven and joint.first("mimic") is not None:
                continue
            limit = joint.first("limit")
            effort = 0.0 if limit is None else limit.number("effort", 0.0)
            if not driven and effort <= 0.0:
                passive.append(name)
                continue
            with joint.context():
                self.spec.actuate(body, limits=effort_limits(effort))
        if self.spec.actuated is None:
            self.spec.actuate()
        note_passive(passive, "a transmission or an effort limit", self.omitted)


def _loop_joint(loop: Element, kind: str, omitted: Omitted) -> Joint:
    axis = _axis(loop, omitted)
    if kind == "universal":
        return Universal(axis, named(loop.one("axis2").vector("xyz", 3)))
    if kind == "helical":
        return Helical(axis, loop.one("axis").number("pitch"))
    return LOOP_JOINTS[kind](axis)


def _kind(joint: Element, known: Mapping[str, object]) -> str:
    kind = joint.text("type")
    if kind not in known:
        joint.fail(f"unknown joint type {kind!r}; known types: {', '.join(known)}")
    return kind


def _axis(joint: Element, omitted: Omitted) -> Axis:
    axis = joint.first("axis")
    if axis is None:
        return named(DEFAULT_AXIS)
    xyz = axis.vector("xyz", 3, DEFAULT_AXIS)
    length = math.hypot(*xyz)
    if length < 1e-6 and joint.text("type") not in ("fixed", "floating", "spherical"):
        axis.fail(f"the axis must have a direction, got xyz {xyz}")
    if abs(length - 1.0) > UNIT and joint.text("type") in (*ONE_COORDINATE, "planar"):
        omitted.remark(f"the axis of {joint.text('name')!r} is not of unit length and was normalised")
    return named(xyz)
