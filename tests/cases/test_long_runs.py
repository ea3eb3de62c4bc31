"""Threads U5, U6 and U8: loops that drift apart elsewhere, closed chains of many links, toggles."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr


def closed_chain(n: int) -> sr.Mechanism:
    """U6: n links between two pins 2 m apart, 1 kg at every moving pin, the first link 10 degrees up.

    n = 3 is the case of the thread: links of 0.8, 2 and 1 m.
    """
    lengths = [(0.8, 2.0, 1.0)[i % 3] for i in range(n)]
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name=f"chain of {n}")
    parent, at = "ground", sr.Pose()
    for i, length in enumerate(lengths[:-1]):
        tip = (length, 0.0, 0.0)
        spec.body(f"link{i + 1}", parent=parent, joint=sr.Revolute("z"), at=at, mass=1.0, com=tip)
        parent, at = f"link{i + 1}", sr.Pose(tip)
    end = (lengths[-2], 0.0, 0.0)
    spec.constrain("last", sr.Distance("ground", (2.0, 0.0, 0.0), parent, end, lengths[-1]))
    mech = spec.compile()
    found = mech.assemble(mech.neutral(), fixed={"link1": math.radians(10.0)})
    assert found.success, found.message
    return mech.with_default(found.q)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 10, 20, 30])
def test_closed_chains_of_any_length(n):
    mech = closed_chain(n)
    assert mech.mobility(mech.default.q).dof == n - 2
    run = sr.simulate(mech, (0.0, 2.0))
    assert run.success, run.message
    assert run.drift.max() <= 1e-12 * mech.length
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3 * n


def test_the_book_case_keeps_its_energy():
    run = sr.simulate(closed_chain(3), (0.0, 10.0), dt=1e-3)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8


def test_two_walking_legs_for_a_minute():
    run = sr.simulate(sr.library.jansen_leg(2), (0.0, 60.0), dt=2e-3, store_every=50)
    assert run.success and run.drift.max() <= 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5


def test_twelve_walking_legs():
    """U5: loops 'drift apart exponentially' elsewhere, NaN after 4 s; here for a little longer than that."""
    run = sr.simulate(sr.library.jansen_leg(12), (0.0, 5.0), dt=5e-3)
    assert run.success and run.drift.max() <= 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3


@pytest.mark.slow
def test_twelve_walking_legs_for_a_minute():
    run = sr.simulate(sr.library.jansen_leg(12), (0.0, 60.0), store_every=100)
    assert run.success and run.drift.max() <= 1e-12
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6


def test_a_motor_pushes_through_the_toggle_with_bounded_forces():
    """U8: 'at singular configurations it can exert high force'; the crank is driven through its toggles."""
    mech = sr.library.slider_crank(gravity=0.0).with_default([0.3, 2 * math.pi - 0.6])
    run = sr.simulate(mech, (0.0, 8.0), tau=[1.0, 0.0])
    toggles = [event for event in run.events if event.kind == "singular"]
    assert len(toggles) >= 2
    assert np.abs(run.constraint_force).max() < 50.0
    np.testing.assert_allclose(
        run.q[:, 1], 2 * math.pi - 2 * run.q[:, 0], atol=1e-8
    )  # no jump to the other branch
