"""Closures: phi of the kernel on the lowered arrays, against phi written down from body frames by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sarrus import _kernel
from sarrus.errors import InputError, ModelError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.axes import direction
from sarrus.models.base.pose import Pose
from sarrus.models.model import Model
from sarrus.models.tree.joint import Joint
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
from tests.oracles.declared import Array, body_frames, random_configuration

OBLIQUE = (0.3, -0.5, -0.8)
AT_A = Pose((0.1, 0.2, 0.3), rpy=(0.3, -0.4, 0.5))
AT_B = Pose((-0.3, 0.1, 0.2), rpy=(-0.2, 0.1, 0.7))


def two_branches() -> MechanismSpec:
    """A trunk with two branches; turned axes and fixed bodies, so that node and body frames differ."""
    spec = MechanismSpec()
    spec.body("trunk", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    for side, axis in (("left", "x"), ("right", OBLIQUE)):
        spec.body(side, "trunk", joint=Revolute(axis), at=Pose((0.3, 0, 0)), mass=1.0, inertia=(1, 1, 1))
        spec.body(f"{side}_ball", side, joint=Spherical(), at=Pose((0, 0.4, 0)), mass=1.0, inertia=(1, 1, 1))
        spec.body(f"{side}_hand", f"{side}_ball", joint=Fixed(), at=Pose((0, 0, 0.5), rpy=(0.1, 0.2, 0.3)))
    return spec


def evaluate(model: Model, q: Array, v: Array | None = None) -> tuple[Array, ...]:
    """phi, J, b, gamma of the compiled kernel."""
    kernel = _kernel.Kernel(model.sizes, model.fields)
    v = np.zeros(model.nv) if v is None else v
    out = kernel.constraints(q[None], v[None], np.zeros((1, 0, 3)), np.zeros((1, 0, 3 + model.nv)))
    return tuple(np.asarray(x)[0] for x in out)


def relative(model: Model, q: Array) -> tuple[Array, Array]:
    """p_AB and R_AB, expressed in A."""
    frames = body_frames(model, q)
    X = np.linalg.inv(frames["left_hand"] @ AT_A.matrix) @ frames["right_hand"] @ AT_B.matrix
    return X[:3, 3], X[:3, :3]


def model_of(joint: Joint) -> Model:
    return two_branches().close("loop", "left_hand", "right_hand", joint=joint, at_a=AT_A, at_b=AT_B).model()


def across(k: int, R: Array) -> list[float]:
    """Components of B's axis k across A's."""
    return [float(R[i, k]) for i in range(3) if i != k]


def wrapped(x: float, period: float) -> float:
    return x - period * round(x / period)


PITCH = 0.2
EXPECTED: dict[Joint, Any] = {
    Fixed(): lambda p, R: [*p, *Rotation.from_matrix(R).as_rotvec()],
    Spherical(): lambda p, R: [*p],
    Universal("x", "y"): lambda p, R: [*p, R[0, 1]],
    Universal("z", "x"): lambda p, R: [*p, R[2, 0]],
}
NAMES: dict[Joint, str] = {
    Fixed(): "tx ty tz rx ry rz",
    Spherical(): "tx ty tz",
    Universal("x", "y"): "tx ty tz rz",
    Universal("z", "x"): "tx ty tz ry",
}
for _k, _axis in enumerate("xyz"):
    _i, _j = (_k + 1) % 3, (_k + 2) % 3
    _others = [n for n in range(3) if n != _k]
    _t, _r = [f"t{'xyz'[n]}" for n in _others], [f"r{'xyz'[n]}" for n in _others]
    EXPECTED |= {
        Revolute(_axis): lambda p, R, k=_k: [*p, *across(k, R)],
        Prismatic(_axis): lambda p, R, o=_others: [*p[o], *Rotation.from_matrix(R).as_rotvec()],
        Cylindrical(_axis): lambda p, R, k=_k, o=_others: [*p[o], *across(k, R)],
        Planar(_axis): lambda p, R, k=_k: [p[k], *across(k, R)],
    }
    NAMES |= {
        Revolute(_axis): " ".join(["tx ty tz", *_r]),
        Prismatic(_axis): " ".join([*_t, "rx ry rz"]),
        Cylindrical(_axis): " ".join([*_t, *_r]),
        Planar(_axis): " ".join([f"t{_axis}", *_r]),
    }


@pytest.mark.parametrize("joint", EXPECTED, ids=str)
def test_phi_is_b_relative_to_a_in_the_axes_of_a(joint: Joint) -> None:
    model = model_of(joint)
    assert [name.removeprefix("loop.") for name in model.row_names] == NAMES[joint].split()
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = random_configuration(model, rng)
        np.testing.assert_allclose(evaluate(model, q)[0], EXPECTED[joint](*relative(model, q)), atol=1e-13)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("pitch", [PITCH, -PITCH])
def test_a_helical_closure_advances_along_its_thread(axis: str, pitch: float) -> None:
    """B turned by any angle about the axis and advanced by pitch * angle satisfies all rows."""
    spec = MechanismSpec().body("nut", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    spec.close("screw", "ground", "nut", joint=Helical(axis, pitch), at_a=AT_A, at_b=AT_B)
    model = spec.model()
    k = "xyz".index(axis)
    assert model.row_names[:3] == ("screw.tx", "screw.ty", "screw.tz")
    for angle in (-7.0, -1.0, 0.4, 2.5, 40.0):
        moved = Pose(
            direction(axis) * pitch * angle, quat=Rotation.from_rotvec(direction(axis) * angle).as_quat()
        )
        X = AT_A @ moved @ AT_B.inverse()
        q = np.concatenate([X.xyz, X.quat])
        np.testing.assert_allclose(evaluate(model, q)[0], 0.0, atol=1e-13)
        lifted = q + np.concatenate([AT_A.rotation[:, k] * 0.01, np.zeros(4)])
        np.testing.assert_allclose(evaluate(model, lifted)[0], 0.01 * np.eye(5)[k], atol=1e-13)


@pytest.mark.parametrize("axis", [OBLIQUE, (0, 0, -1), (1, 1, 1), (-1, 0, 0)], ids=str)
@pytest.mark.parametrize(
    "kind", [Revolute, Prismatic, Cylindrical, Planar, Helical], ids=lambda k: k.__name__
)
def test_oblique_closures_leave_exactly_the_freedoms_of_the_joint(
    kind: type[Joint], axis: tuple[float, ...]
) -> None:
    """The joint as a tree joint satisfies its own closure, and J has the complementary rank."""
    joint = Helical(axis, 0.3) if kind is Helical else kind(axis)  # type: ignore[call-arg]
    spec = MechanismSpec().body("a", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    spec.body("b", "a", joint=joint, at=AT_A, mass=1.0, com=(1, 2, 3), inertia=(1, 1, 1))
    spec.close("same", "a", "b", joint=joint, at_a=AT_A)
    loose = MechanismSpec().body("a", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    loose.body("b", joint=Free(), mass=1.0, inertia=(1, 1, 1)).close("l", "a", "b", joint=joint, at_a=AT_A)
    rng = np.random.default_rng(2)
    model, free = spec.model(), loose.model()
    for _ in range(3):
        q, v = random_configuration(model, rng), rng.normal(size=model.nv)
        phi, J, _, gamma = evaluate(model, q, v)
        np.testing.assert_allclose(phi, 0.0, atol=1e-14)
        np.testing.assert_allclose(J, 0.0, atol=1e-14)
        np.testing.assert_allclose(gamma, 0.0, atol=1e-12)
        R, p = _kernel.Kernel(model.sizes, model.fields).poses(q[None])
        poses = [Pose(p[0, i], matrix=R[0, i]) for i in (1, 2)]
        closed = np.concatenate([np.concatenate([X.xyz, X.quat]) for X in poses])
        phi, J, _, _ = evaluate(free, closed)
        np.testing.assert_allclose(phi, 0.0, atol=1e-13)
        assert np.linalg.matrix_rank(J, 1e-9) == len(phi) == 6 - joint.nv


def test_the_axis_keeps_its_sign() -> None:
    up, down = model_of(Planar("z")), model_of(Planar((0, 0, -1)))
    q = random_configuration(up, np.random.default_rng(0))
    np.testing.assert_allclose(evaluate(down, q)[0], -evaluate(up, q)[0], atol=1e-15)


def test_a_screw_without_pitch_is_a_revolute() -> None:
    screw, hinge = model_of(Helical("y", 0.0)), model_of(Revolute("y"))
    q = random_configuration(screw, np.random.default_rng(0))
    np.testing.assert_array_equal(evaluate(screw, q)[0], evaluate(hinge, q)[0])
    assert screw.element_parameters(0)["pitch_row"].tolist() == [-1]


def test_the_support_leaves_out_what_moves_both_sides() -> None:
    model = model_of(Fixed())
    names = [model.coordinate_names[k] for k in model.sup_col]
    sides = ["left", "left_ball.wx", "left_ball.wy", "left_ball.wz"]
    assert names == sides + [name.replace("left", "right") for name in sides]
    assert model.sup_sign.tolist() == [-1.0] * 4 + [1.0] * 4
    _, J, _, _ = evaluate(model, random_configuration(model, np.random.default_rng(0)))
    assert np.count_nonzero(J[:, :6]) == 0


def test_rows_keep_the_order_of_declaration() -> None:
    spec = two_branches()
    spec.close("second", "left", "right", joint=Spherical()).close("first", "left", "ground", joint=Planar())
    model = spec.model()
    assert model.row_names[:4] == ("second.tx", "second.ty", "second.tz", "first.tz")
    assert [group.name for group in model.groups] == ["second", "first"]
    assert model.holonomic.all()


def test_bad_loops_say_what_is_wrong() -> None:
    spec = two_branches()
    before = spec.to_dict()
    with pytest.raises(InputError, match="a loop must join two different bodies, got 'left' twice"):
        spec.close("loop", "left", "left", joint=Revolute())
    with pytest.raises(
        UnknownNameError, match=r"constraint 'loop': unknown body 'lft'; existing names: .* mean 'left'"
    ):
        spec.close("loop", "lft", "right", joint=Revolute())
    with pytest.raises(InputError, match="a loop cannot be closed by Free"):
        spec.close("loop", "left", "right", joint=Free())
    with pytest.raises(
        InputError, match=r"joint of a loop must be an instance, got a class; write Revolute\(\)"
    ):
        spec.close("loop", "left", "right", joint=Revolute)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"at_b of a loop must be a Pose, got \(1, 0, 0\)"):
        spec.close("loop", "left", "right", joint=Revolute(), at_b=(1, 0, 0))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the name of a constraint must be a non-empty string"):
        spec.close("", "left", "right", joint=Revolute())
    assert spec.to_dict() == before
    spec.close("loop", "left", "right", joint=Revolute())
    with pytest.raises(ModelError, match="a constraint called 'loop' exists already"):
        spec.close("loop", "left", "ground", joint=Revolute())
