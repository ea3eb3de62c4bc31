"""The iteration matrix of radau, held by counting: an exact one needs two iterations on a linear system.

On any system it needs as many as differences of the stages; SciPy's Radau is the oracle of steps and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import sarrus as sr

from .mechanisms import HINGE, bar

Array = npt.NDArray[np.float64]
EXACT = 7  # evaluations of a step: two iterations of three stages, and its end
MASSES = 6


def chain(tied: bool = False, stiffness: float = 1e6) -> sr.Mechanism:
    """Masses on a line, each on the one before, with springs and dampers: linear. Tied by a row, twice."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="chain")
    parent = "ground"
    for i in range(MASSES):
        name = f"m{i}"
        spec.body(name, parent=parent, joint=sr.Prismatic("x"), mass=1.0 + i, damping=100.0)
        spec.force(f"k{i}", sr.JointSpring(name, stiffness * (i + 1)))
        parent = name
    if tied:
        for name, factor in (("tie", 1.0), ("tie again", 2.0)):
            spec.constrain(name, sr.Coupling({"m0": factor, "m2": -2 * factor, "m4": factor}))
    spec.actuate("m1")
    return spec.compile()


@pytest.mark.parametrize("tied", [False, True])
def test_two_iterations_on_a_linear_system(tied: bool) -> None:
    """One step of 1 s over a motion of third degree, which the method meets exactly: Newton is the cost.

    The first iteration corrects 1e9 tolerances: a matrix that is not exact needs more than two.
    """
    mech = chain(tied)
    q0 = mech.assemble(np.linspace(0.1, 0.3, MASSES)).q
    J = mech.terms(q0, np.zeros(MASSES)).J
    free = np.eye(MASSES) - np.linalg.pinv(J) @ J
    motion = np.polynomial.Polynomial
    path = [
        motion([x, *c])
        for x, c in zip(q0, free @ np.random.default_rng(0).normal(size=(MASSES, 3)), strict=True)
    ]
    M, K = mech.mass_matrix(q0), 1e6 * np.diag(np.arange(1.0, MASSES + 1))

    def along(t: float, order: int) -> Array:
        return np.array([p.deriv(order)(t) if order else p(t) for p in path])

    def force(t: float, q: Array, v: Array) -> Array:
        return M @ along(t, 2) + 100.0 * along(t, 1) + K @ along(t, 0)

    tolerance = {"rtol": 1e-9, "atol": 1e-9}
    run = sr.simulate(mech, (0.0, 1.0), q0, along(0.0, 1), dt=1.0, tau=force, method="radau", **tolerance)
    assert len(run) == 2 and run.nfev == 1 + EXACT
    assert np.max(np.abs(run.q[-1] - along(1.0, 0))) < 1e-12


@pytest.mark.parametrize("tied", [False, True])
def test_two_iterations_with_linear_feedback(tied: bool) -> None:
    """A stiff controller is differenced; one that hides its stiffness from differences costs iterations."""
    mech = chain(tied)
    q0 = mech.assemble(np.linspace(0.1, 0.3, MASSES)).q

    def hold(grid: float) -> Callable[..., list[float]]:
        def control(t: float, q: Array, v: Array) -> list[float]:
            seen = grid * round(q[1] / grid) if grid else q[1]
            return [-1e8 * seen - 1e3 * v[1]]

        return control

    def per_step(grid: float, span: float, tol: float) -> float:
        options = {"method": "radau", "rtol": tol, "atol": tol, "dt": 1e-3}
        run = sr.simulate(mech, (0.0, span), q0, control=hold(grid), **options)
        return run.nfev / (len(run) - 1)

    assert per_step(0.0, 0.02, 1e-9) < EXACT + 0.3
    assert per_step(1e-6, 0.001, 1e-4) > EXACT + 2


def ball_on_four_bar() -> sr.Mechanism:
    """A loop with dependent rows, a stiff ball joint on its coupler, bodies of 1e4 and 1e-4 kg."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="ball on a four-bar")
    spec.body("crank", joint=HINGE, **bar(1.0, 0.4))
    spec.body("coupler", parent="crank", joint=HINGE, at=sr.Pose((0.4, 0, 0)), **bar(1e-4, 0.9))
    spec.body("rocker", joint=HINGE, at=sr.Pose((1.0, 0, 0)), **bar(1e4, 0.6))
    ball = {"mass": 0.1, "com": (0, 0.1, 0.02), "inertia": (1e-3, 2e-3, 1.5e-3)}
    spec.body("ball", parent="coupler", joint=sr.Spherical(), at=sr.Pose((0.4, 0, 0)), **ball)
    spec.close("pin", "coupler", "rocker", HINGE, sr.Pose((0.9, 0, 0)), sr.Pose((0.6, 0, 0)))
    spec.force("spring", sr.PointSpring("ball", (0, 0.2, 0), "rocker", (0.3, 0, 0.1), 1e5, 0.1, 1e2))
    return spec.compile()


def wheel_on_a_spring() -> sr.Mechanism:
    """A disc that rolls, tied to the ground by a stiff spring."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="wheel on a spring")
    spec.body("wheel", joint=sr.Free(), mass=1.0, inertia=(0.02, 0.02, 0.04))
    spec.constrain("road", sr.Rolling("wheel", 0.3, axis="z"))
    spec.force("spring", sr.PointSpring("ground", (1.0, 0, 0.5), "wheel", (0.1, 0, 0), 1e5, 0.92, 10.0))
    return spec.compile()


