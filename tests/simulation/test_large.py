"""Mechanisms of many loops, which are factorized by entries: same laws as small ones."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.system.system import System

G = 9.81  # [m/s^2]


@pytest.mark.parametrize("n", [10, 20, 60])
def test_row_of_four_bars_through_its_singular_pose(n: int) -> None:
    """Loops closed to rounding, energy to truncation, and never off the branch of parallel uprights.

    All uprights turn alike, n + 1 rods that turn and n that shift: speed follows from energy alone. Not so
    next to the flat pose, where rounding leaves each of them some speed of its own.
    """
    mech = sr.library.n_four_bar(n)
    run = sr.simulate(mech, (0.0, 1.5), dt=1e-3)
    assert run.success and len(run.events) >= 1
    angle, speed = run.q[:, 0], run.v[:, 0]
    assert np.abs(angle).max() > np.pi / 2 + 0.1, "it must pass the pose in which all links lie flat"
    level = run.q[:, 0:-1:2] + run.q[:, 1::2]
    assert np.abs(level).max() < 1e-8
    assert np.abs(mech.terms(run.q, run.v).phi).max() < 1e-12
    inertia, height = (n + 1) / 3 + n, ((n + 1) / 2 + n) * G
    total = mech.energy(run.q, run.v).total
    assert np.abs(total - total[0]).max() < 1e-11 * height
    alike = 0.5 * inertia * speed**2 + height * np.cos(angle)
    assert np.abs(alike - alike[0])[np.abs(np.cos(angle)) > 0.1].max() < 1e-10 * height


@pytest.mark.parametrize("theta", [0.3, 1.2, 0.5 * np.pi - 1e-6, 0.5 * np.pi])
def test_pivots_say_how_near_a_singular_pose_is(theta: float) -> None:
    """No pivot is less than the smallest singular value, and the smallest vanishes with it."""
    mech = sr.library.n_four_bar(20)
    system = System(mech)
    q = theta * np.where(np.arange(mech.nv) % 2, 1.0, -1.0)[None]
    least, value = system.nearness(np.zeros(1), q, mech.nc)[0], system.singular_values(np.zeros(1), q)[0, -1]
    assert least >= value * (1.0 - 1e-9) - 1e-15
    assert least <= 40.0 * value + 1e-15


def test_singular_poses_are_found_where_they_are() -> None:
    """All links lie flat when the uprights have turned by a quarter."""
    run = sr.simulate(sr.library.n_four_bar(20), (0.0, 1.5), dt=1e-3)
    for event in run.events:
        assert np.abs(np.cos(event.q[::2])).max() < 1e-9
        assert event.rank == 20


def test_resumed_run_goes_on_to_the_same_state() -> None:
    """To rounding: a checkpoint does not keep the vector that measures the distance from singular poses."""
    mech = sr.library.n_four_bar(20)
    whole = sr.simulate(mech, (0.0, 0.4), dt=1e-3)
    half = sr.simulate(mech, (0.0, 0.2), dt=1e-3)
    rest = half.resume(0.4)
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], rtol=1e-13)
    np.testing.assert_allclose(rest.v[-1], whole.v[-1], rtol=1e-12, atol=1e-13)
