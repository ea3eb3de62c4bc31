"""Singular poses: passed on the smooth branch, reported with time, pose and singular values (U8)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

HALF = math.pi / 2


def passes(run):
    return [event for event in run.events if event.kind == "singular"]


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_slider_crank_passes_its_toggle(method):
    """[Aghili2005] VIII: singular at q1 = pi/2 and 3 pi/2; the crank goes on turning, forces stay bounded."""
    mech = sr.library.slider_crank(gravity=0.0).with_default([0.3, 2 * math.pi - 0.6], [2.0, -4.0])
    run = sr.simulate(mech, (0.0, 6.0), method=method, rtol=1e-9, atol=1e-11)
    poses = np.array([event.q for event in passes(run)])
    turns = len(poses)
    assert turns >= 3
    np.testing.assert_allclose(poses[:, 0], HALF + math.pi * np.arange(turns), atol=1e-7)
    assert all(event.rank == 0 and event.singular_values[0] < 1e-6 for event in passes(run))
    assert np.all(np.diff(run.q[:, 0]) > 0.0)  # the branch on which the slider moves on
    np.testing.assert_allclose(run.q[:, 1], 2 * math.pi - 2 * run.q[:, 0], atol=1e-8)
    assert np.abs(run.constraint_force).max() < 100.0 and np.abs(run.a).max() < 100.0
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6
    assert run.drift.max() <= 1e-12


def test_the_multiplier_jumps_where_the_constraint_force_does_not():
    """[Aghili2005] fig. 5: lam changes sign at the toggle, J.T lam passes smoothly."""
    mech = sr.library.slider_crank(gravity=0.0).with_default([1.0, 2 * math.pi - 2.0], [2.0, -4.0])
    run = sr.simulate(mech, (0.0, 0.6), tau=[1.0, 0.0], dt=1e-3)
    at = passes(run)[0].t
    i = int(np.searchsorted(run.t, at))
    before, after = run.lam[i - 3, 0], run.lam[i + 3, 0]
    assert before * after < 0.0 and min(abs(before), abs(after)) > 10.0
    steps = np.abs(np.diff(run.constraint_force, axis=0)).max(axis=1)
    assert steps[i - 5 : i + 5].max() < 2.0 * np.median(steps) + 1e-6


def test_starting_exactly_at_the_toggle_in_motion():
    """The limit of the lost row decides: ERRATA's a = (0.2, -0.4) for f = (1, 0)."""
    mech = sr.library.slider_crank()
    run = sr.simulate(mech, (0.0, 1.0), [HALF, math.pi], [1.0, -2.0], tau=[1.0, 0.0])
    np.testing.assert_allclose(run.a[0], [0.2, -0.4], atol=1e-12)
    assert run.events[0].t == 0.0 and run.events[0].rank == 0
    np.testing.assert_allclose(run.q[:, 1], 2 * math.pi - 2 * run.q[:, 0], atol=1e-9)


def test_a_user_row_starts_at_the_toggle_too():
    """Rows that Python computes have no limit in the kernel; the run uses a formulation that has."""
    mech = sr.library.slider_crank(gravity=0.0)
    system = sr.CustomSystem(
        2,
        2,
        M=lambda q, v, t: mech.mass_matrix(q),
        h=lambda q, v, t: mech.bias(q, v),
        phi=lambda q, v, t: [math.sin(q[0]) + math.sin(q[0] + q[1])],
    )
    run = sr.simulate(system, (0.0, 0.2), [HALF, math.pi], [1.0, -2.0], tau=[1.0, 0.0], dt=1e-3)
    same = sr.simulate(mech, (0.0, 0.2), [HALF, math.pi], [1.0, -2.0], tau=[1.0, 0.0], dt=1e-3)
    np.testing.assert_allclose(run.a[0], [0.2, -0.4], atol=1e-7)
    np.testing.assert_allclose(run.q, same.q, atol=1e-8)


def test_five_bar_from_rest_at_its_singular_pose():
    """[Spencer2004] example 1: falls, and is back at the singular pose after 2.8254 s."""
    run = sr.simulate(sr.library.five_bar(), (0.0, 5.0), dt=1e-3)
    assert run.success and run.drift.max() <= 1e-12
    found = passes(run)
    assert found[0].t == 0.0 and found[0].rank == 1
    assert found[1].t == pytest.approx(2.82537, abs=1e-4)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6


