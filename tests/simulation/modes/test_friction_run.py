"""Runs with dry friction: when things stick and slide, against closed forms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError

from ...dynamics.test_dry_friction import COULOMB, four_bar, holding_torque

G, MASS, MU = 9.81, 2.0, 0.5
LOCATED = 1e-8  # [s], of events: the slack of loads (1e-9) over their rates, and the tolerance of the steps


def block(slope: float, **given: Any) -> sr.Mechanism:
    """A block on a slope, x downhill."""
    spec = sr.MechanismSpec(gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)), name="block")
    friction = MU * MASS * G * math.cos(slope)
    spec.body("block", joint=sr.Prismatic("x"), mass=MASS, **{"friction": friction, **COULOMB, **given})
    return spec.compile()


def pulled(**given: Any) -> sr.Mechanism:
    """A block on the ground, pulled by a spring (100 N/m) whose other end moves with 0.1 m/s."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="pulled")
    spec.body("puller", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("block", joint=sr.Prismatic("x"), mass=1.0, **given, **COULOMB)
    spec.constrain("pull", sr.Drive("puller", lambda t: 0.1 * t, lambda t: 0.1, lambda t: 0.0))
    spec.force("spring", sr.PointSpring("puller", (0.0, 0.0, 0.0), "block", (-10.0, 0.0, 0.0), 100.0, 10.0))
    return spec.compile()


def happened(run: sr.Trajectory) -> list[tuple[str, str]]:
    return [(event.kind, event.name) for event in run.events]


def test_block_sticks_for_ever_on_a_gentle_slope() -> None:
    for slope in (0.1, 0.4, math.atan(MU) * (1.0 - 1e-7)):
        run = sr.simulate(block(slope), (0.0, 1000.0))
        assert run.success and not np.any(run.v) and not np.any(run.q) and not run.events
        assert run.friction[-1] == pytest.approx([-MASS * G * math.sin(slope)], rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "rk4", "radau"])
def test_block_slides_on_a_steep_slope(method: str) -> None:
    slope, T = 0.6, 2.0
    run = sr.simulate(block(slope), (0.0, T), method=method)
    a = G * (math.sin(slope) - MU * math.cos(slope))
    assert run.q[-1] == pytest.approx([a * T**2 / 2], rel=1e-9) and not run.events


def test_block_comes_to_rest_and_stays() -> None:
    slope, speed = 0.4, 1.0
    for direction in (1.0, -1.0):
        run = sr.simulate(block(slope), (0.0, 5.0), v0=[direction * speed])
        brake = G * (MU * math.cos(slope) - direction * math.sin(slope))
        assert happened(run) == [("stick", "block")]
        assert run.events[0].t == pytest.approx(speed / brake, abs=LOCATED)
        assert run.q[-1] == pytest.approx([direction * speed**2 / (2 * brake)], rel=1e-8)
        assert not np.any(run.v[run.t > run.events[0].t]) and np.all(np.diff(run.energy) <= 1e-12)


def test_block_thrown_up_a_steep_slope_slides_back() -> None:
    slope, speed, T = 0.6, 2.0, 1.0
    run = sr.simulate(block(slope), (0.0, T), v0=[-speed])
    up, down = (G * (math.sin(slope) + sign * MU * math.cos(slope)) for sign in (1.0, -1.0))
    assert happened(run) == [("slip", "block")] and run.events[0].t == pytest.approx(speed / up, abs=LOCATED)
    assert run.q[-1, 0] == pytest.approx(-(speed**2) / (2 * up) + down * (T - speed / up) ** 2 / 2, rel=1e-8)


def test_block_slides_when_a_load_has_grown_enough() -> None:
    slope, rate = 0.4, 3.0
    run = sr.simulate(block(slope), (0.0, 2.0), tau=lambda t, q, v: [rate * t])
    begins = MASS * G * (MU * math.cos(slope) - math.sin(slope)) / rate
    assert happened(run) == [("slip", "block")] and run.events[0].t == pytest.approx(begins, abs=LOCATED)
    assert run.q[-1, 0] == pytest.approx(rate / MASS * (2.0 - begins) ** 3 / 6, rel=1e-7)


