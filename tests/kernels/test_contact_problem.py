"""Contact problems: the law to 1e-10 of the largest force, closed forms, least norm, no solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..oracles.contact_law import Disc, Problem, errors, random_contacts

Array = NDArray[np.float64]

LAW = 1e-10  # of the largest force and speed


def solved(p: Problem) -> tuple[Array, Array]:
    """Forces and speeds of a problem that has to be solved, after a look at the law."""
    found = p.solve()
    assert found["outcome"] == "solved", found
    assert found["residual"] <= LAW
    assert max(errors(p, found["lam"], found["u"]).values()) <= LAW, errors(p, found["lam"], found["u"])
    return found["lam"], found["u"]


def point(inertia: Array, speed: Array, friction: float) -> Problem:
    """A free point mass, or block, on a plane: normal first. Rows are scaled by the root of 1/m."""
    A = np.diag(1 / np.sqrt(inertia))
    return Problem(A, speed, [0], [Disc([1, 2], 0, friction)])


@pytest.mark.parametrize(
    ("freedoms", "contacts", "friction"), [(6, 4, 0.5), (6, 8, 0.7), (12, 8, 1.0), (6, 16, 0.3)]
)
def test_random_contacts(freedoms: int, contacts: int, friction: float) -> None:
    rng = np.random.default_rng(freedoms + 100 * contacts)
    for _ in range(50):
        solved(random_contacts(rng, freedoms, contacts, friction))


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 6), st.floats(0.0, 1.2), st.integers(1, 2))
@settings(max_examples=100, deadline=None)
def test_the_law_holds(seed: int, freedoms: int, contacts: int, friction: float, tangents: int) -> None:
    solved(random_contacts(np.random.default_rng(seed), freedoms, contacts, friction, tangents))


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_units_of_rows_do_not_matter(seed: int, freedoms: int, contacts: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_contacts(rng, freedoms, contacts, 0.4)
    u = solved(p)[1]
    s = np.repeat(10.0 ** rng.uniform(-4, 4, contacts), 3)
    scaled = Problem(p.A * s[:, None], p.b * s, p.pushes, p.discs)
    found = scaled.solve()
    assert found["outcome"] == "solved"
    np.testing.assert_allclose(found["u"] / s, u, atol=1e-9 * np.abs(p.b).max())


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_without_friction_the_motion_is_the_nearest_that_opens(
    seed: int, freedoms: int, contacts: int
) -> None:
    p = random_contacts(np.random.default_rng(seed), freedoms, contacts, 0.0)
    _, u = solved(p)
    free = np.linalg.lstsq(p.A, p.b)[0]
    rows = p.A[p.pushes]
    pushes = nnls(rows.T, -free)[0]
    np.testing.assert_allclose(p.A @ (free + rows.T @ pushes), u, atol=1e-9 * np.abs(p.b).max())


def test_a_block_sticks_up_to_the_cone_and_slides_beyond() -> None:
    m, g, mu = 2.0, 9.81, 0.5
    for pull, slides in ((mu * m * g * (1 - 1e-9), False), (mu * m * g * (1 + 1e-9), True)):
        p = point(np.full(3, m), np.array([-g, pull / m, 0.0]), mu)
        lam, u = solved(p)
        assert lam[0] == pytest.approx(m * g, rel=1e-13)
        if slides:
            assert lam[1] == pytest.approx(-mu * m * g, rel=1e-13)
            assert u[1] == pytest.approx((pull - mu * m * g) / m, rel=1e-6)
        else:
            assert lam[1] == pytest.approx(-pull, rel=1e-13)
            assert abs(u[1]) <= 1e-13 * g


def test_the_cone_is_no_pyramid() -> None:
    for angle in np.linspace(0, 2 * np.pi, 37):
        t = np.array([np.cos(angle), np.sin(angle)])
        lam, _ = solved(point(np.ones(3), np.r_[-1.0, 3.0 * t], 0.7))
        np.testing.assert_allclose(lam[1:], -0.7 * t, atol=1e-13)


def test_friction_opposes_the_speed_after_the_impact() -> None:
    """Different inertia along the tangents: the force is along the speed that is left, not the one before."""
    p = point(np.array([1.0, 1.0, 3.0]), np.array([-1.0, 2.0, 1.0]), 0.5)
    lam, u = solved(p)
    assert np.linalg.norm(lam[1:]) == pytest.approx(0.5 * lam[0])
    assert abs(lam[1] * u[2] - lam[2] * u[1]) <= 1e-13
    assert abs(u[1] / u[2] - 2.0) > 0.1


def test_torsion_and_rolling_are_limits_of_their_own() -> None:
    """A sphere that spins on its contact, with torsional and rolling limits [m]."""
    A = np.eye(6)  # normal, two tangents, spin, two rolling axes
    free = np.array([-1.0, 0.1, 0.0, 2.0, 0.3, 0.4])
    discs = [Disc([1, 2], 0, 0.5), Disc([3], 0, 0.01), Disc([4, 5], 0, 0.02)]
    lam, u = solved(Problem(A, free, [0], discs))
    np.testing.assert_allclose(lam, [1.0, -0.1, 0.0, -0.01, -0.02 * 0.6, -0.02 * 0.8], atol=1e-13)
    np.testing.assert_allclose(u[[1, 2]], 0.0, atol=1e-13)


def test_a_disc_of_its_own_is_dry_friction_of_a_joint() -> None:
    lam, u = solved(
        Problem(np.eye(2), np.array([0.3, -2.0]), [], [Disc([0], -1, fixed=1.0), Disc([1], -1, fixed=1.0)])
    )
    np.testing.assert_allclose(lam, [-0.3, 1.0], atol=1e-13)
    np.testing.assert_allclose(u, [0.0, -1.0], atol=1e-13)


def table_on_legs(legs: int, load: Array, friction: float) -> Problem:
    """A table (mass, inertia and radius 1) on legs in a circle; free accelerations `load`."""
    rows = []
    for k in range(legs):
        x, y = np.cos(2 * np.pi * k / legs), np.sin(2 * np.pi * k / legs)
        rows += [[0, 0, 1, y, -x, 0], [1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]]
    A = np.array(rows, dtype=float)
    discs = [Disc([3 * k + 1, 3 * k + 2], 3 * k, friction) for k in range(legs)]
    return Problem(A, A @ load, list(range(0, 3 * legs, 3)), discs)


@pytest.mark.parametrize("legs", [3, 4, 8])
def test_a_table_stands_with_forces_of_least_norm(legs: int) -> None:
    p = table_on_legs(legs, np.array([0.0, 0, -9.81, 0, 0, 0]), 0.5)
    lam, u = solved(p)
    assert np.abs(u).max() <= 1e-12
    np.testing.assert_allclose(lam.reshape(-1, 3), np.tile([9.81 / legs, 0, 0], (legs, 1)), atol=1e-11)
    unique = p.solve()["unique"].reshape(-1, 3)
    assert unique[:, 0].all() == (legs == 3)


def test_least_norm_within_the_limits() -> None:
    """A load at one corner of four: the least norm of all forces would pull at the opposite one."""
    p = table_on_legs(4, np.array([0.0, 0, -1.0, 0, 0.9, 0]), 0.0)
    lam, u = solved(p)
    assert np.abs(u[0::3]).max() <= 1e-12
    push = lam[0::3]
    np.testing.assert_allclose(push.sum(), 1.0, atol=1e-11)
    np.testing.assert_allclose(push[0] - push[2], 0.9, atol=1e-11)
    # of sums 1 and differences 0.9, 0 the least norm has pushes (a + 0.9, b, a, b) with a >= 0
    np.testing.assert_allclose(push, [0.9, 0.05, 0.0, 0.05], atol=1e-9)


def test_least_norm_is_that_of_a_cone_program() -> None:
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    rng = np.random.default_rng(3)
    for _ in range(10):
        legs = int(rng.integers(4, 8))
        p = table_on_legs(legs, np.r_[rng.normal(size=2) * 0.3, -1.0, rng.normal(size=3) * 0.2], 0.6)
        found = p.solve()
        lam, u = found["lam"], found["u"]
        if np.abs(u).max() > 1e-10:
            continue
        n = len(lam)
        cone = sparse.block_diag([np.diag([0.6, 1.0, 1.0])] * legs)
        rows = sparse.vstack([sparse.csc_matrix(p.A.T), -cone]).tocsc()
        settings_ = clarabel.DefaultSettings()
        settings_.verbose = False
        settings_.tol_gap_abs = settings_.tol_gap_rel = settings_.tol_feas = 1e-12
        right = np.r_[p.A.T @ lam, np.zeros(n)]
        cones = [clarabel.ZeroConeT(6)] + [clarabel.SecondOrderConeT(3)] * legs
        best = clarabel.DefaultSolver(
            sparse.eye(n).tocsc(), np.zeros(n), rows, right, cones, settings_
        ).solve()
        np.testing.assert_allclose(lam, best.x, atol=1e-6)
        assert lam @ lam <= np.dot(best.x, best.x) * (1 + 1e-9)


def test_a_warm_start_gives_the_same_motion_in_fewer_steps() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = random_contacts(rng, 12, 4, 0.5)
        first = p.solve()
        again = p.solve(first["lam"])
        assert again["steps"] == 1
        np.testing.assert_allclose(again["u"], first["u"], atol=1e-12 * np.abs(p.b).max())


def test_parts_that_cannot_move_are_named() -> None:
    A = np.zeros((3, 2))
    p = Problem(A, np.array([-1.0, 0.0, 0.0]), [0], [Disc([1, 2], 0, 0.5)])
    assert p.solve()["outcome"] == "pressed"
    p.b[0] = 1.0
    assert p.solve()["outcome"] == "solved"


def rod(angle: float, friction: float, speed: float) -> Problem:
    """Painleve's rod, length 2, mass 1, on its end, which slides: accelerations under gravity."""
    inertia = 1 / 3
    normal = np.array([0.0, 1.0, -np.cos(angle)]) / np.sqrt([1, 1, inertia])
    tangent = np.array([1.0, 0.0, np.sin(angle)]) / np.sqrt([1, 1, inertia])
    free = normal @ np.array([0.0, -9.81, 0.0])
    return Problem(
        np.array([normal]), np.array([free]), [0], B=np.array([normal - friction * np.sign(speed) * tangent])
    )


