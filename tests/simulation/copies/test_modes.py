"""Copies whose rows change: friction that sticks, stops, contacts, switches and latches in compiled steps."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError
from sarrus.mechanism.core.core import State

from ..modes.machines import falling_mass, rod, table, three_arm_grip, two_bars, walker

SAME = 1e-8  # runs find events on an interpolant of their steps (order 4), copies take the steps again


def against_run(mech: sr.Mechanism, q: Any, v: Any, T: float, dt: float, **given: Any) -> sr.Rollout:
    """A rollout of three copies, of which the first agrees with a run of fixed steps."""
    steps = round(T / dt)
    run = sr.simulate(mech, (0.0, T), q, v, dt=dt, method="rk4", **given)
    q3, v3 = np.tile(q, (3, 1)), np.tile(v, (3, 1))
    v3[1] *= 0.9
    many = sr.rollout(mech, q3, v3, dt=dt, steps=steps, every=steps, **given)
    assert run.success and many.success, many.message
    scale = 1.0 + np.abs(run.v).max()
    assert many.q[0, -1] == pytest.approx(run.q[-1], abs=SAME * scale)
    assert many.v[0, -1] == pytest.approx(run.v[-1], abs=1e2 * SAME * scale)
    alone = sr.rollout(mech, q3[1:2], v3[1:2], dt=dt, steps=steps, every=steps, **given)
    assert np.array_equal(alone.q[0], many.q[1]) and np.array_equal(alone.v[0], many.v[1])
    return many


def test_a_mass_falls_on_the_floor() -> None:
    many = against_run(falling_mass(), [1.0], [0.0], 1.0, 5e-3, switches=sr.Contact("floor"))
    assert many.q[0, -1] == pytest.approx([0.0], abs=1e-12) and not many.v[0, -1].any()
    assert many.mode is not None and many.mode[0].closed == {"floor": True}


def test_a_latch_that_closes_by_the_clock() -> None:
    switch = sr.Switch("pin", on=0.2503, latch=True)
    many = against_run(two_bars(), [0.9, -1.7, 0.2], [0.0, 0.0, 0.0], 0.5, 1e-3, switches=switch)
    assert many.mode is not None and bool(many.mode.closed["pin"].all())
    assert many.drift.max() < 1e-12


def test_a_loop_that_opens() -> None:
    mech = two_bars()
    q = mech.assemble([0.9, -1.7, 0.2]).q
    against_run(mech, q, np.zeros(3), 0.3, 1e-3, switches=sr.Switch("pin", off=0.1234))


def test_three_hands_close_one_after_the_other() -> None:
    mech, q = three_arm_grip()
    hands = [sr.Switch(f"hand{k}", on=0.05 + 0.1 * k, latch=True) for k in range(3)]
    many = against_run(mech, q, np.zeros(mech.nv), 0.4, 1e-3, switches=hands)
    assert many.drift.max() < 1e-11


def test_ends_that_stick_where_they_land() -> None:
    mech, q = rod()
    ends = [sr.Contact(name, row=f"{name}.tz", latch=True) for name in ("left", "right")]
    against_run(mech, q, [0.5, 0, 0, 0, 0, 0], 0.45, 5e-4, switches=ends)


def test_a_table_lands_on_four_feet_at_once() -> None:
    feet = [sr.Contact(f"leg{i}") for i in range(4)]
    many = against_run(table(), [0, 0, 1.0, 0, 0, 0, 1], np.zeros(6), 0.5, 4e-3, switches=feet)
    assert many.mode is not None and all(closed.all() for closed in many.mode.closed.values())


def test_a_walking_linkage_steps_onto_stops() -> None:
    mech, q = walker()
    treads = [sr.Contact(f"tread{tag}") for tag in ("1", "2")]
    v = np.zeros(mech.nv)
    run = sr.simulate(mech, (0.0, 0.2), q, v, switches=treads, stops=True, dt=1e-3, method="rk4")
    many = sr.rollout(mech, q, v, dt=1e-3, steps=200, every=200, switches=treads, stops=True)
    assert run.success and many.success
    assert many.q[0, -1] == pytest.approx(run.q[-1], abs=1e-7)


def stopped(**given: Any) -> sr.Mechanism:
    """A pendulum with friction and limits."""
    spec = sr.MechanismSpec(name="stopped")
    arm = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.0, 0.1, 0.1), "limits": (-0.4, 1.2)}
    spec.body("arm", joint=sr.Revolute("y"), **{**arm, **given})
    return spec.compile()


@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_hard_stops_with_and_without_friction(friction: float) -> None:
    mech = stopped(friction=friction, friction_model="coulomb")
    many = against_run(mech, [0.2], [-3.0], 1.0, 1e-3, stops=True)
    assert many.q.min() >= -0.4 - 1e-12 and many.q.max() <= 1.2 + 1e-12
    assert not any(event.kind == "limit" for event in many.events[0])


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_block_comes_to_rest_at_the_end_of_a_step(method: str) -> None:
    """The mode ends 1e-16 s after a step: the steps that follow have their full length."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("block", joint=sr.Prismatic("x"), mass=2.0, friction=4.0, friction_model="coulomb")
    many = sr.rollout(spec.compile(), [[0.0]], [[1.0]], dt=1e-2, steps=60, method=method)
    assert many.q[0, -1] == pytest.approx([0.25], abs=1e-14)  # v0^2 / 2 a with a = 4 N / 2 kg
    assert not many.v[0, -1].any()


