"""Errors of poses on SE(3): logarithm, derivatives, springs that keep their energy, half a turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.linalg import expm, logm

from sarrus.models.base.pose_error import PoseError, pose_error
from sarrus.models.base.rotation import exp, hat, log

Array = npt.NDArray[np.float64]

FORMS = [(screw, own) for screw in (True, False) for own in (False, True)]
ANGLES = (0.0, 1e-9, 1e-4, 0.1, 0.316, 0.317, 0.547, 0.548, 1.0, 2.5, 3.1)  # series end in between


class Path(NamedTuple):
    """A frame with constant acceleration of its point and constant angular acceleration, world axes."""

    R: Array
    x: Array
    V: Array
    A: Array

    def at(self, t: float) -> tuple[Array, Array, Array]:
        w, dw = self.V[3:], self.A[3:]
        turn = exp(w * t + dw * t * t / 2 + np.cross(dw, w) * t**3 / 12) @ self.R  # to third order in t
        return turn, self.x + self.V[:3] * t + self.A[:3] * t * t / 2, self.V + self.A * t


def pair(rng: np.random.Generator, angle: float) -> tuple[Path, Path]:
    """A frame, and a reference that is turned against it by this angle."""
    axis = rng.normal(size=3)
    R = exp(rng.normal(size=3))
    R_d = exp(angle * axis / np.linalg.norm(axis)) @ R
    x, V, A, x_d, V_d, A_d = (rng.normal(size=n) for n in (3, 6, 6, 3, 6, 6))
    return Path(R, x, V, A), Path(R_d, x_d, V_d, A_d)


def error(body: Path, goal: Path, form: tuple[bool, bool], t: float = 0.0) -> PoseError:
    R, x, V = body.at(t)
    R_d, x_d, V_d = goal.at(t)
    return pose_error((R, x, V), (R_d, x_d, V_d, goal.A), *form)


def left_jacobian(e: Array) -> Array:
    """Angular velocity in world axes per rate of the rotation vector."""
    angle = float(np.linalg.norm(e))
    K = hat(e) / angle
    return np.eye(3) + (1.0 - np.cos(angle)) / angle * K + (angle - np.sin(angle)) / angle * K @ K


def homogeneous(R: Array, x: Array) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, x
    return X


@pytest.mark.parametrize("angle", ANGLES)
def test_the_screw_is_the_logarithm_of_se3(angle: float) -> None:
    """exp of the error is the displacement still to be made, in the axes of the world or of the body."""
    body, goal = pair(np.random.default_rng(1), angle)
    X, X_d = homogeneous(body.R, body.x), homogeneous(goal.R, goal.x)
    centred = homogeneous(np.eye(3), body.x)  # world axes at the point
    wanted = {
        False: np.linalg.solve(centred, X_d @ np.linalg.solve(X, centred)),
        True: np.linalg.solve(X, X_d),
    }
    for own, displacement in wanted.items():
        e = error(body, goal, (True, own)).e
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = hat(e[3:]), e[:3]
        np.testing.assert_allclose(expm(twist), displacement, atol=1e-13)
        if 1e-6 < angle < 3.0:
            np.testing.assert_allclose(np.real(logm(displacement)), twist, atol=1e-10)
    in_body, from_goal = (error(*both, (True, True)).e for both in ((body, goal), (goal, body)))
    np.testing.assert_allclose(in_body, -from_goal, atol=1e-12)  # the same components from either end


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("angle", ANGLES)
def test_the_error_moves_as_stated(form: tuple[bool, bool], angle: float) -> None:
    """e' and e'' by differences of fourth order along a path with constant accelerations."""
    rng, h = np.random.default_rng(int(1e6 * angle)), 2e-3
    for _ in range(5):
        body, goal = pair(rng, angle)
        found = error(body, goal, form)
        e = [error(body, goal, form, t).e for t in (-2 * h, -h, 0.0, h, 2 * h)]
        first = (8 * (e[3] - e[1]) - (e[4] - e[0])) / (12 * h)
        rates = [error(body, goal, form, t).rate for t in (-2 * h, -h, h, 2 * h)]
        second = (8 * (rates[2] - rates[1]) - (rates[3] - rates[0])) / (12 * h)
        scale = 1.0 + np.abs(second).max()
        np.testing.assert_allclose(found.rate, first, atol=3e-7 * scale)
        np.testing.assert_allclose(found.c - found.T @ second, body.A, atol=1e-6 * scale)


