"""Nonholonomic motion in the long run: against closed forms, and against the power that is lost."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

G = 9.81


def test_a_disc_rolls_on_its_circle() -> None:
    """The steady motion: constant lean, the centre on a circle at a constant rate, for 10^5 steps."""
    radius, lean, circle = 0.25, 0.3, 1.0
    mech = sr.library.rolling_disk(radius, 1.0, lean, circle)
    rate = np.sqrt(G * np.tan(lean) / (0.25 * radius * np.sin(lean) + 1.5 * circle))
    run = sr.simulate(mech, (0.0, 200.0), dt=2e-3, store_every=500)
    assert run.nfev > 3e5 and run.success
    at = np.column_stack([circle * np.cos(rate * run.t), circle * np.sin(rate * run.t)])
    assert np.abs(run.q[:, :2] - at).max() < 1e-6
    assert np.abs(run.q[:, 2] - radius * np.cos(lean)).max() < 1e-9
    assert run.drift.max() < 1e-12 and run.velocity_drift.max() < 1e-12 * np.abs(run.v).max()
    assert np.ptp(run.energy) < 1e-7


def test_a_coin_that_spirals() -> None:
    """With drag the circle shrinks and the coin sinks; the energy lost is the work of the drag."""
    mech = sr.library.rolling_disk(lean=0.2, circle=0.6).with_(damping={"disc": 0.01})
    run = sr.simulate(mech, (0.0, 6.0), dt=1e-3)
    height, energy = run.q[:, 2], run.energy
    assert height[-1] < height[0] - 0.005 and np.all(np.diff(energy) < 0.0)
    power = 0.01 * np.sum(run.v**2, axis=1)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))])
    np.testing.assert_allclose(energy[0] - energy, work, atol=1e-5 * energy[0])
    half = len(run) // 2
    sizes = [np.ptp(part[:, :2], axis=0).max() for part in (run.q[:half], run.q[half:])]
    assert sizes[1] != pytest.approx(sizes[0], rel=0.02)  # a spiral, not a circle
    assert run.drift.max() < 1e-12


def knife_edge(inertia: float = 0.3, slope: float = 0.4) -> tuple[sr.CustomSystem, float]:
    """A skate on an inclined plane: x down the slope, y across, the heading; J v = 0 without phi."""
    pull = G * np.sin(slope)

    def J(q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        return np.array([[np.sin(q[2]), -np.cos(q[2]), 0.0]])

    def gamma(q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        return np.array([-(np.cos(q[2]) * v[0] + np.sin(q[2]) * v[1]) * v[2]])

    M = np.diag([1.0, 1.0, inertia])
    h = np.array([-pull, 0.0, 0.0])
    system = sr.CustomSystem(3, 3, M=M, h=h, J=J, gamma=gamma, potential=lambda q, v, t: -pull * q[0])
    return system, pull


def test_a_knife_edge_does_not_slide_down() -> None:
    """Cycloids across the slope: x = c sin^2(w t), y = c (w t - sin(2 w t) / 2), c = g' / (2 w^2)."""
    system, pull = knife_edge()
    w = 3.0
    run = sr.simulate(system, (0.0, 3.0), np.zeros(3), np.array([0.0, 0.0, w]), dt=2e-3)
    c, angle = pull / (2.0 * w**2), w * run.t
    np.testing.assert_allclose(run.q[:, 0], c * np.sin(angle) ** 2, atol=1e-8)
    np.testing.assert_allclose(run.q[:, 1], c * (angle - 0.5 * np.sin(2.0 * angle)), atol=1e-8)
    np.testing.assert_allclose(run.q[:, 2], angle, atol=1e-10)
    assert np.ptp(run.energy) < 1e-8


def test_a_knife_edge_in_minimal_coordinates() -> None:
    """Three positions, two velocities."""
    system, _ = knife_edge()
    v = np.array([0.0, 0.0, 3.0])
    full = sr.simulate(system, (0.0, 0.6), np.zeros(3), v, dt=5e-3)
    for kind in ("partition", "tangent", "nullspace"):
        run = sr.simulate(system, (0.0, 0.6), np.zeros(3), v, dt=5e-3, coordinates=kind)
        assert np.abs(run.q - full.q).max() < 1e-7, kind
