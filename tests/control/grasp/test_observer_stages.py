"""The observer in the kernel against the same formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus import control as sc
from sarrus.control.core.task_inertia import inverse_inertia
from sarrus.control.state.measured_state import measured_state
from sarrus.dynamics.input_response import respond

SHOWN = 0.02


def sample(mech: sr.Mechanism, body: int, com: Any, state: Any) -> tuple[Any, ...]:
    """Twist, acceleration without inputs, per input, and inertia of the body within the constraints."""
    now = measured_state(mech, *state)
    columns = np.array([one.index for one in mech.model.actuators])
    response = respond(now.terms, columns, mech.units)
    _, twist, bias, J, _ = now.point(body, com)
    L = mech.length
    unit = np.array([L, L, L, 1.0, 1.0, 1.0])
    bare = inverse_inertia(response, J) / np.outer(unit, unit)
    least = SHOWN * np.sort(np.diag(bare))[3]
    s, U = np.linalg.eigh(bare)
    fading = np.maximum(least - s, 0.0)
    kept = np.where(s > 1e-9 * s[-1], s / (s * s + fading * fading), 0.0)
    return twist, J @ response.a0 + bias, J @ response.B, (U * kept) @ U.T / np.outer(unit, unit)


@pytest.mark.parametrize("name", ["dual_arm_box", "four_bar", "bricard"])
def test_two_samples(name: str) -> None:
    mech = getattr(sr.library, name)()
    own = mech.model.bodies[-1]
    body, com = mech.model.body_index(own.name, "test"), np.array(own.com, dtype=float)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, 0.3 * np.random.default_rng(2).normal(size=mech.nv))
    u, dt, bandwidth = np.linspace(-1.0, 1.0, mech.nu), 1e-3, 80.0
    states = [(0.0, q, v)]
    for k in (1, 2):
        moved = mech.step(states[-1][1], states[-1][2], u, dt)
        states.append((k * dt, moved.q, moved.v))
    estimator = sc.WrenchEstimator(mech, own.name, bandwidth=bandwidth)
    for state in states:
        found = estimator.update(*state, u)
    samples, wrench = [sample(mech, body, com, state) for state in states], np.zeros(6)
    for k, share in ((1, 1.0), (2, 1.0 - np.exp(-bandwidth * dt))):
        before, after = samples[k - 1], samples[k]
        predicted = 0.5 * (before[1] + after[1] + (before[2] + after[2]) @ u)
        raw = 0.5 * (before[3] + after[3]) @ ((after[0] - before[0]) / dt - predicted)
        wrench = wrench + share * (raw - wrench)
    np.testing.assert_allclose(found.wrench, wrench, atol=1e-9 * (1.0 + np.abs(samples[-1][3]).max()))
    np.testing.assert_array_equal(found.external, found.wrench)
