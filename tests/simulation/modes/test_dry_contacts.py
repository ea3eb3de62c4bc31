"""Dry friction together with hard stops, contacts and latches, against closed forms and time stepping."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sarrus as sr
from sarrus.errors import InputError

from ...dynamics.test_dry_friction import COULOMB, four_bar, holding_torque

G, MASS, MU = 9.81, 2.0, 0.5
LOCATED = 1e-7  # [s], of events: the slack of pushes (1e-8 of the largest force) over their rates


def block(slope: float = 0.0, friction: float = 3.0, **given: Any) -> sr.Mechanism:
    """A block on a slope, x downhill, with stops at -1 m and 1 m."""
    spec = sr.MechanismSpec(gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)), name="block")
    options: Any = {"friction": friction, "limits": (-1.0, 1.0), **COULOMB, **given}
    spec.body("block", joint=sr.Prismatic("x"), mass=MASS, **options)
    return spec.compile()


def blocks(
    friction: tuple[float, ...], masses: tuple[float, ...], stiffness: float = 0.0, **given: Any
) -> sr.Mechanism:
    """Blocks of 0.2 m on one line, with springs to its middle; they push each other: "gap0", "gap1", ..."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="blocks")
    for i, (c, mass) in enumerate(zip(friction, masses, strict=True)):
        spec.body(f"b{i}", joint=sr.Prismatic("x"), mass=mass, friction=c, **COULOMB, **given)
        spec.force(f"spring{i}", sr.JointSpring(f"b{i}", stiffness))
    for i in range(len(masses) - 1):
        ends: Any = (f"b{i}", (0.1, 0.0, 0.0), f"b{i + 1}", (-0.1, 0.0, 0.0))
        spec.constrain(f"gap{i}", sr.PointOnPlane(*ends, "x"))
    return spec.compile()


def happened(run: sr.Trajectory) -> list[tuple[str, str]]:
    return [(event.kind, event.name) for event in run.events]


# ---------------------------------------------------------------------- one block and its stops


@pytest.mark.parametrize("method", ["auto", "rk4", "radau"])
def test_block_slides_into_a_stop_and_stays(method: str) -> None:
    brake, speed = 3.0 / MASS, 3.0
    run = sr.simulate(block(), (0.0, 2.0), [0.0], [speed], stops=True, method=method)
    hits = (speed - math.sqrt(speed**2 - 2 * brake)) / brake
    assert happened(run) == [("switch", "'block.upper' closes"), ("stick", "block")]
    assert [event.t for event in run.events] == pytest.approx([hits, hits], abs=LOCATED)
    lost = MASS * (speed - brake * hits) ** 2 / 2
    assert run.events[0].impact is not None and run.events[0].impact.dissipated == pytest.approx(lost)
    after = run.t > hits + LOCATED
    assert np.all(run.q[after] == pytest.approx(1.0, abs=1e-12)) and not run.v[after].any()
    assert not run.friction[after].any() and np.abs(run.lam[after]).max() < 1e-12


@pytest.mark.parametrize("slope", [0.3, 0.6], ids=["gentle", "steep"])
def test_block_thrown_up_a_slope_against_a_stop(slope: float) -> None:
    """Below the angle of friction it sticks at the stop, above it slides back from there."""
    friction = MU * MASS * G * math.cos(slope)
    run = sr.simulate(block(slope, friction), (0.0, 1.0), [0.0], [-6.0], stops=True)
    up, down = (G * (math.sin(slope) + sign * MU * math.cos(slope)) for sign in (1.0, -1.0))
    hits = (6.0 - math.sqrt(36.0 - 2 * up)) / up
    assert run.events[0].t == pytest.approx(hits, abs=LOCATED)
    if slope < math.atan(MU):
        assert happened(run)[1] == ("stick", "block") and run.q[-1] == pytest.approx([-1.0], abs=1e-12)
        assert run.friction[-1] == pytest.approx([-MASS * G * math.sin(slope)]) and not run.v[-1].any()
    else:
        assert run.events[0].opened == ("block.lower",) and run.friction[-1] == pytest.approx([-friction])
        assert run.q[-1, 0] == pytest.approx(-1.0 + down * (1.0 - hits) ** 2 / 2, abs=1e-8)


