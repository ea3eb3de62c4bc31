"""The same mechanism as MJCF for MuJoCo: loops are `<equality>` constraints between sites.

A weld is a weld, a ball a connect, a hinge two connects on its axis, and what closes a planar loop with two
rows here is a connect as well. A point in a plane has no counterpart: a carriage on slides takes half of a
point mass along and is connected to the rest, which moves exactly as before. `sr.save` writes any mechanism
with more rows than these cases need, and a comparison of speed takes the leanest file. `sr.bridge.mujoco`
converts the states.
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
from sarrus.bridge.mujoco import MujocoBridge
from sarrus.constraints.closures import Closure
from sarrus.mechanism.core.core import State
from sarrus.models.base.axes import turn_z_to
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import NodeKind

from ..cases import UnsupportedError, refuse_forces

Array = npt.NDArray[np.float64]

# Tuned by hand for steps of 1 ms: the impedance at its upper bound and a solver that converges to rounding.
# What stiffness and damping suit a mechanism best differs: `Case.solref`.
SOLIMP, TOLERANCE, ITERATIONS = "0.9999 0.9999 0.001 0.5 2", "1e-15", "100"
LEAST_INERTIA = 1e-12  # [kg m^2]: MuJoCo wants every principal moment positive
KINDS = {NodeKind.HINGE: "hinge", NodeKind.SLIDE: "slide", NodeKind.BALL: "ball", NodeKind.FREE: "free"}


@dataclass
class MujocoTwin:
    """Model, the bridge to it, and a constant applied force tau (nv,)."""

    bridge: MujocoBridge
    tau: Array

    @property
    def model(self) -> Any:
        """MuJoCo's model."""
        return self.bridge.model

    def start(self, q: Array, v: Array) -> Any:
        """Data at our state (q, v), carriages where their partners are, with the constant applied force."""
        data = mujoco.MjData(self.model)
        if np.any(self.tau):  # columns of the velocity map are orthonormal
            data.qfrc_applied[:] = self.bridge.velocity_map(q) @ self.tau
        self.bridge.to_mujoco(data, q, v)
        return data

    def rollout(self, q: Array, v: Array, steps: int) -> State:
        """States after each of `steps` steps, the start first, in our coordinates: q (n, nq), v (n, nv)."""
        data = self.start(q, v)
        full = mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.empty(mujoco.mj_stateSize(self.model, full))
        mujoco.mj_getState(self.model, data, state, full)
        force, held = data.qfrc_applied.copy()[None, None], mujoco.mjtState.mjSTATE_QFRC_APPLIED
        states, _ = mujoco.rollout.rollout(
            self.model, data, state[None], force, control_spec=int(held), nstep=steps
        )
        both = np.concatenate([state[None], states[0]])[:, 1:]  # time first
        return self.bridge.states(
            both[:, : self.model.nq], both[:, self.model.nq : self.model.nq + self.model.nv]
        )

    def step(self, data: Any, steps: int) -> None:
        """Advance in MuJoCo's own compiled loop; nothing is stored."""
        mujoco.mj_step(self.model, data, steps)


def mujoco_twin(mech: sr.Mechanism, tau: Array, dt: float, solref: str) -> MujocoTwin:
    """Compile the twin for RK4 with step dt [s], constant force tau (nv,), loops as stiff as solref."""
    model = mujoco.MjModel.from_xml_string(mjcf(mech, dt, solref))
    return MujocoTwin(sr.bridge.mujoco(mech, model), tau)


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
        single = KINDS[primitive.kind] in ("hinge", "slide")
        name = body.coordinate_names[k] if single else body.name  # as the bridge looks for them
        joint = ET.SubElement(here, "joint", name=name, type=KINDS[primitive.kind])
        if single:
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
