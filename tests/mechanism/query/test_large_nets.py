"""Single calls on nets and rows, and on loops with many loose links, against dense linear algebra.

J of the first is eliminated by entries. Where the rows are less than a third of the coordinates, single calls
go by the augmented inertia: those are the cases with tassels.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

CASES: dict[str, Callable[[], sr.Mechanism]] = {
    "net": lambda: sr.library.net(10),
    "net of hinges": lambda: sr.library.net(10, closure="revolute"),
    "scissor": lambda: sr.library.scissor(110),
    "row next to a singular pose": lambda: row_near(1e-3),
    "row at distance 1e-6": lambda: row_near(1e-6),
    "net with tassels": lambda: with_tassels(sr.library.net(8), 250),
    "net of hinges with tassels": lambda: with_tassels(sr.library.net(5, closure="revolute"), 320),
}


def with_tassels(mech: sr.Mechanism, count: int) -> sr.Mechanism:
    """The mechanism with links that hang from its bodies, three in a row: most coordinates have no rows."""
    spec = sr.MechanismSpec.from_model(mech.model)
    for i in range(count):
        parent = f"tassel{i - 1}" if i % 3 else mech.body_names[1 + i % (len(mech.body_names) - 1)]
        bar = {"mass": 0.1, "com": (0.0, -0.1, 0.0), "inertia": (1e-3, 1e-3, 1e-3)}
        spec.body(f"tassel{i}", parent=parent, joint=sr.Revolute("z"), at=sr.Pose((0.2, 0.0, 0.0)), **bar)
    made = spec.compile()
    return made.with_default(np.append(mech.default.q, 0.1 * np.sin(np.arange(count))))


def row_near(distance: float, n: int = 60) -> sr.Mechanism:
    """A row of four-bars whose bars are parallel but for an angle: all of its loops are almost singular."""
    mech = sr.library.n_four_bar(n)
    q = np.full(mech.nv, 0.5 * np.pi - distance)
    q[1::2] *= -1.0
    return mech.with_default(q)


def moving(mech: sr.Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A moving state on the constraints, and forces."""
    rng = np.random.default_rng(3)
    q = mech.default.q
    return q, mech.consistent_velocity(q, rng.normal(size=mech.nv)), rng.normal(size=mech.nv)


def dense(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and constraint forces by NumPy's singular values."""
    terms = mech.terms(q, v)
    unit, row_unit = mech.evaluator.unit, mech.evaluator.row_unit
    J = terms.J * unit / row_unit[:, None]
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > 1e-9))
    N = unit[:, None] * Vt[rank:].T
    a = unit * np.linalg.lstsq(J, terms.gamma / row_unit, rcond=1e-9 / s[0])[0]
    rhs = tau - terms.h
    a = a + N @ np.linalg.solve(N.T @ terms.M @ N, N.T @ (rhs - terms.M @ a))
    return a, terms.M @ a - rhs


