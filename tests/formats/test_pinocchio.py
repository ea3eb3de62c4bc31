"""Models made in Pinocchio against Pinocchio: every joint, composites, mimics, constraints.

Velocities are related by v = S v_pin, where S differs from the identity for planar joints (body axes there)
and mimic joints (no coordinate there): M_pin = S.T M S and h_pin = S.T (h + M S' v_pin).
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest

from sarrus.errors import InputError, SarrusWarning, UnknownNameError
from sarrus.formats import FormatError, from_pinocchio
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.tree.joints import Planar

Array = npt.NDArray[np.float64]


def unit(rng: np.random.Generator) -> Array:
    axis = rng.standard_normal(3)
    return axis / np.linalg.norm(axis)


def joints(rng: np.random.Generator) -> dict[str, object]:
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX(), pin.SE3.Random())
    composite.addJoint(pin.JointModelPrismaticUnaligned(unit(rng)), pin.SE3.Random())
    composite.addJoint(pin.JointModelSphericalZYX(), pin.SE3.Random())
    first = unit(rng)
    second = np.cross(first, unit(rng))
    return {
        "free": pin.JointModelFreeFlyer(),
        "rx": pin.JointModelRX(),
        "ry": pin.JointModelRY(),
        "rz": pin.JointModelRZ(),
        "px": pin.JointModelPX(),
        "py": pin.JointModelPY(),
        "pz": pin.JointModelPZ(),
        "hx": pin.JointModelHX(0.3),
        "hz": pin.JointModelHZ(-0.2),
        "ru": pin.JointModelRevoluteUnaligned(unit(rng)),
        "pu": pin.JointModelPrismaticUnaligned(unit(rng)),
        "hu": pin.JointModelHelicalUnaligned(unit(rng), 0.15),
        "unbounded": pin.JointModelRUBZ(),
        "ball": pin.JointModelSpherical(),
        "zyx": pin.JointModelSphericalZYX(),
        "translation": pin.JointModelTranslation(),
        "planar": pin.JointModelPlanar(),
        "universal": pin.JointModelUniversal(first, second / np.linalg.norm(second)),
        "composite": composite,
    }


def tree() -> pin.Model:
    """All joints, on random parents, with armature, damping, friction, limits."""
    pin.seed(11)
    rng, model = np.random.default_rng(11), pin.Model()
    model.gravity.linear = np.array([0.4, -0.3, -9.6])
    for name, joint in joints(rng).items():
        last = (
            model.njoints - 1
        )  # Pinocchio wants joints depth first: a parent is the last joint or its parent
        parent = last if rng.uniform() < 0.7 else int(model.parents[last])
        placement = pin.SE3.Random()
        index = model.addJoint(parent, joint, placement, name)
        model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Random())
        model.addBodyFrame(f"{name}_link", index, pin.SE3.Random(), 0)
    model.armature = rng.uniform(0.0, 0.5, model.nv)
    model.damping = rng.uniform(0.0, 0.5, model.nv)
    planar = model.joints[model.getJointId("planar")].idx_v
    model.armature[planar : planar + 2] = model.damping[planar : planar + 2] = 0.0  # other axes there
    for j in range(1, model.njoints):  # of free joints and balls only equal ones about all axes are modelled
        first, nv = int(model.idx_vs[j]), int(model.nvs[j])
        if int(model.nqs[j]) == nv + 1 and nv >= 3 and first != planar:
            model.armature[first : first + nv] = [0.0] * (nv - 3) + [0.3] * 3
    return model


def quietly(model: pin.Model, constraints: tuple[object, ...] = ()) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        return from_pinocchio(model, constraints)


def ours(mech: Mechanism, model: pin.Model, q_pin: Array, v_pin: Array) -> tuple[Array, Array, Array]:
    """q, S and S' v_pin for a state of Pinocchio."""
    q, S, drift = mech.neutral(), np.zeros((mech.nv, model.nv)), np.zeros(mech.nv)
    for j in range(1, model.njoints):
        name, joint = model.names[j], model.joints[j]
        there_q = slice(joint.idx_q, joint.idx_q + joint.nq)
        there_v = slice(joint.idx_v, joint.idx_v + joint.nv)
        parts = [name] if mech.model.bodies[mech.model.body_index(name)].joint.nv else []
        parts = parts or [b for b in mech.body_names if b.startswith(f"{name}_") and b[-1].isdigit()]
        indices = [mech.model.body_index(part) for part in parts]
        here_q = np.concatenate([np.arange(mech.nq)[mech.model.q_slices[k]] for k in indices])
        here_v = np.concatenate([np.arange(mech.nv)[mech.model.v_slices[k]] for k in indices])
        block, value = np.eye(joint.nv), q_pin[there_q]
        if joint.shortname() == "JointModelMimic":
            mimic = joint.extract()
            q[here_q] = mimic.scaling * q_pin[mimic.idx_q] + mimic.offset
            S[here_v, mimic.idx_v] = mimic.scaling
            continue
        if isinstance(mech.model.bodies[indices[0]].joint, Planar):
            x, y, c, s = value
            value, block[:2, :2] = np.array([x, y, np.arctan2(s, c)]), [[c, -s], [s, c]]
            rate = v_pin[there_v]
            drift[here_v[:2]] = rate[2] * np.array([[-s, -c], [c, -s]]) @ rate[:2]
        elif joint.shortname() == "JointModelRUBZ":
            value = np.array([np.arctan2(value[1], value[0])])
        q[here_q] = value
        S[here_v, there_v] = block
    return q, S, drift


