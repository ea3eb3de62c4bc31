"""What holds for every run: loops stay closed, time can be reversed, bits repeat, energy stays."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.library import MECHANISMS
from tests.simulation.machines import four_bar_moving, spherical_pendulum, spinning_top

# in runs they keep the mode of their contacts; forward_dynamics takes speeds of rounding for sliding
RESTING = ("ratchet", "spring_latch")
# steps that explicit methods can take; the cranks of the biped are light
STIFF = {"flyball_governor": 1e-6, "andrews": 1e-5, "biped": 2.5e-4}


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_stay_closed(name):
    """Drift at most 1e-12 L at every step, velocities on the constraints to 1e-12 per unit of speed."""
    mech = MECHANISMS[name]()
    dt = STIFF.get(name, 1e-3)
    run = sr.simulate(mech, (0.0, 400 * dt), dt=dt)
    assert run.success, run.message
    assert run.drift.max(initial=0.0) <= 1e-12 * mech.length
    speed = np.maximum(1.0, np.abs(run.v / mech.units.unit).max(axis=1))
    assert np.max(run.velocity_drift / mech.length / speed) <= 1e-12


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in RESTING])
def test_accelerations_are_those_of_forward_dynamics(name):
    mech = MECHANISMS[name]()
    dt = STIFF.get(name, 1e-3)
    run = sr.simulate(mech, (0.0, 20 * dt), dt=dt)
    motion = mech.forward_dynamics(run.q[5:], run.v[5:])
    np.testing.assert_allclose(run.a[5:], motion.a, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(run.constraint_force[5:], motion.constraint_force, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(run.lam[5:], motion.lam, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [sr.library.double_pendulum, four_bar_moving, spinning_top, spherical_pendulum, sr.library.bricard],
)
def test_time_can_be_reversed(make):
    """Back with the velocity reversed: as far as the truncation error of the way out and back."""
    mech = make()
    out = sr.simulate(mech, (0.0, 0.5))
    back = sr.simulate(mech, (0.0, 0.5), out.q[-1], -out.v[-1])
    assert np.abs(mech.difference(mech.default.q, back.q[-1])).max() < 1e-8
    assert np.abs(back.v[-1] + mech.default.v).max() < 1e-7


def test_time_can_be_reversed_through_a_singular_pose():
    mech = sr.library.slider_crank()
    out = sr.simulate(mech, (0.0, 2.0), dt=1e-3)
    assert len(out.events) == 1
    back = sr.simulate(mech, (0.0, 2.0), out.q[-1], -out.v[-1], dt=1e-3)
    assert np.abs(back.q[-1] - mech.default.q).max() < 1e-8


@pytest.mark.parametrize("method", ["rk4", "dopri5", "semi_implicit_euler"])
def test_the_same_input_gives_the_same_bits(method):
    mech = sr.library.five_bar("raised")
    one, two = (sr.simulate(mech, (0.0, 1.0), method=method) for _ in range(2))
    for field in ("t", "q", "v", "a", "drift", "lam", "constraint_force", "energy"):
        assert getattr(one, field).tobytes() == getattr(two, field).tobytes()
    assert [e.t for e in one.events] == [e.t for e in two.events]


def test_bits_do_not_depend_on_how_the_run_is_watched():
    """Pieces, progress bars, stored steps and idle controllers leave every number alone."""
    mech = sr.library.five_bar("raised")
    plain = sr.simulate(mech, (0.0, 0.7), dt=1e-3)
    thinned = sr.simulate(mech, (0.0, 0.7), store_every=7, events=lambda t, q, v: 1.0, dt=1e-3)
    idle = sr.simulate(mech, (0.0, 0.7), control=lambda t, q, v: np.zeros(4), control_dt=0.1, dt=1e-3)
    np.testing.assert_array_equal(thinned.q, plain.q[::7])
    np.testing.assert_array_equal(idle.q, plain.q)


# ---------------------------------------------------------------------- energy


@pytest.mark.parametrize("name", ["four_bar", "n_four_bar", "bricard", "bennett", "cable_robot"])
def test_energy_error_is_the_truncation_error(name):
    """At most 1.5 times that of the method: what 16 times less at half the step leaves."""
    mech = MECHANISMS[name]()
    errors = []
    for dt in (2e-3, 1e-3):
        run = sr.simulate(mech, (0.0, 1.0), dt=dt)
        errors.append(np.abs(run.energy - run.energy[0]).max())
    truncation = (errors[0] - errors[1]) * 16 / 15
    assert errors[0] <= 1.5 * truncation + 1e-12


def test_energy_over_many_steps():
    """A hundred thousand steps of Bricard's mechanism; a million are in the slow tests."""
    run = sr.simulate(sr.library.bricard(), (0.0, 100.0), store_every=100, dt=1e-3)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-10
    assert run.drift.max() <= 1e-12


@pytest.mark.slow
def test_energy_over_a_million_steps():
    run = sr.simulate(sr.library.bricard(), (0.0, 1000.0), store_every=1000, dt=1e-3)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-9
    assert run.drift.max() <= 1e-12


@pytest.mark.parametrize("make", [sr.library.double_pendulum, sr.library.four_bar, sr.library.five_bar])
def test_energy_can_be_kept_to_rounding(make):
    """[Spencer2004] 3.1.3: the velocity is scaled; the path stays the path."""
    mech = make("raised") if make is sr.library.five_bar else make()
    free = sr.simulate(mech, (0.0, 2.0), dt=2e-3)
    kept = sr.simulate(mech, (0.0, 2.0), dt=2e-3, energy=True)
    scale = np.abs(kept.energy[0]) + 1.0
    assert np.abs(kept.energy - kept.energy[0]).max() < 1e-11 * scale
    assert np.abs(kept.energy - kept.energy[0]).max() < np.abs(free.energy - free.energy[0]).max() / 10
    assert np.abs(kept.q - free.q).max() < 1e-3
    assert kept.drift.max() <= 1e-12


def test_baumgarte_and_none_let_loops_open():
    mech = four_bar_moving()
    drift = {
        how: sr.simulate(mech, (0.0, 2.0), correction=how, dt=4e-3).drift.max()
        for how in ("project", "baumgarte", "none")
    }
    assert drift["project"] < 1e-12 < drift["baumgarte"] < drift["none"]
