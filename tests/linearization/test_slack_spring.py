"""A spring at zero length: smooth where its rest length is zero, against the closed form k/m."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def held(rest: float) -> sr.Mechanism:
    """A body of 2 kg on a rail, held at its place by a spring of 200 N/m."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=2.0)
    spec.force("spring", sr.PointSpring("cart", (0, 0, 0), "ground", (0, 0, 0), 200.0, rest))
    return spec.compile()


@pytest.mark.parametrize("method", ["analytic", "dual", "finite_difference"])
def test_a_spring_without_rest_length_is_stiff_at_zero_length(method: str) -> None:
    eigenvalues = sr.linearize(held(0.0), [0.0], method=method).eigenvalues
    assert np.sort(eigenvalues.imag) == pytest.approx([-10.0, 10.0], rel=1e-9)


def test_the_force_at_zero_length_has_no_direction() -> None:
    mech = held(0.1)
    assert mech.forward_dynamics([0.0], [0.0]).a == pytest.approx([0.0])
    assert mech.energy([0.0], [0.0]).potential == pytest.approx(0.5 * 200.0 * 0.1**2)


def test_energy_and_force_agree_across_zero() -> None:
    mech = held(0.0)
    for q in (-0.2, 1e-9, 0.3):
        assert mech.energy([q], [0.0]).potential == pytest.approx(100.0 * q * q, rel=1e-12)
        assert mech.forward_dynamics([q], [0.0]).a == pytest.approx([-100.0 * q], rel=1e-12)