def slider_crank() -> sr.Mechanism:
    """A driven crank, a slider, a pendulum on a stiff spring."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="slider-crank")
    spec.body("crank", joint=HINGE, **bar(1.0, 0.2))
    spec.body("rod", parent="crank", joint=HINGE, at=sr.Pose((0.2, 0, 0)), **bar(1.0, 0.6))
    spec.body("slider", joint=sr.Prismatic("x"), mass=2.0)
    spec.body("pendulum", parent="slider", joint=HINGE, **bar(1.0, 0.8), damping=10.0)
    spec.close("pin", "rod", "slider", HINGE, sr.Pose((0.6, 0, 0)))
    spec.constrain("motor", sr.Drive("crank", lambda t: 3 * t + 0.3 * np.sin(20 * t)))
    spec.force("spring", sr.JointSpring("pendulum", 1e5))
    return spec.compile()


STARTS = {
    ball_on_four_bar: [1.0, -0.5, 1.5, 0.0, 0.0, 0.0, 1.0],
    wheel_on_a_spring: [0.0, 0.0, 0.28, 0.65, 0.0, 0.0, 0.76],
    slider_crank: [0.0, 0.0, 0.8, 0.0],
}


@pytest.mark.parametrize("made", STARTS, ids=lambda made: made.__name__)
def test_as_many_iterations_as_with_differences(made: Callable[[], sr.Mechanism]) -> None:
    """Differences cost one evaluation per local coordinate and one more in every step, else nothing."""
    mech = made()
    q0 = mech.assemble(STARTS[made]).q
    v0 = mech.consistent_velocity(q0, np.linspace(-1, 1, mech.nv))
    options = {"method": "radau", "rtol": 1e-6, "atol": 1e-8}
    analytic, finite = (
        sr.simulate(mech, (0.0, 0.2), q0, v0, jacobian=jacobian, **options)
        for jacobian in ("analytic", "finite_difference")
    )
    assert analytic.success and finite.success
    size = sr.linearize(mech, q0, v0).order
    steps = len(analytic) - 1
    assert abs(len(finite) - len(analytic)) <= 0.01 * steps
    assert abs(finite.nfev - analytic.nfev - (size + 1) * steps) <= 0.02 * analytic.nfev
    assert np.max(np.abs(mech.difference(analytic.q[-1], finite.q[-1]))) < 1e-6


@pytest.mark.parametrize("name", ["four_bar", "bricard", "dual_arm", "rolling_disk"])
def test_as_many_iterations_as_with_differences_at_speed(name: str) -> None:
    """Steps of all lengths at 20 rad/s, where terms of velocities matter: not one iteration more."""
    mech = sr.library.MECHANISMS[name]()
    q0 = mech.default.q
    v0 = mech.consistent_velocity(q0, np.linspace(-1, 1, mech.nv))
    v0 *= 20 / np.max(np.abs(v0))
    size = sr.linearize(mech, q0, v0).order
    for h in np.geomspace(1e-4, 1e-1, 40):
        analytic, finite = (
            sr.simulate(mech, (0.0, h), q0, v0, dt=h, method="radau", rtol=1e-5, atol=1e-7, jacobian=jacobian)
            for jacobian in ("analytic", "finite_difference")
        )
        assert len(finite) == len(analytic)
        assert finite.nfev == analytic.nfev + (size + 1) * (len(analytic) - 1)


def test_as_good_as_scipy_on_a_linear_system() -> None:
    mech = chain()
    q0 = np.linspace(0.1, 0.3, MASSES)
    model = sr.linearize(mech, np.zeros(MASSES), independent=list(mech.names))
    x0 = np.concatenate([q0, np.zeros(MASSES)])
    exact = expm(0.05 * model.A) @ x0
    tolerance = {"rtol": 1e-7, "atol": 1e-9}
    theirs = solve_ivp(
        lambda t, x: model.A @ x, (0.0, 0.05), x0, method="Radau", jac=model.A, first_step=1e-3, **tolerance
    )
    mine = sr.simulate(mech, (0.0, 0.05), q0, method="radau", **tolerance)
    error = np.max(np.abs(np.concatenate([mine.q[-1], mine.v[-1]]) - exact))
    assert error < 1.5 * np.max(np.abs(theirs.y[:, -1] - exact))
    assert len(mine) < 1.1 * len(theirs.t) and mine.nfev < 1.1 * theirs.nfev


def test_as_good_as_scipy_on_a_stiff_oscillator() -> None:
    """Van der Pol, mu = 1000, as a force from Python on a slider."""
    mu, span, tolerance = 1e3, (0.0, 2000.0), {"rtol": 1e-6, "atol": 1e-8}
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="oscillator")
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)

    def force(t: float, q: Array, v: Array) -> list[float]:
        return [mu * (1 - q[0] ** 2) * v[0] - q[0]]

    options: dict[str, Any] = {"method": "radau", "dt": 100.0}  # the force is smooth: steps may be so long
    mine = sr.simulate(spec.compile(), span, [2.0], [0.0], tau=force, **options, **tolerance)
    theirs, exact = (
        solve_ivp(lambda t, x: [x[1], *force(t, x[:1], x[1:])], span, [2.0, 0.0], method="Radau", **options)
        for options in (tolerance, {"rtol": 1e-10, "atol": 1e-12})
    )
    assert abs(mine.q[-1, 0] - exact.y[0, -1]) < 1e-6
    assert len(mine) < 1.2 * len(theirs.t) and mine.nfev < 1.2 * theirs.nfev
