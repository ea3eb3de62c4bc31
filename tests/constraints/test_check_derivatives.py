"""Rates of drives and rows of users that contradict their own functions are refused at the start, by name."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr

Function = Callable[[float], float]


def driven(function: Function, rate: Function | None = None, acceleration: Function | None = None) -> Any:
    """The crank of a slider-crank, driven."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(1, 1, 1))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=1.0, com=(1, 0, 0))
    spec.body("slider", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "slider", joint=sr.Revolute("z"), at_a=sr.Pose((2.0, 0, 0)))
    spec.constrain("turn", sr.Drive("crank", function, rate, acceleration))
    return spec.compile()


def run(mech: Any, t1: float = 1.0) -> sr.Trajectory:
    q = mech.assemble([0.5, -0.7, 2.7]).q
    return sr.simulate(mech, (0.0, t1), q, method="rk4", dt=1e-3)


@pytest.mark.parametrize(
    ("function", "rate", "acceleration", "message"),
    [
        (
            lambda t: 0.5 + 2 * t,
            lambda t: 1.0,
            None,
            "rate of Drive 'turn' contradicts its function: it says 1 ",
        ),
        (lambda t: 0.5 + 2 * t, lambda t: 2.01 + 0 * t, lambda t: 0.0, "rate of Drive 'turn'"),
        (math.sin, math.cos, math.sin, "acceleration of Drive 'turn' contradicts its rate"),
        (lambda t: t**2, None, lambda t: 1.0, "acceleration of Drive 'turn' contradicts its function"),
        (lambda t: 1e-6 * math.sin(t), lambda t: 2e-6 * math.cos(t), None, "rate of Drive 'turn'"),
        (lambda t: t**3, lambda t: 3 * t, None, "rate of Drive 'turn'"),  # right at the start only
    ],
)
def test_rates_that_contradict(
    function: Function, rate: Function | None, acceleration: Function | None, message: str
) -> None:
    """0.1.0 ran them to the end with success, or spoke of the step."""
    with pytest.raises(sr.InputError, match=message):
        run(driven(function, rate, acceleration))


def test_first_use_is_enough() -> None:
    mech = driven(lambda t: 0.5 + 2 * t, lambda t: 1.0)
    for call in (mech.assemble, lambda: mech.terms(np.zeros(3), np.zeros(3))):
        with pytest.raises(sr.InputError, match="rate of Drive 'turn' contradicts"):
            call()


@pytest.mark.parametrize(
    ("function", "rate", "acceleration"),
    [
        (lambda t: 0.5 + 314.0 * t, lambda t: 314.0, lambda t: 0.0),
        (
            lambda t: math.sin(6e3 * t),
            lambda t: 6e3 * math.cos(6e3 * t),
            lambda t: -3.6e7 * math.sin(6e3 * t),
        ),
        (lambda t: max(0.0, t) ** 2, lambda t: 2 * max(0.0, t), lambda t: 2.0 if t >= 0 else 0.0),
        (lambda t: 1e6 + 3 * t, lambda t: 3.0, None),
        (lambda t: 0.0, lambda t: 0.0, lambda t: 0.0),
        (lambda t: math.sqrt(t) ** 4, lambda t: 2 * t, None),  # not defined before the start
    ],
)
def test_right_rates_pass(function: Function, rate: Function, acceleration: Function | None) -> None:
    driven(function, rate, acceleration).evaluator.check_drives(0.0, 1.0)


def test_jumps_are_named() -> None:
    """Also far from the start, and of a drive without given rates."""
    for jump in (lambda t: 0.5 if t < 0.4 else 0.7, lambda t: 0.1 * t + (0.3 if t > math.pi / 4 else 0.0)):
        with pytest.raises(sr.InputError, match=r"function of Drive 'turn' jumps from .* at t = 0\.(4|785)"):
            run(driven(jump))
    assert run(driven(lambda t: 0.5 + 0.2 / (1 + math.exp(-40 * (t - 0.5)))), 0.2).success  # steep, no jump


def circle(**more: Any) -> Any:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("y", "x", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("ring", sr.CustomConstraint(lambda q, t: [q @ q - 1.0, q[0] - q[0]], 2, **more))
    return spec.compile()


J = {"J": lambda q, t: [2 * q, 0 * q]}
GAMMA = {"gamma": lambda q, v, t: [-2 * v @ v, 0.0]}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"J": lambda q, t: [q, 0 * q]}, "constraint 'ring': J v of row 0 is"),
        ({"J": lambda q, t: [2 * q * [1, -1], 0 * q]}, "J v of row 0"),
        ({**J, "gamma": lambda q, v, t: [2 * v @ v, 0.0]}, "-gamma of row 0 .* differences of J v - b"),
        ({"gamma": lambda q, v, t: [0.0, 0.0]}, "-gamma of row 0"),
        ({**J, "b": lambda q, t: [1.0, 0.0]}, "-b of row 0 is -1, but differences of phi in time give 0"),
    ],
)
def test_rows_that_contradict(more: dict[str, Any], message: str) -> None:
    mech = circle(**more)
    for _ in range(2):  # at every use
        with pytest.raises(sr.InputError, match=message):
            mech.terms([0.6, 0.8], [0.1, 0.2])
    with pytest.raises(sr.InputError, match=message):
        sr.simulate(mech, (0.0, 0.1), [0.6, 0.8], method="rk4", dt=1e-3)