def compare(mech: Mechanism, model: pin.Model) -> None:
    rng = np.random.default_rng(2)
    for _ in range(4):
        data = model.createData()  # crba of a model with mimic joints adds to what it finds there
        q_pin = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
        v_pin = rng.uniform(-1, 1, model.nv)
        q, S, drift = ours(mech, model, q_pin, v_pin)
        M_pin = np.triu(pin.crba(model, data, q_pin))
        M_pin, h_pin = M_pin + np.triu(M_pin, 1).T, pin.nle(model, data, q_pin, v_pin)
        v = S @ v_pin
        M, h = mech.mass_matrix(q), mech.bias(q, v) - mech.model.damping * v
        np.testing.assert_allclose(S.T @ M @ S, M_pin, atol=1e-11 * np.abs(M_pin).max())
        np.testing.assert_allclose(S.T @ (h + M @ drift), h_pin, atol=1e-11 * np.abs(h_pin).max())


def test_every_joint() -> None:
    model = tree()
    mech = quietly(model)
    compare(mech, model)
    assert mech.names[:6] == tuple(f"free.{x}" for x in ("vx", "vy", "vz", "wx", "wy", "wz"))
    assert "composite_2" in mech.names
    assert "composite_link" in mech.body_names
    assert not any(name.startswith("free") for name in mech.actuators)


@pytest.mark.parametrize("inner", ["ry", "px", "ru", "pu"])
def test_mimic(inner: str) -> None:
    pin.seed(5)
    rng, model = np.random.default_rng(5), pin.Model()
    for name, joint in (("a", pin.JointModelRX()), ("b", joints(rng)[inner]), ("c", pin.JointModelRY())):
        index = model.addJoint(model.njoints - 1, joint, pin.SE3.Random(), name)
        model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Random())
    model = pin.transformJointIntoMimic(model, 1, 2, -1.7, 0.3)
    mech = quietly(model)
    compare(mech, model)
    assert mech.names == ("a", "b", "c")
    assert mech.row_names == ("b.mimic",)
    assert mech.actuators == ("a", "c")
    assert mech.mobility().dof == 2
    np.testing.assert_allclose(mech.default.q[1], -1.7 * mech.default.q[0] + 0.3, atol=1e-12)


@pytest.mark.parametrize("kind", [pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D])
def test_constraint_models(kind: pin.ContactType) -> None:
    """The Jacobian that Pinocchio has for the constraint spans the same space, where the loop is closed."""
    pin.seed(8)
    model = pin.Model()
    for k in range(8):
        joint = (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ())[k % 3]
        index = model.addJoint(0 if k == 4 else model.njoints - 1, joint, pin.SE3.Random(), f"j{k}")
        model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Identity())
    data, q = model.createData(), np.linspace(-0.7, 0.9, 8)
    pin.forwardKinematics(model, data, q)
    at_1 = pin.SE3.Random()
    at_2 = data.oMi[8].inverse() * data.oMi[4] * at_1
    constraint = pin.RigidConstraintModel(kind, model, 4, at_1, 8, at_2)
    mech = quietly(model, (constraint,))
    J = mech.terms(q, np.zeros(8)).J
    np.testing.assert_allclose(mech.terms(q, np.zeros(8)).phi, 0.0, atol=1e-14)
    pin.computeJointJacobians(model, data, q)
    found = constraint.createData()
    constraint.calc(model, data, found)
    J_pin = pin.getConstraintJacobian(model, data, constraint, found)
    assert mech.row_names[0] == "j3-j7.tx"
    np.testing.assert_allclose(J.T @ np.linalg.pinv(J.T), J_pin.T @ np.linalg.pinv(J_pin.T), atol=1e-11)


