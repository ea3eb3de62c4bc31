"""A lift on oil and a car on tyres against textbook formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

AREA, VOLUME, BULK = 2e-3, 1.5e-3, 1.2e9


def test_a_lift_starts_in_balance_and_swings_on_its_oil() -> None:
    """p A times the lever holds load and cylinder; the column of oil is a spring of K A^2 / V."""
    mech = sr.library.hydraulic_lift()
    q, v = mech.default
    np.testing.assert_allclose(mech.forward_dynamics(q, v).a / mech.units.unit, 0.0, atol=1e-12)
    held = mech.hold(q, by="cylinder", v=np.zeros(mech.nv))
    pressure = v[mech.names.index("pressure")]
    assert held.motors["cylinder"][0] == pytest.approx(pressure * AREA, rel=1e-9)
    # the lever by virtual work, and the inertia about the pin by a force on the arm
    per_arm = mech.consistent_velocity(q, fixed={"pin": 1.0})
    lever = per_arm[mech.names.index("cylinder")]
    moving = [k for k, name in enumerate(mech.names) if name != "pressure"]
    inertia = per_arm[moving] @ mech.mass_matrix(q)[np.ix_(moving, moving)] @ per_arm[moving]
    stiffness = BULK * AREA**2 / VOLUME * lever**2
    # weights that turn: by differences of the holding force along the lift
    step = 1e-4
    at = mech.sweep("pin", [-step, step]).q
    weight = mech.hold(at, by="pin", v=np.zeros(mech.nv)).motors["pin"]
    levers = [mech.consistent_velocity(x, fixed={"pin": 1.0})[mech.names.index("cylinder")] for x in at]
    geometric = (weight[1] - weight[0] - pressure * AREA * (levers[1] - levers[0])) / (2 * step)
    frequency = math.sqrt((stiffness + geometric) / inertia)
    found = sr.linearize(mech)
    assert np.max(found.natural_frequencies) == pytest.approx(frequency, rel=1e-6)


def test_a_flow_drives_the_piston() -> None:
    """In the mean the piston moves with Q / A: the oil keeps its volume but for its compression."""
    flow = 2e-5
    mech = sr.library.hydraulic_lift(flow=flow)
    run = sr.simulate(mech, (0, 2.0))
    stroke = run.q[-1, mech.names.index("cylinder")]
    start, end = (run.v[i, mech.names.index("pressure")] for i in (0, -1))
    assert stroke == pytest.approx(flow * 2.0 / AREA - (end - start) * VOLUME / BULK / AREA, rel=1e-7)
    heavier = mech.with_(load=500.0)
    assert heavier.default.v[mech.names.index("pressure")] > 1.9 * start


def test_steady_cornering() -> None:
    """[Gillespie1992] chapter 6: yaw rate v d / (l + m v^2 (b / Cf - a / Cr) / l) for small angles."""
    v, d, front, rear, m, a, b = 20.0, 1e-4, 60e3, 70e3, 1500.0, 1.2, 1.4
    run = sr.simulate(sr.library.tyre_car(steer=d), (0, 8.0), rtol=1e-11)
    l = a + b
    wanted = v * d / (l + m * v**2 * (b / front - a / rear) / l)
    assert run.v[-1, 2] == pytest.approx(wanted, rel=1e-5)


def test_critical_speed() -> None:
    """Where it oversteers an eigenvalue vanishes at v^2 = Cf Cr l^2 / (m (a Cf - b Cr))."""
    front, rear, m, a, b = 90e3, 60e3, 1500.0, 1.2, 1.4
    critical = math.sqrt(front * rear * (a + b) ** 2 / (m * (a * front - b * rear)))

    def slowest(v: float) -> float:
        car = sr.library.tyre_car(speed=v, steer=0.0, front=front, rear=rear)
        A = sr.linearize(car, independent=list(car.names)).A
        # rates of the slip speed vy - v angle and of the yaw rate
        body = np.array([[A[4, 4], A[4, 5] - v], [A[5, 4], A[5, 5]]])
        return float(np.max(np.linalg.eigvals(body).real))

    assert abs(slowest(critical)) < 1e-9
    assert slowest(0.95 * critical) < -1e-3 and slowest(1.05 * critical) > 1e-3


def test_copies_of_a_car() -> None:
    car = sr.library.tyre_car()
    many = sr.rollout(car, np.tile(car.default.q, (4, 1)), np.tile(car.default.v, (4, 1)), dt=1e-3, steps=100,
                      parameters={"steer": [0.0, 0.01, 0.02, 0.03]})  # fmt: skip
    assert many.v[0, -1, 2] == 0.0
    one = sr.simulate(car, (0, 0.1), dt=1e-3, method="rk4")
    np.testing.assert_allclose(many.v[2, -1], one.v[-1], rtol=1e-10, atol=1e-12)
