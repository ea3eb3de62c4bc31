"""Runs with friction by load: journals, wedges, linkages, against textbooks and an integration by SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import sarrus as sr
from sarrus.errors import InputError

from ...dynamics.test_bearing_friction import MU, R, breaking_torque, four_bar

G = 9.81


def happened(run: sr.Trajectory) -> list[tuple[str, str]]:
    return [(event.kind, event.name) for event in run.events]


def test_rotor_in_a_journal_runs_down() -> None:
    """Balanced rotor: torque mu r m g, so that it stops after I w / (mu r m g)."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="rotor")
    spec.body("rotor", joint=sr.Revolute("z"), mass=5.0, inertia=(0.1, 0.1, 0.04))
    mech = spec.force("journal", sr.BearingFriction("rotor", 0.15, 0.01)).compile()
    run = sr.simulate(mech, (0, 60), v0=[30.0])
    brake = 0.15 * 0.01 * 5.0 * G
    assert happened(run) == [("stick", "rotor")]
    assert run.events[0].t == pytest.approx(0.04 * 30.0 / brake, rel=1e-8)
    assert not run.v[-1].any() and run.q[-1, 0] == pytest.approx(0.5 * 0.04 * 900 / brake, rel=1e-8)


def test_weight_within_the_friction_circle_stays() -> None:
    """A wheel with its centre of mass d beside the pin holds while d <= mu r."""
    for factor, events in ((1 - 1e-6, []), (1 + 1e-6, None)):
        spec = sr.MechanismSpec(gravity=(0, -G, 0), name="wheel")
        spec.body("wheel", joint=sr.Revolute("z"), mass=5.0, com=(MU * R * factor, 0, 0), inertia=(1, 1, 0.1))
        run = sr.simulate(spec.force("pin", sr.BearingFriction("wheel", MU, R)).compile(), (0, 5))
        assert run.success and (events is None or (run.events == () and not run.v.any()))
        assert events == [] or run.v[-1, 0] < 0.0


def test_pendulum_in_a_journal_against_scipy() -> None:
    """R from the motion of the centre of mass: the load contains the acceleration, which contains it."""
    m, l, inertia, mu, r = 2.0, 0.4, 0.05, 0.3, 0.04

    def acceleration(q: float, v: float) -> float:
        def load(a: float) -> float:
            x, y = m * l * (a * math.cos(q) - v * v * math.sin(q)), 0.0
            y = m * (l * (a * math.sin(q) + v * v * math.cos(q)) + G)
            return math.hypot(x, y)

        def gap(a: float) -> float:
            return (inertia + m * l * l) * a + m * G * l * math.sin(q) + math.copysign(mu * r * load(a), v)

        return float(brentq(gap, -1e3, 1e3, xtol=1e-14))

    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="pendulum")
    spec.body("rod", joint=sr.Revolute("z"), mass=m, com=(0, -l, 0), inertia=(1, 1, inertia))
    mech = spec.force("pin", sr.BearingFriction("rod", mu, r)).compile()
    run = sr.simulate(mech, (0, 3), q0=[0.6])
    first = next(e.t for e in run.events if e.kind == "slip")  # turns round
    found = solve_ivp(
        lambda t, x: (x[1], acceleration(x[0], -1e-12 if t == 0 else x[1])),
        (0, 0.9 * first), (0.6, 0.0), rtol=1e-11, atol=1e-13,
    )  # fmt: skip
    there = run.at(0.9 * first)
    assert (there.q[0], there.v[0]) == pytest.approx(found.y[:, -1], rel=1e-6)
    assert np.diff(run.energy).max() <= 1e-8


