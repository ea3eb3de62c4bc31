"""What a LinearModel knows of itself: names, modes, samples, other packages, pictures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sarrus as sr

from .mechanisms import bar, relative


@pytest.fixture(scope="module")
def model() -> sr.LinearModel:
    mech = sr.library.loader()
    return sr.linearize(
        mech, sr.equilibrium(mech).q, independent=["boom", "bucket"], outputs=["link", "v.boom"]
    )


def damped_pendulum(damping: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("arm", joint=sr.Revolute("z"), damping=damping, **bar(1.0, 1.0))
    return spec.compile()


def test_names(model: sr.LinearModel) -> None:
    assert model.names == ("q.boom", "q.bucket", "v.boom", "v.bucket")
    assert model.inputs == ("lift_rod", "tilt_rod") and model.outputs == ("q.link", "v.boom")
    assert model.independent == ("boom", "bucket") and 0.0 < model.independence <= 1.0
    text = str(model)
    assert "4 states (q.boom" in text and "rad/s" in text
    assert repr(model) == "LinearModel('loader', form='minimal', nx=4, nw=2, ny=2)"


def test_modes_are_motions_of_all_coordinates(model: sr.LinearModel) -> None:
    mech = model.mechanism
    J = mech.terms(model.point.q, np.zeros(mech.nv)).J
    assert len(model.modes) == 2
    for mode in model.modes:
        assert np.max(np.abs(J @ mode.shape)) < 1e-10
        assert np.max(np.abs(mode.shape / mech.units.unit)) == pytest.approx(1.0)
        np.testing.assert_allclose(mode.velocity, mode.eigenvalue * mode.shape, atol=1e-9)
    poses = model.mode_poses(0, np.linspace(0, 2 * np.pi, 5))
    assert poses.shape == (5, mech.nq)
    assert all(np.max(np.abs(mech.terms(q, np.zeros(mech.nv)).phi)) < 1e-12 for q in poses)


def test_damping_and_frequency() -> None:
    """theta'' = -(3 g / 2 l) theta - (3 c / m l^2) theta'."""
    mech = damped_pendulum(0.4)
    model = sr.linearize(mech, [-np.pi / 2])
    omega, rate = np.sqrt(1.5 * 9.81), 3 * 0.4
    np.testing.assert_allclose(model.A, [[0, 1], [-(omega**2), -rate]], atol=1e-12)
    np.testing.assert_allclose(model.natural_frequencies, omega, rtol=1e-12)
    np.testing.assert_allclose(model.damping_ratios, rate / (2 * omega), rtol=1e-12)
    assert "damping ratio 0.1564" in model.modes[0].text
    over = sr.linearize(damped_pendulum(8.0), [-np.pi / 2])
    assert [mode.text.split()[0] for mode in over.modes] == ["decays", "decays"]
    up = sr.linearize(damped_pendulum(0.0), [np.pi / 2])
    assert "grows with time constant" in up.modes[1].text


def test_samples_are_exact(model: sr.LinearModel) -> None:
    dt = 0.05
    sampled = model.discretize(dt)
    x0, w = np.array([0.01, -0.02, 0.1, 0.05]), np.array([300.0, -200.0])
    exact = solve_ivp(lambda t, x: model.A @ x + model.B @ w, (0, dt), x0, rtol=1e-11, atol=1e-14).y[:, -1]
    assert relative(sampled.A @ x0 + sampled.B @ w, exact) < 1e-9
    np.testing.assert_allclose(sampled.natural_frequencies, model.natural_frequencies, rtol=1e-9)
    with pytest.raises(sr.InputError, match="discrete already"):
        sampled.discretize(dt)
    with pytest.raises(sr.InputError, match="dt"):
        model.discretize(0.0)


def test_samples_keep_the_rate_of_a_moving_point() -> None:
    mech = sr.library.pendulum()
    model = sr.linearize(mech, [0.3], [1.0])
    sampled = model.discretize(1e-3)
    run = sr.simulate(mech, (0.0, 1e-3), [0.3], [1.0], dt=1e-4)
    moved = np.concatenate([run.q[-1] - 0.3, run.v[-1] - 1.0])
    assert relative(sampled.rate, moved) < 1e-6