@pytest.mark.parametrize("load", [0.0, 1.0, 5.0, 6.5, 20.0])
def test_block_pressed_against_a_stop_shares_the_load(load: float) -> None:
    """Any push of the stop from load - c to load is possible: of least norm, and marked as such."""
    c = 3.0
    run = sr.simulate(block(friction=c), (0.0, 1.0), [1.0], [0.0], stops=True, tau=[load])
    friction, push = -run.friction[:, 0], -run.lam[:, 1]
    assert (
        np.allclose(friction + push, load, atol=1e-12) and not run.v.any() and not run.friction_unique.any()
    )
    assert np.all((push >= load - c - 1e-12) & (push <= load + 1e-12) & (push >= 0.0))
    assert np.allclose(friction, min(load / 2, c), atol=1e-9)


def test_stop_opens_where_a_reversed_load_breaks_the_friction() -> None:
    """Until then nothing moves, and the stop never pulls."""
    c, rate = 3.0, 5.0
    run = sr.simulate(
        block(friction=c), (0.0, 2.0), [1.0], [0.0], stops=True, tau=lambda t, q, v: [5 - rate * t]
    )
    assert happened(run) == [("switch", "'block.upper' opens"), ("slip", "block")]
    begins = (5 + c) / rate
    assert [event.t for event in run.events] == pytest.approx([begins] * 2, abs=LOCATED)
    before = run.t < begins
    assert (
        not run.v[before].any() and np.all(run.lam <= 1e-7) and np.all(np.abs(run.friction) <= c * (1 + 1e-8))
    )
    balance = run.friction[before, 0] + run.lam[before, 1] + 5 - rate * run.t[before]
    assert np.abs(balance).max() < 1e-9
    assert run.q[-1, 0] == pytest.approx(1.0 - rate / MASS * (2.0 - begins) ** 3 / 6, rel=1e-7)


def test_stop_stays_closed_where_friction_alone_holds() -> None:
    """A load away from the stop that friction holds parts nothing, from the start on."""
    run = sr.simulate(block(friction=3.0), (0.0, 1.0), [1.0], [0.0], stops=True, tau=[-2.0])
    assert not run.events and not run.v.any() and run.active[:, 1].all()
    assert run.friction[:, 0] == pytest.approx(2.0) and np.abs(run.lam).max() < 1e-12


def test_friction_smaller_than_breakaway_at_a_stop() -> None:
    """Stop and friction hold a load of 4 N up to 5 N of breakaway; after that 2 N slow the block."""
    mech = block(friction=2.0, breakaway=5.0, friction_speed=1e-9)
    run = sr.simulate(mech, (0.0, 2.0), [1.0], [0.0], stops=True, tau=lambda t, q, v: [-4.0 * t])
    assert run.events[-1].t == pytest.approx(1.25, abs=LOCATED)
    T = 0.75
    assert run.q[-1, 0] == pytest.approx(1.0 - (3.0 / MASS * T**2 / 2 + 4.0 / MASS * T**3 / 6), rel=1e-5)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("speed", [1e-9, 1e-7, 1e-5])
def test_friction_that_falls_at_once_lets_go_once(speed: float, rtol: float) -> None:
    """The acceleration grows a million times within one step; the block slides on, whatever the steps are."""
    mech = block(friction=2.0, breakaway=5.0, friction_speed=speed)
    pull = {"tau": lambda t, q, v: [-4.0 * t], "rtol": rtol, "stops": True}
    run = sr.simulate(mech, (0.0, 1.5), [1.0], [0.0], **pull)
    assert [event.kind for event in run.events] == ["switch", "slip"]
    assert run.events[-1].t == pytest.approx(1.25, abs=LOCATED)


# ---------------------------------------------------------------------- contacts between bodies


def test_block_that_hits_another_pushes_it_along() -> None:
    """Inelastic impact; the second alone would stop sooner, so they stay together until both stop."""
    mech = blocks((2.0, 9.0), (2.0, 3.0))
    run = sr.simulate(mech, (0.0, 3.0), [0.0, 1.2], [4.0, 0.0], switches=sr.Contact("gap0"))
    hits = 4.0 - math.sqrt(16.0 - 2.0)
    common = 2.0 * (4.0 - hits) / 5.0
    brake = 11.0 / 5.0
    assert [event.kind for event in run.events] == ["switch", "slip", "stick", "stick"]
    assert [event.t for event in run.events] == pytest.approx(
        [hits] * 2 + [hits + common / brake] * 2, abs=LOCATED
    )
    assert run.q[-1] == pytest.approx(np.array([1.0, 1.2]) + common**2 / (2 * brake), rel=1e-8)
    together = (run.t > hits) & (run.t < run.events[-1].t)
    assert run.lam[together, 0] == pytest.approx(9.0 - 3.0 * brake, rel=1e-8)  # what the first adds
    assert not run.v[-1].any()


