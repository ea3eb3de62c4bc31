"""Ratchet, spring latch and escapement: what holds, what gives way, and by which force."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

Array = np.ndarray


@pytest.mark.parametrize("teeth", [8, 12])
def test_a_ratchet_turns_one_way_and_holds_the_other(teeth: int) -> None:
    mech = sr.library.ratchet(teeth)

    def torque(t: float, q: Array, v: Array) -> Array:
        return np.array([-0.2 - 0.02 * v[0] if t < 0.5 else 0.5])

    run = sr.simulate(mech, (0, 1.5), control=torque, rtol=1e-6)
    assert run.success, run.message
    reached, pitch = run.q[:, 0].min(), 2 * math.pi / teeth
    assert reached < -3 * pitch
    assert 0 < run.q[-1, 0] - reached < pitch  # falls back by less than a tooth
    assert run.q[-1, 0] / pitch == pytest.approx(round(run.q[-1, 0] / pitch), abs=2e-3)
    assert np.abs(run.v[-1]).max() <= 1e-9
    # moment of the pushes about the shaft: they balance the torque
    found = mech.contacts(run.q[-1])
    closed = np.linalg.norm(run.contacts.force[-1], axis=1) > 0
    moment = np.cross(found.point_b[closed], run.contacts.force[-1][closed])[:, 2].sum()
    assert moment == pytest.approx(0.5, rel=1e-9)  # on b, the pawl; the wheel has the opposite


def test_a_latch_needs_the_force_of_its_wedge() -> None:
    """S tan(bevel + phi) on the bevel, and S mu on the flat top of the bolt."""
    mech = sr.library.spring_latch()

    def push(t: float, q: Array, v: Array) -> Array:
        return np.array([1000.0 * (0.05 - v[0])])

    run = sr.simulate(mech, (0, 1.2), control=push, rtol=1e-8)
    assert run.success, run.message
    force, slides = run.contacts.force.sum(axis=1), run.contacts.slip
    moving = (np.abs(slides).max(axis=(1, 2)) > 1e-3) & (force[:, 1] < -1e-6)
    share = force[moving, 0] / force[moving, 1]
    wedge, flat = math.tan(math.radians(35.0) + math.atan(0.2)), 0.2
    near = np.minimum(np.abs(share - wedge), np.abs(share - flat))
    assert near.max() <= 1e-9
    assert (np.abs(share - wedge) < 1e-9).sum() > 10
    spring = 800.0 * -run.q[moving, 1] + 4.0
    quiet = np.abs(run.a[moving, 1]) < 0.01
    bolt = mech.masses["bolt"]
    np.testing.assert_allclose(
        -force[moving, 1][quiet], spring[quiet] + bolt * run.a[moving, 1][quiet] * -1, atol=0.02 * bolt + 1e-6
    )


def test_a_latch_snaps_and_holds() -> None:
    mech = sr.library.spring_latch()

    def push_then_pull(t: float, q: Array, v: Array) -> Array:
        return np.array([12.0 - 20 * v[0] if t < 0.6 else -30.0])

    run = sr.simulate(mech, (0, 1.5), control=push_then_pull)
    assert run.success, run.message
    assert run.q[:, 1].min() == pytest.approx(-0.01, abs=1e-9)  # as far in as the bevel is high
    behind = 0.012 / math.tan(math.radians(35.0)) + 0.005 + 0.02 + 0.005  # nose, gap, strike, flat top
    assert run.q[-1, 0] == pytest.approx(behind, abs=1e-9)
    assert run.q[-1, 1] > -0.01 and np.abs(run.v[-1]).max() <= 1e-9
    assert run.contacts.force[-1].sum(axis=0)[0] == pytest.approx(30.0, rel=1e-9)


def test_a_pendulum_lets_the_wheel_go_on_by_half_a_tooth_each_swing() -> None:
    mech = sr.library.escapement()
    run = sr.simulate(mech, (0, 8), t_eval=np.linspace(0, 8, 4001))
    assert run.success, run.message
    angle = run.q[:, 1]
    down = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
    crossing = run.t[down] + 0.002 * angle[down] / (angle[down] - angle[down + 1])
    inertia = float(mech.mass_matrix([0.0, 0.0])[1, 1])
    stiffness = float(mech.bias([0.0, 1e-6], np.zeros(2))[1] - mech.bias([0.0, -1e-6], np.zeros(2))[1]) / 2e-6
    period = 2 * math.pi * math.sqrt(inertia / stiffness)
    assert np.diff(crossing).mean() == pytest.approx(
        period, rel=2e-3
    )  # amplitude^2 / 16 = 6e-4, and the push
    # at the ends of swings the wheel is locked: half a tooth for each
    ends = np.flatnonzero((run.v[:-1, 1] * run.v[1:, 1] < 0) & (run.t[1:] > 0.1))
    steps = -np.diff(run.q[ends, 0]) / (math.pi / 12)
    np.testing.assert_allclose(steps, 1.0, atol=1e-3)
    w = 2 * math.pi / period
    amplitude = math.sqrt(2 * 0.6 * 5e-4 / (12 * 8e-4 * w))
    assert np.abs(angle[-2000:]).max() == pytest.approx(amplitude, rel=0.03)  # pins fall while pallets turn


def test_measures_that_make_no_machine() -> None:
    with pytest.raises(sr.InputError, match="ratchet needs 6 to 24 teeth"):
        sr.library.ratchet(3)
    with pytest.raises(sr.InputError, match="a bevel of 10 to 70 degrees"):
        sr.library.spring_latch(bevel=80.0)
    with pytest.raises(sr.InputError, match="8 to 30 teeth"):
        sr.library.escapement(swing=0.0)