def test_painleves_rod_is_named() -> None:
    """A push gives the end 1 + 3 cos(a) (cos(a) - mu sin(a)) / m, negative for large mu and steep a."""
    for angle, friction in ((1.0, 1.5), (1.1, 2.0), (1.0, 0.5), (0.5, 2.0)):
        p = rod(angle, friction, -1.0)
        inside = 1 + 3 * np.cos(angle) * (np.cos(angle) - friction * np.sin(angle)) < 0
        assert (p.solve()["outcome"] == "painleve") == inside


# ---------------------------------------------------------------- impacts


def three_balls() -> Problem:
    """Ball 1 with the speed 1 hits two that rest and touch."""
    return Problem(np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]), np.array([-1.0, 0.0]), [0, 1])


def test_three_touching_balls() -> None:
    p = three_balls()
    lam = p.impact(1.0)["lam"]
    np.testing.assert_allclose(np.array([1.0, 0.0, 0.0]) + p.A.T @ lam, [-1 / 3, 2 / 3, 2 / 3], atol=1e-14)
    inelastic = p.impact(0.0)["lam"]
    np.testing.assert_allclose(np.array([1.0, 0.0, 0.0]) + p.A.T @ inelastic, np.full(3, 1 / 3), atol=1e-14)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("poisson", [False, True])
