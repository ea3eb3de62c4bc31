"""Derivatives of steps with surfaces: exact where contacts stick or are open, else differences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr

from ...simulation.contacts.machines import G, ball, block


def standing_leg() -> tuple[sr.Mechanism, Any]:
    """A leg on a spring stands on a sole, with two motors' worth of freedom above it."""
    spec = sr.MechanismSpec(name="leg")
    spec.body("foot", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    rod: dict[str, Any] = {"mass": 1.0, "com": (0, 0, 0.2), "inertia": (0.02, 0.02, 0.02)}
    spec.body("leg", "foot", joint=sr.Revolute("y"), **rod)
    spec.body("trunk", "leg", joint=sr.Revolute("y"), at=sr.Pose((0, 0, 0.4)), **rod)
    spec.force("spring", sr.JointSpring("leg", stiffness=60.0))
    spec.actuate("leg", "trunk")
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.8)
    spec.surface("sole", "foot", sr.Box((0.3, 0.2, 0.04))).contact("floor", "sole")
    mech = spec.compile()
    q = mech.neutral()
    q[2], q[7:] = 0.02, [0.1, -0.2]
    return mech, q


def test_sticking_contacts_are_joints() -> None:
    """Beside central differences of the steps themselves, along what the contacts leave free."""
    mech, q = standing_leg()
    v, u = np.zeros(8), np.array([2.0, -1.0])
    v[6:] = 0.3, -0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slopes = mech.step_derivatives(q, v, u, dt=2e-3)
    h = 1e-4
    for k in (6, 7):
        d = np.eye(8)[k]
        ends = [mech.step(mech.integrate(q, s * h * d), v, u, dt=2e-3) for s in (1, -1)]
        far = [mech.difference(slopes.q, end.q) for end in ends]
        np.testing.assert_allclose(slopes.A[:8, k], (far[0] - far[1]) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(slopes.A[8:, k], (ends[0].v - ends[1].v) / (2 * h), atol=1e-8)
        ends = [mech.step(q, v + s * h * d, u, dt=2e-3) for s in (1, -1)]
        np.testing.assert_allclose(slopes.A[8:, 8 + k], (ends[0].v - ends[1].v) / (2 * h), atol=1e-8)
    for k in range(2):
        ends = [mech.step(q, v, u + s * h * np.eye(2)[k], dt=2e-3) for s in (1, -1)]
        np.testing.assert_allclose(slopes.B[8:, k], (ends[0].v - ends[1].v) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(slopes.A[:6], 0.0, atol=1e-9)  # the foot stands, wherever it was moved


def test_open_contacts_leave_the_derivatives_of_the_step() -> None:
    mech, q = block(0.5)
    q[2] += 0.3
    v = np.array([1.0, 0.2, 0, 1.0, 2.0, 3.0])
    one, other = (mech.step_derivatives(q, v, dt=1e-3, contacts=way) for way in ("steps", "ignore"))
    np.testing.assert_array_equal(one.A, other.A)
    batch = mech.step_derivatives(np.tile(q, (2, 1)), np.tile(v, (2, 1)), dt=1e-3)
    np.testing.assert_array_equal(batch.A[1], one.A)


def test_sliding_is_said_and_right() -> None:
    """v' = -mu g against the sliding: dv/dv along it is 1, across it friction turns, 1 - mu g h / |v|."""
    mech, q = block(0.3)
    with pytest.warns(sr.SarrusWarning, match="slides there; derivatives there are one-sided"):
        slopes = mech.step_derivatives(q, [1.0, 0, 0, 0, 0, 0], dt=1e-2)
    assert slopes.A[6, 6] == pytest.approx(1.0, abs=1e-5)
    assert slopes.A[7, 7] == pytest.approx(1.0 - 0.3 * G * 1e-2, rel=1e-2)
    assert slopes.A[0, 6] == pytest.approx(1e-2, abs=1e-7)
    np.testing.assert_allclose(slopes.A[:, 2], 0.0, atol=1e-5)  # moved into the floor: no part along it


def test_an_impact_is_said() -> None:
    mech, q = ball(0.5, height=0.01)
    with pytest.warns(sr.SarrusWarning, match="changes its mode"):
        slopes = mech.step_derivatives(q, [0, 0, -3.0, 0, 0, 0], dt=5e-3)
    assert slopes.A[8, 8] == pytest.approx(-0.5, abs=0.02)
