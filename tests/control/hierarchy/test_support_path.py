"""Gaits on contacts: the path of the centre of mass, landings by measured forces, sensors in feet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

C = sr.control
TOE = (0.0, 0.0, -0.2)
FEET = ("front_left", "front_right", "rear_left", "rear_right")
PAIRS = (("front_left", "rear_right"), ("front_right", "rear_left"))
HEIGHT, G = 0.3, 9.81


def gait(**more: Any) -> C.Gait:
    """A quadruped that trots 0.4 m in four pairs of swings."""
    mech = sr.library.quadruped()
    feet = {foot: (f"{foot}_shank", TOE) for foot in FEET}
    given = {"way": C.MinimumJerk((0.0, 0.0), (0.4, 0.1), 2.0, t0=1.0), "start": 1.0, "end": 3.0, **more}
    return C.Gait(mech, feet, PAIRS, **given)


def test_the_center_of_mass_falls_about_the_middle_of_the_feet() -> None:
    """x'' = g / h (x - p), with p the middle of the standing feet during swings; at rest before and after."""
    walk = gait()
    path = walk.center_of_mass(HEIGHT)
    for t in np.linspace(0.8, 3.6, 57):
        before, here, after = path(t - 1e-5), path(t), path(t + 1e-5)
        assert here.v == pytest.approx((after.x - before.x) / 2e-5, abs=1e-6)
        assert here.a == pytest.approx((after.v - before.v) / 2e-5, abs=1e-3)  # kinks of p within 1e-5 s
        standing = [foot for foot in FEET if walk.stands(foot, t)]
        if len(standing) == 2:
            middle = np.mean([walk.reference(foot)(t).x for foot in standing], axis=0)[:2]
            assert here.x[:2] - here.a[:2] * HEIGHT / G == pytest.approx(middle, abs=1e-9)
    places = {t: np.mean([walk.reference(foot)(t).x for foot in FEET], axis=0)[:2] for t in (-3.0, 9.0)}
    for t, place in places.items():
        assert path(t).x == pytest.approx([*place, HEIGHT], abs=1e-6)
        assert np.abs(path(t).v).max() < 1e-6


def test_a_gait_without_an_end_looks_ahead_as_far_as_it_matters() -> None:
    """The same as that of a gait that ends much later."""
    endless = gait(way=C.Sinusoid((0.0, 0.0), (0.1, 0.0), (1.0, 1.0)), end=np.inf).center_of_mass(HEIGHT)
    long = gait(way=C.Sinusoid((0.0, 0.0), (0.1, 0.0), (1.0, 1.0)), end=30.0).center_of_mass(HEIGHT)
    for t in (0.0, 1.7, 6.0):
        assert endless(t).x == pytest.approx(long(t).x, abs=1e-9)


def test_a_path_needs_time_on_all_feet() -> None:
    with pytest.raises(sr.SarrusError, match="support > 0"):
        gait(support=0.0).center_of_mass(HEIGHT)(2.0)
    with pytest.raises(sr.SarrusError, match="height"):
        gait().center_of_mass(-1.0)


def test_feet_land_when_forces_are_measured() -> None:
    """Early in the second half of a swing, not in the first; late, and downwards meanwhile."""
    force = dict.fromkeys(FEET, 0.0)
    walk = gait(measured=lambda t, q, v: force, touch=5.0, search=0.2)
    q = v = np.zeros(1)
    assert walk.active(0.9, q, v) == FEET  # before the first swing nothing is measured
    force["front_left"] = 20.0
    assert not walk.stands("front_left", 1.04, q, v)  # the first half of 0.2 s
    assert walk.stands("front_left", 1.15, q, v)
    force["front_left"] = 0.0
    assert walk.stands("front_left", 1.17, q, v)  # it has landed
    assert not walk.stands("rear_right", 1.25, q, v)  # late
    follow = walk.reference("rear_right")
    assert follow(1.25).x[2] == pytest.approx(follow(1.2).x[2] - 0.05 * 0.2, abs=1e-9)
    assert follow(1.25).v == pytest.approx([0.0, 0.0, -0.2])
    force["rear_right"] = 6.0
    assert walk.active(1.25, q, v) == FEET
    assert not walk.stands("front_left", 1.65, q, v)  # its next swing
    with pytest.raises(sr.SarrusError, match=r"unknown foot 'front_left'.*"):
        gait(measured=lambda t, q, v: {"a": 1.0}).stands("front_left", 1.15, q, v)


def test_active_names_what_is_no_foot() -> None:
    mech = sr.library.biped()
    feet = {"left_1": ("left_foot", (0.0, 0.0, 0.0))}
    names = C.Gait(mech, feet, [["left_1"]]).active(0.0)
    assert {"left_knee", "right_in_ball", "right_4", "left_1"} <= set(names)
    assert len(names) == len(mech.model.constraints)


def test_sensors_in_the_feet_carry_the_weight() -> None:
    plant = sr.library.quadruped(floor=0.7)
    forces = C.FootForces(plant, {foot: foot for foot in FEET})
    law = C.TaskHierarchy(
        sr.library.quadruped(), [C.PriorityTask(C.BodyPose("trunk"), sr.Pose((0, 0, 0.33)))]
    )
    weight = G * float(sum(plant.model.mass))
    control = forces.under(lambda t, q, v: law(t, q, v))
    q, v = plant.default
    control(0.0, q, v)
    acceleration = plant.forward_dynamics(q, v, u=law(0.0, q, v)).a
    momentum = float(plant.center_of_mass_acceleration(q, v, acceleration)[2]) * weight / G
    assert sum(forces(0.0, q, v).values()) == pytest.approx(weight + momentum, rel=1e-8)
    q = np.array(q)
    q[2] += 0.01
    assert set(forces(0.0, q, v).values()) == {0.0}


def test_sensors_refuse_what_has_no_surface() -> None:
    with pytest.raises(sr.SarrusError, match="needs a mechanism with surfaces"):
        C.FootForces(sr.library.quadruped(), {"a": "a"})
    with pytest.raises(sr.SarrusError, match="unknown surface 'toe'"):
        C.FootForces(sr.library.quadruped(floor=0.5), {"front_left": "toe"})
