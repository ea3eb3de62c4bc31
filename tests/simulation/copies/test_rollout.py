"""rollout: copies beside `simulate`, alone and among others, with every kind of inputs."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.time_steps import METHODS

DT, STEPS, B = 1e-3, 60, 21


def batch(mech: sr.Mechanism, count: int = B, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses, velocities and inputs of several copies."""
    rng = np.random.default_rng(seed)
    q = np.tile(mech.default.q, (count, 1))
    v = mech.consistent_velocity(q, rng.normal(size=(count, mech.nv)))
    return q, v, rng.normal(size=(count, STEPS, mech.nu))


def simulated(
    mech: sr.Mechanism, q: np.ndarray, v: np.ndarray, u: np.ndarray, **options: str
) -> sr.Trajectory:
    """The same motion as a run with a sampled controller."""

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return u[min(round(t / DT), len(u) - 1)]

    t_eval = DT * np.arange(len(u) + 1)
    options = {"method": "rk4"} | options
    return sr.simulate(
        mech, (0.0, t_eval[-1]), q, v, control=control, control_dt=DT, dt=DT, t_eval=t_eval, **options
    )


@pytest.mark.parametrize("name", ["pendulum", "four_bar", "dual_arm", "bricard", "delta", "three_rrr"])
def test_copies_move_as_single_runs(name: str) -> None:
    mech = getattr(sr.library, name)()
    q, v, u = batch(mech)
    found = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS)
    assert (
        found.success
        and found.q.shape == (B, STEPS + 1, mech.nq)
        and found.u.shape == (B, STEPS + 1, mech.nu)
    )
    assert found.drift.max() <= 1e-12 * mech.length and found.status.tolist() == [0] * B
    for i in (0, 7, B - 1):
        run = simulated(mech, q[i], v[i], u[i])
        size = 1.0 + np.abs(run.v).max()
        assert np.abs(found.q[i] - run.q).max() <= 1e-12 * size
        assert np.abs(found.v[i] - run.v).max() <= 1e-11 * size
        assert np.array_equal(found.u[i, :-1], u[i]) and np.array_equal(found.u[i, -1], u[i, -1])


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method(method: str) -> None:
    mech = sr.library.three_rrr()
    q, v, u = batch(mech, 5)
    found = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS, method=method)
    run = simulated(mech, q[2], v[2], u[2], method=method)
    assert found.success
    # iterations of implicit steps end at a tolerance
    assert np.abs(found.q[2] - run.q).max() <= (1e-9 if METHODS[method].implicit else 1e-12)


def test_bits_of_a_copy_depend_on_itself_alone() -> None:
    """Through the toggle of the slider-crank and far from it, in batches of any size, with any threads."""
    mech = sr.library.slider_crank(gravity=0.0)
    rng = np.random.default_rng(3)
    angle = np.concatenate([np.linspace(1.5, 1.6, 13), rng.uniform(0.0, 1.0, 20)])
    q = np.stack([angle, 2 * np.pi - 2 * angle], axis=1)
    v = rng.uniform(1.0, 3.0, len(q))[:, None] * np.array([1.0, -2.0])
    u = rng.normal(size=(len(q), 100, mech.nu))
    whole = sr.rollout(mech, q, v, u, dt=DT, steps=100)
    passed = [len(events) for events in whole.events]
    assert sum(passed) > 5 and 0 in passed
    for i in range(len(q)):
        alone = sr.rollout(mech, q[i], v[i], u[i], dt=DT, steps=100, threads=1)
        assert np.array_equal(alone.q[0], whole.q[i]) and np.array_equal(alone.v[0], whole.v[i])
        run = sr.simulate(
            mech, (0.0, 0.1), q[i], v[i], dt=DT, method="rk4", control_dt=DT,
            control=lambda t, q, v, i=i: u[i, min(round(t / DT), 99)],
        )  # fmt: skip
        assert np.abs(whole.q[i] - run.q).max() <= 1e-12
        times = [e.t for e in run.events if e.kind == "singular" and e.t < 0.099]
        found = [e.t for e in whole.events[i] if e.kind == "singular" and e.t < 0.099]
        assert found == pytest.approx(times, abs=1e-9)
    turned = sr.rollout(mech, q[::-1], v[::-1], u[::-1], dt=DT, steps=100, threads=3)
    assert np.array_equal(turned.q[::-1], whole.q)
    assert np.abs(whole.q[:, :, 1] + 2 * whole.q[:, :, 0] - 2 * np.pi).max() < 1e-8


