"""Gearbox, cam and wiper against Willis' equation, the cycloidal law and circles that meet."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sarrus as sr

# ---------------------------------------------------------------------- planetary gearbox


@pytest.mark.parametrize(("sun", "planet", "planets"), [(24, 18, 3), (20, 40, 4)])
def test_speeds_and_torques_of_a_gearbox(sun: int, planet: int, planets: int) -> None:
    """[Shigley2011] section 13-13: ratio 1 + z_ring / z_sun; planets turn -z_sun / z_planet of the rest."""
    mech = sr.library.planetary_gearbox(sun=sun, planet=planet, planets=planets)
    ring = sun + 2 * planet
    ratio = 1 + ring / sun
    v = mech.consistent_velocity(mech.default.q, fixed={"gears_sun": ratio})
    rate = dict(zip(mech.names, v, strict=True))
    assert rate["gears_arm"] == pytest.approx(1.0, rel=1e-12) and abs(rate["gears_ring"]) < 1e-12
    spin = -(ratio - 1.0) * sun / planet  # against the arm
    assert rate["gears_planet0"] == pytest.approx(spin, rel=1e-12)
    # held by the arm: torques balance, teeth share the load
    torque = 10.0
    u = {"gears_sun": torque, "gears_arm": -torque * ratio}
    tau = np.array([u.get(name, 0.0) for name in mech.names])
    found = mech.forward_dynamics(mech.default.q, np.zeros(mech.nv), tau)
    np.testing.assert_allclose(found.a, 0.0, atol=1e-8)
    with pytest.warns(sr.errors.SarrusWarning, match="how constraints share this load"):
        measured = mech.measure(mech.default.q, tau=tau)
    tooth = torque / (0.002 * sun / 2) / planets
    assert abs(measured["tooth"]) == pytest.approx(tooth, rel=1e-9)
    assert abs(measured["holding"]) == pytest.approx(torque * (ratio - 1.0), rel=1e-9)


def test_a_gearbox_speeds_up() -> None:
    """Inertia seen by the sun: I_s + (I_a + n m_p r^2) / i^2 + n I_p (w_p / w_s)^2, all of steel discs."""
    mech = sr.library.planetary_gearbox()
    rho, width, i = 7850.0, 0.02, 3.5
    r_s, r_p, r_a = 0.024, 0.018, 0.042
    disc = [0.5 * rho * math.pi * r**4 * b for r, b in ((r_s, width), (r_p, width), (r_a, width / 4))]
    m_p = rho * math.pi * r_p**2 * width
    w_arm = 1 / i
    w_planet = w_arm - (1 - w_arm) * 24 / 18  # in space
    inertia = disc[0] + (disc[2] + 3 * m_p * r_a**2) * w_arm**2 + 3 * disc[1] * w_planet**2
    tau = np.eye(mech.nv)[mech.names.index("gears_sun")]
    a = mech.acceleration(mech.default.q, np.zeros(mech.nv), tau)
    assert a[mech.names.index("gears_sun")] == pytest.approx(1.0 / inertia, rel=1e-9)


# ---------------------------------------------------------------------- cam


def law(x: np.ndarray, lift: float, rise: float = 2.0, dwell: float = 0.8) -> np.ndarray:
    """Cycloidal rise, dwell, return; lift, first and second derivative by the angle, (3, n)."""
    x = np.mod(x, 2 * math.pi)
    u = np.select(
        [x < rise, x < rise + dwell, x < 2 * rise + dwell], [x / rise, 1.0, (2 * rise + dwell - x) / rise]
    )
    moving, sign = (u > 0.0) & (u < 1.0), np.where(x < rise, 1.0, -1.0)
    s = u - np.sin(2 * math.pi * u) / (2 * math.pi)
    first = np.where(moving, sign * (1 - np.cos(2 * math.pi * u)) / rise, 0.0)
    second = np.where(moving, 2 * math.pi * np.sin(2 * math.pi * u) / rise**2, 0.0)
    return lift * np.array([s, first, second])


def test_lift_and_forces_of_a_cam() -> None:
    """At constant speed: N = m w^2 s'' + preload + k s; torque N s'. 48 points: s'' to 2 percent."""
    mech = sr.library.cam_follower(gravity=0.0)
    angles, w, mass = np.linspace(0.0, 4 * math.pi, 101), 40.0, 7850.0 * 0.012**2 * 0.1
    q = mech.sweep("shaft", angles).q
    v = np.array([mech.consistent_velocity(one, fixed={"shaft": w}) for one in q])
    s, first, second = law(angles, 0.012)
    np.testing.assert_allclose(mech.measure(q)["height"][:, 1], 0.03 + s, atol=2e-4 * 0.012)
    np.testing.assert_allclose(v[:, 1], w * first, atol=4e-3 * w * first.max())
    torque = mech.inverse_dynamics(q, v, accelerations(mech, q, v)).tau[:, 0]
    normal = mass * w**2 * second + 60.0 + 4000.0 * s
    np.testing.assert_allclose(torque, normal * first, atol=0.02 * np.abs(normal * first).max())


