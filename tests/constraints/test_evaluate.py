"""Rows that come from Python, user functions and drives: against the same rows in the kernel or by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
BOX: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": (0.1, 0.2, 0.25)}
L1, L2 = 0.5, 0.8


def arm(**rows: Any) -> sr.Mechanism:
    """A planar arm of two links whose tip is tied to (0.4, 0.6) by user rows."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("upper", joint=sr.Revolute("z"), **BOX)
    spec.body("lower", parent="upper", joint=sr.Revolute("z"), at=sr.Pose((L1, 0, 0)), **BOX)
    spec.constrain("tip", sr.CustomConstraint(tip, 2, scale=0.6, **rows))
    return spec.compile()


def tip(q: Array, t: float) -> Array:
    """Position of the tip less a target that moves."""
    a, b = q[0], q[0] + q[1]
    x, y = L1 * math.cos(a) + L2 * math.cos(b), L1 * math.sin(a) + L2 * math.sin(b)
    return np.array([x - 0.4 - 0.1 * math.sin(3 * t), y - 0.6])


def tip_jacobian(q: Array, t: float) -> Array:
    a, b = q[0], q[0] + q[1]
    return np.array(
        [
            [-L1 * math.sin(a) - L2 * math.sin(b), -L2 * math.sin(b)],
            [L1 * math.cos(a) + L2 * math.cos(b), L2 * math.cos(b)],
        ]
    )


def tip_gamma(q: Array, v: Array, t: float) -> Array:
    a, b, w = q[0], q[0] + q[1], v[0] + v[1]
    x = L1 * math.cos(a) * v[0] ** 2 + L2 * math.cos(b) * w**2 - 0.9 * math.sin(3 * t)
    return np.array([x, L1 * math.sin(a) * v[0] ** 2 + L2 * math.sin(b) * w**2])


def tip_b(q: Array, t: float) -> Array:
    return np.array([0.3 * math.cos(3 * t), 0.0])


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"J": tip_jacobian},
        {"J": tip_jacobian, "b": tip_b},
        {"J": tip_jacobian, "b": tip_b, "gamma": tip_gamma},
    ],
)
def test_derivatives_that_are_left_out_are_filled_in(given: dict[str, Any]) -> None:
    mech = arm(**given)
    q, t = np.array([0.3, 0.9]), 0.7
    for v in (np.array([1.5, -2.5]), np.zeros(2), 1e-3 * np.ones(2), 30.0 * np.ones(2)):
        terms = mech.terms(q, v, t)
        np.testing.assert_allclose(terms.phi, tip(q, t), atol=1e-15)
        np.testing.assert_allclose(terms.J, tip_jacobian(q, t), atol=1e-11)
        np.testing.assert_allclose(terms.b, tip_b(q, t), atol=1e-10)
        np.testing.assert_allclose(terms.gamma, tip_gamma(q, v, t), atol=1e-8 * (1 + v @ v))


def test_user_rows_on_quaternions_equal_a_loop_of_the_kernel() -> None:
    """A point of a free body on a line, written by hand and declared."""
    point = np.array([0.2, -0.1, 0.3])

    def across(q: Array, t: float) -> Array:
        x, w = q[3:6], q[6]
        p = q[:3] + point + 2 * np.cross(x, np.cross(x, point) + w * point)
        return p[:2]

    made = []
    for own in (True, False):
        spec = sr.MechanismSpec()
        spec.body("box", joint=sr.Free(), **BOX)
        if own:
            spec.constrain("line", sr.CustomConstraint(across, 2))
        else:
            spec.constrain("line", sr.PointOnLine("ground", (0, 0, 0), "box", point, (0, 0, 1)))
        made.append(spec.compile())
    user, kernel = made
    rng = np.random.default_rng(2)
    q = kernel.integrate(kernel.neutral(), rng.normal(size=6))
    v = rng.normal(size=6)
    mine, theirs = user.terms(q, v), kernel.terms(q, v)
    for name in ("phi", "J", "b", "gamma"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), atol=1e-9, err_msg=name)
    closed = kernel.assemble(q).q
    v = kernel.consistent_velocity(closed, v)
    np.testing.assert_allclose(
        user.acceleration(closed, v, np.ones(6)), kernel.acceleration(closed, v, np.ones(6)), atol=1e-8
    )


