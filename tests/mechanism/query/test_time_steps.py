"""mech.step: one projected step, alone and in batches, beside `simulate` and MuJoCo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.time_steps import METHODS

MACHINES = [
    "pendulum",
    "four_bar",
    "slider_crank",
    "five_bar",
    "dual_arm",
    "bricard",
    "rolling_disk",
    "delta",
]


def moving(name: str) -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """A library mechanism in motion: 0.1 s after its default state."""
    mech = getattr(sr.library, name)()
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3, method="rk4")
    return mech, run.q[-1], run.v[-1]


@pytest.mark.parametrize("name", MACHINES)
def test_steps_are_those_of_a_run(name: str) -> None:
    """Within what the first step of a run does differently: it has no step before it either."""
    mech, q, v = moving(name)
    u = 0.1 * np.arange(1.0, mech.nu + 1.0)
    tau = np.zeros(mech.nv)
    tau[mech._actuated] = u
    run = sr.simulate(mech, (0.0, 0.05), q, v, tau=tau, dt=1e-3, method="rk4")
    for _ in range(50):
        q, v = mech.step(q, v, u)
    scale = 1.0 + np.max(np.abs(run.v))
    assert np.max(np.abs(mech.difference(run.q[-1], q))) <= 1e-11 * scale
    assert np.max(np.abs(v - run.v[-1])) <= 1e-10 * scale
    assert np.max(np.abs(mech.terms(q, v).phi), initial=0.0) <= 1e-12 * max(mech.length, 1.0)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_arrives(method: str) -> None:
    mech, q, v = moving("slider_crank")
    end = mech.step(q, v, dt=0.01, method=method, substeps=100 if METHODS[method].order < 4 else 10)
    exact = mech.step(q, v, dt=0.01, substeps=200)
    assert end.q == pytest.approx(exact.q, abs=2e-4 if METHODS[method].order < 4 else 1e-7)


def test_substeps_are_equal_steps() -> None:
    """The second half knows the first: equal to rounding, not to the bit."""
    mech, q, v = moving("five_bar")
    u = np.array([0.3, -0.2, 0.0, 0.1])
    once = mech.step(q, v, u, dt=2e-3, substeps=2)
    twice = mech.step(*mech.step(q, v, u, dt=1e-3), u, dt=1e-3)
    assert once.q == pytest.approx(twice.q, abs=1e-13)
    assert once.v == pytest.approx(twice.v, abs=1e-12)


@pytest.mark.parametrize("name", ["five_bar", "dual_arm", "bricard"])
def test_states_of_a_batch_have_the_bits_of_single_ones(name: str) -> None:
    mech, q, v = moving(name)
    rng = np.random.default_rng(0)
    speeds = mech.consistent_velocity(np.tile(q, (40, 1)), v + rng.normal(size=(40, mech.nv)))
    u = rng.normal(size=(40, mech.nu))
    batch = mech.step(q, speeds, u)
    assert batch.q.shape == (40, mech.nq) and batch.status.shape == (40,)
    for i in (0, 7, 39):
        one = mech.step(q, speeds[i], u[i])
        assert np.array_equal(one.q, batch.q[i]) and np.array_equal(one.v, batch.v[i])
    assert mech.step(q, speeds.reshape(2, 20, -1), u.reshape(2, 20, -1)).v.shape == (2, 20, mech.nv)
    assert mech.step(np.zeros((0, mech.nq)), np.zeros((0, mech.nv))).q.shape == (0, mech.nq)


def test_a_singular_pose_inside_a_step_is_passed_on_the_branch() -> None:
    """The slider-crank turns through its toggle, each step alone: the exact motion is q2 = 2 pi - 2 q1."""
    mech = sr.library.slider_crank(gravity=0.0)
    for start in np.linspace(1.55, 1.5708, 9):
        q, v = np.array([start, 2 * np.pi - 2 * start]), np.array([2.0, -4.0])
        energy = mech.energy(q, v).total
        for _ in range(30):
            before = q[0]
            q, v = mech.step(q, v)
            assert q[0] > before
        assert q[1] == pytest.approx(2 * np.pi - 2 * q[0], abs=1e-9)
        assert mech.energy(q, v).total == pytest.approx(energy, rel=1e-8)
        run = sr.simulate(
            mech, (0.0, 0.03), [start, 2 * np.pi - 2 * start], [2.0, -4.0], dt=1e-3, method="rk4"
        )
        assert q == pytest.approx(run.q[-1], abs=1e-9)


def test_drives_and_user_rows_are_asked() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("arm", parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("motor", sr.Drive("arm", lambda t: 0.5 * t * t))
    mech = spec.compile()
    q, v = mech.step([0.0], [0.0], dt=0.1, t=0.0)
    assert q[0] == pytest.approx(0.005, abs=1e-12) and v[0] == pytest.approx(0.1, abs=1e-6)

    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for name in ("a", "b"):
        spec.body(
            name, parent="ground", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3
        )
    spec.constrain("equal", sr.CustomConstraint(lambda q, t: [q[0] - q[1]], 1))
    mech = spec.compile()
    q, v = mech.step([0.1, 0.1], [0.0, 0.0], dt=1e-2)
    pendulum = sr.MechanismSpec(gravity=(0, -9.81, 0))
    pendulum.body("a", parent="ground", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3)
    alone = pendulum.compile().step([0.1], [0.0], dt=1e-2)
    assert q == pytest.approx([alone.q[0]] * 2, abs=1e-12)


def test_applied_forces_add_up() -> None:
    mech, q, v = moving("dual_arm")
    u = np.linspace(-1.0, 1.0, mech.nu)
    tau = np.zeros(mech.nv)
    tau[mech._actuated] = u
    assert np.array_equal(mech.step(q, v, u).q, mech.step(q, v, tau=tau).q)
    assert mech.step(q, v, u, tau=tau).v == pytest.approx(mech.step(q, v, 2 * u).v, abs=1e-12)
    assert mech.step(q, v, list(u)).v == pytest.approx(mech.step(q, v, u).v, abs=0)


def test_bad_steps_are_refused() -> None:
    mech = sr.library.four_bar()
    q, v = mech.default
    with pytest.raises(sr.InputError, match="`dt` must be positive"):
        mech.step(q, v, dt=-1e-3)
    with pytest.raises(sr.InputError, match="`method` must be one of"):
        mech.step(q, v, method="euler")
    with pytest.raises(sr.InputError, match="`substeps` must be a positive whole number"):
        mech.step(q, v, substeps=0)
    with pytest.raises(sr.InputError, match="u must have shape"):
        mech.step(q, v, np.zeros(7))
    with pytest.raises(sr.InputError, match="q must be finite"):
        mech.step(np.full(mech.nq, np.nan), v)
    with pytest.raises(sr.AssemblyError, match=r"is open by .* mech\.project"):
        mech.step(q + np.array([0.3, 0.0, 0.0]), v)
    arms = sr.library.dual_arm()
    fast = arms.consistent_velocity(arms.default.q, np.full(arms.nv, 1e155))
    with pytest.raises(sr.SarrusError, match=r"numbers grew beyond all bounds|could not be closed"):
        arms.step(arms.default.q, fast, dt=0.1)


def test_in_a_batch_a_step_that_fails_is_nan_with_a_status() -> None:
    mech = sr.library.four_bar()
    q, v = np.tile(mech.default.q, (3, 1)), np.tile(mech.default.v, (3, 1))
    q[1, 0] += 0.3
    end = mech.step(q, v)
    assert end.status.tolist()[0] == 0 and end.status[1] != 0
    assert np.isnan(end.q[1]).all() and np.isfinite(end.q[[0, 2]]).all()


@pytest.mark.parametrize("name", ["stewart", "rolling_disk"])
def test_states_that_are_not_finite_stop_alone(name: str) -> None:
    """NaN in q, v, u or tau of a batch: these states are NaN with a status, the others have their bits."""
    mech = getattr(sr.library, name)()
    q, v = (np.tile(x, (6, 1)) for x in mech.default)
    u, tau = np.zeros((6, mech.nu)), np.zeros((6, mech.nv))
    known = mech.step(q, v, u, 1e-3, tau=tau)
    slopes = mech.step_derivatives(q, v, u, 1e-3, tau=tau)
    q[0, -1], v[1, 0], tau[4] = np.nan, np.inf, np.nan
    bad = [0, 1, 4]
    if mech.nu:
        u[3] = np.nan
        bad = [0, 1, 3, 4]
    good = [i for i in range(6) if i not in bad]
    found = mech.step(q, v, u, 1e-3, tau=tau)
    assert np.flatnonzero(found.status).tolist() == bad and np.isnan(found.q[bad]).all()
    np.testing.assert_array_equal(found.q[good], known.q[good])
    np.testing.assert_array_equal(found.v[good], known.v[good])
    found = mech.step_derivatives(q, v, u, 1e-3, tau=tau)
    assert np.flatnonzero(found.status).tolist() == bad and np.isnan(found.A[bad]).all()
    np.testing.assert_array_equal(found.A[good], slopes.A[good])
    with pytest.raises(sr.SarrusError, match="finite"):
        mech.step(q[0], v[0], dt=1e-3)
    with pytest.raises(sr.SarrusError, match="shape"):
        mech.step(q[:, :-1], v, dt=1e-3)


def turning_four_bar(speed: float) -> tuple[sr.Mechanism, np.ndarray]:
    mech = sr.library.four_bar()
    return mech, mech.consistent_velocity(mech.default.q, fixed={"crank": speed})


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "delta", "rolling_disk", "bricard"])
def test_a_step_far_too_long_says_so(name: str) -> None:
    """Errors of a hundredth of the motion, by an adaptive method, are announced; at 1 ms nothing is."""
    mech, q, v = moving(name)
    if not np.any(v):
        v = mech.consistent_velocity(q, np.arange(1.0, mech.nv + 1.0))
    speed = np.max(np.abs(v / mech.units.unit))
    assert mech.step(q, v, dt=1e-3).step_error < 1e-2
    announced = 0
    for faster in (3.0, 30.0, 100.0, 300.0):
        there = mech.step(q, v * faster / speed, dt=1e-2, method="dopri5")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            s = mech.step(q, v * faster / speed, dt=1e-2)
        off = np.max(np.abs(mech.difference(there.q, s.q) / mech.units.unit))
        assert bool(said) == (s.step_error > 1e-2)
        assert said or off < 1e-2
        announced += bool(said)
    assert announced


def test_a_step_from_between_branches_says_so() -> None:
    """Such a start loses energy in a jump; the directions of the branches do not."""
    mech = sr.library.five_bar()
    q, rng = mech.default.q, np.random.default_rng(0)
    for _ in range(5):
        v = mech.consistent_velocity(q, 3.0 * rng.normal(size=mech.nv))
        with pytest.warns(sr.SarrusWarning, match="between branches"):
            s = mech.step(q, v)
        assert s.step_error > 1e-2
    for v in 3.0 * mech.branches(q)[0].directions[:8]:
        assert mech.step(q, v).step_error < 1e-2


def test_the_loss_of_a_batch_is_that_of_its_states() -> None:
    mech, v = turning_four_bar(100.0)
    with pytest.warns(sr.SarrusWarning, match="states of the batch, the first is number 1"):
        both = mech.step(mech.default.q, np.array([v / 100.0, v]), dt=1e-2)
    assert isinstance(both.step_error, np.ndarray)
    with pytest.warns(sr.SarrusWarning, match="too long"):
        assert both.step_error[1] == mech.step(mech.default.q, v, dt=1e-2).step_error
    assert both.step_error[0] < 1e-6
    assert 1e-8 <= mech.step(mech.default.q, v, dt=1e-2, method="dopri5").step_error < 1e-5
    assert mech.step(mech.default.q, v, dt=1e-2, substeps=20).step_error < 1e-3


def true_loss(mech: sr.Mechanism, start: tuple[np.ndarray, np.ndarray], end: sr.State, dt: float) -> float:
    """Error of a step, relative to 1 rad, to L and to the speed: an accurate run knows its end."""
    run = sr.simulate(mech, (0.0, dt), *start, rtol=1e-12, atol=1e-13)
    unit = mech.units.unit
    speed = np.abs(run.v[[0, -1]] / unit).max()
    off = np.abs(mech.difference(run.q[-1], end.q) / unit).max()
    return float(max(off, np.abs((run.v[-1] - end.v) / unit).max() / speed))


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("name", ["double_pendulum", "rolling_disk", "four_bar", "stewart"])
def test_the_loss_is_an_estimate_for_every_method(name: str, method: str) -> None:
    """Errors above 1e-4 are said, at least in part; methods of low order lost 0.4 of the motion and said
    7.6e-11 of a rolling disk, and adaptive ones said 0."""
    mech, rng = getattr(sr.library, name)(), np.random.default_rng(3)
    for _ in range(12):
        q, dt = mech.default.q, float(10 ** rng.uniform(-4, -1.7))
        size = 10 ** rng.uniform(-0.5, 1.5) * mech.units.unit
        v = mech.consistent_velocity(q, size * rng.normal(size=mech.nv))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.SarrusWarning)
            end = mech.step(q, v, dt=dt, method=method)
        true = true_loss(mech, (q, v), end, dt)
        assert end.step_error > 0.0
        if METHODS[method].adaptive:
            assert true < max(end.step_error, 1e-9) < 1e-5
        elif METHODS[method].order < 4:
            assert true < 1e-4 or 0.1 * true < end.step_error < 20.0 * true
        else:
            assert true < 1e-4 or end.step_error > 0.1 * true


def test_steps_with_a_mode_say_what_they_lose() -> None:
    """Dry friction on a crank that is too fast for its steps; nothing was known of it before."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1,) * 3}
    spec.body("a", joint=sr.Revolute("z"), friction=0.2, friction_model="coulomb", **rod)
    spec.body("b", "a", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), **rod)
    mech, q = spec.compile(), np.array([0.3, 0.4])
    for speed in (1.0, 10.0, 60.0, 200.0):
        v = np.array([speed, -0.5 * speed])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            end = mech.step(q, v, dt=1e-2)
        true = true_loss(mech, (q, v), end, 1e-2)
        assert 0.1 * min(true, 0.5) < end.step_error < 2.0 * true + 1e-12
        assert bool(said) == (end.step_error > 1e-2)
    assert said
    both = mech.step(np.tile(q, (2, 1)), [[1.0, -0.5], [0.0, 0.0]], dt=1e-4)
    assert both.step_error.shape == (2,) and (both.step_error < 1e-8).all()


def test_coming_to_rest_at_the_end_of_a_step_is_no_loss() -> None:
    """A rounding earlier or later it sticks or slides; the step is right both times."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("y", joint=sr.Prismatic("y"), mass=1.0, friction=1.0, friction_model="coulomb")
    mech = spec.compile()
    for off in (0.0, 1e-17, -1e-17, 1e-16, -1e-16):
        assert mech.step([0.0], [1e-2 + off], dt=1e-2).step_error < 1e-9
