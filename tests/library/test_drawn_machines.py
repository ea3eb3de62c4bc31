"""Machines described as drawn against SciPy's solutions of their loop equations, and virtual work."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import root

import sarrus as sr

G = 9.81


def still(mech: sr.Mechanism, coordinate: str, q: Any = None) -> float:
    """Force at one coordinate that holds the mechanism at rest."""
    at = mech.default.q if q is None else q
    found = mech.inverse_dynamics(at, np.zeros(mech.nv), np.zeros(mech.nv))
    return float(found.tau[mech.names.index(coordinate)])


# ---------------------------------------------------------------------- suspension

CHASSIS = {
    "lower_ball": [(0.18, 0.36, 0.21), (-0.2, 0.36, 0.21)],
    "upper_ball": [(0.12, 0.44, 0.485), (-0.14, 0.44, 0.485)],
    "tie_ball": [(-0.12, 0.37, 0.262)],
}
UPRIGHT = {
    "lower_ball": (0.01, 0.7, 0.19), "upper_ball": (-0.02, 0.66, 0.505), "tie_ball": (-0.13, 0.68, 0.25),
    "wheel": (0.0, 0.76, 0.32), "inner": (0.0, 0.66, 0.32),
}  # fmt: skip


def hung(height: float, rack: float, tie_z: float = 0.262) -> tuple[float, float, np.ndarray]:
    """Camber, toe and wheel centre from lengths alone: five points that keep 9 + 5 distances, and z given."""
    names = list(UPRIGHT)
    drawn = np.array(list(UPRIGHT.values()))
    chassis = CHASSIS | {"tie_ball": [(-0.12, 0.37 + rack, tie_z)]}
    before = CHASSIS | {"tie_ball": [(-0.12, 0.37, tie_z)]}
    pairs = [pair for pair in itertools.combinations(range(5), 2) if pair != (2, 4)]

    def gaps(x: np.ndarray) -> list[float]:
        p = x.reshape(5, 3)
        found = [math.dist(p[i], p[j]) - math.dist(drawn[i], drawn[j]) for i, j in pairs]
        for name, ends in chassis.items():
            k = names.index(name)
            found += [
                math.dist(p[k], end) - math.dist(drawn[k], old)
                for end, old in zip(ends, before[name], strict=True)
            ]
        return [*found, p[3, 2] - height]

    x = root(gaps, (drawn + np.array([0.0, rack / 2, height - 0.32])).ravel(), tol=1e-14).x
    assert np.abs(gaps(x)).max() < 1e-12
    p = x.reshape(5, 3)
    axis = (p[3] - p[4]) / 0.1  # of the wheel, outwards
    return math.atan2(-axis[2], axis[1]), math.atan2(axis[0], axis[1]), p[3]  # leaning out, the axle sinks


@pytest.mark.parametrize(("lower", "rack"), [(0.1, 0.0), (-0.15, 0.0), (0.0, 0.03), (0.12, -0.02)])
def test_camber_and_toe_of_a_suspension(lower: float, rack: float) -> None:
    mech = sr.library.double_wishbone()
    assert mech.mobility().dof == 2
    found = mech.measure(mech.sweep("lower", np.linspace(0.0, lower, 3), fixed={"rack_slide": rack}).q[-1])
    camber, toe, wheel = hung(found["wheel"][2], rack)
    np.testing.assert_allclose(found["wheel"], wheel, atol=1e-10)
    assert found["camber"] == pytest.approx(camber, abs=1e-9)
    assert found["toe"] == pytest.approx(toe, abs=1e-9)


def test_the_height_of_the_rack_decides_about_toe_in_bump() -> None:
    mech, values = sr.library.double_wishbone(), np.linspace(0.0, 0.15, 4)

    def toe(tie_z: float) -> float:
        changed = mech.with_(tie_z=tie_z)
        return float(changed.measure(changed.sweep("lower", values, fixed={"rack_slide": 0.0}).q[-1])["toe"])

    one = mech.with_(tie_z=0.25)
    height = one.measure(one.sweep("lower", values, fixed={"rack_slide": 0.0}).q[-1])["wheel"][2]
    assert toe(0.25) == pytest.approx(hung(height, 0.0, 0.25)[1], abs=1e-9)
    assert toe(0.25) < 0.0 < toe(0.262)


def test_the_spring_carries_the_wheel() -> None:
    """At rest: spring force times change of its length is the work of the road and of all weights."""
    mech = sr.library.double_wishbone()
    rest = sr.equilibrium(mech)
    found = mech.measure(rest.q)
    assert abs(found["wheel"][2] - 0.32) < 5e-3 and rest.stable
    angle, rack = (rest.q[mech.index(name).q][0] for name in ("lower", "rack_slide"))
    fixed = {"rack_slide": rack}
    near = [mech.sweep("lower", [angle + h], rest.q, fixed=fixed).q[-1] for h in (-1e-5, 1e-5)]
    low, high = (mech.measure(q) for q in near)
    spring = 40e3 * (found["spring"] - 0.555) * (high["spring"] - low["spring"])
    road = 3500.0 * (high["contact"][2] - low["contact"][2])
    weights = np.diff([G * mech.center_of_mass(q)[2] * mech.model.mass.sum() for q in near])[0]
    assert found["spring_force"] == pytest.approx(40e3 * (found["spring"] - 0.555))
    assert weights + spring == pytest.approx(road, rel=1e-6)  # of the difference


# ---------------------------------------------------------------------- excavator


def test_the_bucket_of_an_excavator() -> None:
    """Stick and boom held: cylinder and link as two circles for the rocker and the bucket, by SciPy."""
    mech = sr.library.excavator()
    assert mech.mobility().dof == 3
    e = np.array([0.5, -math.sqrt(0.75)])
    pin = np.array([4.6, 2.6]) + 2.8 * e
    pivot, ear, base = pin - 0.42 * e, pin + np.array([0.4, -0.05]), np.array([5.15, 2.55])
    tip = pin + np.array([-0.25, -1.4])
    held = {"boom_cylinder": 0.0, "stick_cylinder": 0.0}
    strokes = np.linspace(0.0, 0.3, 4)
    found = mech.measure(mech.sweep("bucket_cylinder", strokes, fixed=held).q)

    def at(x: Any) -> tuple[np.ndarray, np.ndarray]:
        """The pin of rocker and link, and the turn of the bucket."""
        turn = np.array([[math.cos(x[1]), -math.sin(x[1])], [math.sin(x[1]), math.cos(x[1])]])
        return pivot + 0.6 * np.array([math.cos(x[0]), math.sin(x[0])]), turn

    x = np.array([root(lambda a: math.dist(at([a[0], 0.0])[0], ear) - 0.62, [0.5], tol=1e-14).x[0], 0.0])
    length = math.dist(at(x)[0], base)
    for k, stroke in enumerate(strokes.tolist()):

        def gaps(x: Any, stroke: float = stroke) -> list[float]:
            joint, turn = at(x)
            return [
                math.dist(joint, base) - length - stroke,
                math.dist(joint, pin + turn @ (ear - pin)) - 0.62,
            ]

        x = root(gaps, x, tol=1e-14).x
        np.testing.assert_allclose(found["tip"][k, :2], pin + at(x)[1] @ (tip - pin), atol=1e-9)
        assert found["bucket_angle"][k] - found["bucket_angle"][0] == pytest.approx(x[1], abs=1e-9)


@pytest.mark.parametrize("cylinder", ["boom_cylinder", "stick_cylinder", "bucket_cylinder"])
def test_cylinders_of_an_excavator_hold_it(cylinder: str) -> None:
    """Virtual work: force times stroke is the change of the potential of all weights."""
    mech = sr.library.excavator()
    others = dict.fromkeys({"boom_cylinder", "stick_cylinder", "bucket_cylinder"} - {cylinder}, 0.0)
    low, high = (mech.sweep(cylinder, [0.0, h], fixed=others).q[-1] for h in (-1e-4, 1e-4))
    zeros = np.zeros(mech.nv)
    work = (mech.energy(high, zeros).potential - mech.energy(low, zeros).potential) / 2e-4
    assert still(mech, cylinder) == pytest.approx(work, rel=1e-6)  # of the difference


def test_a_longer_stick_reaches_farther() -> None:
    mech = sr.library.excavator()
    longer = mech.with_(stick=3.3)
    tip = longer.measure(longer.default.q)["tip"] - mech.measure(mech.default.q)["tip"]
    np.testing.assert_allclose(tip, [0.25, -0.5 * math.sqrt(0.75), 0.0], atol=1e-12)


# ---------------------------------------------------------------------- landing gear


def raised(stroke: float, past: float, guess: Any) -> np.ndarray:
    """Angles of strut and upper brace, by SciPy: the lower brace and the cylinder keep their lengths."""
    hook, pin, base = np.array([1.0, 0.1]), np.array([0.0, -0.8]), np.array([0.68, 0.78])
    line = hook - pin
    knee = pin + line / 2 + past * np.array([line[1], -line[0]]) / np.linalg.norm(line)
    eye = 0.7 * hook + 0.3 * knee

    def gaps(x: np.ndarray) -> list[float]:
        strut, brace = (np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in x)
        upper = hook + brace @ (knee - hook)
        length = math.dist(hook + brace @ (eye - hook), base)
        return [math.dist(upper, strut @ pin) - math.dist(knee, pin), length - math.dist(eye, base) - stroke]

    x = root(gaps, guess, tol=1e-14).x
    assert np.abs(gaps(x)).max() < 1e-12
    return np.asarray(x)


@pytest.mark.parametrize("past", [0.01, 0.03])
def test_a_landing_gear_swings_up(past: float) -> None:
    mech = sr.library.landing_gear().with_(over_centre=past)
    strokes = np.linspace(0.0, -0.22, 23)
    swept = mech.sweep("cylinder", strokes)
    assert swept.success and mech.mobility().dof == 1
    found, x = mech.measure(swept.q), np.array([0.0, 0.0])
    for k, stroke in enumerate(strokes):
        x = raised(float(stroke), past, x + np.array([0.01, -0.05]) if k else x)
        assert found["strut_angle"][k] == pytest.approx(x[0], abs=1e-9)
    axle = 1.4 * np.array([math.sin(x[0]), -math.cos(x[0])])
    np.testing.assert_allclose(found["axle"][-1, :2], axle, atol=1e-9)
    assert math.degrees(x[0]) > 70.0
    fine = mech.measure(mech.sweep("cylinder", np.linspace(0.0, -0.02, 201)).q)["brace"]
    straight = 2.0 * math.hypot(0.5 * math.hypot(1.0, 0.9), past)  # both links in line
    assert fine[0] < fine.max() == pytest.approx(straight, rel=1e-6)  # the knee goes through the line first


def test_the_cylinder_of_a_landing_gear_carries_it() -> None:
    """Half way up: virtual work of all weights."""
    mech = sr.library.landing_gear()
    path = mech.sweep("cylinder", np.linspace(0.0, -0.12, 13)).q
    low, high = (mech.sweep("cylinder", [-0.12 + h], path[-1]).q[-1] for h in (-1e-5, 1e-5))
    zeros = np.zeros(mech.nv)
    work = (mech.energy(high, zeros).potential - mech.energy(low, zeros).potential) / 2e-5
    assert still(mech, "cylinder", path[-1]) == pytest.approx(work, rel=1e-6)  # of the difference
