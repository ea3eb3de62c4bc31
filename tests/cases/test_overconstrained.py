"""Sarrus, Bennett, Bricard: mobility 1 where counting says less; the slider-crank exactly at its toggle."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

LINKAGES = {
    "sarrus": (sr.library.sarrus, 5, 5, 4),
    "bennett": (sr.library.bennett, 3, 5, 2),
    "bricard": (sr.library.bricard, 5, 5, 4),
}


@pytest.mark.parametrize("name", LINKAGES)
def test_mobility_one_with_redundant_rows_named(name: str) -> None:
    make, nv, nc, rank = LINKAGES[name]
    mech = make()
    assert (mech.nv, mech.nc) == (nv, nc)
    q = mech.default.q
    assert np.max(np.abs(mech.terms(q, np.zeros(nv)).phi)) < 1e-12
    m = mech.mobility(q)
    assert (m.dof, m.rank, m.gruebler) == (1, rank, nv - nc)
    assert len(m.redundant) == nc - rank
    assert set(m.redundant) <= set(mech.row_names)
    assert all(row in m.explain() and row in str(mech) for row in m.redundant)


@pytest.mark.parametrize("name", LINKAGES)
def test_it_really_moves_and_stays_closed(name: str) -> None:
    """The one freedom is finite: the first coordinate can be driven along, the mobility stays one."""
    mech = LINKAGES[name][0]()
    q0 = np.array(mech.default.q)
    path = mech.sweep(mech.names[0], q0[0] + np.linspace(0.0, 0.3, 7))
    assert path.success
    for q in path.q:
        assert np.max(np.abs(mech.terms(q, np.zeros(mech.nv)).phi)) < 1e-11
        assert mech.mobility(q).dof == 1
    assert abs(path.q[-1][0] - q0[0] - 0.3) < 1e-9


@pytest.mark.parametrize("name", LINKAGES)
def test_its_motion_is_that_of_one_coordinate(name: str) -> None:
    """The reduced equation of the one freedom y, by hand: n'(M (n y' + a0) + h - tau) = 0."""
    mech = LINKAGES[name][0]()
    q = mech.default.q
    rng = np.random.default_rng(0)
    t = mech.terms(q, np.zeros(mech.nv))
    n = np.linalg.svd(t.J)[2][-1]
    v, tau = 0.7 * n, rng.normal(size=mech.nv)
    t = mech.terms(q, v)
    a0 = np.linalg.lstsq(t.J, t.gamma, rcond=1e-9)[0]
    y = n @ (tau - t.h - t.M @ a0) / (n @ t.M @ n)
    motion = mech.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(motion.a, a0 + y * n, rtol=1e-9, atol=1e-9)
    assert not motion.lam_unique.all()
    assert np.max(np.abs(t.J @ a0 - t.gamma)) < 1e-9  # redundant, not conflicting


def test_sarrus_from_six_hinges_by_hand() -> None:
    """Two pairs of plates at right angles carry a top that only rises: three hinges each, all in 3-D."""
    spec = sr.MechanismSpec()
    plate = {"mass": 1.0, "com": (0.25, 0, 0), "inertia": (0.01, 0.03, 0.03)}
    spec.body("low1", joint=sr.Revolute("y"), at=sr.Pose((0.3, 0, 0)), **plate)
    spec.body("high1", parent="low1", joint=sr.Revolute("y"), at=sr.Pose((0.5, 0, 0)), **plate)
    spec.body(
        "top",
        parent="high1",
        joint=sr.Revolute("y"),
        at=sr.Pose((0.5, 0, 0)),
        mass=3.0,
        inertia=(0.1, 0.1, 0.1),
    )
    side = sr.Pose((0, 0.3, 0), rpy=(0, 0, math.pi / 2))
    spec.body("low2", joint=sr.Revolute("y"), at=side, **plate)
    spec.body("high2", parent="low2", joint=sr.Revolute("y"), at=sr.Pose((0.5, 0, 0)), **plate)
    spec.close(
        "edge", "high2", "top", joint=sr.Revolute("y"), at_a=sr.Pose((0.5, 0, 0)),
        at_b=sr.Pose((-0.3, 0.3, 0), rpy=(0, 0, math.pi / 2)),
    )  # fmt: skip
    mech = spec.compile()
    low, high, top = -0.6, 1.2 - math.pi, math.pi - 0.6  # plates lean out, then back in; the top is level
    found = mech.assemble([low, high, top, low, high])
    assert found.success, found.message
    m = mech.mobility(found.q)
    assert (m.dof, m.gruebler, len(m.redundant)) == (1, 0, 1)
    v = mech.consistent_velocity(found.q, fixed={"low1": 1.0})
    V = mech.velocity(found.q, v, "top")
    np.testing.assert_allclose(V[[0, 1, 3, 4, 5]], 0.0, atol=1e-12)  # straight up, no turn
    assert abs(V[2]) > 0.1


def test_slider_crank_exactly_at_its_toggle() -> None:
    """Crank upright, rod folded back, moving: the row vanishes and its third derivative decides."""
    mech = sr.library.slider_crank(length=1.0, mass=1.0, gravity=9.81)
    q, v, tau = np.array([math.pi / 2, math.pi]), np.array([1.0, -2.0]), np.array([1.0, 0.0])
    assert np.max(np.abs(mech.terms(q, v).J)) < 1e-15
    np.testing.assert_allclose(mech.acceleration(q, v, tau), [0.2, -0.4], atol=1e-9)
    for formulation in ("nullspace", "svd", "projection", "projection_symmetric", "projection_gamma"):
        motion = mech.forward_dynamics(q, v, tau, formulation=formulation)
        np.testing.assert_allclose(motion.a, [0.2, -0.4], atol=1e-9)
        assert motion.rank == 0
        assert list(motion.lam_unique) == [False]
    with pytest.raises(sr.SingularConstraintError):
        mech.forward_dynamics(q, v, tau, formulation="lagrange")
    m = mech.mobility(q)
    assert m.is_singular
    assert m.dof == 2


def test_the_limit_is_continuous_with_the_neighbourhood() -> None:
    """Accelerations on both sides of the toggle, where the row is regular, tend to the one at it."""
    mech = sr.library.slider_crank(length=1.0, mass=1.0, gravity=9.81)
    tau = np.array([1.0, 0.0])
    for d in (1e-3, -1e-3, 1e-4, -1e-4):
        q = np.array([math.pi / 2 + d, math.pi - 2 * d])  # on the folded branch q2 = 2 pi - 2 q1
        a = mech.acceleration(q, [1.0, -2.0], tau)
        np.testing.assert_allclose(a, [0.2, -0.4], atol=20 * abs(d))


def test_at_rest_at_the_toggle_both_branches_are_open() -> None:
    """Without motion nothing chooses a branch: the row is gone and the linkage is a double pendulum."""
    mech = sr.library.slider_crank(length=1.0, mass=1.0, gravity=9.81)
    q, tau = np.array([math.pi / 2, math.pi]), np.array([1.0, 0.0])
    t = mech.terms(q, np.zeros(2))
    np.testing.assert_allclose(
        mech.acceleration(q, np.zeros(2), tau), np.linalg.solve(t.M, tau - t.h), rtol=1e-12
    )
