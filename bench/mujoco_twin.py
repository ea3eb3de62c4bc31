"""The same mechanism as MJCF for MuJoCo: loops are `<equality>` constraints between sites.

A weld is a weld, a ball a connect, a hinge two connects on its axis, and what closes a planar loop with two
rows here is a connect as well. A point in a plane has no counterpart: a carriage on slides takes half of a
point mass along and is connected to the rest, which moves exactly as before.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus.constraints.closures import Closure
from sarrus.models.axes import turn_z_to
from sarrus.models.joint import NodeKind
from sarrus.models.pose import Pose

from .cases import UnsupportedError, refuse_forces

Array = npt.NDArray[np.float64]

# Tuned by hand for steps of 1 ms: the impedance at its upper bound and a solver that converges to rounding.
# What stiffness and damping suit a mechanism best differs: `Case.solref`.
SOLIMP, TOLERANCE, ITERATIONS = "0.9999 0.9999 0.001 0.5 2", "1e-15", "100"
LEAST_INERTIA = 1e-12  # [kg m^2]: MuJoCo wants every principal moment positive
KINDS = {NodeKind.HINGE: "hinge", NodeKind.SLIDE: "slide", NodeKind.BALL: "ball", NodeKind.FREE: "free"}


@dataclass
class MujocoTwin:
    """Model, its start, and where the coordinates of each of our primitive joints are in MuJoCo's."""

    mech: sr.Mechanism
    model: Any
    tau: Array

    def start(self, q: Array, v: Array) -> Any:
        """Data at our state (q, v), with the constant applied force tau."""
        data = mujoco.MjData(self.model)
        for kind, name, ours, rate, at in self._joints():
            there = self.model.joint(name)
            i, j = int(there.qposadr[0]), int(there.dofadr[0])
            data.qpos[i : i + ours.stop - ours.start] = _to_peer(kind, q[ours], at)
            data.qvel[j : j + rate.stop - rate.start] = _rate_to_peer(kind, q[ours], v[rate], at)
            data.qfrc_applied[j : j + rate.stop - rate.start] = self.tau[rate]
        for k in range(self.model.njnt):  # carriages: where their partner is
            if self.model.joint(k).name.endswith(".carriage"):
                self._place_carriage(data, q, v, k)
        mujoco.mj_forward(self.model, data)
        return data

    def _joints(self) -> list[tuple[NodeKind, str, slice, slice, Pose]]:
        """Every primitive joint: kind, name, its part of q and of v, frame of the joint."""
        found = []
        bodies = zip(self.mech.model.bodies, self.mech.model.q_slices, self.mech.model.v_slices, strict=True)
        for body, at_q, at_v in bodies:
            i, j = at_q.start, at_v.start
            for k, primitive in enumerate(body.joint.primitives() if body.name != "ground" else ()):
                nq, nv = {NodeKind.BALL: (4, 3), NodeKind.FREE: (7, 6)}.get(primitive.kind, (1, 1))
                found.append(
                    (primitive.kind, f"{body.name}.{k}", slice(i, i + nq), slice(j, j + nv), body.at)
                )
                i, j = i + nq, j + nv
        return found

    def _place_carriage(self, data: Any, q: Array, v: Array, k: int) -> None:
        name = self.model.joint(k).name.removesuffix(".carriage").rsplit(".", 1)[0]
        plane = dict(self.mech.model.constraints)[name]
        pose = self.mech.pose(q, plane.b)
        assert isinstance(pose, Pose)
        place = pose.apply(plane.p_b) - np.asarray(plane.p_a)  # the plane stands in the ground
        rate = self.mech.jacobian(q, plane.b, plane.p_b)[:3] @ v
        axis = self.model.jnt_axis[k]
        data.qpos[self.model.jnt_qposadr[k]] = axis @ place
        data.qvel[self.model.jnt_dofadr[k]] = axis @ rate

    def rollout(self, q: Array, v: Array, steps: int) -> tuple[Array, Array]:
        """States after each of `steps` steps, the start first, in our coordinates: q (n, nq), v (n, nv)."""
        data = self.start(q, v)
        full = mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.empty(mujoco.mj_stateSize(self.model, full))
        mujoco.mj_getState(self.model, data, state, full)
        force, held = data.qfrc_applied.copy()[None, None], mujoco.mjtState.mjSTATE_QFRC_APPLIED
        states, _ = mujoco.rollout.rollout(
            self.model, data, state[None], force, control_spec=int(held), nstep=steps
        )
        both = np.concatenate([state[None], states[0]])
        qpos, qvel = (
            both[:, 1 : 1 + self.model.nq],
            both[:, 1 + self.model.nq : 1 + self.model.nq + self.model.nv],
        )
        out_q, out_v = np.empty((steps + 1, self.mech.nq)), np.empty((steps + 1, self.mech.nv))
        for kind, name, ours, rate, at in self._joints():
            there = self.model.joint(name)
            i, j = int(there.qposadr[0]), int(there.dofadr[0])
            out_q[:, ours] = _from_peer(kind, qpos[:, i : i + ours.stop - ours.start], at)
            out_v[:, rate] = _rate_from_peer(
                kind, out_q[:, ours], qvel[:, j : j + rate.stop - rate.start], at
            )
        return out_q, out_v

    def step(self, data: Any, steps: int) -> None:
        """Advance in MuJoCo's own compiled loop; nothing is stored."""
        mujoco.mj_step(self.model, data, steps)


