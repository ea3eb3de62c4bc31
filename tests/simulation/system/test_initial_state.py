"""Initial states that are refused."""

from __future__ import annotations

import pytest

import sarrus as sr


def test_a_spring_without_direction_is_refused() -> None:
    """0.1.0 let the body rest there: a spring of no length, pressed, pushes in no direction."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=sr.Prismatic("x"), mass=1)
    spec.force("s", sr.PointSpring("ground", (0, 0, 0), "a", (0, 0, 0), 100.0, 0.1))
    mech = spec.compile()
    with pytest.raises(sr.InputError, match="force 's' is not defined at q0: its two points coincide"):
        sr.simulate(mech, (0, 1))
    assert sr.simulate(mech, (0, 1), [1e-3]).success
