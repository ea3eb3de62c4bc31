"""Between steps: orders of the interpolant, also for quaternions, and states at times that were asked for."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import four_bar_moving, held_ball, spinning_top

MACHINES = {"double_pendulum": sr.library.double_pendulum, "top": spinning_top, "four_bar": four_bar_moving}


def worst(mech, coarse, fine, times):
    """Errors of q, v, a of a coarse trajectory between its steps, against a fine one."""
    a, b = coarse.at(times), fine.at(times)
    dq = np.abs(mech.difference(b.q, a.q)).max()
    return np.array([dq, np.abs(a.v - b.v).max(), np.abs(a.a - b.a).max()])


@pytest.mark.parametrize("name", MACHINES)
def test_orders_of_the_interpolant(name):
    """Exact states at the ends of intervals: q, v, a in between have order 6, 5, 4."""
    mech = MACHINES[name]()
    fine = sr.simulate(mech, (0.0, 0.4), dt=2e-4)
    times = np.linspace(0.0, 0.4, 333)
    errors = [worst(mech, thinned(fine, every), fine, times) for every in (200, 100)]
    order = np.log2(errors[0] / errors[1])
    np.testing.assert_allclose(order, [6.0, 5.0, 4.0], atol=0.6)


def thinned(trajectory, every):
    steps, u = trajectory._outcome.steps[::every], trajectory.u[::every]
    return sr.Trajectory(trajectory.system, dataclasses.replace(trajectory._outcome, steps=steps, u=u))


def test_ends_of_intervals_are_the_steps():
    run = sr.simulate(spinning_top(), (0.0, 0.1), dt=0.01)
    sample = run.at(run.t)
    np.testing.assert_allclose(sample.q, run.q, atol=1e-14)
    np.testing.assert_allclose(sample.v, run.v, atol=1e-12)
    np.testing.assert_allclose(sample.a, run.a, atol=1e-9)


def test_a_single_time_has_no_time_axis():
    run = sr.simulate(held_ball(), (0.0, 0.1))
    sample = run.at(0.05)
    assert (sample.q.shape, sample.v.shape, sample.a.shape) == ((7,), (6,), (6,))
    assert isinstance(sample.t, float)


def test_projected_states_are_on_the_constraints():
    mech = four_bar_moving()
    run = sr.simulate(mech, (0.0, 0.5), dt=0.02)
    times = np.linspace(0.003, 0.497, 41)
    raw, closed = run.at(times), run.at(times, project=True)
    gap = [np.abs(mech.terms(q, v).phi).max() for q, v in zip(raw.q, raw.v, strict=True)]
    assert max(gap) > 1e-11
    for q, v in zip(closed.q, closed.v, strict=True):
        terms = mech.terms(q, v)
        assert np.abs(terms.phi).max() < 1e-13 and np.abs(terms.J @ v).max() < 1e-12


def test_outside_of_the_trajectory_is_refused():
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.1))
    with pytest.raises(sr.InputError, match=r"within the trajectory, 0 to 0\.1 s"):
        run.at(0.2)


# ---------------------------------------------------------------------- t_eval


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_states_at_given_times_do_not_change_the_run(method):
    mech = four_bar_moving()
    times = np.linspace(0.0, 0.5, 8)
    plain = sr.simulate(mech, (0.0, 0.5), method=method)
    asked = sr.simulate(mech, (0.0, 0.5), method=method, t_eval=times)
    np.testing.assert_array_equal(asked.t, times)
    np.testing.assert_array_equal(asked.q[-1], plain.q[-1])
    assert asked.drift.max() <= 1e-12 and asked.velocity_drift.max() <= 1e-11
    np.testing.assert_allclose(asked.q, plain.at(times, project=True).q, atol=1e-13)
    assert asked.nfev == plain.nfev


def test_times_at_steps_are_the_steps():
    mech = sr.library.slider_crank()
    plain = sr.simulate(mech, (0.0, 0.3), dt=1e-3)
    asked = sr.simulate(mech, (0.0, 0.3), t_eval=np.linspace(0.0, 0.3, 31), dt=1e-3)
    np.testing.assert_array_equal(asked.q, plain.q[::10])
    np.testing.assert_array_equal(asked.a, plain.a[::10])


def test_inputs_at_given_times_are_held_or_interpolated():
    mech = sr.library.pendulum()
    times = np.array([0.0125, 0.0375])
    ramp = {"control": lambda t, q, v: [t], "t_eval": times}
    smooth = sr.simulate(mech, (0.0, 0.05), dt=0.01, **ramp)
    held = sr.simulate(mech, (0.0, 0.05), dt=0.01, control_dt=0.02, **ramp)
    np.testing.assert_allclose(smooth.u[:, 0], times, atol=1e-14)
    np.testing.assert_allclose(held.u[:, 0], [0.0, 0.02], atol=1e-14)


def test_every_tenth_step_and_the_last():
    mech = sr.library.pendulum()
    run = sr.simulate(mech, (0.0, 0.025), store_every=10, dt=1e-3)
    np.testing.assert_allclose(run.t, [0.0, 0.01, 0.02, 0.025])
    full = sr.simulate(mech, (0.0, 0.025), dt=1e-3)
    np.testing.assert_array_equal(run.q, full.q[[0, 10, 20, 25]])


def test_the_last_step_is_cut_to_the_end():
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.0105), dt=1e-3)
    assert run.t[-1] == 0.0105 and math.isclose(run.t[-1] - run.t[-2], 0.0005)