def _to_peer(kind: NodeKind, q: Array, at: Pose) -> Array:
    """Quaternions scalar first; a free body in world axes."""
    if kind is NodeKind.BALL:
        return q[[3, 0, 1, 2]]
    if kind is NodeKind.FREE:
        pose = at @ Pose(q[:3], quat=q[3:])
        return np.concatenate([pose.xyz, pose.quat[[3, 0, 1, 2]]])
    return q


def _from_peer(kind: NodeKind, q: Array, at: Pose) -> Array:
    if kind is NodeKind.BALL:
        return q[:, [1, 2, 3, 0]]
    if kind is NodeKind.FREE:
        back = at.inverse()
        poses = [back @ Pose(row[:3], quat=row[[4, 5, 6, 3]]) for row in q]
        return np.array([[*pose.xyz, *pose.quat] for pose in poses])
    return q


def _rate_to_peer(kind: NodeKind, q: Array, v: Array, at: Pose) -> Array:
    """The linear velocity of a free body in world axes; all else is the same."""
    if kind is not NodeKind.FREE:
        return v
    return np.concatenate([(at @ Pose(quat=q[3:])).rotation @ v[:3], v[3:]])


def _rate_from_peer(kind: NodeKind, q: Array, v: Array, at: Pose) -> Array:
    if kind is not NodeKind.FREE:
        return v
    rotations = np.array([(at @ Pose(quat=row[3:])).rotation for row in q])
    return np.concatenate([np.einsum("nij,ni->nj", rotations, v[:, :3]), v[:, 3:]], axis=1)


def mujoco_twin(mech: sr.Mechanism, tau: Array, dt: float, solref: str) -> MujocoTwin:
    """Compile the twin for RK4 with step dt [s], constant force tau (nv,), loops as stiff as solref."""
    return MujocoTwin(mech, mujoco.MjModel.from_xml_string(mjcf(mech, dt, solref)), tau)


def mjcf(mech: sr.Mechanism, dt: float, solref: str) -> str:
    """The mechanism as MJCF."""
    refuse_forces(mech)
    root = ET.Element("mujoco", model=mech.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    option = ET.SubElement(root, "option", integrator="RK4", timestep=repr(dt), solver="Newton")
    option.attrib |= {"gravity": _text(mech.model.gravity), "tolerance": TOLERANCE, "iterations": ITERATIONS}
    elements = {"ground": ET.SubElement(root, "worldbody")}
    lighter = _carriages(mech)
    for body in mech.model.bodies[1:]:
        _add_body(elements, body, 0.5 if body.name in lighter else 1.0)
    equality = ET.SubElement(root, "equality")
    for name, declared in mech.model.constraints:
        for i, (kind, a, at_a, b, at_b) in enumerate(_pairs(mech, elements, name, declared)):
            ends = []
            for side, owner, at in (("a", a, at_a), ("b", b, at_b)):
                site = f"{name}.{i}.{side}"
                ET.SubElement(elements[owner], "site", name=site, pos=_text(at.xyz), quat=_quaternion(at))
                ends.append(site)
            ET.SubElement(equality, kind, site1=ends[0], site2=ends[1], solref=solref, solimp=SOLIMP)
    return ET.tostring(root, encoding="unicode")


def _text(values: Sequence[float] | Array) -> str:
    return " ".join(repr(float(x)) for x in values)


def _quaternion(pose: Pose) -> str:
    return _text(pose.quat[[3, 0, 1, 2]])


def _add_body(elements: dict[str, ET.Element], body: Any, share: float) -> None:
    """One body with its chain of joints and `share` of its mass."""
    here = ET.SubElement(
        elements[body.parent], "body", name=body.name, pos=_text(body.at.xyz), quat=_quaternion(body.at)
    )
    for k, primitive in enumerate(body.joint.primitives()):
        if primitive.kind not in KINDS:
            raise UnsupportedError(f"MuJoCo has no joint of kind {primitive.kind.name}")
        joint = ET.SubElement(here, "joint", name=f"{body.name}.{k}", type=KINDS[primitive.kind])
        if KINDS[primitive.kind] in ("hinge", "slide"):
            joint.set("axis", _text(primitive.axis))
            joint.set("armature", repr(body.armature[k]))
    if body.mass > 0.0:
        moments, axes = np.linalg.eigh(body.inertia_matrix)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] = -axes[:, 0]
        principal = np.maximum(share * moments, LEAST_INERTIA)
        frame = _quaternion(Pose(matrix=axes))
        inertial = ET.SubElement(here, "inertial", mass=repr(share * body.mass), pos=_text(body.com))
        inertial.attrib |= {"quat": frame, "diaginertia": _text(principal)}
    elements[body.name] = here


