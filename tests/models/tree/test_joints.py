"""Joints and axes: what they normalise, refuse and call their coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sarrus.errors import InputError
from sarrus.models.base.axes import canonical_axis, direction, nearest_frame, turn_z_to
from sarrus.models.tree.joint import Joint, check_joint
from sarrus.models.tree.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

components = st.floats(-1.0, 1.0)
axes = st.tuples(components, components, components).filter(lambda a: np.linalg.norm(a) > 1e-3)


@given(axes)
def test_turning_z_to_an_axis_is_a_rotation(axis: tuple[float, ...]) -> None:
    unit = direction(canonical_axis(axis, "axis"))
    A = turn_z_to(unit)
    np.testing.assert_array_equal(A[:, 2], unit)
    np.testing.assert_allclose(A.T @ A, np.eye(3), atol=4e-16)
    assert np.linalg.det(A) > 0.0


@given(axes)
def test_the_nearest_frame_contains_the_axis(axis: tuple[float, ...]) -> None:
    unit = direction(canonical_axis(axis, "axis"))
    k, columns = nearest_frame(unit)
    np.testing.assert_array_equal(columns[:, k], unit)
    np.testing.assert_allclose(columns.T @ columns, np.eye(3), atol=4e-16)
    assert abs(unit[k]) == np.abs(unit).max()


def test_named_axes_are_turned_without_rounding() -> None:
    for name in "xyz":
        A = turn_z_to(direction(name))
        assert set(np.unique(A)) == {0.0, 1.0}
        np.testing.assert_array_equal(A @ [0, 0, 1], direction(name))
        np.testing.assert_array_equal(np.cross(A[:, 0], A[:, 1]), A[:, 2])


def test_axes_are_normalised_once() -> None:
    axis = Revolute((1.0, 2.0, 3.0)).axis
    assert np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-15)
    assert Revolute(axis).axis == axis
    assert Revolute("z") == Revolute()
    assert Revolute((0, 0, 5)).axis == (0.0, 0.0, 1.0)


def test_a_nearly_perpendicular_universal_is_made_perpendicular() -> None:
    first, second = Universal("x", (1e-8, 1.0, 0.0)).directions
    assert abs(first @ second) < 1e-16


@pytest.mark.parametrize(
    ("joint", "names"),
    [
        (Revolute(), ("j",)),
        (Prismatic(), ("j",)),
        (Helical("x", 0.1), ("j",)),
        (Cylindrical(), ("j.slide", "j.angle")),
        (Planar(), ("j.x", "j.y", "j.angle")),
        (Universal(), ("j.angle1", "j.angle2")),
        (Spherical(), ("j.wx", "j.wy", "j.wz")),
        (Free(), ("j.vx", "j.vy", "j.vz", "j.wx", "j.wy", "j.wz")),
        (Fixed(), ()),
    ],
)
def test_coordinates_have_names(joint: Revolute, names: tuple[str, ...]) -> None:
    assert joint.coordinate_names("j") == names
    assert joint.nv == len(names)
    assert joint.label().startswith(type(joint).__name__)
    assert check_joint(joint, "joint") is joint


def test_labels_name_the_axis() -> None:
    assert Revolute("y").label() == "Revolute y"
    assert Prismatic((0, 3, 4)).label() == "Prismatic (0, 0.6, 0.8)"
    assert Helical("z", 0.01).label() == "Helical z, pitch 0.01 m/rad"
    assert Universal().label() == "Universal x y"
    assert Planar("x").label() == "Planar x"
    assert set(Joint.kinds) >= {"Revolute", "Fixed", "Free"}


def test_bad_axes_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match="axis of Revolute must not be zero"):
        Revolute((0, 0, 0))
    with pytest.raises(
        InputError, match="axis of Prismatic must be 'x', 'y', 'z' or a vector of three numbers, got 'w'"
    ):
        Prismatic("w")
    with pytest.raises(InputError, match="axis of Cylindrical must be finite"):
        Cylindrical((0, 0, float("nan")))
    with pytest.raises(InputError, match=r"normal of Planar must have shape \(3,\)"):
        Planar((0, 1))
    with pytest.raises(InputError, match="pitch of Helical must be a finite number, got nan"):
        Helical("z", float("nan"))
    with pytest.raises(InputError, match="must be perpendicular, got 'x' and 'x' with cosine 1"):
        Universal("x", "x")


def test_what_is_not_a_joint_is_refused() -> None:
    with pytest.raises(InputError, match=r"joint must be an instance, got a class; write Revolute\(\)"):
        check_joint(Revolute, "joint")
    with pytest.raises(InputError, match=r"joint must be one of Revolute, Prismatic, .*, got 'hinge'"):
        check_joint("hinge", "joint")