def test_python_control(model: sr.LinearModel) -> None:
    pytest.importorskip("control")
    system = model.to_control()
    assert system.state_labels == ["q_boom", "q_bucket", "v_boom", "v_bucket"]
    assert system.input_labels == ["lift_rod", "tilt_rod"] and system.output_labels == ["q_link", "v_boom"]
    np.testing.assert_array_equal(system.A, model.A)
    assert model.discretize(0.01).to_control().dt == 0.01


def test_python_control_tells_names_apart() -> None:
    """With dots replaced two names may be one, of which that package silently drops a signal."""
    pytest.importorskip("control")
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for name in ("arm.1", "arm_1"):
        spec.body(name, joint=sr.Revolute("z"), mass=1.0, com=(0, -1.0, 0))
    system = sr.linearize(spec.compile(), [0.0, 0.0]).to_control()
    assert system.state_labels == ["q_arm_1", "q_arm_1_2", "v_arm_1", "v_arm_1_2"]


def test_scipy(model: sr.LinearModel) -> None:
    system = model.to_scipy()
    np.testing.assert_array_equal(system.C, model.C)
    assert model.discretize(0.01).to_scipy().dt == 0.01


def test_descriptor_says_what_it_cannot(model: sr.LinearModel) -> None:
    descriptor = sr.linearize(model.mechanism, model.point.q, form="descriptor")
    assert descriptor.E is not None and len(descriptor.names) == 2 * 8 + 6
    for call in (descriptor.to_control, descriptor.to_scipy, descriptor.controllability):
        with pytest.raises(sr.InputError, match='form="minimal"'):
            call()


def test_descriptor_simulates_the_same(model: sr.LinearModel) -> None:
    """The minimal solution satisfies the descriptor equations, inputs included."""
    full = sr.linearize(model.mechanism, model.point.q, form="descriptor")
    lam = sr.linearize(
        model.mechanism,
        model.point.q,
        independent=model.independent,
        outputs=[f"lam.{n[4:]}" for n in full.names[16:]],
    )
    x, w = np.array([0.1, 0.2, -0.3, 0.4]), np.array([5.0, -7.0])
    rate = model.lift @ (model.A @ x + model.B @ w)
    state = np.concatenate([model.lift @ x, lam.C @ x + lam.D @ w])
    left = full.E @ np.concatenate([rate, np.zeros(6)])
    assert relative(full.A @ state + full.B @ w, left) < 1e-9


def test_pickles(model: sr.LinearModel) -> None:
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.A, model.A)
    assert again.names == model.names


def test_pictures(model: sr.LinearModel) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = model.plot_poles()
    assert ax.get_xlabel() == "real part [1/s]"
    assert min(np.abs(ax.get_xlim())) > 0.01 * np.max(np.abs(model.poles))  # undamped: rounding is not shown
    ax = model.plot_mode(1)
    assert ax.get_title().startswith("Mode 1: oscillates at 4.7")
    with pytest.raises(sr.InputError, match="number from 0 to 1"):
        model.plot_mode(2)
    with pytest.raises(sr.InputError, match="number from 0 to 1, got 'first'"):
        model.plot_mode("first")
    plt.close("all")


def test_modes_oscillate_at_their_damped_frequency() -> None:
    """m = 1 kg, k = 4 N/m, zeta = 0.9: sqrt(1 - zeta^2) 2 rad/s, not 2 rad/s."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("m", joint=sr.Prismatic("x"), mass=1.0, damping=3.6)
    spec.force("k", sr.JointSpring("m", 4.0))
    mode = sr.linearize(spec.compile()).modes[0]
    assert mode.frequency == pytest.approx(2.0) and mode.damping == pytest.approx(0.9)
    assert mode.text.startswith(f"oscillates at {2 * np.sqrt(1 - 0.81):.6g} rad/s")
    assert mode.text.endswith("damping ratio 0.9, undamped 2 rad/s")