def along_the_row(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Accelerations of a row of four-bars, without J: its links turn alike, its couplers stay level."""
    turn = np.append(np.tile([1.0, -1.0], mech.nv // 2), 1.0)
    terms = mech.terms(q, v)
    np.testing.assert_allclose(v, v[0] * turn, atol=1e-9 * abs(v[0]))
    return turn * (turn @ (tau - terms.h) / (turn @ terms.M @ turn))


@pytest.mark.parametrize("name", CASES)
def test_motion_is_that_of_dense_algebra(name: str) -> None:
    mech = CASES[name]()
    q, v, tau = moving(mech)
    a, force = dense(mech, q, v, tau)
    size, rounding = np.abs(a).max(), 1e-10
    if name.startswith(
        "row"
    ):  # gamma has the rounding of points 60 m away; its error is divided by the distance
        a = along_the_row(mech, q, v, tau)
        size = max(np.abs(a).max(), float(v[0] ** 2))
        rounding += 16 * 2.2e-16 * 60 / (0.5 * np.pi - q[0])
        force = mech.terms(q, v).M @ a - tau + mech.terms(q, v).h
    size *= rounding / 1e-10
    np.testing.assert_allclose(mech.acceleration(q, v, tau), a, atol=1e-10 * size)
    found = mech.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found.a, a, atol=1e-10 * size)
    np.testing.assert_allclose(found.constraint_force, force, atol=1e-9 * max(np.abs(force).max(), size))
    np.testing.assert_allclose(mech.terms(q, v).J.T @ found.lam, found.constraint_force, atol=1e-9 * size)
    assert found.rank == mech.mobility(q).rank


@pytest.mark.parametrize("name", CASES)
def test_mobility_and_velocities_are_those_of_singular_values(name: str) -> None:
    mech = CASES[name]()
    q, unit = mech.default.q, mech.evaluator.unit
    J = mech.terms(q, np.zeros(mech.nv)).J * unit / mech.evaluator.row_unit[:, None]
    _, s, Vt = np.linalg.svd(J)
    found = mech.mobility(q)
    assert found.rank == np.sum(s > 1e-9) and not found.is_singular
    still = np.sum(Vt[found.rank :] ** 2, axis=0) < 1e-9
    names, loose = np.array(mech.names), np.abs(J).max(axis=0) == 0.0
    assert found.locked == tuple(names[still]) and found.free == tuple(names[loose])
    wish = np.random.default_rng(5).normal(size=mech.nv)
    N, M = unit[:, None] * Vt[found.rank :].T, mech.mass_matrix(q)
    expected = N @ np.linalg.solve(N.T @ M @ N, N.T @ M @ wish)
    v = mech.consistent_velocity(q, wish)
    np.testing.assert_allclose(v, expected, atol=1e-9 * np.abs(wish).max())


def test_locked_and_free_coordinates_of_a_net() -> None:
    spec = sr.MechanismSpec.from_model(sr.library.net(10).model)
    spec.body("alone", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    first = sr.library.net(10).names[0]
    spec.constrain("stop", sr.Coupling({first: 1.0}, offset=-float(sr.library.net(10).default.q[0])))
    mech = spec.compile()
    q = mech.assemble(np.append(sr.library.net(10).default.q, 0.0)).q
    found = mech.mobility(q)
    assert first in found.locked and found.free == ("alone",)


def test_rows_that_are_lost_at_a_pose_have_limits_there() -> None:
    """A row of four-bars lies flat and turns, tassels hang from the ground: both in closed form."""
    n = 40
    spec = sr.MechanismSpec.from_model(sr.library.n_four_bar(n).model)
    for i in range(200):
        spec.body(
            f"tassel{i}", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)
        )
    mech = spec.compile()
    turned = np.append(np.tile([-1.0, 1.0], n), -1.0)
    q, v = (np.concatenate([x * turned, np.zeros(200)]) for x in (0.5 * np.pi, 1.0))
    a = mech.acceleration(q, v, np.zeros(mech.nv))
    exact = 9.81 * (1.5 * n + 0.5) / (4.0 * n / 3.0 + 1.0 / 3.0) * turned
    np.testing.assert_allclose(a[: 2 * n + 1], exact, atol=1e-10)
    np.testing.assert_allclose(a[2 * n + 1 :], -9.81 / 1.1, atol=1e-12)


def test_a_flat_net_is_singular() -> None:
    mech = sr.library.net(10)
    flat = np.zeros(mech.nv)
    found = mech.mobility(mech.assemble(flat).q)
    J = mech.terms(mech.assemble(flat).q, np.zeros(mech.nv)).J
    assert found.rank == np.linalg.matrix_rank(J, tol=1e-9)


@pytest.mark.parametrize("name", ["four_bar", "dual_arm", "rolling_disk", "stewart", "andrews"])
def test_closure_without_the_jacobian(name: str) -> None:
    mech = getattr(sr.library, name)()
    rng = np.random.default_rng(7)
    q = mech.integrate(mech.default.q, 0.1 * rng.normal(size=mech.nv))
    v = rng.normal(size=mech.nv)
    phi, speed = mech.evaluator.closure(q, v, 0.0)
    terms = mech.terms(q, v)
    np.testing.assert_allclose(phi, terms.phi, atol=1e-15)
    np.testing.assert_allclose(speed, terms.J @ v - terms.b, atol=1e-12 * max(1.0, np.abs(terms.J).max()))


def test_closure_of_drives_and_user_rows() -> None:
    spec = sr.MechanismSpec.from_model(sr.library.four_bar().model)
    spec.constrain("motor", sr.Drive("crank", lambda t: 0.3 + 2.0 * t))
    custom = sr.CustomConstraint(lambda q, t: np.array([q[0] * q[1] - t]), 1)
    spec.constrain("mine", custom)
    mech = spec.compile()
    q, v = np.array([0.3, 0.2, -0.1]), np.array([1.0, -2.0, 0.5])
    phi, speed = mech.evaluator.closure(q, v, 0.5)
    terms = mech.terms(q, v, 0.5)
    np.testing.assert_allclose(phi, terms.phi, atol=1e-14)
    np.testing.assert_allclose(speed, terms.J @ v - terms.b, atol=1e-8)


def test_the_report_of_a_large_mechanism_is_short(tmp_path: Path) -> None:
    mech = sr.library.n_four_bar(300)
    page = mech.report(tmp_path / "row.html").read_text()
    assert page.count("Left out: 601 coordinates, more than 200.") == 3
    assert "601 bodies: sr.viz.picture(mech, path) paints them." in page
    assert len(page) < 200_000 and "paints them" in mech._repr_html_()
