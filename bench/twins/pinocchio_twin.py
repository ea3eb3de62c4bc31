"""The same mechanism for Pinocchio, with the joint models that Pinocchio itself is fastest with.

Hinges and slides along a coordinate axis become its aligned joints; composite joints become chains. Loops are
its rigid constraints: a weld is one of six rows, a ball one of three, and what closes a planar loop with two
rows here is a ball as well. Pinocchio has no closure of five rows and none of one: `UnsupportedError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

import sarrus as sr
from sarrus.constraints.closures import Closure
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import NodeKind, Primitive

from ..cases import UnsupportedError, refuse_forces

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EXACT = (1e-12, 0.0, 1)  # accuracy, mu, iterations: the default, one direct solve, needs independent rows
PROXIMAL = (1e-10, 1e-8, 20)  # for dependent rows
STRUCTURED = (1e-12, 1e-6, 20)  # lcaba wants mu > 0; smaller ones make it less accurate


@dataclass
class PinocchioTwin:
    """Model and data, and where Pinocchio's coordinates stand in ours (it wants joints depth first)."""

    model: Any
    data: Any
    q_index: Ints
    v_index: Ints
    constraints: Any
    constraint_data: Any
    settings: Any

    def to_peer(self, q: Array, *tangents: Array) -> list[Array]:
        """q and vectors of the size of v in Pinocchio's order."""
        return [
            np.ascontiguousarray(q[self.q_index]),
            *(np.ascontiguousarray(x[self.v_index]) for x in tangents),
        ]

    def from_peer(self, x: Array) -> Array:
        """A vector of the size of v in our order."""
        out = np.empty_like(x)
        out[self.v_index] = x
        return out

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        """Constrained acceleration (nv,); everything in Pinocchio's order."""
        a: Array = pin.constraintDynamics(
            self.model, self.data, q, v, tau, self.constraints, self.constraint_data, self.settings
        )
        return a

    def structured_acceleration(self) -> Callable[[Array, Array, Array], Array]:
        """The loop-constrained articulated body algorithm, whose cost is linear in the size."""
        data, settings = self.model.createData(), pin.ProximalSettings(*STRUCTURED)
        datas = pin.StdVec_RigidConstraintData()
        for loop in self.constraints:
            datas.append(loop.createData())
        pin.computeJointMinimalOrdering(self.model, data, self.constraints)
        return lambda q, v, tau: pin.lcaba(self.model, data, q, v, tau, self.constraints, datas, settings)

    def terms(self, q: Array, v: Array) -> Array:
        """M, h, all kinematic terms into data, then the Jacobian of the loops (no call gives gamma)."""
        pin.computeAllTerms(self.model, self.data, q, v)
        J: Array = pin.getConstraintsJacobian(self.model, self.data, self.constraints, self.constraint_data)
        return J


def pinocchio_twin(mech: sr.Mechanism, first: str = "") -> PinocchioTwin:
    """Build the twin: joints, inertias, armature, loops, and the settings that make its solver fastest.

    Args:
        mech: to be built again.
        first: body of the ground whose branch comes first; default in the order of declaration.
    """
    refuse_forces(mech)
    model = pin.Model()
    model.gravity.linear = np.array(mech.model.gravity)
    place = {"ground": (0, pin.SE3.Identity())}
    order = _depth_first(mech, first)
    armature: list[float] = []
    for k in order:
        body = mech.model.bodies[k]
        place[body.name] = _add_body(model, body, *place[body.parent])
        armature += list(body.armature)
    model.armature = np.array(armature)
    loops, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name, declared in mech.model.constraints:
        loops.append(_constraint(model, place, name, declared))
        datas.append(loops[-1].createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, loops, datas)
    independent = mech.mobility(mech.default.q).rank == sum(loop.residualSize() for loop in loops)
    settings = pin.ProximalSettings(*(EXACT if independent else PROXIMAL))
    q_index = np.concatenate([np.r_[mech.model.q_slices[k]] for k in order]).astype(np.int64)
    v_index = np.concatenate([np.r_[mech.model.v_slices[k]] for k in order]).astype(np.int64)
    return PinocchioTwin(model, data, q_index, v_index, loops, datas, settings)


def _depth_first(mech: sr.Mechanism, first: str) -> list[int]:
    """Indices of the bodies, ground left out, each branch to its end."""
    bodies = mech.model.bodies
    children: dict[str, list[int]] = {body.name: [] for body in bodies}
    for k, body in enumerate(bodies[1:], start=1):
        children[body.parent].append(k)
    order: list[int] = []
    waiting = sorted(children[bodies[0].name], key=lambda k: (bodies[k].name != first, k))[::-1]
    while waiting:
        k = waiting.pop()
        order.append(k)
        waiting += children[bodies[k].name][::-1]
    return order


def _add_body(model: Any, body: Any, parent: int, on_parent: Any) -> tuple[int, Any]:
    """Append the chain of a joint and the inertia of its body; return where the body frame is."""
    X = on_parent * _placement(body.at)
    for i, primitive in enumerate(body.joint.primitives()):
        parent = model.addJoint(parent, _joint(primitive), X, f"{body.name}.{i}")
        X = pin.SE3.Identity()
    model.appendBodyToJoint(parent, pin.Inertia(body.mass, np.array(body.com), body.inertia_matrix), X)
    return parent, X


def _joint(primitive: Primitive) -> Any:
    """Pinocchio's joint for one primitive; aligned where the axis is one of the frame's."""
    kinds: dict[NodeKind, tuple[str, Callable[..., Any]]] = {
        NodeKind.HINGE: ("R", pin.JointModelRevoluteUnaligned),
        NodeKind.SLIDE: ("P", pin.JointModelPrismaticUnaligned),
    }
    if primitive.kind is NodeKind.BALL:
        return pin.JointModelSpherical()
    if primitive.kind is NodeKind.FREE:
        return pin.JointModelFreeFlyer()
    if primitive.kind not in kinds:
        raise UnsupportedError(f"no twin of a joint of kind {primitive.kind.name} is needed here")
    letter, oblique = kinds[primitive.kind]
    axis = np.array(primitive.axis)
    for name, unit in zip("XYZ", np.eye(3), strict=True):
        if np.array_equal(axis, unit):
            return getattr(pin, f"JointModel{letter}{name}")()
    return oblique(axis)


def _constraint(model: Any, place: dict[str, tuple[int, Any]], name: str, declared: Any) -> Any:
    """A ball or a weld between two frames."""
    if isinstance(declared, Closure) and isinstance(declared.joint, sr.Fixed):
        kind, at_a, at_b = pin.ContactType.CONTACT_6D, declared.at_a, declared.at_b
    elif isinstance(declared, Closure) and isinstance(declared.joint, sr.Spherical):
        kind, at_a, at_b = pin.ContactType.CONTACT_3D, declared.at_a, declared.at_b
    elif isinstance(declared, sr.PointOnLine):
        kind, at_a, at_b = pin.ContactType.CONTACT_3D, Pose(declared.p_a), Pose(declared.p_b)
    else:
        raise UnsupportedError(f"Pinocchio has no rigid constraint like {name!r} ({type(declared).__name__})")
    (joint_a, X_a), (joint_b, X_b) = place[declared.a], place[declared.b]
    A, B = X_a * _placement(at_a), X_b * _placement(at_b)
    return pin.RigidConstraintModel(kind, model, joint_a, A, joint_b, B, pin.ReferenceFrame.LOCAL)


def _placement(pose: Pose) -> Any:
    return pin.SE3(np.array(pose.rotation), np.array(pose.xyz))
