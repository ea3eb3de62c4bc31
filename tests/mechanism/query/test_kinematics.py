"""Assembly modes and inverse kinematics, against closed forms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def four_bar() -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.point("A", (0, 0, 0)).point("B", (0.1, 0.15, 0)).point("C", (0.45, 0.3, 0)).point("D", (0.4, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=1.0).link(
        "rocker", "C", "D", mass=1.0
    )
    for name, a, b in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker"),
                       ("D", "ground", "rocker")):  # fmt: skip
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    return spec.compile()


def arm(limits: Any = None) -> sr.Mechanism:
    """Two links in the plane, 0.4 and 0.3 m, and a wrist."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    for name, parent, at in (
        ("one", "ground", (0, 0, 0)),
        ("two", "one", (0.4, 0, 0)),
        ("wrist", "two", (0.3, 0, 0)),
    ):
        more = {"limits": limits} if name == "two" else {}
        spec.body(name, parent, joint=sr.Revolute("z"), at=sr.Pose(at), mass=1.0, inertia=(1, 1, 1), **more)
    return spec.compile()


def test_both_modes_of_a_four_bar() -> None:
    """B at a held crank; C is where two circles meet: mirrored on the line from B to D."""
    mech = four_bar()
    found = mech.assemblies(fixed={"A": 0.2})
    assert len(found) == 2
    assert "2 assembly modes" in found.message
    B = mech.pose(found.q[0], "coupler").xyz
    C = [mech.pose(q, "rocker").xyz for q in found.q]
    D = np.array([0.4, 0, 0])
    along = (D - B) / np.linalg.norm(D - B)
    mirrored = B + 2 * along * (along @ (C[0] - B)) - (C[0] - B)
    np.testing.assert_allclose(C[1], mirrored, atol=1e-9)
    near = mech.assemble(mech.default.q, fixed={"A": 0.2}).q
    np.testing.assert_allclose(found.q[0], near, atol=1e-8)  # the branch of the drawing comes first
    assert np.all(np.abs(found.q) <= np.pi)
    axes = found.plot()
    assert [ax.get_title() for ax in axes] == ["mode 1", "mode 2"]


def test_eight_modes_of_a_planar_platform() -> None:
    """A 3-RRR platform with its motors held has up to six modes; all found must close and differ."""
    mech = sr.library.three_rrr()
    hold = {name: float(mech.default.q[mech.index(name).q][0]) for name in mech.actuators}
    found = mech.assemblies(fixed=hold)
    assert 2 <= len(found) <= 6
    for q in found.q:
        assert np.abs(mech.terms(q, np.zeros(mech.nv)).phi).max() < 1e-9
    for a, b in itertools.combinations(found.q, 2):
        assert np.abs(np.sin(0.5 * (a - b))).max() > 1e-4


def test_modes_need_every_freedom_held() -> None:
    with pytest.raises(sr.InputError, match=r"nothing determines .*; give fixed="):
        four_bar().assemblies()
    with pytest.raises(sr.InputError, match="starts"):
        four_bar().assemblies({"A": 0.0}, starts=0)


def test_points_by_inverse_kinematics() -> None:
    mech = arm()
    goal = np.array([0.45, 0.25, 0.0])
    for bend in (1.0, -1.0):
        found = mech.reach("wrist", (0, 0, 0), goal, q_guess=[0.1, bend, 0.0])
        assert found.success and found.residual < 1e-9
        np.testing.assert_allclose(mech.pose(found.q, "wrist").xyz, goal, atol=1e-9)
        elbow = np.arccos((goal @ goal - 0.4**2 - 0.3**2) / (2 * 0.4 * 0.3))  # law of cosines
        assert found.q[1] == pytest.approx(bend * elbow, abs=1e-8)  # the branch of the guess


def test_poses_by_inverse_kinematics() -> None:
    mech = arm()
    goal = sr.Pose((0.4, 0.3, 0), rpy=(0, 0, 1.0))
    found = mech.reach("wrist", (0, 0, 0), goal, q_guess=[0.1, 1.0, 0.0])
    assert found.success
    np.testing.assert_allclose(mech.pose(found.q, "wrist").matrix, goal.matrix, atol=1e-9)
    assert np.sum(found.q) == pytest.approx(1.0, abs=1e-9)


def test_a_closed_chain_reaches_with_its_coupler() -> None:
    mech = four_bar()
    aim = mech.assemble(mech.default.q, fixed={"A": 0.3}).q
    tip = mech.pose(aim, "coupler").apply((0.5, 0.1, 0))
    found = mech.reach("coupler", (0.5, 0.1, 0), tip)
    assert found.success
    np.testing.assert_allclose(found.q, aim, atol=1e-7)