def wedge(angle: float, mu: float) -> sr.Mechanism:
    """A wedge on the floor lifts a ram of weight W = 100 N in a guide without friction."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="wedge")
    spec.part("wedge", mass=1e-3, inertia=(1e-6,) * 3).part("ram", mass=100.0 / G, inertia=(0.1,) * 3)
    face = sr.Pose(rpy=(0, 0, angle))
    spec.joint("floor", "ground", "wedge", sr.Prismatic("x"), at=(0, 0, 0))
    spec.joint("guide", "ground", "ram", sr.Prismatic("y"), at=(0, 0, 0))
    spec.joint("face", "wedge", "ram", sr.Prismatic("x"), at=face)
    for joint in ("floor", "face"):
        spec.force(f"friction {joint}", sr.BearingFriction(joint, mu))
    return spec.compile()


def test_force_that_drives_a_wedge_in() -> None:
    """P = W (tan(angle + phi) + tan(phi)), phi the angle of friction of floor and face."""
    angle, mu, rate = 0.15, 0.2, 50.0
    phi = math.atan(mu)
    mech = wedge(angle, mu)
    k = mech.names.index("floor")
    tau = np.zeros(mech.nv)

    def push(t: float, q: object, v: object) -> object:
        tau[k] = -rate * t  # towards -x lifts the ram
        return tau

    run = sr.simulate(mech, (0, 2), tau=push, dt=0.01)
    assert run.events and run.events[0].kind == "slip"
    force = 100.0 * (math.tan(angle + phi) + math.tan(phi))
    weight = 1e-3 * G * mu  # of the wedge itself
    assert rate * run.events[0].t == pytest.approx(force + weight, rel=1e-5)


@pytest.mark.parametrize(("share", "holds"), [(0.98, True), (1.02, False)])
def test_wedge_locks_itself_below_twice_the_angle_of_friction(share: float, holds: bool) -> None:
    mu = 0.2
    run = sr.simulate(wedge(2 * math.atan(mu) * share, mu), (0, 0.5))
    assert run.success and bool(np.any(run.v)) != holds


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_four_bar_slips_where_statics_say(sign: float) -> None:
    mech = four_bar()
    N = mech.decompose(mech.neutral()).N[:, 0]
    order = [mech.names.index(name) for name in "ABCD"]
    torque = breaking_torque(N[order] / N[order[0]], sign)
    start = torque - 0.02 * sign
    tau = np.zeros(mech.nv)

    def load(t: float, q: object, v: object) -> object:
        tau[order[0]] = start + 0.04 * sign * t
        return tau

    run = sr.simulate(mech, (0, 0.6), tau=load)
    assert {e.name for e in run.events[:4]} == set("ABCD") and run.events[0].kind == "slip"
    assert run.events[0].t == pytest.approx(0.5, abs=1e-5)
    assert not run.v[run.t < run.events[0].t].any()


def test_friction_and_an_end_stop() -> None:
    """A block slides into a buffer and comes to rest, pressed between friction and spring."""
    spec = sr.MechanismSpec(gravity=(0, 0, -G), name="block")
    spec.body("block", joint=sr.Prismatic("x"), mass=2.0)
    spec.force("rail", sr.BearingFriction("block", 0.3)).force(
        "buffer", sr.EndStop("block", (None, 0.2), 2e3, 5.0)
    )
    run = sr.simulate(spec.compile(), (0, 3), v0=[3.0])
    assert run.success and happened(run)[-1] == ("stick", "block")
    assert np.diff(run.energy).max() <= 1e-6 and not run.v[-1].any()
    beyond = max(run.q[-1, 0] - 0.2, 0.0)
    assert 2e3 * beyond <= 0.3 * 2.0 * G * (1 + 1e-6)


def test_minimal_coordinates_are_refused() -> None:
    spec = sr.MechanismSpec(name="rotor")
    spec.body("rotor", joint=sr.Revolute("z"), mass=5.0, inertia=(0.1, 0.1, 0.04))
    mech = spec.force("journal", sr.BearingFriction("rotor", 0.15, 0.01)).compile()
    with pytest.raises(InputError, match="friction that depends on bearing loads needs coordinates='full'"):
        sr.simulate(mech, (0, 1), coordinates="tangent")


@pytest.mark.parametrize("ramp", ["slope", "sine"])
@pytest.mark.parametrize("geared", [False, True])
def test_loads_that_grow_from_nothing(geared: bool, ramp: str) -> None:
    """An unloaded machine is started by a ramp: it moves at once, without a load to hold it."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    if geared:
        spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
        spec.body("b", joint=sr.Revolute("z"), at=sr.Pose((0.06, 0, 0)), mass=1.0, inertia=(1.0, 1.0, 1.0))
        spec.constrain("mesh", sr.Gear("a", "b", 20, 40, 0.002))
        for name in ("a", "b"):
            spec.force("journal " + name, sr.BearingFriction(name, 0.1, 0.005))
    else:
        spec.body("a", joint=sr.Prismatic("x"), mass=1.0)
        spec.force("guide", sr.BearingFriction("a", 0.2))
    mech = spec.compile()
    push = np.eye(mech.nv)[0]
    load = (lambda t: 3.0 * t) if ramp == "slope" else (lambda t: 3.0 * np.sin(6.0 * t))
    run = sr.simulate(mech, (0, 0.4), tau=lambda t, q, v: load(t) * push)
    assert run.success, run.message
    free = 0.24 if ramp == "slope" else 0.5 * (1 - np.cos(2.4))
    if geared:  # the mesh loads the journals: less than without friction, by less than a tenth
        assert 0.9 * free / 1.25 < run.v[-1, 0] < free / 1.25
    else:
        assert run.v[-1, 0] == pytest.approx(free, rel=1e-6)
