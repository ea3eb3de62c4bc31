"""Couplings and drives: rows, derivatives in time, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sarrus import _kernel
from sarrus.constraints.couplings import Coupling, Drive
from sarrus.errors import InputError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.tree.joints import Cylindrical, Fixed, Prismatic, Revolute, Spherical


def machine() -> MechanismSpec:
    spec = MechanismSpec(length=2.0)
    spec.body("ball", joint=Spherical(), mass=1.0, inertia=(1, 1, 1))
    spec.body("gear", joint=Revolute(), armature=1.0).body("pinion", joint=Revolute(), armature=1.0)
    spec.body("rack", joint=Prismatic(), mass=1.0).body("lift", joint=Prismatic(), mass=1.0)
    spec.body("screw", joint=Cylindrical(), mass=1.0, inertia=(1, 1, 1))
    return spec.body("label", "gear", joint=Fixed())


def test_couplings_and_drives_are_linear_in_coordinates() -> None:
    spec = machine()
    spec.constrain("mesh", Coupling({"gear": 1.0, "pinion": -2.0}, offset=0.3))
    spec.constrain("feed", Coupling({"rack": 1.0, "screw.angle": 0.1}))
    spec.constrain("lifts", Coupling({"rack": 1.0, "lift": 1.0, "screw.slide": -1.0}))
    spec.constrain("motor", Drive("gear", lambda t: 2.0 * t + 1.0))
    spec.constrain("sum", Drive({"lift": 2.0, "rack": 3.0}, math.sin, math.cos, lambda t: -math.sin(t)))
    model = spec.model()
    assert model.row_names == ("mesh", "feed", "lifts", "motor", "sum")
    assert model.row_unit.tolist() == [1.0, 1.0, 2.0, 1.0, 2.0]
    assert [(g.kind, g.element) for g in model.groups] == [("Coupling", -1)] * 3 + [("Drive", -1)] * 2
    q = np.concatenate([[0, 0, 0, 1], [0.5, 0.7, 1.1, 1.3, 1.7, 1.9]])
    t = 0.4
    kernel = _kernel.Kernel(model.sizes, model.fields)
    v = np.zeros((1, model.nv))
    phi, J, b, gamma = kernel.constraints(
        q[None], v, model.drive_values(t)[None], np.zeros((1, 0, 3 + model.nv))
    )
    expected = [0.5 - 1.4 - 0.3, 1.1 + 0.19, 1.1 + 1.3 - 1.7, 0.5 - 1.8, 2.6 + 3.3 - math.sin(t)]
    np.testing.assert_allclose(phi[0], expected, atol=1e-14)
    np.testing.assert_allclose(b[0], [0, 0, 0, 2, math.cos(t)], atol=1e-11)
    np.testing.assert_allclose(gamma[0], [0, 0, 0, 0, -math.sin(t)], atol=1e-8)
    rows = np.zeros((5, model.nv))
    rows[0, [3, 4]], rows[1, [5, 8]], rows[2, [5, 6, 7]] = (1, -2), (1, 0.1), (1, 1, -1)
    rows[3, 3], rows[4, [5, 6]] = 1, (3, 2)
    np.testing.assert_array_equal(J[0], rows)


def test_missing_derivatives_of_a_drive_are_differences() -> None:
    t = 0.7
    exact = np.array([math.exp(t)] * 3)
    np.testing.assert_allclose(Drive("x", math.exp).values(t), exact, atol=1e-8)
    np.testing.assert_allclose(Drive("x", math.exp, math.exp).values(t), exact, atol=1e-11)
    np.testing.assert_array_equal(Drive("x", math.exp, math.exp, math.exp).values(t), exact)
    np.testing.assert_allclose(Drive("x", math.exp, acceleration=math.exp).values(t), exact, atol=1e-11)


def test_drives_return_finite_numbers() -> None:
    with pytest.raises(InputError, match=r"function of Drive must return a number, got 'fast' at t = 0\.5 s"):
        Drive("x", lambda t: "fast").values(0.5)  # type: ignore[arg-type,return-value]
    with pytest.raises(InputError, match=r"rate of Drive must return a finite number, got nan at t = 0\.5 s"):
        Drive("x", math.sin, lambda t: math.nan).values(0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Coupling({}), "Coupling must be a mapping .coordinate: coefficient., not empty, got {}"),
        (lambda: Coupling(3), "Coupling must be a mapping"),  # type: ignore[arg-type]
        (lambda: Coupling({"a": 0.0}), "coefficient of 'a' in Coupling must not be zero; leave it out"),
        (
            lambda: Coupling({"a": math.nan}),
            "coefficient of 'a' in Coupling must be a finite number, got nan",
        ),
        (lambda: Coupling({3: 1.0}), "a coordinate of Coupling must be a non-empty string, got 3"),  # type: ignore[dict-item]
        (lambda: Coupling({"a": 1.0}, offset="x"), "offset of Coupling must be a finite number"),  # type: ignore[arg-type]
        (lambda: Drive("a", 0.3), "function of Drive must be a callable .*for a constant use Coupling"),  # type: ignore[arg-type]
        (lambda: Drive("a", math.sin, 1.0), "rate of Drive must be a callable of t or None, got 1.0"),  # type: ignore[arg-type]
        (lambda: Drive({}, math.sin), "Drive must be a mapping"),
    ],
)
def test_bad_couplings_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "screw",
            r"joint 'screw' \(Cylindrical\) has 2 coordinates; name one of them: 'screw.slide', 'scr",
        ),
        ("ball", "'ball' belongs to a Spherical joint, whose position has no coordinates"),
        ("ball.wx", "'ball.wx' belongs to a Spherical joint, whose position has no coordinates"),
        ("label", "'label' is Fixed and has no coordinate; existing names: 'ball.wx'"),
    ],
)
def test_couplings_need_one_coordinate_of_q(name: str, message: str) -> None:
    spec = machine()
    for constraint in (Coupling({name: 1.0}), Drive(name, math.sin)):
        with pytest.raises(InputError, match=f"constraint 'c': {message}"):
            spec.constrain("c", constraint)
    assert spec.constraints == ()


def test_unknown_coordinates_list_those_that_exist() -> None:
    with pytest.raises(
        UnknownNameError, match=r"'c': unknown coordinate 'geer'; existing names: .* mean 'gear'\?"
    ):
        machine().constrain("c", Coupling({"geer": 1.0}))


@pytest.mark.parametrize("frequency", [0.1, 5.0, 20.0, 100.0, 200.0])
def test_rates_of_fast_drives(frequency: float) -> None:
    """Differences over 1 ms of a drive of 20 Hz were off by 1e-5, of 100 Hz by half a percent.

    1e-8: what halving the step may still change.
    """
    w = 2 * math.pi * frequency
    for drive in (
        Drive("crank", lambda t: 2 + math.sin(w * t)),
        Drive("crank", lambda t: 2 + math.sin(w * t), lambda t: w * math.cos(w * t)),
    ):
        for t in np.linspace(0.3, 0.6, 40).tolist():
            _, rate, acceleration = drive.values(t)
            assert abs(rate - w * math.cos(w * t)) < 1e-8 * w
            assert abs(acceleration + w * w * math.sin(w * t)) < 1e-8 * w * w


def test_corners_of_drives_are_rounded_off() -> None:
    drive = Drive("crank", lambda t: abs(t - 0.5))
    assert drive.values(0.5)[1] == pytest.approx(0.0, abs=1e-12)  # the mean of both sides
    assert drive.values(0.4979)[1] == pytest.approx(-1.0)
