"""Convergence orders, measured: also with quaternions and on constraint manifolds. Oracle: a finer run."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import error, four_bar_moving, held_ball, spherical_pendulum, spinning_top

MACHINES = {
    "double_pendulum": sr.library.double_pendulum,
    "four_bar": four_bar_moving,
    "slider_crank": sr.library.slider_crank,
    "top": spinning_top,
    "spherical_pendulum": spherical_pendulum,
    "held_ball": held_ball,
}
END = 0.5


def exact(mech):
    return sr.simulate(mech, (0.0, END), method="dopri5", rtol=1e-13, atol=1e-14)


def slope(sizes, errors):
    """Order from the two finest steps."""
    return math.log(errors[-2] / errors[-1]) / math.log(sizes[-2] / sizes[-1])


@pytest.mark.parametrize("name", MACHINES)
def test_rk4_has_order_four(name):
    mech = MACHINES[name]()
    sizes = [0.005, 0.0025]
    errors = [error(mech, sr.simulate(mech, (0.0, END), dt=dt), exact(mech)) for dt in sizes]
    assert slope(sizes, errors) == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize("name", MACHINES)
def test_semi_implicit_euler_has_order_one(name):
    mech = MACHINES[name]()
    sizes = [2e-4, 1e-4]
    runs = [sr.simulate(mech, (0.0, END), dt=dt, method="semi_implicit_euler") for dt in sizes]
    errors = [error(mech, run, exact(mech)) for run in runs]
    assert slope(sizes, errors) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("name", MACHINES)
def test_dopri5_has_order_five(name):
    """Steps never pass a sample of the controller: without tolerances the samples are the steps."""
    mech = MACHINES[name]()
    sizes = [0.0125, 0.00625]
    idle = {"control": lambda t, q, v: np.zeros(mech.nu), "rtol": 1e6, "atol": 1e6}
    runs = [sr.simulate(mech, (0.0, END), method="dopri5", dt=dt, control_dt=dt, **idle) for dt in sizes]
    assert all(len(run) == round(END / dt) + 1 for run, dt in zip(runs, sizes, strict=True))
    errors = [error(mech, run, exact(mech)) for run in runs]
    assert 4.7 < slope(sizes, errors) < 6.0  # it comes down to five from above


@pytest.mark.parametrize("name", MACHINES)
def test_dopri5_meets_its_tolerance(name):
    mech = MACHINES[name]()
    for rtol in (1e-5, 1e-8):
        run = sr.simulate(mech, (0.0, END), method="dopri5", rtol=rtol, atol=rtol)
        assert error(mech, run, exact(mech)) < 300 * rtol


def test_a_body_on_a_loop_moves_as_on_a_joint():
    """Coordinates differ, the motion does not: rotations of the two pendulums agree to rounding."""
    free = sr.simulate(spherical_pendulum(), (0.0, 1.0))
    held = sr.simulate(held_ball(), (0.0, 1.0))
    np.testing.assert_allclose(held.q[:, 3:], free.q, atol=1e-9)
    assert held.drift.max() <= 1e-12
    assert np.abs(np.linalg.norm(held.q[:, 3:], axis=1) - 1.0).max() < 1e-14


def test_angular_momentum_of_a_free_body_is_kept():
    mech = spinning_top().with_(gravity=(0.0, 0.0, 0.0))
    run = sr.simulate(mech, (0.0, 1.0))
    momentum = []
    for q, v in zip(run.q[[0, -1]], run.v[[0, -1]], strict=True):
        pose = mech.pose(q, "top")
        generalized = mech.mass_matrix(q) @ v  # [linear; angular about the body's origin], body axes
        p, L = pose.rotation @ generalized[:3], pose.rotation @ generalized[3:]
        momentum.append(np.concatenate([p, L + np.cross(pose.xyz, p)]))
    np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-10)
