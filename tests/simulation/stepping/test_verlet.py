"""Velocity Verlet: energy errors stay bounded where those of Runge-Kutta methods grow, and time runs back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import four_bar_moving, held_ball

L = sr.library
MACHINES: dict[str, tuple[Callable[[], sr.Mechanism], float, float]] = {
    "pendulum": (L.pendulum, 0.05, 200.0),
    "a closed loop": (L.four_bar, 0.02, 300.0),
    "a ball held by a loop": (held_ball, 0.06, 150.0),
}


def largest_errors(mech: sr.Mechanism, dt: float, end: float, method: str) -> list[float]:
    """Largest energy error in each quarter of a run [J]."""
    run = sr.simulate(mech, (0.0, end), dt=dt, method=method)
    assert run.success, run.message
    off = np.abs(run.energy - run.energy[0])
    return [float(part.max()) for part in np.array_split(off, 4)]


@pytest.mark.parametrize("name", MACHINES)
def test_energy_error_is_bounded(name: str) -> None:
    make, dt, end = MACHINES[name]
    verlet = largest_errors(make(), dt, end, "verlet")
    rk4 = largest_errors(make(), dt, end, "rk4")
    assert max(verlet) < 1.02 * verlet[0]
    assert rk4[3] > 3.0 * rk4[0]


def test_energy_through_singular_poses() -> None:
    """A parallelogram passes its flat pose twice in every turn."""
    run = sr.simulate(L.parallelogram(), (0.0, 60.0), dt=0.01, method="verlet")
    off = np.abs(run.energy - run.energy[0])
    assert len(run.events) > 100
    assert off[len(off) // 2 :].max() < 1.02 * off[: len(off) // 2].max() < 0.1


@pytest.mark.parametrize("make", [L.double_pendulum, four_bar_moving, held_ball])
@pytest.mark.parametrize("dt", [4e-3, 1e-3])
def test_one_step_forth_and_back(make: Callable[[], sr.Mechanism], dt: float) -> None:
    """The method is symmetric, forces that depend on velocities and loops included: exact to rounding."""
    mech = make()
    there = sr.simulate(mech, (0.0, dt), dt=dt, method="verlet")
    back = sr.simulate(mech, (0.0, dt), there.q[-1], -there.v[-1], dt=dt, method="verlet")
    assert np.abs(mech.difference(mech.default.q, back.q[-1])).max() < 1e-14
    assert np.abs(back.v[-1] + mech.default.v).max() < 1e-11