@pytest.mark.parametrize("form", FORMS)
def test_shifts_and_turns_alone_are_the_same_for_both(form: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(3)
    body, goal = pair(rng, 1.2)
    for one in (goal._replace(x=body.x), goal._replace(R=body.R)):
        split = error(body, one, (False, form[1]))
        np.testing.assert_allclose(error(body, one, form).e, split.e, atol=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_series_join_the_closed_forms(form: tuple[bool, bool]) -> None:
    """Across the angles where series begin (0.316 and 0.548 rad) everything is the same to rounding."""
    body, goal = pair(np.random.default_rng(4), 1.0)
    axis = log(goal.R @ body.R.T)
    for joint in (np.sqrt(0.1), np.sqrt(0.3)):
        near = [
            error(body, goal._replace(R=exp((joint + x) * axis) @ body.R), form) for x in (-1e-5, 0.0, 1e-5)
        ]
        for part in ("e", "rate", "T", "c"):
            before, here, after = (getattr(one, part) for one in near)
            np.testing.assert_allclose(here, 0.5 * (before + after), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_a_spring_on_the_error_does_no_work_around_a_closed_path(form: tuple[bool, bool]) -> None:
    """The wrench T^-T K e along a loop through poses with turns up to 2.5 rad: its work is zero."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(6, 6))
    K = root @ root.T
    goal = Path(exp(np.array([0.3, -0.2, 0.5])), np.array([0.1, 0.2, -0.3]), np.zeros(6), np.zeros(6))
    n, work, size = 400, 0.0, 0.0
    a = rng.normal(size=(2, 6))
    for k in range(n):
        s = 2.0 * np.pi * k / n
        y = a[0] * np.cos(s) + a[1] * np.sin(2.0 * s)
        dy = -a[0] * np.sin(s) + 2.0 * a[1] * np.cos(2.0 * s)
        V = np.concatenate([dy[:3], left_jacobian(y[3:]) @ dy[3:]])
        found = error(Path(exp(y[3:]), y[:3], V, np.zeros(6)), goal, form)
        power = np.linalg.solve(found.T.T, K @ found.e) @ V
        np.testing.assert_allclose(power, -(K @ found.e) @ found.rate, atol=1e-9 * (1.0 + abs(power)))
        work, size = work + power * 2.0 * np.pi / n, size + abs(power) * 2.0 * np.pi / n
    assert abs(work) < 1e-9 * size


@pytest.mark.parametrize("form", FORMS)
def test_half_a_turn(form: tuple[bool, bool]) -> None:
    """Up to pi everything stays finite and T regular; beyond it the way round changes, energy does not."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        body, goal = pair(rng, np.pi)
        for one in (goal, goal._replace(x=body.x)):
            found = error(body, one, form)
            assert all(np.isfinite(part).all() for part in found)
            assert np.linalg.norm(found.e[3:]) == pytest.approx(np.pi, abs=1e-7)
            assert np.linalg.svd(found.T[3:, 3:])[1][-1] > 2.0 / np.pi - 1e-9
            assert np.linalg.norm(found.e[:3]) <= np.pi / 2 * np.linalg.norm(one.x - body.x) + 1e-9
        axis = log(goal.R @ body.R.T) / np.pi
        sides = [error(body, goal._replace(R=exp((np.pi + x) * axis) @ body.R), form) for x in (-1e-7, 1e-7)]
        np.testing.assert_allclose(sides[0].e[3:], -sides[1].e[3:], atol=1e-6)
        energies = [one.e[:3] @ one.e[:3] + 0.1 * one.e[3:] @ one.e[3:] for one in sides]
        assert energies[0] == pytest.approx(energies[1], rel=1e-5)


def test_against_pinocchio() -> None:
    pin: Any = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(7)
    for angle in (0.05, 0.5, 2.0, 3.0):
        body, goal = pair(rng, angle)
        still = error(body, goal._replace(V=np.zeros(6), A=np.zeros(6)), (True, True))
        M = pin.SE3(body.R, body.x).actInv(pin.SE3(goal.R, goal.x))
        np.testing.assert_allclose(still.e, pin.log6(M).vector, atol=1e-12)
        # e = log6(X^-1 X_d) while X moves at its own twist: e' = -Jlog6(M^-1) twist, by log6(M) = -log6(M^-1)
        twist = np.concatenate([body.R.T @ body.V[:3], body.R.T @ body.V[3:]])
        np.testing.assert_allclose(still.rate, -pin.Jlog6(M.inverse()) @ twist, atol=1e-11)