def test_stick_slip_against_its_analytic_cycle() -> None:
    """[Armstrong1994]: with a jump from breakaway to sliding friction, phases of sticking and of sliding last
    2 d / V and 2 (pi - atan(d w / V)) / w, d = (breakaway - friction) / k."""
    run = sr.simulate(pulled(friction=3.0, breakaway=5.0, friction_speed=1e-10), (0.0, 3.0), q0=[0.0, 0.0])
    d, w, V = 0.02, 10.0, 0.1
    sliding, sticking = 2 * (math.pi - math.atan(d * w / V)) / w, 2 * d / V
    kinds, times = [event.kind for event in run.events], [event.t for event in run.events]
    assert kinds == ["slip", "stick"] * 3 + ["slip"] and times[0] == pytest.approx(0.5, abs=LOCATED)
    # a finite Stribeck speed delays the jump, by 2e-7 s for 1e-10 m/s and less for less
    assert np.diff(times) == pytest.approx([sliding, sticking] * 3, abs=1e-6)


def test_viscous_part_and_energy_balance() -> None:
    """What friction and damping take out is what the energy loses."""
    spec = sr.MechanismSpec(name="arms")
    for name, parent, at in (("upper", "ground", 0.0), ("lower", "upper", -1.0)):
        solid: Any = {"mass": 1.0, "com": (0.0, 0.0, -0.5), "inertia": (0.08, 0.08, 0.01)}
        pose = sr.Pose((0.0, 0.0, at))
        spec.body(
            name, parent, joint=sr.Revolute("y"), at=pose, friction=2.0, damping=0.05, **COULOMB, **solid
        )
    mech = spec.compile()
    run = sr.simulate(mech, (0.0, 12.0), q0=[2.0, 0.5], rtol=1e-9)
    assert run.success and not np.any(run.v[-1]) and {event.kind for event in run.events} == {"stick", "slip"}
    assert np.all(np.diff(run.energy) <= 1e-9)  # the error of the steps
    power = np.sum(run.v * (run.friction - 0.05 * run.v), axis=1)
    lost = np.sum((power[1:] + power[:-1]) / 2 * np.diff(run.t))  # trapezoids
    assert run.energy[-1] - run.energy[0] == pytest.approx(lost, rel=2e-3)
    held = mech.forward_dynamics(run.q[-1], run.v[-1])
    assert np.max(np.abs(held.a)) < 1e-12 and run.friction[-1] == pytest.approx(held.friction, abs=1e-9)


@pytest.mark.parametrize("drawn", [True, False], ids=["hinges in space", "pins in a plane"])
def test_linkage_sticks_exactly_up_to_the_virtual_work_of_its_pins(drawn: bool) -> None:
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction, drawn)
    limit, rates = holding_torque(mech, friction)
    crank = np.eye(mech.nv)[mech.names.index("A")]
    run = sr.simulate(mech, (0.0, 1.2), tau=lambda t, q, v: limit * t * crank)
    assert sorted(happened(run)) == [("slip", name) for name in "ABCD"]
    assert [event.t for event in run.events] == pytest.approx([1.0] * 4, abs=LOCATED)
    before = run.t < run.events[0].t
    assert not np.any(run.v[before]) and np.all(
        np.abs(run.friction[before]) <= np.array(friction) * (1 + 1e-6)
    )
    assert not run.friction_unique[before].any() and run.friction_unique[run.t > run.events[0].t].all()
    assert np.all(run.v[-1] * rates > 0.0)
    assert np.all(run.rank == run.rank[0])


def test_linkage_runs_out_and_stops_as_a_whole() -> None:
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction)
    _, rates = holding_torque(mech, friction)
    run = sr.simulate(mech, (0.0, 3.0), q0=mech.neutral(), v0=3.0 * rates)
    assert sorted(happened(run)) == [("stick", name) for name in "ABCD"]
    assert np.all(np.diff(run.energy) <= 1e-12) and run.energy[-1] < 1e-20
    work = np.sum(np.abs(np.diff(run.q, axis=0)) @ friction)  # of constant torques, along monotonic angles
    assert work == pytest.approx(run.energy[0], rel=1e-7)
    assert run.drift.max() < 1e-12 and run.velocity_drift.max() < 1e-12


def test_rocker_reverses_at_its_dead_points_without_sticking() -> None:
    """Where a pin stops for an instant while the crank turns, friction changes its sign."""
    mech = four_bar((0.0, 0.0, 0.0, 0.02))
    _, rates = holding_torque(mech, (1.0, 1.0, 1.0, 1.0))
    run = sr.simulate(mech, (0.0, 1.0), q0=mech.neutral(), v0=20.0 * rates)
    assert {event.kind for event in run.events} == {"slip"} and len(run.events) >= 4
    k = mech.names.index("D")
    assert all(abs(event.v[k]) < 1e-6 for event in run.events)
    lost = 0.02 * np.sum(np.abs(np.diff(run.q[:, k])))
    assert run.energy[0] - run.energy[-1] == pytest.approx(
        lost, abs=1e-7 * run.energy[0]
    )  # of a thousand steps


