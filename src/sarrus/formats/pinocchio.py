"""A Pinocchio model -> MechanismSpec.

Joints keep their names, order and placements, so q and v are Pinocchio's own, with three exceptions: an
unbounded revolute joint is one angle here (there cosine and sine), a planar joint has its velocity in the
plane's axes (there in the body's), and a mimic joint is a coordinate of its own held by a `Coupling`.
Frames of bodies and operational frames become fixed bodies without mass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sarrus.arrays import names
from sarrus.constraints.couplings import Coupling
from sarrus.errors import require_all_known
from sarrus.formats.reading.file_spec import FileSpec
from sarrus.formats.reading.link_frames import GROUND, Links, TreeJoint
from sarrus.formats.reading.messages import FormatError, Omitted
from sarrus.models.base.pose import Pose
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Fixed, Free, Helical, Planar, Prismatic, Revolute, Spherical, Universal

UNLIMITED = 1e30
SOURCE = "pinocchio model"


def read_pinocchio(
    model: Any, constraint_models: Iterable[Any] = (), actuated: Iterable[str] | None = None
) -> FileSpec:
    """Description of a Pinocchio model and its constraints.

    Args:
        model: A `pinocchio.Model`.
        constraint_models: Rigid constraint models of type CONTACT_3D (a ball) or CONTACT_6D (a weld), or
            point and frame anchors.
        actuated: Names of joints or coordinates with actuators; None: all joints but free ones.

    Returns:
        A description that more loops, forces and actuators can be added to.

    Raises:
        FormatError: For a joint or constraint that has no counterpart here.
    """
    omitted = Omitted()
    reader = _Reader(model, omitted)
    for index in range(1, model.njoints):
        reader.add_joint(index)
    reader.add_frames()
    for constraint in constraint_models:
        reader.add_constraint(constraint)
    reader.actuate(actuated)
    if np.any(model.rotorInertia) and not np.any(model.armature):
        omitted.add("rotor inertia (Pinocchio's algorithms use armature only)")
    omitted.warn(f"{SOURCE} {model.name!r}" if model.name else SOURCE)
    reader.spec.omitted = omitted.listed()
    return reader.spec


def _pose(placement: Any) -> Pose:
    rotation = np.array(placement.rotation)
    turned = None if np.array_equal(rotation, np.eye(3)) else rotation
    return Pose(np.array(placement.translation), matrix=turned)


class _Reader:
    """One reading of one model."""

    def __init__(self, model: Any, omitted: Omitted) -> None:
        self.model, self.omitted = model, omitted
        self.spec = FileSpec(np.array(model.gravity.linear), model.name.strip() or "pinocchio model")
        self.links = Links(self.spec, (), omitted)
        self.bodies = [GROUND]
        self.constraint_names: set[str] = set()
        self.efforts: dict[str, tuple[float, float] | None] = {}  # limits by coordinate
        self.driven: dict[str, tuple[str, ...]] = {}  # coordinates of the joints that may have actuators

    def add_joint(self, index: int) -> None:
        """One joint with the inertia of all that is fixed to it."""
        model = self.model
        name = claim(model.names[index], self.links.taken)
        parts = list(_parts(model, index))
        at = _pose(model.jointPlacements[index])
        chain, k = [], 0
        for i, (joint, placement) in enumerate(parts):
            own = name if len(parts) == 1 else f"{name}_{i + 1}"
            properties = self._properties(index, joint, k)
            chain.append(TreeJoint(own, joint, at @ placement, properties))
            at, k = Pose(), k + joint.nv
        parent = self.bodies[int(model.parents[index])]
        carriers = self.links.mount(name, parent, chain, Pose(), self._inertia(index))
        self.bodies.append(name)
        if int(model.nvs[index]) == 0:
            self._add_mimic(index, carriers[0])
            self.efforts[carriers[0]] = None
            return
        column = int(model.idx_vs[index])
        for carrier, tree_joint in zip(carriers, chain, strict=True):
            joint = tree_joint.joint
            called = joint.coordinate_names(carrier)
            self.efforts |= {one: self._effort(column + k) for k, one in enumerate(called)}
            self.driven |= {} if isinstance(joint, Free) else {carrier: called}
            column += joint.nv

    def _inertia(self, index: int) -> dict[str, Any]:
        inertia = self.model.inertias[index]
        com = tuple(np.array(inertia.lever).tolist())
        return {"mass": float(inertia.mass), "com": com, "inertia": np.array(inertia.inertia)}

    def _properties(self, index: int, joint: Joint, k: int) -> dict[str, Any]:
        """Armature, damping, friction and limits of the coordinates k ... k + nv of a joint."""
        model = self.model
        if int(model.nvs[index]) == 0:
            return {}
        columns = slice(int(model.idx_vs[index]) + k, int(model.idx_vs[index]) + k + joint.nv)
        properties: dict[str, Any] = {
            name: tuple(np.array(getattr(model, name)[columns]).tolist())
            for name in ("armature", "damping", "friction")
        }
        inertia = properties["armature"]
        if joint.has_quaternion and (any(inertia[:-3]) or len(set(inertia[-3:])) > 1):
            self.omitted.add("armature of a free joint, or unequal ones of a ball", model.names[index])
            properties["armature"] = 0.0
        if isinstance(joint, Planar) and any(x[0] != x[1] for x in properties.values()):
            self.omitted.add(
                "armature or losses of a planar joint that differ along x and y", model.names[index]
            )
        if int(model.nqs[index]) == int(model.nvs[index]):
            first = int(model.idx_qs[index]) + k
            limits = [
                (_bound(model.lowerPositionLimit[i]), _bound(model.upperPositionLimit[i]))
                for i in range(first, first + joint.nv)
            ]
            properties["limits"] = limits[0] if joint.nv == 1 else tuple(limits)
        return properties

    def _effort(self, column: int) -> tuple[float, float] | None:
        effort = float(self.model.effortLimit[column])
        return (-effort, effort) if 0.0 < effort < UNLIMITED else None

    def actuate(self, asked: Iterable[str] | None) -> None:
        """Declare actuators, of all joints but free ones where nothing is asked, with the model's limits."""
        self.spec.actuate()
        for name in self.driven if asked is None else names(asked, "actuated"):
            each = self.driven.get(name, (name,))
            require_all_known("joint or coordinate", each, [*self.driven, *self.efforts], "actuated")
            for coordinate in each:
                self.spec.actuate(coordinate, limits=self.efforts[coordinate])

    def _add_mimic(self, index: int, body: str) -> None:
        """q = scaling q_leader + offset."""
        followers, leaders = (
            [int(i) for i in x] for x in (self.model.mimicking_joints, self.model.mimicked_joints)
        )
        leader = leaders[followers.index(index)]
        mimic = self.model.joints[index].extract()
        terms = {body: 1.0, self.bodies[leader]: -float(mimic.scaling)}
        self.spec.constrain(f"{body}.mimic", Coupling(terms, offset=float(mimic.offset)))

    def add_frames(self) -> None:
        """Bodies and operational frames, unless a joint has their name."""
        for frame in self.model.frames:
            kind = str(frame.type)
            if kind not in ("BODY", "OP_FRAME") or frame.name in self.links.taken or not frame.name:
                continue
            parent = self.bodies[int(frame.parentJoint)]
            self.spec.body(
                claim(frame.name, self.links.taken), parent=parent, joint=Fixed(), at=_pose(frame.placement)
            )

    def add_constraint(self, constraint: Any) -> None:
        """A ball or a weld between two frames."""
        if hasattr(constraint, "extract"):
            constraint = constraint.extract()
        joint = _constraint_joint(constraint)
        if joint is None:
            self.omitted.drop(type(constraint).__name__, constraint.name)
            return
        a, b = self.bodies[int(constraint.joint1_id)], self.bodies[int(constraint.joint2_id)]
        name = claim(constraint.name or f"{a}-{b}", self.constraint_names)
        at_a, at_b = _pose(constraint.joint1_placement), _pose(constraint.joint2_placement)
        self.spec.close(name, a, b, joint, at_a, at_b)


