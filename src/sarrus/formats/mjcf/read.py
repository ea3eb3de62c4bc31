"""MJCF -> FileSpec, through the `mujoco` package's own compiler.

The compiled model is read, so defaults, includes, degrees, inertias from geoms and attached models are
already resolved. Coordinates agree with MuJoCo's qpos: a joint's `ref` is turned into its frame, a free
joint keeps world coordinates (with the quaternion's scalar last).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.errors import SarrusError, require_known
from sarrus.formats.collisions.hulls import CORNERS, corners_wanted
from sarrus.formats.mjcf.actuators import add_actuators, reflected
from sarrus.formats.mjcf.compile import compile_file, compiled
from sarrus.formats.mjcf.contacts import add_contacts
from sarrus.formats.mjcf.loops import add_equalities
from sarrus.formats.mjcf.scan import check_sizes, note_extras
from sarrus.formats.mjcf.sensors import read_sensors
from sarrus.formats.mjcf.sites import HELPING, site_frame, sites_in_use, wxyz_pose
from sarrus.formats.mjcf.tendons import Tendons
from sarrus.formats.mjcf.visuals import read_visuals
from sarrus.formats.reading.file_spec import LOOP_TOLERANCE, FileSpec
from sarrus.formats.reading.joint_limits import limit_ends
from sarrus.formats.reading.link_frames import GROUND, Links, TreeJoint, named
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import FormatError, Omitted
from sarrus.formats.reading.outside import Outside, Reach
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import ConstantWrench, JointSpring
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Free, Prismatic, Revolute, Spherical

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # mjtJoint


@dataclass(frozen=True)
class MjcfOptions:
    """How to read an MJCF.

    Attributes:
        keyframe: Name of the keyframe to take the rest pose from; None: qpos0, as the bodies are drawn.
        contacts: Whether collision geometry becomes surfaces and pairs.
        hull_corners: How many corners hulls of collision meshes keep; None: all.
        loop_tolerance: Largest misfit of loops that is corrected [rad], or times L [m].
        strict: Whether constraints and actuators that are not modelled are an error.
        outside: Whether, or in which further folders, files outside of its own folder may be opened.
    """

    keyframe: str | None = None
    contacts: bool = False
    hull_corners: int | None = CORNERS
    loop_tolerance: float = LOOP_TOLERANCE
    strict: bool = False
    outside: Outside = False

    def __post_init__(self) -> None:
        corners_wanted(self.hull_corners)


def read_mjcf(root: Element, data: bytes, path: Path | None, options: MjcfOptions) -> FileSpec:
    """Read an MJCF model.

    Args:
        root: Its root element, <mujoco>.
        data: Content of the file.
        path: Where the file is, for includes and meshes; None for text that is not in a file.
        options: How to read it.

    Returns:
        A description that more loops, forces and actuators can be added to.

    Raises:
        FormatError: With the line and the reason.
    """
    check_sizes(root, None if path is None else path.parent, Reach.of(path, options.outside))
    omitted = Omitted()
    model = compile_file(data, root.source, path, omitted)
    name = root.attributes.get("model", "").strip() or "MuJoCo model"
    try:
        spec = _convert(model, name, options, omitted)
    except SarrusError as error:
        raise FormatError(f"{root.source}: {error}") from None
    omitted.warn(root.source, options.strict)
    spec.omitted = omitted.listed()
    return spec


def read_mujoco(model: Any, options: MjcfOptions) -> FileSpec:
    """Description of a `mujoco.MjModel` or `mujoco.MjSpec`.

    Raises:
        FormatError: With the reason.
    """
    kind, omitted = type(model).__name__, Omitted()
    if kind not in ("MjModel", "MjSpec"):
        raise FormatError(
            f"from_mujoco takes a mujoco.MjModel or a mujoco.MjSpec, got {kind}; load takes files and text."
        )
    if kind == "MjSpec":
        model = compiled(model.compile, "MjSpec", omitted)
    name = bytes(model.names).split(b"\0", 1)[0].decode(errors="replace").strip() or "MuJoCo model"
    try:
        spec = _convert(model, name, options, omitted)
    except SarrusError as error:
        raise FormatError(f"{kind}: {error}") from None
    omitted.warn(name, options.strict)
    spec.omitted = omitted.listed()
    return spec


def _convert(model: Any, name: str, options: MjcfOptions, omitted: Omitted) -> FileSpec:
    """Description of a compiled `mujoco.MjModel`; what is not modelled goes to `omitted`."""
    import mujoco

    off = int(model.opt.disableflags)
    gravity = model.opt.gravity * (0.0 if off & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY) else 1.0)
    spec = FileSpec(gravity, name, options.loop_tolerance)
    reader = _Reader(model, spec, omitted)
    for body in range(1, model.nbody):
        reader.add_body(body)
    reader.add_frames()
    rest = _rest(model, options.keyframe)
    for joint in range(model.njnt):
        reader.note_rest(joint, rest)
        reader.add_spring(joint)
    reader.add_gravity_compensation(gravity)
    tendons = Tendons(spec, model, reader.bodies, reader.joints, omitted)
    tendons.read(reader.links.taken)
    add_equalities(spec, model, reader.bodies, tendons, omitted)
    add_actuators(spec, model, reader.bodies, tendons, omitted)
    sensors = read_sensors(spec, model, reader.bodies, reader.joints, reader.sites)
    surfaces = 0
    if options.contacts:
        surfaces = add_contacts(spec, model, reader.bodies, omitted, options.hull_corners)
    note_extras(model, rest, omitted, sensors=sensors, surfaces=surfaces)
    spec.visuals = read_visuals(model, reader.bodies)
    return spec


class _Reader:
    """One reading of one compiled model.

    Attributes:
        bodies: What its bodies are called here.
        joints: What its joints are called here, by their index.
        sites: What its sites are called here, those that are frames.
    """

    def __init__(self, model: Any, spec: FileSpec, omitted: Omitted) -> None:
        self.model, self.spec, self.omitted = model, spec, omitted
        self.bodies = _body_names(model)
        self.joints: dict[int, str] = {}
        self.sites: dict[int, str] = {}
        self.links = Links(spec, self.bodies[1:], omitted)

    def add_body(self, body: int) -> None:
        """A body with its joints; what they are called goes to `joints`."""
        model, name = self.model, self.bodies[body]
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        indices = range(first, first + count)
        at, anchor = wxyz_pose(model.body_pos[body], model.body_quat[body]), np.zeros(3)
        chain = []
        for joint in indices:
            kind = int(model.jnt_type[joint])
            position = model.jnt_pos[joint] if kind != FREE else np.zeros(3)
            at = Pose() if kind == FREE else at @ Pose(position - anchor) @ _reference(model, joint)
            unnamed = name if count == 1 else f"{name}_joint{joint - first + 1}"
            called = name if kind == FREE else model.joint(joint).name or unnamed
            chain.append(TreeJoint(called, _joint(model, joint), at, self._properties(joint)))
            at, anchor = Pose(), position
        offset = at if not chain else Pose(-anchor)
        parent = self.bodies[int(model.body_parentid[body])]
        carriers = self.links.mount(name, parent, chain, offset, _inertia(model, body))
        self.joints.update(zip(indices, carriers, strict=True))

    def add_frames(self) -> None:
        """Sites as frames, but those that `save` writes for ends of loops, springs and wrenches."""
        model, helping = self.model, sites_in_use(self.model)
        for site in range(model.nsite):
            name = model.site(site).name
            if not name or (site in helping and int(model.site_group[site]) == HELPING):
                continue
            body, at = site_frame(model, site)
            self.sites[site] = self.links.frame(name, self.bodies[body], at)

    def note_rest(self, joint: int, rest: Array) -> None:
        """Positions of a joint at the rest pose, where they are not neutral."""
        model, carrier = self.model, self.joints[joint]
        kind, first = int(model.jnt_type[joint]), int(model.jnt_qposadr[joint])
        if kind in (HINGE, SLIDE):
            if rest[first] != 0.0:
                self.spec.rest[carrier] = (float(rest[first]),)
            return
        head = 3 if kind == FREE else 0
        *xyz, w, x, y, z = rest[first : first + head + 4].tolist()
        self.spec.rest[carrier] = (*xyz, x, y, z, w)

    def add_spring(self, joint: int) -> None:
        """The spring of a joint, where it has one."""
        model, name = self.model, self.joints[joint]
        stiffness = float(model.jnt_stiffness[joint])
        polynomial = getattr(model, "jnt_stiffnesspoly", None)
        if polynomial is not None and np.any(polynomial[joint]):
            self.omitted.add("nonlinear joint stiffness", name)
        if float(getattr(model, "jnt_springyield", np.zeros(joint + 1))[joint]) != 0.0:
            self.omitted.add("plastic joint spring", name)
        if stiffness == 0.0:
            return
        if int(model.jnt_type[joint]) not in (HINGE, SLIDE):
            self.omitted.add("stiffness of a ball or free joint", name)
            return
        rest = float(model.qpos_spring[model.jnt_qposadr[joint]])
        self.spec.force(f"{name}.spring", JointSpring(name, stiffness, rest))

    def add_gravity_compensation(self, gravity: Array) -> None:
        """Constant forces on bodies that MuJoCo lifts against gravity."""
        model = self.model
        for body in np.flatnonzero(model.body_gravcomp):
            lift = -float(model.body_gravcomp[body]) * float(model.body_mass[body]) * gravity
            if np.any(lift):
                name, com = self.bodies[body], tuple(model.body_ipos[body].tolist())
                wrench = ConstantWrench(name, (*lift.tolist(), 0.0, 0.0, 0.0), point=com, frame="world")
                self.spec.force(f"{name}.gravcomp", wrench)
        if np.any(model.body_gravcomp) and np.any(limited := model.jnt_actgravcomp & model.jnt_actfrclimited):
            self.omitted.count("limit of a joint that bounds gravity compensation too", int(np.sum(limited)))

    def _properties(self, joint: int) -> dict[str, Any]:
        model = self.model
        dof, kind = int(model.jnt_dofadr[joint]), int(model.jnt_type[joint])
        armature, damping = reflected(model, joint)
        inertia: Any = float(model.dof_armature[dof]) + armature
        if kind == FREE and inertia:
            self.omitted.add("armature of a free joint along its translations", model.joint(joint).name)
            inertia = (0.0, 0.0, 0.0, inertia, inertia, inertia)
        properties: dict[str, Any] = {
            "armature": inertia,
            "damping": float(model.dof_damping[dof]) + damping,
            "friction": float(model.dof_frictionloss[dof]),
        }
        if np.any(getattr(model, "dof_dampingpoly", np.zeros((dof + 1, 1)))[dof]):
            self.omitted.add("nonlinear joint damping", model.joint(joint).name)
        if model.jnt_limited[joint]:
            if kind in (HINGE, SLIDE):
                properties["limits"] = limit_ends(*model.jnt_range[joint].tolist())
            else:
                self.omitted.add("limit of a ball joint", model.joint(joint).name)
        return properties


def _body_names(model: Any) -> list[str]:
    """Names of the bodies, the world being the ground; bodies without a name are numbered."""
    names = [GROUND, *(model.body(i).name for i in range(1, model.nbody))]
    taken = set(names)
    for i in range(1, model.nbody):
        if names[i] in ("", GROUND):
            names[i] = f"{GROUND}_body" if names[i] else f"body{i}"
            while names[i] in taken:
                names[i] += "_"
            taken.add(names[i])
    return names


def _rest(model: Any, keyframe: str | None) -> Array:
    """qpos at the rest pose, (nq,)."""
    if keyframe is None:
        return np.array(model.qpos0)
    existing = [model.key(i).name for i in range(model.nkey)]
    require_known("keyframe", keyframe, existing)
    return np.array(model.key_qpos[existing.index(keyframe)])


def _joint(model: Any, joint: int) -> Joint:
    kind, axis = int(model.jnt_type[joint]), named(model.jnt_axis[joint].tolist())
    if kind == HINGE:
        return Revolute(axis)
    if kind == SLIDE:
        return Prismatic(axis)
    return Spherical() if kind == BALL else Free()


def _reference(model: Any, joint: int) -> Pose:
    """Moves the joint frame back by `ref`, so that the coordinate is MuJoCo's qpos."""
    kind, axis = int(model.jnt_type[joint]), model.jnt_axis[joint]
    ref = float(model.qpos0[model.jnt_qposadr[joint]])
    if kind == SLIDE and ref != 0.0:
        return Pose(-ref * axis)
    if kind == HINGE and ref != 0.0:
        half = -0.5 * ref
        return Pose(quat=(*(np.sin(half) * axis).tolist(), float(np.cos(half))))
    return Pose()


def _inertia(model: Any, body: int) -> dict[str, Any]:
    """Mass, centre of mass and inertia about it, in the axes of the body."""
    principal = wxyz_pose(model.body_ipos[body], model.body_iquat[body])
    R, moments = principal.rotation, model.body_inertia[body]
    turned = (R * moments) @ R.T
    return {
        "mass": float(model.body_mass[body]),
        "com": tuple(principal.xyz.tolist()),
        "inertia": 0.5 * (turned + turned.T),
    }
