"""Energy across singular poses: runs that lost it by rounding say that they are wrong."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.events.interpolation import Manifold
from sarrus.simulation.events.pass_energy import PassEnergy, energy_lost
from sarrus.simulation.system.step_records import Steps
from sarrus.simulation.system.system import System

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
    allowed = 2e-2 if "dt" in OPTIONS[name] else 2e-3
    kept = abs(energy[-1] - energy[0]) < allowed * energy[0]
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


@pytest.mark.parametrize("dt", [1e-3, 1e-5])
def test_copies_that_lose_energy_fail_alone(dt: float) -> None:
    """Copies at several distances from the pose, and two on a branch."""
    states = [off_every_branch(distance)[1:] for distance in (0.0, 1e-10, 1e-9, 1e-8, 1e-7)]
    mech = sr.library.five_bar()
    states += [(mech.default.q, branch.direction) for branch in mech.branches(mech.default.q)]
    q, v = (np.array(part) for part in zip(*states, strict=True))
    run = sr.rollout(mech, q, v, dt=dt, steps=20)
    for i in range(len(q)):
        last = run.length[i] - 1
        energy = mech.energy(run.q[i, [0, last]], run.v[i, [0, last]]).total
        kept = abs(energy[1] - energy[0]) < 2e-2 * energy[0]
        assert kept or run.status[i] != 0, (i, energy)
    assert np.all(run.status[5:] == 0) and np.all(run.status[:2] != 0)


def test_states_that_hardly_move() -> None:
    """At 1e-320 rad/s a change of state takes longer than any number of seconds: the power is zero."""
    mech = sr.library.bricard()
    system, manifold = System(mech), Manifold(mech._kernel, mech.model)
    v = 1e-320 * np.ones(mech.nv)
    state = {"q": mech.default.q, "v": v, "a": 0.0 * v, "tau": 0.0 * v}
    rest = dict.fromkeys(("drift", "velocity_drift", "pivot", "rank"), 0.0)
    steps = Steps.of([state | rest | {"t": t} for t in (0.0, 1e-3)], mech.nq, mech.nv)
    assert energy_lost(system, manifold, steps[:1], steps[1:]) is None


@pytest.mark.parametrize("part", [1e-7, 1e-4])
def test_a_step_across_a_pose_that_loses_energy_is_said(part: float) -> None:
    """The states before and after, with a velocity that is too large by half of `part`."""
    mech = sr.library.parallelogram(gravity=0.0)
    q = mech.default.q
    run = sr.simulate(mech, (0.0, 0.5), q, mech.consistent_velocity(q, fixed={"left": 5.0}), method="dopri5")
    i = int(np.searchsorted(run.t, run.events[0].t))
    before, after = (
        Steps.of([{"drift": 0.0, "velocity_drift": 0.0, "pivot": 1.0, "rank": 2} | state], 3, 3)
        for state in (
            {"t": run.t[i - 1], "q": run.q[i - 1], "v": run.v[i - 1], "a": run.a[i - 1], "tau": np.zeros(3)},
            {
                "t": run.t[i],
                "q": run.q[i],
                "v": run.v[i] * (1.0 + part / 2),
                "a": run.a[i],
                "tau": np.zeros(3),
            },
        )
    )
    system = System(mech)
    watch = PassEnergy(system, Manifold(system.kernel, system.model), before, 1e-3)
    watch.cross(before, after)
    assert watch.sentence() == ""
    assert ("less accurately than rtol = 1e-10" in watch.doubt(1e-10)) == (part > 1e-6)