def test_a_policy_is_called_with_whole_batches() -> None:
    mech = sr.library.dual_arm()
    q, v, u = batch(mech)
    asked = []

    def policy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        assert q.shape == (B, mech.nq) and v.shape == (B, mech.nv)
        asked.append(t)
        return u[:, round(t / DT)]

    found = sr.rollout(mech, q, v, dt=DT, steps=STEPS, policy=policy)
    open_loop = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS)
    assert asked == pytest.approx(DT * np.arange(STEPS))
    assert np.array_equal(found.q, open_loop.q) and np.array_equal(found.u, open_loop.u)


@pytest.mark.parametrize("name", ["dual_arm", "dual_arm_box"])
def test_linear_feedback_is_the_same_inside_and_outside(name: str) -> None:
    mech = getattr(sr.library, name)()
    q, v, u = batch(mech)
    rng = np.random.default_rng(1)
    K = 0.3 * rng.normal(size=(STEPS, mech.nu, 2 * mech.nv))
    reference = 0.1 * rng.normal(size=(STEPS, mech.nv))

    def policy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        k = round(t / DT)
        x = np.concatenate([mech.difference(mech.default.q, q), v - reference[k]], axis=1)
        return u[0, k] - x @ K[k].T

    law = sr.LinearFeedback(K, mech.default.q, reference, u[0])
    inside = sr.rollout(mech, q, v, dt=DT, steps=STEPS, policy=law)
    outside = sr.rollout(mech, q, v, dt=DT, steps=STEPS, policy=policy)
    assert np.abs(inside.u - outside.u).max() <= 1e-10 * (1.0 + np.abs(outside.u).max())
    assert np.abs(inside.q - outside.q).max() <= 1e-11


def test_parameters_of_each_copy() -> None:
    mech = sr.library.four_bar()
    q, v, u = batch(mech, 4)
    body = mech.body_names[1]
    masses, gravity = (
        np.array([1.0, 2.0, 3.0, 4.0]),
        np.array([[0.0, 0.0, -g] for g in (1.0, 5.0, 9.81, 3.0)]),
    )
    found = sr.rollout(
        mech, q, v, u, dt=DT, steps=STEPS, parameters={"mass": {body: masses}, "gravity": gravity}
    )
    for i in range(4):
        changed = mech.with_(mass={body: masses[i]}, gravity=gravity[i])
        alone = sr.rollout(changed, q[i], v[i], u[i], dt=DT, steps=STEPS)
        assert np.abs(found.q[i] - alone.q[0]).max() <= 1e-12
    assert np.abs(found.q[0] - found.q[1]).max() > 1e-6


def test_every_keeps_fewer_states() -> None:
    mech = sr.library.five_bar()
    q, v, u = batch(mech, 3)
    all_states = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS)
    some = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS, every=7)
    assert some.t == pytest.approx(all_states.t[::7]) and len(some.t) == 1 + STEPS // 7
    assert np.array_equal(some.q, all_states.q[:, ::7]) and np.array_equal(some.u, all_states.u[:, ::7])
    assert some.length.tolist() == [len(some.t)] * 3


