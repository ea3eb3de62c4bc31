"""Limits that copies pass, stops that are springs, and measures along rollouts."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.copies.arguments import check_arguments
from sarrus.simulation.copies.cluster import run_part, split
from sarrus.simulation.copies.result import Rollout

NO_SWITCHES = {"switches": (), "stops": False, "mode0": None}


def sliding(**options: object) -> sr.Mechanism:
    """A cart on a rail with limits, and a pendulum on it."""
    spec = sr.MechanismSpec(name="cart")
    spec.body("cart", joint=sr.Prismatic("x"), mass=1.0, limits=(-0.5, 0.5), **options)
    spec.body("rod", "cart", joint=sr.Revolute("y"), mass=0.2, com=(0, 0, -0.3), inertia=(0.01, 0.01, 0.001))
    spec.actuate("cart", limits=(-2.0, 2.0))
    spec.measure("tip", sr.Position("rod", (0, 0, -0.6)))
    spec.measure("angle", sr.Angle("ground", "rod", axis="y"))
    return spec.compile()


def test_limits_are_events_of_the_copies_that_pass_them() -> None:
    mech = sliding()
    q, v = np.zeros((3, 2)), np.array([[0.1, 0.0], [2.0, 0.0], [-3.0, 0.5]])
    found = sr.rollout(mech, q, v, dt=1e-3, steps=400)
    run = sr.simulate(mech, (0.0, 0.4), q[1], v[1], dt=1e-3, method="rk4")
    assert found.success and found.events[0] == () and len(found.events[1]) == len(run.events) == 1
    mine, known = found.events[1][0], run.events[0]
    assert mine.kind == "limit" and mine.name == known.name == "cart" and mine.note == known.note
    assert abs(mine.t - known.t) < 1e-9 and np.abs(mine.q - known.q).max() < 1e-9
    assert "Beyond their limits, which stop nothing" in found.messages[1] and "copies 1, 2" in found.message
    assert found.messages[0] == "Reached the end, t = 0.4 s."


def test_inputs_beyond_their_limits() -> None:
    mech = sliding()
    u = np.zeros((2, 50, 1))
    u[1, 20:] = 3.0
    found = sr.rollout(mech, np.zeros(2), np.zeros(2), u, dt=1e-3, steps=50)
    assert found.events[0] == () and found.events[1][0].name == "actuator cart"
    assert abs(found.events[1][0].t - 0.02) < 1e-12 and "applied as they are" in found.messages[1]


def test_stops_that_are_springs_hold_copies() -> None:
    mech = sliding(stop_stiffness=1e4, stop_damping=20.0)
    v = np.array([[0.1, 0.0], [2.0, 0.0]])
    found = sr.rollout(mech, np.zeros((2, 2)), v, dt=5e-4, steps=1000)
    run = sr.simulate(mech, (0.0, 0.5), np.zeros(2), v[1], dt=5e-4, method="rk4")
    assert found.events == ((), ()) and found.q[1, :, 0].max() < 0.56
    assert np.abs(found.q[1] - run.q).max() < 1e-10


def test_events_are_an_argument_of_simulate_only() -> None:
    with pytest.raises(sr.SarrusError, match="rollout has no `events`"):
        sr.rollout(sliding(), np.zeros(2), dt=1e-3, steps=1, events=True)


def test_measures_of_kept_states() -> None:
    mech = sliding()
    v = np.array([[0.1, 25.0], [np.nan, 0.0], [0.0, 1.0]])
    found = sr.rollout(mech, np.zeros((3, 2)), v, dt=1e-3, steps=500, every=10)
    run = sr.simulate(mech, (0.0, 0.5), np.zeros(2), v[0], dt=1e-3, method="rk4", store_every=10)
    assert found["tip"].shape == (3, 51, 3) and found["angle"].shape == (3, 51)
    assert np.abs(found["tip"][0] - run["tip"]).max() < 1e-9
    assert np.abs(found["angle"][0] - run["angle"]).max() < 1e-9 and np.abs(found["angle"][0, -1]) > 2 * np.pi
    assert np.isnan(found["tip"][1]).all() and np.isfinite(found["tip"][2]).all()
    with pytest.raises(sr.SarrusError, match=r"tip.*angle|angle.*tip"):
        found["tup"]


def test_measures_of_copies_with_parameters_of_their_own() -> None:
    spec = sr.MechanismSpec()
    length = spec.parameter("length", 0.5)
    spec.body("rod", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.1))
    spec.body(
        "tip", "rod", joint=sr.Fixed(), at=sr.Pose((0, 0, -length)), mass=0.1, inertia=(1e-3, 1e-3, 1e-3)
    )
    spec.measure("end", sr.Position("tip"))
    mech = spec.compile()
    found = sr.rollout(mech, np.zeros(1), dt=1e-3, steps=5, parameters={"length": np.array([0.4, 0.6])})
    assert np.abs(found["end"][:, 0] - [[0, 0, -0.4], [0, 0, -0.6]]).max() < 1e-12


def test_forces_are_measured_with_the_inputs_of_each_step() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=2.0)
    spec.body("load", "cart", joint=sr.Fixed(), mass=1.0)
    spec.actuate("cart")
    spec.measure("pull", sr.Reaction("load"))
    mech = spec.compile()
    u = np.array([[[3.0], [6.0]], [[0.0], [9.0]]])
    found = sr.rollout(mech, np.zeros(1), np.zeros(1), u, dt=1e-3, steps=2)
    assert np.abs(found["pull"][:, :2, 0] - u[..., 0] / 3.0).max() < 1e-12


def test_parts_of_a_batch_say_the_same() -> None:
    """As on the workers of a cluster: events, messages and measures of each copy, whatever part it is in."""
    mech = sr.library.four_bar()
    q = np.tile(mech.default.q, (5, 1))
    v = np.array([mech.consistent_velocity(q[0], fixed={"crank": w}) for w in (1.0, 800.0, 2.0, 3.0, 100.0)])
    v[3] += 0.5
    options = {"policy": None, "parameters": None, "client": None, "device": "cpu", "dtype": "float64"}
    options |= {
        "contacts": "steps",
        "mech": mech,
        "q0": q,
        "v0": v,
        "u": None,
        "dt": 2e-3,
        "steps": 100,
        "method": "rk4",
    }
    given = check_arguments(
        options | {"every": 1, "threads": 1, "progress": False, "t0": 0.0, **NO_SWITCHES}, 2
    )
    whole = sr.rollout(mech, q, v, dt=2e-3, steps=100)
    joined = Rollout.joined((mech,), [run_part(part) for part in split(given, 3)], (given.dt, given.end))
    assert joined.message == whole.message and joined.messages == whole.messages
    assert "v0 does not satisfy the constraints" in whole.messages[3]
    assert np.array_equal(joined.step_error, whole.step_error, equal_nan=True)
