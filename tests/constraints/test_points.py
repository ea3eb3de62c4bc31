"""Points on lines, planes, rods; rolling discs; rows of the user: phi of the kernel against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sarrus import _kernel
from sarrus.constraints.couplings import Coupling
from sarrus.constraints.custom import CustomConstraint, call_checked
from sarrus.constraints.points import Distance, PointOnLine, PointOnPlane
from sarrus.constraints.rolling import Rolling
from sarrus.constraints.rows import Constraint
from sarrus.errors import InputError, ModelError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.model import Model
from sarrus.models.tree.joints import Fixed, Free, Revolute
from tests.oracles.declared import Array, body_frames, random_configuration

P_A, P_B = np.array([0.1, 0.2, 0.3]), np.array([0.4, -0.5, 0.6])
OBLIQUE = np.array([0.3, -0.5, -0.8])


def two_bodies(constraint: Constraint) -> Model:
    spec = MechanismSpec(length=2.0).body("a", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    spec.body("mid", joint=Revolute(OBLIQUE), at=Pose((0.2, 0.3, 0.4)), mass=1.0, inertia=(1, 1, 1))
    spec.body("b", "mid", joint=Fixed(), at=Pose((0, 0.3, 0), rpy=(0.4, 0.2, 0.1)))
    return spec.constrain("c", constraint).model()


def phi_of(model: Model, q: Array) -> Array:
    kernel = _kernel.Kernel(model.sizes, model.fields)
    user = np.zeros((1, model.sizes["n_user_rows"], 3 + model.nv))
    return np.asarray(kernel.constraints(q[None], np.zeros((1, model.nv)), np.zeros((1, 0, 3)), user)[0][0])


def gap(model: Model, q: Array) -> Array:
    """From p_a to p_b, in the axes of a."""
    frames = body_frames(model, q)
    in_a = np.linalg.inv(frames["a"]) @ frames["b"] @ [*P_B, 1.0]
    return np.asarray(in_a[:3] - P_A)


def test_a_distance_is_kept() -> None:
    model = two_bodies(Distance("a", P_A, "b", P_B, 1.5))
    q = random_configuration(model, np.random.default_rng(0))
    assert phi_of(model, q) == pytest.approx([np.linalg.norm(gap(model, q)) - 1.5])
    assert model.row_names == ("c.distance",)
    assert model.row_unit.tolist() == [2.0]
    assert model.group("c").kind == "Distance"


def test_a_point_on_a_line_has_the_two_rows_across() -> None:
    model = two_bodies(PointOnLine("a", P_A, "b", P_B, "y"))
    q = random_configuration(model, np.random.default_rng(0))
    np.testing.assert_allclose(phi_of(model, q), gap(model, q)[[0, 2]], atol=1e-14)
    assert model.row_names == ("c.tx", "c.tz")
    oblique = two_bodies(PointOnLine("a", P_A, "b", P_B, OBLIQUE))
    off = np.cross(OBLIQUE / np.linalg.norm(OBLIQUE), gap(oblique, q))
    assert np.linalg.norm(phi_of(oblique, q)) == pytest.approx(np.linalg.norm(off))
    assert oblique.row_names == ("c.tx", "c.ty")


def test_a_point_on_a_plane_has_the_row_along_the_normal() -> None:
    model = two_bodies(PointOnPlane("a", P_A, "b", P_B, OBLIQUE))
    q = random_configuration(model, np.random.default_rng(0))
    np.testing.assert_allclose(
        phi_of(model, q), [gap(model, q) @ OBLIQUE / np.linalg.norm(OBLIQUE)], atol=1e-14
    )
    assert model.row_names == ("c.tz",)


def test_a_disc_touches_the_plane_with_its_lowest_point() -> None:
    normal, point, centre = np.array([0.2, 0.1, 0.9]), np.array([0.0, 0.3, -1.0]), np.array([0.1, 0.0, 0.2])
    model = two_bodies(Rolling("a", 0.3, "y", normal, centre, point))
    q = random_configuration(model, np.random.default_rng(0))
    X = body_frames(model, q)["a"]
    n = normal / np.linalg.norm(normal)
    turns = np.linspace(0.0, 2.0 * np.pi, 200001)
    rim = centre + 0.3 * np.stack([np.cos(turns), 0 * turns, np.sin(turns)], axis=1)
    heights = (rim @ X[:3, :3].T + X[:3, 3] - point) @ n
    assert phi_of(model, q)[0] == pytest.approx(heights.min(), abs=1e-9)
    assert phi_of(model, q)[1:].tolist() == [0.0, 0.0]
    assert model.row_names == ("c.normal", "c.t1", "c.t2")
    assert model.holonomic.tolist() == [True, False, False]
    assert model.row_unit.tolist() == [2.0] * 3


def test_user_rows_take_their_place() -> None:
    custom = CustomConstraint(lambda q, t: q[:2], 2, scale=(3.0, 0.5))
    spec = MechanismSpec().body("a", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    spec.close("loop", "a", "ground", joint=Fixed()).constrain("cam", custom)
    model = spec.constrain("other", CustomConstraint(lambda q, t: q[0], 1)).model()
    assert model.row_names[6:] == ("cam[0]", "cam[1]", "other[0]")
    assert model.u_row.tolist() == [6, 7, 8]
    assert model.row_unit[6:].tolist() == [3.0, 0.5, 1.0]
    cam, other = model.customs
    assert (cam.name, cam.user, cam.rows) == ("cam", slice(0, 2), slice(6, 8))
    assert (other.user, other.rows) == (slice(2, 3), slice(8, 9))
    assert cam.constraint is custom


def test_what_user_functions_return_is_checked() -> None:
    assert call_checked(lambda q: 3.0, (0,), "phi", (1,)).tolist() == [3.0]
    with pytest.raises(
        InputError, match=r"phi of 'cam' must return an array of shape \(2,\), got shape \(3,\)"
    ):
        call_checked(lambda q: np.zeros(3), (0,), "phi of 'cam'", (2,))
    with pytest.raises(InputError, match=r"phi must return an array of shape \(1,\), got None"):
        call_checked(lambda q: None, (0,), "phi", (1,))  # type: ignore[arg-type,return-value]
    with pytest.raises(InputError, match="phi must return finite numbers"):
        call_checked(lambda q: [np.nan], (0,), "phi", (1,))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Distance("a", P_A, "b", P_B, 0.0),
            r"length of Distance .*close the loop with Spherical.* must be positive",
        ),
        (
            lambda: Distance("a", P_A, "a", P_B, 1.0),
            "a Distance must join two different bodies, got 'a' twice",
        ),
        (lambda: Distance("a", P_A[:2], "b", P_B, 1.0), r"p_a of Distance must have shape \(3,\)"),
        (lambda: PointOnLine("a", P_A, "b", P_B, (0, 0, 0)), "direction of PointOnLine must not be zero"),
        (lambda: PointOnPlane("a", P_A, "b", P_B, (0, 0, np.inf)), "normal of PointOnPlane must be finite"),
        (lambda: Rolling("a", -1.0), "radius of Rolling must be positive, got -1"),
        (lambda: Rolling("a", 1.0, (0, 0, 0)), "axis of Rolling must not be zero"),
        (lambda: Rolling("a", 1.0, "z", "up"), "normal of Rolling must be 'x', 'y', 'z' or a vector"),
        (lambda: CustomConstraint(None, 1), "phi of CustomConstraint must be a callable"),  # type: ignore[arg-type]
        (lambda: CustomConstraint(abs, 0), "n of CustomConstraint must be a positive whole number, got 0"),
        (
            lambda: CustomConstraint(abs, True),
            "n of CustomConstraint must be a positive whole number, got True",
        ),
        (lambda: CustomConstraint(abs, 1, J=3), "J of CustomConstraint must be a callable or None, got 3"),  # type: ignore[arg-type]
        (lambda: CustomConstraint(abs, 1, scale=0.0), "scale of CustomConstraint must be positive"),
        (lambda: CustomConstraint(abs, 2, scale=(1.0,)), r"scale of CustomConstraint must have shape \(2,\)"),
    ],
)
def test_bad_constraints_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_constraints_on_parts_that_do_not_fit() -> None:
    spec = MechanismSpec().body("wall", joint=Fixed()).body("a", joint=Revolute(), armature=1.0)
    with pytest.raises(
        UnknownNameError, match="constraint 'c': unknown body 'b'; existing names: 'ground', 'wall', 'a'"
    ):
        spec.constrain("c", Distance("a", P_A, "b", P_B, 1.0))
    with pytest.raises(
        InputError, match="constraint 'c' must be an instance of a constraint class, got 'rod'"
    ):
        spec.constrain("c", "rod")  # type: ignore[arg-type]
    spec.constrain("c", Rolling("wall", 1.0))
    with pytest.raises(
        InputError, match="constraint 'c': body 'wall' is fixed to the ground, it cannot roll"
    ):
        spec.model()


def test_row_names_must_differ() -> None:
    spec = MechanismSpec().body("a", joint=Revolute(), armature=1.0)
    spec.constrain("c", CustomConstraint(abs, 1)).constrain("c[0]", CustomConstraint(abs, 1))
    spec.close("d.tx", "a", "ground", joint=Fixed()).model()
    spec.constrain("d.tx.tx", Coupling({"a": 1.0}))
    with pytest.raises(
        ModelError, match=r"constraint 'd\.tx\.tx' would add a second row called 'd\.tx\.tx'; rename one"
    ):
        spec.model()
