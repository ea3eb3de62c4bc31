"""What a real robot adds: noise, samples, delay, saturation, rates, a wrong model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

C = sr.control


@pytest.fixture(scope="module")
def mech() -> sr.Mechanism:
    crank = sr.library.slider_crank()
    return crank.with_default(crank.assemble([np.pi / 6, 2 * np.pi - np.pi / 3]).q)


def law(mech: sr.Mechanism, **more: Any) -> C.ProjectedInverseDynamics:
    return C.ProjectedInverseDynamics(
        mech, "crank", C.MinimumJerk(np.pi / 6, np.pi / 3, 0.4), kp=400.0, **more
    )


def clock(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.array([t, -t])


def test_nothing_added_changes_nothing(mech: sr.Mechanism) -> None:
    bare = sr.simulate(mech, (0.0, 0.1), control=law(mech), dt=5e-3)
    wrapped = sr.simulate(mech, (0.0, 0.1), control=C.Hardware(law(mech), mech), dt=5e-3)
    assert np.array_equal(bare.q, wrapped.q)


def test_samples_are_held_and_delayed(mech: sr.Mechanism) -> None:
    sampled = C.Hardware(clock, mech, sample=0.01)
    delayed = C.Hardware(clock, mech, sample=0.01, delay=0.02)
    q, v = mech.default
    for k in range(100):
        t = 0.001 * k
        step = 0.01 * (k // 10)
        assert sampled(t, q, v)[0] == pytest.approx(step, abs=1e-12)
        assert delayed(t, q, v)[0] == pytest.approx(max(step - 0.02, 0.0), abs=1e-12)
    assert sampled(0.0, q, v)[0] == 0.0  # a new run


def test_inputs_saturate_and_change_at_limited_rates(mech: sr.Mechanism) -> None:
    q, v = mech.default
    clipped = C.Hardware(lambda t, q, v: [50.0, -50.0], mech, saturation=(-20.0, 30.0))
    assert clipped(0.0, q, v).tolist() == [30.0, -20.0]
    slow = C.Hardware(lambda t, q, v: [5.0, -5.0], mech, sample=0.01, rate=[100.0, 200.0])
    found = np.array([slow(0.01 * k, q, v) for k in range(6)])
    np.testing.assert_allclose(found[:, 0], [1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    np.testing.assert_allclose(found[:, 1], [-2.0, -4.0, -5.0, -5.0, -5.0, -5.0])
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.actuate("arm", limits=(-1.0, 2.0))
    assert C.Hardware(lambda t, q, v: [9.0], spec.compile(), saturation=True)(0.0, [0.0], [0.0])[0] == 2.0


def test_noise_has_the_stated_size_and_repeats(mech: sr.Mechanism) -> None:
    seen: list[np.ndarray] = []

    def listen(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        seen.append(np.concatenate([q, v]))
        return np.zeros(2)

    hardware = C.Hardware(listen, mech, q_noise=1e-3, v_noise=[0.1, 0.2], seed=4)
    q, v = mech.default
    for _ in range(2000):
        hardware(0.0, q, v)
    spread = np.std(seen, axis=0)
    np.testing.assert_allclose(spread, [1e-3, 1e-3, 0.1, 0.2], rtol=0.1)
    first = seen[0]
    hardware.reset()
    hardware(0.0, q, v)
    assert np.array_equal(seen[-1], first)


def test_the_law_survives_all_of_it(mech: sr.Mechanism) -> None:
    believed = C.model_error(mech, 0.2, seed=3)
    hardware = C.Hardware(
        law(believed),
        mech,
        sample=2e-3,
        delay=2e-3,
        q_noise=2e-4,
        v_noise=5e-3,
        saturation=(-60.0, 60.0),
        rate=4000.0,
    )
    run = sr.simulate(mech, (0.0, 0.7), control=hardware, dt=2e-3)
    assert run.success and run.q[-1, 0] == pytest.approx(np.pi / 3, abs=0.02)


def test_measured_redundant_loops_do_not_confuse_the_law() -> None:
    """Off the manifold by noise, redundant rows look independent; the law must not believe them."""
    crank = sr.library.parallelogram()
    there = law_at = C.ProjectedInverseDynamics(crank, "left", 0.7, kp=100.0)
    exact = there.solve(0.0, *crank.default).u
    hardware = C.Hardware(law_at, crank, q_noise=1e-4, seed=1)
    found = np.array([hardware(0.0, *crank.default) for _ in range(50)])
    assert np.abs(found - exact).max() < 0.05 * np.abs(exact).max()
    assert law_at.last is not None and law_at.last.rank == 2


def test_model_errors_are_reproducible_and_bounded(mech: sr.Mechanism) -> None:
    one, same, other = (C.model_error(mech, 0.1, seed=s) for s in (0, 0, 1))
    q = mech.default.q
    M = mech.mass_matrix(q)
    assert np.array_equal(one.mass_matrix(q), same.mass_matrix(q))
    assert not np.array_equal(one.mass_matrix(q), other.mass_matrix(q))
    assert np.abs(one.mass_matrix(q) / M - 1.0).max() <= 0.1 + 1e-12


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"sample": -1.0}, "sample must not be negative"),
        ({"delay": 0.1}, "delay needs a sample time"),
        ({"rate": 1.0}, "rate needs a sample time"),
        ({"q_noise": -1.0}, "q_noise must be a number or .2,., not negative"),
        ({"v_noise": [1.0]}, "v_noise must have shape"),
        ({"saturation": 3.0}, "saturation must be True, None or a pair"),
        ({"saturation": (1.0, 0.0)}, "lower bound must not exceed the upper one"),
    ],
)
def test_bad_hardware(mech: sr.Mechanism, more: dict[str, Any], message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        C.Hardware(clock, mech, **more)


def test_bad_wrappers(mech: sr.Mechanism) -> None:
    with pytest.raises(sr.InputError, match="Hardware wraps a controller"):
        C.Hardware(None, mech)  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match=r"relative must be below 1, got 1\.5"):
        C.model_error(mech, 1.5)
