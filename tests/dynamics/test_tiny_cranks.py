"""Cranks that are tiny beside what they move: crank and rod turn against each other, and nearly all of their
inertia cancels along the one freedom. The mass matrix loses digits by the square of the ratio of lengths."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

TORQUE = 1e-6  # N m
ANGLE = 0.7  # rad


def slider_crank(crank: float) -> sr.Mechanism:
    """Crank of this length [m] and 1 kg, rod of 1 m and 1 kg, slide of 1 kg."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    own, rod = crank**2 / 12, 1 / 12
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(crank / 2, 0, 0), inertia=(0, own, own))
    at = sr.Pose((crank, 0, 0))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=at, mass=1.0, com=(0.5, 0, 0), inertia=(0, rod, rod))
    spec.body("slide", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "slide", joint=sr.Revolute("z"), at_a=sr.Pose((1, 0, 0)))
    return spec.compile()


def inertia(crank: float, angle: float) -> float:
    """Inertia about the crank's pivot [kg m^2], from the speeds of the parts at 1 rad/s."""
    rod = -math.asin(crank * math.sin(angle))
    turn = -crank * math.cos(angle) / math.cos(rod)
    center_x = -crank * math.sin(angle) - 0.5 * math.sin(rod) * turn
    center_y = crank * math.cos(angle) + 0.5 * math.cos(rod) * turn
    slide = -crank * math.sin(angle) - math.sin(rod) * turn
    return crank**2 / 3 + center_x**2 + center_y**2 + turn**2 / 12 + slide**2


@pytest.mark.parametrize("crank", [1e-1, 1e-2, 1e-4, 1e-5, 1e-6])
def test_acceleration_is_torque_over_inertia(crank: float) -> None:
    """The mass matrix alone was 2e-4 off at 1e-6: eps over the square of the ratio."""
    mech = slider_crank(crank)
    rod = -math.asin(crank * math.sin(ANGLE))
    q = mech.project([ANGLE, rod - ANGLE, crank * math.cos(ANGLE) + math.cos(rod)]).q
    want = TORQUE / inertia(crank, float(q[0]))
    found = mech.acceleration(q, np.zeros(3), [TORQUE, 0.0, 0.0])[0]
    assert found == pytest.approx(want, rel=1e-9)
    assert mech.forward_dynamics(q, np.zeros(3), [TORQUE, 0.0, 0.0]).a[0] == found


def test_runs_keep_their_energy() -> None:
    mech = slider_crank(1e-6)
    q = mech.assemble(fixed={"crank": 0.3}).q
    v = mech.consistent_velocity(q, fixed={"crank": 5.0})
    run = sr.simulate(mech, (0.0, 2.0), q, v)
    assert run.success
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-6)
