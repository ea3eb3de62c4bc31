"""Trees of twins in files, read by MuJoCo and Pinocchio: the same mass matrix and bias forces."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

from .robots_given import poses_of, twin_of

NAMES = ["knee", "ankle", "linear actuators"]


def saved(name: str, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return twin_of(name).save(path)


@pytest.mark.parametrize("name", NAMES)
def test_mujoco_reads_the_tree(name: str, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    twin, (q, v) = twin_of(name), poses_of(name)
    model = mujoco.MjModel.from_xml_path(str(saved(name, tmp_path / "tree.xml")))
    assert model.neq == 0
    data, tree = mujoco.MjData(model), twin.tree
    bridge = sr.bridge.mujoco(tree, model)
    for here, speed in zip(q[:3], v[:3], strict=True):
        bridge.to_mujoco(data, here, speed)
        mujoco.mj_forward(model, data)
        M, order = np.zeros((model.nv, model.nv)), [mujoco_index(mujoco, model, x) for x in tree.names]
        mujoco.mj_fullM(model, data, M)
        np.testing.assert_allclose(M[np.ix_(order, order)], tree.mass_matrix(here), atol=1e-9)
        h = data.qfrc_bias - data.qfrc_passive
        np.testing.assert_allclose(h[order], tree.bias(here, speed), atol=1e-8)


def mujoco_index(mujoco, model, name: str) -> int:
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
    assert joint >= 0, name
    return int(model.jnt_dofadr[joint])


@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_reads_the_tree(name: str, tmp_path: Path) -> None:
    """URDF has no armature and Pinocchio's nonlinear effects no damping: they are added here."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    twin, (q, v) = twin_of(name), poses_of(name)
    tree, model = twin.tree, pin.buildModelFromUrdf(str(saved(name, tmp_path / "tree.urdf")))
    data = model.createData()
    each = {x: [y for body in tree.model.bodies for y in getattr(body, x)] for x in ("armature", "damping")}
    joints = [model.getJointId(x) for x in tree.names]
    assert all(0 < j < model.njoints for j in joints) and model.nv == tree.nv
    order = [model.joints[j].idx_v for j in joints]
    for here, speed in zip(q[:3], v[:3], strict=True):
        q_pin, v_pin = pin.neutral(model), np.zeros(model.nv)
        for k, j in enumerate(joints):
            one, x = model.joints[j], here[k]
            q_pin[one.idx_q : one.idx_q + one.nq] = x if one.nq == 1 else (np.cos(x), np.sin(x))
        v_pin[order] = speed
        M = pin.crba(model, data, q_pin)[np.ix_(order, order)]
        M = np.triu(M) + np.triu(M, 1).T + np.diag(each["armature"])
        np.testing.assert_allclose(M, tree.mass_matrix(here), atol=1e-9)
        h = pin.nonLinearEffects(model, data, q_pin, v_pin)[order] + np.array(each["damping"]) * speed
        np.testing.assert_allclose(h, tree.bias(here, speed), atol=1e-8)
