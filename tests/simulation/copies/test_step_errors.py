"""Fixed steps that are too long are reported, copy by copy; the truth is a run with tight tolerances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sarrus as sr

STEPS = 200


def turning(speeds: np.ndarray) -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """A four-bar whose crank turns at these speeds [rad/s]."""
    mech = sr.library.four_bar()
    q = np.tile(mech.default.q, (len(speeds), 1))
    v = np.array([mech.consistent_velocity(q[0], fixed={mech.names[0]: speed}) for speed in speeds])
    return mech, q, v


def true_error(mech: sr.Mechanism, found: sr.Rollout, i: int) -> float:
    """Error of the positions at the end of copy i, which had no inputs [rad]."""
    run = sr.simulate(mech, (0.0, found.t[-1]), found.q[i, 0], found.v[i, 0], rtol=1e-11, atol=1e-13)
    return float(np.abs(mech.difference(run.q[-1], found.q[i, -1])).max())


@pytest.mark.parametrize("jumping", [False, True])
def test_copies_that_move_too_fast_are_named(jumping: bool) -> None:
    """One in the middle of a batch turns at 800 rad/s, another fast enough to lose digits but not its way."""
    mech, q, v = turning(np.array([1.0, 800.0, 2.0, 100.0]))
    rng = np.random.default_rng(0)
    u = 1e-9 * rng.normal(size=(4, STEPS, mech.nu)) if jumping else None
    with pytest.warns(sr.SarrusWarning, match=r"Steps of 0.002 s are too long for the motion of copy 3"):
        found = sr.rollout(mech, q, v, u, dt=2e-3, steps=STEPS)
    assert found.status.tolist() == [0, -1, 0, 0] and not found.success
    assert "the states are wrong. Steps of 0.002 s are too long" in found.messages[1]
    assert "Copy 1:" in found.message and "copy 3" in found.message
    assert (found.step_error[[0, 2]] < 1e-3).all() and found.step_error[3] > 1e-2
    for i in (0, 2):
        assert true_error(mech, found, i) < 1e-3


@pytest.mark.parametrize("jumping", [False, True])
@pytest.mark.parametrize(("name", "speed"), [("dual_arm", 1.0), ("slider_crank", 30.0), ("three_rrr", 10.0)])
def test_no_silence_about_large_errors_and_no_false_alarm(name: str, speed: float, jumping: bool) -> None:
    """Above 10 % of a radian every copy is reported, and none whose error is below 1e-5 rad."""
    mech = getattr(sr.library, name)()
    rng = np.random.default_rng(4)
    q = np.tile(mech.default.q, (6, 1))
    v = mech.consistent_velocity(q, speed * mech.units.unit * rng.normal(size=(6, mech.nv)))
    u = 1e-9 * rng.normal(size=(6, STEPS, mech.nu)) if jumping else None
    wrong = right = 0
    for dt in (5e-4, 4e-3, 8e-3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.SarrusWarning)
            found = sr.rollout(mech, q, v, u, dt=dt, steps=STEPS)
        for i in np.flatnonzero(found.length == STEPS + 1):
            error = true_error(mech, found, i)
            if error > 0.1:
                assert found.step_error[i] > 1e-2
                wrong += 1
            if error < 1e-5:
                assert found.step_error[i] <= 1e-2
                right += 1
    assert wrong and right


def test_the_same_verdict_as_a_single_run_and_the_same_bits_alone() -> None:
    """A run sums over all pairs of steps, a rollout over every second of them."""
    mech, q, v = turning(np.array([70.0, 3.0, 20.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        found = sr.rollout(mech, q, v, dt=2e-3, steps=STEPS)
        alone = sr.rollout(mech, q[:1], v[:1], dt=2e-3, steps=STEPS)
        run = sr.simulate(mech, (0.0, STEPS * 2e-3), q[0], v[0], dt=2e-3, method="rk4")
    assert alone.step_error[0] == found.step_error[0]
    said = float(run.message.split("equations of motion by ")[1].split()[0])
    assert found.step_error[0] == pytest.approx(said, rel=0.2)


def test_inputs_that_jump_cause_no_alarm() -> None:
    """Large random torques at every step: accelerations jump, and the steps are short enough."""
    mech = sr.library.dual_arm()
    rng = np.random.default_rng(0)
    q = np.tile(mech.default.q, (8, 1))
    v = mech.consistent_velocity(q, 0.2 * rng.normal(size=(8, mech.nv)))
    u = 5.0 * rng.normal(size=(8, 100, mech.nu))
    found = sr.rollout(mech, q, v, u, dt=1e-3, steps=100)
    fine = sr.rollout(mech, q, v, np.repeat(u, 8, axis=1), dt=1.25e-4, steps=800, every=8)
    error = np.abs(found.q[:, -1] - fine.q[:, -1]).max(axis=1)
    assert (found.step_error < 1e-2).all() and (error < 1e-2).all()
    assert (found.step_error > 0.1 * error).all()


def test_methods_that_choose_their_steps_are_not_tested() -> None:
    mech, q, v = turning(np.array([300.0]))
    found = sr.rollout(mech, q, v, dt=2e-3, steps=20, method="dopri5")
    assert found.success and np.isnan(found.step_error).all()