def test_five_bar_moving_through_it():
    """[Spencer2004] example 2."""
    run = sr.simulate(sr.library.five_bar("raised"), (0.0, 5.0), dt=1e-3)
    assert run.drift.max() <= 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5
    assert len(passes(run)) >= 2
    for event in passes(run):
        absolute = np.cumsum(event.q)
        np.testing.assert_allclose(np.sin(absolute), 0.0, atol=1e-5)  # all pins in one line


def test_a_pass_between_steps_is_found_whatever_the_step():
    mech = sr.library.slider_crank()
    times = [passes(sr.simulate(mech, (0.0, 1.6), dt=dt))[0].t for dt in (1e-3, 1.7e-3, 5e-3)]
    np.testing.assert_allclose(times, times[0], atol=1e-6)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_pass_within_the_first_or_the_last_step_is_found(method):
    """Steps of 0.05 s that begin just before, and end just after, the toggle."""
    mech = sr.library.slider_crank(gravity=0.0)

    def run(q1, end, dt=0.05):
        start = [q1, 2 * math.pi - 2 * q1]
        return sr.simulate(mech, (0.0, end), start, [1.0, -2.0], dt=dt, method=method)

    first = run(HALF - 0.01, 0.5)
    when = passes(run(HALF - 0.4, 1.0, dt=1e-3))[0].t
    last = run(HALF - 0.4, when + 0.003)
    for one in (first, last):
        assert len(passes(one)) == 1 and passes(one)[0].q[0] == pytest.approx(HALF, abs=1e-6)
    assert passes(last)[0].t == pytest.approx(when, abs=1e-5)


@pytest.mark.parametrize(
    ("make", "end"),
    [
        (sr.library.five_bar, 3.0),
        (lambda: sr.library.five_bar("raised"), 2.5),
        (sr.library.scott_russell, 1.0),
        (sr.library.sarrus, 1.0),
        (sr.library.delta, 0.8),
        (sr.library.parallelogram, 2.0),
    ],
)
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_chosen_steps_neither_collapse_nor_leave_the_branch(make, end, rtol):
    """Energy follows the tolerance through every pose; the number of steps stays that of the motion.

    The five-bar comes back to rest at its singular pose, where rounding alone is 1e-6 J; the message says so.
    """
    run = sr.simulate(make(), (0.0, end), method="dopri5", rtol=rtol, atol=rtol / 100)
    assert run.success, run.message
    scale = 1.0 + np.abs(run.energy[0])
    lost = np.abs(run.energy - run.energy[0]).max()
    at_rest = make is sr.library.five_bar
    assert lost < 3000 * rtol * scale + (1e-5 if at_rest else 0.0)
    assert at_rest or "less accurately" not in run.message
    assert run.nfev < 20_000 and run.drift.max() <= 1e-12


def test_far_from_singular_poses_there_is_no_event():
    assert sr.simulate(sr.library.four_bar(), (0.0, 2.0)).events == ()
    assert sr.simulate(sr.library.bricard(), (0.0, 2.0)).events == ()


@pytest.mark.parametrize("closure", ["pin", "point", "revolute"])
def test_redundant_loops_pass_singular_poses(closure):
    """U8 and U1: the parallelogram flattens twice per turn, whatever closes it; it never becomes a kite."""
    mech = sr.library.parallelogram(closure=closure, gravity=0.0)
    q = mech.default.q
    run = sr.simulate(mech, (0.0, 2.0), q, mech.consistent_velocity(q, fixed={"left": 5.0}))
    assert len(passes(run)) == 3
    np.testing.assert_allclose(run.q[:, 0] + run.q[:, 1], 0.0, atol=1e-9)  # the coupler stays level
    assert run.drift.max() <= 1e-12 and np.abs(run.constraint_force).max() < 1e4


def test_singular_values_can_be_plotted():
    run = sr.simulate(sr.library.slider_crank(), (0.0, 1.6), dt=1e-3)
    assert run.singular_values.shape == (len(run), 1)
    assert run.singular_values.min() < 0.01 < run.singular_values.max()


def test_a_step_that_ends_on_the_pose_itself():
    """17 four-bars in a row get flat within 1e-9 of the end of a step: no loop has a row to speak of."""
    run = sr.simulate(sr.library.n_four_bar(17), (0.0, 1.0), dt=1e-3)
    assert run.success and len(passes(run)) == 1
    assert np.ptp(run.energy) < 1e-8
