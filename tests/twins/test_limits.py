"""Limits of motors in joint space: corners, boxes beside a general optimizer, speeds and positions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

import sarrus as sr
from sarrus.twins.limits import largest_box, polytope, torque_rows

from .robots import ankle
from .robots_given import twin_of


def test_corners_of_the_motors_are_on_the_polytope() -> None:
    twin = twin_of("ankle")
    q = [0.1, 0.2, -0.1]
    torque = twin.limits(q).torque
    for signs in product((-1.0, 1.0), repeat=3):
        tau = twin.to_joints(q, np.array(signs) * [80, 40, 40])
        assert torque.contains(tau) and not torque.contains(1.0001 * tau)
    for corner in product(*zip(torque.lower, torque.upper, strict=True)):
        assert np.all(np.abs(twin.to_motors(q, corner)) <= np.array([80, 40, 40]) * (1 + 1e-9))
        np.testing.assert_allclose(twin.limited(q, corner), corner, atol=1e-9)
    assert not torque.contains(1.01 * np.array([torque.upper[0], torque.upper[1], torque.upper[2]]))


def test_more_motors_than_joints() -> None:
    """Three motors on two joints: a point of the zonotope is a sum of shares of its generators."""
    rng = np.random.default_rng(0)
    J, low, high = rng.standard_normal((3, 2)), np.array([-1.0, -2.0, -1.5]), np.array([2.0, 1.0, 1.0])
    found = polytope(("a", "b"), *torque_rows(J, low, high))
    corners = np.array([J.T @ x for x in product(*zip(low, high, strict=True))])
    assert all(found.contains(x) for x in corners)
    reach = np.array([np.max(corners @ row) for row in found.A])
    np.testing.assert_allclose(found.b, reach, atol=1e-12)  # every row is a face


def test_joints_that_share_one_motor() -> None:
    found = polytope(("a", "b"), *torque_rows(np.array([[1.0, 2.0]]), np.array([-3.0]), np.array([3.0])))
    assert found.contains([1.5, 3.0]) and not found.contains([1.5, 2.9])
    np.testing.assert_array_equal([found.lower, found.upper], np.zeros((2, 2)))


@pytest.mark.parametrize("seed", range(6))
def test_the_box_is_the_largest(seed: int) -> None:
    """Beside SLSQP of SciPy from several starts."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    A, b = rng.standard_normal((8 + n, n)), rng.uniform(0.3, 2.0, 8 + n)
    A, b = np.vstack([A, np.eye(n), -np.eye(n)]), np.concatenate([b, np.full(2 * n, 3.0)])
    lower, upper = largest_box(A, b)
    C = np.hstack([np.maximum(-A, 0), np.maximum(A, 0)])
    assert np.all(C @ np.concatenate([-lower, upper]) <= b * (1 + 1e-9))
    best = 0.0
    for _ in range(6):
        found = minimize(
            lambda x: -float(np.sum(np.log(x[:n] + x[n:] + 1e-12))),
            rng.uniform(0.0, 0.05, 2 * n),
            method="SLSQP",
            bounds=[(0, None)] * (2 * n),
            constraints={"type": "ineq", "fun": lambda x: b - C @ x},
            options={"ftol": 1e-14, "maxiter": 400},
        )
        best = max(best, float(np.prod(found.x[:n] + found.x[n:]))) if found.success else best
    assert float(np.prod(upper - lower)) >= best * (1 - 1e-6) > 0.0


def test_speeds_and_positions_of_motors() -> None:
    twin = sr.twin(ankle(), ("shank", "foot"), speeds={"left_crank": 5.0, "right_crank": 4.0})
    q = [0.0, 0.2, 0.1]
    found, J = twin.limits(q), twin.jacobian(q)
    corner = np.linalg.solve(J[1:, 1:], [5.0, -4.0])
    assert found.speed.contains([9.0, *corner]) and not found.speed.contains([9.0, *1.001 * corner])
    assert np.isinf(found.speed.upper[0]) and np.all(found.speed.upper[1:] > 0.5)
    fast = twin.limits(q, [0.0, *corner])
    slow = twin.to_joints(q, [0.0, -40.0, 40.0])
    assert fast.torque.contains(slow) and not fast.torque.contains(-slow)
    assert found.within and found.position.contains(np.zeros(3))
    margins = np.linalg.solve(J[1:, 1:], [1.2 - twin.motors(q)[1], 0.0])
    assert found.position.contains([0.0, *margins]) and not found.position.contains([0.0, *1.01 * margins])
    out = twin.limits([0.0, 1.3, 0.0])
    assert not out.within and "beyond their limits of position" in out.message


def test_joints_without_motors_are_named() -> None:
    message = twin_of("floating ankle").limits(twin_of("floating ankle").tree.default.q).message
    assert "no box of torques at shank.vx" in message


def test_too_many_motors_at_once_are_refused() -> None:
    with pytest.raises(sr.InputError, match="9 motors act on 2 joints"):
        torque_rows(np.ones((9, 2)) + np.eye(9, 2), -np.ones(9), np.ones(9))
