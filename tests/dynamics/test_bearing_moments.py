"""Bearings in pairs: their friction counts moments, and bearings that ignore large ones say so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr

G, MU, R = 9.81, 0.1, 0.02
LOAD = 98.1  # [N], of a rotor of 10 kg
OVERHANG, APART = 0.5, 0.1  # [m]
RIGHT = MU * R * (LOAD * (OVERHANG + APART) / APART + LOAD * OVERHANG / APART)  # lever rule: 588.6 + 490.5 N


def shaft(**bearing: Any) -> sr.Mechanism:
    """A rotor that overhangs two bearings, one at the joint and one 0.1 m behind it."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="overhung shaft")
    spec.part("shaft", mass=10, com=(0, 0, OVERHANG), inertia=(0.1, 0.1, 0.05))
    spec.joint("b", "ground", "shaft", sr.Revolute("z"), at=(0, 0, 0))
    return spec.force("f", sr.BearingFriction("b", MU, radius=R, **bearing)).compile()


def run_down(mech: sr.Mechanism) -> float:
    """Friction torque of a run [N m]."""
    run = sr.simulate(mech, (0, 0.3), mech.neutral(), [20.0])
    assert run.success
    return float((20.0 - run.v[-1, 0]) / 0.3 * 0.05)


def test_overhung_shaft_in_two_bearings_by_the_lever_rule() -> None:
    mech = shaft(length=APART, middle=-APART / 2)
    assert pytest.approx(2.1582, abs=1e-12) == RIGHT
    assert -mech.forward_dynamics([0.0], [20.0]).friction[0] == pytest.approx(RIGHT, rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_down(mech) == pytest.approx(RIGHT, rel=1e-9)
    still = mech.forward_dynamics([0.0], [0.0], [0.999 * RIGHT])
    assert not still.a.any() and mech.forward_dynamics([0.0], [0.0], [1.001 * RIGHT]).a[0] > 0


def test_shaft_whose_joint_is_drawn_the_other_way_round() -> None:
    """`middle` counts along the axis of the joint as declared, wherever the library hangs it."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="gearbox")
    spec.part("shaft", mass=10, com=(0, 0, OVERHANG), inertia=(0.1, 0.1, 0.05))
    spec.joint("b", "shaft", "ground", sr.Revolute("z"), at=(0, 0, 0))
    spec.force("f", sr.BearingFriction("b", MU, radius=R, length=APART, middle=-APART / 2))
    motion = spec.compile().forward_dynamics([0.0], [20.0])
    assert -motion.friction[0] == pytest.approx(RIGHT, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_loads_in_two_planes(seed: int) -> None:
    """Two bearings carry vectors: |F/2 + e x M/b| + |F/2 - e x M/b|, from statics in each plane."""
    force, at = np.random.default_rng(seed).normal(size=(2, 3)) * [[50.0, 50.0, 20.0], [0.2, 0.2, 0.5]]
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="spindle")
    spec.body("spindle", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.05))
    spec.force("cut", sr.ConstantWrench("spindle", [*force, 0, 0, 0], at))
    spec.force("f", sr.BearingFriction("spindle", MU, radius=R, length=0.3, middle=-0.2))
    first, second = np.array([0, 0, -0.05]), np.array([0, 0, -0.35])
    each = []  # forces of the bearings at `first` and `second` along x and y, moments about the other one
    for here, other in ((first, second), (second, first)):
        moment = np.cross(at - other, force)
        each.append(np.hypot(moment[0], moment[1]) / abs(here[2] - other[2]))
    found = spec.compile().forward_dynamics([0.0], [5.0]).friction[0]
    assert -found == pytest.approx(MU * R * sum(each), rel=1e-9)


def test_moments_that_are_ignored_warn_with_the_cure() -> None:
    with pytest.warns(sr.SarrusWarning, match=r"'f' \(joint 'b': 49.05 N m beside 98.1 N\).*give length="):
        assert run_down(shaft()) == pytest.approx(MU * R * LOAD, rel=1e-9)
    spec = sr.MechanismSpec(gravity=(0, 0, -G), name="sleeve")
    spec.body("sleeve", joint=sr.Prismatic("z"), mass=2.0, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    mech = spec.force("guide", sr.BearingFriction("sleeve", 0.25)).compile()
    with pytest.warns(sr.SarrusWarning, match=r"'guide' \(joint 'sleeve': 7.848 N m beside 0 N\)"):
        sr.simulate(mech, (0, 0.1), tau=[2.0 * G])


def test_a_load_between_the_edges_of_a_bearing_says_nothing() -> None:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="wheel")
    spec.body("wheel", joint=sr.Revolute("z"), mass=10, com=(0, 0, 0.9 * R), inertia=(0.1, 0.1, 0.05))
    mech = spec.force("f", sr.BearingFriction("wheel", MU, radius=R)).compile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_down(mech) == pytest.approx(MU * R * LOAD, rel=1e-9)


def turntable(lean: float = 0.0, gravity: float = G, collar: bool = False) -> sr.Mechanism:
    """A disc of 10 kg on a shaft that leans from the vertical [rad]."""
    spec = sr.MechanismSpec(gravity=(0, 0, -gravity), name="turntable")
    at = sr.Pose(rpy=(lean, 0, 0))
    spec.body("disc", joint=sr.Revolute("z"), at=at, mass=10.0, inertia=(0.1, 0.1, 0.2))
    if collar:
        spec.force("collar", sr.ThrustFriction("disc", MU, radius=2 * R))
    return spec.force("f", sr.BearingFriction("disc", MU, radius=R)).compile()


def test_thrust_that_friction_ignores_is_said() -> None:
    """10 kg press on a collar, whose friction no journal has; beyond 45 degrees they press less."""
    mech = turntable()
    with pytest.warns(
        sr.SarrusWarning, match=r"forces along .* 'f' \(joint 'disc': 98\.1 N beside .* Thrust"
    ):
        sr.simulate(mech, (0, 0.1), v0=[5.0])
    with pytest.warns(sr.SarrusWarning, match="forces along"):
        turntable(0.5).hold([0.0], by=["disc"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sr.simulate(turntable(0.9), (0, 0.1), v0=[5.0])
        sr.simulate(turntable(gravity=0.0), (0, 0.1), v0=[5.0])
        sr.simulate(turntable(collar=True), (0, 0.1), v0=[5.0])
