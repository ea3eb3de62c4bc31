"""IFToMM A01 against its closed form in elliptic functions and its published table."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ellipj, ellipk

import sarrus as sr
from tests.reference.data import table

PERIOD = 2.3678419475762374  # [s]
MODULUS = 0.5  # k^2 for a release from the horizontal


def closed_form(t):
    """x, y of the mass: sin(angle / 2) = k sn(K - w t), the angle from the vertical."""
    sn = ellipj(ellipk(MODULUS) - math.sqrt(9.81) * t, MODULUS)[0]
    angle = 2.0 * np.arcsin(math.sqrt(MODULUS) * sn)
    return np.stack([-np.sin(angle), -np.cos(angle)], axis=1)


def path(trajectory):
    return np.stack([np.cos(trajectory.q[:, 0]), np.sin(trajectory.q[:, 0])], axis=1)


def test_rk4_follows_the_closed_form():
    trajectory = sr.simulate(sr.library.pendulum(), (0.0, 20.0), dt=1e-3)
    assert np.abs(path(trajectory) - closed_form(trajectory.t)).max() < 1e-10


def test_dopri5_follows_the_closed_form():
    trajectory = sr.simulate(sr.library.pendulum(), (0.0, 20.0), method="dopri5", rtol=1e-11, atol=1e-12)
    assert np.abs(path(trajectory) - closed_form(trajectory.t)).max() < 1e-7
    assert trajectory.nfev < 20_000


def test_it_returns_after_one_period():
    rest = sr.simulate(sr.library.pendulum(), (0.0, PERIOD), dt=1e-3)
    assert abs(rest.q[-1, 0] - math.pi) < 1e-10 and abs(rest.v[-1, 0]) < 1e-9


def test_every_printed_digit_of_the_benchmark():
    data = table("a01_pendulum")
    trajectory = sr.simulate(sr.library.pendulum(), (0.0, 100.0), t_eval=data[:, 0], dt=1e-3)
    assert np.abs(path(trajectory) - data[:, 1:]).max() < 6e-7
