"""What begins and ends within a long step of the default method: a touch, an event, a drive that dwells."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

RISE = 100.0 / (2 * 9.81)  # m, of a body thrown at 10 m/s


def thrown(**options: object) -> sr.Mechanism:
    """A body thrown upwards: its motion is a parabola, and steps of any length are exact."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("ball", joint=sr.Prismatic("z"), mass=1.0, **options)
    return spec.compile().with_default([0.0], [10.0])


@pytest.mark.parametrize("overshoot", [0.05, 0.2])
def test_a_hard_stop_is_hit(overshoot: float) -> None:
    """The body would be beyond the stop for 0.2 s and more, in the middle of a step of a second."""
    top = RISE - overshoot
    run = sr.simulate(thrown(limits=(None, top)), (0.0, 2.0), stops=True)
    hit = (10.0 - math.sqrt(2 * 9.81 * overshoot)) / 9.81
    assert run.success and run.q[-1, 0] == pytest.approx(top - 0.5 * 9.81 * (2.0 - hit) ** 2, abs=1e-8)


def test_a_limit_is_reported() -> None:
    run = sr.simulate(thrown(limits=(None, RISE - 0.01)), (0.0, 2.0))
    assert [event.kind for event in run.events] == ["limit", "limit"]  # out and back


def test_a_compliant_stop_is_hit() -> None:
    """50 mm beyond a stop of 1e5 N/m: thrown back with the speed it came with."""
    mech = thrown(limits=(None, RISE - 0.05), stop_stiffness=1e5)
    run = sr.simulate(mech, (0.0, 2.0))
    fine = sr.simulate(mech, (0.0, 2.0), method="rk4", dt=2e-5)
    assert run.success and run.q[-1, 0] == pytest.approx(fine.q[-1, 0], abs=1e-5)
    assert run.q[-1, 0] < -1.0


def test_events_within_a_step_are_found() -> None:
    run = sr.simulate(thrown(), (0.0, 2.0), events=lambda t, q, v: q[0] - 5.0)
    half = math.sqrt(2 * (RISE - 5.0) / 9.81)
    assert [event.t for event in run.events] == pytest.approx([10 / 9.81 - half, 10 / 9.81 + half], abs=1e-9)


def cycloid(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x - math.sin(2 * math.pi * x) / (2 * math.pi)


def test_a_drive_that_dwells_is_followed() -> None:
    """100 mm out and back between 0.7 and 0.9 s moves the mass on its spring."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("slide", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("mass", "slide", joint=sr.Prismatic("x"), mass=1.0)
    spec.force("spring", sr.JointSpring("mass", 100.0))
    cam = sr.Drive("slide", lambda t: 0.1 * (cycloid((t - 0.7) / 0.1) - cycloid((t - 0.8) / 0.1)))
    spec.constrain("cam", cam)
    mech = spec.compile()
    run = sr.simulate(mech, (0.0, 2.0))
    fine = sr.simulate(mech, (0.0, 2.0), method="rk4", dt=1e-4)
    assert run.success and np.abs(run.q).max() > 0.05
    np.testing.assert_allclose(run.q[-1], fine.q[-1], atol=1e-5)
