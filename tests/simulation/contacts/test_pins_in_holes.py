"""A pin in a hole with play: where the outline of the hole is cut must not matter."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .machines import G

PIN, HOLE, OUTSIDE, SLIT = 0.055, 0.06, 0.1, 1e-5


def ring(slit_at: float) -> sr.Profile:
    """A hole as an outline: a ring with a slit at an angle."""

    def half(radius: float, side: int) -> list[tuple[float, float, float]]:
        start = slit_at + side * SLIT / (2 * radius)
        bulge = side * np.tan((np.pi - SLIT / (2 * radius)) / 4)
        ends = [(start, radius), (slit_at + np.pi, radius)]
        return [(r * np.cos(angle), r * np.sin(angle), bulge) for angle, r in ends]

    def end(radius: float, side: int) -> tuple[float, float]:
        angle = slit_at + side * SLIT / (2 * radius)
        return radius * np.cos(angle), radius * np.sin(angle)

    return sr.Profile([*half(OUTSIDE, 1), end(OUTSIDE, -1), *half(HOLE, -1), end(HOLE, 1)])


def pin_in_hole(friction: float, slit_at: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(name="pin with play", gravity=(0, -G, 0))
    spec.body("pin", joint=sr.Planar("z"), mass=1.0, inertia=(1e-3,) * 3)
    spec.surface("pin", "pin", sr.Cylinder(PIN, 0.1), friction=friction)
    spec.surface("hole", "ground", ring(slit_at))
    return spec.contact("pin", "hole").compile()


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5])
def test_a_pin_swings_in_its_hole_wherever_the_outline_is_cut(friction: float) -> None:
    """Contact goes over the slit, over the cuts of the arcs and over the ends of the half circles."""
    start = [0.98 * (HOLE - PIN), 0, 0]
    ends = []
    for slit_at in (np.pi / 2, 2.2, 1.0, 0.3, -2.0):
        run = sr.simulate(pin_in_hole(friction, slit_at), (0, 0.6), start, [0, 0, 0])
        assert run.success
        assert np.hypot(run.q[:, 0], run.q[:, 1]).max() <= (HOLE - PIN) * (1 + 1e-9)
        ends.append(run.q[-1])
    assert np.ptp(ends, axis=0).max() <= 1e-6 * (HOLE - PIN) + 1e-7  # angles [rad]


def test_gaps_are_the_play_at_every_cut() -> None:
    mech = pin_in_hole(0.1, 2.2)
    for cut in (2.2 + np.pi / 2, 2.2 + np.pi, 2.2 - np.pi / 2):
        for angle in [*np.nextafter(cut, [-9, 9]).tolist(), cut]:
            for away in (0.3, 1.0):
                at = away * (HOLE - PIN) * np.array([np.cos(angle), np.sin(angle)])
                gap = mech.contacts([*at, 0.0]).gap
                found = gap[np.isfinite(gap)]
                assert len(found) and np.abs(found - (1 - away) * (HOLE - PIN)).max() <= 1e-15
