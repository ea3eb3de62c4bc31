"""References against finite differences of themselves, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sarrus as sr
from sarrus.control.outputs.references import Given, as_reference
from sarrus.models.base.pose_error import turn_error
from sarrus.models.base.rotation import exp, log

C = sr.control

VECTORS: dict[str, Callable[[float], Any]] = {
    "set-point": C.SetPoint([1.0, 2.0]),
    "minimum jerk": C.MinimumJerk([0.0, 1.0], [2.0, -1.0], 1.5, t0=0.2),
    "sinusoid": C.Sinusoid([0.1, 0.2], 0.5, [2.0, 3.0], np.pi / 9),
    "spline": C.Spline([0.0, 0.5, 1.1, 2.0], [[0.0, 1.0], [0.5, 0.0], [0.2, 0.3], [1.0, 1.0]]),
    "natural spline": C.Spline([0.0, 0.7, 2.0], [[0.0, 1.0], [0.5, 0.0], [1.0, 1.0]], ends="natural"),
    "of components": as_reference([C.MinimumJerk(0.0, 1.0, 2.0), C.Sinusoid(0.1, 0.2, 3.0)]),
    "mixed": as_reference((0.5, lambda t: (t**2, 2 * t, 2.0))),
    "function": Given(lambda t: (np.array([t**2, t]), [2 * t, 1.0], np.array([2.0, 0.0]))),
}


@pytest.mark.parametrize("name", VECTORS)
def test_velocity_and_acceleration_are_derivatives(name: str) -> None:
    reference, h = VECTORS[name], 1e-5
    for t in (0.31, 0.77, 1.23):
        before, here, after = (reference(t + s * h) for s in (-1.0, 0.0, 1.0))
        np.testing.assert_allclose((after.x - before.x) / (2 * h), here.v, atol=1e-7)
        np.testing.assert_allclose((after.v - before.v) / (2 * h), here.a, atol=1e-6)


def test_motions_between_rests_begin_and_end_at_rest() -> None:
    for reference, start, end in (
        (C.MinimumJerk(1.0, 3.0, 2.0), 1.0, 3.0),
        (C.Spline([0.0, 1.0, 2.0], [1.0, 5.0, 3.0]), 1.0, 3.0),
    ):
        for t, x in ((-1.0, start), (0.0, start), (2.0, end), (9.0, end)):
            here = reference(t)
            assert here.x == pytest.approx([x]) and here.v == pytest.approx([0.0], abs=1e-12)
    middle = C.MinimumJerk(1.0, 3.0, 2.0)(1.0)
    assert middle.x == pytest.approx([2.0]) and middle.v == pytest.approx([2.0 * 1.875 / 2.0])


def test_a_periodic_spline_repeats() -> None:
    reference = C.Spline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], ends="periodic")
    for part in range(3):
        np.testing.assert_allclose(reference(0.4)[part], reference(4.4)[part], atol=1e-12)


def test_a_pose_travels_straight_and_turns_the_short_way() -> None:
    start, end = sr.Pose((0.0, 0.0, 1.0)), sr.Pose((1.0, 2.0, 0.0), rpy=(0.4, -0.3, 1.2))
    reference, h = C.MinimumJerk(start, end, 2.0), 1e-5
    before, here, after = (reference(0.7 + s * h) for s in (-1.0, 0.0, 1.0))
    turn = log(after.x.rotation @ before.x.rotation.T) / (2 * h)
    np.testing.assert_allclose(here.v, [*(after.x.xyz - before.x.xyz) / (2 * h), *turn], atol=1e-8)
    np.testing.assert_allclose(here.a, (after.v - before.v) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(reference(2.0).x.rotation, end.rotation, atol=1e-14)


def test_rotations_against_scipy() -> None:
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-12, 1e-5, 0.1, 0.2, 1.0, 3.0, np.pi - 1e-9, np.pi):
        e = rng.normal(size=3)
        e *= angle / np.linalg.norm(e)
        R = Rotation.from_rotvec(e).as_matrix()
        np.testing.assert_allclose(exp(e), R, atol=1e-14)
        np.testing.assert_allclose(exp(log(R)), R, atol=1e-14)
        assert np.linalg.norm(log(R)) == pytest.approx(angle, abs=1e-9)


def test_the_error_of_an_orientation_moves_as_stated() -> None:
    """e' and e'' of log(R_d R') by differences along constant angular accelerations."""
    rng, h = np.random.default_rng(1), 1e-3

    def path(R: np.ndarray, w: np.ndarray, dw: np.ndarray, t: float) -> np.ndarray:
        # to third order in t: w and w' in world axes
        return exp(w * t + dw * t * t / 2 + np.cross(dw, w) * t**3 / 12) @ R

    for size in (1e-3, 0.3, 2.0):
        R, R_d = exp(rng.normal(size=3)), exp(rng.normal(size=3))
        R_d = exp(size * log(R_d @ R.T) / np.linalg.norm(log(R_d @ R.T))) @ R
        w, w_d, dw, dw_d = rng.normal(size=(4, 3))
        found = turn_error(R, w, R_d, w_d, dw_d)
        e = [log(path(R_d, w_d, dw_d, t) @ path(R, w, dw, t).T) for t in (-2 * h, -h, 0.0, h, 2 * h)]
        first = (8 * (e[3] - e[1]) - (e[4] - e[0])) / (12 * h)
        second = (16 * (e[3] + e[1]) - (e[4] + e[0]) - 30 * e[2]) / (12 * h**2)
        np.testing.assert_allclose(found.e, e[2], atol=1e-13)
        np.testing.assert_allclose(found.rate, first, atol=1e-7)
        np.testing.assert_allclose(found.c - found.T @ second, dw, atol=1e-4)


def test_what_users_give_becomes_a_reference() -> None:
    assert as_reference(2)(0.0).x == pytest.approx([2.0])
    assert isinstance(as_reference(sr.Pose())(0.0).x, sr.Pose)
    assert as_reference(lambda t: [t, 2 * t])(3.0).x == pytest.approx([3.0, 6.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: C.SetPoint([1.0, np.nan]), "SetPoint must be finite"),
        (lambda: C.SetPoint([[1.0], [2.0]]), "must be a number or a list of numbers, got shape"),
        (lambda: C.MinimumJerk(0.0, 1.0, 0.0), "duration of MinimumJerk must be positive, got 0"),
        (lambda: C.MinimumJerk(0.0, [1.0, 2.0], 1.0), r"same shape, got \(1,\) and \(2,\)"),
        (
            lambda: C.MinimumJerk(sr.Pose(), 1.0, 1.0),
            "two numbers, two arrays or two Poses; got Pose and float",
        ),
        (lambda: C.Sinusoid([1.0, 2.0], [1.0, 2.0, 3.0], 1.0), "must have the same length, got mean"),
        (lambda: C.Spline([0.0, 1.0], [1.0, 2.0], ends="free"), '"clamped", "natural" or "periodic", got'),
        (lambda: C.Spline([1.0, 0.0], [1.0, 2.0]), "at least two increasing times"),
        (lambda: C.Spline([0.0, 1.0], [1.0, np.inf]), "points of Spline must be finite"),
        (lambda: C.Spline([0.0, 1.0], [1.0, 2.0], ends="periodic"), "must end where it begins"),
        (lambda: Given(lambda t: (1.0, 2.0))(0.0), "must return .* or x alone, got a tuple of 2"),
    ],
)
def test_bad_references_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        make()


def test_lists_of_references_for_the_components_of_one_output() -> None:
    """A list of names is one output: references of its components make the law of one reference for all."""
    mech = sr.library.dual_planar_arms("body")
    names = ["object.x", "object.y", "object.angle"]
    path = C.Sinusoid([0.1, 0.0, 0.2], [0.05, 0.1, 0.0], [3.0, 2.0, 1.0])
    single = [C.Sinusoid(0.1, 0.05, 3.0), C.Sinusoid(0.0, 0.1, 2.0), 0.2]
    q, v = mech.default
    one = C.ProjectedInverseDynamics(mech, names, path).solve(0.3, q, v)
    several = C.ProjectedInverseDynamics(mech, names, single).solve(0.3, q, v)
    np.testing.assert_allclose(several.u, one.u, atol=1e-9)
    task = C.PriorityTask(names, single)
    np.testing.assert_allclose(C.TaskHierarchy(mech, task).solve(0.3, q, v).a, one.a, atol=1e-8)
    outputs = [C.Coordinates("object.x", "object.y"), "object.angle"]
    nested = C.ProjectedInverseDynamics(mech, outputs, [single[:2], 0.2]).solve(0.3, q, v)
    np.testing.assert_allclose(nested.u, one.u, atol=1e-9)
    with pytest.raises(sr.InputError, match="reference of output"):
        C.ProjectedInverseDynamics(mech, names, single[:2])
    with pytest.raises(sr.InputError, match="has numbers in it, no Poses"):
        C.ProjectedInverseDynamics(mech, names, [path, lambda t: sr.Pose()])
