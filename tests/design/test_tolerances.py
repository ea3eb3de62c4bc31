"""tolerances: first order and Monte Carlo, against a closed form."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.design import Poses, Run, Sweep
from sarrus.design.evaluation import Evaluation
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


def four_bar() -> sr.Mechanism:
    """A crank-rocker whose crank turns all the way round as long as it is shorter than 0.25 m or so."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="four_bar")
    a = spec.parameter("a", 0.1)
    spec.point("A", (0, 0, 0)).point("B", (0, a, 0)).point("C", (0.35, 0.3, 0)).point("D", (0.4, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=1.0)
    spec.link("rocker", "D", "C", mass=1.0)
    for name, x, y in ("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker"):
        spec.joint(name, x, y, sr.Revolute("z"), at=name)
    spec.joint("D", "ground", "rocker", sr.Revolute("z"), at="D").actuate("A")
    spec.measure("reach", sr.Length("coupler", "C", "ground", "A"))
    return spec.measure("torque", sr.ForceIn("A")).compile()


@pytest.mark.parametrize(
    "over",
    [
        Sweep("A", np.linspace(0.0, 6.0, 13), inputs=[0.7]),
        Poses([{"A": 0.5}, {"D": 0.1}, {"A": 1.0}]),
        Run(np.linspace(0.0, 0.1, 3)),
    ],
    ids=["sweep", "poses", "run"],
)
def test_samples_made_together_are_those_made_alone(over: Evaluation) -> None:
    mech = four_bar()
    found = sr.tolerances(mech, {"a": 0.01}, over=over, samples=6)
    for value, *rows in zip(found.values[:, 0], found.samples["reach"], found.samples["torque"], strict=True):
        alone = over.measures(mech.with_(a=value))
        np.testing.assert_array_equal(rows, [alone["reach"], alone["torque"]])


def test_mechanisms_that_lock_are_counted() -> None:
    turn = Sweep("A", np.linspace(0.0, 2 * np.pi, 37))
    found = sr.tolerances(four_bar().with_(a=0.2), {"a": 0.025}, over=turn, samples=400)
    locked = found.values[:, 0] > 0.2569  # docs/kinematics.md
    assert 0 < found.failed == np.sum(locked)
    assert np.all(np.isnan(found.samples["reach"][locked])) and np.all(np.isfinite(found.spread("reach")))
    with pytest.raises(
        InputError, match=r"2 of 6 mechanisms within 1\.5 standard deviations cannot be built"
    ):
        sr.tolerances(four_bar().with_(a=0.2), {"a": 0.08}, over=turn, samples=5)


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
    with pytest.raises(InputError, match=r"levels of quantiles must be between 0 and 1, got \[2.0\]"):
        sr.tolerances(two_links(), {"a": 1e-3}, over=over, samples=3).quantiles("reach", [2.0])


def test_picture_of_a_measure() -> None:
    over = Poses([{"upper": 0.0, "lower": x} for x in (0.2, 0.9, 1.6)])
    found = sr.tolerances(two_links(), {"a": 1e-3, "b": 2e-3}, over=over, samples=20)
    ax = found.plot("reach")
    assert len(ax.lines) == 22 and ax.get_ylabel() == "deviation of reach"
    assert ax.lines[-1].get_ydata() == pytest.approx(1.96 * found.deviation["reach"])
    with pytest.raises(InputError, match="'tip' has several numbers"):
        found.plot("tip")


def test_angles_go_on_beyond_half_a_turn() -> None:
    """Along a sweep as in `mech.sweep`; samples lie within half a turn of the nominal angle."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="arm")
    turn = spec.parameter("turn", np.pi)
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    spec.body("arm", "wheel", joint=sr.Fixed(), at=sr.Pose(rpy=(0, 0, turn)), mass=1.0, inertia=(1.0,) * 3)
    spec.measure("wheel", sr.Angle("ground", "wheel")).measure("arm", sr.Angle("ground", "arm"))
    mech, values = spec.compile(), np.radians([0.0, 100.0, 200.0, 300.0])
    found = sr.tolerances(mech, {"turn": 0.01}, over=sr.design.Sweep("wheel", values), samples=50)
    assert found.nominal["wheel"] == pytest.approx(values)
    assert np.diff(found.nominal["arm"]) == pytest.approx(np.diff(values))
    assert np.ptp(found.samples["arm"], axis=0).max() < 0.1