def test_blocks_part_where_the_first_stops_sooner() -> None:
    mech = blocks((9.0, 2.0), (2.0, 3.0))
    run = sr.simulate(mech, (0.0, 4.0), [0.0, 0.5], [4.0, 0.0], switches=sr.Contact("gap0"))
    hits = (4.0 - math.sqrt(16.0 - 2 * 4.5 * 0.3)) / 4.5
    common = 2.0 * (4.0 - 4.5 * hits) / 5.0
    assert happened(run)[0] == ("switch", "'gap0' closes, 'gap0' opens")
    assert run.q[-1] == pytest.approx([0.3 + common**2 / 9.0, 0.5 + common**2 * 3.0 / 4.0], rel=1e-8)


def test_sliding_blocks_part_where_the_only_push_becomes_zero() -> None:
    """The second is braked by its friction alone where they part: tau = f0 - f1 m0 / m1."""
    (f0, f1), (m0, m1) = (3.0, 2.0), (2.0, 3.0)
    mech = blocks((f0, f1), (m0, m1))
    push = lambda t, q, v: [9.0 - 8.0 * t, 0.0]  # noqa: E731
    run = sr.simulate(mech, (0.0, 1.2), [0.0, 0.2], [2.0, 2.0], switches=sr.Contact("gap0"), tau=push)
    parts = (9.0 - f0 + f1 * m0 / m1) / 8.0
    assert happened(run) == [("switch", "'gap0' opens")] and run.events[0].t == pytest.approx(
        parts, abs=LOCATED
    )
    assert run.lam.min() > -1e-7 and np.ptp(run.q[run.t < parts] @ [-1.0, 1.0]) < 1e-12


