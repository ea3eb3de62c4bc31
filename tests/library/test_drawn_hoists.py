"""Tackle, V-belt, freewheel and overhung gearbox against the formulas of textbooks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

G = 9.81


@pytest.mark.parametrize("falls", [1, 2, 4])
def test_a_tackle_divides_its_load(falls: int) -> None:
    """The rope pulls with m g / n; the drum winds up n times the lift."""
    mech = sr.library.tackle(falls, load=800.0)
    held = mech.hold(mech.default.q, frame="world")
    assert held["rope"][0] == pytest.approx(800.0 * G / falls, rel=1e-9)
    assert abs(held.motors["drum"][0]) == pytest.approx(800.0 * G / falls * 0.15, rel=1e-9)
    assert held.reactions["drum"][0, 1] == pytest.approx(800.0 * G / falls + 20.0 * G, rel=1e-9)
    v = mech.consistent_velocity(mech.default.q, fixed={"load": 1.0})
    assert abs(v[mech.names.index("drum")]) * 0.15 == pytest.approx(falls, rel=1e-12)


@pytest.mark.parametrize("mu", [0.2, 0.3])
def test_a_v_belt_carries_what_euler_says(mu: float) -> None:
    """2 F (m - 1) / (m + 1) along the belt, m = exp(mu angle / sin(groove / 2)); shafts bear both strands."""
    mech = sr.library.v_belt(friction=mu)
    run = sr.simulate(mech, (0, 0.5), control=lambda t, q, v: [60.0])
    sine = (0.15 - 0.06) / 0.5
    m = math.exp(mu * (math.pi - 2.0 * math.asin(sine)) / math.sin(math.radians(19.0)))
    force = 2.0 * 400.0 * (m - 1.0) / (m + 1.0)
    assert -run["on_motor"][-1, 5] == pytest.approx(0.06 * force, rel=1e-3)
    along = math.sqrt(1.0 - sine**2) * 800.0  # both strands, at the angle of the strands to the centres
    assert run["on_motor"][-1, 0] == pytest.approx(along, rel=1e-6)
    assert run["on_machine"][-1, 0] == pytest.approx(-along, rel=1e-6)


def test_a_freewheel_drives_and_runs_on() -> None:
    mech = sr.library.freewheel()
    driver, rotor = (mech.names.index(name) for name in ("driver", "rotor"))
    run = sr.simulate(mech, (0, 1), control=lambda t, q, v: [10.0])
    w = 10.0 / 0.1 * (1.0 - math.exp(-0.1 / 0.52))  # both as one inertia against the drag
    assert run.v[-1, driver] == pytest.approx(w, rel=2e-3) and run.v[-1, rotor] == pytest.approx(w, rel=2e-3)
    after = sr.simulate(mech, (0, 1), run.q[-1], run.v[-1], control=lambda t, q, v: [-2.0 * v[driver]])
    assert abs(after.v[-1, driver]) < 1e-3
    assert after.v[-1, rotor] == pytest.approx(run.v[-1, rotor] * math.exp(-0.1 / 0.5), rel=2e-3)


@pytest.mark.parametrize(("overhang", "apart"), [(0.06, 0.12), (0.1, 0.05)])
def test_bearings_of_an_overhung_pinion(overhang: float, apart: float) -> None:
    """Lever rule: F / cos(20 degrees) times 1 + 2 overhang / apart on both journals together."""
    mech = sr.library.overhung_gearbox(overhang=overhang, apart=apart)
    v = mech.consistent_velocity(mech.default.q, fixed={"shaft": 10.0})
    tau = [20.0, -60.0]
    moved = mech.forward_dynamics(mech.default.q, v, tau)
    force = abs(mech.measure(mech.default.q, v, tau=tau)["tooth"]) / math.cos(math.radians(20.0))
    wanted = 0.05 * 0.02 * force * (1.0 + 2.0 * overhang / apart)
    assert -moved.friction[0] == pytest.approx(wanted, rel=1e-9)
    radial = moved.reaction("output", "world")
    assert np.hypot(*radial[:2]) == pytest.approx(force, rel=1e-9)