def _carriages(mech: sr.Mechanism) -> set[str]:
    """Bodies that share their point mass with a carriage."""
    found = set()
    for name, declared in mech.model.constraints:
        if isinstance(declared, sr.PointOnPlane):
            body = mech.model.bodies[mech.model.body_index(declared.b)]
            if (
                not np.allclose(body.com, declared.p_b)
                or np.any(body.inertia_matrix)
                or declared.a != "ground"
            ):
                raise UnsupportedError(
                    f"only a point mass can ride on a carriage, not {declared.b!r} of {name!r}"
                )
            found.add(declared.b)
    return found


def _pairs(
    mech: sr.Mechanism, elements: dict[str, ET.Element], name: str, declared: Any
) -> list[tuple[str, str, Pose, str, Pose]]:
    """The equalities of one constraint: kind, body, frame, body, frame."""
    if isinstance(declared, Closure):
        a, b, at_a, at_b = declared.a, declared.b, declared.at_a, declared.at_b
        if isinstance(declared.joint, sr.Fixed):
            return [("weld", a, at_a, b, at_b)]
        if isinstance(declared.joint, sr.Spherical):
            return [("connect", a, at_a, b, at_b)]
        if isinstance(declared.joint, sr.Revolute):
            ends = [Pose(side * 0.5 * mech.length * declared.joint.direction) for side in (1.0, -1.0)]
            return [("connect", a, at_a @ end, b, at_b @ end) for end in ends]
    if isinstance(declared, sr.PointOnLine):
        return [("connect", declared.a, Pose(declared.p_a), declared.b, Pose(declared.p_b))]
    if isinstance(declared, sr.PointOnPlane):
        carriage = _add_carriage(mech, elements, name, declared)
        return [("connect", carriage, Pose(), declared.b, Pose(declared.p_b))]
    raise UnsupportedError(f"MuJoCo has no equality like {name!r} ({type(declared).__name__})")


def _add_carriage(mech: sr.Mechanism, elements: dict[str, ET.Element], name: str, plane: Any) -> str:
    """A point mass on slides along those directions of the plane in which the point moves at all."""
    carriage = f"{name}.carriage"
    here = ET.SubElement(elements["ground"], "body", name=carriage, pos=_text(plane.p_a))
    elements[carriage] = here
    somewhere = np.random.default_rng(0).normal(size=mech.nv)
    J = mech.jacobian(mech.integrate(mech.neutral(), somewhere), plane.b, plane.p_b)[:3]
    normal = np.array(
        {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}.get(plane.normal, plane.normal)
    )
    for i, along in enumerate(turn_z_to(normal).T[:2]):
        if np.abs(along @ J).max() > 1e-12:
            ET.SubElement(here, "joint", name=f"{name}.{i}.carriage", type="slide", axis=_text(along))
    mass = 0.5 * mech.model.bodies[mech.model.body_index(plane.b)].mass
    inertia = _text([LEAST_INERTIA] * 3)
    ET.SubElement(here, "inertial", pos="0 0 0", mass=repr(mass), diaginertia=inertia)
    return carriage