def _bound(value: float) -> float | None:
    return float(value) if abs(value) < UNLIMITED else None


def _constraint_joint(constraint: Any) -> Joint | None:
    kind = str(getattr(constraint, "type", type(constraint).__name__))
    if kind in ("CONTACT_3D", "PointAnchorConstraintModel"):
        return Spherical()
    if kind in ("CONTACT_6D", "FrameAnchorConstraintModel"):
        return Fixed()
    return None


def joint_parts(model: Any, index: int) -> Iterator[Joint]:
    """The joints of ours that a joint of Pinocchio becomes."""
    return (joint for joint, _ in _parts(model, index))


def _parts(model: Any, index: int) -> Iterator[tuple[Joint, Pose]]:
    """The joints of ours that a joint of Pinocchio becomes, with the placement of each on the one before."""
    joint = model.joints[index].extract()
    kind = joint.shortname()
    if kind == "JointModelMimic":
        yield _mimicking(model, index, str(joint)), Pose()
    elif kind == "JointModelComposite":
        for k, part in enumerate(joint.joints):
            placement = _pose(joint.jointPlacements[k])
            for piece in _simple(part.extract(), model.names[index]):
                yield piece, placement
                placement = Pose()
    else:
        for piece in _simple(joint, model.names[index]):
            yield piece, Pose()


