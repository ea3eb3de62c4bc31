"""Pose against scipy's Rotation and plain 4 x 4 products."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sarrus.errors import InputError
from sarrus.models.base.pose import Pose

angles = st.floats(-3.0, 3.0)
vectors = st.tuples(angles, angles, angles)


@given(vectors, vectors)
def test_roll_pitch_yaw_is_about_fixed_axes(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> None:
    pose = Pose(xyz, rpy=rpy)
    np.testing.assert_allclose(pose.rotation, Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(Pose(xyz, rpy=pose.rpy).rotation, pose.rotation, atol=1e-13)


@given(vectors, vectors)
def test_quaternion_is_scalar_last(xyz: tuple[float, ...], rotvec: tuple[float, ...]) -> None:
    turned = Rotation.from_rotvec(rotvec)
    pose = Pose(xyz, quat=3.0 * turned.as_quat())
    np.testing.assert_allclose(pose.rotation, turned.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(Pose(quat=pose.quat).rotation, pose.rotation, atol=1e-14)
    assert pose.quat[3] >= 0.0


@given(vectors, vectors, vectors, vectors)
def test_poses_multiply_like_matrices(
    p: tuple[float, ...], r: tuple[float, ...], s: tuple[float, ...], x: tuple[float, ...]
) -> None:
    first, second = Pose(p, rpy=r), Pose(x, rpy=s)
    np.testing.assert_allclose((first @ second).matrix, first.matrix @ second.matrix, atol=1e-13)
    np.testing.assert_allclose((first @ first.inverse()).matrix, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(first.apply(x), (first.matrix @ [*x, 1.0])[:3], atol=1e-13)


def test_rpy_at_gimbal_lock_gives_the_same_rotation() -> None:
    for pitch in (np.pi / 2, -np.pi / 2):
        pose = Pose(rpy=(0.3, pitch, -0.4))
        np.testing.assert_allclose(Pose(rpy=pose.rpy).rotation, pose.rotation, atol=1e-14)


def test_a_matrix_can_give_the_rotation_or_everything() -> None:
    pose = Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    assert Pose(pose.xyz, matrix=pose.rotation) == pose
    assert Pose(matrix=pose.matrix) == pose
    rounded = Pose(matrix=np.round(pose.rotation, 8))
    np.testing.assert_allclose(rounded.rotation.T @ rounded.rotation, np.eye(3), atol=1e-15)


def test_poses_are_values() -> None:
    pose = Pose((1, 2, 3), quat=(0.1, 0.2, 0.3, 0.4))
    assert pickle.loads(pickle.dumps(pose)) == pose == copy.deepcopy(pose)
    assert hash(Pose((1, 2, 3))) == hash(Pose((1, 2, 3)))
    assert Pose() != "pose"
    with pytest.raises(AttributeError, match="cannot be changed"):
        pose.xyz = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        pose.xyz[0] = 1.0
    with pytest.raises(TypeError):
        pose @ 3  # type: ignore[operator]
    assert repr(Pose((1, 0, 0))) == "Pose((1, 0, 0))"
    assert "rpy=(0.1, 0, 0)" in repr(Pose(rpy=(0.1, 0, 0)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quat": (0, 0, 0, 0)}, "must not have zero norm, got .0.0, 0.0, 0.0, 0.0.; no rotation is"),
        ({"quat": (0, 0, 1)}, r"quat of a Pose must have shape \(4,\), got shape \(3,\)"),
        ({"xyz": (0, 0)}, r"xyz of a Pose must have shape \(3,\)"),
        ({"xyz": (0, 0, float("nan"))}, "xyz of a Pose must be finite"),
        ({"xyz": (0, float("inf"), 0)}, "xyz of a Pose must be finite"),
        ({"xyz": (0, 1e60, 0)}, "at most 1e.50 in size"),
        ({"xyz": "abc"}, "xyz of a Pose must be an array of finite numbers"),
        ({"xyz": ((1, 2), (3,))}, "xyz of a Pose must be an array of finite numbers"),
        ({"rpy": (0, 0, 0), "quat": (0, 0, 0, 1)}, "at most one of rpy, quat, matrix, got rpy and quat"),
        ({"matrix": np.diag([1, 1, -1])}, r"must be a rotation .* determinant -1"),
        ({"matrix": 2 * np.eye(3)}, r"must be a rotation"),
        ({"matrix": np.eye(2)}, r"matrix of a Pose must have shape \(3, 3\), got shape \(2, 2\)"),
        ({"matrix": [[1, 2], [3]]}, r"matrix of a Pose must be an array"),
        ({"matrix": np.ones((4, 4))}, r"last row of a \(4, 4\) pose"),
        ({"xyz": (1, 0, 0), "matrix": np.eye(4)}, "gives the position too"),
    ],
)
def test_bad_poses_say_what_is_wrong(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Pose(**arguments)  # type: ignore[arg-type]
