"""tolerances: first order and Monte Carlo, against a closed form."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.design import Poses
from sarrus.errors import InputError, UnknownNameError


def two_links() -> sr.Mechanism:
    """An arm of two links at 0 and 90 degrees: its tip is at (a, b)."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="arm")
    a, b = spec.parameter("a", 0.5), spec.parameter("b", 0.3)
    spec.body("upper", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    spec.body("lower", "upper", joint=sr.Revolute("z"), at=sr.Pose((a, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    spec.body("tip", "lower", joint=sr.Fixed(), at=sr.Pose((b, 0, 0)))
    spec.measure("tip", sr.Position("tip")).measure("reach", sr.Length("ground", (0, 0, 0), "tip", (0, 0, 0)))
    return spec.compile()


def test_deviations_of_a_tip() -> None:
    over = Poses([{"upper": 0.0, "lower": np.pi / 2}, {"upper": 0.0, "lower": 0.0}])
    found = sr.tolerances(two_links(), {"a": 1e-3, "b": 2e-3}, over=over, samples=400)
    assert found.nominal["reach"] == pytest.approx([np.hypot(0.5, 0.3), 0.8])
    assert found.sensitivity["reach"][0] == pytest.approx(np.array([0.5, 0.3]) / np.hypot(0.5, 0.3), abs=1e-8)
    assert found.deviation["reach"][1] == pytest.approx(np.hypot(1e-3, 2e-3), rel=1e-6)
    assert found.deviation["tip"].shape == (2, 3) and found.samples["tip"].shape == (400, 2, 3)
    # of 400 samples the standard deviation is known to 1 / sqrt(800), 3.5 percent
    assert found.spread("reach") == pytest.approx(found.deviation["reach"], rel=0.12)
    assert found.shares("reach")["a"][1] == pytest.approx(1 / 5)
    low, high = found.quantiles("reach")
    assert (
        np.all(low < found.nominal["reach"]) and np.all(found.nominal["reach"] < high) and found.failed == 0
    )


def test_uniform_deviations_stay_within() -> None:
    found = sr.tolerances(two_links(), {"a": 1e-3}, over=Poses([{}]), samples=50, distribution="uniform")
    assert np.max(np.abs(found.values - 0.5)) <= 1e-3 * np.sqrt(3.0)
    assert sr.tolerances(
        two_links(), {"a": 1e-3}, over=Poses([{}]), samples=50, seed=0, distribution="uniform"
    ).values == pytest.approx(found.values)


def test_bad_deviations() -> None:
    over = Poses([{}])
    with pytest.raises(InputError, match="deviations of tolerances must be positive"):
        sr.tolerances(two_links(), {"a": -1e-3}, over=over)
    with pytest.raises(InputError, match="deviations of tolerances must be positive"):
        sr.tolerances(two_links(), {}, over=over)
    with pytest.raises(UnknownNameError, match="'c'"):
        sr.tolerances(two_links(), {"c": 1e-3}, over=over)
    with pytest.raises(InputError, match="distribution"):
        sr.tolerances(two_links(), {"a": 1e-3}, over=over, distribution="even")
    with pytest.raises(UnknownNameError, match="'height'"):
        sr.tolerances(two_links(), {"a": 1e-3}, over=over, samples=3).shares("height")


def test_picture_of_a_measure() -> None:
    over = Poses([{"upper": 0.0, "lower": x} for x in (0.2, 0.9, 1.6)])
    found = sr.tolerances(two_links(), {"a": 1e-3, "b": 2e-3}, over=over, samples=20)
    ax = found.plot("reach")
    assert len(ax.lines) == 22 and ax.get_ylabel() == "deviation of reach"
    assert ax.lines[-1].get_ydata() == pytest.approx(1.96 * found.deviation["reach"])
    with pytest.raises(InputError, match="'tip' has several numbers"):
        found.plot("tip")