def test_forces_of_constraints_include_friction() -> None:
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction)
    _, rates = holding_torque(mech, friction)
    run = sr.simulate(mech, (0.0, 1.0), q0=mech.neutral(), v0=3.0 * rates)
    i = len(run) // 3
    motion = mech.forward_dynamics(run.q[i], run.v[i])
    assert run.a[i] == pytest.approx(motion.a, rel=1e-9, abs=1e-9)
    assert run.constraint_force[i] == pytest.approx(motion.constraint_force, rel=1e-7, abs=1e-9)
    assert run.reaction("B")[i] == pytest.approx(motion.reaction("B"), rel=1e-7, abs=1e-9)


def test_times_events_controllers_and_files(tmp_path: Path) -> None:
    mech = block(0.4)
    times = np.linspace(0.0, 3.0, 31)

    def slow(t: float, q: Any, v: Any) -> float:
        return float(v[0]) - 0.5

    run = sr.simulate(mech, (0.0, 3.0), v0=[1.0], t_eval=times, events=slow)
    assert run.t == pytest.approx(times) and [event.kind for event in run.events] == ["user", "stick"]
    assert run.at(2.9).v == pytest.approx([0.0], abs=1e-12)
    stored = sr.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert np.array_equal(stored.friction, run.friction) and stored.friction_unique.all()
    slow.terminal = True  # type: ignore[attr-defined]
    cut = sr.simulate(mech, (0.0, 3.0), v0=[1.0], events=slow)
    assert cut.status == 1 and cut.v[-1] == pytest.approx([0.5], abs=1e-9)


def test_sampled_controller_keeps_its_times() -> None:
    """Friction stops the block between two samples; the next one comes when it is due."""
    seen: list[float] = []

    def push(t: float, q: Any, v: Any) -> list[float]:
        seen.append(t)
        return [0.0 if t < 1.75 else 30.0]

    mech = block(0.4)
    run = sr.simulate(mech, (0.0, 3.0), v0=[1.0], control=push, control_dt=0.25)
    assert happened(run)[:2] == [("stick", "block"), ("slip", "block")]
    assert run.events[1].t == pytest.approx(1.75, abs=1e-12)
    assert {round(t / 0.25, 9) for t in seen} == set(range(12)) | ({12} & {round(t / 0.25, 9) for t in seen})


def test_breakaway_touched_but_not_passed() -> None:
    """A load that just reaches the bound and falls again moves nothing."""
    mech = block(0.4, friction=8.0)
    gravity = MASS * G * math.sin(0.4)
    for peak in (8.0 - gravity, 8.0 * (1 + 3e-9) - gravity):
        run = sr.simulate(mech, (0.0, 2.0), tau=lambda t, q, v, p=peak: [p * math.sin(math.pi * t / 2)])
        assert run.success and abs(run.q[-1, 0]) < 1e-6


@pytest.mark.parametrize("coordinates", ["partition", "tangent", "nullspace"])
def test_minimal_coordinates_stick_and_slide_as_full_ones_do(coordinates: str) -> None:
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction)
    _, rates = holding_torque(mech, friction)
    crank = np.eye(mech.nv)[mech.names.index("A")]
    runs = [
        sr.simulate(
            mech,
            (0.0, 2.5),
            0.0 * rates,
            3.0 * rates,
            coordinates=c,
            tau=lambda t, q, v: max(0.0, t - 1.0) * crank,
        )
        for c in ("full", coordinates)
    ]
    kinds = [sorted((e.kind, e.name) for e in run.events if e.kind != "chart") for run in runs]
    assert kinds[0] == kinds[1] == sorted((k, n) for k in ("slip", "stick") for n in "ABCD")
    assert runs[1].q[-1] == pytest.approx(runs[0].q[-1], abs=1e-7)  # the tolerance of the steps, summed


def test_limits_are_reported_and_what_is_refused() -> None:
    run = sr.simulate(block(0.6, limits=(-1.0, 1.0)), (0.0, 2.0))
    assert [event.kind for event in run.events] == ["limit"] and "Beyond their limits" in run.message
    with pytest.raises(
        InputError, match="charts and coordinates of one's own have no place for rows of velo"
    ):
        sr.simulate(block(0.6), (0.0, 1.0), coordinates=["block"])
    with pytest.raises(InputError, match="energy"):
        sr.simulate(block(0.6), (0.0, 1.0), energy=True)


