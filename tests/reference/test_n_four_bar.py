"""IFToMM A02 against its exact reduction to one equation, through the poses where it gains N freedoms.

theta'' = (g/L) ((N+1)/2 + N) / ((N+1)/3 + N) sin(theta) on the branch on which the couplers translate.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sarrus as sr
from tests.reference.data import table


def reduction(n, t):
    """theta(t) from theta(0) = 0, theta'(0) = 1."""
    c = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    found = solve_ivp(
        lambda _, y: [y[1], c * math.sin(y[0])],
        (0.0, float(t[-1])),
        [0.0, 1.0],
        method="DOP853",
        t_eval=t,
        rtol=1e-13,
        atol=1e-14,
    )
    return found.y[0]


def test_two_bars_for_ten_seconds():
    trajectory = sr.simulate(sr.library.n_four_bar(2), (0.0, 10.0), dt=1e-3)
    assert np.abs(-trajectory.q[:, 0] - reduction(2, trajectory.t)).max() < 1e-9
    assert trajectory.drift.max() <= 1e-12
    assert np.abs(trajectory.energy - trajectory.energy[0]).max() < 1e-9


def test_every_singular_pose_is_an_event():
    """All links lie flat at theta = pi/2 + k pi: N = 2 keeps two of four rows."""
    trajectory = sr.simulate(sr.library.n_four_bar(2), (0.0, 10.0), dt=1e-3)
    passes = [event for event in trajectory.events if event.kind == "singular"]
    theta = np.array([-event.q[0] for event in passes])
    np.testing.assert_allclose(theta, np.pi / 2 + np.pi * np.arange(10), atol=1e-9)
    np.testing.assert_allclose([reduction(2, np.array([0.0, e.t]))[-1] for e in passes], theta, atol=1e-9)
    assert all(event.rank == 2 and event.singular_values[-1] < 1e-9 for event in passes)


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_dopri5_passes_with_a_bounded_number_of_steps(rtol):
    trajectory = sr.simulate(
        sr.library.n_four_bar(2), (0.0, 10.0), method="dopri5", rtol=rtol, atol=rtol / 100
    )
    assert trajectory.success
    assert trajectory.nfev < 500 * (1e-6 / rtol) ** 0.25 * 3
    assert np.abs(-trajectory.q[:, 0] - reduction(2, trajectory.t)).max() < 3000 * rtol
    assert len([event for event in trajectory.events if event.kind == "singular"]) == 10


def test_forty_bars_through_the_first_singular_poses():
    data = table("a02_nfourbar_n40")
    trajectory = sr.simulate(sr.library.n_four_bar(40), (0.0, 1.5), dt=2e-3)
    theta = reduction(40, trajectory.t)
    assert np.abs(-trajectory.q[:, 0] - theta).max() < 1e-8
    assert trajectory.drift.max() <= 1e-12
    given = data[data[:, 0] <= 1.5]
    sample = trajectory.at(given[:, 0]).q[:, 0]
    np.testing.assert_allclose(np.stack([-np.sin(sample), np.cos(sample)], axis=1), given[:, 1:], atol=2e-6)