def test_drives_run_in_all_threads() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("crank", parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.body("arm", parent="crank", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=1.0, com=(0.5, 0, 0),
              inertia=(0.1,) * 3)  # fmt: skip
    spec.constrain("motor", sr.Drive("crank", lambda t: np.sin(3.0 * t)))
    mech = spec.compile()
    q = np.stack([np.zeros(9), np.linspace(-1, 1, 9)], axis=1)
    found = sr.rollout(mech, q, dt=DT, steps=200)
    assert found.success and found.q[:, :, 0] == pytest.approx(
        np.tile(np.sin(3.0 * found.t), (9, 1)), abs=1e-12
    )
    run = sr.simulate(mech, (0.0, 0.2), q[4], mech.consistent_velocity(q[4]), dt=DT, method="rk4")
    assert np.abs(found.q[4] - run.q).max() <= 1e-12


def test_copies_that_fail_stop_alone_and_say_why() -> None:
    mech = sr.library.dual_arm()
    q, v, u = batch(mech)
    good = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS)
    q[3, 0] = np.nan
    q[5, 0] += 0.1
    u[9, 40, 2] = np.inf
    v[11] *= 1e5
    found = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS)
    bad = [3, 5, 9, 11]
    assert np.flatnonzero(found.status).tolist() == bad and not found.success
    assert np.array_equal(np.delete(found.q, bad, axis=0), np.delete(good.q, bad, axis=0))
    assert found.length[[0, 3, 5, 9]].tolist() == [STEPS + 1, 0, 0, 41]
    assert np.isfinite(found.q[9, :41]).all() and np.isnan(found.q[9, 41:]).all()
    assert np.array_equal(found.q[9, :41], good.q[9, :41])
    assert (
        np.isfinite(found.q[11, : found.length[11]]).all() and np.isnan(found.q[11, found.length[11] :]).all()
    )
    for text in (
        "4 of 21 copies",
        "Copy 3: Did not start: q0",
        "Copy 9: Stopped after t = 0.04 s: its input u",
    ):
        assert text in found.message
    assert "q0 does not satisfy the constraints" in found.messages[5]


def test_states_that_have_no_acceleration_do_not_count() -> None:
    """Whether pieces of a rollout are long or short, a copy ends at the same state."""
    spec = sr.MechanismSpec()
    spec.body("a", parent="ground", joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.1,) * 3)
    mech = spec.compile()
    found = sr.rollout(mech, [[0.0]], [[1e308]], [[[1e308]] * 50], dt=1.0, steps=50)
    policy = sr.rollout(
        mech, [[0.0]], [[1e308]], dt=1.0, steps=50, policy=lambda t, q, v: np.full((1, 1), 1e308)
    )
    assert found.status[0] == -1 and found.length[0] == policy.length[0]


def test_ctrl_c_keeps_what_is_done() -> None:
    mech = sr.library.dual_arm()
    q, v, _ = batch(mech)

    def policy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.01:
            os.kill(os.getpid(), signal.SIGINT)
        return np.zeros((B, mech.nu))

    assert threading.current_thread() is threading.main_thread()
    found = sr.rollout(mech, q, v, dt=DT, steps=1000, policy=policy)
    assert found.status.tolist() == [-2] * B and "Interrupted at t = 0.01" in found.message
    assert 11 <= found.length[0] <= 14 and np.isfinite(found.q[:, : found.length[0]]).all()


