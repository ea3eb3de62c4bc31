"""USD physics -> FileSpec, read by OpenUSD's own library (extra "usd").

The joints of a stage are a graph. Joints of the articulation carry bodies in the tree; those with
`excludeFromArticulation`, and joints to bodies that are reached already, close loops. Bodies that no joint
leads to are free. Angles in the stage are degrees; lengths and masses are in the units it declares.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sarrus.formats.collisions.hulls import CORNERS, corners_wanted
from sarrus.formats.collisions.read_collisions import CollisionReader
from sarrus.formats.reading.file_spec import LOOP_TOLERANCE, FileSpec
from sarrus.formats.reading.link_frames import GROUND, Links, TreeJoint
from sarrus.formats.reading.messages import FormatError, Omitted
from sarrus.formats.reading.outside import Outside, Reach
from sarrus.formats.usd.collisions import add_contacts
from sarrus.formats.usd.joints import StageJoint, drives_of, joint_of
from sarrus.formats.usd.parts import Stage, mass_of, note_unknown, opened, visual_of
from sarrus.models.base.pose import Pose
from sarrus.models.shapes.visual import Visual
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joints import Fixed, Free

MAGIC = (b"#usda", b"PXR-USDC", b"PK\x03\x04")


@dataclass(frozen=True)
class UsdOptions:
    """How to read a USD stage.

    Attributes:
        gravity: Gravity [m/s^2], (3,); None: that of the stage.
        loop_tolerance: Largest misfit of loops that is corrected [rad], or times L [m].
        strict: Whether constraints and actuators that are not modelled are an error.
        contacts: Whether colliders become surfaces and pairs.
        hull_corners: How many corners hulls of collision meshes keep; None: all.
        outside: Whether, or in which further folders, layers outside of its own folder may be opened.
    """

    gravity: tuple[float, float, float] | None = None
    loop_tolerance: float = LOOP_TOLERANCE
    strict: bool = False
    contacts: bool = False
    hull_corners: int | None = CORNERS
    outside: Outside = False

    def __post_init__(self) -> None:
        corners_wanted(self.hull_corners)


def read_usd(data: bytes, file: Path | None, options: UsdOptions) -> FileSpec:
    """Read the rigid bodies and joints of a stage.

    Args:
        data: Its bytes.
        file: Where it is; None for text that is not in a file.
        options: How to read it.

    Raises:
        FormatError: With the prim and the reason.
    """
    source = "text" if file is None else file.name
    try:
        from pxr import Tf
    except ImportError:
        raise FormatError(
            f"{source}: reading USD needs the usd-core package: pip install sarrus[usd]."
        ) from None
    omitted = Omitted()
    try:
        stage = opened(data, file, source, Reach.of(file, options.outside))
        note_unknown(stage, omitted)
        gravity = stage.gravity() if options.gravity is None else options.gravity
        name = stage.name or (source.split(".")[0] if file else "robot")
        spec = FileSpec(gravity, name, options.loop_tolerance)
        reader = _Reader(stage, spec, omitted)
        reader.read()
        if options.contacts:
            found = CollisionReader(spec, omitted, options.hull_corners)
            add_contacts(stage, reader.joints, reader.bodies, found)
        else:
            omitted.count("collision", len(stage.colliders()))
    except (Tf.ErrorException, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split()).split(" : '", 1)[-1]  # after the place in OpenUSD's own source
        reason = reason.split("' Error in '", 1)[0].strip()  # of several, the first
        raise FormatError(f"{source}: OpenUSD cannot read it: {reason:.300}") from None
    omitted.warn(source, options.strict)
    spec.omitted = omitted.listed()
    return spec


class _Reader:
    """One reading of one stage."""

    def __init__(self, stage: Stage, spec: FileSpec, omitted: Omitted) -> None:
        self.stage, self.spec, self.omitted = stage, spec, omitted
        self.bodies: dict[Any, str] = {}
        taken = {GROUND}
        for prim in stage.bodies:
            self.bodies[prim.GetPath()] = claim(prim.GetName(), taken)
        if not self.bodies:
            raise FormatError(f"{stage.source}: no prim of the stage is a rigid body (PhysicsRigidBodyAPI).")
        self.tree = Links(spec, tuple(self.bodies.values()), omitted)
        found = (joint_of(stage, prim, omitted) for prim in stage.joints)
        self.joints = [joint for joint in found if joint is not None]
        self.carriers: dict[str, dict[str, str]] = {}  # of each joint in the tree, names of its coordinates

    def read(self) -> None:
        for prim, joint in self._order():
            self._add_body(prim, joint)
        for joint in self.joints:
            if joint.name not in self.carriers:
                self._add_loop(joint)
        self._add_actuators()
        for prim in self.stage.frames():
            self._add_frame(prim)
        for prim in self.stage.bodies:
            self.spec.visuals += self._visuals(prim)

    def _visuals(self, prim: Any) -> list[Visual]:
        """The shapes of a body."""
        stage, body = self.stage, self.bodies[prim.GetPath()]
        found = [visual_of(stage, shape, body, prim, self.omitted) for shape in stage.shapes(prim)]
        return list(filter(None, found))

    def _add_frame(self, prim: Any) -> None:
        body, X = self.stage.body_of(prim.GetPath()), self.stage.pose(prim)
        at = X if body is None else self.stage.pose_at(body).inverse() @ X
        self.tree.frame(prim.GetName(), GROUND if body is None else self.bodies[body], at)

    def _order(self) -> Iterator[tuple[Any, StageJoint | None]]:
        """Bodies, each with the joint that carries it, seen from its parent, parents first."""
        reached: set[Any] = {None}
        waiting = [prim.GetPath() for prim in self.stage.bodies]
        prims = {prim.GetPath(): prim for prim in self.stage.bodies}
        tree = [joint for joint in self.joints if not joint.excluded]
        while waiting:
            joint = next((one for joint in tree if (one := _outwards(joint, reached, waiting))), None)
            path = waiting[0] if joint is None else joint.b
            reached.add(path)
            waiting.remove(path)
            yield prims[path], joint

    def _add_body(self, prim: Any, joint: StageJoint | None) -> None:
        body, X_body = self.bodies[prim.GetPath()], self.stage.pose(prim)
        inertia = mass_of(self.stage, prim, self.omitted)
        if self.stage.is_kinematic(prim):
            self.tree.mount(body, GROUND, (), X_body, inertia)
        elif joint is None:
            chain = (TreeJoint(body, Free(), Pose(), {}),)
            carrier = self.tree.mount(body, GROUND, chain, Pose(), inertia)[0]
            self.spec.rest[carrier] = (*X_body.xyz.tolist(), *X_body.quat.tolist())
        else:
            parent = GROUND if joint.a is None else self.bodies[joint.a]
            self._add_jointed(body, parent, joint, X_body, inertia)

    def _add_jointed(
        self, body: str, parent: str, joint: StageJoint, X_body: Pose, inertia: dict[str, Any]
    ) -> None:
        """A body on a joint of the articulation, which may be a chain of several here."""
        called, chain, offset = self.carriers.setdefault(joint.name, {}), joint.chain, joint.at_b.inverse()
        if not chain:
            self.tree.mount(body, parent, (), joint.at_a @ offset, inertia)
            return
        mounted = [TreeJoint(name, made, Pose(), joint.properties(name, made)) for name, made in chain]
        mounted[0] = replace(mounted[0], at=joint.at_a)
        carriers = self.tree.mount(body, parent, mounted, offset, inertia)
        X_parent = Pose() if joint.a is None else self.stage.pose_at(joint.a)
        for carrier, one, rest in zip(carriers, mounted, joint.rest(X_parent, X_body), strict=True):
            self.spec.rest[carrier] = rest
            names = one.joint.coordinate_names(one.name), one.joint.coordinate_names(carrier)
            called |= dict(zip(*names, strict=True))

    def _add_loop(self, joint: StageJoint) -> None:
        a, b = (GROUND if end is None else self.bodies[end] for end in (joint.a, joint.b))
        if len(joint.parts) > 1:
            self.omitted.drop("loop of a joint with freedoms that no joint here has", joint.name)
            return
        name = claim(joint.name, {one for one, _ in self.spec.constraints})
        made = joint.parts[0].joint if joint.parts else Fixed()
        self.spec.close(name, a, b, made, joint.at_a, joint.at_b)

    def _add_actuators(self) -> None:
        self.spec.actuate()
        count = 0
        for joint in self.joints:
            called = self.carriers.get(joint.name, {})
            for drawn, law, limits in drives_of(self.stage, joint, self.omitted):
                coordinate = called.get(drawn)
                if coordinate is None:
                    self.omitted.drop("drive of a joint that closes a loop", joint.name)
                    continue
                self.spec.actuate(coordinate, limits=limits)
                self.spec.laws[coordinate] = (
                    replace(law, name=joint.name if len(called) == 1 else coordinate),
                )
                count += 1
        if not count:
            self.omitted.remark("it has no drives; spec.actuate(...) of load_spec declares actuators")


def _outwards(joint: StageJoint, reached: Container[Any], waiting: Container[Any]) -> StageJoint | None:
    """A joint from a body that is reached to one that waits, turned round where it must be; else None."""
    if joint.a in reached and joint.b in waiting:
        return joint
    return joint.reversed() if joint.b in reached and joint.a in waiting else None