def test_heavy_blocks_part_beside_a_light_clamp() -> None:
    """Accelerations of 1e5 m/s^2 that friction holds are no measure for those of the heavy blocks."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="heavy")
    for name, mass, c in (("b0", 100.0, 3.0), ("b1", 100.0, 2.0), ("clamp", 0.01, 2000.0)):
        spec.body(name, joint=sr.Prismatic("x"), mass=mass, friction=c, **COULOMB)
    spec.constrain("gap0", sr.PointOnPlane("b0", (0.1, 0.0, 0.0), "b1", (-0.1, 0.0, 0.0), "x"))
    load = lambda t, q, v: [9.0 - 8.0 * t, 0.0, 1000.0]  # noqa: E731
    start = [0.0, 0.2, 0.0], [2.0, 2.0, 0.0]
    run = sr.simulate(spec.compile(), (0.0, 1.2), *start, switches=sr.Contact("gap0"), tau=load)
    assert run.success and happened(run) == [("switch", "'gap0' opens")]
    assert run.events[0].t == pytest.approx(1.0, abs=6e-6)  # 1e-8 of 2000 N, over 4 N/s


def test_latch_catches_a_sliding_block_and_lets_it_go() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="caught")
    spec.body("block", joint=sr.Prismatic("x"), mass=MASS, friction=3.0, **COULOMB)
    spec.constrain("latch", sr.Coupling({"block": 1.0}))
    mech = spec.compile()
    latch = sr.Switch("latch", on=0.5, off=1.0, latch=True)
    run = sr.simulate(mech, (0.0, 2.0), [0.0], [3.0], switches=latch, tau=lambda t, q, v: [4.0 * (t > 1.5)])
    caught = 3.0 * 0.5 - 1.5 * 0.5**2 / 2
    assert happened(run) == [
        ("switch", "'latch' closes"),
        ("stick", "block"),
        ("switch", "'latch' opens"),
        ("slip", "block"),
    ]
    assert run.events[3].t == pytest.approx(1.5, abs=1e-6)
    assert run.q[-1, 0] == pytest.approx(caught + 0.5 * 0.5**2 / 2, abs=1e-6)


def test_foot_with_a_dry_hinge_lands_and_sticks() -> None:
    """A leg whose hinge has friction falls on the floor: that carries what friction does not."""
    spec = sr.MechanismSpec(name="leg")
    solid: Any = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.01, 0.1, 0.1)}
    spec.body("leg", joint=sr.Revolute("y"), at=sr.Pose((0.0, 0.0, 0.3)), friction=1.0, **COULOMB, **solid)
    spec.constrain("floor", sr.PointOnPlane("ground", (0, 0, 0), "leg", (1.0, 0.0, 0.0), "z"))
    run = sr.simulate(spec.compile(), (0.0, 2.0), [-0.5], [0.0], switches=sr.Contact("floor"))
    assert run.success and not run.v[-1].any() and run.q[-1, 0] == pytest.approx(math.asin(0.3), abs=1e-9)
    moment = G * 0.5 * math.cos(run.q[-1, 0])
    push = run.lam[-1, 0] * math.cos(run.q[-1, 0])
    assert moment - 1.0 - 1e-9 <= push <= moment and push - run.friction[-1, 0] == pytest.approx(moment)
    assert not run.friction_unique[-1, 0]


# ---------------------------------------------------------------------- linkages


@pytest.mark.parametrize("drawn", [True, False], ids=["hinges in space", "pins in a plane"])
def test_linkage_with_dry_pins_against_a_stop_of_its_rocker(drawn: bool) -> None:
    """It runs into the stop, stays, and leaves it where the load does more virtual work than the pins."""
    friction = (0.3, 0.2, 0.5, 0.1)
    plain = four_bar(friction, drawn)
    _, rates = holding_torque(plain, friction)
    k = plain.names.index("D")
    way = math.copysign(0.05, rates[k])
    mech = four_bar(friction, drawn, D=(-0.05, 0.05))
    free = sr.simulate(plain, (0.0, 0.5), mech.neutral(), 3.0 * rates)
    crank = np.eye(mech.nv)[mech.names.index("A")]
    run = sr.simulate(
        mech,
        (0.0, 2.0),
        mech.neutral(),
        3.0 * rates,
        stops=True,
        tau=lambda t, q, v: -max(0.0, t - 0.5) * crank,
    )
    hit = run.events[0]
    assert hit.closed == ("D." + ("upper" if way > 0 else "lower"),) and hit.q[k] == pytest.approx(
        way, abs=1e-9
    )
    assert free.at(hit.t).q == pytest.approx(hit.q, abs=1e-7)
    assert sorted(happened(run)[1:5]) == [("stick", name) for name in "ABCD"]
    resting = (run.t > hit.t) & (run.t < run.events[5].t)
    N = plain.decompose(hit.q).N[:, 0]
    pins = [plain.names.index(name) for name in "ABCD"]
    limit = np.abs(N[pins]) @ friction / abs(N[plain.names.index("A")])
    opens = run.events[5]
    assert opens.opened == hit.closed and opens.t == pytest.approx(0.5 + limit, abs=1e-6)
    assert sorted(happened(run)[6:10]) == [("slip", name) for name in "ABCD"]
    assert not np.abs(run.v[resting]).max() > 1e-30
    bounds = np.zeros(mech.nv)
    bounds[pins] = friction
    assert np.all(np.abs(run.friction) <= bounds * (1 + 1e-6))
    side = 1.0 if hit.closed[0].endswith("lower") else -1.0
    push = side * run.lam[:, run.system.row_names.index(hit.closed[0])]
    assert push.min() > -1e-6 and not run.friction_unique[resting][:, pins].any()


def test_redundant_stops_beside_redundant_pins() -> None:
    """Two stops block one freedom, in which four pins stick too; they part together."""
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction, C=(0.0, 2.0), D=(-2.0, 0.0))
    limit, rates = holding_torque(mech, friction)
    crank = np.eye(mech.nv)[mech.names.index("A")]
    run = sr.simulate(
        mech, (0.0, 2.0), mech.neutral(), stops=True, tau=lambda t, q, v: 5.0 * (t - 1.0) * crank
    )
    assert set(run.events[0].opened) == {"C.lower", "D.upper"} and len(run.events) == 5
    assert [event.t for event in run.events] == pytest.approx([1.0 + limit / 5.0] * 5, abs=LOCATED)
    before = run.t < run.events[0].t
    rows = [run.system.row_names.index(name) for name in ("C.lower", "D.upper")]
    stops = run.lam[before][:, rows] @ rates[[mech.names.index(name) for name in "CD"]]
    held = stops + run.friction[before] @ rates
    assert held == pytest.approx(5.0 * (1.0 - run.t[before]), abs=1e-9)  # virtual work
    assert not run.v[before].any() and np.all(run.lam[before][:, rows] * [1.0, -1.0] >= -1e-6)
    pins = [mech.names.index(name) for name in "ABCD"]
    assert np.all(np.abs(run.friction[:, pins]) <= np.array(friction) * (1 + 1e-6))
    assert not run.friction_unique[before].any() and run.friction_unique[~before][1:].all()


# ---------------------------------------------------------------------- loads of bearings


def test_sliding_bearing_at_a_stop() -> None:
    """Friction by load, mu times the weight across the slope, beside a stop."""
    slope = 0.6
    spec = sr.MechanismSpec(gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)), name="sledge")
    spec.body("sledge", joint=sr.Prismatic("x"), mass=MASS, limits=(-1.0, 1.0))
    spec.force("guide", sr.BearingFriction("sledge", MU))
    mech, c = spec.compile(), MU * MASS * G * math.cos(slope)
    run = sr.simulate(mech, (0.0, 2.0), [0.0], [0.0], stops=True)
    down = G * (math.sin(slope) - MU * math.cos(slope))
    assert run.events[0].t == pytest.approx(math.sqrt(2 / down), abs=LOCATED)
    load = MASS * G * math.sin(slope)
    assert run.friction[-1, 0] - run.lam[-1, 1] * -1 == pytest.approx(-load)
    assert 0.0 <= -run.friction[-1, 0] <= c and not run.v[-1].any()
    pull = sr.simulate(mech, (0.0, 2.0), [1.0], [0.0], stops=True, tau=lambda t, q, v: [-20.0 * t])
    assert happened(pull) == [("switch", "'sledge.upper' opens"), ("slip", "sledge")]
    assert pull.events[0].t == pytest.approx((load + c) / 20.0, abs=LOCATED)


# ---------------------------------------------------------------------- many blocks: energy, time stepping


def random_blocks(seed: int) -> tuple[sr.Mechanism, Any, Any, Any, Any]:
    """Blocks with springs to the ground, friction, stops and contacts; their start, frictions and masses."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    friction, masses = rng.uniform(0.2, 3.0, n), rng.uniform(0.5, 3.0, n)
    mech = blocks(tuple(friction), tuple(masses), 10.0, limits=(-0.4, 0.9))
    q = np.arange(n) * 0.25 - 0.2 + rng.uniform(0.0, 0.04, n)
    return mech, q, rng.normal(size=n) * 2.0, friction, masses


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_energy_never_grows(seed: int) -> None:
    mech, q, v, friction, _ = random_blocks(seed)
    gaps = [sr.Contact(f"gap{i}") for i in range(len(q) - 1)]
    run = sr.simulate(mech, (0.0, 3.0), q, v, switches=gaps, stops=True, rtol=1e-10)
    assert run.success, run.message
    assert np.all(np.diff(run.energy) <= 1e-8 * run.energy[0])  # of the steps
    assert not run.v[-1].any() or run.energy[-1] < run.energy[0]
    assert np.all(np.abs(run.friction) <= friction * (1 + 1e-6))