def test_a_ball_rebounds(e: float, poisson: bool) -> None:
    found = point(np.full(3, 2.0), np.array([-3.0, 0.0, 0.0]), 0.0).impact(e, poisson)
    assert found["u"][0] == pytest.approx(3.0 * e, abs=1e-13)
    assert found["lam"][0] == pytest.approx(2.0 * 3.0 * (1 + e), rel=1e-13)
    assert found["energy"] == pytest.approx(-0.5 * 2.0 * 9.0 * (1 - e * e), abs=1e-12)


@pytest.mark.parametrize("poisson", [False, True])
def test_friction_of_an_oblique_impact(poisson: bool) -> None:
    """Slides through: the tangential impulse is mu times the whole normal one, also with Poisson's law."""
    found = point(np.ones(3), np.array([-1.0, 5.0, 0.0]), 0.3).impact(0.5, poisson)
    np.testing.assert_allclose(found["lam"], [1.5, -0.45, 0.0], atol=1e-13)
    np.testing.assert_allclose(found["u"], [0.5, 4.55, 0.0], atol=1e-13)


@given(st.integers(0, 10**6), st.integers(3, 10), st.integers(1, 4), st.floats(0.0, 1.0), st.booleans())
@settings(max_examples=100, deadline=None)
def test_impacts_never_add_energy(seed: int, freedoms: int, contacts: int, e: float, poisson: bool) -> None:
    p = random_contacts(np.random.default_rng(seed), freedoms, contacts, 0.8)
    found = p.impact(e, poisson)
    if found["outcome"] != "solved":
        assert found["used"] == 0.0  # restitution can ask for more than a motion can give
        return
    before = p.b
    change = found["lam"] @ (before + found["u"]) / 2
    assert change <= 1e-12 * np.abs(found["lam"]).max() * np.abs(before).max()
    assert found["energy"] == pytest.approx(
        change, abs=1e-10 * np.abs(found["lam"]).max() * np.abs(before).max()
    )
    np.testing.assert_allclose(p.speeds(found["lam"]), found["u"], atol=1e-10 * np.abs(before).max())
    if poisson:
        return
    shift = np.zeros(len(before))
    shift[p.pushes] = found["used"] * e * np.minimum(before[p.pushes], 0.0)
    assert max(errors(p, found["lam"], found["u"], shift).values()) <= LAW