def test_out_of_reach() -> None:
    mech = arm()
    found = mech.reach("wrist", (0, 0, 0), (1.0, 0, 0), q_guess=[0.1, 1.0, 0.0])
    assert not found.success
    assert "Not reached" in found.message
    assert found.residual == pytest.approx(0.3, abs=1e-6)  # 0.7 m long
    fixed = mech.reach("wrist", (0, 0, 0), (0.45, 0.25, 0.0), q_guess=[0.1, 1.0, 0.0], fixed={"one": 0.1})
    assert not fixed.success


def test_limits_are_kept() -> None:
    mech = arm(limits=(0.5, 1.2))
    free = mech.reach("wrist", (0, 0, 0), (0.1, 0.1, 0), q_guess=[0.1, 1.0, 0.0], limits=False)
    assert free.success and free.q[1] > 1.2
    held = mech.reach("wrist", (0, 0, 0), (0.1, 0.1, 0), q_guess=[0.1, 1.0, 0.0])
    assert not held.success
    assert held.at_limits == ("two",)
    assert held.q[1] == pytest.approx(1.2)
    wrist = np.hypot(0.4 + 0.3 * np.cos(1.2), 0.3 * np.sin(1.2))  # as near to the shoulder as it comes
    assert held.residual == pytest.approx(wrist - np.hypot(0.1, 0.1), abs=1e-6)
    assert mech.reach("wrist", (0, 0, 0), (0.55, 0.25, 0), q_guess=[0.1, 1.0, 0.0]).success


def test_a_redundant_arm_uses_its_freedom_at_a_limit() -> None:
    """The tip of the hand can be reached with the elbow at its limit."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    for k, parent in enumerate(("ground", "a0", "a1", "a2")):
        limits = {"limits": (-0.4, 0.4)} if k == 1 else {}
        at = sr.Pose((0.3 if k else 0.0, 0, 0))
        spec.body(f"a{k}", parent, joint=sr.Revolute("z"), at=at, mass=1.0, inertia=(1, 1, 1), **limits)
    mech = spec.compile()
    found = mech.reach("a3", (0.3, 0, 0), (0.5, 0.5, 0), q_guess=[0.1, 0.3, 0.3, 0.3])
    assert found.success
    assert abs(found.q[1]) <= 0.4 + 1e-9
    np.testing.assert_allclose(mech.pose(found.q, "a3").apply((0.3, 0, 0)), (0.5, 0.5, 0), atol=1e-9)


def test_starts_at_which_nothing_moves_towards_the_target() -> None:
    """A stretched arm, a slider-crank at its dead centre: stationary to first order."""
    stretched = arm().reach("wrist", (0, 0, 0), (0.5, 0, 0), q_guess=[0.0, 0.0, 0.0])
    assert stretched.success and abs(stretched.q[1]) > 1.0
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.link("crank", (0, 0, 0), (0.2, 0, 0)).link("rod", (0.2, 0, 0), (0.7, 0, 0))
    spec.part("piston", at=sr.Pose((0.7, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    spec.joint("a", "ground", "crank", sr.Revolute("z"), at=(0, 0, 0))
    spec.joint("b", "crank", "rod", sr.Revolute("z"), at=(0.2, 0, 0))
    spec.joint("c", "rod", "piston", sr.Revolute("z"), at=(0.7, 0, 0))
    spec.joint("d", "ground", "piston", sr.Prismatic("x"), at=(0.7, 0, 0))
    found = spec.compile().reach("piston", (0, 0, 0), (0.5, 0, 0))
    assert found.success


def test_starts_beyond_limits_are_brought_within() -> None:
    """Coordinates are zero in a drawing, limits need not hold zero."""
    spec = sr.MechanismSpec().link("l", (0, 0, 0), (1, 0, 0))
    spec.joint("j", "ground", "l", sr.Revolute("z"), at=(0, 0, 0), limits=(0.5, 1.0))
    found = spec.compile().reach("l", (1, 0, 0), (np.cos(0.7), np.sin(0.7), 0))
    assert found.success
    assert found.q[0] == pytest.approx(0.7, abs=1e-9)


def rssr() -> sr.Mechanism:
    """A rod between two ball joints, which can spin about its own axis."""
    spec = sr.MechanismSpec(name="rssr")
    spec.point("A", (0, 0, 0)).point("B", (0.1, 0, 0)).point("C", (0.3, 0.25, 0.2)).point("D", (0.3, 0, 0.2))
    spec.link("crank", "A", "B", mass=1).link("rod", "B", "C", mass=1).link("rocker", "D", "C", mass=1)
    spec.joint("A", "ground", "crank", sr.Revolute("z"), at="A").joint(
        "B", "crank", "rod", sr.Spherical(), at="B"
    )
    spec.joint("C", "rod", "rocker", sr.Spherical(), at="C").joint(
        "D", "ground", "rocker", sr.Revolute("x"), at="D"
    )
    return spec.compile()


def test_spins_that_nothing_notices_are_no_modes() -> None:
    """The end of the rocker lies on a circle at the length of the rod: at most two angles."""
    mech = rssr()
    found = mech.assemblies(fixed={"A": 0.3}, starts=60)
    B, theta = 0.1 * np.array([np.cos(0.3), np.sin(0.3), 0.0]), found.q[:, mech.index("D").q][:, 0]
    C = np.array([np.full(2, 0.3), 0.25 * np.cos(theta), 0.2 + 0.25 * np.sin(theta)]).T
    np.testing.assert_allclose(np.linalg.norm(C - B, axis=1), np.linalg.norm([0.2, 0.25, 0.2]), atol=1e-9)
    assert len(found) == 2 and abs(theta[0] - theta[1]) > 1.0 and "Free to spin" in found.message
    axes = found.plot()
    assert len(axes) == 2 and axes[0].get_zlim3d() == axes[1].get_zlim3d()
    with pytest.raises(sr.InputError, match=r"nothing determines A; give fixed=.*need not be held"):
        mech.assemblies()


def test_a_spatial_four_bar_along_a_turn() -> None:
    """RSSR: the rocker's angle solves |C(o) - B(t)| = rod, a cos o + b sin o = c. Its rod may spin: said."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.point("A", (0, 0, 0)).point("B", (0.1, 0, 0)).point("C", (0.3, 0.5, 0.25)).point("D", (0.3, 0.5, 0))
    spec.link("crank", "A", "B", mass=1).link("rod", "B", "C", mass=1).link("rocker", "D", "C", mass=1)
    spec.joint("crank_pin", "ground", "crank", sr.Revolute("z"), at="A")
    spec.joint("ball_b", "crank", "rod", sr.Spherical(), at="B")
    spec.joint("ball_c", "rod", "rocker", sr.Spherical(), at="C")
    spec.joint("rocker_pin", "ground", "rocker", sr.Revolute("x"), at="D")
    mech = spec.measure("out", sr.Coordinate("rocker_pin")).compile()
    turn = np.linspace(0.0, 2 * np.pi, 37)
    swept = mech.sweep("crank_pin", turn)
    y, far = 0.5 - 0.1 * np.sin(turn), 0.3 - 0.1 * np.cos(turn)  # of D from B, whose z is that of D
    c = (0.2**2 + 0.5**2 + 0.25**2 - far**2 - y**2 - 0.25**2) / 0.5  # -y sin o = c, from the rod's length
    np.testing.assert_allclose(swept["out"], np.arcsin(-c / y), atol=1e-12)
    spins = "Free to spin, whatever its position: ball_"
    assert spins in swept.message and spins in mech.assemble(fixed={"crank_pin": 0.3}).message
    assert len(mech.assemblies(fixed={"crank_pin": 0.3})) == 2