def test_a_policy_that_fails_on_the_way_stops_all_copies() -> None:
    mech = sr.library.five_bar()
    q, v, _ = batch(mech, 2)

    def policy(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.01:
            raise RuntimeError("lost it")
        return np.zeros((2, mech.nu))

    found = sr.rollout(mech, q, v, dt=DT, steps=50, policy=policy)
    assert found.status.tolist() == [-3, -3] and "lost it" in found.message and found.length[0] == 12


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    mech = sr.library.pendulum()
    sr.rollout(mech, mech.default.q, dt=DT, steps=10, progress=True)
    assert isinstance(capsys.readouterr().err, str)


def test_what_is_not_packed_is_shown() -> None:
    """Steps in lanes of a pack are not counted; with parameters of their own all steps are."""
    mech = sr.library.four_bar()
    run = sr.rollout(mech, np.tile(mech.default.q, (4, 1)), dt=DT, steps=20)
    assert "4 copies, 21 states each, 4 steps one by one: All 4 copies" in repr(run)  # the first of each copy
    gravity = np.outer(np.ones(4), [0.0, -9.81, 0.0])
    own = sr.rollout(mech, mech.default.q, dt=DT, steps=20, parameters={"gravity": gravity})
    assert "80 steps one by one" in repr(own)


def bad_calls() -> dict[str, tuple[str, dict[str, object]]]:
    """Arguments of calls that are refused, each with words of the message."""
    q = np.tile(sr.library.five_bar().default.q, (3, 1))
    u = np.zeros((3, 5, 4))
    return {
        "lengths": ("same number of copies.*q0 3.*u 2", {"q0": q, "u": u[:2]}),
        "no copies": ("at least one copy", {"q0": q[:0]}),
        "wide": (r"q0 must be an array of numbers with shape \(B, 4\)", {"q0": q[:, :2]}),
        "steps": (r"u must be .* got \(3, 4, 4\)", {"q0": q, "u": u[:, :4]}),
        "device": ("`device`.*'cpu'", {"q0": q, "device": "tpu"}),
        "dtype": ('dtype="float32" needs device="cuda"', {"q0": q, "dtype": "float32"}),
        "method": ("`method` must be one of", {"q0": q, "method": "euler"}),
        "both": ("u or policy, not both", {"q0": q, "u": u, "policy": lambda t, q, v: u[:, 0]}),
        "policy": (r"policy must be a function of \(t, q, v\)", {"q0": q, "policy": lambda q: q}),
        "answer": (r"must return u with shape \(3, 4\)", {"q0": q, "policy": lambda t, q, v: np.zeros(2)}),
        "nothing": ("must return u with shape .* got NoneType", {"q0": q, "policy": lambda t, q, v: None}),
        "gains": (
            "K of a LinearFeedback must have shape",
            {"q0": q, "policy": sr.LinearFeedback(np.eye(3), q[0])},
        ),
        "one for all": ("must have a leading axis B", {"q0": q, "parameters": {"mass": {"link1": 1.0}}}),
        "unknown": ("unknown parameter", {"q0": q, "parameters": {"weight": {"link1": [1.0, 2.0, 3.0]}}}),
        "client": ("client must be a dask.distributed Client, got int", {"q0": q, "client": 3}),
        "threads": ("`threads` must be a positive whole number", {"q0": q, "threads": 0}),
        "stops": ("stops=True, but no coordinate of 'five_bar' has limits", {"q0": q, "stops": True}),
        "switches": ("switches must be Switch or Contact objects", {"q0": q, "switches": 3}),
        "events": ("rollout has no `events`.*result.s events", {"q0": q, "events": ()}),
        "control": ("rollout has no `control`.*policy=", {"q0": q, "control": lambda t, q, v: u[:, 0]}),
        "typing error": ("argument of rollout 'thread'.*Did you mean 'threads'", {"q0": q, "thread": 1}),
    }


@pytest.mark.parametrize("what", bad_calls())
def test_bad_input(what: str) -> None:
    words, given = bad_calls()[what]
    with pytest.raises(sr.SarrusError, match=f"(?i){words}"):
        sr.rollout(sr.library.five_bar(), dt=DT, steps=5, **given)  # type: ignore[arg-type]


def test_python_functions_of_a_mechanism_are_refused_by_name() -> None:
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.constrain("equal", sr.CustomConstraint(lambda q, t: [q[0] - q[1]], 1))
    with pytest.raises(sr.InputError, match="Python functions of 'equal'"):
        sr.rollout(spec.compile(), [[0.0, 0.0]], dt=DT, steps=5)
    with pytest.raises(sr.InputError, match="rollout takes a Mechanism, got MechanismSpec"):
        sr.rollout(spec, [[0.0, 0.0]], dt=DT, steps=5)  # type: ignore[arg-type]
    no_inputs = sr.MechanismSpec()
    no_inputs.body("a", parent="ground", joint=sr.Free(), mass=1.0, inertia=(0.1,) * 3)
    mech = no_inputs.compile()
    with pytest.raises(sr.InputError, match="a policy needs actuators"):
        sr.rollout(mech, mech.neutral(), dt=DT, steps=5, policy=lambda t, q, v: np.zeros((1, 0)))


def test_numbers_that_are_not_finite_stay_with_their_copy() -> None:
    """Copies that overflow share memory with others, before and after them, in lanes and alone."""
    mech = sr.library.dual_arm()
    q, v, u = batch(mech, 40)
    good = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS)
    for bad in (1, 10, 11, 12, 13, 30):
        v[bad] *= 1e160
    for threads in (1, 2):
        found = sr.rollout(mech, q, v, u, dt=DT, steps=STEPS, threads=threads)
        fine = np.flatnonzero(found.status == 0)
        assert len(fine) == 34
        assert np.array_equal(found.q[fine], good.q[fine])
    after = mech.step(q, v)
    assert np.array_equal(after.q[2], mech.step(q[2], v[2]).q) and after.status[1] != 0


