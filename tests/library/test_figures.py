"""Library mechanisms against figures from papers and closed forms, derived here or with their source."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

G = 9.81


def test_slider_crank_has_the_terms_of_the_paper():
    """[Aghili2005] eqs. (66), (67) with m = l = 1."""
    mech = sr.library.slider_crank()
    rng = np.random.default_rng(0)
    for q, v in rng.uniform(-3.0, 3.0, (20, 2, 2)):
        c1, c2, s2, c12 = math.cos(q[0]), math.cos(q[1]), math.sin(q[1]), math.cos(q[0] + q[1])
        M = [[3.0 + 2.0 * c2, 1.0 + c2], [1.0 + c2, 1.0]]
        h = [-s2 * (v[1] ** 2 + 2.0 * v[0] * v[1]) + G * (c12 + 2.0 * c1), s2 * v[0] ** 2 + G * c12]
        terms = mech.terms(q, v)
        np.testing.assert_allclose(terms.M, M, atol=1e-14)
        np.testing.assert_allclose(terms.h, h, atol=1e-12)
        np.testing.assert_allclose(terms.J, [[c1 + c12, c12]], atol=1e-15)


def test_slider_crank_moves_on_through_its_toggle():
    """Exactly at the singular pose the third derivative of the constraint decides: a = (0.2, -0.4)."""
    mech = sr.library.slider_crank()
    motion = mech.forward_dynamics([math.pi / 2.0, math.pi], [1.0, -2.0], [1.0, 0.0])
    np.testing.assert_allclose(motion.a, [0.2, -0.4], atol=1e-12)


def test_parallelogram_is_held_by_one_motor():
    """Holding torque from the principle of virtual work: (2 * 5 * 0.3 + 10 * 0.6) g cos(0.7)."""
    mech = sr.library.parallelogram()
    torques = mech.inverse_dynamics(mech.default.q, np.zeros(3), np.zeros(3))
    expected = (2.0 * 5.0 * 0.3 + 10.0 * 0.6) * G * math.cos(0.7)
    np.testing.assert_allclose(torques.tau, [expected, 0.0, 0.0], rtol=1e-12, atol=1e-12)
    assert round(expected, 2) == 67.53
    assert torques.tau[1] == 0.0 and torques.tau[2] == 0.0


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("theta", [0.0, 0.4, 1.3, 2.5])
def test_n_four_bar_reduces_to_one_equation(n, theta):
    """theta'' = (g/L) ((n+1)/2 + n) / ((n+1)/3 + n) sin(theta) on the branch where the couplers translate."""
    mech = sr.library.n_four_bar(n)
    direction = mech.default.v  # uprights turn by -theta, couplers stay level
    a = mech.acceleration(theta * direction, 1.5 * direction, np.zeros(mech.nv))
    expected = G * ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * math.sin(theta)
    np.testing.assert_allclose(a, expected * direction, atol=1e-9)


def test_n_four_bar_gains_n_freedoms_when_flat():
    mech = sr.library.n_four_bar(4)
    assert mech.mobility(0.5 * math.pi * mech.default.v).dof == 5


def test_five_bar_of_the_thesis_closes_in_both_examples():
    """[Spencer2004] section 3.2: link angles pi, 0, 0, pi; and symmetric with the apex up."""
    singular, raised = sr.library.five_bar(), sr.library.five_bar(start="raised")
    np.testing.assert_allclose(np.cumsum(singular.default.q), [math.pi, 0.0, 0.0, math.pi], atol=1e-15)
    assert singular.mobility(singular.default.q).is_singular
    apex = raised.pose(raised.default.q, "link3").xyz
    np.testing.assert_allclose(apex[0], 0.5, atol=1e-14)
    np.testing.assert_allclose(apex[1], math.sqrt(3.0) / 2.0 + 1.5 * math.sqrt(5.0) / 3.0, atol=1e-14)


def test_andrews_starts_where_the_benchmark_says():
    """IFToMM A03: six digits of the other angles at beta = -0.0620, and F, the end of K1."""
    mech = sr.library.andrews()
    q = dict(zip(mech.names, mech.default.q, strict=True))
    assert q["K1"] == -0.0620
    expected = {
        "K2": 2.1459e-4,
        "K3": 0.455280,
        "K4": 0.222668,
        "K5": 0.487365,
        "K6": -0.222668,
        "K7": 1.230547,
    }
    for name, angle in expected.items():
        assert q[name] == pytest.approx(angle, abs=2e-6)
    F = mech.pose(mech.default.q, "K2").xyz
    np.testing.assert_allclose(F[:2], 0.007 * np.array([math.cos(-0.062), math.sin(-0.062)]), atol=1e-15)


def test_andrews_classical_start_is_closed_as_given():
    """[Hairer1996]: the published sixteen digits close the loops; nothing has to be assembled."""
    q = sr.library.andrews("classical").default.q
    assert q[0] == -0.0617138900142764 and q[1] == 0.0 and q[2] == 0.455279819163070


def test_andrews_accelerates_as_in_the_literature():
    """IVP test set (deTestSet): initial accelerations of the classical problem, beta'' and Theta''."""
    mech = sr.library.andrews("classical")
    a = mech.forward_dynamics(mech.default.q, mech.default.v).a
    np.testing.assert_allclose(
        a[:2], [14222.4439199541138705911625887, -10666.8329399655854029433719415], rtol=1e-9
    )


def test_sarrus_plate_rises_in_a_straight_line():
    mech = sr.library.sarrus()
    start = mech.pose(mech.default.q, "plate")
    for angle, q in zip(
        np.linspace(1.0, 0.2, 9), mech.sweep("lower1", np.linspace(1.0, 0.2, 9)).q, strict=True
    ):
        pose = mech.pose(q, "plate")
        np.testing.assert_allclose(pose.rotation, start.rotation, atol=1e-12)
        np.testing.assert_allclose(pose.xyz, [0.2, 0.0, 0.6 * math.sin(angle)], atol=1e-12)


def test_bennett_closes_over_a_whole_turn():
    """[Bennett1903]: tan(q1/2) tan(q2/2) is constant."""
    mech = sr.library.bennett()
    values = np.linspace(1.0, 1.0 + 2.0 * math.pi, 80)
    path = mech.sweep("link1", values).q
    twist, other = math.pi / 6.0, math.asin(0.75)
    ratio = math.sin(0.5 * (other + twist)) / math.sin(0.5 * (other - twist))
    half = 0.5 * path[:, :2]
    np.testing.assert_allclose(np.sin(half).prod(axis=1), ratio * np.cos(half).prod(axis=1), atol=1e-11)


def test_scott_russell_platform_rises_straight_and_level():
    mech = sr.library.scott_russell()
    feet = np.linspace(mech.default.q[0], 0.3, 9)
    for foot, q in zip(feet, mech.sweep("slider_left", feet).q, strict=True):
        pose = mech.pose(q, "platform")
        np.testing.assert_allclose(pose.rotation, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(pose.xyz, [0.0, 0.0, math.sqrt(1.0 - foot**2)], atol=1e-12)


def test_flyball_springs_are_relaxed_at_the_start():
    """IFToMM A05: s = 0.5 m, rods 30 degrees below the horizontal, springs at their rest length of 0.5 m."""
    mech = sr.library.flyball_governor()
    stiff = sr.library.flyball_governor(stiffness=8e8)
    q, v = mech.default.q, np.zeros(4)
    np.testing.assert_allclose(mech.bias(q, v), stiff.bias(q, v), atol=1e-6)
    ball = mech.pose(q, "ball_left").xyz
    np.testing.assert_allclose(ball, [-0.05 - math.cos(math.pi / 6), 0.0, 0.5], atol=1e-15)


def test_jansen_leg_runs_through_a_whole_turn():
    mech = sr.library.jansen_leg(2)
    path = mech.sweep("crank", np.linspace(0.5, 0.5 + 2.0 * math.pi, 60)).q
    np.testing.assert_allclose(
        path[-1, 1:5], path[0, 1:5] - [2.0 * math.pi, 2.0 * math.pi, 0.0, 0.0], atol=1e-10
    )


def test_rolling_disk_keeps_its_steady_circle():
    """Steady rolling: the centre accelerates towards the axis only, and the lean does not change."""
    mech = sr.library.rolling_disk()
    q, v = mech.default.q, mech.default.v
    motion = mech.forward_dynamics(q, v)
    acceleration = mech.body_acceleration(q, v, motion.a, "disc")
    rate = math.sqrt(G * math.tan(0.3) / (0.25 * 0.25 * math.sin(0.3) + 1.5))
    np.testing.assert_allclose(acceleration[:3], [-(rate**2), 0.0, 0.0], atol=1e-12)
    turning = mech.velocity(q, v, "disc")[3:]
    np.testing.assert_allclose(acceleration[3:], np.cross([0.0, 0.0, rate], turning), atol=1e-12)


def test_delta_platform_never_turns():
    mech = sr.library.delta()
    mobility = mech.mobility(mech.default.q)
    J, N = (
        mech.jacobian(mech.default.q, "platform"),
        sr.decompose(mech.terms(mech.default.q, mech.default.v).J).N,
    )
    assert mobility.dof == 3
    assert np.abs(J[3:] @ N).max() <= 1e-12
    assert np.linalg.matrix_rank(J[:3] @ N) == 3


def test_hands_are_opposed_and_hold_the_object_where_the_paper_starts():
    """[Aghili2011] section IV: x_o(0) = (0.4, 0.5)."""
    mech = sr.library.dual_planar_arms()
    q = mech.default.q
    for side, heading in (("left", 1.0), ("right", -1.0)):
        np.testing.assert_allclose(mech.pose(q, f"half_{side}").xyz, [0.4, 0.5, 0.0], atol=1e-14)
        np.testing.assert_allclose(mech.pose(q, f"{side}3").rotation[0, 0], heading, atol=1e-14)


def test_arm_on_slider_starts_on_its_path():
    """[Aghili2005] section IX: x_d(0) = -0.075 + 0.225 sin(pi/9), y_0 = -0.27, theta_d = 0."""
    mech = sr.library.three_r_on_slider()
    pose = mech.pose(mech.default.q, "link3")
    x = -0.075 + 0.225 * math.sin(math.pi / 9.0)
    np.testing.assert_allclose(pose.xyz, [x - 0.1, -0.27, 0.0], atol=1e-14)
    np.testing.assert_allclose(pose.rotation, np.eye(3), atol=1e-14)


def test_box_is_held_mirror_symmetrically():
    mech = sr.library.dual_arm_box()
    left, right, box = (mech.pose(mech.default.q, name).xyz for name in ("left7", "right7", "box"))
    np.testing.assert_allclose(left * [1.0, -1.0, 1.0], right, atol=1e-10)
    np.testing.assert_allclose(box[1], 0.0, atol=1e-10)
