"""Grasps: the map, what is internal, force closure, how a load is shared; [Lin2018] II-C, III-B, III-D."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import sarrus as sr
from sarrus import control as sc

from .held_box import GRIPS, fingers, held, patches

OPPOSED = [(0.0, 0.1, 0.0), (0.0, -0.1, 0.0)], [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)]
ANGLES = 2.0 * np.pi / 3.0 * np.arange(3)
AROUND = [(0.1 * np.cos(x), 0.1 * np.sin(x), 0.0) for x in ANGLES]
SOFT = sr.Universal("x", "y")


def test_the_map_is_what_the_multipliers_do() -> None:
    """G from geometry, r from the centre of mass to the contact, is the constraint Jacobian of the object."""
    mech, grasp = held()
    q = mech.default.q
    J = mech.terms(q, np.zeros(mech.nv)).J
    own = mech.model.v_slices[mech.model.body_index("box")]
    f = np.arange(1.0, 13.0)
    lam = -f  # on the hands
    np.testing.assert_allclose((J.T @ lam)[own], grasp.map() @ f, atol=1e-13)
    np.testing.assert_allclose(grasp.components(lam), f)
    turned = mech.pose(q, "box").rotation
    np.testing.assert_allclose(grasp.map(q)[3:], turned @ grasp.map()[3:], atol=1e-14)


@pytest.mark.parametrize(("joint", "kind"), [(sr.Spherical(), sc.PointContact), (SOFT, sc.SoftFinger)])
def test_the_map_of_points_and_soft_fingers(joint: sr.models.joints.Joint, kind: type) -> None:
    mech = fingers(joint, AROUND, [(-x, -y, -z) for x, y, z in AROUND])
    more = {"torsion": 0.01} if kind is sc.SoftFinger else {}
    grasp = sc.Grasp(mech, "box", [kind(f"tip{k}", 0.5, **more) for k in range(3)])
    q = mech.default.q
    J = mech.terms(q, np.zeros(mech.nv)).J
    own = mech.model.v_slices[mech.model.body_index("box")]
    lam = np.random.default_rng(0).normal(size=mech.nc)
    np.testing.assert_allclose((J.T @ lam)[own], grasp.map() @ grasp.components(lam), atol=1e-13)


def test_the_internal_jacobian_allows_what_the_loops_allow() -> None:
    """[Lin2018] eq. (13) and the loops of the object leave the arms the same motions."""
    mech, grasp = held()
    q = mech.default.q
    Jc = grasp.internal_jacobian(q)
    closed = sr.decompose(mech.terms(q, np.zeros(mech.nv)).J)
    assert np.linalg.matrix_rank(Jc, 1e-9) == 6
    np.testing.assert_allclose(Jc @ closed.N, 0.0, atol=1e-13)
    arms = np.arange(14)
    assert np.linalg.matrix_rank(closed.N[arms], 1e-9) == 14 - 6


def test_internal_and_external_part() -> None:
    _, grasp = held()
    f = np.random.default_rng(1).normal(size=grasp.size)
    internal, external = grasp.split(f)
    np.testing.assert_allclose(internal + external, f)
    np.testing.assert_allclose(grasp.map() @ internal, 0.0, atol=1e-14)
    squeeze = np.zeros(12)
    squeeze[[2, 8]] = 30.0  # both normals
    np.testing.assert_allclose(grasp.split(squeeze)[0], squeeze, atol=1e-13)


def test_the_load_is_shared_within_the_cones() -> None:
    """Weight of 7 N on two hands: 3.5 N of friction each, so 7 N of normal force each at mu = 0.5."""
    _, grasp = held(least=0.0)
    shared = grasp.distribute([0.0, 0.0, -7.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(grasp.map() @ shared.f, [0.0, 0.0, 7.0, 0.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(grasp.normal_forces(shared.f), 7.0, atol=1e-8)
    assert shared.status == sc.Status.LIMITED and min(shared.margins.values()) > -1e-9
    np.testing.assert_allclose(shared.internal + shared.external, shared.f)
    wrenches = grasp.wrenches(shared.f)
    assert list(wrenches) == list(GRIPS) and wrenches["grip_left"].shape == (6,)


@pytest.mark.parametrize("length", [None, 1.0, 0.05])
def test_a_wrench_in_all_directions_is_balanced_at_least_cost(length: float | None) -> None:
    """Forces and moments, limits active: balance to rounding, and no other forces that cost less (SLSQP)."""
    mech, _ = held()
    grasp = sc.Grasp(mech, "box", patches(), length)
    load = np.array([2.0, 1.0, -10.0, 0.2, 0.1, 0.1])
    shared = grasp.distribute(load)
    np.testing.assert_allclose(grasp.map() @ shared.f, -load, atol=1e-12)
    assert min(shared.margins.values()) > -1e-9
    size = np.array([grasp.length if ".m" in name else 1.0 for name in grasp.names])
    faces, floor = grasp.pyramids()
    rules = [
        {"type": "eq", "fun": lambda x: grasp.map() @ (size * x) + load},
        {"type": "ineq", "fun": lambda x: faces @ (size * x) - floor},
    ]
    form = {"method": "SLSQP", "constraints": rules, "jac": lambda x: x, "options": {"maxiter": 500}}
    best = minimize(lambda x: 0.5 * x @ x, 1.1 * shared.f / size + 0.1, **form)
    assert best.success
    assert 0.5 * np.sum((shared.f / size) ** 2) == pytest.approx(best.fun, rel=1e-6)


def test_the_pyramid_lies_inside_the_cone() -> None:
    _, sharp = held(edges=8)
    _, exact = held(edges=None)
    rng = np.random.default_rng(2)
    for _ in range(300):
        f = rng.normal(size=12) * np.tile([0.4, 0.4, 1.0, 0.0, 0.0, 0.0], 2) + np.tile(
            [0, 0, 1.0, 0, 0, 0], 2
        )
        if sharp.margins(f)["friction grip_left"] >= 0.0:
            assert exact.margins(f)["friction grip_left"] >= -1e-12


def test_the_centre_of_pressure_stays_on_the_patch() -> None:
    """A normal force at (x, y) of the patch has the moments (y f, -x f)."""
    mech = sr.library.dual_arm_box()
    both = [sc.Patch(name, 0.5, torsion=0.1, half=(0.02, 0.06)) for name in GRIPS]
    grasp = sc.Grasp(mech, "box", both)
    for x, y, inside in (
        (0.019, 0.059, True),
        (0.021, 0.0, False),
        (0.0, -0.061, False),
        (0.015, -0.05, True),
    ):
        f = np.zeros(12)
        f[:6] = 0.0, 0.0, 10.0, 10.0 * y, -10.0 * x, 0.0
        assert (grasp.margins(f)["pressure grip_left"] >= 0.0) == inside


def test_force_closure() -> None:
    """[Murray1994]: two soft fingers or three points hold an object, two points leave a turn free."""
    points = fingers(sr.Spherical(), *OPPOSED)
    two = sc.Grasp(points, "box", [sc.PointContact(f"tip{k}", 0.5) for k in (0, 1)]).force_closure()
    assert not two and "turn y" in two.message and two.free.shape == (6, 1)
    soft = fingers(SOFT, *OPPOSED)
    assert sc.Grasp(
        soft, "box", [sc.SoftFinger(f"tip{k}", 0.5, torsion=0.01) for k in (0, 1)]
    ).force_closure()
    inward = [(-x, -y, -z) for x, y, z in AROUND]
    three = fingers(sr.Spherical(), AROUND, inward)
    closed = sc.Grasp(three, "box", [sc.PointContact(f"tip{k}", 0.3) for k in range(3)]).force_closure()
    assert closed and closed.margin > 0.0
    np.testing.assert_allclose(
        sc.Grasp(three, "box", [sc.PointContact(f"tip{k}", 0.3) for k in range(3)]).map() @ closed.squeeze,
        0.0,
        atol=1e-9,
    )
    outward = fingers(sr.Spherical(), AROUND, [(x, y, z) for x, y, z in AROUND])
    pulling = sc.Grasp(outward, "box", [sc.PointContact(f"tip{k}", 0.3) for k in range(3)])
    assert pulling.force_closure()  # pushing outwards from inside a ring holds as well
    same = fingers(sr.Spherical(), AROUND, [(0.0, 0.0, 1.0)] * 3)
    lifted = sc.Grasp(same, "box", [sc.PointContact(f"tip{k}", 0.3) for k in range(3)]).force_closure()
    assert not lifted and "oppose" in lifted.message


def test_an_object_that_no_contact_carries() -> None:
    mech = fingers(sr.Spherical(), *OPPOSED)
    grasp = sc.Grasp(mech, "box", [sc.PointContact(f"tip{k}", 0.5) for k in (0, 1)])
    found = grasp.distribute([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert found.status == sc.Status.INFEASIBLE and "balances" in found.message
    slippery, weak = held(mu=0.5, least=0.0)[1], [0.0, 0.0, -7.0, 0.0, 3.0, 0.0]
    assert slippery.distribute(weak).status == sc.Status.LIMITED


def test_bad_input() -> None:
    mech = sr.library.dual_arm_box()
    good = patches()
    with pytest.raises(sr.SarrusError, match=r"mu of Patch.*must be positive, got -0.5"):
        sc.Grasp(mech, "box", patches(mu=-0.5))
    with pytest.raises(sr.SarrusError, match=r"half of Patch.*without size carries no moment"):
        sc.Grasp(mech, "box", [sc.Patch("grip_left", 0.5, torsion=0.1, half=(0.0, 0.1))])
    for nothing in ([], None):
        with pytest.raises(sr.SarrusError, match="has no contacts"):
            sc.Grasp(mech, "box", nothing)  # type: ignore[arg-type]
    with pytest.raises(sr.SarrusError, match=r"crate.*box"):
        sc.Grasp(mech, "crate", good)
    with pytest.raises(sr.SarrusError, match="must be a Free body"):
        sc.Grasp(mech, "left7", good)
    with pytest.raises(sr.SarrusError, match=r"grip_middle.*grip_left"):
        sc.Grasp(mech, "box", [sc.Patch("grip_middle", 0.5, torsion=0.1, half=(0.1, 0.1))])
    with pytest.raises(sr.SarrusError, match="needs a loop closed by Spherical"):
        sc.Grasp(mech, "box", [sc.PointContact("grip_left", 0.5)])
    with pytest.raises(sr.SarrusError, match="every loop makes one contact"):
        sc.Grasp(mech, "box", [good[0], good[0]])
    with pytest.raises(sr.SarrusError, match="edges of Patch"):
        sc.Grasp(mech, "box", patches(edges=2))
    with pytest.raises(sr.SarrusError, match=r"w.*-z"):
        sc.Grasp(mech, "box", [sc.Patch("grip_left", 0.5, "w", torsion=0.1, half=(0.1, 0.1))])
    with pytest.raises(sr.SarrusError, match="contact forces f"):
        sc.Grasp(mech, "box", good).split([1.0, 2.0])
    with pytest.raises(sr.SarrusError, match="takes a Mechanism"):
        sc.Grasp("box", "box", good)  # type: ignore[arg-type]
