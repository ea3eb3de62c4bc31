"""Cam: lift, forces and torque of a harmonic cam against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError

ANGLES = np.linspace(0.0, 2 * math.pi, 72, endpoint=False)
LIFT, MASS, SPEED = 0.01, 0.4, 30.0


def cam() -> sr.Mechanism:
    """A follower of 0.4 kg that rises by s = h (1 - cos) / 2, pressed by gravity."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -9.81), name="cam")
    spec.body("shaft", joint=sr.Revolute("y"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.body("rod", joint=sr.Prismatic("z"), mass=MASS)
    spec.constrain("groove", sr.Cam("rod", "shaft", ANGLES, LIFT * (1 - np.cos(ANGLES)) / 2))
    spec.constrain("motor", sr.Drive("shaft", lambda t: SPEED * t, lambda t: SPEED, lambda t: 0.0))
    spec.measure("push", sr.ForceIn("groove")).measure("torque", sr.ForceIn("motor"))
    return spec.compile()


def test_harmonic_cam_at_constant_speed() -> None:
    """F = m (g + w^2 h cos / 2), torque F h sin / 2; the spline of 72 points is good to 1e-6 of the lift."""
    run = sr.simulate(cam(), (0.0, 0.4), rtol=1e-9)
    angle = SPEED * run.t
    assert run.q[:, 1] == pytest.approx(LIFT * (1 - np.cos(angle)) / 2, abs=1e-6 * LIFT)
    force = MASS * (9.81 + SPEED**2 * LIFT * np.cos(angle) / 2)
    assert run["push"] == pytest.approx(force, rel=2e-3)
    assert run["torque"] == pytest.approx(force * LIFT * np.sin(angle) / 2, abs=2e-3 * LIFT * force.max())


def test_profile_goes_on_turn_after_turn() -> None:
    mech = cam()
    q = [
        mech.assemble([x, 0.0], {"shaft": x}, t=x / SPEED).q[1]
        for x in (0.7, 0.7 + 2 * math.pi, 0.7 - 4 * math.pi)
    ]
    assert q == pytest.approx([q[0]] * 3, abs=1e-12)


@pytest.mark.parametrize(
    ("angles", "lifts", "message"),
    [
        (
            (0.0, 1.0, 2.0),
            (0.0, 1.0, 0.0),
            "at least 4: with fewer points a cam has no curvature; got 3 and 3",
        ),
        ((0.0, 1.0, 0.5, 2.0), (0.0, 1.0, 0.0, 0.0), "must increase and lie within one turn"),
        ((0.0, 2.0, 4.0, 6.5), (0.0, 1.0, 0.0, 0.0), "must increase and lie within one turn"),
    ],
)
def test_bad_profiles(angles: Any, lifts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sr.Cam("rod", "shaft", angles, lifts)
    with pytest.raises(InputError, match="two coordinates"):
        sr.Cam("rod", "rod", ANGLES, ANGLES)
