"""Runs of fixed steps with contacts: contacts="steps"."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sarrus as sr

from .machines import G, ball, block


def steps(mech: sr.Mechanism, end: float, q: Any, v: Any = None, *, dt: float, **more: Any) -> sr.Trajectory:
    """A run of fixed steps."""
    run = sr.simulate(mech, (0, end), q, v, contacts="steps", dt=dt, **more)
    assert run.success, run.message
    return run


def falling_four_bar(loops: int = 1) -> sr.Mechanism:
    """A parallelogram of two bars above a floor, with a round foot."""
    spec = sr.MechanismSpec(name="falling four-bar")
    spec.body("frame", joint=sr.Prismatic("z"), mass=1.0)
    rod: dict[str, Any] = {"joint": sr.Revolute("y"), "com": (0.1, 0, 0), "inertia": (0.01,) * 3}
    at = sr.Pose((0.2, 0, 0))
    spec.body("left", "frame", mass=0.3, **rod)
    spec.body("bar", "left", at=at, mass=0.4, **rod)
    spec.body("right", "frame", at=at, mass=0.3, **rod)
    for k in range(loops):
        spec.close(f"pin{k}", "bar", "right", sr.Revolute("y"), at_a=at, at_b=at)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("foot", "bar", sr.Sphere(0.05), at=sr.Pose((0.1, 0, 0)), restitution=0.4)
    spec.contact("floor", "foot")
    return spec.compile()


@pytest.mark.parametrize("method", ["auto", "verlet"])
def test_without_contact_the_bits_are_those_of_the_method(method: str) -> None:
    mech = falling_four_bar()
    q, v = [3.0, 0.3, -0.3, 0.3], [0.2, 1.0, -1.0, 1.0]
    run = steps(mech, 0.3, q, v, dt=1e-3, method=method)
    free = sr.simulate(mech, (0, 0.3), q, v, dt=1e-3, method=method, contacts="ignore")
    assert set(run.contacts.mode.ravel()) == {"open"}
    np.testing.assert_array_equal(run.q, free.q)
    np.testing.assert_array_equal(run.v, free.v)


def test_a_block_slides_at_the_order_of_the_method() -> None:
    """On an incline, pulled by -c v along it: v' = g (sin - mu cos) - c / m v."""
    slope, mu, c, mass = 0.6, 0.3, 30.0, 2.0
    mech, q = block(mu, slope)
    v = np.array([1.0, 0, 0, 0, 0, 0])
    a, rate = G * (np.sin(slope) - mu * np.cos(slope)), c / mass
    at_end = a / rate + (1.0 - a / rate) * np.exp(-rate * 0.5)
    for method, order in (("verlet", 2), ("rk4", 4)):
        missed = []
        for n in (40, 80):
            run = steps(
                mech, 0.5, q, v, dt=0.5 / n, method=method, tau=lambda t, q, v: [-c * v[0], 0, 0, 0, 0, 0]
            )
            assert set(run.contacts.mode[-1, :4]) == {"slip"}
            missed.append(abs(run.v[-1, 0] - at_end))
        assert np.log2(missed[0] / missed[1]) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_box_at_rest_stays(slope: float) -> None:
    mech, q = block(0.5, slope)
    run = steps(mech, 60.0, q, dt=0.01, store_every=100)
    assert np.abs(run.q - q).max() <= 1e-12
    assert set(run.contacts.mode[1:, :4].ravel()) == {"stick"}


def test_order_1_across_an_impact() -> None:
    """Steps of which the impact divides one into equal halves, so that errors fall smoothly."""
    mech, q = ball(0.6, friction=0.3, height=1.0)
    v = np.array([1.0, 0, 0, 0, 0, 0])
    touch = np.sqrt(2 / G)
    exact = sr.simulate(mech, (0, 0.8), q, v, rtol=1e-10)
    missed = []
    for n in (40, 80, 160):
        run = steps(mech, 0.8, q, v, dt=touch / (n + 0.5))
        missed.append(np.abs(np.r_[run.q[-1, :3] - exact.q[-1, :3], run.v[-1] - exact.v[-1]]).max())
    assert missed[0] <= G * touch / 40
    for one, next_one in pairwise(missed):
        assert np.log2(one / next_one) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_a_ball_comes_to_rest(e: float, dt: float) -> None:
    mech, q = ball(e, friction=0.2, height=0.3)
    v0 = np.sqrt(2 * G * 0.3)
    rest = v0 / G + 2 * v0 * e / (G * (1 - e))
    run = steps(mech, rest + 2.0, q, dt=dt)
    assert run.contacts.mode[-1].tolist() == ["stick"]
    assert abs(run.q[-1, 2] - 0.1) <= 1e-12
    assert np.abs(run.v[-1]).max() <= 1e-14
    np.testing.assert_allclose(run.contacts.force[-1], [[0, 0, G]], atol=1e-10)
    assert run.system.contacts(run.q).gap.min() >= -1.01 * v0 * dt


