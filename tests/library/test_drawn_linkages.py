"""Linkages described as drawn move and carry as hand formulas say, for other parameters as well."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import root

import sarrus as sr

G = 9.81


@pytest.mark.parametrize("change", [{}, {"side": 0.28, "crank": 0.17}, {"arm": 0.7, "side": 0.35}])
def test_peaucellier_draws_a_straight_line(change: dict[str, float]) -> None:
    """Inversion: O B times O D is arm^2 - side^2, and the circle through O becomes a line."""
    mech = sr.library.peaucellier(**change)
    other = sr.library.peaucellier().with_(**change)
    swept = mech.sweep("crank_pin", np.linspace(0.0, -1.2, 13))
    assert swept.success
    pencil, p = mech.measure(swept.q)["pencil"], mech.parameters
    x = (p["arm"] ** 2 - p["side"] ** 2) / (2.0 * p["crank"])
    angle = 0.6 + np.linspace(0.0, -1.2, 13)
    np.testing.assert_allclose(pencil[:, 0], x, atol=1e-14)
    np.testing.assert_allclose(pencil[:, 1], x * np.tan(angle / 2.0), atol=1e-13)
    np.testing.assert_allclose(other.measure(other.default.q)["pencil"], pencil[0], atol=1e-13)


def test_peaucellier_is_held_by_the_torque_of_virtual_work() -> None:
    """Seven bars of 1 kg: torque = g d(sum of heights)/d(angle), heights from the closed form."""
    mech = sr.library.peaucellier()

    def heights(angle: float) -> float:
        L, s, r = 0.6, 0.25, 0.2
        line = np.array([math.cos(angle / 2), math.sin(angle / 2)])
        near = 2 * r * line[0]
        far = (L * L - s * s) / near
        B, D, middle = near * line, far * line, (near + far) / 2 * line
        across = math.sqrt(s * s - ((far - near) / 2) ** 2) * np.array([-line[1], line[0]])
        A, C = middle + across, middle - across
        ends = [(0 * A, A), (0 * A, C), (np.array([r, 0.0]), B), (A, B), (B, C), (C, D), (D, A)]
        return float(sum(0.5 * (p + q)[1] for p, q in ends))

    torque = G * (heights(0.6 + 1e-5) - heights(0.6 - 1e-5)) / 2e-5
    found = mech.inverse_dynamics(mech.default.q, np.zeros(mech.nv), np.zeros(mech.nv))
    assert found.tau[mech.names.index("crank_pin")] == pytest.approx(torque, abs=1e-7)  # of the difference


@pytest.mark.parametrize("n", [1, 3, 20])
def test_a_scissor_lift_stands_upright_as_drawn_and_rises(n: int) -> None:
    mech = sr.library.scissor_lift(n, angle=0.4)
    drawn = mech.assemble(mech.default.q)
    assert drawn.success and np.abs(drawn.q).max() < 1e-13  # the drawing is the assembled pose
    assert mech.measure(mech.default.q)["height"] == pytest.approx(n * 1.5 * math.sin(0.4), abs=1e-12)
    swept = mech.sweep("foot_slide", np.linspace(0.0, -0.3, 3))
    found = mech.measure(swept.q)
    np.testing.assert_allclose(
        found["foot_way"], 1.5 * math.cos(0.4) + np.array([0.0, -0.15, -0.3]), atol=1e-12
    )
    np.testing.assert_allclose(found["height"], n * np.sqrt(1.5**2 - found["foot_way"] ** 2), atol=1e-11)


def test_a_scissor_lift_is_held_by_the_force_of_virtual_work() -> None:
    """F dx + sum m g dy = 0, x = L cos a: the table rises by n L cos a da, bars k by (k - 1/2) L cos a da."""
    n, a = 4, 0.5
    mech = sr.library.scissor_lift(n, angle=a, load=300.0)
    lifted = (300.0 + 1.0) * n + 12.0 * 2.0 * sum(k - 0.5 for k in range(1, n + 1))  # with the roller, 1 kg
    found = mech.inverse_dynamics(mech.default.q, np.zeros(mech.nv), np.zeros(mech.nv))
    force = found.tau[mech.names.index("foot_slide")]
    assert force == pytest.approx(-lifted * G / math.tan(a), rel=1e-11)
    heavier = mech.with_(load=600.0).inverse_dynamics(mech.default.q, np.zeros(mech.nv), np.zeros(mech.nv))
    more = heavier.tau[mech.names.index("foot_slide")] - force
    assert more == pytest.approx(-300.0 * n * G / math.tan(a), rel=1e-11)


def folded(seat: float, way: float) -> tuple[np.ndarray, float, float]:
    """Slot pin, angle between the legs and distance of the feet, by SciPy from the lengths alone."""
    F, R, T, E = (np.array(p) for p in ((0.45, 0.0), (-0.05, 0.0), (-0.1, 0.85), (0.42, 0.44)))
    w = np.linalg.solve(np.column_stack([T - F, R - E]), R - F)
    front, rear, edge = w[0] * math.dist(F, T), w[1] * math.dist(R, E), (1 - w[1]) * math.dist(R, E)
    along = (T - F) / math.dist(F, T)
    foot = (E - F) @ along
    start = foot + math.sqrt(seat**2 - math.dist(E, F + foot * along) ** 2)

    def gaps(x: np.ndarray) -> list[float]:
        """Angle of the back and of the leg; the rear foot is on the floor, the seat has its length."""
        back, leg = (np.array([math.cos(a), math.sin(a)]) for a in x)
        cross = F + front * back
        return [
            float((cross - rear * leg)[1]),
            math.dist(cross + edge * leg, F + (start + way) * back) - seat,
        ]

    x = root(gaps, [2.1 - way, 0.9], tol=1e-14).x
    assert np.abs(gaps(x)).max() < 1e-13
    back, leg = (np.array([math.cos(a), math.sin(a)]) for a in x)
    return F + (start + way) * back, x[0] - x[1], math.dist(F, F + front * back - rear * leg)


@pytest.mark.parametrize("seat", [0.255, 0.28])
def test_a_folding_chair_folds(seat: float) -> None:
    mech = sr.library.folding_chair().with_(seat=seat)
    ways = np.array([0.0, 0.1, 0.2])
    swept = mech.sweep("slot", ways)
    assert swept.success and mech.mobility().dof == 1
    found = mech.measure(swept.q)
    for k, way in enumerate(ways):
        rear, fold, depth = folded(seat, float(way))
        np.testing.assert_allclose(found["seat_rear"][k, :2], rear, atol=1e-11)
        assert found["fold"][k] == pytest.approx(fold, abs=1e-11)
        assert found["depth"][k] == pytest.approx(depth, abs=1e-11)


def test_a_sitter_presses_the_slot_down() -> None:
    """Virtual work of 80 kg on the middle of the seat."""
    empty, full = sr.library.folding_chair(), sr.library.folding_chair(sitter=80.0)
    still = np.zeros(empty.nv)
    slot = empty.names.index("slot")
    forces = [m.inverse_dynamics(m.default.q, still, still).tau[slot] for m in (empty, full)]

    def middle(way: float) -> float:
        seat = empty.pose(empty.sweep("slot", [0.0, way]).q[-1], "seat")
        return float(seat.apply((0.255 / 2.0, 0.0, 0.0))[1])

    slope = (middle(1e-4) - middle(-1e-4)) / 2e-4
    assert forces[1] - forces[0] == pytest.approx(80.0 * G * slope, rel=1e-6)  # of the difference


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("peaucellier", {"side": 0.05}, "has no value at side = 0.05, arm = 0.6"),
        ("folding_chair", {"seat": 0.1}, "has no value at seat = 0.1"),
        ("scissor_lift", {"n": 0}, "n of scissor_lift must be a whole number of at least 1"),
        ("scissor_lift", {"load": -1.0}, "mass of Box must not be negative"),
        ("landing_gear", {"strut": 0.0}, "points 'trunnion' and 'axle' coincide"),
        ("excavator", {"link": 0.1}, "may not fit together"),
    ],
)
def test_lengths_that_do_not_fit(name: str, given: dict[str, float], message: str) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        getattr(sr.library, name)(**given)
