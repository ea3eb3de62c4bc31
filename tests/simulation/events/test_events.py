"""Events of the user: located, in the right direction, ending the run where they say so."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import four_bar_moving, spinning_top


def bottom(t, q, v):
    """The pendulum hangs straight down."""
    return math.cos(q[0])


def marked(function, **attributes):
    def event(t, q, v):
        return function(t, q, v)

    event.__name__ = function.__name__
    for name, value in attributes.items():
        setattr(event, name, value)
    return event


PERIOD = 2.3678419475762374


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_crossings_are_located(method):
    """From the horizontal it hangs down after a quarter and three quarters of the period."""
    run = sr.simulate(
        sr.library.pendulum(), (0.0, PERIOD), method=method, events=bottom, rtol=1e-10, atol=1e-12
    )
    assert [event.name for event in run.events] == ["bottom", "bottom"]
    times = [event.t for event in run.events]
    np.testing.assert_allclose(times, [PERIOD / 4, 3 * PERIOD / 4], atol=1e-9 if method == "rk4" else 1e-7)
    for event in run.events:
        assert event.kind == "user" and not event.terminal
        assert abs(math.cos(event.q[0])) < 1e-9
        assert abs(abs(event.v[0]) - math.sqrt(2 * 9.81)) < 1e-6


@pytest.mark.parametrize(("direction", "fractions"), [(1, [0.25]), (-1, [0.75]), (0, [0.25, 0.75])])
def test_directions(direction, fractions):
    """The mass starts at x = -1, so that x rises through zero first and falls through it on the way back."""

    def x(t, q, v):
        return math.cos(q[0])

    run = sr.simulate(sr.library.pendulum(), (0.0, PERIOD), events=marked(x, direction=direction))
    np.testing.assert_allclose([event.t for event in run.events], np.array(fractions) * PERIOD, atol=1e-8)


def test_a_terminal_event_ends_the_run_where_it_happens():
    mech = four_bar_moving()

    def crank_at_three(t, q, v):
        return q[0] - 3.0

    run = sr.simulate(mech, (0.0, 5.0), events=marked(crank_at_three, terminal=True))
    assert run.status == 1 and run.success and "crank_at_three" in run.message
    assert run.t[-1] == run.events[-1].t < 1.0
    assert run.q[-1, 0] == pytest.approx(3.0, abs=1e-11)
    assert run.events[-1].terminal and np.all(np.diff(run.t) > 0.0)
    assert run.drift[-1] <= 1e-12 and run.velocity_drift[-1] <= 1e-11
    np.testing.assert_allclose(run.a[-1], mech.forward_dynamics(run.q[-1], run.v[-1]).a, atol=1e-9)


def test_a_terminal_event_may_wait_for_its_third_crossing():
    run = sr.simulate(sr.library.pendulum(), (0.0, 10.0), events=marked(bottom, terminal=3), dt=1e-3)
    assert run.status == 1 and len(run.events) == 3
    assert run.t[-1] == pytest.approx(5 * PERIOD / 4, abs=1e-8)


def test_a_controller_never_sees_what_comes_after_the_end():
    seen = []

    def control(t, q, v):
        seen.append(t)
        return [0.0]

    run = sr.simulate(
        sr.library.pendulum(),
        (0.0, 5.0),
        control=control,
        events=marked(bottom, terminal=True),
        dt=1e-3,
    )
    assert max(seen) <= run.t[-1] + 2e-3


def test_an_event_that_is_zero_at_the_start_has_not_happened_yet():
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.1), events=lambda t, q, v: t)
    assert run.events == ()


def test_an_event_exactly_at_a_step_happens_once():
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.1), events=lambda t, q, v: t - 0.05)
    assert [event.name for event in run.events] == ["event 0"]
    assert run.events[0].t == pytest.approx(0.05, abs=1e-12)


def test_several_events_come_in_the_order_of_time():
    run = sr.simulate(
        sr.library.pendulum(),
        (0.0, 0.1),
        events=[lambda t, q, v: t - 0.0505, lambda t, q, v: t - 0.0102, lambda t, q, v: t - 0.0107],
    )
    assert [event.name for event in run.events] == ["event 1", "event 2", "event 0"]
    np.testing.assert_allclose([event.t for event in run.events], [0.0102, 0.0107, 0.0505], atol=1e-12)


def test_events_of_quaternions():
    """The free body reaches the top of its throw: the vertical velocity of its centre of mass is zero."""
    mech = spinning_top()
    com = np.array([0.1, -0.05, 0.2])

    def apex(t, q, v):
        return mech.velocity(q, v, "top", com)[2]

    run = sr.simulate(mech, (0.0, 0.5), dt=0.01, events=apex)
    rise = mech.velocity(*mech.default, "top", com)[2]
    assert rise > 0.0
    assert run.events[0].t == pytest.approx(rise / 9.81, abs=1e-8)


def test_an_event_that_stops_returning_numbers_ends_the_run_with_its_data():
    run = sr.simulate(sr.library.pendulum(), (0.0, 1.0), events=lambda t, q, v: 1.0 if t < 0.3 else math.nan)
    assert run.status == -3 and not run.success
    assert "event 0" in run.message and "nan" in run.message
    assert run.t[-1] >= 0.3


def test_an_event_that_raises_ends_the_run_with_its_traceback():
    def broken(t, q, v):
        return 1.0 / (1.0 if t < 0.3 else 0.0)

    run = sr.simulate(sr.library.pendulum(), (0.0, 1.0), events=broken)
    assert run.status == -3 and "ZeroDivisionError" in run.message and "broken" in run.message
