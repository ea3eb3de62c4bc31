"""EndStop: rebounds against closed forms, forces that never pull, energy that never grows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

M, K, SPEED = 2.0, 5000.0, 0.7


def slider(damping: float, limits: tuple[float | None, float | None] = (None, 0.1)) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="slider")
    spec.body("car", joint=sr.Prismatic("x"), mass=M, inertia=(0.1, 0.1, 0.1))
    spec.force("buffer", sr.EndStop("car", limits, K, damping)).measure("push", sr.ForceIn("buffer"))
    return spec.compile()


def restitution(damping: float) -> float:
    """Speed after over speed before: contact ends where the force would pull ([Schwager2007] eq. (20))."""
    beta, natural = damping / (2 * M), math.sqrt(K / M)
    omega = math.sqrt(natural**2 - beta**2)
    angle = math.pi - math.atan(2 * beta * omega / (omega**2 - beta**2))
    return math.exp(-beta / omega * angle)


@pytest.mark.parametrize("damping", [0.0, 10.0, 60.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_rebound(damping: float, side: float) -> None:
    limits = (None, 0.1) if side > 0 else (-0.1, None)
    run = sr.simulate(slider(damping, limits), (0, 0.4), v0=[side * SPEED], rtol=1e-10)
    assert run.success
    np.testing.assert_allclose(run.v[-1, 0], -side * SPEED * restitution(damping), rtol=1e-7)
    push = run["push"] * side
    assert push.min() >= 0.0
    assert np.diff(run.energy).max() <= 3e-8 * run.energy[0]  # error of the run where the force sets in


def test_both_sides() -> None:
    mech = slider(20.0, (-0.05, 0.1))
    run = sr.simulate(mech, (0, 4), v0=[SPEED])
    assert run.q.min() < -0.05 and run.q.max() > 0.1
    assert np.diff(run.energy).max() <= 3e-8 * run.energy[0]  # error of the run where the force sets in
    assert abs(run.v[-1, 0]) < 0.5 * SPEED


def test_stroke_of_a_cylinder() -> None:
    """The rod falls onto its stop and rests there by its weight over the stiffness."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="press")
    spec.link("ram", (0, 1, 0), (0, 1.2, 0), mass=10.0)
    spec.joint("guide", "ground", "ram", sr.Prismatic("y"), at=(0, 1, 0))
    spec.cylinder("lift", "ground", (0, 0, 0), "ram", (0, 1, 0), axis="z", mass=(2.0, 2.0))
    spec.force("buffer", sr.EndStop("lift", (-0.1, None), 1e4, 1e3))
    mech = spec.compile()
    run = sr.simulate(mech, (0, 3))
    stroke = run.q[-1, mech.index("lift").q][0]
    np.testing.assert_allclose(stroke, -0.1 - 12.0 * 9.81 / 1e4, rtol=1e-5)


def test_bad_input() -> None:
    with pytest.raises(sr.InputError, match=r"an EndStop needs a place: limits=\(lower, upper\)"):
        sr.EndStop("car", (None, None), 10.0)
    with pytest.raises(sr.InputError, match="stiffness of EndStop must be positive"):
        sr.EndStop("car", (0.0, 1.0), 0.0)
    with pytest.raises(sr.InputError, match="damping of EndStop must not be negative"):
        sr.EndStop("car", (0.0, 1.0), 1.0, -1.0)
    with pytest.raises(sr.InputError, match="limits of EndStop"):
        sr.EndStop("car", (1.0, 0.0), 1.0)
