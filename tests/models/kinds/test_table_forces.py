"""Forces by tables, motors and bushings, against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import sarrus as sr
from sarrus.errors import InputError
from sarrus.models.kinds.curve import KNOTS, check_curve

O = (0.0, 0.0, 0.0)


def slider(force: Any, **given: Any) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=O, name="slider")
    spec.body("block", joint=sr.Prismatic("x"), mass=2.0, **given)
    return spec.force("table", force).compile()


def test_curve_is_the_monotone_cubic_through_its_points() -> None:
    rng = np.random.default_rng(3)
    x, y = np.sort(rng.uniform(-1, 1, 12)), rng.normal(size=12)
    mech = slider(sr.JointSpringTable("block", x, y))
    for at in rng.uniform(x[0], x[-1], 30):
        assert mech.acceleration([at], [0.0], [0.0]) * 2.0 == pytest.approx(
            -PchipInterpolator(x, y)(at), abs=1e-12
        )
    curve = check_curve(x, y, "table", ("x", "y"))
    assert curve(x) == pytest.approx(y) and curve(x[-1] + 2.0) == pytest.approx(
        y[-1] + 2.0 * curve.slopes[-1]
    )
    assert mech.bias([x[0] - 1.0], [0.0])[0] == pytest.approx(y[0] - curve.slopes[0], rel=1e-12)


def test_spring_tables_are_conservative() -> None:
    """A hard spring with a dead band: period and turning points by the energy."""
    x, f = (-0.3, -0.1, 0.1, 0.3), (-50.0, 0.0, 0.0, 50.0)
    mech = slider(sr.JointSpringTable("block", x, f))
    run = sr.simulate(mech, (0.0, 3.0), q0=[0.25], rtol=1e-10)
    assert np.ptp(run.energy) < 1e-7
    assert run.q.min() == pytest.approx(-0.25, abs=1e-4)
    line = slider(sr.PointSpringTable("ground", (-1.0, 0, 0), "block", O, np.array(x) + 1.0, f))
    assert line.acceleration([0.2], [0.0], [0.0]) == pytest.approx(mech.acceleration([0.2], [0.0], [0.0]))
    assert line.energy([0.2], [0.0]).total == pytest.approx(mech.energy([0.2], [0.0]).total)


def test_damper_tables_and_measures() -> None:
    speeds, forces = (-1.0, 0.0, 0.5, 1.0), (-20.0, 0.0, 30.0, 40.0)
    spec = sr.MechanismSpec(gravity=O)
    spec.body("block", joint=sr.Prismatic("x"), mass=2.0)
    spec.force("absorber", sr.PointDamperTable("ground", (-1.0, 0, 0), "block", O, speeds, forces))
    spec.force("brake", sr.JointDamperTable("block", speeds, forces))
    spec.measure("pull", sr.ForceIn("absorber")).measure("resistance", sr.ForceIn("brake"))
    mech = spec.compile()
    for speed, force in zip(speeds, forces, strict=True):
        assert mech.acceleration([0.0], [speed], [0.0]) == pytest.approx([-force])
        found = mech.measure([0.0], [speed])
        assert found["pull"] == pytest.approx(force) and found["resistance"] == pytest.approx(force)


def test_motor_runs_up_exponentially() -> None:
    """Stall torque T, no-load speed w0: w = w0 (1 - exp(-t / tau)), tau = J w0 / T."""
    spec = sr.MechanismSpec(gravity=O)
    spec.body("rotor", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 0.02))
    spec.force("motor", sr.Motor("rotor", (0.0, 100.0), (2.0, 0.0)))
    spec.measure("torque", sr.ForceIn("motor"))
    mech = spec.compile()
    run = sr.simulate(mech, (0.0, 2.0))
    assert run.v[:, 0] == pytest.approx(100.0 * (1.0 - np.exp(-run.t)), abs=1e-5)
    assert run["torque"][-1] == pytest.approx(2.0 * math.exp(-2.0), rel=1e-5)
    with pytest.raises(InputError, match="motors do work"):
        sr.simulate(mech, (0.0, 1.0), energy=True)


def test_linear_models_of_tables() -> None:
    mech = slider(sr.JointSpringTable("block", (-1.0, 0.0, 1.0), (-8.0, 0.0, 8.0)), damping=0.4)
    model = sr.linearize(mech, q=[0.0], v=[0.0])
    assert pytest.approx(np.array([[0.0, 1.0], [-4.0, -0.2]])) == model.A


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (
            (0.0, 1.0, 0.5),
            (0, 1, 2),
            "positions of JointSpringTable must increase, got 1 and then 0.5 at index 2",
        ),
        ((0.0, 0.0), (0, 1), "must increase"),
        ((0.0, 1.0), (0, 1, 2), "same length, from 2 to 32, got 2 and 3"),
        ((0.0,), (0,), "from 2 to 32"),
        (np.arange(40.0), np.arange(40.0), "from 2 to 32"),
        ((0.0, math.nan), (0, 1), "finite"),
    ],
)
def test_bad_tables_are_refused(x: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sr.JointSpringTable("block", x, y)
    with pytest.raises(InputError, match=r"must not be negative, got -0\.1 m: .* not extensions"):
        sr.PointSpringTable("ground", (0, 0, 0), "block", (1, 0, 0), (-0.1, 0.1), (0, 5))
    assert KNOTS == 32


def test_tables_as_data() -> None:
    mech = slider(sr.JointSpringTable("block", [0.0, 0.5], [1.0, 2.0]))
    copy = sr.MechanismSpec.from_dict(sr.formats.json.spec_of(mech).to_dict()).compile()
    assert copy.bias([0.2], [0.0]) == pytest.approx(mech.bias([0.2], [0.0]))


@pytest.mark.parametrize(
    ("forces", "message"),
    [
        ([2.0, 0.0, -2.0], "at the speed -1 its force 2 drives"),
        ([-2.0, 0.5, 2.0], "at rest it has the force 0.5"),
    ],
)
def test_damper_tables_that_drive_warn(forces: list[float], message: str) -> None:
    for damper in (
        sr.JointDamperTable("a", [-1.0, 0.0, 1.0], forces),
        sr.PointDamperTable("ground", (1, 0, 0), "a", (0.1, 0, 0), [-1.0, 0.0, 1.0], forces),
    ):
        spec = sr.MechanismSpec().body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
        with pytest.warns(sr.SarrusWarning, match=f"force 'd': {message}"):
            spec.force("d", damper).compile()