@pytest.mark.parametrize("seed", range(3))
def test_a_thrown_box_comes_to_rest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mech, q = block(0.4, restitution=0.3)
    q[2] += 0.1
    run = steps(mech, 2.0, q, np.r_[rng.normal(size=3), 3 * rng.normal(size=3)], dt=1e-3)
    assert np.abs(run.v[-1]).max() <= 1e-9
    assert abs(mech.contacts(run.q[-1]).gap.min()) <= 1e-12
    assert run.energy[-1] < run.energy[0]
    push, friction = run.contacts.force[..., 2], np.linalg.norm(run.contacts.force[..., :2], axis=-1)
    assert push.min() >= -1e-6 * push.max()
    assert np.all(friction <= 0.4 * push + 1e-6 * push.max())


def test_loops_stay_closed_and_may_be_doubled() -> None:
    found = []
    for loops in (1, 2):
        run = steps(falling_four_bar(loops), 0.6, [0.3, 0.3, -0.3, 0.3], dt=1e-3)
        assert any(event.kind == "impact" for event in run.events)
        assert run.drift.max() <= 1e-12
        found.append(run)
    np.testing.assert_allclose(found[1].q[-1], found[0].q[-1], atol=1e-10)


def test_a_block_slides_and_stops() -> None:
    mech, q = block(0.3)
    run = steps(mech, 1.0, q, np.array([1.5, 0.0, 0, 0, 0, 0]), dt=1e-3)
    assert run.events[-1].kind == "stick"
    assert run.events[-1].t == pytest.approx(1.5 / (0.3 * G), abs=1e-3)
    assert run.q[-1, 0] == pytest.approx(1.5**2 / (2 * 0.3 * G), abs=1e-5)
    assert np.abs(run.v[-1]).max() <= 2e-14  # speeds below 1e-14 of the largest, 1.5 m/s, stay


def test_a_run_that_goes_on_is_the_run_in_one_piece() -> None:
    mech, q = ball(0.5, height=1.0)
    whole = steps(mech, 2.0, q, dt=1e-3)
    again = steps(mech, 0.9, q, dt=1e-3).resume(2.0)
    np.testing.assert_array_equal(again.q, whole.q)


def test_a_block_is_lifted_and_falls_back() -> None:
    """Pushed up by 40 N, less with time: it lifts, flies and comes down again, as in a run with events."""
    mech, q = block(0.5)
    force = {"tau": lambda t, q, v: [0, 0, 40.0 * np.cos(8 * t), 0, 0, 0]}
    run = steps(mech, 0.6, q, dt=1e-3, **force)
    exact = sr.simulate(mech, (0, 0.6), q, **force)
    for kind in ("impact", "lift"):
        times = [[event.t for event in one.events if event.kind == kind] for one in (run, exact)]
        assert len(times[0]) == len(times[1])
        np.testing.assert_allclose(*times, atol=4e-3)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=1e-2)


def test_a_driven_part_in_an_obstacle_ends_the_run() -> None:
    spec = sr.MechanismSpec(name="press")
    spec.body("ram", joint=sr.Prismatic("z"), mass=1.0)
    spec.constrain("drive", sr.Drive("ram", lambda t: 0.5 - t))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("ram", "ram", sr.Sphere(0.1))
    spec.contact("floor", "ram")
    run = sr.simulate(spec.compile(), (0, 1), contacts="steps", dt=1e-3)
    assert not run.success
    assert run.t[-1] == pytest.approx(0.4, abs=1.1e-3)
    assert "CONTACT_PRESSED" in run.message


def test_a_step_that_ends_deep_inside_goes_back() -> None:
    """20 m/s and 10 ms: a ball is in the middle of a thin wall, nearest to another side."""
    spec = sr.MechanismSpec(name="bullet")
    spec.body("ball", joint=sr.Prismatic("x"), mass=1.0)
    spec.surface("wall", "ground", sr.Box((2.0, 0.1, 0.3)), at=sr.Pose((2.0, 0, 0)), friction=0.1)
    spec.surface("ball", "ball", sr.Sphere(0.1))
    spec.contact("wall", "ball")
    mech = spec.compile()
    for dt in (0.01, 1e-3):
        run = steps(mech, 0.1, [0.88], [20.0], dt=dt)
        assert run.q[-1, 0] == pytest.approx(0.9, abs=1e-9)
        assert abs(run.v[-1, 0]) <= 1e-12


def test_what_has_no_fixed_steps_is_named() -> None:
    mech, q = ball(0.5, height=1.0)
    for options, named in (
        ({}, "dt"),
        ({"method": "rk4"}, "needs dt"),
        ({"method": "dopri5", "dt": 1e-3}, "dopri5"),
        ({"method": "radau", "dt": 1e-3}, "radau"),
        ({"dt": 1e-3, "rtol": 1e-6}, "rtol"),
    ):
        with pytest.raises(sr.InputError, match=named):
            sr.simulate(mech, (0, 1), q, contacts="steps", **options)


def test_moving_out_adds_no_energy() -> None:
    """Boxes that hit with spin, rebound and friction: what is moved out of the floor pays for it. The last
    part of 1e-5 is of second order in dt."""
    mech, q = block(0.8, restitution=0.9)
    rng = np.random.default_rng(4)
    for _ in range(3):
        q[2], v = 1.0, np.r_[rng.normal(size=3), 10 * rng.normal(size=3)]
        run = sr.simulate(mech, (0, 1.5), q, v, contacts="steps", dt=2e-3)
        assert run.success
        assert np.diff(run.energy).max() <= 1e-5 * np.ptp(run.energy)
