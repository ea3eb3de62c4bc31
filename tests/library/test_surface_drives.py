"""Geneva drive and flying follower against closed forms of textbooks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

G = 9.81


@pytest.mark.parametrize("slots", [3, 4, 6, 8])
def test_a_geneva_wheel_turns_by_one_slot_and_rests(slots: int) -> None:
    """[Norton2008]: m (cos t - m) / (1 + m^2 - 2 m cos t) times the crank, within what play leaves."""
    mech = sr.library.geneva_drive(slots)
    run = sr.simulate(mech, (0, 1.0), t_eval=np.linspace(0, 1, 1001))
    assert run.success, run.message
    crank, wheel = run.q[:, 0], run.q[:, 1]
    m, play = math.sin(math.pi / slots), 2e-5 / (0.1 * (1 - math.sin(math.pi / slots)))
    step = 2 * math.pi / slots
    engaged = math.pi / 2 - math.pi / slots
    theta = crank - 2 * math.pi
    inside = np.abs(theta) < engaged - 0.01
    expected = -np.arctan2(m * np.sin(theta), 1 - m * np.cos(theta)) - step / 2
    assert np.abs(wheel - expected)[inside].max() <= 2 * play
    resting = np.abs(theta) > engaged + 0.02
    lock = 2 * 2e-5 / 0.02  # play of the disc over the arm at which the arcs hold
    assert np.abs(wheel - np.where(theta > 0, -step, 0.0))[resting].max() <= lock
    ratio = np.abs(run.v[:, 1] / run.v[:, 0]).max()
    assert ratio == pytest.approx(m / (1 - m), rel=1e-3)  # samples miss the top by (2 pi / 1000)^2


def critical_speed(e: float = 0.01, mass: float = 0.2, k: float = 2000.0, preload: float = 10.0) -> float:
    return math.sqrt((2 * k * e + preload + mass * G) / (mass * e))


@pytest.mark.parametrize("part", [0.5, 0.999, 1.001, 1.1])
def test_a_follower_flies_above_its_critical_speed(part: float) -> None:
    speed = part * critical_speed()
    mech = sr.library.flying_follower(speed=speed, flywheel=1e6)
    run = sr.simulate(mech, (0, 1.5 * math.pi / speed))
    assert run.success, run.message
    lifts = [event for event in run.events if event.kind == "lift"]
    if part < 1:
        assert not lifts
        return
    force = 2000.0 * 0.01 + 10.0 + 0.2 * G
    angle = math.asin(force / ((0.2 * speed**2 - 2000.0) * 0.01))
    assert run.at(lifts[0].t).q[0] == pytest.approx(angle, abs=1e-6)


def test_a_follower_that_stays_is_pushed_as_computed() -> None:
    mech = sr.library.flying_follower(speed=50.0, flywheel=1e6)
    run = sr.simulate(mech, (0, 0.2))
    on = run.t > 0.01
    angle = run.q[on, 0]
    push = run.contacts.force[on].sum(axis=1)[:, 1]
    expected = 10.0 + 0.2 * G + 2000.0 * 0.01 * (1 + np.sin(angle)) - 0.2 * 0.01 * 50.0**2 * np.sin(angle)
    np.testing.assert_allclose(push, expected, rtol=1e-6)


def test_measures_that_make_no_machine() -> None:
    with pytest.raises(sr.InputError, match="geneva_drive needs 3 to 12 slots"):
        sr.library.geneva_drive(2)
    with pytest.raises(sr.InputError, match="a pin that is small"):
        sr.library.geneva_drive(4, pin=0.03)
    with pytest.raises(sr.InputError, match="0 < eccentricity < radius"):
        sr.library.flying_follower(eccentricity=0.05)