def test_contact_forces_have_the_opposite_sign_of_reactions() -> None:
    """Pinocchio's act on the first joint of the constraint, ours on the second body."""
    model = pin.Model()
    for k in range(2):
        index = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Random(), f"j{k}")
        model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Identity())
    data, q, v = model.createData(), pin.neutral(model), np.zeros(6)
    pin.forwardKinematics(model, data, q)
    at_1 = pin.SE3.Random()
    at_2 = data.oMi[2].inverse() * data.oMi[1] * at_1
    frame = pin.ReferenceFrame.LOCAL
    constraint = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 1, at_1, 2, at_2, frame)
    constraints, found = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    constraints.append(constraint)
    found.append(constraint.createData())
    needed = (constraints, found) if int(pin.__version__.split(".")[0]) >= 4 else (constraints,)
    pin.initConstraintDynamics(model, data, *needed)
    a = pin.constraintDynamics(model, data, q, v, np.zeros(6), constraints, found)
    motion = quietly(model, (constraint,)).forward_dynamics(q, v)
    np.testing.assert_allclose(motion.a, a, atol=1e-8)
    on_b = motion.reaction("j0-j1", "A")[:3]
    assert np.linalg.norm(on_b) > 0.1
    np.testing.assert_allclose(on_b, -found[0].contact_force.linear, atol=1e-7)


def test_anchors_are_constraints_too_and_contacts_are_listed() -> None:
    if not hasattr(pin, "FrameAnchorConstraintModel"):
        pytest.skip("anchors came with Pinocchio 4")
    model = tree()
    here = pin.SE3.Identity()
    frame = pin.FrameAnchorConstraintModel(model, 2, here, 0, here)
    point = pin.PointAnchorConstraintModel(model, 3, here, 4, here)
    contact = pin.PointContactConstraintModel(model, 5, here, 0, here)
    with pytest.warns(SarrusWarning, match="PointContactConstraintModel"):
        mech = from_pinocchio(model, [frame, point, contact])
    assert [(group.kind, group.a, group.b) for group in mech.model.groups] == [
        ("Fixed", "rx", "ground"),
        ("Spherical", "ry", "rz"),
    ]


def test_a_joint_without_counterpart_is_refused_by_name() -> None:
    if not hasattr(pin, "JointModelEllipsoid"):
        pytest.skip("the ellipsoid joint came with Pinocchio 4")
    model = pin.Model()
    model.addJoint(0, pin.JointModelEllipsoid(1.0, 2.0, 3.0), pin.SE3.Identity(), "shoulder")
    with pytest.raises(FormatError, match="joint 'shoulder' of type JointModelEllipsoid has no counterpart"):
        from_pinocchio(model)


def test_equal_names_are_told_apart_and_limits_are_kept() -> None:
    model = pin.Model()
    for _ in range(2):
        index = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "same")
        model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Identity())
    model.lowerPositionLimit, model.upperPositionLimit = np.array([-1.0, -2.0]), np.array([1.0, 1e308])
    model.upperEffortLimit = np.array([5.0, np.inf])
    mech = quietly(model)
    assert mech.names == ("same", "same_2")
    assert mech.model.bodies[1].limits == ((-1.0, 1.0),)
    assert mech.model.bodies[2].limits == ((-2.0, np.inf),)
    assert [a.upper for a in mech.model.actuators] == [5.0, np.inf]


def test_actuators_are_those_asked_for() -> None:
    """Joints or coordinates, in the order asked, with the limits of the model; of free joints when asked."""
    model, parent = pin.Model(), 0
    kinds = (pin.JointModelFreeFlyer(), pin.JointModelRX(), pin.JointModelSpherical(), pin.JointModelPY())
    for name, joint in zip(("base", "turn", "ball", "slide"), kinds, strict=True):
        parent = model.addJoint(parent, joint, pin.SE3.Identity(), name)
        model.appendBodyToJoint(parent, pin.Inertia.Random(), pin.SE3.Identity())
    model.upperEffortLimit = np.arange(1.0, 12.0)
    balls = ("ball.wx", "ball.wy", "ball.wz")
    assert quietly(model).actuators == ("turn", *balls, "slide")
    mech = from_pinocchio(model, actuated=("slide", "ball", "base.vz"))
    assert mech.actuators == ("slide", *balls, "base.vz")
    assert [a.upper for a in mech.model.actuators] == [11.0, 8.0, 9.0, 10.0, 3.0]
    assert from_pinocchio(model, actuated=()).nu == 0
    assert from_pinocchio(model, actuated=["turn"]).actuators == ("turn",)
    with pytest.raises(UnknownNameError, match=r"actuated: unknown joint or coordinate 'trn'"):
        from_pinocchio(model, actuated=["trn"])
    with pytest.raises(InputError, match="actuated must be several names, got 'turn'"):
        from_pinocchio(model, actuated="turn")


def test_rotor_inertia_outside_armature_is_said() -> None:
    model = pin.Model()
    index = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "a")
    model.appendBodyToJoint(index, pin.Inertia.Random(), pin.SE3.Identity())
    model.rotorInertia = np.array([0.1])
    with pytest.warns(SarrusWarning, match="rotor inertia"):
        from_pinocchio(model)
