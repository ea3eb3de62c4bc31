"""Impacts in the mass metric: momentum, energy, redundant rows."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .machines import table, three_arm_grip, two_bars


def balance(hit: sr.Impact, mech: sr.Mechanism, q: np.ndarray) -> None:
    """What every impact keeps and loses."""
    terms = mech.terms(q, hit.v)
    scale = np.abs(hit.momentum_before).max() + np.abs(hit.impulse).max()
    np.testing.assert_allclose(hit.momentum - hit.momentum_before, hit.impulse, atol=1e-13 * scale)
    np.testing.assert_allclose(terms.J.T @ hit.lam, hit.impulse, atol=1e-11 * scale)
    np.testing.assert_allclose(terms.J @ hit.v, terms.b, atol=1e-11)
    N = mech.decompose(q).N
    np.testing.assert_allclose(N.T @ hit.momentum, N.T @ hit.momentum_before, atol=1e-12 * scale)
    assert hit.energy_lost == pytest.approx(hit.dissipated, rel=1e-10, abs=1e-13 * hit.energy_before)
    assert hit.energy_lost >= 0.0


def test_two_masses_that_stick_together() -> None:
    """The textbook: m1 v1 + m2 v2 = (m1 + m2) v, lost energy m1 m2 / (m1 + m2) (v1 - v2)^2 / 2."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("one", joint=sr.Prismatic("x"), mass=3.0)
    spec.body("two", joint=sr.Prismatic("x"), mass=1.5)
    spec.constrain("hook", sr.Coupling({"one": 1.0, "two": -1.0}))
    mech = spec.compile()
    hit = mech.impact([0.0, 0.0], [2.0, -1.0])
    np.testing.assert_allclose(hit.v, 1.0)
    assert hit.energy_lost == pytest.approx(3.0 * 1.5 / 4.5 * 9.0 / 2.0)
    np.testing.assert_allclose(hit.lam, [-3.0])
    balance(hit, mech, np.zeros(2))


