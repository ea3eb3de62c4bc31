"""Toggle clamp and knuckle press against circles that meet, and virtual work."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

import sarrus as sr


def meet(p: complex, r: float, q: complex, s: float, side: int) -> complex:
    """Where circles about p and q meet, by the law of cosines; side +1: left of the line from p to q."""
    d = abs(q - p)
    angle = math.acos((r * r + d * d - s * s) / (2 * r * d))
    return p + r * (q - p) / d * cmath.exp(1j * side * angle)


def holding(mech: sr.Mechanism, q: np.ndarray, coordinate: str) -> float:
    """Torque that holds a pose at rest."""
    zeros = np.zeros(mech.nv)
    return float(mech.inverse_dynamics(q, zeros, zeros).tau[mech.names.index(coordinate)])


# ---------------------------------------------------------------------- toggle clamp

PIN, LINK, PAD, HAND = 0.01 + 0.03j, -0.05 - 0.005j, 0.07 - 0.01j, -0.04 + 0.16j  # the arm turns about 0


def drawn_knee(past: float) -> complex:
    """Between handle and link, past the line of their pins."""
    return (PIN + LINK) / 2 - 1j * past * (LINK - PIN) / abs(LINK - PIN)


def clamp(turn: float, past: float = 0.001) -> tuple[complex, complex]:
    """Pad and hand with the link turned from the clamped pose."""
    knee = drawn_knee(past)
    moved = LINK + (knee - LINK) * cmath.exp(1j * turn)
    pin = meet(moved, abs(knee - PIN), 0j, abs(PIN), 1)
    arm, handle = pin / PIN, (pin - moved) / (PIN - knee)
    return PAD * arm, pin + (HAND - PIN) * handle


def test_pose_of_a_toggle_clamp() -> None:
    turns = np.linspace(0.0, -1.4, 15)
    mech = sr.library.toggle_clamp()
    assert mech.mobility().dof == 1
    swept = mech.sweep("link_pin", turns)
    assert swept.success
    for k, turn in enumerate(turns):
        pad, hand = clamp(float(turn))
        np.testing.assert_allclose(swept["pad"][k, :2], [pad.real, pad.imag], atol=1e-12)
        np.testing.assert_allclose(swept["hand"][k, :2], [hand.real, hand.imag], atol=1e-12)
    assert swept["pad"][-1, 1] > 0.06 and swept["clamping"][-1] == 0.0  # open, the workpiece is free


@pytest.mark.parametrize("past", [0.001, 0.002])
def test_a_toggle_clamp_holds_by_itself(past: float) -> None:
    """Virtual work of the workpiece; beyond its dead centre the clamp is pressed on, before it, open."""
    mech = sr.library.toggle_clamp(gravity=0.0).with_(over_centre=past)
    force = 4e5 * 0.003
    assert mech.measure(mech.default.q)["clamping"] == pytest.approx(-force, rel=1e-12)
    knee = drawn_knee(past)
    far = meet(LINK, abs(knee - LINK) + abs(knee - PIN), 0j, abs(PIN), 1)  # of the pin, all in line
    dead = cmath.phase((far - LINK) / (knee - LINK))
    assert -0.2 < dead < 0.0
    torques = []
    for turn in (0.0, 0.5 * dead, dead, 1.5 * dead):
        q = mech.sweep("link_pin", [turn]).q[-1]
        low, high = (clamp(turn + h, past)[0] for h in (-1e-6, 1e-6))
        table = PAD + complex(0.0, -0.02 + 0.003)
        change = (abs(high - table) - abs(low - table)) / 2e-6
        torques.append(holding(mech, q, "link_pin"))
        assert torques[-1] == pytest.approx(mech.measure(q)["clamping"] * change, rel=1e-6, abs=1e-6)
    assert torques[0] < -0.05 and abs(torques[2]) < 1e-6 and torques[3] > 0.05


# ---------------------------------------------------------------------- press

SHAFT, TOP = -0.6 + 0.5j, 0.9j


def press(turn: float) -> tuple[complex, float]:
    """Knee and height of the ram with the crank turned from straight up."""
    knee = meet(TOP, 0.35, SHAFT + 0.08j * cmath.exp(1j * turn), 0.52, 1)
    return knee, knee.imag - math.sqrt(0.35**2 - knee.real**2)


def test_stroke_of_a_press() -> None:
    turns = np.linspace(0.0, 2 * math.pi, 37)
    mech = sr.library.six_bar_press()
    assert mech.mobility().dof == 1
    swept = mech.sweep("crank_shaft", turns)
    heights = np.array([press(float(turn))[1] for turn in turns])
    np.testing.assert_allclose(swept["ram"][:, 1], heights, atol=1e-12)
    assert swept.success and swept["ram"][0, 1] == pytest.approx(swept["ram"][-1, 1], abs=1e-12)
    fine = mech.measure(mech.sweep("crank_shaft", np.linspace(0.0, 2 * math.pi, 721)).q)["ram"][:, 1]
    assert (fine < fine.min() + 0.01 * np.ptp(fine)).mean() > 0.15  # it dwells at the bottom


@pytest.mark.parametrize("turn", [4.0, 5.0, 5.5])
def test_force_of_a_press(turn: float) -> None:
    """Virtual work: torque of the crank times its turn is force times the way of the ram."""
    mech = sr.library.six_bar_press(gravity=0.0).with_(load=1e5)
    q = mech.sweep("crank_shaft", np.linspace(0.0, turn, 25)).q[-1]
    slope = (press(turn + 1e-6)[1] - press(turn - 1e-6)[1]) / 2e-6
    assert holding(mech, q, "crank_shaft") == pytest.approx(-1e5 * slope, rel=1e-6, abs=1e-4)
    heavy = sr.library.six_bar_press()
    zeros = np.zeros(heavy.nv)
    q = heavy.sweep("crank_shaft", np.linspace(0.0, turn, 25)).q[-1]
    low, high = (heavy.sweep("crank_shaft", [turn + h], q).q[-1] for h in (-1e-5, 1e-5))
    work = (heavy.energy(high, zeros).potential - heavy.energy(low, zeros).potential) / 2e-5
    assert holding(heavy, q, "crank_shaft") == pytest.approx(work, rel=1e-5)
