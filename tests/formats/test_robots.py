"""URDFs of real robots against Pinocchio: mass matrix and bias, to 1e-10."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from sarrus.errors import SarrusWarning
from sarrus.formats import from_pinocchio, load
from sarrus.mechanism.mechanism import Mechanism

ROBOTS = [
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "icub_description/robots/icub.urdf",
    "tiago_description/robots/tiago.urdf",
    "romeo_description/urdf/romeo.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
]


def folder() -> Path:
    """Where the wheel of example-robot-data puts its files: beside Pinocchio, in the same prefix."""
    for parent in Path(pin.__file__).resolve().parents:
        found = parent / "share" / "example-robot-data" / "robots"
        if found.is_dir():
            return found
    pytest.skip("example-robot-data is not installed")


def quiet(path: str, **options: str) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        return load(folder() / path, **options)


def states(
    mech: Mechanism, model: pin.Model, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """A random state in our coordinates and in Pinocchio's, and where its velocities are in ours."""
    q, v = mech.neutral(), np.zeros(mech.nv)
    q_pin, v_pin, columns = pin.neutral(model), np.zeros(model.nv), []
    for j in range(1, model.njoints):
        joint, name = model.joints[j], model.names[j]
        body = name if name in mech.body_names else f"{name}_joint"
        if joint.shortname() == "JointModelFreeFlyer":
            body = mech.body_names[1]
        k = mech.model.body_index(body)
        here, there = mech.model.q_slices[k], slice(joint.idx_q, joint.idx_q + joint.nq)
        if joint.nv == 6:
            q[here] = q_pin[there] = pin.SE3ToXYZQUAT(pin.SE3.Random())
        else:
            x = rng.uniform(-1.0, 1.0)
            q[here] = x
            q_pin[there] = x if joint.nq == 1 else (np.cos(x), np.sin(x))
        speed = rng.uniform(-1.0, 1.0, joint.nv)
        v[mech.model.v_slices[k]] = v_pin[joint.idx_v : joint.idx_v + joint.nv] = speed
        columns += list(range(mech.nv)[mech.model.v_slices[k]])
    return q, v, q_pin, v_pin, columns


def compare(mech: Mechanism, model: pin.Model) -> None:
    data, rng = model.createData(), np.random.default_rng(7)
    pin.seed(7)
    assert mech.nv == model.nv
    for _ in range(3):
        q, v, q_pin, v_pin, columns = states(mech, model, rng)
        M = np.triu(pin.crba(model, data, q_pin))
        M = M + np.triu(M, 1).T
        h = pin.nle(model, data, q_pin, v_pin)
        losses = mech.model.damping * v + mech.model.friction * np.tanh(v / mech.model.friction_speed)
        ours = mech.bias(q, v) - losses
        np.testing.assert_allclose(
            mech.mass_matrix(q)[np.ix_(columns, columns)], M, atol=1e-10 * np.abs(M).max()
        )
        np.testing.assert_allclose(ours[columns], h, atol=1e-10 * np.abs(h).max())


@pytest.mark.parametrize("path", ROBOTS)
def test_fixed_base(path: str) -> None:
    compare(quiet(path), pin.buildModelFromUrdf(str(folder() / path)))


@pytest.mark.parametrize("path", [p for p in ROBOTS if "solo" in p or "talos" in p or "anymal" in p])
def test_free_base(path: str) -> None:
    model = pin.buildModelFromUrdf(str(folder() / path), pin.JointModelFreeFlyer())
    compare(quiet(path, root="free"), model)


@pytest.mark.parametrize("path", [p for p in ROBOTS if "panda" in p or "talos" in p or "solo" in p])
def test_through_pinocchio(path: str) -> None:
    model = pin.buildModelFromUrdf(str(folder() / path), pin.JointModelFreeFlyer())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        mech = from_pinocchio(model)
    compare(mech, model)
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for k, frame in enumerate(model.frames):
        if frame.type == pin.FrameType.BODY and frame.name in mech.body_names:
            np.testing.assert_allclose(mech.pose(q, frame.name).matrix, data.oMf[k].homogeneous, atol=1e-12)


def test_links_and_joints_keep_their_names() -> None:
    mech = quiet("panda_description/urdf/panda.urdf")
    assert "panda_joint4" in mech.names
    assert "panda_hand" in mech.body_names
    assert mech.row_names == ("panda_finger_joint2.mimic",)
    assert "panda_finger_joint2" in mech.passive
    assert mech.mobility().dof == 8


def test_meshes_that_are_there_are_found() -> None:
    path = folder() / "ur_description/urdf/ur5_robot.urdf"
    with pytest.warns(SarrusWarning) as caught:
        load(path)
    assert not any("mesh file" in str(w.message) for w in caught)
    text = path.read_text().replace("package://example-robot-data", "package://nowhere")
    with pytest.warns(SarrusWarning, match=r"mesh file that was not found \('package://nowhere/"):
        load(text, packages=folder())
