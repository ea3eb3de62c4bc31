"""Fixed steps that are too long for the motion say so; those that are not are silent."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import sarrus as sr

from ..machines import fast_four_bar, oscillator, spinning_body

LOUD = {
    "squeezer": (sr.library.andrews, 0.03, "rk4"),
    "four-bar, crank at 800 rad/s": (fast_four_bar, 0.2, "rk4"),
    "body at 3e4 rad/s": (spinning_body, 0.1, "rk4"),
    "spring of 1e10 N/m": (lambda: oscillator(1e10), 1.0, "rk4"),
    "spring of 3e6 N/m": (lambda: oscillator(3e6), 1.0, "rk4"),
    "damper of 1e4 N s/m": (lambda: oscillator(1.0, 1e4), 1.0, "rk4"),
    "governor": (sr.library.flyball_governor, 0.5, "verlet"),
    "coarse pendulum": (sr.library.double_pendulum, 1.0, "semi_implicit_euler"),
}


@pytest.mark.parametrize("name", LOUD)
def test_steps_too_long_are_reported(name: str) -> None:
    make, end, method = LOUD[name]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run = sr.simulate(make(), (0.0, end), dt=1e-3, method=method)
    warned = any("too long for this motion" in str(w.message) for w in seen)
    assert not run.success or (warned and "Leave dt out" in run.message), run.message


@pytest.mark.parametrize(
    "name", ["pendulum", "double_pendulum", "slider_crank", "four_bar", "bricard", "loader"]
)
def test_steps_short_enough_are_silent(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = sr.simulate(getattr(sr.library, name)(), (0.0, 1.0), dt=1e-3)
    assert run.success and run.message == "Reached the end, t = 1 s."


def test_divergence_is_called_by_its_name() -> None:
    """A spring whose period is a hundredth of the step: numbers grow until they overflow."""
    run = sr.simulate(oscillator(1e10), (0.0, 10.0), dt=1e-3)
    assert not run.success and "mass matrix" not in run.message
    assert np.all(np.isfinite(run.q)) and run.t[-1] < 10.0


def test_samples_of_a_controller_are_no_error() -> None:
    """Held inputs jump; the equations of motion hold in between."""
    held = {"control": lambda t, q, v: [math.sin(40.0 * t)], "control_dt": 0.01}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sr.simulate(sr.library.pendulum(), (0.0, 1.0), dt=1e-3, **held).success


def test_a_single_step_is_checked_too() -> None:
    run = sr.simulate(sr.library.double_pendulum(), (0.0, 0.5), [1.0, 0.5], dt=0.5)
    assert not run.success and "too long" in run.message


def test_many_steps_add_up() -> None:
    """4,000 periods of an oscillator at rtol 1e-6: the phase error of all steps is named."""
    run = sr.simulate(oscillator(1e8), (0.0, 0.5), rtol=1e-6)
    exact = 0.1 * math.cos(1e4 * 0.5)
    assert run.success and "may add up to" in run.message
    assert 1e-5 < abs(run.q[-1, 0] - exact) / 0.1 < 1e-2


def test_steps_that_drives_determine_do_not_add_up() -> None:
    """6,000 steps of a wheel at 3000 rpm: its angle is that of the drive."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(0.01, 0.01, 0.01))
    spec.constrain("motor", sr.Drive("wheel", lambda t: 314.159 * t))
    run = sr.simulate(spec.compile(), (0.0, 60.0))
    assert run.message == "Reached the end, t = 60 s." and len(run.t) > 6000
    assert run.q[-1, 0] == pytest.approx(314.159 * 60.0, rel=1e-14)


def test_phase_errors_of_narrow_oscillations_do_not_count() -> None:
    """The same with an amplitude of 1 mm: positions are right to far less than 100 tolerances of 1 m."""
    run = sr.simulate(oscillator(1e8), (0.0, 0.5), [1e-3], [0.0], rtol=1e-6)
    assert run.success and "add up" not in run.message and len(run.t) > 10_000
    assert abs(run.q[-1, 0] - 1e-3 * math.cos(1e4 * 0.5)) < 1e-5


def test_steps_that_a_damper_keeps_short_do_not_add_up() -> None:
    """A damper of rate 1e5 / s on an oscillator: thousands of steps, each far within tolerance."""
    run = sr.simulate(oscillator(1e5, 1e5), (0.0, 1.0), rtol=1e-6, method="dopri5")
    assert run.success and run.nfev > 50_000 and "add up" not in run.message
    assert run.q[-1, 0] == pytest.approx(0.1 * math.exp(-1.00001), abs=1e-6)  # slow root of s^2 + 1e5 s + 1e5


@pytest.mark.parametrize("dt", [0.02, 0.005])
def test_states_that_drives_determine_are_not_doubted(dt: float) -> None:
    """A crank at 60 rad/s whose slider follows: nothing is integrated, whatever (1) misses."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    rod = {"mass": 0.2, "com": (0.04, 0, 0), "inertia": (1e-4, 1e-4, 1e-4)}
    spec.body("crank", joint=sr.Revolute("z"), **rod)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((0.1, 0, 0)), **rod)
    spec.body("slider", joint=sr.Prismatic("x"), mass=0.5)
    spec.close("pin", "rod", "slider", joint=sr.Revolute("z"), at_a=sr.Pose((0.2, 0, 0)))
    spec.constrain("motor", sr.Drive("crank", lambda t: 60 * t, lambda t: 60.0, lambda t: 0.0))
    mech = spec.compile()
    q = mech.assemble([0.0, 0.0, 0.3]).q
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = sr.simulate(mech, (0.0, 0.1), q, dt=dt)
    x = 0.1 * np.cos(60 * run.t) + np.sqrt(0.04 - (0.1 * np.sin(60 * run.t)) ** 2)
    assert run.success and run.q[:, 2] == pytest.approx(x, abs=1e-9)