_SHORT = {"R": Revolute, "RUB": Revolute, "P": Prismatic}
_ALIGNED = {f"JointModel{k}{axis.upper()}": make(axis) for k, make in _SHORT.items() for axis in "xyz"}
_WHOLE: dict[str, tuple[Joint, ...]] = {
    "JointModelSpherical": (Spherical(),),
    "JointModelFreeFlyer": (Free(),),
    "JointModelPlanar": (Planar("z"),),
    "JointModelTranslation": (Prismatic("x"), Prismatic("y"), Prismatic("z")),
    "JointModelSphericalZYX": (Revolute("z"), Revolute("y"), Revolute("x")),
} | {kind: (joint,) for kind, joint in _ALIGNED.items()}


def _simple(joint: Any, name: str) -> tuple[Joint, ...]:
    """Joints of ours for one that is neither composite nor a mimic."""
    kind = joint.shortname()
    if kind in _WHOLE:
        return _WHOLE[kind]
    if re.fullmatch("JointModelH[XYZ]", kind):
        return (Helical(kind[-1].lower(), float(joint.pitch)),)
    if kind == "JointModelRevoluteUnaligned":
        return (Revolute(_vector(joint.axis)),)
    if kind == "JointModelRevoluteUnboundedUnaligned":  # does not tell its axis
        return (Revolute(_vector(np.ravel(joint.createData().S)[3:])),)
    if kind == "JointModelPrismaticUnaligned":
        return (Prismatic(_vector(joint.axis)),)
    if kind == "JointModelHelicalUnaligned":
        return (Helical(_vector(joint.axis), float(joint.pitch)),)
    if kind == "JointModelUniversal":
        return (Universal(_vector(joint.axis1), _vector(joint.axis2)),)
    raise FormatError(f"{SOURCE}: joint {name!r} of type {kind} has no counterpart here.")


def _vector(axis: Any) -> tuple[float, ...]:
    return tuple(np.array(axis).tolist())


def _mimicking(model: Any, index: int, text: str) -> Joint:
    """The joint inside a mimic: its type is printed, its axis is what moves when the leader does."""
    import pinocchio

    found = re.search(r"Mimicking joint type: (JointModel\w+)", text)
    kind = found.group(1) if found else "unknown"
    if kind in _ALIGNED:
        return _ALIGNED[kind]
    if kind not in ("JointModelRevoluteUnaligned", "JointModelPrismaticUnaligned"):
        raise FormatError(
            f"{SOURCE}: mimic joint {model.names[index]!r} of type {kind} has no counterpart here."
        )
    mimic, data = model.joints[index].extract(), model.createData()
    moved = []
    for value in (0.0, 1.0):  # of the mimic's own coordinate
        q = pinocchio.neutral(model)
        q[mimic.idx_q] = (value - mimic.offset) / mimic.scaling
        pinocchio.forwardKinematics(model, data, q)
        moved.append(data.liMi[index].copy())
    twist = pinocchio.log6(moved[0].inverse() * moved[1])
    linear, angular = np.array(twist.linear), np.array(twist.angular)
    return Prismatic(_vector(linear)) if "Prismatic" in kind else Revolute(_vector(angular))