def kane() -> Problem:
    """A link of a double pendulum hits a rough floor: Newton's law with friction adds energy."""
    angles, lengths = np.array([0.35, 1.9]), np.array([1.0, 1.0])
    s, c = np.sin(np.cumsum(angles)), np.cos(np.cumsum(angles))
    J = np.array([[lengths[0] * s[0] + lengths[1] * s[1], lengths[1] * s[1]],
                  [lengths[0] * c[0] + lengths[1] * c[1], lengths[1] * c[1]]])  # fmt: skip
    M = np.array(
        [[5 / 3 + np.cos(angles[1]), 1 / 3 + np.cos(angles[1]) / 2], [1 / 3 + np.cos(angles[1]) / 2, 1 / 3]]
    )
    A = J @ np.linalg.inv(np.linalg.cholesky(M)).T
    return Problem(A, np.zeros(2), [0], [Disc([1], 0, 0.8)])


def test_restitution_is_reduced_where_it_would_add_energy() -> None:
    p, reduced = kane(), 0
    for angle in np.linspace(0, 2 * np.pi, 181):
        p.b = p.A @ np.array([np.cos(angle), np.sin(angle)])
        found = p.impact(1.0)
        assert found["outcome"] == "solved"
        assert found["energy"] <= 1e-12
        if p.b[0] < 0 and found["used"] < 1.0:
            reduced += 1
            assert abs(found["energy"]) <= 1e-10  # the largest that does not add any
    assert reduced > 0