@pytest.mark.parametrize("seed", [10017, 10141, 10363])  # a sole push that is zero; a block that a stop holds
def test_blocks_that_are_shaken_keep_within_their_bounds(seed: int) -> None:
    mech, q, v, friction, _ = random_blocks(seed)
    rng = np.random.default_rng(seed)
    rate, force = rng.uniform(1, 9), rng.normal(size=len(q)) * 4
    gaps = [sr.Contact(f"gap{i}") for i in range(len(q) - 1)]
    run = sr.simulate(
        mech, (0.0, 3.0), q, v, switches=gaps, stops=True, tau=lambda t, q, v: force * np.sin(rate * t)
    )
    assert run.success, run.message
    steps = ~np.isin(run.t, [event.t for event in run.events])  # tau at events lies between those of steps
    sides = np.array([-1.0 if name.endswith("upper") else 1.0 for name in run.system.row_names])
    assert np.all(np.abs(run.friction[steps]) <= friction * (1 + 1e-6))
    assert np.all(run.lam[steps] * sides > -1e-6)
    assert run.q.min() > -0.4 - 1e-9 and run.q.max() < 0.9 + 1e-9 and np.diff(run.q).min() > 0.2 - 1e-9


def stepped(q: Any, v: Any, friction: Any, masses: Any, end: float, h: float) -> Any:
    """Moreau's time stepping with friction and contacts, by projected Gauss-Seidel: first order."""
    n = len(q)
    J = np.vstack([np.eye(n), -np.eye(n), np.diff(np.eye(n), axis=0)])  # lower and upper stops, gaps
    for _ in range(round(end / h)):
        middle = q + h / 2 * v
        gaps = np.concatenate([middle + 0.4, 0.9 - middle, np.diff(middle) - 0.2])
        rows = np.vstack([np.eye(n), J[gaps <= 0.0]])
        low = np.concatenate([-h * friction, np.zeros(len(rows) - n)])
        high = np.concatenate([h * friction, np.full(len(rows) - n, np.inf)])
        x, w = v - h * 10.0 * middle / masses, np.zeros(len(rows))
        scale = [row @ (row / masses) for row in rows]
        for _ in range(60):
            before = w.copy()
            for i, row in enumerate(rows):
                new = min(max(w[i] - (row @ x) / scale[i], low[i]), high[i])
                x, w[i] = x + (new - w[i]) * row / masses, new
            if np.max(np.abs(w - before)) < 1e-12:
                break
        q, v = middle + h / 2 * x, x
    return q


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 8])
def test_blocks_against_time_stepping(seed: int) -> None:
    """Another formulation: impulses per step in one complementarity problem, no events."""
    mech, q, v, friction, masses = random_blocks(seed)
    gaps = [sr.Contact(f"gap{i}") for i in range(len(q) - 1)]
    run = sr.simulate(mech, (0.0, 1.0), q, v, switches=gaps, stops=True)
    minimal = sr.simulate(mech, (0.0, 1.0), q, v, switches=gaps, stops=True, coordinates="tangent")
    assert minimal.q[-1] == pytest.approx(run.q[-1], abs=1e-7)  # the tolerance of the steps, summed
    step = 5e-4
    other = stepped(q, v, friction, masses, 1.0, step)
    assert run.q[-1] == pytest.approx(
        other, abs=len(q) * step * np.max(np.abs(v))
    )  # each may hit a step late


