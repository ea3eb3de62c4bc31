"""Energy across singular poses: runs that lost it by rounding say that they are wrong."""

from __future__ import annotations

import pytest

import sarrus as sr

from ..run.test_trouble import off_every_branch

OPTIONS = {
    "default": {},
    "tight": {"method": "dopri5", "rtol": 1e-12, "atol": 1e-13},
    "radau": {"method": "radau", "rtol": 1e-6},
    "fixed steps": {"dt": 1e-6},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("distance", [1e-5, 1e-7, 1e-8, 1e-9])
def test_success_keeps_the_energy(distance: float, name: str) -> None:
    """The turn onto a branch takes place within the distance from the singular pose.

    Version 0.1.0 called runs a success whose energy went from 11 to 247 J.
    """
    mech, q, v = off_every_branch(distance)
    run = sr.simulate(mech, (0, 1e-3), q, v, **OPTIONS[name])
    energy = run.energy
    kept = abs(energy[-1] - energy[0]) < 2e-3 * energy[0]
    assert kept or not run.success
    assert kept or "the energy is" in run.message or "Stopped after" in run.message


@pytest.mark.parametrize("damping", [0.0, 5.0, 50.0])
@pytest.mark.parametrize("speed", [0.01, 3.0])
def test_passes_that_do_work_are_no_error(speed: float, damping: float) -> None:
    """A parallelogram through its flat pose, where gravity moves it and dampers take what they can."""
    mech = sr.library.parallelogram()
    q = mech.assemble([0.02, -0.02, 0.02]).q
    v = mech.consistent_velocity(q, [-speed, speed, -speed])
    run = sr.simulate(mech, (0, 0.5), q, v, tau=lambda t, q, v: -damping * v)
    assert run.success, run.message
    assert any(event.kind == "singular" for event in run.events) or damping == 50.0