def test_steps_go_on_in_the_mode_of_the_state() -> None:
    mech = two_bars()
    start = sr.rollout(mech, [0.9, -1.7, 0.2], dt=1e-3, steps=1, switches=sr.Switch("pin", closed=False))
    assert start.mode is not None
    state = State(start.q[0, -1], start.v[0, -1], mode=start.mode[0])
    for _ in range(100):
        state = mech.step(*state, dt=1e-3, mode=state.mode)
    same = sr.rollout(mech, [0.9, -1.7, 0.2], dt=1e-3, steps=101, switches=sr.Switch("pin", closed=False))
    assert state.q == pytest.approx(same.q[0, -1], abs=1e-11) and state.mode.closed == {"pin": False}
    assert np.abs(mech.terms(state.q, state.v).phi).max() > 0.1


def test_a_rollout_goes_on_where_another_ended() -> None:
    mech = stopped(friction=0.7, friction_model="coulomb")
    given: dict[str, Any] = {"dt": 1e-3, "stops": True}
    whole = sr.rollout(mech, [0.2], [-3.0], steps=400, **given)
    half = sr.rollout(mech, [0.2], [-3.0], steps=150, **given)
    rest = sr.rollout(mech, half.q[:, -1], half.v[:, -1], steps=250, mode0=half.mode, **given)
    assert rest.q[0, -1] == pytest.approx(whole.q[0, -1], abs=1e-12)  # a warm start changes nothing


def swinging_copies() -> tuple[sr.Mechanism, Any, Any]:
    """40 pendulums with friction and stops: they slide, stick and rebound at times of their own."""
    v = np.random.default_rng(3).normal(size=(40, 1)) * 3.0
    return stopped(friction=0.7, friction_model="coulomb"), np.full((40, 1), 0.2), v


def test_bits_do_not_depend_on_neighbours() -> None:
    mech, q, v = swinging_copies()
    given: dict[str, Any] = {"dt": 1e-3, "steps": 300, "stops": True}
    whole = sr.rollout(mech, q, v, threads=2, **given)
    order = np.random.default_rng(4).permutation(40)
    assert np.array_equal(sr.rollout(mech, q[order], v[order], threads=1, **given).q, whole.q[order])
    for i in (0, 17, 39):
        assert np.array_equal(sr.rollout(mech, q[i], v[i], **given).q[0], whole.q[i])


def test_steps_in_lanes_are_the_steps_of_one_copy() -> None:
    """Most steps of copies with friction and stops are taken in lanes; each agrees with mech.step."""
    mech, q, v = swinging_copies()
    many = sr.rollout(mech, q, v, dt=1e-3, steps=50, stops=True)
    assert many.general_steps.max() < 25
    slow = stopped(friction=0.7, friction_model="coulomb")
    for i in np.flatnonzero((np.abs(v[:, 0]) > 1.0) & (np.abs(v[:, 0]) < 2.0))[:5]:
        state = State(q[i], v[i])
        for _ in range(50):
            state = slow.step(state.q, state.v, dt=1e-3, mode=state.mode)
        assert many.q[i, -1] == pytest.approx(state.q, abs=1e-12)


def test_latched_offsets_are_those_of_each_copy() -> None:
    """A brake locks each copy at the angle that it has reached; the steps after it are taken in lanes."""
    spec = sr.MechanismSpec(name="braked")
    arm = {"mass": 1.0, "com": (0.0, 0.0, -0.25), "inertia": (0.02, 0.02, 0.002)}
    spec.body("upper", joint=sr.Revolute("y"), **arm)
    spec.body("lower", "upper", joint=sr.Revolute("y"), at=sr.Pose((0.0, 0.0, -0.5)), **arm)
    spec.constrain("brake", sr.Coupling({"lower": 1.0}))
    mech = spec.compile()
    given: dict[str, Any] = {"dt": 1e-3, "switches": sr.Switch("brake", on=0.05, latch=True)}
    v = np.random.default_rng(1).normal(size=(12, 2))
    many = sr.rollout(mech, np.zeros((12, 2)), v, steps=300, **given)
    assert many.general_steps.max() < 10 and many.drift.max() < 1e-14
    locked = many.q[:, 50:, 1]
    assert np.ptp(locked, axis=1).max() < 1e-13 and np.ptp(locked[:, 0]) > 0.05
    for i in (0, 7):
        run = sr.simulate(mech, (0.0, 0.3), np.zeros(2), v[i], method="rk4", **given)
        assert many.q[i, -1] == pytest.approx(run.q[-1], abs=1e-11)


