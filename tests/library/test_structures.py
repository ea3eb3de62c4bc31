"""Structures of many cells move as their geometry says: closed forms of their shapes and of their energy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sarrus as sr


def heights(mech: sr.Mechanism, q: np.ndarray) -> list[float]:
    return [mech.pose(q, f"a{i}").xyz[1] for i in range(1, len(mech.body_names) // 2 + 1)]


def test_pairs_of_a_scissor_stand_on_each_other() -> None:
    mech = sr.library.scissor(5, angle=0.7)
    assert np.allclose(heights(mech, mech.default.q), math.sin(0.7) * np.arange(5), atol=1e-14)


@pytest.mark.parametrize("n", [6, 20])
def test_a_scissor_sinks_as_one_coordinate_says(n: int) -> None:
    """Bars of pair i: centres at (c/2, (i + 1/2) s), all turn with the angle; Lagrange's equation of it."""
    g = 9.81
    mech = sr.library.scissor(n, angle=0.6)
    run = sr.simulate(mech, (0.0, 0.35), dt=1e-3)
    sizes = np.arange(n) + 0.5

    def rate(_: float, y: np.ndarray) -> list[float]:
        s, c = math.sin(y[0]), math.cos(y[0])
        inertia = 2.0 * sum(1.0 / 12.0 + 0.25 * s * s + (k * c) ** 2 for k in sizes)
        half_slope = sum((0.25 - k * k) * 2.0 * s * c for k in sizes)  # of the inertia, halved
        return [y[1], (-half_slope * y[1] ** 2 - 2.0 * g * c * sizes.sum()) / inertia]

    exact = solve_ivp(rate, (0.0, 0.35), [0.6, 0.0], rtol=1e-11, atol=1e-12).y[0, -1]
    assert run.q[-1, 0] == pytest.approx(exact, abs=1e-8)  # RK4 at 1 ms
    assert run.q[-1, 0] < 0.55


@pytest.mark.parametrize("n", [8, 30])
def test_a_ring_opens_on_its_rays(n: int) -> None:
    """Middles at the radius cos(angle)/sin(pi/n); its energy and momentum stay, and no row is violated."""
    mech = sr.library.deployable_ring(n, angle=0.6, speed=0.5)
    run = sr.simulate(mech, (0.0, 0.5), dt=1e-3)
    assert run.success and run.drift.max() < 1e-12
    assert mech.mobility().dof == 4 and len(mech.mobility().redundant) == 4
    angle = 0.5 * math.pi + math.pi / n - run.q[:, 2]
    assert angle[-1] < 0.4
    assert np.allclose(run.q[:, 0], np.cos(angle) / math.sin(math.pi / n), atol=1e-11)
    middles = np.array([mech.pose(run.q[-1], f"b{i}").xyz for i in range(n)])
    assert np.ptp(np.hypot(*middles[:, :2].T)) < 1e-11
    energy = mech.energy(run.q, run.v).total
    assert np.ptp(energy) < 1e-9 * energy[0]


def test_long_structures_are_trees_of_short_branches() -> None:
    """Sections stand on the ground: steps grow with the number of pairs, the mechanism stays the same."""
    for long, pairs, rows in ((sr.library.scissor(40), 40, 97), (sr.library.deployable_ring(40), 40, 100)):
        assert (len(long.body_names), long.nc) == (1 + 2 * pairs, rows)
        assert long.evaluator.kernel.fill < 0.3
    assert sr.library.scissor(40).mobility().dof == 1
    assert np.allclose(
        heights(sr.library.scissor(40), sr.library.scissor(40).default.q)[-1], 39 * math.sin(0.6)
    )


def test_cells_of_a_net_stay_parallelograms() -> None:
    mech = sr.library.net(3)
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3)
    turned = [mech.jacobian(run.q[-1], f"h{i}_2") @ run.v[-1] for i in range(3)]
    upper = [mech.jacobian(run.q[-1], f"t{i}") @ run.v[-1] for i in range(3)]
    assert np.allclose([x[5] for x in turned], [x[5] for x in upper], atol=1e-11)
    assert max(abs(x[5]) for x in upper) > 0.1


def test_hinges_in_space_move_a_net_as_pins_do() -> None:
    pins, hinges = sr.library.net(3), sr.library.net(3, closure="revolute")
    q, v, tau = pins.default.q, np.zeros(pins.nv), np.zeros(pins.nv)
    assert np.allclose(pins.acceleration(q, v, tau), hinges.acceleration(q, v, tau), atol=1e-11)
    assert len(hinges.mobility(q).redundant) == 27


def test_chain_mail_keeps_its_energy() -> None:
    mech = sr.library.chain_mail(3)
    run = sr.simulate(mech, (0.0, 0.3), dt=1e-3)
    energy = mech.energy(run.q, run.v)
    assert run.drift.max() < 1e-12
    assert np.ptp(energy.total) < 1e-7 * np.ptp(energy.kinetic)  # RK4 at 1 ms


def test_a_ring_of_two_pairs_is_refused() -> None:
    with pytest.raises(sr.SarrusError, match="n of deployable_ring must be at least 3, got 2"):
        sr.library.deployable_ring(2)