def test_function_that_fails_at_the_start_raises() -> None:
    def broken(t: float, q: Any, v: Any) -> list[float]:
        raise ValueError("no force")

    with pytest.raises(InputError, match="no force"):
        sr.simulate(block(0.4), (0.0, 1.0), tau=broken)


def test_ball_joint_sticks_about_all_axes() -> None:
    """Friction of velocity coordinates that are no entries of q."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="ball")
    spec.body("ball", joint=sr.Spherical(), mass=1.0, inertia=(0.1, 0.1, 0.1), friction=0.2, **COULOMB)
    run = sr.simulate(spec.compile(), (0.0, 2.0), v0=[1.0, 0.5, -0.25])
    assert not np.any(run.v[-1])
    assert [event.t for event in run.events] == pytest.approx([0.125, 0.25, 0.5], abs=LOCATED)


# ---------------------------------------------------------------------- single steps, copies


def test_steps_stick_and_slide_as_runs_do() -> None:
    slope, speed = 0.4, 1.0
    mech, q, v = block(slope), np.zeros(1), np.array([speed])
    brake = G * (MU * math.cos(slope) - math.sin(slope))
    for _ in range(20):
        q, v = mech.step(q, v, dt=0.1)
    assert q == pytest.approx([speed**2 / (2 * brake)], rel=1e-8) and not v.any()
    several = mech.step(np.zeros((3, 1)), [[speed], [0.0], [-speed]], dt=0.1)
    assert several.q.shape == (3, 1) and not several.status.any() and not several.v[1].any()
    assert several.q[0] == pytest.approx(mech.step([0.0], [speed], dt=0.1, substeps=4).q, abs=1e-12)


def test_steps_of_a_loop() -> None:
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction)
    limit, start = holding_torque(mech, friction)[0], mech.neutral()
    crank, rest = np.eye(mech.nv)[mech.names.index("A")], np.zeros(mech.nv)
    held = mech.step(start, rest, tau=0.9 * limit * crank, dt=0.1)
    assert not held.v.any() and np.array_equal(held.q, start)
    moved = mech.step(start, rest, tau=1.1 * limit * crank, dt=0.1)
    run = sr.simulate(mech, (0, 0.1), start, rest, tau=1.1 * limit * crank, dt=0.1, method="rk4")
    assert moved.q == pytest.approx(run.q[-1], abs=1e-12) and moved.v.any()


def test_copies() -> None:
    slope = 0.4
    mech = block(slope)
    brake = G * (MU * math.cos(slope) - math.sin(slope))
    rolled = sr.rollout(mech, np.zeros((3, 1)), [[1.0], [0.0], [np.nan]], dt=0.05, steps=40, every=4)
    assert rolled.status.tolist() == [0, 0, -1] and rolled.length.tolist() == [11, 11, 0]
    assert rolled.q[0, -1] == pytest.approx([1.0 / (2 * brake)], rel=1e-8) and not rolled.q[1].any()
    law = sr.LinearFeedback(np.array([[50.0, 5.0]]), np.array([0.1]))
    fed = sr.rollout(mech, np.zeros((1, 1)), dt=0.05, steps=10, policy=law)
    told = sr.rollout(
        mech, np.zeros((1, 1)), dt=0.05, steps=10, policy=lambda t, q, v: -50 * (q - 0.1) - 5 * v
    )
    assert fed.u == pytest.approx(told.u, abs=1e-12) and fed.q == pytest.approx(told.q, abs=1e-12)
    varied = {"friction": {"block": np.array([1.0, 20.0])}}
    two = sr.rollout(mech, np.zeros((2, 1)), dt=0.05, steps=4, parameters=varied)
    assert two.q[0, -1] > 0.01 and not two.q[1].any()
    with pytest.raises(InputError, match='rollout with device="cuda" knows no friction that sticks'):
        sr.rollout(mech, np.zeros((1, 1)), dt=0.05, steps=4, device="cuda")


def test_steps_that_fail() -> None:
    mech = block(0.4)
    with pytest.raises(InputError, match="`dt` must be positive"):
        mech.step([0.0], [0.0], dt=-1.0)
    with pytest.raises(InputError, match="`method` must be one of"):
        mech.step([0.0], [0.0], method="euler")