def test_right_rows_pass() -> None:
    for more in ({}, J, GAMMA, J | GAMMA, J | {"b": lambda q, t: [0.0, 0.0]}):
        assert circle(**more).terms([0.6, 0.8], [0.1, 0.2]).gamma[0] == pytest.approx(-0.1, abs=1e-8)


def test_custom_systems_are_checked_too() -> None:
    wrong = sr.CustomSystem(2, 2, M=np.eye(2), phi=lambda q, v, t: [q @ q - 1.0], J=lambda q, v, t: [q])
    with pytest.raises(sr.InputError, match="J v of row 0"):
        wrong.terms([0.6, 0.8], [0.0, 0.0])
    knife = sr.CustomSystem(3, 3, M=np.eye(3), J=lambda q, v, t: [[-np.sin(q[2]), np.cos(q[2]), 0.0]])
    assert knife.terms([0.1, 0.2, 0.3], [1.0, 0.0, 0.5]).J.shape == (
        1,
        3,
    )  # velocities only: no phi to compare


def test_signatures_and_errors_at_the_start_raise() -> None:
    """0.1.0 returned a result with one state."""
    mech = sr.library.four_bar()
    options: dict[str, Any] = {"method": "rk4", "dt": 1e-3}
    body = mech.body_names[1]
    for given, message in (
        (
            {"external": {body: lambda t, q, v: np.zeros(6)}},
            rf"the external wrench on '{body}' must be a fun.*\(t\)",
        ),
        ({"control": lambda t: 0.0}, r"control must be a function of \(t, q, v\), but <lambda> takes \(t\)"),
        ({"tau": lambda q: 0.0}, r"tau must be a function of \(t, q, v\)"),
        ({"events": [lambda t: 1.0]}, r"events\[0\] must be a function of \(t, q, v\)"),
        ({"control": lambda t, q, v: 1 / 0}, "ZeroDivisionError"),
        ({"tau": lambda t, q, v: np.zeros(7)}, r"tau\(t, q, v\)"),
        ({"external": {body: lambda t: [0.0, 1.0]}}, "external wrench"),
    ):
        with pytest.raises(sr.InputError, match=message):
            sr.simulate(mech, (0.0, 0.1), **given, **options)
    later = sr.simulate(mech, (0.0, 0.1), control=lambda t, q, v: 0 * t if t < 0.05 else 1 / 0, **options)
    assert not later.success and len(later.t) > 40 and "ZeroDivisionError" in later.message


@pytest.mark.parametrize("frequency", [250.0, 500.0, 5e3])
def test_drives_too_fast_for_differences_warn(frequency: float) -> None:
    w = 2 * math.pi * frequency
    with pytest.warns(sr.SarrusWarning, match=r"Drive 'turn' changes too fast.*Give rate="):
        run(driven(lambda t: 0.5 + 1e-3 * math.sin(w * t)), 0.05)
    with pytest.warns(sr.SarrusWarning, match=r"Drive 'turn' changes too fast.*Give rate="):
        run(driven(lambda t: 0.5 + 1e-3 * math.sin(w * t), lambda t: 1e-3 * w * math.cos(w * t)), 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.SarrusWarning)
        driven(
            lambda t: 0.5 + 1e-3 * math.sin(w * t),
            lambda t: 1e-3 * w * math.cos(w * t),
            lambda t: -1e-3 * w * w * math.sin(w * t),
        ).evaluator.check_drives(0.0, 0.05)


@pytest.mark.parametrize(("width", "loud"), [(0.3e-3, True), (1e-3, True), (3e-3, False), (10e-3, False)])
@pytest.mark.parametrize("at", [0.3, 0.5037])
def test_pulses_too_short_for_differences_are_said(at: float, width: float, loud: bool) -> None:
    """A pulse of 0.05 rad that hits a double pendulum: short ones were wrong by up to 1 rad, silently."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    bar = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (0.01, 0.01, 0.01)}
    spec.body("a", joint=sr.Revolute("z"), **bar)
    spec.body("b", "a", joint=sr.Revolute("z"), at=sr.Pose((0.6, 0, 0)), **bar)
    spec.constrain("hit", sr.Drive("a", lambda t: 0.05 * math.exp(-(((t - at) / width) ** 2))))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", sr.SarrusWarning)
        result = sr.simulate(spec.compile(), (0.0, 1.0))
    said = [str(warning.message) for warning in seen if "changes too fast" in str(warning.message)]
    assert bool(said) == loud and ("changes too fast" in result.message) == loud