def test_user_rows_in_batches_and_every_formulation() -> None:
    mech = arm()
    q = np.array([[0.3, 0.9], [0.2, 1.0]])
    v = np.array([1.0, -1.0])
    batch = mech.forward_dynamics(q, v, t=0.2)
    for i in range(2):
        for formulation in ("nullspace", "svd", "projection", "lagrange"):
            one = mech.forward_dynamics(q[i], v, t=0.2, formulation=formulation)
            np.testing.assert_allclose(one.a, batch.a[i], rtol=1e-9)
    np.testing.assert_array_equal(mech.acceleration(q, v, np.zeros(2), t=0.2), batch.a)


def test_assembly_with_user_rows() -> None:
    mech = arm()
    found = mech.assemble([0.3, 0.9], t=0.5)
    assert found.success
    np.testing.assert_allclose(tip(found.q, 0.5), 0.0, atol=1e-14)


def test_drives_reach_the_kernel() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("arm", joint=sr.Revolute("z"), **BOX)
    spec.constrain("motor", sr.Drive("arm", lambda t: t**3))
    mech = spec.compile()
    t = 0.4
    terms = mech.terms([t**3], [3 * t**2], t)
    np.testing.assert_allclose([terms.phi[0], terms.b[0], terms.gamma[0]], [0.0, 3 * t**2, 6 * t], atol=1e-8)
    assert mech.acceleration([t**3], [3 * t**2], [0.0], t) == pytest.approx([6 * t])
    assert mech.forward_dynamics([t**3], [3 * t**2], t=t).lam == pytest.approx([(0.25 + 0.01) * 6 * t])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            {"phi": lambda q, t: [1.0, 2.0, 3.0]},
            r"phi of constraint 'tip' must return an array of shape \(2,\)",
        ),
        ({"phi": lambda q, t: "no"}, "phi of constraint 'tip' must return an array"),
        ({"phi": lambda q, t: [np.nan, 0.0]}, "phi of constraint 'tip' must return finite numbers"),
        (
            {"J": lambda q, t: np.zeros((2, 3))},
            r"J of constraint 'tip' must return an array of shape \(2, 2\)",
        ),
        ({"gamma": lambda q, v, t: 1.0}, "gamma of constraint 'tip' must return an array"),
        ({"b": lambda q, t: np.inf * np.ones(2)}, "b of constraint 'tip' must return finite numbers"),
    ],
)
def test_bad_user_functions_are_named(rows: dict[str, Any], message: str) -> None:
    spec = sr.MechanismSpec()
    spec.body("upper", joint=sr.Revolute("z"), **BOX)
    spec.body("lower", parent="upper", joint=sr.Revolute("z"), at=sr.Pose((L1, 0, 0)), **BOX)
    spec.constrain("tip", sr.CustomConstraint(**{"phi": tip, "n": 2, **rows}))
    with pytest.raises(sr.InputError, match=message):
        spec.compile().terms([0.0, 0.0], [0.0, 0.0])


def test_user_functions_cannot_change_the_state() -> None:
    def rude(q: Array, t: float) -> Array:
        q[:] = 7.0
        return np.zeros(2)

    spec = sr.MechanismSpec()
    spec.body("upper", joint=sr.Revolute("z"), **BOX)
    spec.body("lower", parent="upper", joint=sr.Revolute("z"), at=sr.Pose((L1, 0, 0)), **BOX)
    spec.constrain("tip", sr.CustomConstraint(rude, 2))
    q = np.array([0.1, 0.2])
    spec.compile().terms(q, np.zeros(2))
    assert q.tolist() == [0.1, 0.2]
