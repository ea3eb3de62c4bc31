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