def held(kind: str) -> sr.Mechanism:
    """A plate on a double pendulum that a constraint of this kind can hold where it is."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="held")
    bar = {"mass": 1.0, "com": (0.25, 0.0, 0.02), "inertia": (0.02, 0.03, 0.04)}
    spec.body("base", joint=sr.Planar("z"), **bar)
    spec.body("upper", "base", joint=sr.Spherical(), **bar)
    spec.body("lower", "upper", joint=sr.Universal("y", "z"), at=sr.Pose((0.5, 0, 0), rpy=(0.3, 0, 0)), **bar)
    at_a, at_b = sr.Pose((0.6, -0.3, 0.1), rpy=(0.2, 0.1, -0.4)), sr.Pose((0.5, 0, 0.1), rpy=(0.1, 0.3, 0.2))
    points = ("ground", (0.9, 0.4, 0.2), "lower", (0.5, 0.0, 0.1))
    joints = {"pin": sr.Revolute("z"), "ball": sr.Spherical(), "screw": sr.Helical("x", 0.02)}
    joints.update(plane=sr.Planar("x"), weld=sr.Fixed())
    if kind in joints:
        spec.close("hold", "ground", "lower", joints[kind], at_a=at_a, at_b=at_b)
    elif kind == "rod":
        spec.constrain("hold", sr.Distance(*points, length=0.3))
    else:
        spec.constrain("hold", sr.PointOnCylinder(*points, axis="z", radius=0.3))
    return spec.compile()


@pytest.mark.parametrize("kind", ["pin", "ball", "screw", "plane", "weld", "rod", "cylinder"])
def test_latched_rows_are_those_of_each_copy(kind: str) -> None:
    """What holds is placed where each copy is when it closes; the steps after it are taken in lanes."""
    mech = held(kind)
    given: dict[str, Any] = {"dt": 1e-3, "switches": sr.Switch("hold", on=0.05, latch=True)}
    q = np.tile(mech.neutral(), (9, 1))
    v = 0.5 * np.random.default_rng(1).normal(size=(9, mech.nv))
    many = sr.rollout(mech, q, v, steps=100, **given)
    assert many.success and np.median(many.general_steps) < 10, many.message
    alone = sr.rollout(mech, q[4:5], v[4:5], steps=100, **given)
    assert np.array_equal(alone.q[0], many.q[4])
    for i in (0, 7):
        run = sr.simulate(mech, (0.0, 0.1), q[i], v[i], method="rk4", **given)
        assert many.q[i, -1] == pytest.approx(run.q[-1], abs=1e-11)
        assert many.v[i, -1] == pytest.approx(run.v[-1], abs=1e-10)
        assert run.drift.max() < 1e-12


def test_inputs_of_one_copy_do_not_reach_another() -> None:
    """Behind the last sample of a call the inputs stay: those of the next copy are not read."""
    mech = stopped(friction=0.7, friction_model="coulomb")
    u = np.zeros((3, 20, 1))
    u[1] = np.nan
    many = sr.rollout(mech, np.full((3, 1), 0.2), np.zeros((3, 1)), u, dt=1e-3, steps=20)
    assert many.length.tolist() == [21, 1, 21] and np.isfinite(many.q[[0, 2]]).all()


def test_modes_can_be_pickled_and_read() -> None:
    mech = stopped(friction=50.0, friction_model="coulomb")
    many = sr.rollout(mech, [0.2], dt=1e-3, steps=5, stops=True)
    copy = pickle.loads(pickle.dumps(many.mode))
    assert copy.directions["arm"].tolist() == [0] and copy.closed.keys() == {"arm.lower", "arm.upper"}
    assert repr(copy[0]) == "Mode(closed: none; arm sticks)"
    with pytest.raises(InputError, match="no parts"):
        copy[0][0]


def test_bad_modes_and_switches_are_refused_by_name() -> None:
    mech = two_bars()
    with pytest.raises(InputError, match="cannot call the function on of 'pin'"):
        sr.rollout(
            mech, [0.9, -1.7, 0.2], dt=1e-3, steps=1, switches=sr.Switch("pin", on=lambda t, q, v: t - 1)
        )
    with pytest.raises(InputError, match="mode0 must be a Mode"):
        sr.rollout(mech, mech.default.q, dt=1e-3, steps=1, mode0=3)
    closing = sr.rollout(mech, [0.9, -1.7, 0.2], dt=1e-3, steps=20, switches=sr.Switch("pin", on=0.01))
    assert not closing.success and "was to close where it is open" in closing.messages[0]


def test_friction_and_stops_cost_at_most_three_times_as_much() -> None:
    """Not a benchmark (bench.modes is): ten times is a defect."""
    import time

    q, v = np.full((64, 1), 0.2), np.full((64, 1), 0.5)

    def cost(mech: sr.Mechanism, **given: Any) -> float:
        best = np.inf
        for _ in range(3):
            began = time.perf_counter()
            sr.rollout(mech, q, v, dt=1e-3, steps=200, every=200, threads=1, **given)
            best = min(best, time.perf_counter() - began)
        return best

    plain = cost(stopped())
    for friction in (0.01, 50.0):
        assert cost(stopped(friction=friction, friction_model="coulomb"), stops=True) < 10 * plain