def test_points_of_the_drawing_are_points_of_bodies() -> None:
    mech = rssr()
    q, v = mech.default.q, mech.consistent_velocity(mech.default.q, fixed={"A": 1.0})
    p = mech.pose(q, "rocker").inverse().apply((0.3, 0.25, 0.2))
    np.testing.assert_allclose(mech.position(q, "rocker", "C"), (0.3, 0.25, 0.2), atol=1e-12)
    np.testing.assert_allclose(
        mech.position(np.tile(q, (2, 1)), "rocker", "C")[1], (0.3, 0.25, 0.2), atol=1e-12
    )
    np.testing.assert_array_equal(mech.jacobian(q, "rocker", "C"), mech.jacobian(q, "rocker", p))
    np.testing.assert_array_equal(mech.velocity(q, v, "rocker", "C"), mech.velocity(q, v, "rocker", p))
    a = mech.forward_dynamics(q, v).a
    np.testing.assert_array_equal(
        mech.body_acceleration(q, v, a, "rocker", "C"), mech.body_acceleration(q, v, a, "rocker", p)
    )
    wrench = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    by_name, by_point = ({"rocker": (wrench, point)} for point in ("C", p))
    np.testing.assert_array_equal(
        mech.forward_dynamics(q, v, external=by_name).a, mech.forward_dynamics(q, v, external=by_point).a
    )
    runs = [sr.simulate(mech, (0, 0.02), q, v, external=load).q[-1] for load in (by_name, by_point)]
    np.testing.assert_array_equal(*runs)
    goal = mech.assemble(q, {"A": 0.2}).q
    target = mech.position(goal, "rocker", "C")
    assert mech.reach("rocker", "C", target).success
    with pytest.raises(sr.SarrusError, match="unknown point 'Q'; existing names: 'A', 'B', 'C', 'D'"):
        mech.position(q, "rocker", "Q")