@pytest.mark.parametrize("name", ["bricard", "sarrus", "stewart", "dual_arm", "four_bar", "rolling_disk"])
def test_library_mechanisms_with_any_velocity(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    v = np.random.default_rng(5).normal(size=mech.nv)
    balance(mech.impact(mech.default.q, v), mech, np.array(mech.default.q))


def test_redundant_rows_change_nothing() -> None:
    """A revolute closure in the plane has three rows too many; a point has one; a pin none."""
    v = np.array([0.3, -1.0, 0.7])
    hits = []
    for closure in ("pin", "point", "revolute"):
        mech = sr.library.four_bar(closure=closure)
        hits.append(mech.impact(mech.default.q, v))
    for hit in hits[1:]:
        np.testing.assert_allclose(hit.v, hits[0].v, atol=1e-13)
        np.testing.assert_allclose(hit.impulse, hits[0].impulse, atol=1e-13)


def test_at_a_singular_pose() -> None:
    """The lost row is not there: what it would forbid to first order passes."""
    mech = sr.library.slider_crank()
    hit = mech.impact([np.pi / 2, np.pi], [1.0, 0.3])
    assert hit.rank == 0 and hit.energy_lost == 0.0


def test_nothing_happens_to_a_velocity_that_fits() -> None:
    mech = sr.library.n_four_bar(2)
    hit = mech.impact(*mech.default)
    np.testing.assert_allclose(hit.v, mech.default.v, atol=1e-14)
    assert abs(hit.dissipated) < 1e-28


def test_drives_do_work_in_an_impact() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("mass", joint=sr.Prismatic("x"), mass=2.0)
    spec.constrain("belt", sr.Drive("mass", lambda t: 3.0 * t, lambda t: 3.0, lambda t: 0.0))
    hit = spec.compile().impact([0.0], [0.0])
    np.testing.assert_allclose(hit.v, 3.0)
    assert hit.energy_lost == pytest.approx(-9.0) and hit.dissipated == pytest.approx(9.0)


def test_subsets_of_the_constraints() -> None:
    mech = two_bars()
    loose = mech.with_constraints([])
    assert loose.nc == 0 and loose.names == mech.names and loose.length == mech.length
    one = table().with_constraints(["leg1", "leg3"])
    assert one.row_names == ("leg1.tz", "leg3.tz")
    q = np.array([0, 0, 0.7, 0, 0, 0, 1.0])
    np.testing.assert_array_equal(one.terms(q, np.zeros(6)).J, table().terms(q, np.zeros(6)).J[[1, 3]])
    with pytest.raises(sr.UnknownNameError, match=r"unknown constraint 'leg9'.*Did you mean"):
        table().with_constraints(["leg9"])
    with pytest.raises(sr.InputError, match="active must be several names"):
        table().with_constraints("leg1")


JOINTS = [sr.Fixed(), sr.Revolute("z"), sr.Spherical(), sr.Universal("x", "y"), sr.Prismatic("x")]
JOINTS += [sr.Cylindrical("y"), sr.Planar("z"), sr.Helical("z", 0.1)]


@pytest.mark.parametrize("joint", JOINTS)
def test_latched_loops_hold_where_they_are(joint: object) -> None:
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    at = sr.Pose((0.1, 0.2, 0.3), rpy=(0.3, 0.2, 0.1))
    spec.close("grip", "a", "b", joint=joint, at_a=at, at_b=sr.Pose((0.2, 0, 0)))  # type: ignore[arg-type]
    mech = spec.compile()
    rng = np.random.default_rng(3)
    q = mech.integrate(mech.neutral(), rng.normal(size=12))
    assert np.abs(mech.terms(q, np.zeros(12)).phi).max() > 0.1
    held = mech.with_constraints(replaced={"grip": mech.latched("grip", q)})
    assert np.abs(held.terms(q, np.zeros(12)).phi).max() < 1e-14


def test_a_distance_whose_points_coincide_in_the_drawing_can_be_latched() -> None:
    """Whether a kind can be latched does not depend on the pose in which the description was drawn."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("slide", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("arm", "slide", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    spec.constrain("tie", sr.Distance("ground", (1.0, 0, 0), "arm", (1.0, 0, 0), 0.9))
    mech = spec.compile()
    tie = sr.Switch("tie", on=0.1, latch=True)
    run = sr.simulate(mech, (0, 0.3), [0.3, 0.4], [0.5, 1.0], switches=tie)
    assert run.success
    ends = np.array([mech.pose(q, "arm").apply((1.0, 0, 0)) for q in run.q])
    lengths = np.linalg.norm(ends - [1.0, 0, 0], axis=1)
    assert np.ptp(lengths[run.t > 0.1]) < 1e-12 < np.ptp(lengths)


def test_other_constraints_are_latched_too() -> None:
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("rod", sr.Distance("a", (0, 0, 0), "b", (0.1, 0, 0), 1.0))
    spec.constrain("line", sr.PointOnLine("a", (0, 0, 0), "b", (0.1, 0, 0), "x"))
    spec.constrain("gear", sr.Coupling({"a.angle": 1.0, "b.angle": -2.0}))
    spec.constrain("drive", sr.Drive("a.x", lambda t: 0.0))
    mech = spec.compile()
    q = np.array([0.1, 0.2, 0.3, 1.4, -0.5, 0.6])
    replaced = {name: mech.latched(name, q) for name in ("rod", "line", "gear")}
    held = mech.with_constraints(replaced, replaced)
    assert np.abs(held.terms(q, np.zeros(6)).phi).max() < 1e-14
    with pytest.raises(sr.InputError, match=r"'drive' \(Drive\) cannot be latched"):
        mech.latched("drive", q)


def test_welds_of_a_grip_close_at_once() -> None:
    mech, q = three_arm_grip()
    names = ["hand0", "hand1", "hand2"]
    held = mech.with_constraints(replaced={name: mech.latched(name, q) for name in names})
    v = np.random.default_rng(1).normal(size=mech.nv)
    hit = held.impact(q, v)
    assert hit.rank == 9 and held.nc == 18
    balance(hit, held, q)
