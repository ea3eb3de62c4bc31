"""Driven mechanisms and long runs: against kinematics, without drift, in constant memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import sarrus as sr


def driven_slider_crank(speed: float, crank: float = 0.3, rod: float = 1.0) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    bar = {"mass": 1.0, "inertia": (0.0, 0.02, 0.02)}
    spec.body("crank", joint=sr.Revolute("z"), com=(crank / 2, 0, 0), **bar)
    at = sr.Pose((crank, 0.0, 0.0))
    spec.body("rod", parent="crank", joint=sr.Revolute("z"), at=at, com=(rod / 2, 0, 0), **bar)
    spec.constrain("guide", sr.PointOnPlane("ground", (0, 0, 0), "rod", (rod, 0, 0), "y"))
    spec.constrain("motor", sr.Drive("crank", lambda t: speed * t, lambda t: speed, lambda t: 0.0))
    return spec.compile()


def test_a_driven_slider_crank_against_kinematics() -> None:
    """x = r cos(w t) + sqrt(l^2 - r^2 sin^2(w t)), after thousands of turns of the integrator."""
    speed, r, l = 7.0, 0.3, 1.0
    mech = driven_slider_crank(speed, r, l)
    run = sr.simulate(mech, (0.0, 20.0), dt=2e-3, store_every=10)
    angle = speed * run.t
    x = [mech.pose(q, "rod").apply((l, 0.0, 0.0))[0] for q in run.q]  # type: ignore[union-attr]
    np.testing.assert_allclose(x, r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2), atol=1e-11)
    np.testing.assert_allclose(run.v[:, 0], speed, rtol=1e-13)
    assert run.drift.max() < 1e-12


def test_the_motor_does_the_work() -> None:
    """Energy of a driven mechanism changes by the power of the drive, lam times its rate."""
    mech = driven_slider_crank(7.0)
    run = sr.simulate(mech, (0.0, 1.0), dt=1e-3)
    power = 7.0 * run.lam[:, mech.row_names.index("motor")]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))])
    np.testing.assert_allclose(run.energy - run.energy[0], work, atol=2e-4 * np.abs(work).max())


def test_hundred_thousand_steps_of_the_four_bar() -> None:
    """Drift at rounding, energy bounded, memory of what is stored only. (bench/long_run.py: 10^7.)"""
    mech = sr.library.four_bar()
    tracemalloc.start()
    run = sr.simulate(mech, (0.0, 100.0), dt=1e-3, store_every=1000, energy=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(run) == 101 and run.nfev > 4e5
    assert run.drift.max() < 1e-12 and run.velocity_drift.max() < 1e-12 * np.abs(run.v).max()
    assert np.ptp(run.energy) < 1e-11 * np.abs(run.energy).max() + 1e-11
    assert peak < 30e6


def test_energy_of_rk4_stays_near_without_help() -> None:
    run = sr.simulate(sr.library.four_bar(), (0.0, 40.0), dt=1e-3, store_every=100)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5


def test_soft_stops_hold() -> None:
    """One-sided stiff stops, as forces: the door bounces and comes to rest."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    stop = {"limits": (-1.0, 0.5), "stop_stiffness": 1e4, "stop_damping": 50.0}
    spec.body("door", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1), **stop)
    run = sr.simulate(spec.compile(), (0.0, 3.0), [0.3], [2.0], dt=5e-4)
    hard = sr.simulate(spec.compile(), (0.0, 3.0), [0.3], [2.0], dt=5e-4, stops=True)
    assert run.q.min() > -1.1 and run.q[-1, 0] == pytest.approx(-1.0, abs=1e-3)
    assert hard.q[-1, 0] == pytest.approx(-1.0, abs=1e-12)
