"""States that are kept: at the times of t_eval, right and cheap however many they are; and in one place."""

from __future__ import annotations

import time

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.run.recorder import Column
from tests.simulation.machines import four_bar_moving, held_ball

TIMES = np.linspace(0.0, 1.0, 10_001)[1:] - 3.7e-5


@pytest.mark.parametrize("name", ["four_bar", "rolling_disk"])
def test_ten_thousand_times_cost_little(name):
    """One compiled call for all of them: 0.1 to 0.3 s where one call each took 5 and 17 s."""
    mech = sr.library.MECHANISMS[name]()
    began = time.perf_counter()
    run = sr.simulate(mech, (0.0, 1.0), method="rk4", dt=1e-3, t_eval=TIMES)
    assert time.perf_counter() - began < 2.5
    np.testing.assert_array_equal(run.t, TIMES)
    assert run.drift.max() < 1e-12 and run.velocity_drift.max() < 1e-11


@pytest.mark.parametrize("make", [four_bar_moving, held_ball, sr.library.bricard])
def test_states_agree_with_a_run_whose_steps_end_there(make):
    mech = make()
    fine = sr.simulate(mech, (0.0, 0.2), method="rk4", dt=5e-4)
    at = np.sort(np.random.default_rng(4).choice(fine.t, 57, replace=False))
    run = sr.simulate(mech, (0.0, 0.2), method="rk4", dt=2e-3, t_eval=at)
    which = np.searchsorted(fine.t, at)
    for name, bound in {"q": 1e-8, "v": 1e-7, "a": 1e-6, "lam": 1e-5}.items():  # errors of the steps of 2 ms
        scale = 1.0 + np.abs(getattr(fine, name)).max()
        assert np.abs(getattr(run, name) - getattr(fine, name)[which]).max() < bound * scale, name
    np.testing.assert_array_equal(run.rank, fine.rank[which])


def test_functions_of_the_system_are_called_at_each_time():
    spec = sr.MechanismSpec()
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    spec.body("arm", "wheel", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.constrain("motor", sr.Drive("wheel", lambda t: np.sin(t), np.cos, lambda t: -np.sin(t)))
    times = np.linspace(0.0, 1.0, 333)
    run = sr.simulate(spec.compile(), (0.0, 1.0), method="rk4", dt=1e-2, t_eval=times)
    np.testing.assert_allclose(run.q[:, 0], np.sin(times), atol=1e-12)
    np.testing.assert_allclose(run.a[:, 0], -np.sin(times), atol=1e-11)


@pytest.mark.parametrize("control_dt", [None, 0.02])
def test_inputs_between_steps_are_those_that_acted(control_dt):
    run = sr.simulate(
        sr.library.pendulum(),
        (0.0, 0.1),
        control=lambda t, q, v: [t],
        control_dt=control_dt,
        method="rk4",
        dt=1e-2,
        t_eval=np.linspace(0.001, 0.099, 50),
    )
    wanted = run.t if control_dt is None else np.floor(run.t / 0.02 + 1e-9) * 0.02
    np.testing.assert_allclose(run.u[:, 0], wanted, atol=1e-15)
    np.testing.assert_array_equal(run.tau, run.u)


def test_a_trajectory_projects_other_times_in_one_call():
    run = sr.simulate(sr.library.four_bar(), (0.0, 1.0), method="rk4", dt=1e-3)
    began = time.perf_counter()
    found = run.at(TIMES[TIMES > 0.0], project=True)
    assert time.perf_counter() - began < 2.0  # 5 s with one call each
    rows = [run.system.terms(q, v).phi for q, v in zip(found.q[::500], found.v[::500], strict=True)]
    assert np.abs(rows).max() < 1e-13


def test_a_column_is_what_was_added_to_it():
    rng = np.random.default_rng(5)
    pieces = [np.full((3, 2), 2.0), np.zeros((0, 2)), *(rng.normal(size=(n, 2)) for n in (1, 40, 7, 300))]
    column = Column()
    for piece in pieces:
        column.add(piece)
    np.testing.assert_array_equal(column.finish(), np.concatenate(pieces))


def test_a_column_of_equal_rows_takes_the_memory_of_one():
    column = Column()
    for n in (1, 10, 1000):
        column.add(np.full((n, 3), 2.0))
    rows = column.finish()
    assert rows.shape == (1011, 3) and np.all(rows == 2.0) and rows.strides[0] == 0
    undefined = Column()
    undefined.add(np.full(2, np.nan))
    assert np.isnan(undefined.finish()).all() and len(undefined.finish()) == 2


def test_states_are_kept_once():
    """The arrays of a trajectory are those of its outcome, and nobody may write to them."""
    run = sr.simulate(sr.library.four_bar(), (0.0, 0.1), dt=1e-3)
    for name in ("t", "q", "v", "a", "tau", "rank"):
        array = getattr(run, name)
        assert np.shares_memory(array, getattr(run._outcome.steps, name)) and not array.flags.writeable, name
    assert run.u.strides[0] == run.tau.strides[0] == run.rank.strides[0] == 0  # zero, zero, and the same rank