# ---------------------------------------------------------------------- runs as such


def test_times_files_and_samples(tmp_path: Path) -> None:
    times, seen = np.linspace(0.0, 3.0, 31), []

    def push(t: float, q: Any, v: Any) -> list[float]:
        seen.append(t)
        return [4.0]

    run = sr.simulate(
        block(), (0.0, 3.0), [0.0], [0.5], stops=True, control=push, control_dt=0.25, t_eval=times
    )
    assert run.t == pytest.approx(times) and run.q[-1] == pytest.approx([1.0], abs=1e-12)
    assert run.friction.shape == run.v.shape and [part.system.nc for part in run.segments] == [0, 1]
    stored = sr.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert np.array_equal(stored.friction, run.friction) and np.array_equal(stored.active, run.active)


def test_start_that_is_refused() -> None:
    with pytest.raises(
        InputError, match="charts and coordinates of one's own have no place for rows of velo"
    ):
        sr.simulate(block(), (0.0, 1.0), stops=True, coordinates=["block"])

    def broken(t: float, q: Any, v: Any) -> list[float]:
        raise ValueError("no force")

    with pytest.raises(InputError, match="no force"):
        sr.simulate(block(), (0.0, 1.0), stops=True, tau=broken)


def test_impacts_say_that_friction_of_bearings_is_left_out() -> None:
    for friction in (True, False):
        spec = sr.MechanismSpec(gravity=(0, 0, 0), name="slide")
        spec.body("slide", joint=sr.Prismatic("x"), mass=2.0, limits=(-1, 1))
        if friction:
            spec.force("guide", sr.BearingFriction("slide", 0.1))
        run = sr.simulate(spec.compile(), (0, 1), [0.0], [3.0], stops=True)
        (hit,) = [event for event in run.events if event.impact is not None]
        assert hit.note == (friction * "impact without friction of bearings, mu times their impulsive load")
        assert hit.t == pytest.approx(1 / 3)