def test_lengths_of_each_copy() -> None:
    """Parameters of the description: a pose that closes one copy need not close another."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    a = spec.parameter("a", 0.2)
    spec.body(
        "crank", parent="ground", joint=sr.Revolute("z"), mass=0.5, com=(0.1, 0, 0), inertia=(1e-2,) * 3
    )
    at, link = sr.Pose((a, 0, 0)), {"mass": 1.0, "com": (0.3, 0, 0), "inertia": (2e-2,) * 3}
    spec.body("coupler", parent="crank", joint=sr.Revolute("z"), at=at, **link)
    spec.body("rocker", parent="ground", joint=sr.Revolute("z"), at=sr.Pose((0.5, 0, 0)), **link)
    ends = {"at_a": sr.Pose((0.6, 0, 0)), "at_b": sr.Pose((0.5, 0, 0))}
    spec.close("pin", "coupler", "rocker", joint=sr.Revolute("z"), **ends)
    mech = spec.compile()
    lengths = np.array([0.2, 0.22, 0.18])
    poses = np.array([mech.with_(a=x).assemble(mech.default.q, fixed={"crank": 1.0}).q for x in lengths])
    found = sr.rollout(mech, poses, dt=DT, steps=30, parameters={"a": lengths})
    assert found.success
    for i, x in enumerate(lengths):
        alone = sr.rollout(mech.with_(a=x), poses[i], dt=DT, steps=30)
        assert np.abs(found.q[i] - alone.q[0]).max() <= 1e-12
    wrong = sr.rollout(mech, poses[0], dt=DT, steps=30, parameters={"a": lengths})
    assert wrong.status.tolist() == [0, -1, -1] and "q0 does not satisfy" in wrong.messages[1]


def test_inconsistent_velocities_do_not_start() -> None:
    """As in simulate; they were replaced by others without a word."""
    mech = sr.library.four_bar()
    good = mech.consistent_velocity(mech.default.q, [1.0, 0.0, 0.0])
    found = sr.rollout(mech, mech.default.q, [good, [1.0, 0.0, 0.0]], dt=1e-3, steps=2)
    assert found.status.tolist()[0] == 0 and found.status[1] != 0
    assert "v0 does not satisfy the constraints" in found.messages[1]


def test_copies_of_bad_parameters_and_answers_are_named() -> None:
    mech = sr.library.four_bar()
    with pytest.raises(sr.InputError, match="parameters of copy 1: mass of body 'crank' must not be"):
        sr.rollout(mech, mech.default.q, dt=1e-3, steps=1, parameters={"mass": {"crank": [1.0, -1.0]}})
    with pytest.raises(sr.InputError, match="leading axis B"):
        sr.rollout(mech, mech.default.q, dt=1e-3, steps=1, parameters={"gravity": (0, -9.81, 0)})

    def policy(t: float, q: Any, v: Any) -> Any:
        return np.array([[0.0], [np.nan]])

    found = sr.rollout(mech, [mech.default.q] * 2, dt=1e-3, steps=3, policy=policy)
    assert found.status[0] == 0
    assert "the policy gave it an input that is not finite" in found.messages[1]


def test_copies_that_diverge_have_a_status() -> None:
    """Damping that is too strong for the step: states grow until nothing can be computed at them."""
    mech = sr.library.delta()
    gain = np.zeros((mech.nu, 2 * mech.nv))
    for row, name in zip(gain, mech.actuators, strict=True):
        row[mech.nv + mech.index(name).v.start] = 40.0
    q = np.tile(mech.default.q, (4, 1))
    v = mech.consistent_velocity(q, np.random.default_rng(0).normal(size=(4, mech.nv)))
    policy = sr.LinearFeedback(gain, mech.default.q, np.zeros(mech.nv))
    run = sr.rollout(mech, q, v, dt=2e-3, steps=100, every=10, policy=policy)
    assert np.all(run.status != 0) and np.all(np.isnan(run.q[:, -1]))


@pytest.mark.parametrize("name", ["planetary_gearbox", "wiper"])
def test_copies_at_rest_stay_there(name: str) -> None:
    """Nothing acts: the test of fixed steps divides by the speed, and called them too long."""
    mech = sr.library.MECHANISMS[name]()
    still = sr.rollout(mech, np.tile(mech.default.q, (2, 1)), steps=20, dt=1e-3)
    assert still.success and np.all(still.step_error < 1e-9), still.messages
