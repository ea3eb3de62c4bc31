"""`simulate` without options: right on fast, stiff, geared and driven machines."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

from .machines import error, fast_four_bar, oscillator, spinning_body

TIGHT = {"method": "dopri5", "rtol": 1e-12, "atol": 1e-13}


@pytest.mark.parametrize(
    ("make", "end"),
    [
        (sr.library.andrews, 0.03),
        (fast_four_bar, 0.1),
        (spinning_body, 0.01),
        (lambda: oscillator(1e10), 1e-3),
        (sr.library.double_pendulum, 1.0),
        (sr.library.stewart, 1.0),
    ],
)
def test_the_default_is_right(make, end) -> None:
    """To 1e-6 of the speed: rtol is 1e-8 per step, and there are up to two thousand."""
    mech = make()
    run, exact = sr.simulate(mech, (0.0, end)), sr.simulate(mech, (0.0, end), **TIGHT)
    assert run.success and run.message.startswith("Reached the end")
    speed = max(1.0, np.abs(exact.v).max())
    assert np.abs(mech.difference(run.q[-1], exact.q[-1])).max() < 1e-6 * max(1.0, speed * end)
    assert np.abs(run.v[-1] - exact.v[-1]).max() < 1e-6 * speed


def test_stiff_motion_is_taken_in_implicit_steps() -> None:
    """The governor in a tenth of the steps that stability allows explicit methods; to the same motion."""
    mech = sr.library.flyball_governor()
    runs = [sr.simulate(mech, (0.0, 1.0), method=method) for method in ("auto", "dopri5", "radau")]
    steps = [len(run) for run in runs]
    assert steps[0] < 0.2 * steps[1] and steps[0] < 1.2 * steps[2]
    assert error(mech, runs[0], runs[1]) < 1e-7


def test_what_begins_calm_and_becomes_stiff() -> None:
    """A damper that a run meets half way: implicit steps there, and explicit ones before and after."""
    mech = oscillator(4.0)

    def brake(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [-1e5 * v[0] if 1.0 < t < 2.0 else 0.0]

    run = sr.simulate(mech, (0.0, 3.0), tau=brake)
    stopped = 0.1 * math.cos(2.0)  # where it stands still from 1 s to 2 s, but for 4e-5 of it
    assert run.success and len(run) < 1000
    assert run.q[-1, 0] == pytest.approx(stopped * math.cos(2.0), abs=1e-5)
    assert run.v[-1, 0] == pytest.approx(-2.0 * stopped * math.sin(2.0), abs=1e-5)


def test_not_stiff_means_explicit() -> None:
    for name in ("double_pendulum", "four_bar", "stewart", "bricard"):
        mech = getattr(sr.library, name)()
        runs = [sr.simulate(mech, (0.0, 1.0), method=method) for method in ("auto", "dopri5")]
        np.testing.assert_array_equal(runs[0].q[-1], runs[1].q[-1])


# ---------------------------------------------------------------------- gears and drives


def gears(a: float, b: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    for name in ("a", "b"):
        spec.body(name, joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    spec.constrain("mesh", sr.Coupling({"a": a, "b": b}))
    mech = spec.compile()
    return mech.with_default(mech.neutral(), mech.consistent_velocity(mech.neutral(), fixed={"a": 300.0}))


def driven_slider_crank(speed: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    rod = {"mass": 0.2, "com": (0.04, 0, 0), "inertia": (1e-4, 1e-4, 1e-4)}
    spec.body("crank", joint=sr.Revolute("z"), **rod)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((0.075, 0, 0)), **rod)
    spec.body("slider", joint=sr.Prismatic("x"), mass=0.5)
    spec.close("pin", "rod", "slider", joint=sr.Revolute("z"), at_a=sr.Pose((0.2, 0, 0)))
    drive = sr.Drive("crank", lambda t: speed * t, lambda t: speed, lambda t: 0.0)
    spec.constrain("motor", drive)
    mech = spec.compile()
    q = mech.assemble([0.0, 0.0, 0.275]).q
    return mech.with_default(q, mech.consistent_velocity(q))


@pytest.mark.parametrize("options", [{}, {"dt": 1e-3}, {"method": "radau"}], ids=str)
@pytest.mark.parametrize("make", [lambda: gears(17.0, 43.0), lambda: gears(1700.0, -2300.0)])
def test_gears_turn_for_a_minute(make, options) -> None:
    """Angles of 18,000 rad times coefficients of 1,700 cannot be closed to 1e-12; to rounding they are."""
    mech = make()
    run = sr.simulate(mech, (0.0, 60.0), **options)
    assert run.success and run.message == "Reached the end, t = 60 s."
    assert run.q[-1, 0] == pytest.approx(18000.0, abs=1e-6)


@pytest.mark.slow
def test_ten_million_steps_of_gears() -> None:
    """Three million radians, closed to rounding."""
    run = sr.simulate(gears(17.0, 43.0), (0.0, 1e4), dt=1e-3, store_every=100_000)
    assert run.success
    np.testing.assert_allclose(run.q[:, 0], 300.0 * run.t, rtol=1e-9)
    np.testing.assert_allclose(17.0 * run.q[:, 0] + 43.0 * run.q[:, 1], 0.0, atol=1e-7)


def test_a_driven_crank_at_3000_rpm() -> None:
    speed = 100.0 * math.pi
    run = sr.simulate(driven_slider_crank(speed), (0.0, 30.0), dt=2e-3, store_every=500)
    assert run.success and run.drift.max() < 1e-11
    np.testing.assert_allclose(run.q[:, 0], speed * run.t, atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "radau", "dopri5"])
@pytest.mark.parametrize("seed", range(8))
def test_driven_mechanisms_follow_their_drives(method: str, seed: int) -> None:
    """Without freedoms the motion is kinematic: assembled at the same time it is the same pose."""
    rng = np.random.default_rng(seed)
    speed = rng.choice([1.0, 5.0, 20.0, -30.0])
    mech = driven_slider_crank(speed)
    end = rng.uniform(2.0, 14.0) / abs(speed)
    run = sr.simulate(mech, (0.0, end), method=method)
    assert run.success
    crank = speed * end
    slider = 0.075 * math.cos(crank) + math.sqrt(0.2**2 - (0.075 * math.sin(crank)) ** 2)
    assert run.q[-1, 2] == pytest.approx(slider, abs=1e-12)
    assert np.all(np.abs(np.diff(run.q[:, 1])) < 1.0), "no jump to the other assembly"


def test_a_first_step_that_overflows_is_shortened() -> None:
    """A rate of 1e8 at a first step of 10 s: its stages overflow."""
    run = sr.simulate(oscillator(1e16), (0.0, 1e-6), method="dopri5", dt=10.0)
    assert run.success
    assert run.q[-1, 0] == pytest.approx(0.1 * math.cos(1e8 * 1e-6), abs=1e-5)


def test_travel_does_not_change_the_steps() -> None:
    """A machine far away, or turned many times, is followed as closely as at the origin."""
    mech = sr.library.double_pendulum()
    near = sr.simulate(mech, (0.0, 1.0))
    far = sr.simulate(mech, (0.0, 1.0), mech.default.q + 2e4 * math.pi * np.array([1.0, 0.0]), mech.default.v)
    assert abs(len(far) - len(near)) <= 2
    np.testing.assert_allclose(far.q[-1] - near.q[-1], [2e4 * math.pi, 0.0], atol=1e-6)


def flying_linkage(speed: float) -> sr.Mechanism:
    """A four-bar on a free base that flies through space at this speed [m/s]."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("base", joint=sr.Free(), mass=5.0, inertia=(1.0, 1.0, 1.0))
    rod = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (0.01, 0.02, 0.02)}
    spec.body("crank", "base", joint=sr.Revolute("z"), **rod)
    spec.body("coupler", "crank", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), **rod)
    spec.body("rocker", "base", joint=sr.Revolute("z"), at=sr.Pose((0.5, 0, 0)), **rod)
    ends = {"at_a": sr.Pose((0.45, 0, 0)), "at_b": sr.Pose((0.4, 0, 0))}
    spec.close("pin", "coupler", "rocker", joint=sr.Revolute("z"), **ends)
    mech = spec.compile()
    q = mech.assemble().q
    v = mech.consistent_velocity(q, fixed={"crank": 5.0})
    return mech.with_default(q, v + speed * np.eye(mech.nv)[0])


def test_flying_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Singular poses are looked for where joints move; at 200 m/s the work was 15 times that at rest."""
    from sarrus.simulation.system.system import System

    asked: list[int] = []
    inner = System.least_pivots

    def counted(self: System, t: np.ndarray, q: np.ndarray, rank: int) -> np.ndarray:
        asked.append(len(q))
        return inner(self, t, q, rank)

    monkeypatch.setattr(System, "least_pivots", counted)
    poses = []
    for speed in (0.0, 200.0):
        asked.clear()
        assert sr.simulate(flying_linkage(speed), (0.0, 0.2), dt=1e-3).success
        poses.append(sum(asked))
    assert poses[1] <= poses[0] + 10
