"""Paths along one coordinate, on mechanisms whose path is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr


def closed(mech: sr.Mechanism, path: sr.projection.sweep.Sweep) -> float:
    """Largest |phi| along a path."""
    return max(float(np.abs(mech.terms(q, np.zeros(mech.nv)).phi).max()) for q in path.q)


def test_a_crank_goes_all_the_way_round() -> None:
    mech = sr.library.four_bar()
    start = mech.default.q
    path = mech.sweep("crank", start[0] + np.linspace(0.0, 2 * math.pi, 40))
    assert path.success
    assert path.message == "Swept 'crank' through 40 values."
    assert closed(mech, path) < 1e-14
    np.testing.assert_allclose(path.q[:, 0], path.values, atol=0.0)
    np.testing.assert_allclose(np.cos(path.q[-1]), np.cos(path.q[0]), atol=1e-12)


def test_the_branch_is_kept_through_the_flat_pose_of_a_parallelogram() -> None:
    mech = sr.library.parallelogram()
    path = mech.sweep("left", np.linspace(0.7, 0.7 + 2 * math.pi, 61))
    assert path.success
    np.testing.assert_allclose(path.q[:, 1], -path.q[:, 0], atol=1e-12)


def test_the_branch_is_kept_when_a_value_is_the_singular_pose() -> None:
    mech = sr.library.parallelogram()
    path = mech.sweep("left", [math.pi / 2, 3 * math.pi / 4, math.pi, 5 * math.pi / 4])
    assert path.success
    np.testing.assert_allclose(path.q[:, 1], -path.q[:, 0], atol=1e-6)
    assert path.singular.tolist() == [False, False, True, False]


def test_large_steps_are_divided() -> None:
    mech = sr.library.slider_crank()
    path = mech.sweep("crank", [2 * math.pi / 3, 4 * math.pi / 3])
    assert path.success
    np.testing.assert_allclose(path.q[:, 1], 2 * math.pi - 2 * path.q[:, 0], atol=1e-12)


def test_a_dead_centre_is_reported_where_it_is() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    spec.body("crank", joint=sr.Revolute("z"), **bar)
    spec.body("rod", parent="crank", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), **bar)
    spec.body("piston", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((1.0, 0, 0)))
    mech = spec.compile()
    start = mech.assemble([0.6, -0.8, 1.2], fixed={"crank": 0.6}).q
    path = mech.sweep("piston", np.linspace(start[2], 1.6, 30), q0=start)
    assert not path.success
    assert path.message.startswith("Stopped at 'piston' = 1.4 on the way to 1.4")
    assert 0 < len(path.q) < 30
    assert path.values[-1] <= 1.4
    assert closed(mech, path) < 1e-13


def test_a_path_may_start_at_a_singular_pose() -> None:
    mech = sr.library.five_bar()
    path = mech.sweep("link1", math.pi + np.linspace(0.0, 0.8, 9))
    assert path.success
    assert path.singular.tolist() == [True] + 8 * [False]
    assert closed(mech, path) < 1e-13


def test_redundant_freedoms_move_no_more_than_needed() -> None:
    mech = sr.library.dual_arm()
    path = mech.sweep(mech.names[0], mech.default.q[0] + np.linspace(0.0, 0.5, 6))
    assert path.success
    assert np.max(np.abs(np.diff(path.q, axis=0))) < 0.3


def test_no_start_is_said() -> None:
    mech = sr.library.four_bar()
    path = mech.sweep("rocker", [1e3 * math.pi + 0.1])
    assert not path.success
    assert path.q.shape == (0, 3)
    assert path.message.startswith("No start. Not assembled: 'pin'")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sr.library.four_bar().sweep("krank", [0.0]),
            sr.UnknownNameError,
            "unknown coordinate 'krank'",
        ),
        (lambda: sr.library.four_bar().sweep("crank", []), sr.InputError, "at least one number"),
        (lambda: sr.library.four_bar().sweep("crank", [[], []]), sr.InputError, "at least one number"),
        (lambda: sr.library.four_bar().sweep("crank", [0.0, np.nan]), sr.InputError, "values must be finite"),
        (
            lambda: sr.library.rolling_disk().sweep("disc.wx", [0.0]),
            sr.InputError,
            "sweep: 'disc.wx' belongs to a Free joint",
        ),
        (lambda: wheel().sweep("rail", [0.0]), sr.InputError, r"velocities only \(rolling\)"),
    ],
)
def test_bad_input_is_refused(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()  # type: ignore[operator]


def wheel() -> sr.Mechanism:
    """A disc that rolls along a rail."""
    spec = sr.MechanismSpec()
    spec.body("rail", joint=sr.Prismatic("x"), mass=1.0, at=sr.Pose((0, 0, 0.5)))
    spec.body("disc", parent="rail", joint=sr.Revolute("y"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("ground", sr.Rolling("disc", 0.5, axis="y"))
    return spec.compile()
