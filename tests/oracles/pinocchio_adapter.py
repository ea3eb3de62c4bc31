"""The same mechanism in Pinocchio, joint by joint, with frames and rigid constraint models.

Pinocchio wants joints depth first; ours come in any topological order. `q_index` and `v_index` say where
Pinocchio's coordinates are in ours, and every method speaks ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from .description import Body, Closure, Description, Joint, axis_vector, plane_axes, width_q, width_v

Array = npt.NDArray[np.float64]


@dataclass
class Pinocchio:
    """Model, data and where each body sits: (joint id, placement of the body frame on it)."""

    model: pin.Model
    data: pin.Data
    q_index: Array
    v_index: Array
    frame: dict[str, int]
    constraints: list[pin.RigidConstraintModel]

    def _ours(self, x: Array) -> Array:
        """Undo the permutation of the last axis."""
        out = np.empty_like(x)
        out[..., self.v_index] = x
        return out

    def mass_matrix(self, q: Array) -> Array:
        """M (nv, nv), armature included."""
        nv = self.model.nv
        M = np.triu(np.reshape(pin.crba(self.model, self.data, q[self.q_index]), (nv, nv)))
        return self._ours(self._ours(M + np.triu(M, 1).T).T)

    def rnea(self, q: Array, v: Array, a: Array) -> Array:
        """M a + h (nv,)."""
        i = self.v_index
        return self._ours(pin.rnea(self.model, self.data, q[self.q_index], v[i], a[i]))

    def aba(self, q: Array, v: Array, tau: Array) -> Array:
        """Acceleration without constraints."""
        i = self.v_index
        return self._ours(pin.aba(self.model, self.data, q[self.q_index], v[i], tau[i]))

    def jacobian(self, q: Array, body: str, frame: str) -> Array:
        """Jacobian (6, nv) of a body frame; frame: local, world, world_aligned."""
        reference = {
            "local": pin.ReferenceFrame.LOCAL,
            "world": pin.ReferenceFrame.WORLD,
            "world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        }[frame]
        J = pin.computeFrameJacobian(self.model, self.data, q[self.q_index], self.frame[body], reference)
        return self._ours(np.reshape(J, (6, self.model.nv)))

    def pose(self, q: Array, body: str) -> Array:
        """World pose (4, 4) of a body frame."""
        pin.framesForwardKinematics(self.model, self.data, q[self.q_index])
        return self.data.oMf[self.frame[body]].homogeneous

    def motion(self, q: Array, v: Array, a: Array, body: str) -> tuple[Array, Array]:
        """Velocity and classical acceleration (6,) of a body frame, world axes."""
        i = self.v_index
        pin.forwardKinematics(self.model, self.data, q[self.q_index], v[i], a[i])
        pin.updateFramePlacements(self.model, self.data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        V = pin.getFrameVelocity(self.model, self.data, self.frame[body], aligned)
        A = pin.getFrameClassicalAcceleration(self.model, self.data, self.frame[body], aligned)
        return V.vector, A.vector

    def energy(self, q: Array, v: Array) -> tuple[float, float]:
        """Kinetic energy from M (Pinocchio's own has the armature of some joints only), potential energy."""
        kinetic = float(v @ self.mass_matrix(q) @ v / 2)
        return kinetic, pin.computePotentialEnergy(self.model, self.data, q[self.q_index])

    def centroidal(self, q: Array, v: Array, a: Array) -> dict[str, Array]:
        """Centre of mass with its derivatives, centroidal momentum h = A v, h', A and A'."""
        i, model, data = self.v_index, self.model, self.data
        given = q[self.q_index], v[i]
        pin.centerOfMass(model, data, *given, a[i])
        found = {"c": data.com[0], "dc": data.vcom[0], "ddc": data.acom[0]}
        found["rate"] = pin.computeCentroidalMomentumTimeVariation(model, data, *given, a[i]).vector
        found["J"] = self._ours(np.reshape(pin.jacobianCenterOfMass(model, data, given[0]), (3, model.nv)))
        found["rate_A"] = self._ours(np.reshape(pin.dccrba(model, data, *given), (6, model.nv)))
        found["A"] = self._ours(np.reshape(pin.ccrba(model, data, *given), (6, model.nv)))
        return {name: np.array(x) for name, x in found.items()} | {"h": data.hg.vector}

    def constrained(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Acceleration (nv,) by Pinocchio's proximal solver, and its multipliers (nc,), which act on a."""
        models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for c in self.constraints:
            models.append(c)
            datas.append(c.createData())
        pin.initConstraintDynamics(self.model, self.data, models, datas)
        settings = pin.ProximalSettings(1e-15, 1e-15, 1e-10, 100)
        i = self.v_index
        a = pin.constraintDynamics(
            self.model, self.data, q[self.q_index], v[i], tau[i], models, datas, settings
        )
        return self._ours(a), np.array(self.data.lambda_c)


def build(description: Description) -> Pinocchio:
    """Add every body depth first, then the closures that Pinocchio knows."""
    model = pin.Model()
    model.gravity.linear = np.asarray(description.gravity, dtype=float)
    armature: list[float] = []
    place = {"ground": (0, pin.SE3.Identity())}
    frame = {"ground": model.addFrame(pin.Frame("ground", 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))}
    order = _depth_first(description.bodies)
    for k in order:
        body = description.bodies[k]
        place[body.name] = _add(model, body, *place[body.parent])
        armature += [body.armature] * (model.nv - len(armature))
        joint, X = place[body.name]
        frame[body.name] = model.addFrame(pin.Frame(body.name, joint, X, pin.FrameType.OP_FRAME))
    model.armature = np.array(armature)
    q_index = _index([width_q(b.joint) for b in description.bodies], order)
    v_index = _index([width_v(b.joint) for b in description.bodies], order)
    constraints = [_constraint(model, place, c) for c in description.closures]
    return Pinocchio(model, model.createData(), q_index, v_index, frame, constraints)


def _depth_first(bodies: tuple[Body, ...]) -> list[int]:
    def below(name: str) -> list[int]:
        return [k for i, b in enumerate(bodies) if b.parent == name for k in [i, *below(b.name)]]

    return below("ground")


def _index(widths: list[int], order: list[int]) -> Array:
    """Our index of each of Pinocchio's coordinates."""
    first = np.concatenate([[0], np.cumsum(widths)])
    return np.array([first[k] + j for k in order for j in range(widths[k])], dtype=int)


def _se3(X: Array) -> pin.SE3:
    return pin.SE3(X[:3, :3], X[:3, 3])


def _add(model: pin.Model, body: Body, parent: int, on_parent: pin.SE3) -> tuple[int, pin.SE3]:
    """Append the joint's chain and the body's inertia; return where the body frame is."""
    X = on_parent * _se3(body.X)
    for k, joint_model in enumerate(_chain(body.joint)):
        parent = model.addJoint(parent, joint_model, X, f"{body.name}.{k}")
        X = pin.SE3.Identity()
    model.appendBodyToJoint(parent, pin.Inertia(body.mass, np.asarray(body.com), np.asarray(body.inertia)), X)
    return parent, X


def _chain(joint: Joint) -> list[pin.JointModel]:
    """Pinocchio's joints for one of ours; composite joints are chains."""
    axis = axis_vector(joint.axis)
    slide, turn = pin.JointModelPrismaticUnaligned, pin.JointModelRevoluteUnaligned
    if joint.kind == "planar":
        x, y = plane_axes(joint.axis)
        return [slide(x), slide(y), turn(axis)]
    return {
        "revolute": lambda: [turn(axis)],
        "prismatic": lambda: [slide(axis)],
        "helical": lambda: [pin.JointModelHelicalUnaligned(axis, joint.pitch)],
        "cylindrical": lambda: [slide(axis), turn(axis)],
        "universal": lambda: [turn(axis), turn(axis_vector(joint.axis_b))],
        "spherical": lambda: [pin.JointModelSpherical()],
        "free": lambda: [pin.JointModelFreeFlyer()],
        "fixed": list,
    }[joint.kind]()


def _constraint(
    model: pin.Model, place: dict[str, tuple[int, pin.SE3]], closure: Closure
) -> pin.RigidConstraintModel:
    kind = {"spherical": pin.ContactType.CONTACT_3D, "fixed": pin.ContactType.CONTACT_6D}[closure.joint.kind]
    joint_a, X_a = place[closure.a]
    joint_b, X_b = place[closure.b]
    return pin.RigidConstraintModel(
        kind,
        model,
        joint_a,
        X_a * _se3(closure.X_a),
        joint_b,
        X_b * _se3(closure.X_b),
        pin.ReferenceFrame.LOCAL,
    )
