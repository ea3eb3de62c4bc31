"""The bridge to Pinocchio: q and v there and back, mass matrices and forces across."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest

import sarrus as sr

KINDS = {
    "spherical": pin.JointModelSpherical(),
    "planar": pin.JointModelPlanar(),
    "endless": pin.JointModelRUBZ(),
    "turn": pin.JointModelRX(),
    "slide": pin.JointModelPY(),
    "translation": pin.JointModelTranslation(),
    "free": pin.JointModelFreeFlyer(),
}


def model_of(names: list[str]) -> pin.Model:
    model, rng, parent = pin.Model(), np.random.default_rng(1), 0
    for name in names:
        parent = model.addJoint(parent, KINDS[name], pin.SE3.Random(), name)
        inertia = pin.Inertia(1.0 + rng.uniform(), rng.uniform(-0.1, 0.1, 3), np.diag([0.1, 0.12, 0.13]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


@pytest.mark.parametrize("order", [list(KINDS), list(KINDS)[::-1]])
def test_every_joint(order: list[str]) -> None:
    model = model_of(order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.from_pinocchio(model)
    bridge, rng = sr.bridge.pinocchio(mech, model), np.random.default_rng(2)
    q, v = mech.integrate(mech.neutral(), rng.standard_normal(mech.nv)), rng.standard_normal(mech.nv)
    theirs, speed = bridge.to_pinocchio(q, v)
    back = bridge.to_sarrus(theirs, speed)
    np.testing.assert_allclose(back.q, q, atol=1e-13)
    np.testing.assert_allclose(back.v, v, atol=1e-13)
    T, data = bridge.velocity_map(q), model.createData()
    np.testing.assert_allclose(T @ v, speed, atol=1e-13)
    M = pin.crba(model, data, theirs)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(T.T @ M @ T, mech.mass_matrix(q), atol=1e-12)
    u = rng.standard_normal(mech.nu)
    expected = mech.forward_dynamics(q, np.zeros(mech.nv), u=u).a
    found = pin.aba(model, data, theirs, np.zeros(model.nv), bridge.to_tau(u, q))
    np.testing.assert_allclose(found, T @ expected, atol=1e-10 * np.abs(expected).max())
    batch = bridge.to_pinocchio(np.tile(q, (3, 1)), v)
    np.testing.assert_allclose(batch[0][1], theirs, atol=1e-15)


def test_a_floating_base_and_mimics_of_a_urdf() -> None:
    text = """<robot name="r"><link name="base"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
      </robot>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(text, root="free")
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    bridge = sr.bridge.pinocchio(mech, model)
    q = mech.integrate(mech.neutral(), np.arange(7) / 10.0)
    theirs, _ = bridge.to_pinocchio(q)
    data = model.createData()
    M = pin.crba(model, data, theirs)
    np.testing.assert_allclose(np.triu(M), np.triu(mech.mass_matrix(q)), atol=1e-13)
    with pytest.raises(sr.InputError, match="has no joint like 'root_joint' of the Pinocchio model"):
        sr.bridge.pinocchio(sr.library.four_bar(), model)
    with pytest.raises(sr.InputError, match="must be a Model, got int"):
        sr.bridge.pinocchio(mech, 3)


def two_arms_at_one_pin() -> tuple[pin.Model, pin.RigidConstraintModel]:
    """Two arms of two links each, tips pinned together, hanging."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    tips = []
    for side, x in (("left", 0.0), ("right", 0.6)):
        lean = 0.4 if side == "left" else -0.4
        first = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, -np.pi / 2 + lean), np.array([x, 0.0, 0.0]))
        upper = model.addJoint(0, pin.JointModelRZ(), first, f"{side}1")
        knee = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, -lean), np.array([0.5, 0.0, 0.0]))
        lower = model.addJoint(upper, pin.JointModelRZ(), knee, f"{side}2")
        for joint in (upper, lower):
            model.appendBodyToJoint(
                joint, pin.Inertia(1.0, np.array([0.25, 0, 0]), 0.02 * np.eye(3)), pin.SE3.Identity()
            )
        tips.append(lower)
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    tip = pin.SE3(np.eye(3), np.array([0.4, 0.0, 0.0]))
    other = data.oMi[tips[1]].actInv(data.oMi[tips[0]] * tip)
    frame = pin.ReferenceFrame.LOCAL
    loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, tips[0], tip, tips[1], other, frame)
    if hasattr(loop, "corrector"):  # before Pinocchio 4
        loop.corrector.Kp[:], loop.corrector.Kd[:] = 1e4, 2e2
    else:
        loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(1e4, 2e2))
    return model, loop


def test_a_controller_runs_on_the_plant() -> None:
    """A five-bar follows a sine by its two motors; the plant is Pinocchio's, with the loop rigid."""
    model, loop = two_arms_at_one_pin()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        spec = sr.MechanismSpec.from_model(sr.from_pinocchio(model, [loop]).model)
    mech = spec.actuate().actuate("left1", "right1").compile()
    bridge = sr.bridge.pinocchio(mech, model)
    assert mech.mobility().dof == 2

    def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s, c = np.sin(4 * t), np.cos(4 * t)
        return np.array([0.2 * (1 - c), 0.1 * s]), np.array([0.8 * s, 0.4 * c]), np.array([3.2 * c, -1.6 * s])

    law = sr.control.ProjectedInverseDynamics(mech, ["left1", "right1"], path, kp=400.0)
    v = mech.consistent_velocity(mech.default.q, fixed={"left1": 0.0, "right1": 0.4})
    run = bridge.run(law, 1.0, 1e-3, [loop], (mech.default.q, v))
    assert run.t.shape == (1000,) and run.q.shape == (1000, 4) and run.u.shape == (1000, 2)
    columns = [mech.index(name).q.start for name in ("left1", "right1")]
    errors = [np.abs(q[columns] - path(t)[0]).max() for t, q in zip(run.t, run.q, strict=True)]
    assert max(errors) < 2e-3 and np.ptp(run.q[:, columns[0]]) > 0.35
    tau = bridge.to_tau(run.u[7], run.q[7])
    np.testing.assert_allclose(bridge.to_u(tau, run.q[7]), run.u[7], atol=1e-12)


def test_a_plant_that_diverges_ends_the_run() -> None:
    model = model_of(["turn", "slide"])
    mech = sr.from_pinocchio(model)
    run = sr.bridge.pinocchio(mech, model).run(lambda t, q, v: 1e9 * v + 1.0, 1.0)
    assert not run.success and "diverged in the step from t =" in run.message
    assert 0 < len(run.t) < 1000 and np.all(np.isfinite(run.q))


def test_a_run_with_mimics_is_refused() -> None:
    bridge = sr.bridge.pinocchio(sr.from_pinocchio(model_of(["turn"])), model_of(["turn"]))
    bridge._mimics.append((0, 0, 1, 1.0, 0.0))
    with pytest.raises(sr.InputError, match="no Pinocchio models with mimic joints"):
        bridge.run(lambda t, q, v: np.zeros(1), 0.1)