def test_the_profile_of_a_cam_is_the_spline_of_scipy() -> None:
    mech = sr.library.cam_follower()
    x = np.linspace(0.0, 2 * math.pi, 49)
    spline = CubicSpline(x, [*law(x[:-1], 0.012)[0], 0.0], bc_type="periodic")
    angles = np.linspace(-3.0, 9.0, 41)
    found = np.array([mech.assemble(mech.default.q, {"shaft": angle}).q[1] for angle in angles])
    np.testing.assert_allclose(found, spline(np.mod(angles, 2 * math.pi)), atol=1e-15)


def accelerations(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """With the shaft at constant speed."""
    return np.array([[0.0, mech.terms(x, y).gamma[0]] for x, y in zip(q, v, strict=True)])


def test_a_spring_that_is_too_weak_lets_the_rod_fly() -> None:
    """Closed form: the contact is lost first where m (g + w^2 s'') + preload + k s is least."""
    mech = sr.library.cam_follower(preload=5.0, stiffness=200.0)
    angles, mass = np.linspace(0.0, 2 * math.pi, 721), 7850.0 * 0.012**2 * 0.1
    s, _, second = law(angles, 0.012)
    for w, flies in ((20.0, False), (120.0, True)):
        least = np.min(mass * (9.81 + w**2 * second) + 5.0 + 200.0 * s)
        q = mech.sweep("shaft", angles).q
        v = np.array([mech.consistent_velocity(one, fixed={"shaft": w}) for one in q])
        tau = mech.inverse_dynamics(q, v, accelerations(mech, q, v)).tau
        contact = np.array(
            [mech.measure(*each[:2], tau=each[2])["contact"] for each in zip(q, v, tau, strict=True)]
        )
        assert (least < 0.0) == flies == bool(contact.min() < 0.0)
        assert contact.min() == pytest.approx(least, rel=0.03)


# ---------------------------------------------------------------------- wiper

MOTOR, RIGHT = 0.28 + 0.04j, 0.45


def meet(p: complex, r: float, q: complex, s: float, side: int) -> complex:
    """Where circles about p and q meet, by the law of cosines; side +1: left of the line from p to q."""
    d = abs(q - p)
    return p + r * (q - p) / d * cmath.exp(1j * side * math.acos((r * r + d * d - s * s) / (2 * r * d)))


def test_arms_of_a_wiper() -> None:
    mech = sr.library.wiper()
    turns = np.linspace(0.0, 2 * math.pi, 73)
    swept = mech.sweep("motor", turns)
    assert swept.success and mech.mobility().dof == 1
    for k, turn in enumerate(turns):
        pin = meet(MOTOR + 0.05j * cmath.exp(1j * turn), 0.3, 0j, 0.08, 1)
        other = meet(RIGHT, 0.08, pin, 0.44, 1)
        left, right = -5 * pin, RIGHT - 5 * (other - RIGHT)
        np.testing.assert_allclose(swept["left_tip"][k, :2], [left.real, left.imag], atol=1e-12)
        np.testing.assert_allclose(swept["right_tip"][k, :2], [right.real, right.imag], atol=1e-12)


@pytest.mark.parametrize("crank", [0.04, 0.05])
def test_a_wiper_wipes(crank: float) -> None:
    """Where crank and rod are in line the left arm turns round: angles by the law of cosines."""
    mech = sr.library.wiper().with_(crank=crank)
    left = mech.sweep("motor", np.linspace(0.0, 2 * math.pi, 721)).q[:, mech.index("left").q][:, 0]
    d = abs(MOTOR)
    ends = [math.acos((d * d + 0.08**2 - far**2) / (2 * d * 0.08)) for far in (0.3 - crank, 0.3 + crank)]
    assert np.ptp(left) == pytest.approx(ends[1] - ends[0], rel=1e-4)
